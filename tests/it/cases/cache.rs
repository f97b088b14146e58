//! M. What was sent once is sent again byte for byte.

use concertina::proto::v1::{self as pb, WireFormat};

use super::support::{FORMATS, Talk, assistant, call, count, joined, prose, result, results};

#[tokio::test]
async fn m1_arguments_keep_their_bytes_over_requests_restarts_and_appends() {
    let input = r#"{"b":1,"a":{"z":0,"y":[1,2]}, "n":1.50,"n":1e2}"#;
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![call("c1", "bash", input)]), results(vec![result("c1", "ok")])])
        .await;
    for format in [WireFormat::OpenaiChat, WireFormat::OpenaiResponses] {
        let first = talk.context(format).await.messages_json;
        for _ in 0..20 {
            assert_eq!(talk.context(format).await.messages_json, first);
        }
    }
    let chat = talk.context(WireFormat::OpenaiChat).await.messages_json;
    let blocks = talk.shown(WireFormat::AnthropicMessages).await;
    assert!(blocks.contains(input));
    let mut talk = talk.restart().await;
    talk.newest = 3;
    assert_eq!(talk.context(WireFormat::OpenaiChat).await.messages_json, chat);
    for _ in 0..10 {
        talk.exchange("more", "of it").await;
        let longer = talk.context(WireFormat::OpenaiChat).await.messages_json;
        assert_eq!(longer[..chat.len()], chat);
        assert!(talk.shown(WireFormat::AnthropicMessages).await.contains(input));
    }
}

#[tokio::test]
async fn m3_the_answer_says_from_where_on_the_text_is_new() {
    let mut talk = Talk::start("default", 30_000).await;
    talk.user("go").await;
    let (mut before, mut changes): (Vec<bytes::Bytes>, usize) = (Vec::new(), 0);
    for _ in 0..30 {
        talk.tool("bash", "{}", &prose(9000)).await;
        let context = talk.context(WireFormat::OpenaiChat).await;
        let now = context.messages_json;
        let same = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
        let told = usize::try_from(context.stable_prefix_messages).unwrap();
        assert_eq!(told, same, "what is told is what is");
        changes += usize::from(same < before.len());
        before = now;
    }
    assert!((1..=8).contains(&changes), "{changes} changes of older text in 30 appends");
}

#[tokio::test]
async fn m5_a_cleared_result_says_where_its_text_is_and_the_same_in_every_process() {
    let mut talk = Talk::start("default", 20_000).await;
    talk.user("go").await;
    let first = talk.tool("bash", "{}", &format!("port 48213 {}", prose(12_000))).await;
    for nth in 0..4 {
        talk.user(&format!("next {nth}")).await;
        talk.tool("bash", "{}", &prose(12_000)).await;
    }
    let format = WireFormat::OpenaiChat;
    let before = talk.context(format).await;
    let marker = format!("[tool result cleared: 12011 bytes, message {first} block 0]");
    assert_eq!(count(&joined(&before), &marker), 1, "{}", joined(&before));
    let mut talk = talk.restart().await;
    let after = talk.context(format).await;
    assert_eq!(after.messages_json, before.messages_json);
    let place = pb::ContentRef { seq: first, block: 0, output: Some(0) };
    assert!(talk.content(place).await.starts_with(b"port 48213 "));
    talk.snip(1, first).await.unwrap();
    let text = talk.content(place).await;
    assert_eq!(text.len(), 12_011, "also when it is covered");
}

#[tokio::test]
async fn o1_what_a_budget_cut_is_read_in_full_by_its_pointer() {
    let mut talk = Talk::start("default", 16_000).await;
    talk.user("go").await;
    let ids: Vec<String> = (0..10).map(|nth| format!("c{nth}")).collect();
    talk.say(vec![assistant(ids.iter().map(|id| call(id, "bash", "{}")).collect())]).await;
    let output = prose(9000);
    let row = talk
        .say(vec![results(ids.iter().map(|id| result(id, output.clone())).collect())])
        .await
        .last_seq;
    let context = talk.context(WireFormat::OpenaiChat).await;
    let shown = joined(&context);
    let cut = count(&shown, "<persisted-output>");
    assert!((1..=10).contains(&cut), "{cut}");
    for block in 0..10 {
        let pointer = format!("message {row} block {block}<");
        let place = pb::ContentRef { seq: row, block, output: Some(0) };
        if shown.contains(&pointer) {
            assert_eq!(talk.content(place).await, output.as_bytes());
        }
    }
    let results: usize = super::support::values(&context)
        .iter()
        .filter(|it| it["role"] == "tool")
        .map(|it| it["content"].as_str().unwrap().chars().count())
        .sum();
    // Half of window − reserve, at four characters a token.
    assert!(results <= (16_000 - 4_000) * 4 / 2, "{results}");
}

#[tokio::test]
async fn i7_each_context_starts_with_the_one_before() {
    for format in FORMATS {
        let mut talk = Talk::start("off", 1_000_000).await;
        let mut before = String::new();
        for nth in 0..15 {
            talk.user(&format!("question {nth}")).await;
            talk.tool("read_file", r#"{"path":"a"}"#, &prose(300)).await;
            talk.say(vec![assistant(vec![super::support::text("so it is")])]).await;
            // The mark on the last message moves with it.
            let mark = r#","cache_control":{"type":"ephemeral"}"#;
            let now = joined(&talk.context(format).await).replace(mark, "");
            assert!(now.starts_with(&before), "{format:?}");
            before = now;
        }
    }
}
