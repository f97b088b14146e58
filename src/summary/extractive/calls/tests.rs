use super::*;

/// Actions as words: `read a`, `edited b`, `run c`.
fn told(tool: &str, input: &str) -> Vec<String> {
    let word = |action| match action {
        Action::Read(path) => format!("read {path}"),
        Action::Open(path) => format!("open {path}"),
        Action::Change(change) => format!("{} {}", change.how.label(), change.path),
        Action::ChangeOpened => "edited the open file".to_owned(),
        Action::Run(script) => format!("run {script}"),
        Action::Poll(id) => format!("poll {id}"),
        Action::Todos(list) => format!("{} todos", list.len()),
        Action::AddTodo(text) => format!("todo {text}"),
        Action::SetTodo(id, status) => format!("todo {id} {status:?}"),
        Action::Other(label) => label,
    };
    actions(tool, input.as_bytes()).into_iter().map(word).collect()
}

#[track_caller]
fn check(tool: &str, input: &str, expected: &[&str]) {
    assert_eq!(told(tool, input), expected, "{tool} {input}");
}

#[test]
fn claude_codes_tools() {
    check("Read", r#"{"file_path":"/r/a.rs","limit":20}"#, &["read /r/a.rs"]);
    check(
        "Edit",
        r#"{"file_path":"/r/a.rs","old_string":"x","new_string":"y"}"#,
        &["edited /r/a.rs"],
    );
    check(
        "MultiEdit",
        r#"{"file_path":"/r/a.rs","edits":[{"old_string":"x","new_string":"y"}]}"#,
        &["edited /r/a.rs"],
    );
    check(
        "Write",
        r#"{"file_path":"/r/b.rs","content":"*** Update File: no"}"#,
        &["written /r/b.rs"],
    );
    check(
        "NotebookEdit",
        r#"{"notebook_path":"/r/n.ipynb","new_source":"x"}"#,
        &["edited /r/n.ipynb"],
    );
    check("Bash", r#"{"command":"make","description":"d"}"#, &["run make"]);
    check("TodoWrite", r#"{"todos":[{"content":"a","status":"pending"}]}"#, &["1 todos"]);
    check("TaskUpdate", r#"{"taskId":"3","status":"completed"}"#, &["todo 3 Done"]);
    check("TaskCreate", r#"{"subject":"a"}"#, &["todo a"]);
    check("Grep", r#"{"pattern":"x","path":"src"}"#, &["Grep(src, x)"]);
}

#[test]
fn codexs_tools() {
    let patch = "*** Begin Patch\\n*** Update File: a.rs\\n@@\\n-x\\n+y\\n*** Add File: b.rs\\n+z\\n*** End Patch";
    let both = ["edited a.rs", "created b.rs"];
    check("apply_patch", &format!("{{\"input\":\"{patch}\"}}"), &both);
    check("apply_patch", &patch.replace("\\n", "\n"), &both);
    check(
        "shell",
        &format!("{{\"command\":[\"apply_patch\",\"{patch}\"]}}"),
        &[&format!("run apply_patch {}", patch.replace("\\n", "\n"))],
    );
    check("shell", r#"{"command":["bash","-lc","cargo test"]}"#, &["run cargo test"]);
    check("exec_command", r#"{"cmd":"git push","workdir":"/r"}"#, &["run git push"]);
    check("write_stdin", r#"{"session_id":84,"chars":""}"#, &["poll 84"]);
    check("update_plan", r#"{"plan":[{"step":"a","status":"pending"}]}"#, &["1 todos"]);
}

#[test]
fn openhands_and_swe_agents_tools() {
    for tool in ["str_replace_editor", "file_editor", "str_replace_based_edit_tool"] {
        check(tool, r#"{"command":"view","path":"/r/a.py"}"#, &["read /r/a.py"]);
        check(
            tool,
            r#"{"command":"create","path":"/r/a.py","file_text":"x"}"#,
            &["created /r/a.py"],
        );
        check(
            tool,
            r#"{"command":"str_replace","path":"/r/a.py","old_str":"x"}"#,
            &["edited /r/a.py"],
        );
        check(
            tool,
            r#"{"command":"insert","path":"/r/a.py","insert_line":1}"#,
            &["edited /r/a.py"],
        );
    }
    check("execute_bash", r#"{"command":"ls"}"#, &["run ls"]);
    check("open", r#"{"path":"src/a.py","line_number":14}"#, &["open src/a.py"]);
    check("create", r#"{"filename":"a.py"}"#, &["created a.py"]);
    check("edit", r#"{"search":"x","replace":"y"}"#, &["edited the open file"]);
    check("insert", r#"{"text":"y"}"#, &["edited the open file"]);
}

#[test]
fn other_agents_tools() {
    check("edit", r#"{"path":"a.ts","oldText":"x","newText":"y"}"#, &["edited a.ts"]);
    check("replace", r#"{"file_path":"a.ts","old_string":"x"}"#, &["edited a.ts"]);
    check("write_file", r#"{"file_path":"docs/a.md","content":"x"}"#, &["written docs/a.md"]);
    check("run_shell_command", r#"{"command":"ls -l"}"#, &["run ls -l"]);
    check("edit_file", r#"{"target_file":"a.ts","code_edit":"x"}"#, &["edited a.ts"]);
    check("mcp__filesystem__write_file", r#"{"path":"/r/a"}"#, &["written /r/a"]);
    check(
        "mcp__filesystem__move_file",
        r#"{"source":"/r/a","destination":"/r/b"}"#,
        &["moved to /r/b /r/a"],
    );
    check("delete_file", r#"{"path":"./a.rs"}"#, &["deleted a.rs"]);
    check("read_many_files", r#"{"paths":["a.rs","b.rs"]}"#, &["read a.rs", "read b.rs"]);
    check(
        "update_reservation",
        r#"{"id":"X7","cabin":"economy"}"#,
        &["update_reservation(economy, X7)"],
    );
    check("create_issue", r#"{"title":"a b"}"#, &["create_issue(a b)"]);
}

#[test]
fn what_is_no_call_is_told_all_the_same() {
    check("x", "", &["x()"]);
    check("x", "{\"command\": \"echo hel", &["x({\"command\": \"echo hel)"]);
    check("bash", "{\"command\": \"echo hel", &["run {\"command\": \"echo hel"]);
    check("x", "[1,2]", &["x([1,2])"]);
    check("Edit", r#"{"file_path":5}"#, &["Edit(5)"]);
    check("", "{}", &["()"]);
}
