//! `micro_text`: trailing blanks, runs of blank lines and repeated text blocks
//! of assistant messages.
//!
//! May drop: white space outside code fences; a text block that the same
//! message has word for word already. Never touches a message that holds
//! thinking: what stands beside a signed block must stay as it was.

use crate::{
    model::{BlockKind, Row, StageKind, Text, policy::MicroText},
    projection::sight::Drafts,
};

pub(crate) fn apply(policy: &MicroText, row: &Row, drafts: &mut Drafts) {
    let is_thinking =
        row.message.blocks.iter().any(|block| {
            matches!(block.kind, BlockKind::Thinking(_) | BlockKind::RedactedThinking(_))
        });
    if is_thinking {
        return;
    }
    let mut said: Vec<String> = Vec::new();
    for draft in drafts.iter_mut() {
        let Some(block) = &draft.block else { continue };
        let BlockKind::Text(words) = &block.kind else { continue };
        if !words.raw.is_empty() {
            continue;
        }
        let tidy = tidy(&words.text, policy.max_blank_lines);
        if !tidy.is_empty() && said.contains(&tidy) {
            draft.replace(StageKind::MicroText, None);
            continue;
        }
        if tidy.len() < words.text.len() {
            let text = Text { text: tidy.clone(), ..words.clone() };
            draft.replace(StageKind::MicroText, Some(BlockKind::Text(text)));
        }
        said.push(tidy);
    }
}

/// `text` without trailing blanks and with at most `most` blank lines in a row,
/// outside code fences.
fn tidy(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut blank = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if fence.is_some() {
            out.push_str(line);
            if mark == fence {
                fence = None;
            }
            continue;
        }
        fence = mark;
        let words = line.trim_end();
        blank = if words.is_empty() { blank + 1 } else { 0 };
        if blank <= most {
            out.push_str(words);
            if line.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    if fence.is_none() {
        out.truncate(out.trim_end().len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn r38_blanks_go_but_not_inside_a_fence() {
        assert_eq!(tidy("a  \n\n\n\nb\n\n", 1), "a\n\nb");
        assert_eq!(tidy("```\na  \n\n\n\nb\n```\nc  ", 1), "```\na  \n\n\n\nb\n```\nc");
        assert_eq!(tidy("```\nopen  \n\n\n", 1), "```\nopen  \n\n\n");
        assert_eq!(tidy("  \n", 1), "");
    }
}
