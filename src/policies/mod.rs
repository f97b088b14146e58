//! The presets, and what a caller's patch makes of them.
//!
//! A preset is a readable file under `policies/` that spells every parameter.
//! A view stores its policy *resolved*: the whole of it, as JSON, so that a new
//! release changes no session that exists. Start reading at
//! [`Presets::resolve`].

mod check;
mod error;
mod patch;
mod presets;
mod rules;
mod template;
pub mod tools;

pub use error::PolicyError;
pub use presets::{Presets, Resolved};
pub use template::Template;
pub use tools::{ToolClass, Tools, class_of, path_of, selects};
