//! Windows, levels, thresholds, and the order in which stages act.

use concertina::{
    model::{
        Overlay, Pressure, Role, StageKind as S, TokenBudget,
        policy::{Basis, Policy},
    },
    policies::Presets,
    projection::{Window, share_of},
    tokens,
};

use super::support::{Agent, FORMATS, of_tokens, policy, prose, rendered, window};

fn budget(window: i64, fixed: i64, messages: i64, reserve: i64) -> TokenBudget {
    TokenBudget {
        window,
        fixed,
        messages,
        output_reserve: reserve,
        pressure: Pressure::Normal,
        spawn_allowed: true,
        calibration: 1.0,
        history: messages,
        parts: Vec::new(),
    }
}

#[test]
fn r1_what_is_available_is_what_the_others_leave() {
    let it = budget(200_000, 35_000, 10_000, 8_192);
    assert_eq!(it.available(), 200_000 - 35_000 - 10_000 - 8_192);
    assert_eq!(budget(1000, 900, 500, 100).available(), 0, "never below zero");
}

#[test]
fn r2_the_reserve_is_8192_or_a_quarter_of_a_small_window() {
    let policy = policy("cascade", "");
    for (tokens, reserve) in [(200_000, 8192), (32_768, 8192), (32_767, 8191), (1000, 250)] {
        assert_eq!(window(&policy, tokens).reserve, reserve, "{tokens}");
    }
}

#[test]
fn r3_about_41_turns_of_4000_fill_a_window_of_200000() {
    let mut agent = Agent::of("cascade", 200_000);
    agent.window.fixed = 35_000;
    assert_eq!(agent.window.room(), 165_000 - 8_192);
    let mut turns = 0;
    while agent.look().added.is_empty() {
        agent.user(&of_tokens(1_996));
        agent.assistant(&of_tokens(1_996));
        turns += 1;
    }
    assert!((33..=41).contains(&turns), "{turns}");
}

fn level(ratio_of: (i64, i64)) -> Pressure {
    let (used, limit) = ratio_of;
    let policy = policy("default", "");
    let window = Window { window: limit, reserve: 0, ..window(&policy, limit) };
    window.pressure(&policy.warnings, used)
}

#[test]
fn r5_levels_begin_at_70_85_and_95_percent() {
    for limit in [1000, 191_808, 1_000_000] {
        for (percent, below, from) in [
            (70, Pressure::Normal, Pressure::Elevated),
            (85, Pressure::Elevated, Pressure::Warning),
            (95, Pressure::Warning, Pressure::Critical),
        ] {
            let at = (limit * percent + 99) / 100;
            assert_eq!(level((at, limit)), from, "{percent} % of {limit}");
            assert_eq!(level((at - 1, limit)), below, "{percent} % of {limit}");
        }
    }
}

#[test]
fn ratios_fire_at_the_first_token_that_reaches_them() {
    assert_eq!((share_of(1000, 0.7), share_of(999, 0.7), share_of(3, 0.7)), (700, 700, 3));
    let policy = policy("cascade", "");
    let window = window(&policy, 200_000);
    assert_eq!(window.at_ratio(Basis::Window, 0.9), 180_000);
    assert_eq!(window.at_ratio(Basis::Limit, 0.9), 172_628);
    assert_eq!(window.at_ratio(Basis::Window, 0.99), window.limit(), "at most the limit");
}

/// Results of `tokens` each under `default`, up to the trigger at 70 %.
#[test]
fn r6_a_threshold_that_is_set_is_the_one_that_acts() {
    for ratio in [0.3, 0.5, 0.7] {
        let patch = format!(
            r#"{{"micro_clear":{{"start_ratio":{ratio},"until_ratio":0.1,"keep_share":0.05}}}}"#
        );
        let mut agent = Agent::under(policy("default", &patch), 100_000);
        agent.user("go");
        let mut last = 0;
        let at = share_of(agent.window.limit(), ratio);
        loop {
            agent.tool("bash", "{}", &of_tokens(500));
            if agent.plan(None).added.is_empty() {
                last = agent.window.used(agent.composed_with(&[], None).tokens);
                continue;
            }
            let now = agent.window.used(agent.composed_with(&[], None).tokens);
            assert!(last < at && now >= at, "{ratio}: {last} < {at} <= {now}");
            break;
        }
    }
}

#[test]
fn r7_r11_a_stage_acts_only_where_the_one_before_left_too_much() {
    // Clearing is enough: nothing is snipped.
    let mut enough = Agent::of("cascade", 40_000);
    enough.user("go");
    for _ in 0..50 {
        enough.tool("bash", "{}", &of_tokens(600));
    }
    let look = enough.look();
    assert_eq!(look.trigger(S::MicroClear), "tool_calls");
    assert_eq!(look.trigger(S::SnipTurns), "below_threshold");
    assert_eq!(look.trigger(S::Fit), "below_threshold");
    // It is not enough: turns go, until it fits; then nothing is left for fit.
    let mut more = Agent::of("cascade", 40_000);
    for _ in 0..50 {
        more.user(&prose(2000));
        more.tool("bash", "{}", &of_tokens(600));
    }
    let look = more.look();
    let (clear, snip) = (look.trigger(S::MicroClear), look.trigger(S::SnipTurns));
    assert_eq!((clear, snip), ("tool_calls", "over_threshold"));
    assert_eq!(look.trigger(S::Fit), "below_threshold");
}

#[test]
fn r12_r13_r14_stages_are_told_in_the_order_of_their_document() {
    for preset in ["four-level", "cascade", "teaching", "default"] {
        let mut agent = Agent::of(preset, 100_000);
        agent.user("go");
        let told: Vec<S> = agent.look().triggers.iter().map(|(stage, _)| *stage).collect();
        assert_eq!(told, agent.policy().stages, "{preset}");
    }
}

#[test]
fn r15_what_is_cleared_later_was_previewed_and_kept_in_full_before() {
    let mut agent = Agent::of("teaching", 1_000_000);
    let large = agent.tool("bash", "{}", &prose(300_000));
    assert!(agent.look().text(large, 0).unwrap().contains("<persisted-output>"));
    for _ in 0..3 {
        agent.tool("bash", "{}", "ok");
    }
    let shown = agent.look().text(large, 0).unwrap();
    assert_eq!(shown, "[Earlier tool result compacted. Re-run if needed.]");
    let kept = super::support::words(&agent.history.row(large).unwrap().message.blocks[0]);
    assert_eq!(kept, prose(300_000));
}

#[test]
fn r16_capping_clearing_and_snipping_write_no_summary() {
    for preset in ["cascade", "teaching", "four-level", "default"] {
        let mut agent = Agent::of(preset, 20_000);
        for _ in 0..60 {
            agent.user(&prose(300));
            agent.tool("bash", "{}", &prose(3000));
            let look = agent.look();
            let writes = |it: &&Overlay| !it.summarizer.is_empty();
            let wrote: Vec<&str> =
                look.added.iter().filter(writes).map(|it| it.stage.as_str()).collect();
            assert!(wrote.iter().all(|stage| *stage == "collapse"), "{preset}: {wrote:?}");
        }
    }
}

#[test]
fn r17_routine_stages_run_however_empty_the_window_is() {
    let routine = [
        ("four-level", vec![S::DedupeFiles, S::ResultCap, S::StripImages, S::MicroText]),
        ("cascade", vec![S::ResultCap]),
        ("teaching", vec![S::BatchBudget]),
    ];
    for (preset, stages) in routine {
        let mut agent = Agent::of(preset, 1_000_000);
        agent.user("go");
        let look = agent.look();
        assert!(stages.iter().all(|stage| look.trigger(*stage) == "always"), "{preset}");
    }
    let mut teaching = Agent::of("teaching", 1_000_000);
    for _ in 0..4 {
        teaching.tool("bash", "{}", &prose(500));
    }
    assert_eq!(teaching.look().added.len(), 1, "clearing on each request");
}

#[test]
fn r21_tool_output_goes_before_any_word_of_user_or_assistant() {
    let mut agent = Agent::of("cascade", 40_000);
    let mut said = Vec::new();
    for nth in 0..50 {
        said.push((agent.user(&format!("question {nth}")), format!("question {nth}")));
        agent.tool("bash", "{}", &of_tokens(550));
        said.push((agent.assistant(&format!("answer {nth}")), format!("answer {nth}")));
    }
    let look = agent.look();
    assert!(!look.added.is_empty());
    for (seq, words) in said {
        assert_eq!(look.text(seq, 0), Some(words));
    }
}

#[test]
fn r22_a_snip_shows_a_message_whole_or_not_at_all() {
    for preset in ["cascade", "teaching"] {
        let mut agent = Agent::of(preset, 60_000);
        for nth in 0..80_usize {
            agent.exchange(&prose(900 + nth), &prose(2900 + nth));
        }
        let look = agent.look();
        assert!(!look.added.is_empty(), "{preset}");
        assert_eq!(look.trigger(S::Fit), "below_threshold", "{preset}");
        for row in agent.history.rows() {
            let plain = super::support::words(&row.message.blocks[0]);
            assert!(look.text(row.seq, 0).is_none_or(|shown| shown == plain), "{preset}");
        }
    }
}

#[test]
fn r8_a_file_of_1000_lines_is_about_4000_tokens_or_more() {
    let line = "    let x = 1;\n";
    let file = tokens::count_text(&line.repeat(1000));
    assert!((4000..=9000).contains(&file), "{file}");
    let english = "The server answers every question that the agents ask of it. ".repeat(66);
    let count = tokens::count_text(&english[..4000]);
    assert!((750..=1250).contains(&count), "{count}");
}

#[test]
fn n7_what_is_fixed_is_part_of_the_budget() {
    // W = 10,000; 6,000 are the caller's; the history has 5,000.
    let mut agent = Agent::of("default", 10_000);
    agent.window.fixed = 6_000;
    for _ in 0..5 {
        agent.user(&of_tokens(496));
        agent.assistant(&of_tokens(496));
    }
    let look = agent.look();
    assert!(agent.used(&look.composed) <= 10_000 - agent.window.reserve);
    assert!(look.composed.tokens <= 10_000 - 6_000 - agent.window.reserve);
}

#[test]
fn e1_a_fixed_part_that_fills_the_window_makes_no_attempt() {
    for preset in Presets::embedded().names() {
        let mut agent = Agent::of(preset, 2000);
        agent.window.fixed = 1900;
        agent.user("hi");
        for _ in 0..3 {
            let stuck = agent.try_look(None).err().expect("nothing fits");
            assert!(stuck.over > 0);
            assert!(agent.ever.is_empty(), "{preset}: nothing was committed");
        }
    }
}

#[test]
fn n5_a_factor_brings_every_trigger_forward() {
    let acts_at = |factor: f64| {
        let mut agent = Agent::of("cascade", 200_000);
        agent.window.factor = factor;
        let mut turns = 0_i32;
        while agent.look().added.is_empty() {
            agent.exchange(&of_tokens(996), &of_tokens(996));
            turns += 1;
        }
        turns
    };
    let (plain, corrected) = (acts_at(1.0), acts_at(1.5));
    assert!((corrected * 3 - plain * 2).abs() <= 4, "{plain} and {corrected}");
}

#[test]
fn i4_whatever_the_sizes_a_context_fits_or_says_what_does_not() {
    for preset in ["default", "four-level", "cascade", "teaching"] {
        for (size, tokens) in [(1_000_000, 1000), (300_000, 8000), (50_000, 1000), (2000, 1000)] {
            let mut agent = Agent::of(preset, tokens);
            agent.user(&prose(size));
            agent.assistant(&prose(size));
            agent.tool("bash", &format!(r#"{{"command":"{}"}}"#, prose(size)), &prose(size));
            let request = agent.user(&prose(size));
            let look = agent.look();
            assert!(agent.used(&look.composed) <= agent.window.limit(), "{preset} {size}");
            assert!(look.shows(request));
            for format in FORMATS {
                let request = rendered(&look.composed, format);
                assert_eq!(concertina::render::check::violations(format, &request), []);
            }
        }
    }
}

fn every_preset(with: impl Fn(&str, Policy)) {
    for name in Presets::embedded().names() {
        with(name, policy(name, ""));
    }
}

#[test]
fn asking_twice_changes_nothing() {
    every_preset(|name, policy| {
        let window = if name == "off" { 10_000_000 } else { 20_000 };
        let mut agent = Agent::under(policy, window);
        for nth in 0..60_usize {
            agent.user(&prose(100 + nth));
            agent.tool("read_file", r#"{"path":"a.rs"}"#, &prose(1000 + nth % 3));
            agent.say(super::support::message(Role::Assistant, Vec::new()));
            let first = agent.look();
            let second = agent.look();
            assert_eq!(second.added, [], "{name}");
            assert_eq!(second.composed.entries, first.composed.entries, "{name}");
        }
    });
}
