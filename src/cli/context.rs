//! `concertina context`: what an agent would send to its model now.

use super::{
    Out, Remote,
    args::{Format, ModelArgs, PolicyArgs},
    context_view,
    json::ContextJson,
    overlay_ref::{self, Place},
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The provider's request shape.
    #[arg(long, value_enum, default_value_t = Format::Anthropic)]
    format: Format,
    /// Which view of the session.
    #[arg(long, default_value = "main")]
    view: String,
    /// The lane whose newest settled round ends the context.
    #[arg(long)]
    lane: Option<String>,
    /// What the view showed at that revision, byte for byte.
    #[arg(long, value_name = "REVISION", visible_alias = "at")]
    #[arg(conflicts_with_all = ["model", "window", "reserve", "preset", "policy"])]
    at_revision: Option<i64>,
    /// Show this overlay opened, named by its id, at least 6 characters of its start, or
    /// its letter in the strip (A, B, …); may be given several times.
    #[arg(long = "expand", value_name = "OVERLAY")]
    expand: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Show every reduced piece, and the overlays whole.
    #[arg(long)]
    explain: bool,
    /// Compute it and commit nothing. Implied by a window, a preset, a policy, --expand
    /// and --explain.
    #[arg(long)]
    preview: bool,
}

pub(super) async fn run(mut args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    for overlay in &mut args.expand {
        let place =
            Place { session: &args.session, view: &args.view, at_revision: args.at_revision };
        *overlay = overlay_ref::id(overlay, &place, &mut remote).await?;
    }
    let context = remote.get_context(request(&args)?).await?;
    if out.is_json() {
        out.json(&ContextJson::new(&context))?;
    } else {
        let paint = out.paint();
        for line in context_view::lines(&context, paint, args.explain) {
            out.line(line)?;
        }
    }
    Ok(())
}

fn request(args: &Args) -> anyhow::Result<v1::GetContextRequest> {
    let policy_overrides_json = args.policy.as_overrides()?;
    // Looking must not change what is looked at.
    let preview = args.preview
        || args.explain
        || args.model.window.is_some()
        || !args.expand.is_empty()
        || !policy_overrides_json.is_empty();
    Ok(v1::GetContextRequest {
        session_id: args.session.clone(),
        view: args.view.clone(),
        format: args.format.wire().into(),
        model: args.model.message(),
        at_revision: args.at_revision,
        preview,
        policy_overrides_json: policy_overrides_json.into(),
        expand_overlay_ids: args.expand.clone(),
        explain: args.explain,
        lane: args.lane.clone().unwrap_or_default(),
        ..v1::GetContextRequest::default()
    })
}
