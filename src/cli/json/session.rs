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
    views: Vec<ViewJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) budget: Option<BudgetJson<'a>>,
}

#[derive(Serialize)]
struct ViewJson<'a> {
    name: &'a str,
    preset: &'a str,
    overrides: Option<Json<'a>>,
    model: &'a str,
    context_window: i64,
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
            views: session.views.iter().map(ViewJson::new).collect(),
            budget: None,
        }
    }
}

impl<'a> ViewJson<'a> {
    fn new(view: &'a v1::View) -> Self {
        let policy = view.policy.as_ref();
        let model = view.model.as_ref();
        Self {
            name: &view.name,
            preset: policy.map_or("", |policy| &policy.preset),
            overrides: policy.and_then(|policy| Json::of(&policy.overrides_json)),
            model: model.map_or("", |model| &model.name),
            context_window: model.map_or(0, |model| model.context_window),
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
