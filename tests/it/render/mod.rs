//! Rendering, through its public functions.

mod cases;
mod fixtures;
mod generate;
mod items;
mod properties;
mod rules;
mod support;
