//! What is shown of a history: each requirement by its number, and what holds
//! whatever the history is.

mod budget;
mod clearing;
mod first_sight;
mod generate;
mod properties;
mod snips;
mod support;
