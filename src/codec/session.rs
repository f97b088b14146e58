//! Sessions, views, models and context items.

use super::{Error, error::each, format_from_pb, format_to_pb, time};
use crate::{
    model::{
        ContextItem, ForkOrigin, Model, Namespace, Placement, Revision, Seq, Session, SessionId,
        Timestamp, View, ViewName,
    },
    proto::v1::{self as pb, context_item},
};

/// A session, to the contract's form.
#[must_use]
pub fn to_pb(session: &Session) -> pb::Session {
    pb::Session {
        id: session.id.to_string(),
        display_name: session.display_name.clone(),
        labels: session.labels.clone().into_iter().collect(),
        create_time: Some(time::to_pb(session.create_time)),
        update_time: Some(time::to_pb(session.update_time)),
        next_seq: session.next_seq.0,
        revision: session.revision.0,
        fork_origin: session.fork_origin.as_ref().map(|origin| pb::ForkOrigin {
            session_id: origin.session_id.to_string(),
            seq: origin.seq.0,
            revision: origin.revision.0,
        }),
        parent_session_id: session.parent_session_id.clone(),
        views: session.views.iter().map(view_to_pb).collect(),
    }
}

/// A session, from the contract's form, which does not tell the namespace, the
/// tokens, or when a view was last reduced.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(session: pb::Session) -> Result<Session, Error> {
    Ok(Session {
        namespace: Namespace::new(Namespace::DEFAULT),
        id: SessionId::new(&session.id),
        display_name: session.display_name,
        labels: session.labels.into_iter().collect(),
        create_time: moment("create_time", session.create_time)?,
        update_time: moment("update_time", session.update_time)?,
        next_seq: Seq(session.next_seq),
        revision: Revision(session.revision),
        parent_session_id: session.parent_session_id,
        fork_origin: session.fork_origin.map(|origin| ForkOrigin {
            session_id: SessionId::new(&origin.session_id),
            seq: Seq(origin.seq),
            revision: Revision(origin.revision),
        }),
        tokens: 0,
        views: each("views", session.views, |it| Ok(view_from_pb(it)))?,
    })
}

/// A view, to the contract's form.
#[must_use]
pub fn view_to_pb(view: &View) -> pb::View {
    pb::View {
        name: view.name.to_string(),
        policy: Some(pb::Policy {
            preset: view.preset.clone(),
            overrides_json: view.overrides_json.clone(),
            resolved_json: view.policy_json.clone(),
        }),
        model: view.model.as_ref().map(model_to_pb),
    }
}

/// A view, from the contract's form, which does not tell when it was last
/// reduced. An empty name is `main`.
#[must_use]
pub fn view_from_pb(view: pb::View) -> View {
    let policy = view.policy.unwrap_or_default();
    View {
        name: view_name(&view.name).unwrap_or_else(ViewName::main),
        preset: policy.preset,
        overrides_json: policy.overrides_json,
        policy_json: policy.resolved_json,
        model: view.model.map(model_from_pb),
        reductions_revision: Revision::default(),
    }
}

/// A model, to the contract's form.
#[must_use]
pub fn model_to_pb(model: &Model) -> pb::Model {
    pb::Model {
        name: model.name.clone(),
        context_window: model.context_window,
        output_reserve: model.output_reserve,
        request_bytes_limit: model.request_bytes_limit,
        caller_fixed_tokens: model.caller_fixed_tokens,
    }
}

/// A model, from the contract's form; zeros are not looked up here.
#[must_use]
pub fn model_from_pb(model: pb::Model) -> Model {
    Model {
        name: model.name,
        context_window: model.context_window,
        output_reserve: model.output_reserve,
        request_bytes_limit: model.request_bytes_limit,
        caller_fixed_tokens: model.caller_fixed_tokens,
    }
}

/// A context item, to the contract's form.
#[must_use]
pub fn item_to_pb(item: &ContextItem) -> pb::ContextItem {
    pb::ContextItem {
        name: item.name.clone(),
        placement: placement_to_pb(item.placement).into(),
        content: item.content.clone(),
        format: format_to_pb(item.format).into(),
        view: item.view.as_ref().map_or_else(String::new, ToString::to_string),
    }
}

/// A context item, from the contract's form, which does not tell its tokens.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn item_from_pb(item: pb::ContextItem) -> Result<ContextItem, Error> {
    Ok(ContextItem {
        placement: placement_from_pb(item.placement)?,
        format: format_from_pb(item.format)?,
        view: view_name(&item.view),
        name: item.name,
        content: item.content,
        tokens: 0,
    })
}

fn placement_to_pb(placement: Placement) -> context_item::Placement {
    match placement {
        Placement::System => context_item::Placement::System,
        Placement::Tools => context_item::Placement::Tools,
        Placement::UserContext => context_item::Placement::UserContext,
        Placement::Reminder => context_item::Placement::Reminder,
    }
}

fn placement_from_pb(placement: i32) -> Result<Placement, Error> {
    match context_item::Placement::try_from(placement) {
        Ok(context_item::Placement::System) => Ok(Placement::System),
        Ok(context_item::Placement::Tools) => Ok(Placement::Tools),
        Ok(context_item::Placement::UserContext) => Ok(Placement::UserContext),
        Ok(context_item::Placement::Reminder) => Ok(Placement::Reminder),
        Ok(context_item::Placement::Unspecified) | Err(_) => {
            Err(Error::new("placement", "a known PLACEMENT"))
        }
    }
}

fn view_name(name: &str) -> Option<ViewName> {
    (!name.is_empty()).then(|| ViewName::new(name))
}

fn moment(name: &str, time: Option<prost_types::Timestamp>) -> Result<Timestamp, Error> {
    let moment = time.map(time::from_pb).transpose().map_err(|err| err.within(name))?;
    Ok(moment.unwrap_or_default())
}
