//! `concertina policy`, which needs no server.

use concertina::{model::Policy, policies::Presets};
use serde_json::Value;

use super::support::{Server, concertina, json_lines, stderr, stdout};

#[test]
fn every_preset_is_listed_with_its_stages() {
    let assert = concertina(&["policy", "list", "--output", "json"]).assert().success();
    let listed = json_lines(&assert);
    let names: Vec<_> = listed.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, Presets::embedded().names().collect::<Vec<_>>());
    for preset in &listed {
        let stages = preset["stages"].as_array().expect("a list");
        let ends_with_fit = stages.last() == Some(&Value::from("fit"));
        assert_eq!(ends_with_fit, preset["name"] != "off", "{preset}");
    }
}

#[test]
fn what_show_prints_is_the_policy() {
    for name in Presets::embedded().names() {
        let text = stdout(&concertina(&["policy", "show", name]).assert().success());
        let from_text: Policy = toml::from_str(&text).expect(name);
        let assert = concertina(&["policy", "show", name, "--output", "json"]).assert().success();
        let from_json: Policy = serde_json::from_value(json_lines(&assert).remove(0)).expect(name);
        assert_eq!(from_text, from_json, "{name}");
    }
}

#[test]
fn an_unknown_preset_is_wrong_usage_and_the_known_ones_are_told() {
    for output in ["text", "json"] {
        let arguments = ["policy", "show", "nonsense", "--output", output];
        let assert = concertina(&arguments).assert().code(2);
        assert!(stderr(&assert).contains("default, four-level, cascade"), "{}", stderr(&assert));
    }
}

#[test]
fn a_file_is_judged_without_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policy");
    let path = file.to_str().expect("a path");
    let check = |text: &str| {
        std::fs::write(&file, text).expect("it can be written");
        concertina(&["policy", "check", path]).assert()
    };
    for valid in ["", "{}", "[fit]\nuntil_ratio = 0.5\n", r#"{"fit":{"until_ratio":0.5}}"#] {
        assert_eq!(stdout(&check(valid).code(0)), "valid\n", "{valid}");
    }
    let cases = [
        ("[fit]\nuntil = 0.5", "`fit.until`", "a known parameter", "an unknown one"),
        ("[fit]\nuntil_ratio = 'x'", "`fit.until_ratio`", "a number", "string \"x\""),
        ("[]", "`the file`", "a JSON object", "[]"),
    ];
    for (text, key, expected, found) in cases {
        let assert = check(text).code(1);
        assert_eq!(stdout(&assert), "");
        let words = stderr(&assert);
        let told = format!("error: {key} is not valid\n  expected: {expected}\n  found: {found}\n");
        assert_eq!(words, told);
    }
    let words = stderr(&check("{oops").code(2));
    assert!(words.contains("as JSON: ") && words.contains("as TOML: "), "{words}");

    std::fs::write(&file, "[fit]\nuntil = 0.5").expect("it can be written");
    let assert = concertina(&["policy", "check", path, "--output", "json"]).assert().code(1);
    let told = json_lines(&assert).remove(0);
    assert_eq!((&told["valid"], &told["key"]), (&false.into(), &"fit.until".into()));
    concertina(&["policy", "check", path, "--preset", "none"]).assert().code(2);
    concertina(&["policy", "check", "not/there"]).assert().code(1);
}

#[test]
fn what_show_prints_may_be_given_back() {
    let server = Server::start();
    let file = server.folder.path().join("mine.toml");
    let text = stdout(&concertina(&["policy", "show", "cascade"]).assert().success());
    std::fs::write(&file, text).expect("it can be written");
    let patch = format!("@{}", file.display());
    server.run(&["create", "s", "--preset", "cascade", "--policy", &patch]);
    let view = server.json(&["views", "list", "s"]).remove(0);
    let assert = concertina(&["policy", "show", "cascade", "--output", "json"]).assert();
    assert_eq!(view["policy"], json_lines(&assert)[0]);
    server.run(&["create", "t", "--policy", "fit.until_ratio = 0.5"]);
    let view = server.json(&["views", "list", "t"]).remove(0);
    assert_eq!(view["policy"]["fit"]["until_ratio"], 0.5);
}
