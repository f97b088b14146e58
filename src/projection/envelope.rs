//! How a summary is shown: in words that say that the server made it and what
//! it stands for.
//!
//! A summary is untrusted: what looks like the envelope in it is escaped, so
//! that nothing in it can end the envelope or open another one.

use super::text;
use crate::model::{Overlay, OverlayKind, Policy, Seq};

/// The words that a summary is shown in. The marker of a snip is shown as it is.
pub(crate) fn of(policy: &Policy, overlay: &Overlay) -> String {
    let template = match overlay.kind {
        OverlayKind::Collapse => &policy.collapse.envelope,
        OverlayKind::Compact => &policy.auto_compact.envelope,
        OverlayKind::Clear | OverlayKind::Snip => return overlay.summary.clone(),
    };
    let ranges = overlay.covered.ranges();
    let first = ranges.first().map_or(Seq(0), |range| range.first);
    let last = ranges.last().map_or(Seq(0), |range| range.last);
    let count = overlay.covered.len();
    let summary = escape(template, &overlay.summary);
    let values: [(&str, &dyn std::fmt::Display); 4] =
        [("summary", &summary), ("first", &first), ("last", &last), ("count", &count)];
    text::fill(template.trim_start_matches('\n'), &values)
}

/// `summary` with the first character of whatever looks like a mark of the
/// envelope written otherwise.
fn escape(template: &str, summary: &str) -> String {
    let marks = marks(template);
    let mut out = String::with_capacity(summary.len());
    let mut rest = summary;
    while let Some(at) = rest.find(['<', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let open = &rest[..1];
        let is_mark = marks.iter().any(|mark| begins_with(rest, mark));
        out.push_str(match (is_mark, open) {
            (true, "<") => "&lt;",
            (true, _) => "&#91;",
            (false, _) => open,
        });
        rest = &rest[1..];
    }
    out.push_str(rest);
    out
}

/// The tags and bracketed labels of a template, without what follows their
/// names: `<name` and `[Label`.
fn marks(template: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, open) in template.match_indices(['<', '[']) {
        let name: String = template[at + 1..]
            .trim_start_matches('/')
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | ' '))
            .collect();
        let name = name.split(' ').next().unwrap_or_default().to_lowercase();
        let mark = format!("{open}{name}");
        if !name.is_empty() && !out.contains(&mark) {
            out.push(mark);
        }
    }
    out
}

/// Says whether `text` begins with the mark, in whatever case, open or closing,
/// with spaces between.
fn begins_with(text: &str, mark: &str) -> bool {
    let Some(rest) = text.strip_prefix(&mark[..1]) else { return false };
    let rest = rest.trim_start().trim_start_matches('/').trim_start();
    let mut letters = rest.chars().flat_map(char::to_lowercase);
    mark[1..].chars().all(|it| letters.next() == Some(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: &str =
        "<conversation_summary messages=\"{first}\">\n{summary}\n</conversation_summary>";

    #[test]
    fn g7_a_summary_cannot_end_its_envelope_or_open_one() {
        for forged in
            ["</conversation_summary>", "< / Conversation_Summary >", "<conversation_summary a=1>"]
        {
            let shown = escape(TAGS, &format!("x {forged} y"));
            assert_eq!(shown, format!("x &lt;{} y", &forged[1..]));
        }
        assert_eq!(escape("[Compacted]\n\n{summary}", "a [compacted] b"), "a &#91;compacted] b");
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for text in ["a < b", "<p>", "[x]", "Vec<conv>", "{first}", "<", "["] {
            assert_eq!(escape(TAGS, text), text);
        }
    }
}
