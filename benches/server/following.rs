//! A context after each append, as an agent at work asks for them, against
//! methods that decode the same request and answer the same bytes.
//!
//! The longer the view, the more there is to answer; the ratio tells what grows
//! besides.

use serde_json::json;

use crate::{
    Plan,
    append::Writer,
    context::{context, seeded},
    floor::Contexts,
    load::{self, Agent},
    report,
    servers::{Bare, Subject},
};

const MESSAGE_BYTES: usize = 200;

/// Short views and long ones.
pub(crate) async fn measure(plan: &Plan) -> anyhow::Result<()> {
    for (messages, sessions) in [(100, 256), (10_000, 8)] {
        let name = format!("append_then_context_{messages:05}");
        if plan.wants(&name) {
            of_length(plan, &name, messages, sessions).await?;
        }
    }
    Ok(())
}

/// One agent with so many sessions that none of them grows much meanwhile.
async fn of_length(
    plan: &Plan,
    name: &str,
    messages: usize,
    sessions: usize,
) -> anyhow::Result<()> {
    let server = Subject::start().await?;
    let mut client = server.client().await?;
    let mut contexts = Contexts::new();
    for number in 0..sessions {
        let session = seeded(&mut client, number, messages, MESSAGE_BYTES).await?;
        let answer = context(&mut client, &session).await?;
        contexts.insert(session, answer);
    }
    let ids: Vec<String> = contexts.keys().cloned().collect();
    let bare = Bare::start(contexts).await?;
    let floor = vec![Worker(Writer::new(bare.client().await?, ids.clone(), 0))];
    let subject = vec![Worker(Writer::new(client, ids, 0))];
    let (floor, subject) = load::compare(plan, floor, subject).await?;
    let about = json!({ "agents": 1, "messages": messages, "message_bytes": MESSAGE_BYTES });
    report::compared(name, about, None, &floor, &subject)?;
    server.stop().await
}

/// An agent that appends and asks in turn.
struct Worker(Writer);

impl Agent for Worker {
    async fn call(&mut self) -> anyhow::Result<()> {
        self.0.call().await?;
        self.0.context().await
    }
}
