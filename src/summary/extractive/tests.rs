use super::*;
use crate::summary::Material;

fn task(template: &str, max_tokens: i64) -> Task {
    Task {
        material: Material::default(),
        template: template.to_owned(),
        min_tokens: 1,
        max_tokens,
        instructions: String::new(),
    }
}

#[test]
fn nothing_is_told_of_nothing() {
    assert_eq!(extractive(&task("span", 300)), "Nothing to report of 0 messages.");
    assert_eq!(extractive(&task("span", 0)), "");
    let parts = extractive(&task("four_parts", 300));
    assert!(parts.starts_with("Summary of Previous Work\nTasks Completed: none\n"), "{parts}");
}

#[test]
fn the_words_of_instructions_are_what_they_are_about() {
    assert_eq!(
        wishes("Please keep the port number, and src/a.rs!"),
        ["number", "port", "src/a.rs"]
    );
    assert!(wishes("").is_empty());
}

#[test]
fn what_looks_like_no_summary_is_told_as_what_was_said() {
    let said = [
        "<function=bash>\n<parameter=command>ls</parameter>",
        "I cannot help with that.",
        "Error: 529 overloaded_error",
        "{\"a\": 1}",
    ];
    for (template, text) in ["turns", "span", "free", "one_line"]
        .iter()
        .flat_map(|template| said.iter().map(move |text| (template, text)))
    {
        let earlier =
            crate::summary::EarlierSummary { covered: Vec::new(), text: (*text).to_owned() };
        let material = Material { earlier: vec![earlier], ..Material::default() };
        let task = Task { material, ..task(template, 120) };
        let told = extractive(&task);
        let limits = crate::summary::Limits { max_tokens: 120, template: None };
        assert_eq!(crate::summary::check(&told, "", &limits), Ok(()), "{template}: {told}");
    }
}
