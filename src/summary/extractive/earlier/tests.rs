use super::{super::facts::Facts, *};

fn read_back(text: &str) -> Facts {
    let mut draft = Draft::default();
    read(text, At { turn: 3, seq: 5 }, Source::Summary, &mut draft);
    draft.finish()
}

fn requests(facts: &Facts) -> Vec<&str> {
    facts.requests.iter().map(|it| it.text.as_str()).collect()
}

fn files(facts: &Facts) -> Vec<String> {
    facts.files.iter().map(|it| format!("{}: {}", it.path, it.label())).collect()
}

#[test]
fn four_parts_are_read_back() {
    let facts = read_back(
        "Turns 2-4: Summary of Previous Work\nTasks Completed:\n- \"fix the port; it is 48213\" (2×)\n- → Done.\n\
         Files Modified:\n- src/a.rs: edited 2×\n- src/b c.rs: moved to d.rs\nCurrent State:\n- Port 48213 works.\n\
         - `make` failed (exit 2: bad)\nPending Items:\n- [ ] push\n- [~] document it\n- ask Ann\n",
    );
    assert_eq!(facts.turns, Some((2, 4)));
    assert_eq!(requests(&facts), ["fix the port; it is 48213"]);
    assert_eq!(files(&facts), ["src/a.rs: edited 2×", "src/b c.rs: moved to d.rs"]);
    let todos: Vec<&str> = facts.todos.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(todos, ["push", "document it", "ask Ann"]);
    let carried: Vec<(Part, &str)> =
        facts.carried.iter().map(|it| (it.part, it.text.as_str())).collect();
    assert_eq!(
        carried,
        [
            (Part::Outcome, "→ Done"),
            (Part::State, "Port 48213 works"),
            (Part::Failure, "`make` failed (exit 2: bad)"),
        ]
    );
}

#[test]
fn running_text_is_read_back() {
    for text in [
        "Asked: \"one. Changed: x\"; \"two\". Changed: a.rs: edited; b.rs: created. State: It works. Open: [ ] push.",
        "Asked: \"one. Changed: x\"; \"two\".\nChanged: a.rs: edited; b.rs: created.\nState: It works.\nOpen: [ ] push.",
    ] {
        let facts = read_back(text);
        assert_eq!(requests(&facts), ["one. Changed: x", "two"], "{text}");
        assert_eq!(files(&facts), ["a.rs: edited", "b.rs: created"], "{text}");
        assert_eq!(facts.todos.len(), 1, "{text}");
        assert_eq!(facts.carried.len(), 1, "{text}");
    }
    let facts = read_back("Turns 6-7:\nTurn 6: \"one\"; a.rs: edited\nTurn 7: \"two\"; It works");
    assert_eq!(requests(&facts), ["one", "two"]);
    assert_eq!(files(&facts), ["a.rs: edited"]);
    assert_eq!(facts.requests[1].at.turn, 7);
}

#[test]
fn a_models_summary_is_read_as_far_as_it_can_be() {
    let facts = read_back(
        "## Overview\nThe user wants a table.\n\n## Key Decisions\n- Use UTC, because it is simple\n\n\
         **Files Modified:**\n- `src/a.rs`: new function\n```rust\n- src/no.rs: edited\n```\n- nothing else\n\n### Next Steps\n1. Push it\n",
    );
    assert_eq!(files(&facts), ["src/a.rs: new function"]);
    assert_eq!(facts.remarks[0].text, "Use UTC, because it is simple");
    assert_eq!(facts.carried[0].text, "The user wants a table");
    assert_eq!(facts.todos.len(), 1);
    assert_eq!(read_back("").requests.len(), 0);
}
