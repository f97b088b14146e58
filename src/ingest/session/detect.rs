//! What a file is, told from its beginning.

use super::source::{Layout, Source, SourceFormat};

/// Names the source of a file from its first bytes (64 KiB are plenty) and its
/// name; `None` where it is none that can be imported.
#[must_use]
pub fn detect(first_bytes: &[u8], file_name: &str) -> Option<Source> {
    let bytes = beginning(first_bytes);
    let outline = Outline::of(bytes)?;
    let format = format(&outline, bytes, file_name)?;
    Some(Source { format, layout: layout(&outline, format) })
}

impl Source {
    /// The source of a file whose format is known, laid out as its first bytes
    /// say.
    #[must_use]
    pub fn of(format: SourceFormat, first_bytes: &[u8]) -> Self {
        let outline = Outline::of(beginning(first_bytes));
        let layout = outline.map_or(Layout::Lines, |it| layout(&it, format));
        Self { format, layout }
    }
}

/// As much as is looked at.
fn beginning(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    bytes.get(..64 << 10).unwrap_or(bytes)
}

fn format(outline: &Outline<'_>, bytes: &[u8], file_name: &str) -> Option<SourceFormat> {
    let has = |key: &str| outline.value(key).is_some();
    let kind = outline.text("type").unwrap_or_default();
    if outline.is_array && outline.is_empty() {
        return None;
    }
    if has("payload") && has("type") && has("timestamp") {
        return Some(SourceFormat::Codex);
    }
    if has("kind") && has("source") && has("timestamp") {
        return Some(SourceFormat::OpenHands);
    }
    if has("traj") {
        return Some(SourceFormat::TauBench);
    }
    let is_trajectory = has("trajectory") && (has("environment") || has("history"));
    if is_trajectory || has_extension(file_name, "traj") {
        return Some(SourceFormat::SweAgent);
    }
    if (kind == "session" && has("cwd")) || (kind == "message" && has("message")) {
        return Some(SourceFormat::Pi);
    }
    let marks = ["sessionId", "uuid", "leafUuid", "messageId", "parentUuid"];
    if has("type") && marks.iter().any(|it| has(it)) {
        return Some(SourceFormat::ClaudeCode);
    }
    (has("messages") || has("role")).then(|| dialect(outline, bytes))
}

/// Messages alone: whose shape they have.
fn dialect(outline: &Outline<'_>, bytes: &[u8]) -> SourceFormat {
    let holds = |words: &[&str]| words.iter().any(|it| contains(bytes, it.as_bytes()));
    let of_anthropic = ["\"tool_use\"", "\"tool_result\"", "\"thinking\"", "\"input_schema\""];
    let of_chat = ["\"tool_calls\"", "\"tool_call_id\"", "\"image_url\"", "\"developer\""];
    let is_record = ["ts", "meta", "usage"].iter().any(|it| outline.value(it).is_some());
    if is_record || outline.value("system").is_some() {
        return SourceFormat::Anthropic;
    }
    if holds(&of_chat) {
        return SourceFormat::OpenAiChat;
    }
    let has_blocks = outline.value("content").is_some_and(|it| it.starts_with(b"["));
    if has_blocks || holds(&of_anthropic) {
        SourceFormat::Anthropic
    } else {
        SourceFormat::OpenAiChat
    }
}

fn layout(outline: &Outline<'_>, format: SourceFormat) -> Layout {
    let is_whole = outline.value("messages").is_some()
        || matches!(format, SourceFormat::SweAgent | SourceFormat::TauBench);
    if outline.is_array || is_whole { Layout::Document } else { Layout::Lines }
}

fn has_extension(file_name: &str, extension: &str) -> bool {
    let (_, found) = file_name.rsplit_once('.').unwrap_or_default();
    found.eq_ignore_ascii_case(extension)
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|it| it == word)
}

/// The fields of the first object, as far as the bytes go. Total: it is only a
/// guess, and reading says what is wrong.
struct Outline<'a> {
    is_array: bool,
    fields: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Outline<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (is_array, object) = match bytes.split_first()? {
            (b'{', _) => (false, bytes),
            (b'[', rest) => (true, rest.trim_ascii_start()),
            _ => return None,
        };
        let fields = object.strip_prefix(b"{").map(fields).unwrap_or_default();
        Some(Self { is_array, fields })
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// A field's value and what follows it.
    fn value(&self, key: &str) -> Option<&'a [u8]> {
        self.fields.iter().find(|(it, _)| *it == key.as_bytes()).map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        let inner = self.value(key)?.strip_prefix(b"\"")?;
        let end = inner.iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(inner.get(..end)?).ok()
    }
}

fn fields(mut rest: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut fields = Vec::new();
    loop {
        rest = skip_blanks(rest);
        let Some(key_end) = string_end(rest) else { break };
        let key = rest.get(1..key_end - 1).unwrap_or_default();
        rest = skip_blanks(rest.get(key_end..).unwrap_or_default());
        let Some(value) = rest.strip_prefix(b":") else { break };
        rest = skip_blanks(value);
        fields.push((key, rest));
        rest = rest.get(value_end(rest)..).unwrap_or_default();
        let Some(next) = rest.strip_prefix(b",") else { break };
        rest = next;
    }
    fields
}

fn skip_blanks(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

/// The offset behind a string that starts here.
fn string_end(bytes: &[u8]) -> Option<usize> {
    bytes.strip_prefix(b"\"")?;
    let mut is_escaped = false;
    for (offset, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(offset + 1),
            _ => {}
        }
    }
    None
}

/// The offset of the comma or bracket that ends a value.
fn value_end(bytes: &[u8]) -> usize {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (offset, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b',' | b'}' | b']' if !in_string && depth == 0 => return offset,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, expected: Option<(SourceFormat, Layout)>) {
        let found = detect(text.as_bytes(), name).map(|it| (it.format, it.layout));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn formats_are_told_by_their_fields() {
        use Layout::{Document, Lines};
        use SourceFormat as F;
        let lines = |format| Some((format, Lines));
        let document = |format| Some((format, Document));
        check(r#"{"parentUuid":null,"type":"user","message":{}}"#, "", lines(F::ClaudeCode));
        check(r#"{"type":"summary","summary":"x","leafUuid":"y"}"#, "", lines(F::ClaudeCode));
        check(r#"{"type":"queue-operation","sessionId":"y"}"#, "", lines(F::ClaudeCode));
        check(r#"{"timestamp":"t","type":"session_meta","payload":{"a":"#, "", lines(F::Codex));
        check(r#"{"id":"a","timestamp":"t","source":"agent","kind":"X"}"#, "", lines(F::OpenHands));
        check(
            r#" [ {"id":"a","timestamp":"t","source":"agent","kind":"X"}"#,
            "",
            document(F::OpenHands),
        );
        check(r#"{"type":"session","id":"a","cwd":"/"}"#, "", lines(F::Pi));
        check(r#"{"environment":"e","trajectory":[{"a":"]"#, "", document(F::SweAgent));
        check("{\n  \"history\": [", "a.traj", document(F::SweAgent));
        check(r#"[{"task_id":1,"traj":[]}]"#, "", document(F::TauBench));
        check(r#"{"messages":[{"role":"user","content":"a"}]}"#, "", document(F::OpenAiChat));
        check(r#"[{"role":"user","content":"a"}]"#, "", document(F::OpenAiChat));
        check(r#"{"role":"tool","tool_call_id":"a","content":[]}"#, "", lines(F::OpenAiChat));
        check(r#"{"system":"x","messages":[]}"#, "", document(F::Anthropic));
        check(
            r#"[{"role":"user","content":[{"type":"tool_result"}]}]"#,
            "",
            document(F::Anthropic),
        );
        check(r#"{"role":"user","content":[{"type":"text"}]}"#, "", lines(F::Anthropic));
        check(r#"{"role":"user","content":"a","meta":{}}"#, "", lines(F::Anthropic));
        check("\u{feff}\n[{\"role\":\"user\"", "", document(F::OpenAiChat));
        check("# aider chat", "a.md", None);
        check("[]", "", None);
        check(r#"{"a":1}"#, "", None);
        check("", "", None);
    }

    #[test]
    fn a_known_format_is_laid_out_as_it_begins() {
        let layout = |format, text: &str| Source::of(format, text.as_bytes()).layout;
        assert_eq!(layout(SourceFormat::OpenHands, "[{\"a\":1}]"), Layout::Document);
        assert_eq!(layout(SourceFormat::OpenHands, "{\"a\":1}"), Layout::Lines);
        assert_eq!(layout(SourceFormat::SweAgent, "{\"a\":1}"), Layout::Document);
        assert_eq!(layout(SourceFormat::Pi, ""), Layout::Lines);
    }
}
