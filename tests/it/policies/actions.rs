//! What calls of the common agents do, as their names and arguments tell.

use concertina::policies::tools::{Access, Action, ActionKind, Part, Tools, action_of};

fn of(tool: &str, input: &str) -> Option<Action> {
    action_of(tool, input.as_bytes(), Some("opened.py"))
}

/// Kind, files and text in short.
fn short(action: &Action) -> String {
    let files = action.files.iter().map(|file| {
        let access = match file.access {
            Access::Read(Part::Whole) => "r".to_owned(),
            Access::Read(Part::Lines(from, u64::MAX)) => format!("r{from}-"),
            Access::Read(Part::Lines(from, to)) => format!("r{from}-{to}"),
            Access::Read(Part::Other) => "r?".to_owned(),
            Access::Edit => "e".to_owned(),
            Access::Write => "w".to_owned(),
        };
        format!(" {access}:{}", file.path)
    });
    let text = if action.text.is_empty() { String::new() } else { format!(" {:?}", action.text) };
    format!("{:?}{}{text}", action.kind, files.collect::<String>())
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (tool, input, expected) in cases {
        let action = of(tool, input);
        let got = action.as_ref().map_or_else(String::new, short);
        assert_eq!(got, *expected, "{tool} {input}");
    }
}

#[test]
fn r72_calls_name_their_files_in_each_agents_words() {
    check(&[
        ("Read", r#"{"file_path":"/r/a.rs"}"#, "Read r:/r/a.rs"),
        ("Read", r#"{"file_path":"/r/a.rs","offset":20,"limit":10}"#, "Read r20-29:/r/a.rs"),
        ("Read", r#"{"file_path":"./a.rs","limit":"10"}"#, "Read r1-10:a.rs"),
        ("Read", r#"{"file_path":"a.pdf","pages":"1-3"}"#, "Read r?:a.pdf"),
        ("Edit", r#"{"file_path":"/r/a.rs","old_string":"x"}"#, "Edit e:/r/a.rs"),
        ("MultiEdit", r#"{"file_path":"/r/a.rs","edits":[]}"#, "Edit e:/r/a.rs"),
        ("NotebookEdit", r#"{"notebook_path":"/r/n.ipynb"}"#, "Edit e:/r/n.ipynb"),
        ("Write", r#"{"file_path":"/r/a.rs","content":"x"}"#, "Write w:/r/a.rs"),
        (
            "read_file",
            r#"{"absolute_path":"/r/a.rs","start_line":3,"end_line":9}"#,
            "Read r3-9:/r/a.rs",
        ),
        ("read_many_files", r#"{"paths":["a.rs","b.rs"]}"#, "Read r:a.rs r:b.rs"),
        ("replace", r#"{"file_path":"a.rs","old_string":"x"}"#, "Edit e:a.rs"),
        ("write_file", r#"{"file_path":"docs/../a.md","content":""}"#, "Write w:a.md"),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r/a","view_range":[5,-1]}"#,
            "Read r5-:/r/a",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r/a","view_range":[1,-1]}"#,
            "Read r:/r/a",
        ),
        ("str_replace_editor", r#"{"command":"create","path":"/r/a"}"#, "Write w:/r/a"),
        ("str_replace_editor", r#"{"command":"str_replace","path":"/r/a"}"#, "Edit e:/r/a"),
        ("open", r#"{"path":"src/f.py","line_number":1474}"#, "Read r?:src/f.py"),
        ("create", r#"{"filename":"reproduce.py"}"#, "Write w:reproduce.py"),
        ("edit", r#"{"search":"x","replace":"y"}"#, "Edit e:opened.py"),
        ("edit", r#"{"path":"a.ts","oldText":"x","newText":"y"}"#, "Edit e:a.ts"),
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: n.rs\n+x\n*** Update File: a.rs\n",
            "Edit w:n.rs e:a.rs",
        ),
        ("apply_patch", r#"{"input":"*** Begin Patch\n*** Delete File: a\n"}"#, "Edit e:a"),
    ]);
}

#[test]
fn r72_searches_and_listings_say_what_they_look_for() {
    check(&[
        ("Grep", r#"{"pattern":"fn main","path":"src"}"#, r#"Search "fn main""#),
        ("search_file_content", r#"{"pattern":"x"}"#, r#"Search "x""#),
        ("search_dir", r#"{"search_term":"x","dir":"src"}"#, r#"Search "x""#),
        ("Glob", r#"{"pattern":"**/*.rs","path":"/r"}"#, r#"List "**/*.rs""#),
        ("find_file", r#"{"file_name":"fields.py","dir":"src"}"#, r#"List "fields.py""#),
        ("LS", r#"{"path":"/r/src"}"#, r#"List "/r/src""#),
        ("list_directory", r#"{"dir_path":"/r/src"}"#, r#"List "/r/src""#),
    ]);
    let listed = of("LS", r#"{"path":"/r/src/"}"#).unwrap();
    assert_eq!(listed.folder, "/r/src");
}

#[test]
fn r72_commands_that_do_one_thing_are_that_thing() {
    let cases = [
        ("cat src/a.rs", "Read r:src/a.rs"),
        ("cd /r && cat src/a.rs", "Read r:/r/src/a.rs"),
        ("cat a b | head -20", "Read r1-20:a r1-20:b"),
        ("head -n 5 a", "Read r1-5:a"),
        ("head a", "Read r1-10:a"),
        ("tail -n 5 a", "Read r?:a"),
        ("sed -n '10,20p' a.rs", "Read r10-20:a.rs"),
        ("sed -n 1,\\$p a.rs", "Read r:a.rs"),
        ("nl -ba a.rs | sed -n '5,9p'", "Read r5-9:a.rs"),
        ("cat a.rs | grep -n fn", "Read r?:a.rs"),
        ("open src/a.py 12", "Read r?:src/a.py"),
        ("sed -i 's/a/b/' a.rs b.rs", "Edit e:a.rs e:b.rs"),
        ("sed -i -e 's/a/b/' a.rs", "Edit e:a.rs"),
        ("edit 10:12 <<E\nx > y\nE", "Edit e:opened.py"),
        ("create new.py", "Write w:new.py"),
        ("cat > a.rs <<'EOF'\ncat b.rs\nEOF", "Write w:a.rs"),
        ("echo x >> /r/log.txt", "Write w:/r/log.txt"),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\nEOF", "Edit e:a.rs"),
        ("bash -lc 'cat a.rs'", "Read r:a.rs"),
        ("FOO=1 timeout 5 cat a.rs 2>/dev/null", "Read r:a.rs"),
    ];
    for (command, expected) in cases {
        let action = of("Bash", &serde_json::json!({ "command": command }).to_string()).unwrap();
        let text = format!(" {:?}", action.text);
        assert_eq!(short(&action).replace(&text, ""), expected, "{command}");
        assert!(action.is_command);
    }
}

#[test]
fn r72_commands_keep_what_they_run_or_search_for() {
    let cases = [
        ("cargo test", ActionKind::Run, "cargo test"),
        ("cargo test 2>&1 | tail -5", ActionKind::Run, "cargo test 2>&1 | tail -5"),
        ("cat $(ls)", ActionKind::Run, "cat $(ls)"),
        ("cat a.rs; make", ActionKind::Run, "cat a.rs; make"),
        ("cat a | xargs rm", ActionKind::Run, "cat a | xargs rm"),
        ("rg -n -g '*.rs' 'fn x|y' src | head", ActionKind::Search, "fn x|y"),
        ("grep -rn -A 3 -e foo src", ActionKind::Search, "foo"),
        ("search_dir foo src", ActionKind::Search, "foo"),
        ("ls -la src", ActionKind::List, "ls -la src"),
        ("rg --files src | head", ActionKind::List, "rg --files src | head"),
        ("grep --help", ActionKind::Search, "grep --help"),
        ("find . -name '*.rs'", ActionKind::List, "find . -name '*.rs'"),
        ("find . -name x -exec rm {} ;", ActionKind::Run, "find . -name x -exec rm {} ;"),
        ("", ActionKind::Run, ""),
    ];
    for (command, kind, text) in cases {
        let input = serde_json::json!({ "command": command, "n": 1 }).to_string();
        let action = of("execute_bash", &input);
        if command.is_empty() {
            assert_eq!(action, None);
            continue;
        }
        let action = action.unwrap();
        assert_eq!((action.kind, action.text.as_str()), (kind, text), "{command}");
    }
}

#[test]
fn r72_a_shell_takes_its_command_as_text_or_as_words() {
    check(&[
        (
            "shell",
            r#"{"command":["bash","-lc","cat a.rs"],"workdir":"/r"}"#,
            r#"Read r:/r/a.rs "cat a.rs""#,
        ),
        ("shell", r#"{"command":["cat","a b.rs"]}"#, r#"Read r:a b.rs "cat 'a b.rs'""#),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: a.rs\n"],"workdir":"/r"}"#,
            "Edit e:/r/a.rs \"apply_patch '*** Begin Patch\\n*** Update File: a.rs\\n'\"",
        ),
        ("exec_command", r#"{"cmd":"cat a.rs","workdir":"/r"}"#, r#"Read r:/r/a.rs "cat a.rs""#),
        (
            "run_shell_command",
            r#"{"command":"git status","description":"x"}"#,
            r#"Run "git status""#,
        ),
    ]);
}

#[test]
fn r72_the_same_request_has_the_same_key() {
    let key = |tool: &str, input: &str| of(tool, input).unwrap().key;
    let run = |more: &str| key("Bash", &format!(r#"{{"command":"cargo test"{more}}}"#));
    assert_eq!(run(""), run(r#","description":"tests","timeout":9"#));
    assert_ne!(run(""), run(r#","cwd":"/elsewhere""#));
    assert_ne!(run(""), key("Bash", r#"{"command":"cargo test -q"}"#));
    let search = |input: &str| key("Grep", input);
    assert_ne!(search(r#"{"pattern":"x"}"#), search(r#"{"pattern":"x","path":"src"}"#));
}

#[test]
fn what_says_nothing_is_no_action() {
    check(&[
        ("Task", r#"{"prompt":"cat a.rs"}"#, ""),
        ("mcp__fs__read", r#"{"path":"a"}"#, ""),
        ("WebFetch", r#"{"url":"x"}"#, ""),
        ("write_stdin", r#"{"session_id":1,"chars":""}"#, ""),
        ("BashOutput", r#"{"bash_id":"1"}"#, ""),
        ("execute_bash", r#"{"command":"y","is_input":"true"}"#, ""),
        ("bash", r#"{"command":"scroll_down"}"#, ""),
        ("scroll_down", "{}", ""),
        ("Read", "{}", ""),
        ("Read", "", ""),
        ("Bash", r#"{"command":"echo hel"#, ""),
        ("apply_patch", "nothing", ""),
    ]);
    assert_eq!(action_of("Read", b"\xff", None), None);
    assert_eq!(action_of("edit", br#"{"search":"x"}"#, None), None);
}

#[test]
fn a_call_on_more_files_than_are_looked_at_says_nothing_of_them() {
    let many: Vec<String> = (0..40).map(|nth| format!("f{nth}.rs")).collect();
    let all = serde_json::json!({ "paths": many }).to_string();
    assert_eq!(of("read_many_files", &all), None);
    let command = serde_json::json!({ "command": format!("cat {}", many.join(" ")) }).to_string();
    let action = of("Bash", &command).unwrap();
    assert_eq!((action.kind, action.files.len()), (ActionKind::Run, 16));
}

#[test]
fn hostile_commands_are_read_in_bounded_time_and_never_fail() {
    let deep = "bash -c ".repeat(50_000);
    let quotes = "'\"".repeat(50_000);
    let heredocs = "cat <<E\n".repeat(20_000);
    for command in [deep, quotes, heredocs, "\\".to_owned(), "> > >".to_owned(), "\u{0}".to_owned()]
    {
        let input = serde_json::json!({ "command": command }).to_string();
        let action = of("Bash", &input).unwrap();
        assert!(action.text.chars().count() <= 200);
    }
}

#[test]
fn a_table_of_ones_own_says_what_its_tools_take() {
    let own = "[classes]\nshell = [\"do\"]\n[commands]\nkeys = [\"what\"]\n[searches]\nkeys = [\"needle\"]";
    let tools = Tools::over_embedded(own).unwrap();
    let action = tools.action_of("do", br#"{"what":"cat a.rs"}"#, None).unwrap();
    assert_eq!(action.files.len(), 1);
    let search = tools.action_of("Grep", br#"{"needle":"n","pattern":"p"}"#, None).unwrap();
    assert_eq!(search.text, "n");
}
