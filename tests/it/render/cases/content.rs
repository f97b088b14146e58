//! Text, arguments and pictures.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{Block, BlockKind, Role, Text, ToolOutput, WireFormat, shown::ShownRound},
    render::{self, Part, RoundStyle},
};
use serde_json::json;

use super::super::support::{
    FORMATS, PNG, answered, assistant, call, image, joined, message, options, reasons, rendered,
    result, result_of, round, style, summary, text, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

#[test]
fn b5_a_picture_is_content_and_nothing_is_not_a_picture() {
    let picture = message(1, Role::User, vec![Block::new(BlockKind::Image(image()))]);
    let empty = answered(
        assistant(2, vec![call("c1", "run", "{}"), call("c2", "run", "{}")]),
        vec![result("c1", ""), result_of("c2", vec![])],
    );
    for format in FORMATS {
        let shown = joined(&rendered(&[round(picture.clone()), empty.clone()], format));
        assert!(shown.contains("iVBORw0KGgoAAA=="), "{shown}");
        assert_eq!(shown.matches("(no output)").count(), 2);
        let after = shown.split_once('\n').unwrap().1;
        assert!(!after.contains("image"), "{after}");
    }
}

#[test]
fn b5_pictures_of_results_survive() {
    let output = vec![ToolOutput::Text(Bytes::from_static(b"shot")), ToolOutput::Image(image())];
    let blocks = vec![call("c1", "screen", "{}"), call("c2", "run", "{}")];
    let round = answered(assistant(2, blocks), vec![result_of("c1", output), result("c2", "B")]);
    let rounds = [user(1, "go"), round];
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[2]["content"][0]["content"][1]["type"], "image");
    let shown = values(&rendered(&rounds, Chat));
    let roles: Vec<_> = shown.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(shown[4]["content"][1]["type"], "image_url");
    let shown = values(&rendered(&rounds, Responses));
    assert_eq!(shown[3]["output"][1]["type"], "input_image");
    assert_eq!(PNG.len(), 10);
}

#[test]
fn b7_arguments_cut_off_are_wrapped() {
    let mut failed = result("c1", "bad arguments");
    if let BlockKind::ToolResult(it) = &mut failed.kind {
        it.is_error = true;
    }
    let cut = call("c1", "bash", r#"{"command":"echo hel"#);
    let rounds = [user(1, "go"), answered(assistant(2, vec![cut]), vec![failed]), user(4, "again")];
    let shown = rendered(&rounds, Anthropic);
    assert_eq!(
        values(&shown)[1]["content"][0]["input"],
        json!({"_raw": "{\"command\":\"echo hel"})
    );
    assert_eq!(values(&shown)[2]["content"][0]["is_error"], true);
    assert_eq!(reasons(&shown), [(2, "INPUT_WRAPPED")]);
    assert_eq!(values(&rendered(&rounds, Chat))[2]["content"], "Error: bad arguments");
    assert_eq!(values(&rendered(&rounds, Responses))[2]["output"], "Error: bad arguments");
}

#[test]
fn g7_a_summary_is_user_text_as_the_projection_worded_it() {
    for format in FORMATS {
        let notice = summary("o1", "<summary>User wants X.</summary>");
        let shown = render::assemble(&[Part::Notice(&notice)], &options(format));
        assert_eq!(values(&shown)[0]["role"], "user");
        assert!(joined(&shown).contains("<summary>User wants X.</summary>"));
        assert_eq!(shown.origins[0].overlay, Some(notice.overlay));
    }
}

#[test]
fn l1_lone_surrogates_become_replacement_characters() {
    let words = Block::new(BlockKind::Text(Text {
        raw: Bytes::from_static(b"half \xed\xa0\xbd."),
        ..Text::default()
    }));
    let asked = call("c1", "ask", r#"{"q":"A\ud99c B"}"#);
    let round = answered(assistant(2, vec![words, asked]), vec![result("c1", r#"{"x":"\udc00"}"#)]);
    let rounds = [user(1, "go"), round];
    for format in FORMATS {
        let shown = rendered(&rounds, format);
        let replaced = (2, "INVALID_TEXT_REPLACED");
        assert_eq!(reasons(&shown), [replaced, replaced]);
        assert!(joined(&shown).contains("half \u{fffd}."));
    }
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[1]["content"][1]["input"]["q"], "A\u{fffd} B");
    assert_eq!(shown[2]["content"][0]["content"][0]["text"], r#"{"x":"\udc00"}"#);
    let shown = values(&rendered(&rounds, Chat));
    assert_eq!(shown[1]["tool_calls"][0]["function"]["arguments"], r#"{"q":"A\ufffd B"}"#);
}

#[test]
fn l5_output_that_is_no_text_is_shown_as_text() {
    let raw = b"\xff\xfe\x00\x0a\x80 \xe2\x80\xa8 \xe2\x80\xa9 \r\n \xef\xbb\xbf";
    let output = result_of("c1", vec![ToolOutput::Text(Bytes::from_static(raw))]);
    let round = answered(assistant(2, vec![call("c1", "run", "{}")]), vec![output]);
    for format in FORMATS {
        let shown = rendered(&[user(1, "go"), round.clone()], format);
        assert_eq!(reasons(&shown), [(2 + 1, "INVALID_TEXT_REPLACED")]);
        assert_eq!(joined(&shown).lines().count(), shown.messages.len());
    }
    let shown = values(&rendered(&[user(1, "go"), round], Chat));
    let expected = "\u{fffd}\u{fffd}\0\n\u{fffd} \u{2028} \u{2029} \r\n \u{feff}";
    assert_eq!(shown[2]["content"], expected);
}

#[test]
fn m1_arguments_keep_their_bytes() {
    let input = r#"{"b":1.00, "a":{"z":0,"y":[1,2]},"b":1e3}"#;
    let round = answered(assistant(2, vec![call("c1", "run", input)]), vec![result("c1", "ok")]);
    let rounds = [user(1, "go"), round, user(4, "more")];
    assert!(joined(&rendered(&rounds, Anthropic)).contains(&format!(r#""input":{input}"#)));
    let chat = values(&rendered(&rounds, Chat));
    assert_eq!(chat[1]["tool_calls"][0]["function"]["arguments"], input);
    assert_eq!(values(&rendered(&rounds, Responses))[1]["arguments"], input);
    for format in FORMATS {
        let (short, long) = (rendered(&rounds[..2], format), rendered(&rounds, format));
        let last = short.messages.len() - 1;
        assert_eq!(short.messages[..last], long.messages[..last]);
        assert!(!reasons(&long).iter().any(|(_, reason)| *reason == "INPUT_WRAPPED"));
    }
}

#[test]
fn p1_a_picture_that_cannot_be_sent_is_a_line() {
    let mut odd = image();
    odd.media_type = "image/x-icon".to_owned();
    odd.source = concertina::model::ImageSource::Data(Bytes::from_static(b"icon"));
    let blocks = vec![Block::new(BlockKind::Image(odd))];
    let shown = joined(&rendered(&[round(message(1, Role::User, blocks))], Anthropic));
    assert!(shown.contains("[image: image/x-icon, 4 bytes]"), "{shown}");
}

#[test]
fn empty_blocks_and_empty_messages_are_left_out() {
    let rounds = [user(1, "go"), user(2, ""), assistant(3, vec![text(" \n"), text("ok")])];
    let shown = rendered(&rounds, Anthropic);
    let dropped = "EMPTY_BLOCK_DROPPED";
    assert_eq!(reasons(&shown), [(2, dropped), (3, dropped)]);
    assert_eq!(shown.messages.len(), 2);
    assert_eq!(reasons(&rendered(&rounds, Chat)), [(2, dropped)]);
}

#[test]
fn authors_are_told_where_the_policy_asks_for_it() {
    let mut it = user(1, "hi");
    let labelled = RoundStyle { label_authors: true, ..style(Chat) };
    let shown = |it: &ShownRound| {
        let written = render::round(it, &labelled);
        joined(&render::assemble(&[Part::Round(&written)], &options(Chat)))
    };
    assert!(shown(&it).contains(r#""hi""#));
    it.lane = Arc::from("worker");
    assert!(shown(&it).contains(r#""[worker] hi""#));
    it.messages[0].author = Arc::from("ann");
    assert!(shown(&it).contains(r#""[ann] hi""#));
}

#[test]
fn a_picture_of_a_failed_tool_is_kept_and_the_failure_told_in_words() {
    let mut failed = result_of("c1", vec![ToolOutput::Image(image())]);
    if let BlockKind::ToolResult(it) = &mut failed.kind {
        it.is_error = true;
    }
    let round = answered(assistant(2, vec![call("c1", "screen", "{}")]), vec![failed]);
    let shown = values(&rendered(&[user(1, "go"), round], Anthropic));
    let came = &shown[2]["content"][0];
    assert_eq!(came.get("is_error"), None);
    assert_eq!(came["content"][0]["text"], "Error: the tool failed.");
    assert_eq!(came["content"][1]["type"], "image");
}
