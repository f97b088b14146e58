//! What may be wrong with a message of the contract.

/// A field that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` should be {expected}")]
pub struct Error {
    /// Where, for example `blocks[2].tool_result.output[0]`.
    pub field: String,
    /// What was expected there.
    pub expected: &'static str,
}

impl Error {
    pub(super) fn new(field: impl Into<String>, expected: &'static str) -> Self {
        Self { field: field.into(), expected }
    }

    /// Bytes that no encoder of the contract wrote.
    pub(super) fn undecodable(_: prost::DecodeError) -> Self {
        Self::new("message", "an encoded message")
    }

    /// The same error, told from one level further out.
    #[must_use]
    pub fn within(mut self, outer: impl std::fmt::Display) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

/// Converts each of a list, telling an error's index.
pub(super) fn each<P, M>(
    name: &str,
    list: impl IntoIterator<Item = P>,
    convert: impl Fn(P) -> Result<M, Error>,
) -> Result<Vec<M>, Error> {
    list.into_iter()
        .enumerate()
        .map(|(index, it)| convert(it).map_err(|err| err.within(format_args!("{name}[{index}]"))))
        .collect()
}
