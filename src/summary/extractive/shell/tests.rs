use super::*;

#[track_caller]
fn check(script: &str, changes: &[&str]) {
    let found: Vec<String> = read(script)
        .changes
        .into_iter()
        .map(|it| format!("{}: {}", it.path, it.how.label()))
        .collect();
    assert_eq!(found, changes, "{script}");
}

#[test]
fn redirections_write() {
    check("echo hi > a.txt", &["a.txt: written"]);
    check("echo -e \"# Red\\n\" >> docs/color.md", &["docs/color.md: appended"]);
    check("make 2>&1 | tail -5 2>/dev/null >/dev/null", &[]);
    check("a 1>out.log 2>err.log &>both.log", &["out.log: written"]);
    check("echo 'a > b' \"c > d\" # > e", &[]);
    check("x=$(cat a > b) && (cd c && y > 'd e')", &["d e: written"]);
    check("echo > $TMP; echo > \"$HOME/x\"", &["$HOME/x: written"]);
}

#[test]
fn here_documents_are_no_commands() {
    check("cat > f.py <<'EOF'\nrm -rf /\nmv a b\nEOF\ntouch g", &["f.py: written", "g: created"]);
    check("cat <<-EOF >> f\n\trm x\n\tEOF\nrm y", &["f: appended", "y: deleted"]);
    check("cat <<EOF > open", &["open: written"]);
}

#[test]
fn commands_that_change_files() {
    check("sed -i 's/a/b/' x.rs y.rs", &["x.rs: edited", "y.rs: edited"]);
    check("sed -i '' -e 's/a/b/' x.rs", &["x.rs: edited"]);
    check("sed -i.bak -E 's/a/b/' x.rs", &["x.rs: edited"]);
    check("sed -n '1,20p' x.rs", &[]);
    check("perl -pi -e 's/a/b/' x.rs", &["x.rs: edited"]);
    check("cd d && git mv a b && git rm -r c", &["a: moved to b", "c: deleted"]);
    check("mv a b c/", &["a: moved to c/", "b: moved to c/"]);
    check("cp -r a b; touch c; mkdir -p d/e", &["b: written", "c: created", "d/e: new directory"]);
    check("echo x | sudo tee -a /etc/hosts", &["/etc/hosts: appended"]);
    check("FOO=1 timeout 5 rm -rf target", &["target: deleted"]);
    check("bash -lc 'rm a; bash -c \"rm b\"'", &["a: deleted", "b: deleted"]);
    check(
        "git checkout main -- a.rs; git checkout main; git restore b",
        &["a.rs: restored", "b: restored"],
    );
    check("str_replace_editor create /r/a.py --file_text 'rm b'", &["/r/a.py: created"]);
}

#[test]
fn what_is_no_script_changes_nothing() {
    for text in ["", "'", "\"", "$(", "<<", "<<EOF", ">", ">>", "&", "\\", "`", "> > >", "a <<<"] {
        check(text, &[]);
    }
}

#[test]
fn what_is_read_is_told() {
    assert_eq!(
        read("cat a.rs | head -20; sed -n 1,5p b.rs; tail -n 3 c").reads,
        ["a.rs", "b.rs", "c"]
    );
}
