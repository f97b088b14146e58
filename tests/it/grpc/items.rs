//! Context items.

use concertina::proto::v1::{self as pb, WireFormat, context_item::Placement};
use tonic::Code;

use super::support::{Sessions, is_told, is_wrong, with_session};

fn item(name: &str, placement: Placement, content: &str) -> pb::ContextItem {
    pb::ContextItem {
        name: name.into(),
        placement: placement.into(),
        content: content.to_owned().into(),
        ..Default::default()
    }
}

async fn set(client: &mut Sessions, item: pb::ContextItem) -> Result<i64, tonic::Status> {
    let request = pb::SetContextItemRequest {
        session_id: "s".into(),
        item: Some(item),
        ..Default::default()
    };
    Ok(client.set_context_item(request).await?.into_inner().revision)
}

async fn names(client: &mut Sessions, at_revision: Option<i64>) -> Vec<(String, String)> {
    let request = pb::ListContextItemsRequest { session_id: "s".into(), at_revision };
    let items = client.list_context_items(request).await.unwrap().into_inner().items;
    let text = |it: &pb::ContextItem| String::from_utf8(it.content.to_vec()).unwrap();
    items.iter().map(|it| (it.name.clone(), text(it))).collect()
}

#[tokio::test]
async fn items_are_set_replaced_and_removed() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    assert_eq!(set(client, item("b", Placement::System, "one")).await.unwrap(), 2);
    assert_eq!(set(client, item("a", Placement::Reminder, "two")).await.unwrap(), 3);
    assert_eq!(set(client, item("b", Placement::System, "three")).await.unwrap(), 4);
    let again = set(client, item("b", Placement::System, "three")).await.unwrap();
    assert_eq!(again, 4, "what is there already makes no revision");
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(names(client, None).await, [pair("a", "two"), pair("b", "three")]);
    assert_eq!(names(client, Some(2)).await, [pair("b", "one")]);
    set(client, item("a", Placement::Unspecified, "")).await.unwrap();
    assert_eq!(names(client, None).await, [pair("b", "three")]);
    let request = pb::ListContextItemsRequest { session_id: "s".into(), at_revision: Some(99) };
    let metadata = [("revision", "99"), ("newest_revision", "5")];
    let answer = client.list_context_items(request).await;
    is_told(answer, Code::NotFound, "REVISION_NOT_FOUND", &metadata);
}

#[tokio::test]
async fn tools_are_a_json_array_in_a_format() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let tools = |content: &str, format: WireFormat| pb::ContextItem {
        format: format.into(),
        ..item("t", Placement::Tools, content)
    };
    let chat = WireFormat::OpenaiChat;
    let named = r#"[{"type":"function","function":{"name":"f"}}]"#;
    assert!(set(client, tools(named, chat)).await.is_ok());
    for content in ["{}", "not json", "[1]", "[{}] x", r#"[{"type":"function"}]"#] {
        is_wrong(set(client, tools(content, chat)).await, &["item.content"]);
    }
    is_wrong(set(client, tools("[]", WireFormat::Unspecified)).await, &["item.format"]);
    is_wrong(set(client, tools("[]", WireFormat::Typed)).await, &["item.format"]);
}

#[tokio::test]
async fn items_are_bounded() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    is_wrong(set(client, item("", Placement::System, "x")).await, &["item.name"]);
    is_wrong(set(client, item("a", Placement::Unspecified, "x")).await, &["item.placement"]);
    let large = item("a", Placement::System, &"x".repeat(1024 * 1024 + 1));
    is_wrong(set(client, large).await, &["item.content"]);
    let binary =
        pb::ContextItem { content: b"\xff".as_slice().into(), ..item("a", Placement::System, "") };
    is_wrong(set(client, binary).await, &["item.content"]);
    for number in 0..256 {
        set(client, item(&format!("i{number}"), Placement::System, "x")).await.unwrap();
    }
    is_wrong(set(client, item("one-more", Placement::System, "x")).await, &["item"]);
    assert!(set(client, item("i0", Placement::System, "y")).await.is_ok(), "it replaces one");
}
