//! `concertina views`: ways of looking at one history.

use clap::Subcommand;
use serde::Serialize;

use super::{
    Out, Remote,
    args::{ModelArgs, PolicyArgs},
    json::ViewJson,
    text,
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists the views; as JSON, every key of their policies too.
    List {
        /// The session.
        session: String,
    },
    /// Adds a view, or changes one: what is not said stays as it is.
    Set {
        /// The session.
        session: String,
        /// The view's name.
        name: String,
        #[command(flatten)]
        model: ModelArgs,
        #[command(flatten)]
        policy: PolicyArgs,
        /// Who; kept on record.
        #[arg(long, default_value = "", hide_default_value = true)]
        author: String,
    },
    /// Deletes a view, any but `main`; the rows stay.
    Delete {
        /// The session.
        session: String,
        /// The view's name.
        name: String,
    },
}

#[derive(Serialize)]
struct SetJson<'a> {
    revision: i64,
    view: ViewJson<'a>,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    match args.action {
        Action::List { session } => list(session, &mut remote, out).await,
        Action::Set { session, name, model, policy, author } => {
            let known = views(&session, &mut remote).await?.into_iter().find(|it| it.name == name);
            let known = known.unwrap_or_else(|| v1::View { name, ..v1::View::default() });
            let view = Some(changed(known, &model, &policy)?);
            set(v1::SetViewRequest { session_id: session, view, author }, &mut remote, out).await
        }
        Action::Delete { session, name } => delete(session, name, &mut remote, out).await,
    }
}

async fn views(session: &str, remote: &mut Remote) -> anyhow::Result<Vec<v1::View>> {
    let request = v1::GetSessionRequest { session_id: session.to_owned(), view: String::new() };
    Ok(remote.get_session(request).await?.session.unwrap_or_default().views)
}

/// The view with what was said of it. A model that is named replaces the one
/// there was: its window is not another model's.
fn changed(known: v1::View, model: &ModelArgs, policy: &PolicyArgs) -> anyhow::Result<v1::View> {
    let before = known.policy.map(|it| v1::Policy { resolved_json: Vec::new().into(), ..it });
    let policy = match policy.message()? {
        None => before,
        // A patch alone is one over the view's own preset.
        Some(said) if said.preset.is_empty() => {
            let preset = before.unwrap_or_default().preset;
            Some(v1::Policy { preset, ..said })
        }
        said => said,
    };
    let model = match (model.message(), known.model) {
        (Some(said), Some(known)) if said.name.is_empty() || said.name == known.name => {
            let window = said.context_window;
            Some(v1::Model {
                context_window: if window == 0 { known.context_window } else { window },
                output_reserve: said.output_reserve.or(known.output_reserve),
                ..known
            })
        }
        (Some(said), _) => Some(said),
        (None, known) => known,
    };
    Ok(v1::View { name: known.name, policy, model })
}

async fn list(session: String, remote: &mut Remote, out: &mut Out) -> anyhow::Result<()> {
    let views = views(&session, remote).await?;
    if out.is_json() {
        for view in &views {
            out.json(&ViewJson::whole(view))?;
        }
        return Ok(());
    }
    let header = ["view", "preset", "model", "#window", "#reserve", "*overrides"];
    out.line(text::table(header, views.iter().map(row).collect()))?;
    Ok(())
}

fn row(view: &v1::View) -> [String; 6] {
    let policy = view.policy.clone().unwrap_or_default();
    let model = view.model.clone().unwrap_or_default();
    let tokens = |tokens: i64| if tokens == 0 { String::new() } else { text::thousands(tokens) };
    [
        view.name.clone(),
        if policy.preset.is_empty() { "(default)".to_owned() } else { policy.preset },
        model.name,
        tokens(model.context_window),
        tokens(model.output_reserve.unwrap_or_default()),
        text::excerpt(&String::from_utf8_lossy(&policy.overrides_json), 60),
    ]
}

async fn set(
    request: v1::SetViewRequest,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let answer = remote.set_view(request).await?;
    let view = answer.view.unwrap_or_default();
    if out.is_json() {
        out.json(&SetJson { revision: answer.revision, view: ViewJson::whole(&view) })?;
    } else {
        out.line(format!("{} (revision {})", sentence(&view), answer.revision))?;
    }
    Ok(())
}

/// `view small: preset default with overrides, demo-model, window 16,000`.
pub(super) fn sentence(view: &v1::View) -> String {
    let [name, preset, model, window, _, overrides] = row(view);
    let mut words = vec![format!("preset {preset}")];
    if !overrides.is_empty() {
        words.push("overrides".to_owned());
    }
    words.extend((!model.is_empty()).then_some(model));
    words.extend((!window.is_empty()).then(|| format!("window {window}")));
    format!("view {name}: {}", words.join(", "))
}

async fn delete(
    session_id: String,
    view: String,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::DeleteViewRequest { session_id, view: view.clone() };
    let revision = remote.delete_view(request).await?.revision;
    if out.is_json() {
        out.json(&serde_json::json!({ "revision": revision, "deleted": view }))?;
    } else {
        out.line(format!("deleted view {view} (revision {revision})"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> v1::View {
        v1::View {
            name: "small".into(),
            policy: Some(v1::Policy {
                preset: "cascade".into(),
                overrides_json: bytes::Bytes::from_static(b"{}"),
                resolved_json: bytes::Bytes::from_static(b"{\"a\":1}"),
            }),
            model: Some(v1::Model {
                name: "m".into(),
                context_window: 9_000,
                caller_fixed_tokens: 5,
                ..v1::Model::default()
            }),
        }
    }

    fn model(name: Option<&str>, window: Option<i64>) -> ModelArgs {
        ModelArgs { model: name.map(str::to_owned), window, reserve: None }
    }

    #[test]
    fn what_is_not_said_stays() {
        let view = changed(known(), &model(None, Some(7_000)), &PolicyArgs::default());
        let view = view.expect("a view");
        let (model, policy) = (view.model.expect("a model"), view.policy.expect("a policy"));
        assert_eq!((model.name.as_str(), model.context_window), ("m", 7_000));
        assert_eq!(model.caller_fixed_tokens, 5);
        assert_eq!((policy.preset.as_str(), &policy.overrides_json[..]), ("cascade", &b"{}"[..]));
        assert!(policy.resolved_json.is_empty(), "that is the server's to say");
    }

    #[test]
    fn another_model_does_not_inherit_a_window() {
        let view = changed(known(), &model(Some("other"), None), &PolicyArgs::default());
        let model = view.expect("a view").model.expect("a model");
        assert_eq!((model.name.as_str(), model.context_window), ("other", 0));
    }

    #[test]
    fn a_patch_alone_is_over_the_views_own_preset_and_a_preset_alone_is_without_a_patch() {
        let said = PolicyArgs { policy: Some(r#"{"a":2}"#.into()), ..PolicyArgs::default() };
        let policy = changed(known(), &ModelArgs::default(), &said).expect("a view").policy;
        let policy = policy.expect("a policy");
        assert_eq!(
            (policy.preset.as_str(), &policy.overrides_json[..]),
            ("cascade", &br#"{"a":2}"#[..])
        );
        let said = PolicyArgs { preset: Some("off".into()), ..PolicyArgs::default() };
        let policy = changed(known(), &ModelArgs::default(), &said).expect("a view").policy;
        let policy = policy.expect("a policy");
        assert_eq!((policy.preset.as_str(), policy.overrides_json.len()), ("off", 0));
    }
}
