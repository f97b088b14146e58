//! Markers that name a place, read there.

use concertina::{
    model::{BlockKind, Seq, ToolOutput},
    service::{ContentInput, ReadContent, read_content},
};

use super::{
    play::{Player, SESSION},
    shadow::Shadow,
};

impl Player<'_> {
    /// I14: the place that a marker names holds all that it stands for.
    pub(super) async fn i14_markers_can_be_read(&mut self) {
        let newest = self.revision().await;
        let shown = self.shadow.at(&self.ctx, newest).await;
        let originals: Vec<_> = shown.composed.repeats.iter().map(|(_, of)| *of).collect();
        for marked in self.shadow.reduced(&shown) {
            for (seq, block) in named_in(&marked.text) {
                let at = (Seq(seq), block);
                if at != marked.at && !originals.contains(&at) {
                    // Somebody else's words.
                    continue;
                }
                self.tally.markers_read += 1;
                let content =
                    ContentInput { seq, block: i32::try_from(block).unwrap(), output: None };
                let input = ReadContent {
                    session_id: SESSION.into(),
                    content: Some(content),
                    ..ReadContent::default()
                };
                match read_content(&self.ctx, input).await {
                    Ok(read) if holds(&self.shadow, at, &read.bytes) => {}
                    Ok(_) => self.fault(format!("I14: {at:?} reads otherwise than it is stored")),
                    Err(err) => self.fault(format!("I14: {at:?} cannot be read: {err}")),
                }
            }
        }
    }
}

/// Says whether what was read is the block as it is stored.
fn holds(shadow: &Shadow, at: (Seq, u32), read: &[u8]) -> bool {
    let row = shadow.history.row(at.0).unwrap();
    let block = &row.message.blocks[usize::try_from(at.1).unwrap()];
    match &block.kind {
        BlockKind::Text(text) => read == text.text.as_bytes() || read == text.raw.as_ref(),
        BlockKind::ToolUse(call) => read == call.input_json.as_ref(),
        BlockKind::ToolResult(result) => match result.output.as_slice() {
            [ToolOutput::Text(text)] => read == text.as_ref(),
            several => in_order(several, read),
        },
        _ => !read.is_empty(),
    }
}

fn in_order(parts: &[ToolOutput], mut read: &[u8]) -> bool {
    parts.iter().all(|part| {
        let ToolOutput::Text(text) = part else { return true };
        let at = if text.is_empty() {
            Some(0)
        } else {
            read.windows(text.len()).position(|it| it == text.as_ref())
        };
        at.map(|at| read = &read[at + text.len()..]).is_some()
    })
}

/// The places that a text names as `message 12 block 3`.
fn named_in(text: &str) -> Vec<(i64, u32)> {
    let places = text.match_indices("message ").filter_map(|(at, word)| {
        let (seq, rest) = number(&text[at + word.len()..])?;
        let (block, _) = number(rest.strip_prefix(" block ")?)?;
        Some((seq, u32::try_from(block).ok()?))
    });
    places.collect()
}

fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}
