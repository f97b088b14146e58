//! What sentences say: decisions, findings, constraints.

use crate::summary::text::flat;

/// Sentences outside these lengths say too little or too much, in bytes.
const LEAST: usize = 24;
const MOST: usize = 320;
/// Bytes of one message that are looked at.
const LOOKED_AT: usize = 64 << 10;

/// The sentences of a text, code blocks and tables left out, each on one line.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let text = &text[..super::super::text::floor(text, LOOKED_AT)];
    let mut out = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || line.starts_with('|') || line.is_empty() {
            continue;
        }
        let line = line.trim_start_matches(['#', '*', '-', '>', '+', ' ', '•', '●']);
        split(&line.replace("**", ""), &mut out);
    }
    out
}

fn split(line: &str, out: &mut Vec<String>) {
    let mut from = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_end = matches!(letter, '.' | '!' | '?' | ':')
            && letters.peek().is_none_or(|(_, next)| next.is_whitespace())
            || matches!(letter, '。' | '！' | '？');
        if is_end {
            let to = at + letter.len_utf8();
            push(&line[from..to], out);
            from = to;
        }
    }
    push(&line[from..], out);
}

fn push(sentence: &str, out: &mut Vec<String>) {
    let sentence = flat(sentence, MOST * 2);
    if sentence.chars().any(char::is_alphanumeric) {
        out.push(sentence);
    }
}

/// The first sentence of a text that says something, for what is said before a
/// call.
pub(super) fn first(text: &str) -> String {
    let text = &text[..super::super::text::floor(text, 2000)];
    sentences(text).into_iter().find(|it| !is_filler(it)).unwrap_or_default()
}

/// What an assistant concludes: the text on one line, without code, tables and
/// the politeness before it.
pub(super) fn gist(text: &str) -> String {
    let sentences = sentences(text);
    let start = sentences.iter().position(|it| !is_filler(it)).unwrap_or(0);
    sentences[start..].join(" ")
}

/// `Perfect!`, `Great question!`
fn is_filler(sentence: &str) -> bool {
    sentence.split_whitespace().nth(3).is_none()
        && sentence.is_ascii()
        && !sentence.contains(['/', '`', '?'])
}

fn weigh(sentence: &str, words: &[(&str, u32)]) -> u32 {
    words.iter().filter(|(word, _)| sentence.contains(word)).map(|(_, weight)| weight).sum()
}

fn is_of_length(sentence: &str) -> bool {
    (LEAST..=MOST).contains(&sentence.len())
}

/// How much a sentence, in lower case, says about a decision; 0: nothing.
pub(super) fn decision(sentence: &str) -> u32 {
    const WORDS: &[(&str, u32)] = &[
        ("decided", 4),
        ("decision", 3),
        ("instead of", 3),
        ("rather than", 3),
        ("we chose", 3),
        ("i chose", 3),
        ("opted", 3),
        ("because", 2),
        ("the reason", 2),
        ("trade-off", 2),
        ("tradeoff", 2),
        ("going with", 3),
        ("i'll go with", 3),
        ("so that", 1),
        ("prefer", 1),
        ("不要", 1),
        ("决定", 4),
        ("因为", 2),
    ];
    if is_of_length(sentence) { weigh(sentence, WORDS) } else { 0 }
}

/// How sentences start that only say what comes next.
const PLANS: [&str; 12] = [
    "let me",
    "now ",
    "i'll ",
    "i'm ",
    "i will",
    "next ",
    "also need",
    "first ",
    "let's",
    "good",
    "then ",
    "i need",
];

/// How much a sentence, in lower case, says about what was found out; 0: nothing.
pub(super) fn finding(sentence: &str) -> u32 {
    const WORDS: &[(&str, u32)] = &[
        ("root cause", 4),
        ("the problem is", 4),
        ("the issue is", 4),
        ("the bug", 3),
        ("turns out", 3),
        ("i found", 2),
        ("found that", 3),
        ("confirmed", 2),
        ("caused by", 3),
        ("the cause", 3),
        ("this means", 1),
        ("is missing", 1),
        ("is wrong", 2),
        ("fails", 1),
        ("does not", 1),
        ("doesn't", 1),
    ];
    if !is_of_length(sentence) || sentence.ends_with('?') || sentence.ends_with(':') {
        return 0;
    }
    // A bare name or address, and what somebody is only about to do.
    if sentence.split_whitespace().nth(3).is_none() {
        return 0;
    }
    let is_plan = PLANS.iter().any(|it| sentence.starts_with(it));
    let has_value = sentence.as_bytes().windows(2).any(|it| it.iter().all(u8::is_ascii_digit));
    let told = weigh(sentence, WORDS) + u32::from(has_value) + u32::from(sentence.contains('`'));
    if is_plan { told.saturating_sub(2) } else { told }
}

/// How much a user's sentence, in lower case, says about what is demanded or
/// forbidden.
pub(super) fn constraint(sentence: &str) -> u32 {
    const WORDS: &[(&str, u32)] = &[
        ("don't", 2),
        ("do not", 2),
        ("must", 2),
        ("never", 3),
        ("always", 2),
        ("only ", 1),
        ("should not", 2),
        ("shouldn't", 2),
        ("make sure", 2),
        ("without", 1),
        ("no need", 1),
        ("avoid", 2),
        ("keep ", 1),
        ("at most", 2),
        ("at least", 2),
        ("required", 1),
    ];
    let is_of_length = (8..=MOST).contains(&sentence.len());
    if is_of_length && !sentence.ends_with('?') { weigh(sentence, WORDS) } else { 0 }
}

/// Says whether a text ends with a question, and which.
pub(super) fn last_question(text: &str) -> Option<String> {
    sentences(text).into_iter().rev().take(3).find(|it| it.ends_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let found = sentences(
            "# Head\nSee a.rs. It works! Version 1.2 is new:\n```\ncode.\n```\n- one\n| a |",
        );
        assert_eq!(found, ["Head", "See a.rs.", "It works!", "Version 1.2 is new:", "one"]);
        assert_eq!(sentences("統計。終わり").len(), 2);
    }

    #[test]
    fn decisions_weigh_more_than_talk() {
        assert!(
            decision("i decided to use a lock instead of a channel.")
                > decision("it fails because of x, as we saw.")
        );
        assert_eq!(decision("Now I will edit the file and run it."), 0);
        assert!(finding("the root cause is the cache of `go-git`.") >= 4);
        assert_eq!(finding("let me check the `state` of port 80 first."), 0);
        assert_eq!(finding("https://example.com/pull/1586"), 0);
        assert!(constraint("never push to main.") > 0);
        assert_eq!(last_question("Done. Shall I commit?\n"), Some("Shall I commit?".to_owned()));
    }
}
