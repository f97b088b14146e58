//! What was played, and what was wrong.

use std::fmt;

use concertina::model::OverlayKind;

/// Faults that are told word for word; all are counted.
const MOST_FAULTS: usize = 40;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) plays: usize,
    /// Plays that were rolled back, restarted and read again at their end.
    pub(crate) ended: usize,
    pub(crate) prefixes: usize,
    pub(crate) contexts: usize,
    /// Contexts of which every block was looked for.
    pub(crate) looked_through: usize,
    pub(crate) reductions: usize,
    pub(crate) overlays: Overlays,
    pub(crate) rolled_back: usize,
    /// Contexts of an earlier revision.
    pub(crate) read_again: usize,
    pub(crate) markers_read: usize,
    /// Contexts that cannot be made to fit, as they are told.
    pub(crate) irreducible: usize,
    /// Contexts in which `fit` had to shorten the newest request.
    pub(crate) shortened_requests: usize,
    pub(crate) fault_count: usize,
    pub(crate) faults: Vec<String>,
}

/// Overlays that were made, by kind.
#[derive(Debug, Default)]
pub(crate) struct Overlays {
    pub(crate) clears: usize,
    pub(crate) snips: usize,
    pub(crate) collapses: usize,
    pub(crate) compactions: usize,
}

impl Overlays {
    pub(crate) fn count(&mut self, kind: OverlayKind) {
        match kind {
            OverlayKind::Clear => self.clears += 1,
            OverlayKind::Snip => self.snips += 1,
            OverlayKind::Collapse => self.collapses += 1,
            OverlayKind::Compact => self.compactions += 1,
        }
    }
}

impl Tally {
    pub(crate) fn fault(&mut self, fault: String) {
        self.fault_count += 1;
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.plays += other.plays;
        self.ended += other.ended;
        self.prefixes += other.prefixes;
        self.contexts += other.contexts;
        self.looked_through += other.looked_through;
        self.reductions += other.reductions;
        self.overlays.clears += other.overlays.clears;
        self.overlays.snips += other.overlays.snips;
        self.overlays.collapses += other.overlays.collapses;
        self.overlays.compactions += other.overlays.compactions;
        self.rolled_back += other.rolled_back;
        self.read_again += other.read_again;
        self.markers_read += other.markers_read;
        self.irreducible += other.irreducible;
        self.shortened_requests += other.shortened_requests;
        self.fault_count += other.fault_count;
        self.faults.extend(other.faults);
        self.faults.truncate(MOST_FAULTS);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = &self.overlays;
        write!(
            f,
            "{} contexts ({} looked through) at {} prefixes of {} plays, {} irreducible, {} with \
             the newest request shortened; {} reductions: {} clears, {} snips, {} collapses, {} \
             compactions; {} plays to their end: {} overlays rolled back, {} contexts read again \
             at their revision; {} markers read; {} faults",
            self.contexts,
            self.looked_through,
            self.prefixes,
            self.plays,
            self.irreducible,
            self.shortened_requests,
            self.reductions,
            made.clears,
            made.snips,
            made.collapses,
            made.compactions,
            self.ended,
            self.rolled_back,
            self.read_again,
            self.markers_read,
            self.fault_count,
        )
    }
}
