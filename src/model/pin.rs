//! Rows that no automatic reduction of a view may cover.

use super::{PinId, Revision, SeqRange, Timestamp, ViewName};

/// One pin.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Unique within its session.
    pub id: PinId,
    /// The view it holds in.
    pub view: ViewName,
    /// The rows, as they were named.
    pub rows: SeqRange,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub author: String,
    /// When.
    pub create_time: Timestamp,
    /// The revision from which it holds.
    pub since: Revision,
    /// The revision from which it does not any more.
    pub until: Option<Revision>,
}
