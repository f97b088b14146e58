//! The contract's generated types. Only `codec`, `grpc` and the command line's
//! client name them: inside, the words are those of `model`.

/// `concertina.v1`.
#[expect(
    missing_docs,
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::large_enum_variant,
    clippy::allow_attributes_without_reason,
    reason = "generated; the comments stand in the .proto files"
)]
pub mod v1 {
    tonic::include_proto!("concertina.v1");
}

/// Every file of the contract and what it imports, encoded, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
