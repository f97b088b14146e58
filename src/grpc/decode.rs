//! Requests, in the words of the model. What the model cannot say (a role that
//! is unspecified, a block without a kind) is refused here, with its path;
//! everything else is judged by the use case.

use tonic::metadata::MetadataMap;

use super::guard;
use crate::{
    codec,
    model::{Message, WireFormat},
    proto::v1 as pb,
    service::{
        AppendTurn, ClearInput, CommitCollapseInput, ContentInput, ContextInput, ContextItemInput,
        Countable, CreateCollapseInput, CreateSession, Error, Fields, ForkSession,
        ListOverlaysInput, ListRevisions, ListSessions, ModelInput, Payload, PinInput,
        PrepareCollapseInput, ReadContent, ReadHistory, Result, RollbackInput, SetViewInput,
        SnipInput, UpdateSession,
    },
};

pub(super) fn create_session(request: pb::CreateSessionRequest) -> CreateSession {
    let policy = request.policy.unwrap_or_default();
    CreateSession {
        session_id: request.session_id,
        display_name: request.display_name,
        labels: request.labels.into_iter().collect(),
        preset: policy.preset,
        overrides_json: policy.overrides_json,
        model: model(request.model),
        parent_session_id: request.parent_session_id,
        request_id: request.request_id,
    }
}

pub(super) fn fork_session(request: pb::ForkSessionRequest) -> ForkSession {
    ForkSession {
        session_id: request.session_id,
        new_session_id: request.new_session_id,
        seq: request.seq,
        display_name: request.display_name,
        request_id: request.request_id,
    }
}

pub(super) fn list_sessions(request: pb::ListSessionsRequest) -> ListSessions {
    ListSessions {
        page_size: request.page_size,
        page_token: request.page_token,
        labels: request.labels.into_iter().collect(),
        parent_session_id: request.parent_session_id,
        fork_origin_session_id: request.fork_origin_session_id,
    }
}

pub(super) fn update_session(request: pb::UpdateSessionRequest) -> UpdateSession {
    let session = request.session.unwrap_or_default();
    UpdateSession {
        session_id: session.id,
        display_name: session.display_name,
        labels: session.labels.into_iter().collect(),
        mask: request.update_mask.unwrap_or_default().paths,
    }
}

pub(super) fn set_view(request: pb::SetViewRequest) -> Result<SetViewInput> {
    let view = request.view;
    let view = view.ok_or_else(|| Error::field("view", "expected a view, found none"))?;
    let policy = view.policy.unwrap_or_default();
    Ok(SetViewInput {
        session_id: request.session_id,
        name: view.name,
        preset: policy.preset,
        overrides_json: policy.overrides_json,
        model: model(view.model),
        author: request.author,
    })
}

pub(super) fn list_revisions(request: pb::ListRevisionsRequest) -> ListRevisions {
    ListRevisions {
        session_id: request.session_id,
        page_size: request.page_size,
        page_token: request.page_token,
    }
}

pub(super) fn pin_messages(request: pb::PinMessagesRequest) -> PinInput {
    PinInput {
        session_id: request.session_id,
        view: request.view,
        rows: rows(request.rows),
        reason: request.reason,
        author: request.author,
        request_id: request.request_id,
    }
}

pub(super) fn context_item(item: Option<pb::ContextItem>) -> Result<ContextItemInput> {
    use pb::context_item::Placement as P;
    let item = item.ok_or_else(|| Error::field("item", "expected an item, found none"))?;
    let placement = match P::try_from(item.placement) {
        Ok(P::Unspecified) => None,
        Ok(P::System) => Some(crate::model::Placement::System),
        Ok(P::Tools) => Some(crate::model::Placement::Tools),
        Ok(P::UserContext) => Some(crate::model::Placement::UserContext),
        Ok(P::Reminder) => Some(crate::model::Placement::Reminder),
        Err(_) => {
            let found = format!("expected a known placement, found {}", item.placement);
            return Err(Error::field("item.placement", found));
        }
    };
    Ok(ContextItemInput {
        format: format("item.format", item.format)?,
        name: item.name,
        placement,
        content: item.content,
        view: item.view,
    })
}

pub(super) fn append_turn(request: pb::AppendTurnRequest) -> Result<AppendTurn> {
    Ok(AppendTurn {
        session_id: request.session_id,
        messages: messages(request.messages)?,
        payload: request.payload.map(payload).transpose()?,
        expected_next_seq: request.expected_next_seq,
        author: request.author,
        lane: request.lane,
        context_fingerprint: request.context_fingerprint,
        request_id: request.request_id,
        view: request.view,
    })
}

fn messages(messages: Vec<pb::Message>) -> Result<Vec<Message>> {
    let mut fields = Fields::new();
    let mut good = Vec::with_capacity(messages.len());
    for (index, message) in messages.into_iter().enumerate() {
        match codec::from_pb(message) {
            Ok(message) => good.push(message),
            Err(err) => {
                let err = err.within(format_args!("messages[{index}]"));
                fields.wrong(err.field, format!("expected {}", err.expected));
            }
        }
        if fields.is_full() {
            break;
        }
    }
    fields.finish()?;
    Ok(good)
}

fn payload(payload: pb::ProviderPayload) -> Result<Payload> {
    Ok(Payload { format: format("payload.format", payload.format)?, json: payload.json })
}

pub(super) fn count_tokens(
    request: pb::CountTokensRequest,
) -> Result<(ModelInput, Option<Countable>)> {
    use pb::count_tokens_request::Content as C;
    let content = match request.content {
        None => None,
        Some(C::Text(text)) => Some(Countable::Text(text)),
        Some(C::Payload(it)) => Some(Countable::Payload(payload(it)?)),
    };
    Ok((model(request.model), content))
}

pub(super) fn read_history(request: pb::ReadHistoryRequest) -> ReadHistory {
    ReadHistory {
        session_id: request.session_id,
        first_seq: request.first_seq,
        last_seq: request.last_seq,
        overlay_id: request.overlay_id,
        newest_first: request.newest_first,
        limit: request.limit,
    }
}

pub(super) fn read_content(request: pb::ReadContentRequest) -> ReadContent {
    ReadContent {
        session_id: request.session_id,
        content: request.content.map(content),
        offset: request.offset,
        limit: request.limit,
    }
}

pub(super) fn get_context(
    request: pb::GetContextRequest,
    metadata: &MetadataMap,
) -> Result<ContextInput> {
    Ok(ContextInput {
        format: format("format", request.format)?,
        session_id: request.session_id,
        view: request.view,
        model: model(request.model),
        at_revision: request.at_revision,
        preview: request.preview,
        policy_overrides_json: request.policy_overrides_json,
        expand_overlay_ids: request.expand_overlay_ids,
        known_fingerprint: request.known_fingerprint,
        explain: request.explain,
        lane: request.lane,
        patience: guard::deadline(metadata.as_ref()),
    })
}

pub(super) fn create_collapse(request: pb::CreateCollapseRequest) -> CreateCollapseInput {
    CreateCollapseInput {
        session_id: request.session_id,
        view: request.view,
        rows: request.rows.map(|it| (it.first_seq, it.last_seq)),
        instructions: request.instructions,
        author: request.author,
        request_id: request.request_id,
    }
}

pub(super) fn prepare_collapse(request: pb::PrepareCollapseRequest) -> PrepareCollapseInput {
    PrepareCollapseInput {
        session_id: request.session_id,
        view: request.view,
        rows: request.rows.map(|it| (it.first_seq, it.last_seq)),
        kind: codec::overlay::kind_from_pb(request.kind).ok(),
        max_material_tokens: request.max_material_tokens,
        lease: request.lease.map(|it| (it.seconds, it.nanos)),
        author: request.author,
        request_id: request.request_id,
    }
}

pub(super) fn commit_collapse(request: pb::CommitCollapseRequest) -> CommitCollapseInput {
    CommitCollapseInput {
        session_id: request.session_id,
        plan_id: request.plan_id,
        summary: request.summary,
        finish_reason: request.finish_reason,
        author: request.author,
    }
}

pub(super) fn create_clear(request: pb::CreateClearRequest) -> ClearInput {
    ClearInput {
        session_id: request.session_id,
        view: request.view,
        contents: request.contents.into_iter().map(content).collect(),
        shown_as: request.shown_as,
        author: request.author,
        request_id: request.request_id,
    }
}

pub(super) fn create_snip(request: pb::CreateSnipRequest) -> SnipInput {
    SnipInput {
        session_id: request.session_id,
        view: request.view,
        rows: rows(request.rows),
        marker: request.marker,
        author: request.author,
        request_id: request.request_id,
    }
}

pub(super) fn rollback_overlay(request: pb::RollbackOverlayRequest) -> RollbackInput {
    RollbackInput {
        session_id: request.session_id,
        overlay_id: request.overlay_id,
        reason: request.reason,
        author: request.author,
        pin: request.pin,
        clears_too: request.clears_too,
    }
}

pub(super) fn list_overlays(request: pb::ListOverlaysRequest) -> ListOverlaysInput {
    ListOverlaysInput {
        session_id: request.session_id,
        view: request.view,
        include_rolled_back: request.include_rolled_back,
        page_size: request.page_size,
        page_token: request.page_token,
    }
}

fn model(model: Option<pb::Model>) -> ModelInput {
    let model = model.unwrap_or_default();
    ModelInput {
        name: model.name,
        context_window: model.context_window,
        output_reserve: model.output_reserve,
        request_bytes_limit: model.request_bytes_limit,
        caller_fixed_tokens: model.caller_fixed_tokens,
    }
}

fn rows(rows: Option<pb::SeqRange>) -> Option<(i64, i64)> {
    rows.map(|it| (it.first_seq, it.last_seq))
}

fn content(content: pb::ContentRef) -> ContentInput {
    ContentInput { seq: content.seq, block: content.block, output: content.output }
}

fn format(field: &str, format: i32) -> Result<Option<WireFormat>> {
    codec::format_from_pb(format)
        .map_err(|err| Error::field(field, format!("expected {}, found {format}", err.expected)))
}
