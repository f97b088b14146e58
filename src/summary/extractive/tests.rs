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
