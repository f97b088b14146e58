//! `AppendTurn` of eight agents in one session, whose context two others ask
//! for, while a collapse waits two seconds for its summarizer; against the same
//! without a collapse. An append waits for neither.
//!
//! Each turn has a session of its own, so both sides begin alike. What was
//! acknowledged is read again afterwards: every row is there once.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use async_trait::async_trait;
use concertina::{
    proto::v1 as pb,
    summary::{Summarizer, SummarizerError, Summary, Task},
};
use hdrhistogram::Histogram;
use serde_json::json;

use crate::{
    Plan,
    afterwards::everything_is_there,
    append::{answer, call},
    context::{context, long_context, seeded},
    load::{Agent, ask_until},
    report::{self, Side, median, round},
    servers::{Client, CollapseClient, Subject},
    words::Words,
};

const NAME: &str = "append_during_collapse";
const APPENDERS: usize = 8;
const READERS: usize = 2;
/// Messages that are there before, and of how many bytes.
const SEEDED: usize = 200;
const MESSAGE_BYTES: usize = 500;
const RESULT_BYTES: usize = 200;
/// The last row that the collapse takes of them.
const COVERED: i64 = 100;
/// What the tail with a collapse may be of the tail without.
const AIM: f64 = 1.5;

/// How long one turn is, how long the summarizer takes, and how many pairs of
/// turns count.
struct Race {
    turn: Duration,
    summarizer: Duration,
    pairs: usize,
}

impl Race {
    fn of(plan: &Plan) -> Self {
        let seconds = |turn, summarizer, pairs| Self {
            turn: Duration::from_secs_f64(turn),
            summarizer: Duration::from_secs_f64(summarizer),
            pairs,
        };
        if plan.is_quick { seconds(0.3, 0.2, 1) } else { seconds(3.0, 2.0, 7) }
    }
}

/// Whether a collapse is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collapse {
    None,
    UnderWay,
}

/// Turns with and without a collapse, in pairs.
pub(crate) async fn measure(plan: &Plan) -> anyhow::Result<()> {
    if !plan.wants(NAME) {
        return Ok(());
    }
    let race = Race::of(plan);
    let server = Subject::start_with(Arc::new(Slow(race.summarizer))).await?;
    let (mut with, mut without) = (Tally::default(), Tally::default());
    // A pair that does not count, for both to be warm.
    for nth in 0..=race.pairs {
        if nth == 1 {
            (with, without) = (Tally::default(), Tally::default());
        }
        // Who goes second finds a larger database: each does in turn.
        let mut order = [(Collapse::None, &mut without), (Collapse::UnderWay, &mut with)];
        if nth % 2 == 1 {
            order.reverse();
        }
        for (at, (collapse, tally)) in order.into_iter().enumerate() {
            turn(&server, &race, 2 * nth + at, collapse, tally).await?;
        }
    }
    tell(&race, &with, &without)?;
    server.stop().await
}

fn tell(race: &Race, with: &Tally, without: &Tally) -> anyhow::Result<()> {
    let ratio = |of: fn(&Tally) -> &[f64]| {
        round(median(of(with).iter().zip(of(without)).map(|(it, other)| it / other).collect()), 2)
    };
    let figures = json!({
        "appenders": APPENDERS,
        "readers": READERS,
        "pairs": race.pairs,
        "turn_seconds": race.turn.as_secs_f64(),
        "summarizer_seconds": race.summarizer.as_secs_f64(),
        "appends": with.acknowledged,
        "without_appends": without.acknowledged,
        "contexts": with.contexts,
        "without_contexts": without.contexts,
        "collapses": with.collapses,
        "p50_ms": with.side.quantile_ms(0.5),
        "p99_ms": with.side.quantile_ms(0.99),
        "max_ms": with.side.quantile_ms(1.0),
        "without_p50_ms": without.side.quantile_ms(0.5),
        "without_p99_ms": without.side.quantile_ms(0.99),
        "without_max_ms": without.side.quantile_ms(1.0),
        "p50_ratio": ratio(|it| &it.p50s),
        "p99_ratio": ratio(|it| &it.p99s),
        "rows_checked": with.rows + without.rows,
        "aim": AIM,
    });
    report::line(NAME, [figures])
}

/// What the turns of one side came to.
#[derive(Default)]
struct Tally {
    side: Side,
    /// Microseconds, turn by turn.
    p50s: Vec<f64>,
    p99s: Vec<f64>,
    acknowledged: usize,
    contexts: u64,
    collapses: usize,
    /// Rows that were read afterwards.
    rows: usize,
}

impl Tally {
    fn add(&mut self, micros: &Histogram<u64>) -> anyhow::Result<()> {
        let at = |quantile| u32::try_from(micros.value_at_quantile(quantile)).map(f64::from);
        self.p50s.push(at(0.5)?);
        self.p99s.push(at(0.99)?);
        self.side.micros.get_or_insert(Histogram::new(3)?).add(micros)?;
        Ok(())
    }
}

/// Everybody works on a session of their own turn.
async fn turn(
    server: &Subject,
    race: &Race,
    number: usize,
    collapse: Collapse,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let mut client = server.client().await?;
    let session = seeded(&mut client, number, SEEDED, MESSAGE_BYTES).await?;
    context(&mut client, &session).await?;
    let mut appenders = Vec::with_capacity(APPENDERS);
    for agent in 0..APPENDERS {
        appenders.push(Appender::new(server.client().await?, &session, agent));
    }
    let mut readers = Vec::with_capacity(READERS);
    for _ in 0..READERS {
        readers.push(Reader { client: server.client().await?, session: session.clone() });
    }
    let collapsing = match collapse {
        Collapse::None => None,
        Collapse::UnderWay => {
            Some(tokio::spawn(collapsed(server.collapses().await?, session.clone())))
        }
    };
    let end = Instant::now() + race.turn;
    let appending: Vec<_> =
        appenders.into_iter().map(|it| tokio::spawn(ask_until(end, it))).collect();
    let reading: Vec<_> = readers.into_iter().map(|it| tokio::spawn(ask_until(end, it))).collect();
    let mut acknowledged = HashMap::new();
    let mut micros = Histogram::new(3)?;
    for task in appending {
        let (appender, of_agent) = task.await.context("an appender panicked")??;
        micros.add(of_agent)?;
        acknowledged.extend(appender.acknowledged);
    }
    for task in reading {
        tally.contexts += task.await.context("a reader panicked")??.1.len();
    }
    let mut covered = None;
    if let Some(task) = collapsing {
        covered = Some(task.await.context("the collapse panicked")??);
        tally.collapses += 1;
    }
    tally.add(&micros)?;
    tally.acknowledged += acknowledged.len();
    let covered = covered.unwrap_or_default();
    tally.rows += everything_is_there(&mut client, &session, &acknowledged, &covered).await?;
    Ok(())
}

/// Collapses the oldest rows of a session; those that it covered.
async fn collapsed(
    mut client: CollapseClient,
    session_id: String,
) -> anyhow::Result<Vec<pb::SeqRange>> {
    let rows = Some(pb::SeqRange { first_seq: 1, last_seq: COVERED });
    let request = pb::CreateCollapseRequest { session_id, rows, ..Default::default() };
    let made = client.create_collapse(request).await?.into_inner();
    Ok(made.overlay.context("a collapse without an overlay")?.covered)
}

/// An agent that appends what it called and what came back, in a lane of its
/// own.
struct Appender {
    client: Client,
    session: String,
    agent: usize,
    result: String,
    /// The calls whose append was answered, with the seq of the first row.
    acknowledged: HashMap<String, i64>,
}

impl Appender {
    fn new(client: Client, session: &str, agent: usize) -> Self {
        let result = Words::of(agent).text(RESULT_BYTES);
        let session = session.to_owned();
        Self { client, session, agent, result, acknowledged: HashMap::new() }
    }
}

impl Agent for Appender {
    async fn call(&mut self) -> anyhow::Result<()> {
        let id = format!("call_{}_{:08}", self.agent, self.acknowledged.len());
        let append = pb::AppendTurnRequest {
            session_id: self.session.clone(),
            messages: vec![call(&id), answer(&id, self.result.clone())],
            lane: format!("agent-{}", self.agent),
            request_id: id.clone(),
            ..Default::default()
        };
        let answer = self.client.append_turn(append).await?.into_inner();
        self.acknowledged.insert(id, answer.first_seq);
        Ok(())
    }
}

/// An agent that asks for the context of a session that grows.
struct Reader {
    client: Client,
    session: String,
}

impl Agent for Reader {
    async fn call(&mut self) -> anyhow::Result<()> {
        long_context(&mut self.client, &self.session).await?;
        Ok(())
    }
}

/// Summarizes as slowly as a model does.
struct Slow(Duration);

#[async_trait]
impl Summarizer for Slow {
    fn name(&self) -> String {
        "slow:bench".to_owned()
    }

    async fn summarize(&self, _: &Task) -> Result<Summary, SummarizerError> {
        tokio::time::sleep(self.0).await;
        let text = "## Tasks Completed\nThe first half was done.\n\n## Files Modified\nNone.\n\n\
                    ## Current State\nThe second half goes on.\n\n## Pending Items\nNone.";
        Ok(Summary { text: text.to_owned(), finish_reason: "stop".to_owned() })
    }
}
