//! What each preset says, by the requirement that asks for it.

use concertina::model::policy::{Basis, ClearPath, CollapseAndCompact, Policy, StageKind as S};
use concertina::policies::Presets;

fn preset(name: &str) -> Policy {
    Presets::embedded().resolve(name, b"").unwrap().policy
}

#[test]
fn all_seven_presets_resolve_and_list_fit_last() {
    let names: Vec<_> = Presets::embedded().names().collect();
    let all =
        ["default", "four-level", "cascade", "teaching", "teaching-collapse", "claude-code", "off"];
    assert_eq!(names, all);
    for name in names {
        let last = preset(name).stages.last().copied();
        assert_eq!(last, (name != "off").then_some(S::Fit), "{name}");
    }
}

#[test]
fn r12_r13_r14_each_document_has_its_own_order() {
    let four_level = [
        S::DedupeFiles,
        S::ResultCap,
        S::StripImages,
        S::MicroText,
        S::Collapse,
        S::AutoCompact,
        S::Fit,
    ];
    assert_eq!(preset("four-level").stages, four_level);
    let cascade = [S::ResultCap, S::MicroClear, S::SnipTurns, S::Collapse, S::AutoCompact, S::Fit];
    assert_eq!(preset("cascade").stages, cascade);
    let teaching = [S::BatchBudget, S::SnipMiddle, S::MicroClear, S::AutoCompact, S::Fit];
    assert_eq!(preset("teaching").stages, teaching);
}

#[test]
fn r15_a_budget_comes_before_clearing() {
    for name in ["default", "teaching", "teaching-collapse", "claude-code"] {
        let stages = preset(name).stages;
        let at = |stage| stages.iter().position(|s| *s == stage).unwrap();
        assert!(at(S::BatchBudget) < at(S::MicroClear), "{name}");
    }
}

#[test]
fn r2_the_reserve_is_8192_tokens_but_for_claude_code() {
    for name in Presets::embedded().names() {
        let expected = if name == "claude-code" { 20_000 } else { 8192 };
        assert_eq!(preset(name).window.output_reserve_tokens, expected, "{name}");
    }
}

#[test]
fn r5_r69_warnings_are_at_70_85_and_95_percent() {
    for name in Presets::embedded().names() {
        let w = preset(name).warnings;
        let ratios = [w.elevated_ratio, w.warning_ratio, w.critical_ratio, w.spawn_blocked_ratio];
        assert_eq!(ratios, [0.70, 0.85, 0.95, 0.95], "{name}");
    }
}

#[test]
fn r23_r24_the_cascade_keeps_2400_and_1600_of_4000() {
    let cap = preset("cascade").result_cap;
    assert_eq!((cap.limit_chars, cap.keep_chars), (4000, 4000));
    assert_eq!(cap.head_ratio, 0.6);
    assert_eq!(cap.marker, "...[{removed} chars removed]...");
}

#[test]
fn r27_r33_four_level_keeps_heads_and_marks_duplicates() {
    let policy = preset("four-level");
    assert_eq!((policy.result_cap.limit_chars, policy.result_cap.head_ratio), (4096, 1.0));
    assert_eq!(policy.result_cap.marker, "\n... [truncated, {total} total chars]");
    let duplicate = "[Duplicate file content, see earlier in conversation]";
    assert_eq!(policy.dedupe_files.marker, duplicate);
}

#[test]
fn r29_r31_batches_are_bounded_and_say_where_the_rest_is() {
    let batch = preset("teaching").batch_budget;
    assert_eq!((batch.limit_chars, batch.preview_chars, batch.floor_chars), (200_000, 2000, 0));
    assert!(batch.marker.contains("persisted-output"));
    assert!(batch.marker.contains("message {seq} block {block}"));
}

#[test]
fn r42_r43_r44_r46_the_cascade_clears_eight_tools_by_count_and_idle_time() {
    let clear = preset("cascade").micro_clear;
    assert_eq!((clear.first_calls, clear.every_calls, clear.idle_minutes), (50, 25, 90));
    assert_eq!((clear.tools.len(), clear.keep_results), (8, 20));
    assert_eq!(clear.placeholder, "[content no longer available]");
    assert_eq!(clear.path, ClearPath::Auto);
}

#[test]
fn r54_teaching_clears_on_each_request_all_but_three() {
    let clear = preset("teaching").micro_clear;
    assert!(clear.each_request && clear.tools.is_empty());
    assert_eq!((clear.keep_results, clear.min_chars), (3, 120));
    assert_eq!(clear.placeholder, "[Earlier tool result compacted. Re-run if needed.]");
}

#[test]
fn r56_the_cascade_drops_turns_until_just_below_limit_less_13k() {
    let snip = preset("cascade").snip_turns;
    assert_eq!((snip.buffer_tokens, snip.buffer_share, snip.until_ratio), (13_000, 0.065, 1.0));
}

#[test]
fn r60_teaching_keeps_3_and_47_of_more_than_50() {
    let snip = preset("teaching").snip_middle;
    assert_eq!((snip.max_messages, snip.keep_head, snip.keep_tail), (50, 3, 47));
}

#[test]
fn r66_four_level_has_a_ladder_of_three() {
    let collapse = preset("four-level").collapse;
    assert_eq!(collapse.ladder_ratios, [0.75, 0.90, 0.975]);
    assert_eq!(collapse.ladder_takes, [0.5, 2.0, 2.0]);
    assert_eq!(preset("four-level").window.basis, Basis::Window);
}

#[test]
fn r64_the_cascade_takes_segments_of_5_to_10_turns_whatever_their_size() {
    let collapse = preset("cascade").collapse;
    assert_eq!((collapse.min_turns, collapse.max_turns, collapse.segment_share), (5, 10, 1.0));
    assert_eq!((collapse.min_summary_tokens, collapse.max_summary_tokens), (100, 300));
}

#[test]
fn r18_r19_r68_collapse_and_compact_go_together_as_each_document_says() {
    let with = |name| preset(name).collapse.with_auto_compact;
    assert_eq!(with("four-level"), CollapseAndCompact::Chained);
    assert_eq!(with("cascade"), CollapseAndCompact::Overlapping);
    for name in ["teaching-collapse", "claude-code", "default"] {
        assert_eq!(with(name), CollapseAndCompact::Replaced);
    }
    for name in ["cascade", "teaching-collapse", "claude-code", "default"] {
        let collapse = preset(name).collapse;
        assert_eq!((collapse.commit_ratio, collapse.block_ratio), (0.90, 0.95), "{name}");
    }
}

#[test]
fn r76_r80_r87_r92_r98_compaction_by_each_document() {
    let four_level = preset("four-level").auto_compact;
    assert_eq!((four_level.start_ratio, four_level.min_turns_between), (0.9, 3));
    assert!(four_level.once_a_round);
    assert_eq!(preset("cascade").auto_compact.keep_turns, 2);
    let teaching = preset("teaching");
    assert_eq!(teaching.auto_compact.envelope, "[Compacted]\n\n{summary}");
    assert_eq!(teaching.recovery.envelope, "[Reactive compact]\n\n{summary}");
    assert_eq!((teaching.recovery.keep_messages, teaching.recovery.cycles_a_turn), (5, 1));
    for name in Presets::embedded().names() {
        assert_eq!(preset(name).auto_compact.breaker_failures, 3, "{name}");
    }
}

#[test]
fn m3_default_clears_in_batches_between_two_marks() {
    let clear = preset("default").micro_clear;
    assert!(!clear.each_request && clear.first_calls == 0);
    assert_eq!((clear.start_ratio, clear.until_ratio, clear.at_least_ratio), (0.7, 0.5, 0.1));
}

#[test]
fn m5_defaults_placeholder_names_the_row_and_no_time_or_counter() {
    let placeholder = preset("default").micro_clear.placeholder;
    assert_eq!(placeholder, "[tool result cleared: {bytes} bytes, message {seq} block {block}]");
}

#[test]
fn n7_a_margin_stands_for_what_nobody_stated() {
    assert_eq!(preset("default").fit.unstated_fixed_share, 0.02);
}

#[test]
fn r8_the_resolved_json_names_the_unit_of_every_number() {
    let json = Presets::embedded().resolve("default", b"").unwrap().json;
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let tables = value.as_object().unwrap().values().filter_map(|v| v.as_object());
    let units = [
        "ratio", "ratios", "share", "chars", "tokens", "turns", "rounds", "messages", "calls",
        "minutes", "seconds", "lines", "results", "failures", "head", "tail", "between", "takes",
        "turn",
    ];
    for (key, value) in tables.flatten() {
        let has_unit = key.rsplit('_').next().is_some_and(|last| units.contains(&last));
        assert!(!value.is_number() || has_unit, "{key}");
    }
}
