//! What was tried in vain in a view. Each attempt costs a call of the
//! summarizer, and where nothing has changed it comes to the same.

use crate::model::{Revision, RowSet};

/// Refused segments that are remembered; the oldest go first.
const MOST: usize = 256;

/// What was tried in vain: in memory alone, for after a restart another
/// summarizer may be there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::service) struct Attempts {
    /// The change of the view's reductions since which `refused` holds.
    since: Revision,
    refused: Vec<RowSet>,
    failed_at: Option<Revision>,
}

impl Attempts {
    /// Segments whose summary would not have made the view smaller, where it is
    /// as its reductions made it at `reductions`.
    pub(in crate::service) fn refused(&self, reductions: Revision) -> &[RowSet] {
        if self.since == reductions { &self.refused } else { &[] }
    }

    /// Says whether no summary could be had for the session as it was at
    /// `revision`.
    pub(in crate::service) fn has_failed(&self, revision: Revision) -> bool {
        self.failed_at == Some(revision)
    }

    /// Notes what was refused in the view as it was at `reductions`.
    pub(super) fn refuse(&mut self, reductions: Revision, mut refused: Vec<RowSet>) {
        refused.drain(..refused.len().saturating_sub(MOST));
        (self.since, self.refused) = (reductions, refused);
    }

    /// Notes that no summary could be had at `revision`.
    pub(super) fn fail(&mut self, revision: Revision) {
        self.failed_at = Some(revision);
    }
}
