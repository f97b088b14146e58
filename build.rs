//! Compiles the contract under `proto/` without a system `protoc`.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

const FILES: &[&str] = &[
    "concertina/v1/errors.proto",
    "concertina/v1/session_service.proto",
    "concertina/v1/collapse_service.proto",
    "concertina/v1/transcript_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=migrations");
    let descriptors = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    Ok(())
}
