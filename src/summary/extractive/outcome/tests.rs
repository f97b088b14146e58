use super::*;

#[track_caller]
fn code(text: &str, expected: Option<i64>) {
    assert_eq!(exit_code(text), expected, "{text}");
}

#[test]
fn exit_codes_are_read_in_every_shape() {
    code("Exit code 128\nfatal: no", Some(128));
    code(
        "Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 2\nOutput:\nx exited with code 0",
        Some(2),
    );
    code("Exit code: 0\nWall time: 1\nOutput:\nSuccess", Some(0));
    code("out\n\nCommand exited with code 1", Some(1));
    code("out\n<shellId: 6 completed with exit code 0>", Some(0));
    code(
        "out\n[The command completed with exit code 1.]\n[Current working directory: /x]\n[Command finished with exit code 1]",
        Some(1),
    );
    code("Command: ls\nOutput: a\nError: (none)\nExit Code: 3\nSignal: 0", Some(3));
    code("{\"output\":\"x\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.2}}", Some(1));
    code("<returncode>1</returncode>\n<output>", Some(1));
    code(
        "the exit code of a program is what it returns when it ends, 1 or anything else, and so on, and so forth, as is known",
        None,
    );
    code("", None);
}

#[track_caller]
fn failed(text: &str, is_error: bool, runs: bool, line: &str) {
    match of(text, is_error, runs) {
        Outcome::Failed { line: found, .. } => assert_eq!(found, line, "{text}"),
        other => panic!("{other:?} for {text}"),
    }
}

#[test]
fn failures_tell_their_line() {
    failed("Exit code 1\nok\nsrc/a.rs:1: error: bad\nmore", true, true, "src/a.rs:1: error: bad");
    failed(
        "x\nTraceback (most recent call last):\n  File \"a\", line 1\nValueError: bad\n",
        false,
        true,
        "ValueError: bad",
    );
    failed("[lint] ERROR task failed", false, true, "[lint] ERROR task failed");
    failed(
        "<tool_use_error>File does not exist.</tool_use_error>",
        true,
        false,
        "File does not exist.",
    );
    failed(
        "error: old_text occurs 0 times in a.py",
        false,
        false,
        "error: old_text occurs 0 times in a.py",
    );
    failed("5 failed, 2 passed in 0.31s", false, true, "5 failed, 2 passed in 0.31s");
}

#[test]
fn what_is_no_failure_is_fine() {
    assert_eq!(of("all good", false, true), Outcome::Fine);
    assert_eq!(of("fn main() { return Err(\"Error: x\") }\nfatal", false, false), Outcome::Fine);
    assert_eq!(of("Process exited with code 0\nOutput:\nerror: none", false, true), Outcome::Fine);
    assert_eq!(
        of("Process running with session ID 84", false, true),
        Outcome::Running("84".to_owned())
    );
    let said = "The user doesn't want to proceed with this tool use. x, the user said:\nno, use b";
    assert_eq!(of(said, true, true), Outcome::Declined("no, use b".to_owned()));
}
