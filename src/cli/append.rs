//! `concertina append`: one message, as text or in a provider's own shape.

use clap::ValueEnum;
use serde::Serialize;

use super::{
    Out, Remote, Usage,
    args::{self, Format},
    json::BudgetJson,
    text,
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The text or JSON, or @FILE; standard input where it is `-` or left out.
    content: Option<String>,
    /// Who speaks.
    #[arg(long, value_enum, default_value_t = Role::User, conflicts_with = "payload_format")]
    role: Role,
    /// The content is JSON of this provider: a message, an array, or a response.
    #[arg(long, value_enum, value_name = "FORMAT")]
    payload_format: Option<Format>,
    /// The writer's own line of work.
    #[arg(long)]
    lane: Option<String>,
    /// The agent or person who wrote it.
    #[arg(long)]
    author: Option<String>,
    /// The context that this answers (`meta.fingerprint` of `concertina context`).
    #[arg(long, value_name = "FINGERPRINT")]
    context_fingerprint: Option<String>,
    /// Makes a retry safe.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Refuse unless the message gets this seq.
    #[arg(long, value_name = "SEQ")]
    expected_next_seq: Option<i64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Role {
    User,
    Assistant,
    System,
}

impl Role {
    fn wire(self) -> v1::Role {
        match self {
            Self::User => v1::Role::User,
            Self::Assistant => v1::Role::Assistant,
            Self::System => v1::Role::System,
        }
    }
}

#[derive(Serialize)]
struct AppendedJson<'a> {
    first_seq: i64,
    last_seq: i64,
    revision: i64,
    replayed: bool,
    budget: Option<BudgetJson<'a>>,
    warnings: Vec<WarningJson<'a>>,
}

#[derive(Serialize)]
struct WarningJson<'a> {
    seq: i64,
    reason: &'a str,
    detail: &'a str,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let answer = remote.append_turn(request(args)?).await?;
    for warning in &answer.warnings {
        out.problem("warning", &warning_line(warning));
    }
    if out.is_json() {
        out.json(&printed(&answer))?;
    } else {
        out.line(sentence(&answer))?;
    }
    Ok(())
}

fn request(args: Args) -> anyhow::Result<v1::AppendTurnRequest> {
    let content = args::argument_or_stdin(args.content.as_deref())?;
    let (messages, payload) = match args.payload_format {
        Some(format) => (
            vec![],
            Some(v1::ProviderPayload { format: format.wire().into(), json: content.into() }),
        ),
        None => (vec![text_message(args.role, content)?], None),
    };
    Ok(v1::AppendTurnRequest {
        session_id: args.session,
        messages,
        payload,
        expected_next_seq: args.expected_next_seq,
        author: args.author.unwrap_or_default(),
        lane: args.lane.unwrap_or_default(),
        context_fingerprint: args.context_fingerprint.unwrap_or_default(),
        request_id: args.request_id.unwrap_or_default(),
        view: String::new(),
    })
}

fn text_message(role: Role, content: Vec<u8>) -> Result<v1::Message, Usage> {
    let text = args::text(content)?;
    if text.is_empty() {
        return Err(Usage::new("expected some text, found none"));
    }
    let text = v1::Text { text, ..v1::Text::default() };
    let kind = Some(v1::block::Kind::Text(text));
    Ok(v1::Message {
        role: role.wire().into(),
        blocks: vec![v1::Block { kind, ..v1::Block::default() }],
        ..v1::Message::default()
    })
}

/// `message 4: ORPHAN_RESULT: …`.
pub(super) fn warning_line(warning: &v1::AppendWarning) -> String {
    format!("message {}: {}: {}", warning.seq, warning.reason, warning.detail)
}

fn sentence(answer: &v1::AppendTurnResponse) -> String {
    let rows = if answer.first_seq == answer.last_seq {
        format!("message {}", answer.first_seq)
    } else {
        format!("messages {}–{}", answer.first_seq, answer.last_seq)
    };
    let done = if answer.replayed { "was stored before" } else { "stored" };
    let full = answer
        .budget
        .as_ref()
        .map(|budget| format!(", {} of the limit", text::percent(budget.usage_ratio)));
    format!("{rows} {done} (revision {}{})", answer.revision, full.unwrap_or_default())
}

fn printed(answer: &v1::AppendTurnResponse) -> AppendedJson<'_> {
    AppendedJson {
        first_seq: answer.first_seq,
        last_seq: answer.last_seq,
        revision: answer.revision,
        replayed: answer.replayed,
        budget: answer.budget.as_ref().map(BudgetJson::new),
        warnings: answer.warnings.iter().map(WarningJson::new).collect(),
    }
}

impl<'a> WarningJson<'a> {
    fn new(warning: &'a v1::AppendWarning) -> Self {
        Self { seq: warning.seq, reason: &warning.reason, detail: &warning.detail }
    }
}
