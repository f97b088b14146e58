//! Each layout of a policy, as it looks.

use concertina::{
    policies::{Presets, Template},
    summary::{Limits, Summarizer as _, check, extractive, layout_instructions},
    tokens::count_text,
};
use expect_test::{Expect, expect};

use super::support::Talk;

/// Two turns of a small repair.
fn talk() -> Talk {
    Talk::default()
        .user("The table lists high water twice. Please fix it, but don't touch the charts.")
        .tool("Read", r#"{"file_path":"tidebook/calendar.py"}"#, "def day(): ...")
        .failing("Bash", r#"{"command":"pytest tests/test_calendar.py"}"#, "Exit code 1\nE   AssertionError: assert 4 == 5")
        .assistant("The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.")
        .user("good, go on")
        .call("Now count in UTC.", "Edit", r#"{"file_path":"tidebook/calendar.py","old_string":"a","new_string":"b"}"#, "ok", false)
        .tool("Bash", r#"{"command":"pytest tests/test_calendar.py"}"#, "5 passed")
        .tool("TodoWrite", r#"{"todos":[{"content":"Fix the days","status":"completed"},{"content":"Write the changelog","status":"pending"}]}"#, "ok")
        .assistant("Days are counted in UTC now, and all five tests pass.")
}

#[track_caller]
fn looks(template: &str, expected: &Expect) {
    let text = extractive(&talk().task(template, 300));
    expected.assert_eq(&text);
    let limits = Limits { max_tokens: 300, template: Template::from_name(template) };
    assert_eq!(check(&text, "", &limits), Ok(()));
}

#[test]
fn r71_four_parts() {
    looks(
        "four_parts",
        &expect![[r#"
            Summary of Previous Work
            Tasks Completed:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            - "good, go on"
            Files Modified:
            - tidebook/calendar.py: edited (Now count in UTC)
            Current State:
            - Days are counted in UTC now, and all five tests pass.
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            - done: Fix the days
            Pending Items:
            - [ ] Write the changelog"#]],
    );
}

#[test]
fn r70_four_parts_and_their_turns() {
    looks(
        "four_parts_and_range",
        &expect![[r#"
            Turns 1-2: Summary of Previous Work
            Tasks Completed:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            - "good, go on"
            Files Modified:
            - tidebook/calendar.py: edited (Now count in UTC)
            Current State:
            - Days are counted in UTC now, and all five tests pass.
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            - done: Fix the days
            Pending Items:
            - [ ] Write the changelog"#]],
    );
}

#[test]
fn r70_turns_keep_their_boundaries() {
    looks(
        "turns",
        &expect![[r#"
            Turns 1-2:
            Turn 1: "The table lists high water twice. Please fix it, but don't touch the charts."; → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            Turn 2: "good, go on"; tidebook/calendar.py: edited (Now count in UTC); `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed; [ ] Write the changelog; Days are counted in UTC now, and all five tests pass; done: Fix the days"#]],
    );
}

#[test]
fn r70_a_span() {
    looks(
        "span",
        &expect![[
            r#"Asked: "The table lists high water twice. Please fix it, but don't touch the charts."; → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change; "good, go on". Changed: tidebook/calendar.py: edited (Now count in UTC). Failed: `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed. Open: [ ] Write the changelog. State: Days are counted in UTC now, and all five tests pass. Also: done: Fix the days."#
        ]],
    );
}

#[test]
fn r72_one_line() {
    looks(
        "one_line",
        &expect![[
            r#"Asked: "The table lists high water twice. Please fix it, but don't touch the charts."; → The root cause is that the day has 25 hours. I decided to count in…; "good, go on". Changed: tidebook/calendar.py: edited (Now count in UTC). Failed: `pytest tests/test_calendar.py` failed (exit 1), later passed. Open: [ ] Write the changelog. State: Days are counted in UTC now, and all five tests pass. Decided: I decided to count in UTC instead of local time, because clocks change."#
        ]],
    );
}

#[test]
fn r82_five_parts_with_decisions() {
    looks(
        "five_parts_decisions",
        &expect![[r#"
            Conversation Overview:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            - "good, go on"
            Key Decisions:
            - I decided to count in UTC instead of local time, because clocks change.
            Modified Files:
            - tidebook/calendar.py: edited (Now count in UTC)
            Pending Tasks:
            - [ ] Write the changelog
            Context to Continue:
            - Days are counted in UTC now, and all five tests pass.
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            - Please fix it, but don't touch the charts.
            - The root cause is that the day has 25 hours.
            - done: Fix the days"#]],
    );
}

#[test]
fn r83_five_parts_with_a_goal() {
    looks(
        "five_parts_goal",
        &expect![[r#"
            Current Goal:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            - "good, go on"
            - Days are counted in UTC now, and all five tests pass.
            Important Findings:
            - The root cause is that the day has 25 hours.
            - I decided to count in UTC instead of local time, because clocks change.
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            - done: Fix the days
            Changed Files:
            - tidebook/calendar.py: edited (Now count in UTC)
            Remaining Work:
            - [ ] Write the changelog
            User Constraints:
            - Please fix it, but don't touch the charts."#]],
    );
}

#[test]
fn r84_all_parts() {
    looks(
        "all_parts",
        &expect![[r#"
            Conversation Overview:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            - "good, go on"
            Current Goal:
            - Days are counted in UTC now, and all five tests pass.
            Key Decisions:
            - I decided to count in UTC instead of local time, because clocks change.
            Important Findings:
            - The root cause is that the day has 25 hours.
            Changed Files:
            - tidebook/calendar.py: edited (Now count in UTC)
            Remaining Work:
            - [ ] Write the changelog
            User Constraints:
            - Please fix it, but don't touch the charts.
            Context to Continue:
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            - done: Fix the days"#]],
    );
}

#[test]
fn r84_nine_parts() {
    looks(
        "nine_parts",
        &expect![[r#"
            What the User Wants:
            - "The table lists high water twice. Please fix it, but don't touch the charts."
            - "good, go on"
            What Came of It:
            - → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change.
            Decisions and Reasons:
            - I decided to count in UTC instead of local time, because clocks change.
            Files Touched:
            - tidebook/calendar.py: edited (Now count in UTC)
            Problems and Fixes:
            - `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed
            Facts Learned:
            - The root cause is that the day has 25 hours.
            Rules to Keep:
            - Please fix it, but don't touch the charts.
            Open Work:
            - [ ] Write the changelog
            Where Things Stand:
            - Days are counted in UTC now, and all five tests pass.
            - done: Fix the days"#]],
    );
}

#[test]
fn a_free_summary() {
    looks(
        "free",
        &expect![[r#"
            Asked: "The table lists high water twice. Please fix it, but don't touch the charts."; → The root cause is that the day has 25 hours. I decided to count in UTC instead of local time, because clocks change; "good, go on".
            Changed: tidebook/calendar.py: edited (Now count in UTC).
            Failed: `pytest tests/test_calendar.py` failed (exit 1: E AssertionError: assert 4 == 5), later passed.
            Open: [ ] Write the changelog.
            State: Days are counted in UTC now, and all five tests pass.
            Also: done: Fix the days."#]],
    );
}

#[test]
fn every_layout_of_every_preset_is_known_and_tells_requests_and_paths() {
    for preset in
        ["default", "four-level", "cascade", "teaching", "teaching-collapse", "claude-code", "off"]
    {
        let policy = Presets::embedded().resolve(preset, b"").unwrap().policy;
        for (template, known) in [
            (policy.collapse.template, Template::COLLAPSE),
            (policy.auto_compact.template, Template::COMPACT),
        ] {
            assert!(known.iter().any(|it| it.name() == template), "{preset}: {template}");
            let text = extractive(&talk().task(&template, 300));
            for told in
                ["The table lists high water twice", "good, go on", "tidebook/calendar.py: edited"]
            {
                assert!(text.contains(told), "{template}: {told}\n{text}");
            }
        }
    }
}

#[test]
fn layouts_of_other_names_are_refused_by_a_policy() {
    for stage in ["collapse", "auto_compact"] {
        let patch = format!(r#"{{"{stage}":{{"template":"haiku"}}}}"#);
        let refused = Presets::embedded().resolve("default", patch.as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("one of "), "{refused}");
    }
}

#[tokio::test]
async fn the_extractive_summarizer_says_what_the_function_says() {
    let task = talk().task("span", 200);
    let summarizer = concertina::summary::Extractive;
    let summary = summarizer.summarize(&task).await.unwrap();
    assert_eq!(summary.text, extractive(&task));
    assert_eq!(summarizer.name(), "extractive");
    assert!(count_text(&summary.text) <= 200);
}

#[test]
fn every_layout_is_documented() {
    let page = include_str!("../../../docs/summaries.md");
    for template in Template::COLLAPSE.into_iter().chain(Template::COMPACT) {
        let name = template.name();
        assert_eq!(page.matches(&format!("\n| `{name}` |")).count(), 1, "{name}");
        // What is told to a caller is what stands there.
        let told = layout_instructions(name, 100, 300, "");
        let titles = told.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        for (title, _) in titles {
            assert!(page.contains(title), "{name}: {title}");
        }
    }
}
