//! Counting, and learning from what providers report.
//!
//! One estimator counts everything, whatever the model: the vocabulary
//! `o200k_base`, pictures by their dimensions, a constant for what a message
//! and a block cost besides. Counts are stored uncalibrated; a factor for each
//! model ([`calibration`]) makes them that model's, starting from what
//! [`models`] knows. Start reading at [`message()`].
//!
//! Counting is work for the processor alone and never fails. Long texts are
//! estimated from samples, so that no text takes longer than a mebibyte does;
//! who counts large messages still does it off the async threads.

pub mod calibration;
mod image;
mod message;
pub mod models;
mod opaque;
mod text;

pub use calibration::{calibrate, learn, uncalibrate};
pub use image::{dimensions, image};
pub use message::{MESSAGE_TOKENS, SYNTHETIC_RESULT_TOKENS, block, message, output};
pub use models::{ModelInfo, Models, ModelsError, ThinkingRegime};
pub use opaque::opaque;
pub use text::{count_bytes, count_text, warm};
