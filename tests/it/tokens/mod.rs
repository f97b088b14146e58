//! Counting: against another tokenizer, over odd input, by the field's cases.

mod cases;
mod models;
mod properties;
