//! Exact bytes, compressed where that pays.

use bytes::Bytes;
use zstd::zstd_safe;

use crate::store::Error;

/// Below this, compression saves too little to be looked at.
const COMPRESS_FROM_BYTES: usize = 2 * 1024;

/// Higher levels cost far more and save a hundredth.
const LEVEL: i32 = 1;

/// No content is larger: whatever claims to be is damaged.
const LARGEST_BYTES: u64 = 1 << 30;

/// How bytes are stored; the value of `contents.codec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    /// As they are.
    Plain = 0,
    /// One zstd frame.
    Zstd = 1,
}

/// Many pieces of content in one buffer, as a statement takes them.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// The pieces, one after the other.
    pub bytes: Vec<u8>,
    /// Where each is.
    pub pieces: Vec<Piece>,
}

/// One piece of a [`Packed`] buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// How it is stored.
    pub codec: Codec,
    /// Its place, from 1, as `substr` counts.
    pub offset: usize,
    /// Its stored length.
    pub len: usize,
}

impl Packed {
    /// Adds a piece, compressed where that saves a tenth.
    pub(super) fn add(&mut self, plain: &[u8]) -> Piece {
        let offset = self.bytes.len() + 1;
        let compressed = compress(plain);
        let codec = if compressed.is_some() { Codec::Zstd } else { Codec::Plain };
        self.bytes.extend_from_slice(compressed.as_deref().unwrap_or(plain));
        let piece = Piece { codec, offset, len: self.bytes.len() + 1 - offset };
        self.pieces.push(piece);
        piece
    }

    /// Adds bytes that are no content; returns their place, from 1.
    pub(super) fn add_raw(&mut self, bytes: &[u8]) -> usize {
        let offset = self.bytes.len() + 1;
        self.bytes.extend_from_slice(bytes);
        offset
    }
}

fn compress(plain: &[u8]) -> Option<Vec<u8>> {
    if plain.len() < COMPRESS_FROM_BYTES {
        return None;
    }
    let compressed = zstd::bulk::compress(plain, LEVEL).ok()?;
    (compressed.len() <= plain.len() / 10 * 9).then_some(compressed)
}

/// Gives the plain bytes of content `id` back.
///
/// # Errors
///
/// [`Error::Corrupt`] where they cannot be.
pub(super) fn unpack(id: i64, codec: i64, stored: Vec<u8>) -> Result<Bytes, Error> {
    let corrupt = |column| Error::Corrupt { table: "contents", column, row: id };
    match codec {
        0 => Ok(Bytes::from(stored)),
        1 => {
            let size = zstd_safe::get_frame_content_size(&stored)
                .ok()
                .flatten()
                .filter(|size| *size <= LARGEST_BYTES)
                .and_then(|size| usize::try_from(size).ok())
                .ok_or_else(|| corrupt("bytes"))?;
            let plain = zstd::bulk::decompress(&stored, size).map_err(|_| corrupt("bytes"))?;
            Ok(Bytes::from(plain))
        }
        _ => Err(corrupt("codec")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(plain: &[u8]) -> (Codec, Bytes) {
        let mut packed = Packed::default();
        packed.add_raw(b"before");
        let piece = packed.add(plain);
        packed.add(b"after");
        let stored = packed.bytes[piece.offset - 1..piece.offset - 1 + piece.len].to_vec();
        (piece.codec, unpack(1, piece.codec as i64, stored).unwrap())
    }

    #[test]
    fn content_is_compressed_where_it_pays() {
        let repeated = "ab".repeat(2_000);
        let noise: Vec<u8> =
            (0..100_u32).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
        for (plain, codec) in [
            (&b""[..], Codec::Plain),
            (&repeated.as_bytes()[..2_047], Codec::Plain),
            (&repeated.as_bytes()[..2_048], Codec::Zstd),
            (&noise, Codec::Plain),
        ] {
            assert_eq!(round_trip(plain), (codec, Bytes::copy_from_slice(plain)));
        }
    }

    #[test]
    fn damaged_content_is_told() {
        for (codec, stored) in [(1, &b"no frame"[..]), (1, b""), (2, b"x")] {
            let err = unpack(7, codec, stored.to_vec()).unwrap_err();
            assert!(matches!(err, Error::Corrupt { table: "contents", row: 7, .. }));
        }
    }
}
