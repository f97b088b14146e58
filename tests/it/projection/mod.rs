//! What is shown of a history: each requirement by its number, and what holds
//! whatever the history is.

mod generate;
mod properties;
mod support;
