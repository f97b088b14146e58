//! What a caller may change, and what is refused with its name.

use concertina::model::policy::StageKind;
use concertina::policies::Presets;
use proptest::prelude::*;
use serde_json::json;

#[track_caller]
fn refused(key: &str, patch: &serde_json::Value) {
    let outcome = Presets::embedded().resolve("default", patch.to_string().as_bytes());
    assert_eq!(outcome.map(|_| ()).unwrap_err().key, key, "{patch}");
}

/// A patch that sets one parameter.
fn set(path: &str, value: &serde_json::Value) -> serde_json::Value {
    path.rsplit('.').fold(value.clone(), |inner, key| json!({ key: inner }))
}

#[test]
fn e7_a_ratio_is_never_negative_above_one_or_a_percentage() {
    let ratios = [
        "warnings.elevated_ratio",
        "warnings.spawn_blocked_ratio",
        "protect.newest_requests_share",
        "result_cap.head_ratio",
        "result_cap.window_share",
        "batch_budget.window_share",
        "micro_clear.start_ratio",
        "micro_clear.keep_share",
        "micro_clear.at_least_ratio",
        "tool_fold.start_ratio",
        "snip_turns.until_ratio",
        "collapse.commit_ratio",
        "collapse.block_ratio",
        "collapse.until_ratio",
        "collapse.summary_share",
        "auto_compact.start_ratio",
        "auto_compact.override_ratio",
        "fit.until_ratio",
        "fit.unstated_fixed_share",
    ];
    for key in ratios {
        for value in [-1.0, -0.01, 1.01, 100.0, f64::MAX] {
            refused(key, &set(key, &json!(value)));
        }
    }
}

#[test]
fn e7_not_a_number_is_no_json() {
    let err =
        Presets::embedded().resolve("default", br#"{"fit":{"until_ratio":NaN}}"#).unwrap_err();
    assert_eq!(err.key, "overrides_json");
}

#[test]
fn e7_zero_is_off_only_where_it_says_so() {
    for key in
        ["micro_clear.start_ratio", "auto_compact.start_ratio", "auto_compact.override_ratio"]
    {
        let patch = set(key, &json!(0)).to_string();
        assert!(Presets::embedded().resolve("default", patch.as_bytes()).is_ok(), "{key}");
    }
    for key in [
        "tool_fold.start_ratio",
        "collapse.commit_ratio",
        "fit.until_ratio",
        "warnings.critical_ratio",
    ] {
        refused(key, &set(key, &json!(0)));
    }
    // The switch of a whole stage is the list.
    let off = Presets::embedded().resolve("default", br#"{"stages":["fit"]}"#).unwrap();
    assert_eq!(off.policy.stages, [StageKind::Fit]);
}

#[test]
fn e7_nothing_keeps_more_than_everything() {
    refused("result_cap.keep_chars", &json!({"result_cap": {"keep_chars": 50_001}}));
    refused("batch_budget.preview_chars", &json!({"batch_budget": {"limit_chars": 1000}}));
    refused("batch_budget.floor_chars", &json!({"batch_budget": {"floor_chars": 200_001}}));
    refused("snip_middle.keep_tail", &json!({"snip_middle": {"keep_tail": 48}}));
    refused("micro_clear.until_ratio", &json!({"micro_clear": {"until_ratio": 0.71}}));
    refused("tool_fold.until_ratio", &json!({"tool_fold": {"until_ratio": 0.71}}));
    refused("collapse.until_ratio", &json!({"collapse": {"until_ratio": 0.91}}));
    refused("collapse.commit_ratio", &json!({"collapse": {"commit_ratio": 0.96}}));
    refused("collapse.min_turns", &json!({"collapse": {"min_turns": 11}}));
    refused("collapse.min_summary_tokens", &json!({"collapse": {"min_summary_tokens": 301}}));
    refused("warnings.elevated_ratio", &json!({"warnings": {"elevated_ratio": 0.9}}));
}

#[test]
fn e7_counts_and_sizes_are_in_range() {
    for key in
        ["window.output_reserve_tokens", "snip_turns.buffer_tokens", "micro_clear.idle_minutes"]
    {
        refused(key, &set(key, &json!(-1)));
        refused(key, &set(key, &json!(i64::MAX)));
    }
    for key in ["micro_clear.keep_results", "snip_middle.keep_head", "recovery.cycles_a_turn"] {
        refused(key, &set(key, &json!(-1)));
        refused(key, &set(key, &json!(u64::MAX)));
    }
    for key in ["result_cap.limit_chars", "collapse.min_turns", "auto_compact.breaker_failures"] {
        refused(key, &set(key, &json!(0)));
    }
    refused(
        "result_cap.per_tool_chars.Bash",
        &json!({"result_cap": {"per_tool_chars": {"Bash": 0}}}),
    );
    refused("collapse.block_wait_seconds", &json!({"collapse": {"block_wait_seconds": 601}}));
}

#[test]
fn stages_come_once_in_an_order_that_can_hold() {
    refused("stages[1]", &json!({"stages": ["result_cap", "result_cap"]}));
    refused("stages[1]", &json!({"stages": ["collapse", "collapse", "fit"]}));
    refused("stages[0]", &json!({"stages": ["fit", "collapse"]}));
    refused("stages[2]", &json!({"stages": ["result_cap", "collapse", "result_cap", "fit"]}));
    refused("stages[1]", &json!({"stages": ["collapse", "result_cap", "fit"]}));
}

#[test]
fn names_that_mean_nothing_are_refused() {
    refused("render.cache_marks[1]", &json!({"render": {"cache_marks": ["tools", "tools"]}}));
    refused("recovery.steps[0]", &json!({"recovery": {"steps": ["pray"]}}));
    refused("recovery.steps[0]", &json!({"recovery": {"steps": ["collapse+"]}}));
    refused("collapse.template", &json!({"collapse": {"template": "sonnet"}}));
    refused("collapse.envelope", &json!({"collapse": {"envelope": "no place for it"}}));
    refused("micro_clear.tools[0]", &json!({"micro_clear": {"tools": [""]}}));
    refused("collapse.ladder_takes", &json!({"collapse": {"ladder_ratios": [0.5]}}));
    let ladder = json!({"collapse": {"ladder_ratios": [0.5, 0.4], "ladder_takes": [1, 1]}});
    refused("collapse.ladder_ratios[1]", &ladder);
    let ladder = json!({"collapse": {"ladder_ratios": [0.5], "ladder_takes": [1.5]}});
    refused("collapse.ladder_takes[0]", &ladder);
}

#[test]
fn an_unknown_preset_is_refused_with_the_names_there_are() {
    let err = Presets::embedded().resolve("defualt", b"").unwrap_err();
    assert_eq!(err.key, "preset");
    assert!(err.expected.contains("teaching-collapse"), "{err}");
    assert!(err.found.contains("defualt"), "{err}");
}

#[test]
fn r6_every_threshold_of_every_preset_can_be_set() {
    for name in Presets::embedded().names() {
        let whole = Presets::embedded().resolve(name, b"").unwrap();
        // The whole of one preset is a patch over any other.
        for base in Presets::embedded().names() {
            let mut patch: serde_json::Value = serde_json::from_slice(&whole.json).unwrap();
            // A merge adds to a map; what only the base has must be removed.
            for tool in ["shell", "grep", "glob"] {
                let limits = &mut patch["result_cap"]["per_tool_chars"];
                if limits[tool].is_null() {
                    limits[tool] = serde_json::Value::Null;
                }
            }
            let patched = Presets::embedded().resolve(base, patch.to_string().as_bytes()).unwrap();
            assert_eq!(patched, whole, "{name} over {base}");
        }
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|i| json!(i)),
        any::<f64>().prop_map(|f| json!(f)),
        "[a-z{}é]{0,8}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..4).prop_map(|m| json!(m)),
        ]
    })
}

/// A random value at a random known place.
fn patches() -> impl Strategy<Value = serde_json::Value> {
    let whole = Presets::embedded().resolve("default", b"").unwrap().json;
    let value: serde_json::Value = serde_json::from_slice(&whole).unwrap();
    let mut places: Vec<String> = Vec::new();
    for (table, members) in value.as_object().unwrap() {
        places.push(table.clone());
        for key in members.as_object().into_iter().flat_map(|m| m.keys()) {
            places.push(format!("{table}.{key}"));
        }
    }
    (prop::sample::select(places), any_json()).prop_map(|(place, value)| set(&place, &value))
}

proptest! {
    #[test]
    fn a_patch_is_taken_whole_or_refused_by_name(patch in patches()) {
        match Presets::embedded().resolve("default", patch.to_string().as_bytes()) {
            Ok(resolved) => {
                let again = Presets::embedded().from_resolved(&resolved.json);
                prop_assert_eq!(again.unwrap(), resolved.policy);
            }
            Err(err) => prop_assert!(!err.key.is_empty() && err.to_string().len() < 2000),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let is_object = serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(&bytes).is_ok();
        let taken = Presets::embedded().resolve("default", &bytes).is_ok();
        prop_assert!(!taken || is_object || bytes.is_empty());
    }
}
