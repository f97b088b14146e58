//! What the tests of several commands draw or tell of.

use crate::proto::v1::{self, overlay::Kind};

/// A collapse of rows.
pub(super) fn fold(id: &str, first_seq: i64, last_seq: i64) -> v1::Overlay {
    v1::Overlay {
        id: id.into(),
        kind: Kind::Collapse.into(),
        covered: vec![v1::SeqRange { first_seq, last_seq }],
        covered_messages: last_seq - first_seq + 1,
        ..v1::Overlay::default()
    }
}
