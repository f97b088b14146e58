//! R37: what `dedupe_files` alone saves, printed and not asserted: the claim is
//! 15 to 25 % of the volume of conversations above 30 turns.

use std::sync::Arc;

use concertina::{
    codec,
    model::{Revision, Row, Seq, StageKind, Timestamp},
    policies::Presets,
    projection::{History, Lens, Memo, Sight, Sizes, compose, report},
    rounds::MessageShape,
    tokens,
};

use super::{conversations, print, read::Conversation};

/// Tokens of a conversation, without and with duplicates shown as such, and
/// its turns.
fn measure(conversation: &Conversation, preset: &str) -> (i64, i64, i64) {
    let policy = Presets::embedded()
        .resolve(preset, br#"{"stages":["dedupe_files"]}"#)
        .map(|resolved| Arc::new(resolved.policy))
        .unwrap();
    let mut history = History::new();
    let mut sight = Sight::new(policy, Sizes { limit_tokens: 1_000_000_000 });
    let mut turns = 0;
    for (message, seq) in conversation.messages.iter().zip(1..) {
        turns += i64::from(MessageShape::of(message).starts_turn());
        let row = Row {
            seq: Seq(seq),
            turn: turns,
            round: Seq(seq),
            revision: Revision(seq),
            record_time: Timestamp::default(),
            tokens: tokens::message(message),
            digest: codec::digest(&codec::encode(message)),
            message: Arc::new(message.clone()),
        };
        let placement = history.push(Arc::new(row));
        sight.see(&history, &placement);
    }
    let lens = Lens { history: &history, sight: &sight, shown: history.order().len() };
    let composed = compose(lens, &[], &mut Memo::default());
    let saved = report::savings(lens, &composed, &[]);
    let saved = saved.get(StageKind::DedupeFiles.name()).map_or(0, |saving| saving.tokens);
    (composed.tokens + saved, composed.tokens, turns)
}

#[test]
fn r37_what_deduplication_alone_saves() {
    let (mut whole, mut shown, mut counted) = (0, 0, 0);
    for path in conversations() {
        // Every recorded session is there twice: as its program wrote it, and
        // in one shape.
        let is_copy = path.components().any(|part| part.as_os_str() == "normalized");
        let conversation = Conversation::read(&path);
        let (before, after, turns) = measure(&conversation, "default");
        assert!(after <= before, "{}", conversation.name);
        if is_copy || turns <= 30 {
            continue;
        }
        let (four_before, four_after, _) = measure(&conversation, "four-level");
        print(&format!(
            "{}: {turns} turns, {before} tokens, {:.1} % saved with the tools of `default`, \
             {:.1} % with those of `four-level`",
            conversation.name,
            share(before, after),
            share(four_before, four_after),
        ));
        whole += before;
        shown += after;
        counted += 1;
    }
    print(&format!("{counted} conversations above 30 turns: {:.1} % saved", share(whole, shown)));
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn share(before: i64, after: i64) -> f64 {
    100.0 * (before - after) as f64 / (before.max(1)) as f64
}
