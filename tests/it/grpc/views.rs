//! Views over the wire: side by side, set, deleted.

use concertina::proto::v1::{self as pb, Role, WireFormat};
use tonic::{Code, Status};

use super::support::{
    Sessions, TestServer, append, appending, is_told, is_wrong, message, read, seqs, text, told,
    user, with_session,
};

fn view(name: &str, preset: &str, window: i64) -> pb::View {
    pb::View {
        name: name.into(),
        policy: Some(pb::Policy { preset: preset.into(), ..Default::default() }),
        model: Some(pb::Model { context_window: window, ..Default::default() }),
    }
}

fn setting(view: pb::View) -> pb::SetViewRequest {
    pb::SetViewRequest { session_id: "s".into(), view: Some(view), author: "ann".into() }
}

async fn set(client: &mut Sessions, view: pb::View) -> pb::SetViewResponse {
    client.set_view(setting(view)).await.unwrap().into_inner()
}

async fn delete(client: &mut Sessions, view: &str) -> Result<i64, Status> {
    let request = pb::DeleteViewRequest { session_id: "s".into(), view: view.into() };
    Ok(client.delete_view(request).await?.into_inner().revision)
}

async fn session(client: &mut Sessions) -> pb::Session {
    let request = pb::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    client.get_session(request).await.unwrap().into_inner().session.unwrap()
}

async fn context(client: &mut Sessions, view: &str) -> Result<pb::Context, Status> {
    let request = pb::GetContextRequest {
        session_id: "s".into(),
        view: view.into(),
        format: WireFormat::OpenaiChat.into(),
        ..Default::default()
    };
    Ok(client.get_context(request).await?.into_inner().context.unwrap())
}

/// Turns of about 2,000 tokens each.
async fn talk(client: &mut Sessions, turns: usize) {
    let words = "one two three four five six seven eight nine ten ".repeat(100);
    for _ in 0..turns {
        let answer = message(Role::Assistant, vec![text(&words)]);
        append(client, vec![user(&words), answer]).await;
    }
}

#[tokio::test]
async fn a_small_and_a_large_model_read_one_history_side_by_side() {
    let (server, mut client) = with_session().await;
    let client = &mut client;
    set(client, view("main", "cascade", 32_000)).await;
    set(client, view("wide", "off", 1_000_000)).await;
    talk(client, 20).await;
    let wide = context(client, "wide").await.unwrap();
    let narrow = context(client, "").await.unwrap();
    assert_eq!((wide.messages_json.len(), wide.overlays.len()), (40, 0));
    assert!(narrow.messages_json.len() < 30 && !narrow.overlays.is_empty());
    assert!(wide.messages_json.ends_with(&narrow.messages_json), "of the same rows");
    assert!(!wide.preview && !narrow.preview);
    let window = |of: &pb::Context| of.budget.as_ref().unwrap().window;
    assert_eq!((window(&wide), window(&narrow)), (1_000_000, 32_000));

    let mut overlays = server.collapses().await;
    let mut listed = async |view: &str| {
        let request = pb::ListOverlaysRequest {
            session_id: "s".into(),
            view: view.into(),
            ..Default::default()
        };
        Ok::<_, Status>(overlays.list_overlays(request).await?.into_inner().overlays)
    };
    assert_eq!(listed("wide").await.unwrap(), []);
    let of_main = listed("main").await.unwrap();
    assert_eq!((of_main.len(), &*of_main[0].view), (1, "main"));
    is_told(listed("none").await, Code::NotFound, "VIEW_NOT_FOUND", &[("view", "none")]);

    let server = server.restart().await;
    let client = &mut server.client().await;
    assert_eq!(context(client, "wide").await.unwrap().messages_json, wide.messages_json);
    assert_eq!(context(client, "main").await.unwrap().messages_json, narrow.messages_json);
}

#[tokio::test]
async fn an_append_tells_the_budget_of_the_view_that_it_names() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    set(client, view("main", "cascade", 32_000)).await;
    set(client, view("wide", "off", 1_000_000)).await;
    talk(client, 20).await;
    for view in ["main", "wide"] {
        context(client, view).await.unwrap();
    }
    let mut budget = async |view: &str| {
        let request = pb::AppendTurnRequest { view: view.into(), ..appending(vec![user("more")]) };
        client.append_turn(request).await.unwrap().into_inner().budget
    };
    let wide = budget("wide").await.unwrap();
    let narrow = budget("").await.unwrap();
    assert_eq!((wide.window, narrow.window), (1_000_000, 32_000));
    assert!(wide.messages > narrow.messages + 10_000, "{wide:?} {narrow:?}");
    assert_eq!(budget("none").await, None);
}

#[tokio::test]
async fn a_view_that_is_set_or_deleted_has_no_budget_in_memory() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    set(client, view("side", "off", 10_000)).await;
    append(client, vec![user("go")]).await;
    context(client, "side").await.unwrap();
    let more = || pb::AppendTurnRequest { view: "side".into(), ..appending(vec![user("more")]) };
    let before = client.append_turn(more()).await.unwrap().into_inner().budget;
    assert_eq!(before.unwrap().window, 10_000);
    set(client, view("side", "off", 20_000)).await;
    assert_eq!(client.append_turn(more()).await.unwrap().into_inner().budget, None);
    context(client, "side").await.unwrap();
    let after = client.append_turn(more()).await.unwrap().into_inner().budget;
    assert_eq!(after.unwrap().window, 20_000);
    delete(client, "side").await.unwrap();
    assert_eq!(client.append_turn(more()).await.unwrap().into_inner().budget, None);
}

#[tokio::test]
async fn setting_what_is_there_already_makes_no_revision() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let first = set(client, view("side", "cascade", 32_000)).await;
    assert_eq!(first.revision, 2);
    let made = first.view.unwrap();
    assert_eq!((&*made.name, made.model.as_ref().unwrap().context_window), ("side", 32_000));
    let resolved = &made.policy.as_ref().unwrap().resolved_json;
    assert!(!resolved.is_empty(), "a policy is told as it was resolved");
    // What came back may be sent again: what only the server says is passed over.
    assert_eq!(set(client, made.clone()).await.revision, 2);
    let overrides_json = r#"{"fit":{"until_ratio":0.7}}"#.to_owned().into();
    let policy = pb::Policy { preset: "cascade".into(), overrides_json, ..Default::default() };
    let patched = pb::View { policy: Some(policy), ..made };
    assert_eq!(set(client, patched.clone()).await.revision, 3);
    let known = session(client).await.views;
    assert_eq!(known.len(), 2);
    let side = known.iter().find(|it| it.name == "side").unwrap();
    let told = side.policy.as_ref().unwrap();
    assert_eq!(told.overrides_json, patched.policy.unwrap().overrides_json);
    assert_ne!(told.resolved_json, resolved);
}

#[tokio::test]
async fn a_view_without_a_model_takes_the_first_that_a_context_names() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let bare = pb::View { name: "side".into(), ..Default::default() };
    assert_eq!(set(client, bare).await.view.unwrap().model, None);
    append(client, vec![user("go")]).await;
    let model = pb::Model { context_window: 5000, ..Default::default() };
    let request = pb::GetContextRequest {
        session_id: "s".into(),
        view: "side".into(),
        format: WireFormat::OpenaiChat.into(),
        model: Some(model),
        ..Default::default()
    };
    client.get_context(request).await.unwrap();
    let views = session(client).await.views;
    let window = |name: &str| {
        let view = views.iter().find(|it| it.name == name).unwrap();
        view.model.as_ref().map(|it| it.context_window)
    };
    assert_eq!((window("side"), window("main")), (Some(5000), None));
}

#[tokio::test]
async fn a_deleted_view_is_gone_and_its_overlays_stay_on_record() {
    let (server, mut client) = with_session().await;
    let client = &mut client;
    set(client, view("side", "cascade", 4000)).await;
    talk(client, 3).await;
    let overlay = context(client, "side").await.unwrap().overlays.remove(0);
    let newest = session(client).await.revision;
    assert_eq!(delete(client, "side").await.unwrap(), newest + 1);
    let gone = [("view", "side")];
    is_told(context(client, "side").await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    is_told(delete(client, "side").await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    let request = pb::GetSessionRequest { session_id: "s".into(), view: "side".into() };
    is_told(client.get_session(request).await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    let mut overlays = server.collapses().await;
    let request = pb::GetOverlayRequest { session_id: "s".into(), overlay_id: overlay.id.clone() };
    let kept = overlays.get_overlay(request).await.unwrap().into_inner().overlay.unwrap();
    assert_eq!(kept.covered, overlay.covered);
    let back = |pin| pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: overlay.id.clone(),
        pin,
        ..Default::default()
    };
    for pin in [false, true] {
        let refused = overlays.rollback_overlay(back(pin)).await;
        is_told(refused, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    }
    let request = pb::ReadHistoryRequest {
        session_id: "s".into(),
        overlay_id: overlay.id.clone(),
        ..Default::default()
    };
    let rows = read(client, request).await.unwrap();
    assert_eq!(seqs(&rows)[0], overlay.covered[0].first_seq);

    set(client, view("side", "off", 1_000_000)).await;
    let anew = context(client, "side").await.unwrap();
    assert_eq!((anew.messages_json.len(), anew.overlays.len()), (6, 0));
}

#[tokio::test]
async fn a_view_that_cannot_be_is_refused_and_nothing_changes() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let before = session(client).await;
    let good = || view("side", "cascade", 32_000);
    let none = pb::SetViewRequest { view: None, ..setting(good()) };
    is_wrong(client.set_view(none).await, &["view"]);
    let long = "x".repeat(65);
    for name in ["", "a/b", "ä", "a b", &long] {
        let named = pb::View { name: name.into(), ..good() };
        is_wrong(client.set_view(setting(named)).await, &["view.name"]);
    }
    let author = pb::SetViewRequest { author: "x".repeat(257), ..setting(good()) };
    is_wrong(client.set_view(author).await, &["author"]);
    let id = pb::SetViewRequest { session_id: "a/b".into(), ..setting(good()) };
    is_wrong(client.set_view(id).await, &["session_id"]);
    let modelled = |model| setting(pb::View { model: Some(model), ..good() });
    let negative = pb::Model { context_window: -1, ..Default::default() };
    let answer = client.set_view(modelled(negative)).await;
    is_wrong(answer, &["view.model.context_window"]);
    let full = pb::Model { context_window: 100, output_reserve: Some(100), ..Default::default() };
    is_wrong(client.set_view(modelled(full)).await, &["view.model.output_reserve"]);
    let windowless = pb::Model { caller_fixed_tokens: 5, ..Default::default() };
    is_wrong(client.set_view(modelled(windowless)).await, &["view.model"]);
    let unknown = pb::Model { name: "nobody-9".into(), ..Default::default() };
    let answer = client.set_view(modelled(unknown)).await;
    is_told(answer, Code::InvalidArgument, "UNKNOWN_MODEL", &[("model", "nobody-9")]);
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(64 * 1024));
    for (preset, overrides, key) in [
        ("nobody", "", "preset"),
        ("", "not json", "overrides_json"),
        ("", &*large, "overrides_json"),
        ("", r#"{"fit":{"colour":1}}"#, "fit.colour"),
    ] {
        let policy = pb::Policy {
            preset: preset.into(),
            overrides_json: overrides.to_owned().into(),
            ..Default::default()
        };
        let request = setting(pb::View { policy: Some(policy), ..good() });
        let told = told(client.set_view(request).await);
        assert_eq!((told.code, &*told.reason), (Code::InvalidArgument, "INVALID_POLICY"));
        assert_eq!(told.metadata["key"], key);
    }
    for name in ["main", "", "a/b"] {
        is_wrong(delete(client, name).await, &["view"]);
    }
    let gone = [("view", "none")];
    is_told(delete(client, "none").await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    assert_eq!(session(client).await, before);
}

#[tokio::test]
async fn views_of_an_unknown_session_are_not_found() {
    let server = TestServer::start().await;
    let client = &mut server.client().await;
    let gone = [("session_id", "s")];
    let answer = client.set_view(setting(view("side", "", 1000))).await;
    is_told(answer, Code::NotFound, "SESSION_NOT_FOUND", &gone);
    is_told(delete(client, "side").await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
}

#[tokio::test]
async fn a_session_has_at_most_64_views() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    for nth in 1..64 {
        set(client, view(&format!("v{nth}"), "off", 1000)).await;
    }
    is_wrong(client.set_view(setting(view("v64", "off", 1000))).await, &["view"]);
    set(client, view("v63", "off", 2000)).await;
    delete(client, "v1").await.unwrap();
    set(client, view("v64", "off", 1000)).await;
    assert_eq!(session(client).await.views.len(), 64);
}
