//! Agents that ask again as soon as they were answered.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use hdrhistogram::Histogram;

use crate::{Plan, cpu, report::Side};

/// One agent, with a connection and a session of its own.
pub(crate) trait Agent: Send + 'static {
    /// Asks once and waits for the answer.
    fn call(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// Lets both sides run in turns. Each is heated by a turn that does not count.
pub(crate) async fn compare<F: Agent, S: Agent>(
    plan: &Plan,
    mut floor: Vec<F>,
    mut subject: Vec<S>,
) -> anyhow::Result<(Side, Side)> {
    let mut sides = (Side::default(), Side::default());
    floor = turn(plan.turn, floor, &mut Side::default()).await?;
    subject = turn(plan.turn, subject, &mut Side::default()).await?;
    for _ in 0..plan.turns {
        floor = turn(plan.turn, floor, &mut sides.0).await?;
        subject = turn(plan.turn, subject, &mut sides.1).await?;
    }
    Ok(sides)
}

/// Lets all agents of a side ask for a while, and hands them back.
async fn turn<A: Agent>(time: Duration, agents: Vec<A>, side: &mut Side) -> anyhow::Result<Vec<A>> {
    let (start, cpu) = (Instant::now(), cpu::micros());
    let end = start + time;
    let tasks: Vec<_> = agents.into_iter().map(|it| tokio::spawn(ask_until(end, it))).collect();
    let mut agents = Vec::with_capacity(tasks.len());
    let micros = side.micros.get_or_insert(Histogram::new(3)?);
    let before = micros.len();
    for task in tasks {
        let (agent, of_agent) = task.await.context("an agent panicked")??;
        micros.add(of_agent)?;
        agents.push(agent);
    }
    let calls = u32::try_from(micros.len() - before)?;
    side.rates.push(f64::from(calls) / start.elapsed().as_secs_f64());
    side.cpu_micros.push((cpu::micros() - cpu) / f64::from(calls.max(1)));
    Ok(agents)
}

/// Lets one agent ask until `end`: the agent, and the microseconds of each call.
pub(crate) async fn ask_until<A: Agent>(
    end: Instant,
    mut agent: A,
) -> anyhow::Result<(A, Histogram<u64>)> {
    let mut micros = Histogram::new(3)?;
    loop {
        let asked = Instant::now();
        if asked >= end {
            return Ok((agent, micros));
        }
        agent.call().await?;
        micros.record(u64::try_from(asked.elapsed().as_micros())?)?;
    }
}
