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
    load::{self, Agent},
    report,
    servers::{Bare, Subject},
};

const MESSAGE_BYTES: usize = 200;

/// A short view and a long one.
pub(crate) async fn measure(plan: &Plan) -> anyhow::Result<()> {
    for messages in [100, 10_000] {
        let name = format!("append_then_context_{messages}");
        if plan.wants(&name) {
            of_length(plan, &name, messages).await?;
        }
    }
    Ok(())
}

async fn of_length(plan: &Plan, name: &str, messages: usize) -> anyhow::Result<()> {
    let server = Subject::start().await?;
    let mut client = server.client().await?;
    let session = seeded(&mut client, 0, messages, MESSAGE_BYTES).await?;
    let bare = Bare::start(context(&mut client, &session).await?).await?;
    let floor = vec![Worker(Writer::new(bare.client().await?, session.clone(), 0))];
    let subject = vec![Worker(Writer::new(client, session, 0))];
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
