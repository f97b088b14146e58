//! Answers, in the words of the contract.

use bytes::Bytes;

use crate::{
    codec,
    proto::v1 as pb,
    service::{
        AppendWarning, AppendedTurn, Content, CountedTokens, CreatedSession, GotSession,
        HistoryRow, ListedSessions, limits::CHUNK_BYTES,
    },
};

pub(super) fn created_session(created: &CreatedSession) -> pb::CreateSessionResponse {
    pb::CreateSessionResponse {
        session: Some(codec::session::to_pb(&created.session)),
        warnings: created.warnings.clone(),
    }
}

pub(super) fn got_session(got: &GotSession) -> pb::GetSessionResponse {
    pb::GetSessionResponse {
        session: Some(codec::session::to_pb(&got.session)),
        budget: got.budget.as_ref().map(codec::budget::to_pb),
    }
}

pub(super) fn listed_sessions(listed: ListedSessions) -> pb::ListSessionsResponse {
    pb::ListSessionsResponse {
        sessions: listed.sessions.iter().map(codec::session::to_pb).collect(),
        next_page_token: listed.next_page_token,
    }
}

pub(super) fn appended_turn(appended: AppendedTurn) -> pb::AppendTurnResponse {
    pb::AppendTurnResponse {
        first_seq: appended.first_seq.0,
        last_seq: appended.last_seq.0,
        revision: appended.revision.0,
        replayed: appended.replayed,
        budget: appended.budget.as_ref().map(codec::budget::to_pb),
        warnings: appended.warnings.into_iter().map(warning).collect(),
    }
}

fn warning(warning: AppendWarning) -> pb::AppendWarning {
    pb::AppendWarning {
        seq: warning.seq.0,
        reason: warning.reason.to_owned(),
        detail: warning.detail,
    }
}

pub(super) fn counted_tokens(counted: CountedTokens) -> pb::CountTokensResponse {
    pb::CountTokensResponse {
        tokens: counted.tokens,
        calibrated_tokens: counted.calibrated_tokens,
        tokenizer: counted.tokenizer,
    }
}

pub(super) fn history_row(history: &HistoryRow) -> pb::ReadHistoryResponse {
    let row = &history.row;
    pb::ReadHistoryResponse {
        message: Some(pb::StoredMessage {
            seq: row.seq.0,
            turn: row.turn,
            round: row.round.0,
            message: Some(codec::to_pb(&row.message)),
            record_time: Some(codec::time::to_pb(row.record_time)),
            tokens: row.tokens.total,
            digest: Bytes::copy_from_slice(&row.digest),
            revision: row.revision.0,
        }),
        elided: history.elided.iter().copied().map(codec::range::content_to_pb).collect(),
    }
}

/// Chunks; at least one, for it tells the type and the size.
pub(super) fn content_chunks(
    content: Content,
) -> impl Iterator<Item = pb::ReadContentResponse> + Send {
    let Content { bytes, media_type, total_bytes } = content;
    let mut head = Some((media_type, i64::try_from(total_bytes).unwrap_or(i64::MAX)));
    pieces(bytes, CHUNK_BYTES).map(move |(chunk, _)| {
        let (media_type, total_bytes) = head.take().unwrap_or_default();
        pb::ReadContentResponse { chunk, media_type, total_bytes }
    })
}

/// Cuts into pieces of at most `most` bytes, at least one; true beside all but
/// the last.
pub(super) fn pieces(bytes: Bytes, most: usize) -> impl Iterator<Item = (Bytes, bool)> + Send {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let mut piece = rest.take()?;
        if piece.len() > most {
            rest = Some(piece.split_off(most));
        }
        Some((piece, rest.is_some()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_say_whether_more_follows() {
        let cut = |text: &'static str| -> Vec<(Bytes, bool)> {
            pieces(Bytes::from_static(text.as_bytes()), 3).collect()
        };
        assert_eq!(cut(""), [(Bytes::new(), false)]);
        assert_eq!(cut("abc"), [("abc".into(), false)]);
        assert_eq!(cut("abcd"), [("abc".into(), true), ("d".into(), false)]);
    }

    #[test]
    fn r1_only_the_first_chunk_tells_type_and_size() {
        let content = Content {
            bytes: vec![b'x'; CHUNK_BYTES + 1].into(),
            media_type: "text/plain".into(),
            total_bytes: CHUNK_BYTES + 1,
        };
        let chunks: Vec<_> = content_chunks(content).collect();
        assert_eq!(chunks.len(), 2);
        assert_eq!((&*chunks[0].media_type, chunks[0].chunk.len()), ("text/plain", CHUNK_BYTES));
        assert_eq!((&*chunks[1].media_type, chunks[1].total_bytes), ("", 0));
    }
}
