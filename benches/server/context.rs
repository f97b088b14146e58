//! `GetContext` of a session that did not change, against a method that answers
//! the same bytes.

use concertina::proto::v1::{self as pb, Block, Message, Role, Text, WireFormat, block::Kind};
use serde_json::json;

use crate::{
    Plan,
    floor::Contexts,
    load::{self, Agent},
    report,
    servers::{ANSWER_BYTES, Bare, Client, Subject},
    words::Words,
};

const AGENTS: usize = 16;
/// So large that nothing is reduced.
const WINDOW: i64 = 10_000_000;
/// Messages of one request that seeds a session.
const SEEDED_AT_ONCE: usize = 1000;

/// Both sizes.
pub(crate) async fn measure(plan: &Plan) -> anyhow::Result<()> {
    for (messages, bytes, aim) in [(300, 2000, 0.9), (40, 500, 0.8)] {
        let name = format!("get_context_{messages}");
        if plan.wants(&name) {
            of_size(plan, &name, messages, bytes, aim).await?;
        }
    }
    Ok(())
}

async fn of_size(
    plan: &Plan,
    name: &str,
    messages: usize,
    bytes: usize,
    aim: f64,
) -> anyhow::Result<()> {
    let server = Subject::start().await?;
    let mut subject = Vec::with_capacity(AGENTS);
    for agent in 0..AGENTS {
        let mut client = server.client().await?;
        let session = seeded(&mut client, agent, messages, bytes).await?;
        subject.push(Reader { client, session });
    }
    let contexts = contexts(&mut subject, messages).await?;
    let answer_bytes = contexts.values().next().map(prost::Message::encoded_len);
    let bare = Bare::start(contexts).await?;
    let mut floor = Vec::with_capacity(AGENTS);
    for agent in 0..AGENTS {
        floor.push(Reader { client: bare.client().await?, session: session_id(agent) });
    }
    let (floor, subject) = load::compare(plan, floor, subject).await?;
    let about = json!({
        "agents": AGENTS,
        "messages": messages,
        "message_bytes": bytes,
        "answer_bytes": answer_bytes,
    });
    report::compared(name, about, Some(aim), &floor, &subject)?;
    server.stop().await
}

/// What the floor is to answer too.
async fn contexts(readers: &mut [Reader], messages: usize) -> anyhow::Result<Contexts> {
    let mut contexts = Contexts::new();
    for Reader { client, session } in readers {
        let answer = context(client, session).await?;
        let shown = answer.context.as_ref().map_or(0, |it| it.messages_json.len());
        anyhow::ensure!(shown == messages, "{shown} of {messages} messages are shown");
        contexts.insert(session.clone(), answer);
    }
    Ok(contexts)
}

/// An agent that asks for its context.
struct Reader {
    client: Client,
    session: String,
}

impl Agent for Reader {
    async fn call(&mut self) -> anyhow::Result<()> {
        context(&mut self.client, &self.session).await?;
        Ok(())
    }
}

/// Asks for a context.
pub(crate) async fn context(
    client: &mut Client,
    session: &str,
) -> anyhow::Result<pb::GetContextResponse> {
    Ok(client.get_context(asking(session)).await?.into_inner())
}

/// Asks for one that may be longer than answers usually are.
pub(crate) async fn long_context(
    client: &mut Client,
    session: &str,
) -> anyhow::Result<pb::GetContextResponse> {
    let max_response_bytes = i64::try_from(ANSWER_BYTES)?;
    let request = pb::GetContextRequest { max_response_bytes, ..asking(session) };
    Ok(client.get_context(request).await?.into_inner())
}

fn asking(session: &str) -> pb::GetContextRequest {
    pb::GetContextRequest {
        session_id: session.to_owned(),
        format: WireFormat::AnthropicMessages.into(),
        ..Default::default()
    }
}

fn session_id(agent: usize) -> String {
    format!("agent-{agent}")
}

/// A session of `messages`, the user's and the assistant's in turn.
pub(crate) async fn seeded(
    client: &mut Client,
    agent: usize,
    messages: usize,
    bytes: usize,
) -> anyhow::Result<String> {
    let session_id = session_id(agent);
    let model = pb::Model { context_window: WINDOW, ..Default::default() };
    let create = pb::CreateSessionRequest {
        session_id: session_id.clone(),
        model: Some(model),
        ..Default::default()
    };
    client.create_session(create).await?;
    let mut words = Words::of(agent);
    let messages: Vec<_> = (0..messages).map(|index| message(index, words.text(bytes))).collect();
    for messages in messages.chunks(SEEDED_AT_ONCE) {
        let append = pb::AppendTurnRequest {
            session_id: session_id.clone(),
            messages: messages.to_vec(),
            ..Default::default()
        };
        client.append_turn(append).await?;
    }
    Ok(session_id)
}

fn message(index: usize, text: String) -> Message {
    let role = if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let kind = Some(Kind::Text(Text { text, ..Default::default() }));
    Message {
        role: role.into(),
        blocks: vec![Block { kind, ..Default::default() }],
        ..Default::default()
    }
}
