//! Whatever the history: within the cap, the same each time, and never a panic.

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Message, Opaque, Role, Seq, SeqRange, Text, ToolOutput, ToolResult,
        ToolUse, WireFormat,
    },
    policies::Template,
    summary::{
        EarlierSummary, Limits, Material, MaterialCall, Rejected, Task, check, extractive,
        layout_instructions, material_text, material_tokens,
    },
    tokens::count_text,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::support::{Talk, material, rounds};

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<String>(),
        3 => "[a-zäß統🙂`\"'\\[\\]{}()<>|;:./$# \n\t-]{0,120}",
        1 => Just("x".repeat(5000)),
        1 => Just("統計".repeat(900)),
        1 => Just("\u{301}\u{1b}[31m\u{0}".repeat(300)),
        4 => select(vec![
            "Please fix src/a.rs, and don't push.", "- [ ] one\n- [x] two\n- [ ] three", "We decided to use b instead of a.",
            "```\nedit 1:2\nx\nend_of_edit\n```", "x\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$",
            "<function=bash>\n<parameter=command>ls</parameter>", "EXECUTION RESULT of [bash]: ok", "<system-reminder>a",
            "<command-name>/x</command-name>", "Turns 3-9223372036854775807: Summary of Previous Work\nFiles Modified:\n- a/b: edited",
            "This session is being continued from a previous conversation\nKey Decisions:\n- \"a\"; b. Open: c",
        ]).prop_map(str::to_owned),
    ]
}

fn tool() -> impl Strategy<Value = String> {
    let known = select(vec![
        "Read",
        "Edit",
        "Write",
        "Bash",
        "apply_patch",
        "shell",
        "exec_command",
        "write_stdin",
        "str_replace_editor",
        "edit",
        "open",
        "create",
        "TodoWrite",
        "update_plan",
        "TaskCreate",
        "TaskUpdate",
        "mcp__fs__move_file",
        "x",
    ]);
    prop_oneof![9 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn input() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        words().prop_map(serde_json::Value::String),
        any::<i64>().prop_map(serde_json::Value::from),
        vec(words().prop_map(serde_json::Value::String), 0..4).prop_map(serde_json::Value::Array),
        select(vec![
            "src/a.rs",
            "/home/u/p/src/b.rs",
            "cargo test",
            "sed -i 's/a/b/' c.rs > d.txt 2>&1",
            "cat <<EOF > e\nrm f\nEOF",
            "*** Begin Patch\n*** Update File: g.rs\n*** Move to: h.rs\n*** End Patch",
            "--- a/i\n+++ b/i",
        ])
        .prop_map(serde_json::Value::from),
        Just(serde_json::json!([{"content": "a", "status": "pending"}, {"path": "j.rs"}, 5])),
    ];
    let key = select(vec![
        "file_path",
        "path",
        "command",
        "cmd",
        "input",
        "todos",
        "plan",
        "content",
        "edits",
        "session_id",
        "_raw",
        "k",
    ]);
    let object = vec((key, value), 0..4).prop_map(|pairs| {
        serde_json::Value::Object(
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        )
        .to_string()
    });
    prop_oneof![9 => object, 1 => any::<String>(), 1 => Just("{\"a\":".repeat(4000))]
}

fn output() -> impl Strategy<Value = Vec<ToolOutput>> {
    let text = prop_oneof![
        words().prop_map(|it| Bytes::from(it.into_bytes())),
        vec(any::<u8>(), 0..60).prop_map(Bytes::from),
        select(vec![
            "Exit code 1\nerror: bad",
            "Process exited with code 99999999999999999999",
            "exit code: -",
            "{\"exit_code\":",
            "Traceback (most recent call last):",
            "Process running with session ID 5",
            "(Open file: a)(Open file: ",
            "The user doesn't want to proceed with this tool use. the user said:",
        ])
        .prop_map(|it| Bytes::from_static(it.as_bytes())),
    ];
    vec(text.prop_map(ToolOutput::Text), 0..3)
}

fn block() -> impl Strategy<Value = Block> {
    let id = select(vec!["", "a", "b"]);
    let call = (id.clone(), tool(), input()).prop_map(|(id, name, input)| {
        BlockKind::ToolUse(ToolUse {
            id: id.to_owned(),
            name,
            input_json: Bytes::from(input.into_bytes()),
            ..ToolUse::default()
        })
    });
    let result = (id, any::<bool>(), output()).prop_map(|(id, is_error, output)| {
        let result =
            ToolResult { tool_use_id: id.to_owned(), is_error, output, ..ToolResult::default() };
        BlockKind::ToolResult(result)
    });
    let text = words().prop_map(|text| BlockKind::Text(Text { text, ..Text::default() }));
    let raw = vec(any::<u8>(), 0..20)
        .prop_map(|raw| BlockKind::Text(Text { raw: Bytes::from(raw), ..Text::default() }));
    let opaque = input().prop_map(|json| {
        BlockKind::Opaque(Opaque {
            format: WireFormat::OpenAiResponses,
            json: Bytes::from(json.into_bytes()),
            call_id: "a".to_owned(),
            is_result: false,
        })
    });
    prop_oneof![4 => call, 4 => result, 4 => text, 1 => raw, 1 => opaque].prop_map(Block::new)
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let role = select(vec![Role::User, Role::Assistant, Role::Assistant, Role::System]);
    vec((role, vec(block(), 0..4)), 0..24).prop_map(|all| {
        all.into_iter()
            .fold(Talk::default(), |talk, (role, blocks)| talk.say(role, blocks))
            .messages
    })
}

/// Material as the service builds it, and as it never would.
fn any_material() -> impl Strategy<Value = Material> {
    let earlier = vec((words(), option::of((-5..30_i64, -5..30_i64))), 0..3);
    (messages(), earlier, any::<bool>(), -3..3_i64).prop_map(
        |(messages, earlier, is_broken, shift)| {
            let mut material = material(&rounds(messages));
            material.earlier = earlier
                .into_iter()
                .map(|(text, covered)| EarlierSummary {
                    covered: covered
                        .map(|(a, b)| SeqRange { first: Seq(a), last: Seq(b) })
                        .into_iter()
                        .collect(),
                    text,
                })
                .collect();
            if is_broken {
                for round in &mut material.rounds {
                    round.turn = round.turn.saturating_mul(shift);
                    let call = (Seq(round.id.0 + shift), 1);
                    round.calls.push(MaterialCall { call, answer: Some((Seq(shift), 9)) });
                }
                material.rounds.reverse();
            }
            material
        },
    )
}

fn template() -> impl Strategy<Value = &'static str> {
    let names: Vec<&str> = Template::COLLAPSE
        .into_iter()
        .chain(Template::COMPACT)
        .map(Template::name)
        .chain(["", "?"])
        .collect();
    select(names)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn r64_a_summary_is_within_its_cap_and_always_the_same(
        material in any_material(),
        template in template(),
        max_tokens in prop_oneof![-1..40_i64, 40..400_i64, 400..6000_i64],
        instructions in words(),
    ) {
        let task = Task { material, template: template.to_owned(), min_tokens: 1, max_tokens, instructions };
        let text = extractive(&task);
        let tokens = i64::from(count_text(&text));
        prop_assert!(tokens <= max_tokens.max(0), "{} of {}: {}", tokens, max_tokens, text);
        prop_assert_eq!(&text, &extractive(&task));
        prop_assert!(max_tokens < 16 || text.chars().any(char::is_alphabetic), "{:?}", text);
        let odd = text.chars().find(|it| it.is_control() && *it != '\n');
        prop_assert_eq!(odd, None);
        if template == "one_line" {
            prop_assert!(!text.contains('\n'), "{}", text);
        }
        if max_tokens >= 120 {
            let limits = Limits { max_tokens, template: Template::from_name(template) };
            prop_assert_eq!(check(&text, "", &limits), Ok(()), "{}", text);
        }
        // Read back, its own words make a summary again.
        let earlier = EarlierSummary { covered: Vec::new(), text };
        let again = Task { material: Material { earlier: vec![earlier], ..Material::default() }, ..task };
        prop_assert!(i64::from(count_text(&extractive(&again))) <= max_tokens.max(0));
    }

    #[test]
    fn material_is_within_its_limit_and_always_the_same(
        material in any_material(),
        max_tokens in prop_oneof![-1..40_i64, 40..4000_i64],
    ) {
        let found = material_text(&material, max_tokens);
        prop_assert_eq!(found.tokens, i64::from(count_text(&found.text)));
        prop_assert!(max_tokens <= 0 || found.tokens <= max_tokens);
        prop_assert_eq!(&found, &material_text(&material, max_tokens));
        prop_assert!(material_tokens(&material) >= 0);
    }

    #[test]
    fn g5_a_check_takes_any_text(text in words(), reason in words(), max_tokens in any::<i64>()) {
        for template in [None, Some(Template::FourParts)] {
            let limits = Limits { max_tokens, template };
            if let Err(Rejected::TooLong { tokens, max }) = check(&text, &reason, &limits) {
                prop_assert!(tokens > max);
            }
        }
        prop_assert!(!layout_instructions(&text, max_tokens, max_tokens, &reason).is_empty());
    }
}
