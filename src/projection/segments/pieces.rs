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

/// Runs of shown rounds before the newest that stay. What is taken of one goes
/// from its start.
pub(super) struct Runs {
    runs: Vec<(Vec<Piece>, usize)>,
    /// Units (turns, or rounds in a session of one turn) that stay.
    pub(super) kept_units: usize,
}

impl Runs {
    /// What is left of each, by its place; nothing of those that are used up.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, &[Piece])> {
        let left = self.runs.iter().map(|(run, from)| &run[*from..]).enumerate();
        left.filter(|(_, run)| !run.is_empty())
    }

    /// Takes so many pieces from the start of a run, and what is protected
    /// behind them: it is between nothing any more.
    pub(super) fn take(&mut self, run: usize, pieces: usize) {
        let Some((run, from)) = self.runs.get_mut(run) else { return };
        *from = (*from + pieces).min(run.len());
        *from += run[*from..].iter().take_while(|piece| piece.is_protected).count();
    }
}

impl Finder<'_, '_> {
    pub(super) fn runs(&self) -> &Runs {
        self.runs.get_or_init(|| self.find_runs())
    }

    fn find_runs(&self) -> Runs {
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
            if self.is_leased(round.id) {
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
        let kept_units = if self.has_whole_turns() { starts.count() } else { newest.len() };
        for run in &mut runs {
            trim(run);
        }
        Runs { runs: runs.into_iter().map(|run| (run, 0)).collect(), kept_units }
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
        *self.whole_turns.get_or_init(|| {
            let starts = self.bench.turn_starts();
            starts.get(1).is_some_and(|second| *second <= self.kept_from())
        })
    }

    /// What a run counts in, one after the other: who wants a few of a long run
    /// does not wait for all of them.
    pub(super) fn units<'r>(&'r self, run: &'r [Piece]) -> impl Iterator<Item = Vec<Piece>> + 'r {
        let in_rounds = !self.has_whole_turns();
        let turns = run.chunk_by(|_, next| !next.starts_turn);
        let units = turns.flat_map(move |turn| {
            let size = if in_rounds || self.is_too_much(turn) { 1 } else { turn.len() };
            turn.chunks(size).map(<[Piece]>::to_vec)
        });
        let mut units = units.peekable();
        // What is protected alone is no unit of its own.
        let is_protected = |unit: &Vec<Piece>| unit.iter().all(|it| it.is_protected);
        std::iter::from_fn(move || {
            let mut unit = units.next()?;
            while let Some(more) = units.next_if(is_protected) {
                unit.extend(more);
            }
            Some(unit)
        })
    }

    /// A turn that is no unit, but each of its rounds.
    fn is_too_much(&self, turn: &[Piece]) -> bool {
        let (rules, window) = (self.rules(), self.bench.facts.window);
        let share = share_of(window.limit(), rules.segment_share);
        turn.len() > rules.max_turns && tokens::calibrate(tokens_of(turn), window.factor) > share
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
