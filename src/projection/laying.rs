//! Overlays laid on a view together. A look at a view costs as much as it
//! shows, and a long history that just came has hundreds of segments: one look
//! is for all of them, and more only where that shows that one of them saves
//! nothing.

use std::collections::HashMap;

use super::{Composed, History, Lens, Memo, Sight, bench::directly_under, compose::compose};
use crate::model::{Overlay, OverlayId, Seq};

/// What comes of an overlay: itself with its sizes, or the tokens of the view
/// before it and with it, where it would not be smaller.
pub type Laid = Result<Overlay, (i64, i64)>;

/// A view, and what lies on it.
pub(crate) struct Pile<'a> {
    pub lens: Lens<'a>,
    pub memo: &'a mut Memo,
    pub in_force: Vec<Overlay>,
    pub composed: Composed,
}

impl Pile<'_> {
    /// Lays overlays that share no row on the view, in their order. `tokens_before`
    /// and `tokens_after` follow on each other; what they change beside what
    /// they cover counts for the last of those that were looked at together.
    pub(crate) fn lay(&mut self, overlays: Vec<Overlay>, out: &mut Vec<Laid>) {
        if overlays.is_empty() {
            return;
        }
        let mut in_force = self.in_force.clone();
        in_force.extend(overlays.iter().cloned());
        let composed = compose(self.lens, &in_force, self.memo);
        match self.sized(overlays, &composed) {
            Ok(sized) => {
                let from = self.in_force.len();
                in_force.truncate(from);
                in_force.extend(sized.iter().cloned());
                (self.in_force, self.composed) = (in_force, composed);
                out.extend(sized.into_iter().map(Ok));
            }
            Err(overlays) if overlays.len() == 1 => {
                out.push(Err((self.composed.tokens, composed.tokens)));
            }
            Err(mut overlays) => {
                let second = overlays.split_off(overlays.len() / 2);
                self.lay(overlays, out);
                self.lay(second, out);
            }
        }
    }

    /// The overlays with their sizes, where each makes the view smaller.
    fn sized(
        &self,
        mut overlays: Vec<Overlay>,
        with: &Composed,
    ) -> Result<Vec<Overlay>, Vec<Overlay>> {
        let rounds: HashMap<Seq, i64> =
            self.composed.rounds().map(|round| (round.id, round.tokens)).collect();
        let (before, then) = (notices(&self.composed), notices(with));
        let mut tokens = self.composed.tokens;
        let last = overlays.len() - 1;
        for at in 0..overlays.len() {
            let overlay = &overlays[at];
            let of_rounds: i64 = overlay.covered.iter().filter_map(|seq| rounds.get(&seq)).sum();
            let under = directly_under(&overlay.covered, &self.in_force);
            let of_notices: i64 = under.iter().filter_map(|id| before.get(id)).sum();
            let shown = then.get(&overlay.id).copied().unwrap_or(0);
            let naive = tokens - of_rounds - of_notices + shown;
            let after = if at == last { with.tokens } else { naive };
            if after >= tokens {
                return Err(overlays);
            }
            (overlays[at].tokens_before, overlays[at].tokens_after) = (tokens, after);
            tokens = after;
        }
        Ok(overlays)
    }
}

/// Tokens of what is shown for each overlay.
fn notices(composed: &Composed) -> HashMap<&OverlayId, i64> {
    composed.notices().map(|notice| (&notice.overlay, notice.tokens)).collect()
}

/// Lays overlays on a view as it stands, whole.
#[must_use]
pub fn lay(
    history: &History,
    sight: &Sight,
    in_force: Vec<Overlay>,
    overlays: Vec<Overlay>,
    memo: &mut Memo,
) -> Vec<Laid> {
    let lens = Lens { history, sight, shown: history.order().len() };
    let composed = compose(lens, &in_force, memo);
    let mut out = Vec::with_capacity(overlays.len());
    Pile { lens, memo, in_force, composed }.lay(overlays, &mut out);
    out
}
