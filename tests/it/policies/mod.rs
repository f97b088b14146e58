//! The presets, the patches over them, and what a policy may not be.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]
#![expect(clippy::float_cmp, reason = "a preset's numbers are written, not computed")]

mod actions;
mod patches;
mod presets;
