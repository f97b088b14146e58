//! Shortening the long strings of a JSON object without parsing it into
//! anything: keys, order, digits and spacing stay as they were written.

/// Below so many levels a shortened argument is looked through.
const DEEPEST: usize = 128;

/// `input` with every string value longer than a length that `cut` applies,
/// so that the whole is about `keep` characters; always one JSON object. What
/// is not a JSON object becomes `{"_raw":"…"}`. `None` where nothing is cut.
pub(crate) fn shorten_strings(
    input: &[u8],
    keep: usize,
    cut: &dyn Fn(&str, usize) -> Option<String>,
) -> Option<String> {
    let words = String::from_utf8_lossy(input);
    let is_object = words.trim_start().starts_with('{')
        && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&words).is_ok();
    if !is_object {
        let shorter = cut(&words, keep)?;
        return Some(format!("{{\"_raw\":{}}}", quoted(&shorter)));
    }
    let strings = string_values(&words)?;
    // The fixed part (keys, numbers, short strings) stays; the long strings
    // share what is left of the length.
    let long: usize = strings.iter().map(|(from, to)| to - from).sum();
    let fixed = words.len().saturating_sub(long);
    let each = keep.saturating_sub(fixed) / strings.len().max(1);
    let mut out = String::with_capacity(words.len());
    let mut at = 0;
    let mut is_cut = false;
    for (from, to) in strings {
        out.push_str(&words[at..from]);
        at = to;
        let literal = &words[from..to];
        let value: Option<String> = serde_json::from_str(literal).ok();
        match value.and_then(|value| cut(&value, each.max(SHORT))) {
            Some(shorter) => {
                is_cut = true;
                out.push_str(&quoted(&shorter));
            }
            None => out.push_str(literal),
        }
    }
    out.push_str(&words[at..]);
    is_cut.then_some(out)
}

/// Strings of at most so many characters are never cut.
const SHORT: usize = 24;

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Where the string values stand, quotes included; keys aside. `None` where the
/// nesting is too deep to look through.
fn string_values(words: &str) -> Option<Vec<(usize, usize)>> {
    let bytes = words.as_bytes();
    let mut out = Vec::new();
    let mut in_object: Vec<bool> = Vec::new();
    let mut expects_key = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                in_object.push(true);
                expects_key = true;
            }
            b'[' => {
                in_object.push(false);
                expects_key = false;
            }
            b'}' | b']' => {
                in_object.pop();
                expects_key = false;
            }
            b':' => expects_key = false,
            b',' => expects_key = in_object.last().copied().unwrap_or(false),
            b'"' => {
                let end = string_end(bytes, at);
                if !expects_key {
                    out.push((at, end));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        if in_object.len() > DEEPEST {
            return None;
        }
        at += 1;
    }
    Some(out)
}

fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, keep: usize) -> Option<String> {
        crate::projection::text::cut(text, keep, 0.5, |removed| format!("[{removed}]"))
    }

    #[test]
    fn long_strings_are_cut_and_nothing_else_changes() {
        let long = "x".repeat(100);
        let input =
            format!(r#"{{ "b":1.50, "{long}": "short", "a" :["{long}",{{"c":"{long}"}}]}}"#);
        let out = shorten_strings(input.as_bytes(), 160, &cut).unwrap();
        let short = "xxxxxxxxxxxx[76]xxxxxxxxxxxx";
        let expected =
            format!(r#"{{ "b":1.50, "{long}": "short", "a" :["{short}",{{"c":"{short}"}}]}}"#);
        assert_eq!(out, expected);
    }

    #[test]
    fn b7_what_is_no_object_is_wrapped() {
        let input = format!(r#"{{"command":"echo {}"#, "y".repeat(100));
        let out = shorten_strings(input.as_bytes(), 40, &cut).unwrap();
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(value["_raw"].as_str().unwrap().starts_with(r#"{"command":"echo"#));
        assert_eq!(shorten_strings(b"[1]", 40, &cut), None);
    }
}
