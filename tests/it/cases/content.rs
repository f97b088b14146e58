//! L, N, P. Unusual bytes, huge texts and pictures.

use bytes::Bytes;
use concertina::proto::v1::{self as pb, Role, WireFormat, block::Kind};

use super::support::{
    FORMATS, Talk, assistant, call, count, image, joined, message, prose, result, results, text,
    values,
};

#[tokio::test]
async fn l1_half_a_character_never_reaches_a_provider() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    let input = r#"{"q":"A\ud99c B","k\udc00":["\udfff\ud800"]}"#;
    talk.say(vec![
        assistant(vec![call("c1", "ask", input)]),
        results(vec![result("c1", r#"{"answer":"\udc00"}"#)]),
    ])
    .await;
    for format in FORMATS {
        // No format's rules allow one; a strict parser reads all of it.
        let context = talk.context(format).await;
        assert!(!values(&context).is_empty());
        assert!(joined(&context).contains('\u{fffd}') || joined(&context).contains("fffd"));
    }
    let rows = talk.history().await;
    let Some(Kind::ToolUse(kept)) = &rows[1].message.as_ref().unwrap().blocks[0].kind else {
        panic!("a call")
    };
    assert_eq!(kept.input_json, input.as_bytes());
}

#[tokio::test]
async fn l3_a_cut_at_any_offset_of_a_character_is_text() {
    let mut talk = Talk::start("cascade", 200_000).await;
    talk.user("go").await;
    for odd in ["─", "🦀", "e\u{301}", "👩\u{200d}👩\u{200d}👧"] {
        for lead in 2395..=2403 {
            let output = format!("{}{odd}{}", "a".repeat(lead), "x".repeat(4000));
            talk.tool("bash", "{}", &output).await;
        }
    }
    let context = talk.context(WireFormat::OpenaiChat).await;
    let mut cut = 0;
    for value in values(&context).iter().filter(|it| it["role"] == "tool") {
        let words = value["content"].as_str().unwrap();
        if words.contains("chars removed") {
            cut += 1;
            assert!(words.chars().count() <= 4000 + 40);
            let odd: String = words.split("...[").next().unwrap().replace(['a', 'x'], "");
            assert!(["", "─", "🦀", "e\u{301}", "👩\u{200d}👩\u{200d}👧"].contains(&odd.as_str()));
        }
    }
    assert_eq!(cut, 36);
}

#[tokio::test]
async fn l5_output_that_is_no_text_is_stored_as_it_is_and_shown_as_text() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    let outputs: [&[u8]; 3] = [
        b"\xff\xfe\x00\x0a\x80",
        "\u{2028}\u{2029}\r\n\u{feff}".as_bytes(),
        b"\x00\x01\x02\x1b[0m",
    ];
    for (nth, output) in outputs.iter().enumerate() {
        let id = format!("c{nth}");
        talk.say(vec![
            assistant(vec![call(&id, "bash", "{}")]),
            results(vec![result(&id, Bytes::from_static(output))]),
        ])
        .await;
    }
    for format in FORMATS {
        assert!(!talk.values(format).await.is_empty());
    }
    for (output, row) in outputs.iter().zip(talk.history().await.iter().skip(2).step_by(2)) {
        let Some(Kind::ToolResult(kept)) = &row.message.as_ref().unwrap().blocks[0].kind else {
            panic!("a result")
        };
        let kept = kept.output[0].kind.clone();
        assert_eq!(kept, Some(pb::tool_output::Kind::Text(Bytes::from_static(output))));
    }
}

#[tokio::test]
async fn n1_a_large_picture_costs_a_picture_and_reduces_nothing() {
    let mut tokens = Vec::new();
    for bytes in [100 * 1024, 2_500 * 1024, 5_000 * 1024] {
        let mut talk = Talk::start("default", 200_000).await;
        let kinds = vec![image(1200, 900, bytes), text("what is this?")];
        talk.say(vec![message(Role::User, kinds)]).await;
        let context = talk.context_of(WireFormat::AnthropicMessages, 64 << 20).await;
        assert_eq!(context.overlays, []);
        assert!(joined(&context).contains("iVBOR"));
        tokens.push(context.budget.unwrap().messages);
    }
    assert!((300..4000).contains(&tokens[0]), "{tokens:?}");
    assert!(tokens.iter().all(|it| *it == tokens[0]), "{tokens:?}");
}

#[tokio::test]
async fn n3_texts_of_one_character_are_counted_from_many_clients_at_once() {
    let talk = Talk::start("default", 1_000_000).await;
    let texts = [
        "A".repeat(1_000_000),
        "^".repeat(1_000_000),
        "a".repeat(100_000),
        " ".repeat(1_000_000),
        "x1".repeat(512 * 1024),
    ];
    let asks = texts.into_iter().map(|text| {
        let mut client = talk.client.clone();
        async move {
            let content = Some(pb::count_tokens_request::Content::Text(text));
            let request = pb::CountTokensRequest { content, ..Default::default() };
            client.count_tokens(request).await.unwrap().into_inner().tokens
        }
    });
    for counted in futures_util::future::join_all(asks).await {
        assert!((1000..=1_100_000).contains(&counted), "{counted}");
    }
}

#[tokio::test]
async fn p1_a_picture_that_is_refused_becomes_a_line_and_stays_on_record() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    let Kind::Image(picture) = image(9600, 7734, 500) else { unreachable!() };
    let output = vec![
        pb::ToolOutput { kind: Some(pb::tool_output::Kind::Text("a screenshot".into())) },
        pb::ToolOutput { kind: Some(pb::tool_output::Kind::Image(picture)) },
    ];
    let answer =
        Kind::ToolResult(pb::ToolResult { tool_use_id: "c1".into(), output, ..Default::default() });
    talk.say(vec![assistant(vec![call("c1", "screenshot", "{}")]), results(vec![answer])]).await;
    talk.user("stop").await;
    assert!(talk.shown(WireFormat::AnthropicMessages).await.contains("iVBOR"));
    let request = pb::CreateClearRequest {
        session_id: "s".into(),
        contents: vec![pb::ContentRef { seq: 3, block: 0, output: Some(1) }],
        ..Default::default()
    };
    talk.overlays.create_clear(request).await.unwrap();
    for _ in 0..2 {
        for format in FORMATS {
            let shown = talk.shown(format).await;
            assert!(!shown.contains("iVBOR"), "{shown}");
            assert_eq!((count(&shown, "a screenshot"), count(&shown, "9600x7734")), (1, 1));
        }
        talk.exchange("go", "on").await;
    }
    let kept = talk.content(pb::ContentRef { seq: 3, block: 0, output: Some(1) }).await;
    assert_eq!(kept.len(), 500);
}

#[tokio::test]
async fn a_single_message_above_the_window_is_shown_cut() {
    for window in [1000, 4000] {
        let mut talk = Talk::start("default", window).await;
        talk.user(&prose(200_000)).await;
        for format in FORMATS {
            let shown = talk.shown(format).await;
            assert!(shown.contains("characters removed"));
        }
        assert_eq!(talk.history().await.len(), 1);
    }
}
