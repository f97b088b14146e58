//! Summaries: what they say, how long they are, and what is refused.

mod cases;
mod corpus;
mod layouts;
mod oracle;
mod properties;
mod support;
