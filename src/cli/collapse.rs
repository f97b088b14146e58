//! `concertina collapse`: a segment shown as its summary, by the server's
//! summarizer now, or by the caller's in two steps.

use clap::Subcommand;
use serde::Serialize;

use super::{
    Out, Remote, Usage,
    args::{self, rows},
    context_view,
    json::{OverlayJson, RangeJson},
    names,
    remote::Refusal,
    text::{self, thousands},
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
#[command(override_usage = "concertina collapse [OPTIONS] <SESSION> [ROWS]
       concertina collapse <COMMAND>")]
pub(super) struct Args {
    #[command(flatten)]
    now: Now,
    #[command(subcommand)]
    action: Option<Action>,
}

// All of it optional, for it is not said where a step is named.
#[derive(Debug, Default, PartialEq, clap::Args)]
struct Now {
    /// The session.
    session: Option<String>,
    /// The rows, `3-17`, widened to whole rounds; left out: the oldest segment that
    /// the view's policy would take.
    #[arg(value_parser = rows)]
    rows: Option<v1::SeqRange>,
    /// Which view of the session; left out: `main`.
    #[arg(long)]
    view: Option<String>,
    /// What the summary should keep, or @FILE.
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// Who; kept on record.
    #[arg(long)]
    author: Option<String>,
    /// Makes a retry safe.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// For a summary of your own: what to summarize, and a lease on it.
    Prepare {
        /// The session.
        session: String,
        /// The rows, `3-17`, widened to whole rounds; left out: the oldest segment
        /// that the view's policy would take.
        #[arg(value_parser = rows)]
        rows: Option<v1::SeqRange>,
        /// Which view of the session.
        #[arg(long, default_value = "main")]
        view: String,
        /// What your summarizer can read, in tokens; the range is shortened to it.
        #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
        max_material_tokens: Option<i64>,
        /// How long nobody else may summarize these rows, in seconds; at most 900.
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..=900))]
        lease: Option<i64>,
        /// Who; kept on record.
        #[arg(long, default_value = "", hide_default_value = true)]
        author: String,
        /// Asking again with it returns the same plan.
        #[arg(long, value_name = "ID")]
        request_id: Option<String>,
    },
    /// Commits your summary of what was prepared.
    Commit {
        /// The session.
        session: String,
        /// The plan that `prepare` named.
        plan: String,
        /// The summary, or @FILE; standard input where it is `-` or left out.
        summary: Option<String>,
        /// The model's stop reason; a summary that was cut off is refused.
        #[arg(long, value_name = "REASON")]
        finish_reason: Option<String>,
        /// Who; kept on record.
        #[arg(long, default_value = "", hide_default_value = true)]
        author: String,
    },
    /// Gives the lease back.
    Abandon {
        /// The session.
        session: String,
        /// The plan that `prepare` named.
        plan: String,
    },
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    if args.action.is_some() && args.now != Now::default() {
        return Err(Usage::new("expected what belongs to a step after its name").into());
    }
    match args.action {
        None => now(args.now, &mut remote, out).await,
        Some(Action::Prepare {
            session,
            rows,
            view,
            max_material_tokens,
            lease,
            author,
            request_id,
        }) => {
            let request = v1::PrepareCollapseRequest {
                session_id: session,
                view,
                rows,
                kind: v1::overlay::Kind::Collapse.into(),
                max_material_tokens: max_material_tokens.unwrap_or_default(),
                lease: lease.map(|seconds| prost_types::Duration { seconds, nanos: 0 }),
                author,
                request_id: request_id.unwrap_or_default(),
            };
            prepare(request, &mut remote, out).await
        }
        Some(Action::Commit { session, plan, summary, finish_reason, author }) => {
            let request = v1::CommitCollapseRequest {
                session_id: session,
                plan_id: plan,
                summary: args::text(args::argument_or_stdin(summary.as_deref())?)?,
                finish_reason: finish_reason.unwrap_or_default(),
                author,
            };
            let answer = remote.commit_collapse(request).await.map_err(lease_holds)?;
            committed(&answer.overlay.unwrap_or_default(), answer.revision, out)
        }
        Some(Action::Abandon { session, plan }) => abandon(session, plan, &mut remote, out).await,
    }
}

/// A plan outlives a summary that was refused.
fn lease_holds(refusal: Refusal) -> Refusal {
    const HINT: &str = "a shorter or better summary, or a wider range; a lease of yours holds on";
    ["SUMMARY_TOO_LONG", "SUMMARY_NOT_SMALLER", "SUMMARY_REJECTED"]
        .into_iter()
        .fold(refusal, |refusal, reason| refusal.hinted(reason, HINT))
}

async fn now(args: Now, remote: &mut Remote, out: &mut Out) -> anyhow::Result<()> {
    let Some(session_id) = args.session else {
        return Err(Usage::new("expected a session: `concertina collapse SESSION [ROWS]`").into());
    };
    let instructions = args.instructions.as_deref().map(args::text_or_file).transpose()?;
    let request = v1::CreateCollapseRequest {
        session_id,
        view: args.view.unwrap_or_default(),
        rows: args.rows,
        instructions: args::text(instructions.unwrap_or_default())?,
        author: args.author.unwrap_or_default(),
        request_id: args.request_id.unwrap_or_default(),
    };
    let answer = remote.create_collapse(request).await?;
    committed(&answer.overlay.unwrap_or_default(), answer.revision, out)
}

#[derive(Serialize)]
struct CommittedJson<'a> {
    revision: i64,
    overlay: OverlayJson<'a>,
}

/// Tells what came into force.
fn committed(overlay: &v1::Overlay, revision: i64, out: &mut Out) -> anyhow::Result<()> {
    if out.is_json() {
        out.json(&CommittedJson { revision, overlay: OverlayJson::new(overlay) })?;
        return Ok(());
    }
    out.line(format!("{} (revision {revision})", sentence(overlay)))?;
    if !overlay.kept.is_empty() {
        out.line(format!("kept in full after it: {}", names::rows(&overlay.kept)))?;
    }
    for line in overlay.summary.lines() {
        out.line(format!("  {}", super::out::harmless(line)))?;
    }
    out.say(&format!("undo it: `concertina rollback {} {}`", overlay.session_id, overlay.id));
    Ok(())
}

/// `collapsed rows 1–14 (14 messages), 9,120 → 4,310 tokens: ID`.
fn sentence(overlay: &v1::Overlay) -> String {
    format!(
        "collapsed {} ({}), {} → {} tokens: {}",
        context_view::what(overlay),
        text::count(overlay.covered_messages, "message"),
        thousands(overlay.tokens_before),
        thousands(overlay.tokens_after),
        overlay.id
    )
}

#[derive(Serialize)]
struct PreparedJson<'a> {
    plan_id: &'a str,
    covered: Vec<RangeJson>,
    kept: Vec<RangeJson>,
    material: &'a str,
    instructions: &'a str,
    tokens_before: i64,
    max_summary_tokens: i64,
    expire_time: String,
}

async fn prepare(
    request: v1::PrepareCollapseRequest,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let session = request.session_id.clone();
    let plan = remote.prepare_collapse(request).await?;
    if out.is_json() {
        out.json(&PreparedJson {
            plan_id: &plan.plan_id,
            covered: plan.covered.iter().map(RangeJson::new).collect(),
            kept: plan.kept.iter().map(RangeJson::new).collect(),
            material: &plan.material,
            instructions: &plan.instructions,
            tokens_before: plan.tokens_before,
            max_summary_tokens: plan.max_summary_tokens,
            expire_time: names::time(plan.expire_time.as_ref()),
        })?;
        return Ok(());
    }
    let paint = out.paint();
    out.line(paint.bold(&format!("plan {}", plan.plan_id)))?;
    let until = names::time(plan.expire_time.as_ref());
    out.line(format!("{}, leased until {until}", names::rows(&plan.covered)))?;
    if !plan.kept.is_empty() {
        out.line(format!("kept in full: {}", names::rows(&plan.kept)))?;
    }
    let most = text::count(plan.max_summary_tokens, "token");
    out.line(format!(
        "summary of at most {most}; the view holds {}",
        thousands(plan.tokens_before)
    ))?;
    for (title, body) in [("Instructions", &plan.instructions), ("Material", &plan.material)] {
        out.line("")?;
        out.line(paint.bold(title))?;
        out.line(super::out::harmless(body.trim_end()))?;
    }
    out.say(&format!("next: `concertina collapse commit {session} {} @FILE`", plan.plan_id));
    Ok(())
}

async fn abandon(
    session_id: String,
    plan_id: String,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::AbandonCollapseRequest { session_id, plan_id: plan_id.clone() };
    remote.abandon_collapse(request).await?;
    if out.is_json() {
        out.json(&serde_json::json!({ "abandoned": plan_id }))?;
    } else {
        out.line(format!("gave back plan {plan_id}"))?;
    }
    Ok(())
}
