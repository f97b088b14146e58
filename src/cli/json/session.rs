//! Sessions, their views and their context items.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Serialize;

use super::{BudgetJson, Json};
use crate::{cli::names, proto::v1};

/// `Session`.
#[derive(Serialize)]
pub(in crate::cli) struct SessionJson<'a> {
    id: &'a str,
    display_name: &'a str,
    labels: BTreeMap<&'a str, &'a str>,
    create_time: String,
    update_time: String,
    next_seq: i64,
    revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fork_origin: Option<ForkOriginJson<'a>>,
    views: Vec<ViewJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) budget: Option<BudgetJson<'a>>,
}

#[derive(Serialize)]
struct ForkOriginJson<'a> {
    session_id: &'a str,
    seq: i64,
    revision: i64,
}

impl<'a> ForkOriginJson<'a> {
    fn new(origin: &'a v1::ForkOrigin) -> Self {
        Self { session_id: &origin.session_id, seq: origin.seq, revision: origin.revision }
    }
}

/// `View`.
#[derive(Serialize)]
pub(in crate::cli) struct ViewJson<'a> {
    name: &'a str,
    preset: &'a str,
    overrides: Option<Json<'a>>,
    model: &'a str,
    context_window: i64,
    output_reserve: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Json<'a>>,
}

impl<'a> SessionJson<'a> {
    pub(in crate::cli) fn new(session: &'a v1::Session) -> Self {
        let labels = session.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Self {
            id: &session.id,
            display_name: &session.display_name,
            labels: labels.collect(),
            create_time: names::time(session.create_time.as_ref()),
            update_time: names::time(session.update_time.as_ref()),
            next_seq: session.next_seq,
            revision: session.revision,
            fork_origin: session.fork_origin.as_ref().map(ForkOriginJson::new),
            views: session.views.iter().map(ViewJson::new).collect(),
            budget: None,
        }
    }
}

impl<'a> ViewJson<'a> {
    /// With every key of the policy as it was resolved.
    pub(in crate::cli) fn whole(view: &'a v1::View) -> Self {
        let policy = view.policy.as_ref().and_then(|policy| Json::of(&policy.resolved_json));
        Self { policy, ..Self::new(view) }
    }

    /// Without the policy's keys: a listing of sessions would be mostly that.
    pub(super) fn new(view: &'a v1::View) -> Self {
        let policy = view.policy.as_ref();
        let model = view.model.as_ref();
        Self {
            name: &view.name,
            preset: policy.map_or("", |policy| &policy.preset),
            overrides: policy.and_then(|policy| Json::of(&policy.overrides_json)),
            model: model.map_or("", |model| &model.name),
            context_window: model.map_or(0, |model| model.context_window),
            output_reserve: model.and_then(|model| model.output_reserve),
            policy: None,
        }
    }
}

/// `ContextItem`.
#[derive(Serialize)]
pub(in crate::cli) struct ItemJson<'a> {
    name: &'a str,
    placement: String,
    view: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    /// Left out where the contract does not tell it.
    #[serde(skip_serializing_if = "str::is_empty")]
    content: Cow<'a, str>,
}

impl<'a> ItemJson<'a> {
    pub(in crate::cli) fn new(item: &'a v1::ContextItem) -> Self {
        Self {
            name: &item.name,
            placement: names::placement(item.placement),
            view: &item.view,
            format: (item.format != 0).then(|| names::format(item.format)),
            content: String::from_utf8_lossy(&item.content),
        }
    }
}
