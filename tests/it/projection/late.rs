//! Answers that come when the round of their call is hidden already.

use concertina::model::{Block, Role, Seq, WireFormat, shown::Answer};

use super::support::{
    Agent, Look, call, in_lane, message, policy, prose, rendered, result, shown_block, snip, words,
};

/// Rows that one overlay hid before an answer to both of its rounds came.
fn two_hidden_rounds() -> Agent {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.say(message(Role::Assistant, vec![call("a", "bash", "{}"), call("b", "bash", "{}")]));
    agent.say(message(Role::Assistant, vec![call("c", "bash", "{}"), call("d", "bash", "{}")]));
    agent.user("meanwhile");
    let both = snip(&agent, 1, 2);
    agent.commit(vec![both], &[]);
    agent
}

fn said(look: &Look, seq: Seq) -> Vec<String> {
    let of_row = look.composed.rounds().flat_map(|it| &it.messages).filter(|it| it.seq == seq);
    of_row.flat_map(|it| &it.blocks).map(|it| words(&it.block)).collect()
}

#[test]
fn i2_a_late_row_that_answers_two_hidden_rounds_is_shown_whole() {
    let mut agent = two_hidden_rounds();
    let blocks = vec![result("a", "of the first"), result("d", "of the second")];
    let late = agent.say(message(Role::User, blocks)).seq;
    assert_eq!(agent.history.round_of(late).unwrap().id, Seq(2));
    assert_eq!(said(&agent.look(), late), ["of the first", "of the second"]);
}

#[test]
fn i2_what_comes_with_a_late_answer_is_shown_with_it() {
    let mut agent = two_hidden_rounds();
    let blocks = vec![result("d", "old"), result("nobody", "an orphan"), result("d", "new")];
    let late = agent.say(message(Role::User, blocks)).seq;
    assert_eq!(said(&agent.look(), late), ["an orphan", "new"]);
}

#[test]
fn i2_a_late_row_shows_at_its_call_what_answers_a_shown_one() {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.call("a", "bash", "{}");
    agent.call("b", "bash", "{}");
    agent.user("meanwhile");
    let second = snip(&agent, 2, 2);
    agent.commit(vec![second], &[]);
    let blocks = vec![result("a", "of the first"), result("b", "of the second")];
    let late = agent.say(message(Role::User, blocks)).seq;
    let look = agent.look();
    assert_eq!(said(&look, late), ["of the second"]);
    let first = look.composed.rounds().find(|it| it.id == Seq(1)).unwrap();
    assert!(matches!(first.calls[0].answer, Answer::Result { seq, index: 0, .. } if seq == late));
}

#[test]
fn i2_a_repeated_id_whose_late_answers_fit_overtook_loses_none() {
    for stages in ["", r#"{"stages":["batch_budget","result_cap","dedupe_files","fit"]}"#] {
        let mut agent = Agent::under(policy("default", stages), 1000);
        agent.window.bytes_limit = 1 << 40;
        let calls = |one: &str, other: &str| {
            message(Role::Assistant, vec![call(one, "bash", "{}"), call(other, "bash", "{}")])
        };
        let both = vec![result("toolu_a", "a"), Block::text(prose(3990))];
        for said in [
            calls("toolu_a", ""),
            calls("", "toolu_b"),
            message(Role::User, vec![result("", "of the second")]),
            message(Role::User, both),
        ] {
            agent.say(said);
            let _ = agent.try_look(None);
        }
        let blocks = vec![result("", "of the first"), result("toolu_b", "b")];
        let late = agent.say(message(Role::User, blocks)).seq;
        let look = agent.look();
        for (block, text) in [(0, "of the first"), (1, "b")] {
            let shown = shown_block(&look.composed, late, block).map(|it| words(&it));
            assert_eq!(shown.as_deref(), Some(text), "{stages}: {late} {block}");
        }
        let request = rendered(&look.composed, WireFormat::OpenAiChat);
        assert!(concertina::render::check::violations(WireFormat::OpenAiChat, &request).is_empty());
    }
}

#[test]
fn i2_a_row_that_answers_two_lanes_shows_what_the_hidden_one_asked() {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.say(in_lane("a", message(Role::Assistant, vec![call("a", "bash", "{}")])));
    agent.say(in_lane("b", message(Role::Assistant, vec![call("b", "bash", "{}")])));
    let blocks = vec![result("a", "of the first"), result("b", "of the second")];
    let both = agent.say(message(Role::User, blocks)).seq;
    let first = snip(&agent, 1, 1);
    agent.commit(vec![first], &[]);
    let look = agent.look();
    assert_eq!(said(&look, both), ["of the first"]);
    assert!(look.shows(both) && !look.shows(Seq(1)));
}
