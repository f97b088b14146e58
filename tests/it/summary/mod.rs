//! Summaries: what they say, how long they are, and what is refused.

mod corpus;
mod oracle;
mod support;
