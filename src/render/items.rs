//! Context items: what is put around the messages.

use super::{json, text, tools};
use crate::model::{ContextItem, Placement, WireFormat};

/// The items of a view in one format, by place, in the order of their names;
/// blank ones left out. May be kept as long as the items are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Items {
    pub(super) system: Vec<String>,
    pub(super) user_context: Vec<String>,
    /// Complete with their tags.
    pub(super) reminders: Vec<String>,
    /// Tool definitions in the asked format, JSON objects.
    pub(super) tools: Vec<Vec<u8>>,
}

impl Items {
    /// Makes the items, already filtered for the view, ready for a format.
    #[must_use]
    pub fn of(items: &[ContextItem], format: WireFormat) -> Self {
        let mut ordered: Vec<&ContextItem> = items.iter().collect();
        ordered.sort_by(|a, b| a.name.cmp(&b.name));
        let texts = |placement: Placement| {
            ordered
                .iter()
                .filter(move |item| item.placement == placement)
                .map(|item| text::lossy(&item.content).text.into_owned())
                .filter(|text| !text::is_blank(text))
        };
        Self {
            system: texts(Placement::System).collect(),
            user_context: texts(Placement::UserContext).collect(),
            reminders: texts(Placement::Reminder).map(|text| reminder(&text)).collect(),
            tools: tools::definitions(&ordered, format),
        }
    }

    pub(super) fn user_context(&self) -> Vec<&str> {
        self.user_context.iter().map(AsRef::as_ref).collect()
    }

    pub(super) fn reminders(&self) -> Vec<&str> {
        self.reminders.iter().map(AsRef::as_ref).collect()
    }

    /// The tools as a JSON list; nothing where there are none.
    pub(super) fn tools_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.tools.is_empty() {
            json::list(&mut out, &self.tools, |out, tool| out.extend_from_slice(tool));
        }
        out
    }
}

fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}
