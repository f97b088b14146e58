//! Contexts, in one answer or in pieces.

use bytes::Bytes;
use prost::Message as _;

use super::encode::pieces;
use crate::{
    codec,
    proto::v1 as pb,
    service::{
        ContextBody, ContextOutput, Error, Origin, Reduction, Repair, Result, StageReport,
        limits::MIB,
    },
};

/// An answer and its size.
struct Measured {
    answer: pb::GetContextResponse,
    size: usize,
}

impl Measured {
    fn of(context: &ContextOutput) -> Self {
        let answer = pb::GetContextResponse { context: Some(to_pb(context)) };
        Self { size: answer.encoded_len(), answer }
    }
}

/// A context in one answer of at most `limit` bytes.
///
/// A context that did not change is the same answer again: it lies beside it.
pub(super) fn whole(context: &ContextOutput, limit: usize) -> Result<pb::GetContextResponse> {
    let here;
    let kept = context.encoded.get_or_make(|| Measured::of(context));
    let Measured { answer, size } = if let Some(kept) = kept {
        kept
    } else {
        here = Measured::of(context);
        &here
    };
    if *size > limit {
        return Err(Error::ResponseTooLarge { size: *size as u64, limit: limit as u64 });
    }
    Ok(answer.clone())
}

/// What the caller takes: its limit, or the server's.
pub(super) fn response_limit(asked: i64, otherwise: usize) -> Result<usize> {
    match usize::try_from(asked) {
        Ok(0) => Ok(otherwise),
        Ok(limit) => Ok(limit),
        Err(_) => {
            Err(Error::field("max_response_bytes", format!("expected zero or more, found {asked}")))
        }
    }
}

/// A context in pieces: everything but the messages, then the messages.
pub(super) fn in_pieces(
    context: &ContextOutput,
) -> impl Iterator<Item = pb::StreamContextResponse> + Send + use<> {
    use pb::stream_context_response::{Part, Piece};
    let mut head = to_pb(context);
    let json = std::mem::take(&mut head.messages_json);
    let typed = std::mem::take(&mut head.messages);
    let typed = typed.into_iter().map(|it| Bytes::from(it.encode_to_vec()));
    let messages = json.into_iter().chain(typed);
    let parts = messages
        .flat_map(|it| pieces(it, MIB))
        .map(|(json, more)| Part::Piece(Piece { json, more }));
    std::iter::once(Part::Head(head))
        .chain(parts)
        .map(|part| pb::StreamContextResponse { part: Some(part) })
}

/// To the contract's form.
pub(super) fn to_pb(context: &ContextOutput) -> pb::Context {
    let overlays = context.overlays.iter();
    let overlays = overlays.map(|it| codec::overlay::to_pb(it, &context.session)).collect();
    let (system_json, tools_json, messages_json, messages) = body(&context.body);
    pb::Context {
        session_id: context.session.to_string(),
        view: context.view.to_string(),
        revision: context.revision.0,
        fingerprint: context.fingerprint.clone(),
        system_json,
        tools_json,
        messages_json,
        messages,
        origins: context.origins.iter().map(origin).collect(),
        unchanged_prefix: count(context.unchanged_prefix),
        fixed_unchanged: context.fixed_unchanged,
        budget: Some(codec::budget::to_pb(&context.budget)),
        stages: context.stages.iter().map(stage).collect(),
        overlays,
        reductions: context.reductions.iter().map(reduction).collect(),
        stable_prefix_messages: count(context.stable_prefix_messages),
        stable_prefix_tokens: context.stable_prefix_tokens,
        context_management_json: context.context_management_json.clone(),
        repairs: context.repairs.iter().map(repair).collect(),
        thinking_dropped: context.thinking_dropped,
        reduction_pending: context.reduction_pending,
        rounds_in_flight: count(context.rounds_in_flight),
        preview: context.preview,
    }
}

type Body = (Bytes, Bytes, Vec<Bytes>, Vec<pb::Message>);

fn body(body: &ContextBody) -> Body {
    match body {
        ContextBody::Json { system, tools, messages } => {
            (system.clone(), tools.clone(), messages.clone(), Vec::new())
        }
        ContextBody::Typed(messages) => {
            let messages = messages.iter().map(|it| codec::to_pb(it)).collect();
            (Bytes::new(), Bytes::new(), Vec::new(), messages)
        }
    }
}

fn origin(origin: &Origin) -> pb::Origin {
    pb::Origin {
        rows: codec::range::set_to_pb(&origin.rows),
        overlay_id: origin.overlay.as_ref().map(ToString::to_string).unwrap_or_default(),
        synthetic: origin.synthetic,
    }
}

fn stage(report: &StageReport) -> pb::StageReport {
    pb::StageReport {
        stage: report.stage.to_string(),
        trigger: report.trigger.to_string(),
        tokens_before: report.tokens_before,
        tokens_after: report.tokens_after,
        messages_reduced: count(report.messages_reduced),
    }
}

fn reduction(reduction: &Reduction) -> pb::Reduction {
    pb::Reduction {
        content: Some(codec::range::content_to_pb(reduction.content)),
        stage: reduction.stage.to_string(),
        overlay_id: reduction.overlay.as_ref().map(ToString::to_string).unwrap_or_default(),
        tokens_before: reduction.tokens_before,
        tokens_after: reduction.tokens_after,
    }
}

fn repair(repair: &Repair) -> pb::Repair {
    pb::Repair { seq: repair.seq.0, reason: repair.reason.to_string() }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Pressure, Revision, SessionId, TokenBudget, ViewName},
        service::Encoded,
    };

    fn context(messages: Vec<Bytes>) -> ContextOutput {
        let budget = TokenBudget {
            window: 1000,
            fixed: 0,
            messages: 10,
            output_reserve: 250,
            pressure: Pressure::Normal,
            spawn_allowed: true,
            calibration: 1.0,
            history: 10,
            parts: Vec::new(),
        };
        ContextOutput {
            session: SessionId::new("s"),
            view: ViewName::main(),
            revision: Revision(3),
            fingerprint: "f".into(),
            body: ContextBody::Json { system: "[]".into(), tools: Bytes::new(), messages },
            origins: Vec::new(),
            unchanged_prefix: 0,
            fixed_unchanged: false,
            budget,
            stages: Vec::new(),
            overlays: Vec::new(),
            reductions: Vec::new(),
            stable_prefix_messages: 0,
            stable_prefix_tokens: 0,
            context_management_json: Bytes::new(),
            repairs: Vec::new(),
            thinking_dropped: false,
            reduction_pending: false,
            rounds_in_flight: 0,
            preview: false,
            encoded: Encoded::default(),
        }
    }

    #[test]
    fn r1_an_answer_above_the_limit_is_refused_with_its_size() {
        let large = || context(vec![vec![b'x'; 2000].into()]);
        assert!(whole(&large(), 4000).is_ok());
        let err = whole(&large(), 2000).unwrap_err();
        assert!(matches!(err, Error::ResponseTooLarge { size, limit: 2000 } if size > 2000));
    }

    #[test]
    fn r1_a_large_message_comes_in_pieces_below_the_limit() {
        use pb::stream_context_response::Part;
        let messages: Vec<Bytes> = vec!["{}".into(), vec![b'x'; 2 * MIB + 1].into(), "[]".into()];
        let mut parts = in_pieces(&context(messages.clone())).filter_map(|it| it.part);
        let Some(Part::Head(head)) = parts.next() else { panic!("no head") };
        assert_eq!((head.system_json, head.messages_json), ("[]".into(), Vec::new()));
        let mut joined: Vec<Vec<u8>> = vec![Vec::new()];
        for part in parts {
            let Part::Piece(piece) = part else { panic!("a second head") };
            assert!(piece.json.len() <= MIB);
            joined.last_mut().unwrap().extend_from_slice(&piece.json);
            if !piece.more {
                joined.push(Vec::new());
            }
        }
        joined.pop();
        assert_eq!(joined, messages);
    }

    #[test]
    fn a_limit_of_zero_is_the_servers() {
        assert_eq!(response_limit(0, 7).unwrap(), 7);
        assert_eq!(response_limit(9, 7).unwrap(), 9);
        assert!(matches!(response_limit(-1, 7), Err(Error::InvalidField(_))));
    }
}
