//! What calls cost, and what is done where nobody does anything clever.

use std::sync::Arc;

use super::{
    cache::Cache,
    numbers::{mean, p95, share},
    simple::{Simple, faults},
    wire::{Wire, WireBlock, common, tokens_of},
};

fn message(role: &str, content: &str) -> Vec<Arc<WireBlock>> {
    WireBlock::of_message(&format!(r#"{{"role":"{role}","content":[{content}]}}"#)).unwrap()
}

fn text(words: &str) -> String {
    format!(r#"{{"type":"text","text":"{words}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"read","input":{{}}}}"#)
}

fn result(id: &str, words: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{words}"}}"#)
}

/// A request, then rounds of a call and its result.
fn history(rounds: usize) -> Wire {
    let mut blocks = message("user", &text("please"));
    for round in 0..rounds {
        let id = format!("c{round}");
        blocks.extend(message("assistant", &call(&id)));
        blocks.extend(message("user", &result(&id, &"word ".repeat(50))));
    }
    Wire { fixed: [String::new(), String::new()], fixed_tokens: 0, blocks }
}

#[test]
fn what_stands_at_the_start_of_both_calls_is_read_from_the_cache() {
    let mut cache = Cache::new(1_000_000);
    let (first, second) = (history(2), history(3));
    let (before, after) = (tokens_of(&first.blocks), tokens_of(&second.blocks));
    assert_eq!(common(&first.blocks, &second.blocks), first.blocks.len());
    cache.call(first, before);
    cache.call(second, after);
    assert_eq!((cache.spent.sent, cache.spent.cached), (before + after, before));
    assert_eq!((cache.spent.calls, cache.spent.cuts, cache.spent.too_large), (2, 0, 0));
    let expected = (before * 10 + after * 125 + 50) / 100;
    assert!((cache.spent.cost() - expected).abs() <= 1, "{} {expected}", cache.spent.cost());
}

#[test]
fn another_system_prompt_leaves_nothing_in_the_cache() {
    let mut cache = Cache::new(1_000_000);
    cache.call(history(2), 0);
    cache.call(Wire { fixed: ["[]".into(), String::new()], ..history(3) }, 0);
    assert_eq!((cache.spent.cached, cache.spent.cuts), (0, 1));
}

#[test]
fn a_cache_mark_changes_nothing_of_what_is_cached() {
    let marked = r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}"#;
    assert_eq!(message("user", marked), message("user", &text("a")));
}

#[test]
fn simple_policies_drop_whole_rounds_and_make_valid_requests() {
    let whole = history(30);
    let limit = tokens_of(&whole.blocks) / 2;
    for policy in Simple::ALL {
        let sent = policy.context(&whole, limit).unwrap();
        assert_eq!(faults(&sent), Vec::<String>::new(), "{}", policy.name());
        let is_whole = policy == Simple::Everything;
        assert_eq!(tokens_of(&sent.blocks) <= limit, !is_whole, "{}", policy.name());
        assert_eq!(sent.blocks.last(), whole.blocks.last());
    }
}

#[test]
fn the_last_20_messages_are_kept_with_what_completes_their_first_round() {
    let sent = Simple::KeepLast20.context(&history(30), 1_000_000).unwrap();
    // A line that starts, and ten rounds.
    assert_eq!(sent.blocks.len(), 21);
    let short = history(5);
    let sent = Simple::KeepLast20.context(&short, 1_000_000).unwrap();
    assert_eq!(sent.blocks, short.blocks);
}

#[test]
fn the_newest_round_is_sent_even_where_it_is_too_large() {
    let mut cache = Cache::new(10);
    cache.call(Simple::DropOldest.context(&history(3), 10).unwrap(), 0);
    assert_eq!(cache.spent.too_large, 1);
    assert!(cache.spent.sent > 10);
}

#[test]
fn shares_means_and_quantiles() {
    assert_eq!((share(1, 4), share(1, 0)), (Some(0.25), None));
    assert_eq!((mean(&[1, 2]), mean(&[])), (Some(2), None));
    let hundred: Vec<i64> = (1..=100).collect();
    assert_eq!((p95(&hundred), p95(&[7]), p95(&[])), (Some(95), Some(7), None));
}
