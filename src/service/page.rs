//! Pages of lists: sizes, and tokens that hold for one query only.
//!
//! A token is opaque to its bearer. It carries the key of the last entry and a
//! checksum over that key and the other arguments of the query, so a token of
//! another query, or a damaged one, is told from a good one.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{Error, Result, fields::Fields, limits::MIB};

const DEFAULT_SIZE: usize = 50;
const MOST: usize = 1000;
const CHECKSUM_BYTES: usize = 16;

/// Bytes of a page, below what stock clients take: it ends early rather than
/// outgrow them.
pub(super) const PAGE_BYTES: usize = 3 * MIB;

/// The bytes that are left of a page.
#[derive(Debug, Default)]
pub(super) struct Room {
    used: usize,
}

impl Room {
    /// Says whether `bytes` more fit in; the first always do.
    pub(super) fn takes(&mut self, bytes: usize) -> bool {
        let is_first = self.used == 0;
        self.used += bytes;
        is_first || self.used <= PAGE_BYTES
    }
}

/// How many entries a page holds.
pub fn size(fields: &mut Fields, page_size: i32) -> usize {
    fields.not_negative("page_size", i64::from(page_size));
    match usize::try_from(page_size) {
        Ok(0) | Err(_) => DEFAULT_SIZE,
        Ok(asked) => asked.min(MOST),
    }
}

/// The arguments of a query that a token is bound to.
#[derive(Debug, Clone)]
pub struct Query(blake3::Hasher);

impl Query {
    /// Of the method of that name.
    #[must_use]
    pub fn new(method: &str) -> Self {
        let mut query = Self(blake3::Hasher::new());
        query.push(method.as_bytes());
        query
    }

    /// With one more argument.
    #[must_use]
    pub fn with(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.push(argument.as_ref());
        self
    }

    /// The token that goes on after `key`.
    #[must_use]
    pub fn token(&self, key: &[u8]) -> String {
        let mut bytes = self.checksum(key).to_vec();
        bytes.extend_from_slice(key);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The key in `token`; `None` where there is no token.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPageToken`] where this query did not make it.
    pub fn key(&self, token: &str) -> Result<Option<Vec<u8>>> {
        if token.is_empty() {
            return Ok(None);
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Error::InvalidPageToken)?;
        let (checksum, key) =
            bytes.split_at_checked(CHECKSUM_BYTES).ok_or(Error::InvalidPageToken)?;
        if checksum == self.checksum(key) {
            Ok(Some(key.to_vec()))
        } else {
            Err(Error::InvalidPageToken)
        }
    }

    // Lengths keep "ab" + "c" apart from "a" + "bc".
    fn push(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn checksum(&self, key: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let mut query = self.clone();
        query.push(key);
        let mut checksum = [0; CHECKSUM_BYTES];
        query.0.finalize_xof().fill(&mut checksum);
        checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_for_its_query_only() {
        let query = Query::new("ListSessions").with("a").with("b");
        let token = query.token(b"key");
        assert_eq!(query.key(&token).unwrap(), Some(b"key".to_vec()));
        let other = Query::new("ListSessions").with("ab").with("");
        assert!(matches!(other.key(&token), Err(Error::InvalidPageToken)));
    }

    #[test]
    fn a_damaged_token_is_refused() {
        let query = Query::new("m");
        for token in ["x", "!!!!", "AAAA", &"A".repeat(64)] {
            assert!(matches!(query.key(token), Err(Error::InvalidPageToken)), "{token}");
        }
        assert_eq!(query.key("").unwrap(), None);
    }

    #[test]
    fn a_page_takes_what_fits_and_at_least_one() {
        let mut room = Room::default();
        assert!(room.takes(PAGE_BYTES + 1), "the first");
        assert!(!room.takes(1));
        let mut room = Room::default();
        assert!(room.takes(1));
        assert!(room.takes(PAGE_BYTES - 1));
        assert!(!room.takes(1));
    }

    #[test]
    fn sizes_are_bounded() {
        let mut fields = Fields::new();
        assert_eq!(size(&mut fields, 0), 50);
        assert_eq!(size(&mut fields, 7), 7);
        assert_eq!(size(&mut fields, 5000), 1000);
        assert!(fields.finish().is_ok());
        let mut fields = Fields::new();
        size(&mut fields, -1);
        assert!(fields.finish().is_err());
    }
}
