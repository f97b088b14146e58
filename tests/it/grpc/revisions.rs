//! What changed at each revision, over the wire.

use concertina::proto::v1::{self as pb, WireFormat, context_item::Placement, revision::Change};
use tonic::{Code, Status};

use super::support::{Sessions, append, is_told, is_wrong, told, user, with_session};

fn listing(page_size: i32, page_token: &str) -> pb::ListRevisionsRequest {
    pb::ListRevisionsRequest { session_id: "s".into(), page_size, page_token: page_token.into() }
}

async fn list(
    client: &mut Sessions,
    request: pb::ListRevisionsRequest,
) -> Result<pb::ListRevisionsResponse, Status> {
    Ok(client.list_revisions(request).await?.into_inner())
}

/// All of them, page by page.
async fn all(client: &mut Sessions, page_size: i32) -> Vec<pb::Revision> {
    let (mut out, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(client, listing(page_size, &token)).await.unwrap();
        assert!(!page.revisions.is_empty(), "a page after the end");
        out.extend(page.revisions);
        if page.next_page_token.is_empty() {
            return out;
        }
        token = page.next_page_token;
    }
}

#[tokio::test]
async fn every_change_is_told_with_its_author() {
    let (server, mut client) = with_session().await;
    let mut collapses = server.collapses().await;
    let client = &mut client;
    let message = pb::Message { lane: "l".into(), ..user("one") };
    let request = pb::AppendTurnRequest {
        session_id: "s".into(),
        messages: vec![message, user("two"), user("three")],
        author: "ann".into(),
        ..Default::default()
    };
    client.append_turn(request).await.unwrap();
    let item = pb::ContextItem {
        name: "rules".into(),
        placement: Placement::System.into(),
        content: "be brief".into(),
        ..Default::default()
    };
    let request = pb::SetContextItemRequest {
        session_id: "s".into(),
        item: Some(item),
        author: "bob".into(),
    };
    client.set_context_item(request).await.unwrap();
    let view = pb::View { name: "side".into(), ..Default::default() };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), author: "cay".into() };
    client.set_view(request).await.unwrap();
    let rows = Some(pb::SeqRange { first_seq: 1, last_seq: 1 });
    let request = pb::CreateSnipRequest {
        session_id: "s".into(),
        rows,
        author: "dan".into(),
        ..Default::default()
    };
    let snip = collapses.create_snip(request).await.unwrap().into_inner().overlay.unwrap();
    let request = pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: snip.id.clone(),
        reason: "wrong".into(),
        author: "eve".into(),
        pin: true,
        ..Default::default()
    };
    let ended = collapses.rollback_overlay(request).await.unwrap().into_inner();
    let pin = ended.pin.unwrap();
    let request = pb::UnpinMessagesRequest { session_id: "s".into(), pin_id: pin.id.clone() };
    collapses.unpin_messages(request).await.unwrap();
    let request = pb::DeleteViewRequest { session_id: "s".into(), view: "side".into() };
    client.delete_view(request).await.unwrap();
    let session =
        pb::Session { id: "s".into(), display_name: "a talk".into(), ..Default::default() };
    let request = pb::UpdateSessionRequest { session: Some(session), update_mask: None };
    client.update_session(request).await.unwrap();

    let told = all(client, 1).await;
    let numbers: Vec<i64> = told.iter().map(|it| it.revision).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    assert!(told.iter().all(|it| it.time.is_some()));
    let authors: Vec<&str> = told.iter().map(|it| it.author.as_str()).collect();
    assert_eq!(authors, ["", "ann", "bob", "cay", "dan", "eve", "eve", "", "", ""]);
    let changes: Vec<&Change> = told.iter().map(|it| it.change.as_ref().unwrap()).collect();
    assert!(matches!(changes[0], Change::ViewSet(it) if it.name == "main"));
    let Change::Appended(appended) = changes[1] else { panic!("{:?}", changes[1]) };
    assert_eq!((appended.first_seq, appended.last_seq, &*appended.lane), (1, 3, "l"));
    let Change::ContextItemSet(item) = changes[2] else { panic!("{:?}", changes[2]) };
    assert_eq!((&*item.name, item.content.len()), ("rules", 0), "without its content");
    let Change::ViewSet(view) = changes[3] else { panic!("{:?}", changes[3]) };
    assert_eq!(view.name, "side");
    assert!(!view.policy.as_ref().unwrap().resolved_json.is_empty());
    let Change::OverlayCommitted(committed) = changes[4] else { panic!("{:?}", changes[4]) };
    assert_eq!((&committed.id, committed.commit_revision), (&snip.id, 5));
    let Change::OverlayRolledBack(rolled_back) = changes[5] else { panic!("{:?}", changes[5]) };
    assert_eq!((&rolled_back.id, &*rolled_back.rollback_reason), (&snip.id, "wrong"));
    assert_eq!(changes[6], &Change::Pinned(pin.clone()));
    assert_eq!(changes[7], &Change::Unpinned(pin));
    assert_eq!(changes[8], &Change::ViewDeleted("side".into()));
    let Change::SessionUpdated(updated) = changes[9] else { panic!("{:?}", changes[9]) };
    assert_eq!(updated.display_name, "a talk");

    assert_eq!(all(client, 0).await, told, "in one page");
    let server = server.restart().await;
    assert_eq!(all(&mut server.client().await, 4).await, told, "after a restart");
}

#[tokio::test]
async fn a_token_goes_on_with_its_session_only() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    super::support::create(client, "t").await;
    for _ in 0..3 {
        append(client, vec![user("x")]).await;
    }
    let first = list(client, listing(2, "")).await.unwrap();
    let token = first.next_page_token;
    assert_eq!(first.revisions.len(), 2);
    append(client, vec![user("more")]).await;
    // What came since is in what comes next.
    let rest = list(client, listing(0, &token)).await.unwrap();
    assert_eq!(rest.revisions.iter().map(|it| it.revision).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(rest.next_page_token, "");
    let other = pb::ListRevisionsRequest { session_id: "t".into(), ..listing(2, &token) };
    for request in [other, listing(2, "nonsense")] {
        let answer = list(client, request).await;
        is_told(answer, Code::InvalidArgument, "INVALID_PAGE_TOKEN", &[]);
    }
    is_wrong(list(client, listing(-1, "")).await, &["page_size"]);
    let id = pb::ListRevisionsRequest { session_id: "a/b".into(), ..listing(0, "") };
    is_wrong(list(client, id).await, &["session_id"]);
    let nobody = pb::ListRevisionsRequest { session_id: "none".into(), ..listing(0, "") };
    let gone = [("session_id", "none")];
    is_told(list(client, nobody).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
}

#[tokio::test]
async fn r1_pages_of_large_overlays_stay_below_what_clients_take() {
    let (server, mut client) = with_session().await;
    let mut collapses = server.collapses().await;
    let client = &mut client;
    let words = "word ".repeat(30_000);
    let clears = 60;
    for _ in 0..clears {
        append(client, vec![user(&words)]).await;
    }
    // Of 60,000 bytes each.
    let shown_as = "word ".repeat(12_000);
    for seq in 1..=clears {
        let content = pb::ContentRef { seq, block: 0, output: None };
        let request = pb::CreateClearRequest {
            session_id: "s".into(),
            contents: vec![content],
            shown_as: shown_as.clone(),
            ..Default::default()
        };
        collapses.create_clear(request).await.unwrap();
    }
    let first = list(client, listing(1000, "")).await.unwrap();
    assert!(first.revisions.len() < 115, "{}", first.revisions.len());
    assert!(!first.next_page_token.is_empty());
    let all = all(client, 1000).await;
    assert_eq!(all.len(), 121);
    let whole = all.iter().filter_map(|it| match &it.change {
        Some(Change::OverlayCommitted(overlay)) => Some(overlay.cleared[0].shown_as.len()),
        _ => None,
    });
    assert!(whole.eq(std::iter::repeat_n(60_000, 60)), "and come whole");

    let (mut found, mut token, mut pages) = (0, String::new(), 0);
    loop {
        let request = pb::ListOverlaysRequest {
            session_id: "s".into(),
            page_size: 1000,
            page_token: token,
            ..Default::default()
        };
        let page = collapses.list_overlays(request).await.unwrap().into_inner();
        (found, pages, token) = (found + page.overlays.len(), pages + 1, page.next_page_token);
        if token.is_empty() {
            break;
        }
    }
    assert_eq!((found, pages), (60, 2));
}

#[tokio::test]
async fn a_clear_of_too_much_text_in_all_is_refused() {
    let (server, mut client) = with_session().await;
    let words = "word ".repeat(1000);
    append(&mut client, vec![user(&words)]).await;
    let contents = vec![pb::ContentRef { seq: 1, block: 0, output: None }; 4000];
    let request = pb::CreateClearRequest {
        session_id: "s".into(),
        contents,
        shown_as: "x".repeat(300),
        ..Default::default()
    };
    is_wrong(server.collapses().await.create_clear(request).await, &["shown_as"]);
}

#[tokio::test]
async fn what_a_context_commits_is_told_too() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let model = pb::Model { context_window: 2000, ..Default::default() };
    let policy = pb::Policy { preset: "cascade".into(), ..Default::default() };
    let view = pb::View { name: "main".into(), policy: Some(policy), model: Some(model) };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), author: String::new() };
    client.set_view(request).await.unwrap();
    for _ in 0..12 {
        append(client, vec![user(&"word ".repeat(200))]).await;
    }
    let request = pb::GetContextRequest {
        session_id: "s".into(),
        format: WireFormat::OpenaiChat.into(),
        ..Default::default()
    };
    let context = client.get_context(request).await.unwrap().into_inner().context.unwrap();
    let told_all = all(client, 0).await;
    let last = told_all.last().unwrap();
    assert_eq!(last.revision, context.revision);
    let Some(Change::OverlayCommitted(overlay)) = &last.change else { panic!("{last:?}") };
    assert_eq!((&overlay.id, &*overlay.stage), (&context.overlays[0].id, "snip_turns"));
    let beyond = pb::GetContextRequest {
        session_id: "s".into(),
        format: WireFormat::OpenaiChat.into(),
        at_revision: Some(context.revision + 1),
        ..Default::default()
    };
    assert_eq!(told(client.get_context(beyond).await).reason, "REVISION_NOT_FOUND");
}
