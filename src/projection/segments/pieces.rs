//! What a segment is made of: shown rounds in runs that no summary parts, and
//! the units, turns or rounds, that a run counts in.

use super::Finder;
use crate::{
    model::{Seq, shown::Entry},
    projection::window::share_of,
    tokens,
};

/// A shown round.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) id: Seq,
    pub(super) tokens: i64,
    pub(super) starts_turn: bool,
    pub(super) is_protected: bool,
}

impl Finder<'_, '_> {
    /// Runs of shown rounds before the newest that stay, and how many units
    /// (turns, or rounds in a session of one turn) stay.
    pub(super) fn runs(&self) -> (Vec<Vec<Piece>>, usize) {
        let protected = self.protected().all();
        let history = self.bench.lens.history;
        let kept_from = self.kept_from();
        let mut runs: Vec<Vec<Piece>> = vec![Vec::new()];
        let mut at = 0;
        for entry in &self.bench.composed.entries {
            let Entry::Round(round) = entry else {
                runs.push(Vec::new());
                continue;
            };
            if self.bench.composed.visible.get(at) != Some(&round.id) {
                continue;
            }
            at += 1;
            if at > kept_from {
                break;
            }
            if self.is_leased(round.id) || self.taken.contains(&round.id) {
                runs.push(Vec::new());
                continue;
            }
            let piece = Piece {
                id: round.id,
                tokens: round.tokens,
                starts_turn: history.round(round.id).is_some_and(|it| it.starts_turn),
                is_protected: protected.contains(&round.id),
            };
            if let Some(run) = runs.last_mut() {
                run.push(piece);
            }
        }
        let newest = self.bench.composed.visible.get(kept_from..).unwrap_or_default();
        let starts =
            newest.iter().filter(|id| history.round(**id).is_some_and(|it| it.starts_turn));
        let kept = if self.has_whole_turns() { starts.count() } else { newest.len() };
        runs.retain(|run| !run.is_empty());
        for run in &mut runs {
            trim(run);
        }
        (runs, kept)
    }

    /// The position in the view from which rounds stay as they are.
    pub(super) fn kept_from(&self) -> usize {
        *self.kept_from.get_or_init(|| self.find_kept_from())
    }

    fn find_kept_from(&self) -> usize {
        let rules = self.rules();
        if rules.keep_share <= 0.0 {
            return self.bench.newest_turns(rules.keep_turns);
        }
        let visible = &self.bench.composed.visible;
        let starts = self.bench.turn_starts();
        let oldest = match starts.len().checked_sub(rules.keep_turns) {
            Some(at) => starts.get(at).copied().unwrap_or(visible.len()),
            None => 0,
        };
        let window = self.bench.facts.window;
        let most = share_of(window.limit(), rules.keep_share);
        let shown = self.bench.tokens_by_round();
        let mut from = visible.len().saturating_sub(1);
        let mut sum = 0;
        for at in (oldest..visible.len()).rev() {
            sum += shown.get(&visible[at]).copied().unwrap_or(0);
            if tokens::calibrate(sum, window.factor) > most {
                break;
            }
            from = from.min(at);
        }
        from
    }

    /// Says whether a whole turn lies before the rounds that stay.
    pub(super) fn has_whole_turns(&self) -> bool {
        let kept_from = self.kept_from();
        self.bench.turn_starts().get(1).is_some_and(|second| *second <= kept_from)
    }

    /// What a run counts in.
    pub(super) fn units(&self, run: &[Piece]) -> Vec<Vec<Piece>> {
        let rules = self.rules();
        let window = self.bench.facts.window;
        let share = share_of(window.limit(), rules.segment_share);
        let in_rounds = !self.has_whole_turns();
        let mut turns: Vec<Vec<Piece>> = Vec::new();
        for piece in run {
            match turns.last_mut() {
                Some(turn) if !piece.starts_turn => turn.push(*piece),
                _ => turns.push(vec![*piece]),
            }
        }
        let mut out = Vec::new();
        for turn in turns {
            let is_too_much = turn.len() > rules.max_turns
                && tokens::calibrate(tokens_of(&turn), window.factor) > share;
            if in_rounds || is_too_much {
                out.extend(turn.into_iter().map(|piece| vec![piece]));
            } else {
                out.push(turn);
            }
        }
        // What is protected alone is no unit of its own.
        let mut units: Vec<Vec<Piece>> = Vec::new();
        for unit in out {
            match units.last_mut() {
                Some(last) if unit.iter().all(|it| it.is_protected) => last.extend(unit),
                _ => units.push(unit),
            }
        }
        units
    }
}

/// Protected rounds at the ends are not between anything.
pub(super) fn trim(run: &mut Vec<Piece>) {
    while run.last().is_some_and(|piece| piece.is_protected) {
        run.pop();
    }
    let first = run.iter().position(|piece| !piece.is_protected).unwrap_or(run.len());
    run.drain(..first);
}

pub(super) fn tokens_of(rounds: &[Piece]) -> i64 {
    rounds.iter().filter(|piece| !piece.is_protected).map(|piece| piece.tokens).sum()
}
