//! Histories as agents write them, and as nobody should.

use std::fmt;

use bytes::Bytes;
use concertina::model::{
    Block, BlockKind, Message, Opaque, Role, Seq, SeqRange, ToolOutput, ToolResult, WireFormat,
};
use proptest::{collection::vec, prelude::*, sample::select};

use super::support::{
    Agent, call, in_lane, message, png, policy, prose, raw_text, result, results, thinking, words,
};

/// What happens next.
#[derive(Clone)]
pub(crate) enum Event {
    Append(Box<Message>),
    Wait(i64),
    /// Of the overlays in force, the n-th (around the end).
    RollBack(usize),
    /// Rows hidden by hand: from here to there, in thousandths of the history.
    Snip(i64, i64),
    /// A row's first block shown otherwise by hand.
    Clear(i64),
    /// Rows shown as a summary by hand.
    Collapse(i64, i64),
    /// Rows taken by somebody who summarizes them, and committed later.
    Prepare(i64, i64),
    /// Of what was taken, the oldest is committed.
    Finish,
    /// Rows pinned.
    Pin(i64, i64),
    /// Of the pins, the n-th (around the end) taken away.
    Unpin(usize),
}

/// A line each: a failing history has to be read by somebody.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::Append(message) => message,
            Self::Wait(minutes) => return write!(f, "wait {minutes}"),
            Self::RollBack(nth) => return write!(f, "roll back {nth}"),
            Self::Snip(first, last) => return write!(f, "snip {first}..{last}"),
            Self::Clear(at) => return write!(f, "clear {at}"),
            Self::Collapse(first, last) => return write!(f, "collapse {first}..{last}"),
            Self::Prepare(first, last) => return write!(f, "prepare {first}..{last}"),
            Self::Finish => return write!(f, "finish"),
            Self::Pin(first, last) => return write!(f, "pin {first}..{last}"),
            Self::Unpin(nth) => return write!(f, "unpin {nth}"),
        };
        write!(f, "{:?} {:?}:", message.role, message.lane)?;
        for block in &message.blocks {
            let text = format!("{:?}", words(block));
            let text: String = text.chars().take(60).collect();
            let size = words(block).chars().count();
            match &block.kind {
                BlockKind::ToolUse(it) => write!(f, " call({:.20} {} {text})", it.id, it.name)?,
                BlockKind::ToolResult(it) => {
                    write!(f, " result({:.20} {size} {text})", it.tool_use_id)?;
                }
                BlockKind::Opaque(it) => write!(f, " opaque({} {})", it.call_id, it.is_result)?,
                BlockKind::Thinking(_) => write!(f, " thinking")?,
                _ => write!(f, " text({size} {text})")?,
            }
        }
        Ok(())
    }
}

/// What an agent lives under.
#[derive(Debug, Clone)]
pub(crate) struct Circumstances {
    preset: &'static str,
    window: i64,
    /// Hundredths of the limit that stand around the messages.
    fixed: i64,
    factor: f64,
    bytes_limit: i64,
    pin: Option<i64>,
}

pub(crate) fn circumstances() -> impl Strategy<Value = Circumstances> {
    let preset = select(vec![
        "default",
        "four-level",
        "cascade",
        "teaching",
        "teaching-collapse",
        "claude-code",
        "off",
    ]);
    let window = select(vec![1000, 1500, 2000, 4000, 8000, 20_000, 60_000, 200_000, 1_000_000]);
    let fixed = select(vec![0, 0, 0, 30, 80]);
    let factor = select(vec![1.0, 1.0, 1.5, 0.7]);
    let bytes = select(vec![1 << 40, 1 << 40, 1 << 40, 30_000]);
    let pin = proptest::option::weighted(0.2, 1..12_i64);
    (preset, window, fixed, factor, bytes, pin).prop_map(
        |(preset, window, fixed, factor, bytes_limit, pin)| Circumstances {
            preset,
            window,
            fixed,
            factor,
            bytes_limit,
            pin,
        },
    )
}

/// An agent under a preset alone; without one that reduces, the window holds
/// all.
pub(crate) fn plain_agent(preset: &str, window: i64) -> Agent {
    let window = if preset == "off" { 100_000_000 } else { window };
    let mut agent = Agent::under(policy(preset, ""), window);
    agent.window.bytes_limit = 1 << 40;
    agent
}

/// An agent under these circumstances.
pub(crate) fn agent(of: &Circumstances) -> Agent {
    let mut agent = plain_agent(of.preset, of.window);
    agent.window.fixed = agent.window.limit() * of.fixed / 100;
    agent.window.factor = of.factor;
    if of.preset != "off" {
        agent.window.bytes_limit = of.bytes_limit;
    }
    let seq = of.pin.map(Seq);
    agent.pins.extend(seq.map(|seq| SeqRange { first: seq, last: seq }));
    agent
}

/// What an agent's life brings, in order; at its end, what people do to it.
pub(crate) fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    let hands = vec(by_hand(), 0..most / 2);
    (vec((step(), any::<bool>()), 1..most), hands).prop_map(|(steps, hands)| {
        let mut out = Vec::new();
        let mut held: Vec<Event> = Vec::new();
        for ((now, later), is_held) in steps.into_iter().map(|(step, held)| (step.split(), held)) {
            out.extend(now);
            // Results that come when others have gone on.
            out.append(&mut held);
            if is_held { held = later } else { out.extend(later) }
        }
        out.append(&mut held);
        out.extend(hands);
        out
    })
}

#[derive(Debug, Clone)]
enum Step {
    Said(Message),
    Other(Event),
    Tools { lane: &'static str, calls: Vec<Block>, results: Vec<Vec<Block>> },
}

impl Step {
    fn split(self) -> (Vec<Event>, Vec<Event>) {
        match self {
            Self::Said(message) => (vec![Event::Append(Box::new(message))], Vec::new()),
            Self::Other(event) => (vec![event], Vec::new()),
            Self::Tools { lane, calls, results } => {
                let append =
                    |role, blocks| Event::Append(Box::new(in_lane(lane, message(role, blocks))));
                let answers = results.into_iter().map(|blocks| append(Role::User, blocks));
                (vec![append(Role::Assistant, calls)], answers.collect())
            }
        }
    }
}

fn lane() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", "a", "b"])
}

fn step() -> impl Strategy<Value = Step> {
    let said = (lane(), select(vec![Role::User, Role::User, Role::Assistant]), vec(said(), 1..3))
        .prop_map(|(lane, role, blocks)| Step::Said(in_lane(lane, message(role, blocks))));
    let odd = (lane(), select(vec![Role::User, Role::Assistant, Role::System]), vec(odd(), 0..3))
        .prop_map(|(lane, role, blocks)| Step::Said(in_lane(lane, message(role, blocks))));
    prop_oneof![
        5 => said,
        7 => tools(),
        3 => read(),
        2 => odd,
        2 => by_hand().prop_map(Step::Other),
    ]
}

fn by_hand() -> impl Strategy<Value = Event> {
    let short = || (0..1000_i64, 1..60_i64).prop_map(|(a, b)| (a, (a + b).min(999)));
    prop_oneof![
        2 => select(vec![1, 89, 91, 200]).prop_map(Event::Wait),
        3 => (0..8_usize).prop_map(Event::RollBack),
        2 => range().prop_map(|(a, b)| Event::Snip(a, b)),
        2 => (0..1000_i64).prop_map(Event::Clear),
        4 => range().prop_map(|(a, b)| Event::Collapse(a, b)),
        2 => range().prop_map(|(a, b)| Event::Prepare(a, b)),
        2 => Just(Event::Finish),
        1 => short().prop_map(|(a, b)| Event::Pin(a, b)),
        1 => (0..4_usize).prop_map(Event::Unpin),
    ]
}

/// From here to there, in thousandths: mostly among what is old.
fn range() -> impl Strategy<Value = (i64, i64)> {
    let within = |end: i64| (0..end, 0..end).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![2 => within(1000), 3 => within(600)]
}

/// An assistant's calls, and the messages that answer some of them.
fn tools() -> impl Strategy<Value = Step> {
    let one = (id(), tool(), arguments(), proptest::option::weighted(0.9, output()));
    (
        lane(),
        proptest::option::weighted(0.3, said()),
        any::<bool>(),
        vec(one, 1..4),
        any::<bool>(),
        proptest::option::weighted(0.1, said()),
        proptest::bool::weighted(0.1),
    )
        .prop_map(|(lane, words, thinks, all, together, more, twice)| {
            let mut calls = Vec::new();
            if thinks {
                calls.push(thinking("a thought", "sig"));
            }
            calls.extend(words);
            let mut answers = Vec::new();
            for (id, tool, input, output) in all {
                calls.push(call(&id, tool, &input));
                answers.extend(output.map(|(is_error, output)| {
                    let mut block = results(&id, output);
                    if let BlockKind::ToolResult(ToolResult { is_error: flag, .. }) =
                        &mut block.kind
                    {
                        *flag = is_error;
                    }
                    block
                }));
            }
            let mut results: Vec<Vec<Block>> = if together {
                vec![answers]
            } else {
                answers.into_iter().rev().map(|block| vec![block]).collect()
            };
            results.retain(|blocks| !blocks.is_empty());
            if let (true, Some(first)) = (twice, results.first().cloned()) {
                results.push(first);
            }
            if let (Some(words), Some(last)) = (more, results.last_mut()) {
                last.push(words);
            }
            Step::Tools { lane, calls, results }
        })
}

/// A file read once more, and maybe changed meanwhile.
fn read() -> impl Strategy<Value = Step> {
    let content = select(vec![900, 901, 4500]).prop_map(prose);
    (lane(), "toolu_[a-z0-9]{6}", select(vec!["a.rs", "b.rs"]), content).prop_map(
        |(lane, id, path, content)| Step::Tools {
            lane,
            calls: vec![call(&id, "read_file", &format!(r#"{{"path":"{path}"}}"#))],
            results: vec![vec![result(&id, &content)]],
        },
    )
}

/// Ids: mostly new ones, some that repeat, are empty or too long.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "toolu_[a-z0-9]{6}",
        1 => select(vec!["c1".to_owned(), "c2".to_owned(), String::new()]),
        1 => Just(format!("mcp__server__{}", "a".repeat(70))),
    ]
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(vec!["read_file", "read_file", "bash", "grep", "edit_file", "ask_user", "mcp.odd tool"])
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => select(vec!["a.rs", "b.rs", "src/é.rs"])
            .prop_map(|path| format!(r#"{{ "path":"{path}","n":1.0 }}"#)),
        2 => select(vec!["cat a.rs", "make", "sed -i s/a/b/ a.rs", "grep -rn over"])
            .prop_map(|command| format!(r#"{{"command":"{command}"}}"#)),
        1 => Just(String::new()),
        1 => Just(r#"{"command":"echo hel"#.to_owned()),
        1 => Just(r#"{"q":"A\ud99c B","q":"\u0000"}"#.to_owned()),
        1 => size().prop_map(|chars| format!(r#"{{"content":"{}"}}"#, prose(chars))),
    ]
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => 0..300_usize,
        4 => 300..3000_usize,
        3 => 3990..4110_usize,
        2 => 5000..30_000_usize,
        1 => 60_000..130_000_usize,
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => size().prop_map(prose),
        1 => (0..400_usize).prop_map(|chars| "漢字の長い文".chars().cycle().take(chars).collect()),
        1 => (0..200_usize).prop_map(|chars| "👩\u{200d}👩\u{200d}👧 e\u{301} ".chars().cycle().take(chars).collect()),
        1 => select(vec!["", "  \n", "a\0b", "\u{2028}\r\n\u{feff}", "x  \n\n\n\n```\n\n\n\n```\ny  "])
            .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn output() -> impl Strategy<Value = (bool, Vec<ToolOutput>)> {
    let part = prop_oneof![
        8 => text().prop_map(|text| ToolOutput::Text(Bytes::from(text))),
        // Contents that come again.
        4 => select(vec![250, 900, 4500]).prop_map(|chars| ToolOutput::Text(prose(chars).into())),
        1 => vec(any::<u8>(), 0..40).prop_map(|bytes| ToolOutput::Text(bytes.into())),
        1 => (1..2000_u32, 1..2000_u32).prop_map(|(w, h)| ToolOutput::Image(png(w, h, 200))),
    ];
    let several = prop_oneof![6 => vec(part.clone(), 1..2), 1 => vec(part, 0..4)];
    (proptest::bool::weighted(0.1), several)
}

fn said() -> impl Strategy<Value = Block> {
    prop_oneof![
        12 => text().prop_map(Block::text),
        1 => Just(Block::new(BlockKind::Image(png(300, 200, 400)))),
    ]
}

/// What comes rarely, or by mistake.
fn odd() -> impl Strategy<Value = Block> {
    let opaque = |json: &'static str, id: &str, is_result| {
        Block::new(BlockKind::Opaque(Opaque {
            format: WireFormat::OpenAiResponses,
            json: Bytes::from_static(json.as_bytes()),
            call_id: id.into(),
            is_result,
        }))
    };
    prop_oneof![
        4 => said(),
        2 => (id(), output()).prop_map(|(id, (_, output))| results(&id, output)),
        1 => Just(thinking("alone", "sig")),
        1 => Just(thinking("unsigned", "")),
        1 => Just(Block::new(BlockKind::RedactedThinking("zz".into()))),
        1 => Just(raw_text(b"half \xed\xa0\xbd of it")),
        1 => Just(opaque(r#"{"type":"shell_call","call_id":"c9","action":{}}"#, "c9", false)),
        1 => Just(opaque(r#"{"type":"shell_call_output","call_id":"c9","output":[]}"#, "c9", true)),
        1 => Just(opaque(r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#, "", false)),
    ]
}
