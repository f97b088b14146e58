//! What a model's name tells.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::calibration;

static EMBEDDED: LazyLock<Models> = LazyLock::new(|| {
    // A test holds that the embedded text can be read.
    Models::from_toml(include_str!("../../models.toml")).unwrap_or_default()
});

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Who made it: its reasoning is rendered for this family only.
    pub family: String,
    /// Tokens.
    pub context_window: i64,
    /// The name of its own tokenizer.
    pub tokenizer: String,
    /// Its tokens for an estimated one, until the first report.
    pub starting_factor: f64,
    /// What its reasoning is bound to.
    pub thinking: ThinkingRegime,
    /// How long its provider's cache is warm after its last use.
    pub cache_life_seconds: i64,
}

/// What a block of reasoning is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingRegime {
    /// Nothing: it may be shown after a reduction of what stood before it.
    Unbound,
    /// The bytes that stood before it: after others it is refused.
    Bound,
}

/// The table of models.
#[derive(Debug, Default)]
pub struct Models {
    strip_prefixes: Vec<String>,
    entries: Vec<(Vec<String>, ModelInfo)>,
}

/// What is wrong with a table of models.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// Not of the table's shape.
    #[error("the table of models cannot be read")]
    Shape(#[from] toml::de::Error),
    /// An entry cannot be as it is.
    #[error("models matching {patterns:?}: expected {expected}")]
    Entry {
        /// The entry's patterns.
        patterns: Vec<String>,
        /// What was expected of it.
        expected: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    strip_prefixes: Vec<String>,
    #[serde(default)]
    families: BTreeMap<String, Family>,
    #[serde(default)]
    models: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    tokenizer: String,
    starting_factor: f64,
    thinking: ThinkingRegime,
    cache_life_seconds: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "match")]
    patterns: Vec<String>,
    family: String,
    context_window: i64,
    tokenizer: Option<String>,
    starting_factor: Option<f64>,
    thinking: Option<ThinkingRegime>,
    cache_life_seconds: Option<i64>,
}

impl Models {
    /// The table that is compiled in.
    #[must_use]
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Reads a table of the shape of `models.toml`.
    ///
    /// # Errors
    ///
    /// [`ModelsError`] where it is of another shape, or an entry cannot be.
    pub fn from_toml(text: &str) -> Result<Self, ModelsError> {
        let file: File = toml::from_str(text)?;
        let families = file.families;
        // An empty prefix could be stripped for ever.
        let strip_prefixes = file.strip_prefixes.into_iter().filter(|prefix| !prefix.is_empty());
        let strip_prefixes = strip_prefixes.collect();
        let entries = file.models.into_iter().map(|entry| entry.resolve(&families));
        Ok(Self { strip_prefixes, entries: entries.collect::<Result<_, _>>()? })
    }

    /// Reads a table whose entries go before those of the embedded one. It has
    /// to name the families that it uses.
    ///
    /// # Errors
    ///
    /// As [`Models::from_toml`].
    pub fn over_embedded(text: &str) -> Result<Self, ModelsError> {
        let mut models = Self::from_toml(text)?;
        models.strip_prefixes.extend_from_slice(&Self::embedded().strip_prefixes);
        models.entries.extend_from_slice(&Self::embedded().entries);
        Ok(models)
    }

    /// What is known of the model of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ModelInfo> {
        let lower = name.trim().to_ascii_lowercase();
        let mut rest = lower.rsplit('/').next().unwrap_or_default();
        let stripped = |rest| self.strip_prefixes.iter().find_map(|p| str::strip_prefix(rest, p));
        while let Some(shorter) = stripped(rest) {
            rest = shorter;
        }
        let name = plain(rest);
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &name));
        self.entries.iter().find(|(patterns, _)| fits(patterns)).map(|(_, info)| info)
    }
}

impl Entry {
    fn resolve(
        self,
        families: &BTreeMap<String, Family>,
    ) -> Result<(Vec<String>, ModelInfo), ModelsError> {
        let refuse =
            |expected| Err(ModelsError::Entry { patterns: self.patterns.clone(), expected });
        let Some(family) = families.get(&self.family) else {
            return refuse("a family that the table has");
        };
        let info = ModelInfo {
            context_window: self.context_window,
            tokenizer: self.tokenizer.unwrap_or_else(|| family.tokenizer.clone()),
            starting_factor: self.starting_factor.unwrap_or(family.starting_factor),
            thinking: self.thinking.unwrap_or(family.thinking),
            cache_life_seconds: self.cache_life_seconds.unwrap_or(family.cache_life_seconds),
            family: self.family,
        };
        if self.patterns.is_empty() || self.patterns.iter().any(String::is_empty) {
            return refuse("a pattern to match");
        }
        if info.context_window < 1 {
            return refuse("a window of at least one token");
        }
        if !(calibration::LEAST..=calibration::MOST).contains(&info.starting_factor) {
            return refuse("a starting factor from 0.5 to 3.0");
        }
        if info.cache_life_seconds < 0 {
            return refuse("a cache life that is not negative");
        }
        Ok((self.patterns.iter().map(|pattern| plain(pattern)).collect(), info))
    }
}

/// As names are compared: `Claude_4.5` is `claude-4-5`.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['.', '_'], "-")
}

/// Says whether a pattern, in which `*` stands for any text, fits the whole
/// name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // The leftmost place is the best one: it leaves most to what follows.
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*", "", true),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*-x-*", "--x--", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_table_of_ones_own_goes_before() {
        let own = r#"
            [families.anthropic]
            tokenizer = "claude"
            starting_factor = 1.4
            thinking = "bound"
            cache_life_seconds = 3600
            [[models]]
            match = ["Claude-Opus-4.5*"]
            family = "anthropic"
            context_window = 64_000
        "#;
        let models = Models::over_embedded(own).unwrap();
        let info = models.find("us.anthropic.claude-opus-4-5-20251101-v1:0").unwrap();
        assert_eq!((info.context_window, info.cache_life_seconds), (64_000, 3600));
        assert_eq!(models.find("gpt-4o").unwrap().context_window, 128_000);
    }

    #[test]
    fn a_table_that_cannot_be_is_refused() {
        let table = |entry: &str| {
            let family = "[families.f]\ntokenizer=\"t\"\nstarting_factor=1.0\nthinking=\"unbound\"\ncache_life_seconds=1\n";
            Models::from_toml(&format!("{family}[[models]]\n{entry}"))
        };
        assert!(table("match=['a']\nfamily='f'\ncontext_window=1").is_ok());
        for entry in [
            "match=['a']\nfamily='g'\ncontext_window=1",
            "match=[]\nfamily='f'\ncontext_window=1",
            "match=['']\nfamily='f'\ncontext_window=1",
            "match=['a']\nfamily='f'\ncontext_window=0",
            "match=['a']\nfamily='f'\ncontext_window=1\nstarting_factor=nan",
            "match=['a']\nfamily='f'\ncontext_window=1\ncache_life_seconds=-1",
        ] {
            assert!(matches!(table(entry), Err(ModelsError::Entry { .. })), "{entry}");
        }
        assert!(matches!(table("match=['a']\nwindow=1"), Err(ModelsError::Shape(_))));
    }
}
