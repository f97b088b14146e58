//! Summaries: what is to be summarized, who does it, and what a summary must
//! pass before it is shown.
//!
//! Start reading at [`Task`], then at [`Summarizer`]. [`extractive`] needs
//! neither network nor model and gives the same text for the same task.

mod check;
mod extractive;
mod layout;
mod material;
mod text;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::{
    check::{Detail, Limits, Rejected, check},
    extractive::{Extractive, extractive},
    layout::layout_instructions,
    material::{MaterialText, least_material_tokens, material_text, material_tokens},
};
pub use crate::policies::Template;

use crate::model::{Row, Seq, SeqRange};

/// Rows to summarize, in shown order.
#[derive(Debug, Clone, Default)]
pub struct Material {
    /// The rounds.
    pub rounds: Vec<MaterialRound>,
    /// Summaries that stand for rows which are not in `rounds`, by the place of
    /// what they cover.
    pub earlier: Vec<EarlierSummary>,
    /// The rows that are covered, those under `earlier` included.
    pub covered: Vec<SeqRange>,
}

/// A round of it.
#[derive(Debug, Clone)]
pub struct MaterialRound {
    /// The seq of its first message.
    pub id: Seq,
    /// The session's turn that it belongs to, from 1.
    pub turn: i64,
    /// Its rows, and those of late answers to its calls, by seq.
    pub rows: Vec<Arc<Row>>,
    /// Its calls, in the order of their blocks.
    pub calls: Vec<MaterialCall>,
}

/// A call and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaterialCall {
    /// Message and block of the call; in `rows`.
    pub call: (Seq, u32),
    /// Message and block of the result in force; in `rows`. `None`: unanswered.
    pub answer: Option<(Seq, u32)>,
}

/// A summary made earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierSummary {
    /// The rows it stands for.
    pub covered: Vec<SeqRange>,
    /// Its text, without the envelope.
    pub text: String,
}

/// A summary to make.
#[derive(Debug, Clone)]
pub struct Task {
    /// Of what.
    pub material: Material,
    /// The layout's name, as the policy spells it.
    pub template: String,
    /// Tokens to aim at, at least.
    pub min_tokens: i64,
    /// Tokens that it may have at most.
    pub max_tokens: i64,
    /// What it should keep, in a caller's words; may be empty.
    pub instructions: String,
}

/// A summary, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Why its writer stopped, where that is known.
    pub finish_reason: String,
}

/// No summary could be made.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SummarizerError(pub String);

/// Who makes summaries.
#[async_trait]
pub trait Summarizer: Send + Sync {
    /// Who it is, as `Overlay.summarizer` tells it: `extractive`, or
    /// `<provider>:<model>`.
    fn name(&self) -> String;

    /// Summarizes. What comes back is untrusted and checked by the caller.
    ///
    /// # Errors
    ///
    /// Where nothing came back.
    async fn summarize(&self, task: &Task) -> Result<Summary, SummarizerError>;
}
