//! What changed in a session, revision by revision.

use std::collections::BTreeMap;

use super::{ContextItem, Overlay, Pin, Revision, Seq, Timestamp, View, ViewName};

/// One change. Every revision is exactly one.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionEntry {
    /// Its number.
    pub revision: Revision,
    /// When.
    pub time: Timestamp,
    /// Who asked for it.
    pub author: String,
    /// What changed.
    pub change: Change,
}

/// What changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Rows came.
    Appended {
        /// The first.
        first: Seq,
        /// The last.
        last: Seq,
        /// The first row's lane.
        lane: String,
    },
    /// An overlay came into force. As it is now: it may have been rolled back
    /// since.
    OverlayCommitted(Box<Overlay>),
    /// An overlay went out of force.
    OverlayRolledBack(Box<Overlay>),
    /// A pin was set.
    Pinned(Pin),
    /// A pin was taken away.
    Unpinned(Pin),
    /// A view was added, or its policy and model replaced. As it was set then.
    ViewSet(Box<View>),
    /// A view was deleted.
    ViewDeleted(ViewName),
    /// A context item was set or removed; without its content.
    ItemSet(Box<ContextItem>),
    /// Names or labels were set. As they were set then.
    SessionUpdated {
        /// The name.
        display_name: String,
        /// The pairs.
        labels: BTreeMap<String, String>,
    },
}
