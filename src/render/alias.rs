//! Stand-ins for ids and names that a provider would not take.
//!
//! An alias is made of what is legal in the original and a hash. It depends on
//! nothing but the row, so it is the same in every request, and it fits the
//! alphabet and the length of every format.

use std::borrow::Cow;

use crate::model::{Seq, WireFormat};

/// Chat takes 40 characters, the least of all formats.
const ID_MAX: usize = 40;
const ID_HASH: usize = 16;
/// Both OpenAI formats take 64, Anthropic more.
const NAME_MAX: usize = 64;
const NAME_HASH: usize = 8;

/// Says whether a call's id may stand in this format as it is.
pub(super) fn is_legal_id(id: &str, format: WireFormat) -> bool {
    match format {
        WireFormat::AnthropicMessages => is_plain(id),
        WireFormat::OpenAiChat => is_graphic(id, 40),
        WireFormat::OpenAiResponses => is_graphic(id, 64),
        WireFormat::Typed => !id.is_empty(),
    }
}

/// Says whether a provider's item id may stand in a Responses item.
pub(super) fn is_legal_item_id(id: &str) -> bool {
    is_plain(id) && id.len() <= 64
}

/// The alias of a call's id: hashes its place too, for ids may repeat.
pub(super) fn of_id(id: &str, seq: Seq, block: u32) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes());
    hasher.update(&seq.0.to_le_bytes());
    hasher.update(&block.to_le_bytes());
    compose(id, "call", ID_MAX - ID_HASH - 1, &hasher.finalize().to_hex()[..ID_HASH])
}

/// A tool's name as this format takes it: itself, or its alias.
pub(super) fn name(name: &str, format: WireFormat) -> Cow<'_, str> {
    let most = if format == WireFormat::AnthropicMessages { 128 } else { NAME_MAX };
    if format == WireFormat::Typed || (is_plain(name) && name.len() <= most) {
        return Cow::Borrowed(name);
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    Cow::Owned(compose(name, "tool", NAME_MAX - NAME_HASH - 1, &hash[..NAME_HASH]))
}

fn compose(original: &str, otherwise: &str, most: usize, hash: &str) -> String {
    let legal = |c: char| if is_plain_char(c) { c } else { '_' };
    let mut alias: String = original.chars().take(most).map(legal).collect();
    if alias.is_empty() {
        alias.push_str(otherwise);
    }
    alias.push('_');
    alias.push_str(hash);
    alias
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain_char)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_graphic(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_long_ids_with_one_prefix_stay_apart() {
        let long = format!("mcp__server__{}", "a".repeat(60));
        let (one, two) = (format!("{long}-01"), format!("{long}-02"));
        assert!(is_legal_id(&one, WireFormat::AnthropicMessages));
        assert!(!is_legal_id(&one, WireFormat::OpenAiResponses));
        let aliases = [of_id(&one, Seq(2), 0), of_id(&two, Seq(2), 1)];
        assert_ne!(aliases[0], aliases[1]);
        assert_eq!(aliases[0], of_id(&one, Seq(2), 0));
        for alias in &aliases {
            assert!(alias.len() <= 40 && is_plain(alias), "{alias}");
        }
    }

    #[test]
    fn c1_the_same_id_at_two_places_has_two_aliases() {
        assert_ne!(of_id("c1", Seq(2), 0), of_id("c1", Seq(2), 1));
        assert_ne!(of_id("c1", Seq(2), 0), of_id("c1", Seq(3), 0));
    }

    #[test]
    fn names_are_aliased_where_the_format_does_not_take_them() {
        assert_eq!(name("read_file", WireFormat::OpenAiChat), "read_file");
        for odd in ["", "a b", "mcp.server/tool", "naïve"] {
            let alias = name(odd, WireFormat::AnthropicMessages);
            assert!(is_plain(&alias) && alias.len() <= 64, "{alias}");
        }
        let long = "n".repeat(100);
        assert_eq!(name(&long, WireFormat::AnthropicMessages), long);
        assert_eq!(name(&long, WireFormat::OpenAiChat).len(), 64);
    }
}
