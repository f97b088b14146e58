//! `concertina policy`, which needs no server.

use concertina::{model::Policy, policies::Presets};
use serde_json::Value;

use super::support::{concertina, json_lines, stderr, stdout};

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
