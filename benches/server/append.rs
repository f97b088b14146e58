//! `AppendTurn` of a call and its result, durable when it is answered, against
//! a method that decodes the same request and answers.

use concertina::proto::v1::{
    self as pb, Block, Message, Role, ToolOutput, ToolResult, ToolUse, block::Kind, tool_output,
};
use serde_json::json;

use crate::{
    Plan,
    context::{context, seeded},
    floor::Contexts,
    load::{self, Agent},
    report,
    servers::{Bare, Client, Subject},
    words::Words,
};

const RESULT_BYTES: usize = 1000;
/// Results that an agent takes in turn: making one for every call would be
/// measured too.
const RESULTS: usize = 64;

/// Few agents and many.
pub(crate) async fn measure(plan: &Plan) -> anyhow::Result<()> {
    for (agents, aim) in [(1, None), (16, None), (64, Some(0.3))] {
        let name = format!("append_turn_{agents}");
        if plan.wants(&name) {
            of_agents(plan, &name, agents, aim).await?;
        }
    }
    Ok(())
}

async fn of_agents(plan: &Plan, name: &str, agents: usize, aim: Option<f64>) -> anyhow::Result<()> {
    let server = Subject::start().await?;
    let bare = Bare::start(Contexts::new()).await?;
    let (mut floor, mut subject) = (Vec::new(), Vec::new());
    for agent in 0..agents {
        let mut client = server.client().await?;
        let session = seeded(&mut client, agent, 1, RESULT_BYTES).await?;
        // The view is in memory then, as that of an agent at work is: appends
        // tell its budget.
        context(&mut client, &session).await?;
        floor.push(Writer::new(bare.client().await?, vec![session.clone()], agent));
        subject.push(Writer::new(client, vec![session], agent));
    }
    let (floor, subject) = load::compare(plan, floor, subject).await?;
    let about = json!({ "agents": agents, "messages": 2, "result_bytes": RESULT_BYTES });
    report::compared(name, about, aim, &floor, &subject)?;
    server.stop().await
}

/// An agent that appends what it called and what came back, to each of its
/// sessions in turn.
pub(crate) struct Writer {
    client: Client,
    sessions: Vec<String>,
    results: Vec<String>,
    calls: usize,
}

impl Writer {
    pub(crate) fn new(client: Client, sessions: Vec<String>, agent: usize) -> Self {
        let mut words = Words::of(agent);
        let results = (0..RESULTS).map(|_| words.text(RESULT_BYTES)).collect();
        Self { client, sessions, results, calls: 0 }
    }

    fn session(&self) -> String {
        self.sessions.get(self.calls % self.sessions.len()).cloned().unwrap_or_default()
    }

    /// Asks for the context of the session that it appended to.
    pub(crate) async fn context(&mut self) -> anyhow::Result<()> {
        let session = self.session();
        context(&mut self.client, &session).await?;
        Ok(())
    }
}

impl Agent for Writer {
    async fn call(&mut self) -> anyhow::Result<()> {
        self.calls += 1;
        let result = self.results.get(self.calls % RESULTS).cloned().unwrap_or_default();
        let id = format!("call_{:08}", self.calls);
        let append = pb::AppendTurnRequest {
            session_id: self.session(),
            messages: vec![call(&id), answer(&id, result)],
            request_id: format!("append-{:08}", self.calls),
            ..Default::default()
        };
        self.client.append_turn(append).await?;
        Ok(())
    }
}

/// A call.
pub(crate) fn call(id: &str) -> Message {
    let input =
        r#"{"path":"src/service/append_turn.rs","first_line":1,"last_line":120,"numbers":true}"#;
    let kind = Kind::ToolUse(ToolUse {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        input_json: input.into(),
        ..Default::default()
    });
    message(Role::Assistant, kind)
}

/// What came back.
pub(crate) fn answer(id: &str, text: String) -> Message {
    let output = ToolOutput { kind: Some(tool_output::Kind::Text(text.into())) };
    let kind = Kind::ToolResult(ToolResult {
        tool_use_id: id.to_owned(),
        output: vec![output],
        ..Default::default()
    });
    message(Role::User, kind)
}

fn message(role: Role, kind: Kind) -> Message {
    let block = Block { kind: Some(kind), ..Default::default() };
    Message { role: role.into(), blocks: vec![block], ..Default::default() }
}
