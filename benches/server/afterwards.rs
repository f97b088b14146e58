//! Whether what was acknowledged is there afterwards, each row once.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use concertina::proto::v1::{self as pb, block::Kind};

use crate::{context::long_context, servers::Client};

/// Checks that each call that was acknowledged, and its result, stand in the
/// history where the answer said and nowhere else, that no seq is missing, and
/// that the context shows each of them once, and nothing of what is covered.
/// Returns how many rows the history has.
pub(crate) async fn everything_is_there(
    client: &mut Client,
    session: &str,
    acknowledged: &HashMap<String, i64>,
    covered: &[pb::SeqRange],
) -> anyhow::Result<usize> {
    let request = pb::ReadHistoryRequest { session_id: session.to_owned(), ..Default::default() };
    let mut rows = client.read_history(request).await?.into_inner();
    let (mut read, mut calls, mut results) = (0, HashMap::new(), HashMap::new());
    while let Some(row) = rows.message().await? {
        let stored = row.message.context("a row without a message")?;
        read += 1;
        ensure!(stored.seq == read, "row {read} has seq {}", stored.seq);
        for block in stored.message.into_iter().flat_map(|it| it.blocks) {
            let (known, id) = match block.kind {
                Some(Kind::ToolUse(call)) => (&mut calls, call.id),
                Some(Kind::ToolResult(result)) => (&mut results, result.tool_use_id),
                _ => continue,
            };
            ensure!(known.insert(id.clone(), stored.seq).is_none(), "{id} is there twice");
        }
    }
    ensure!(calls.len() == acknowledged.len(), "{} calls are there", calls.len());
    for (id, seq) in acknowledged {
        ensure!(calls.get(id) == Some(seq), "{id} was lost");
        ensure!(results.get(id) == Some(&(seq + 1)), "the result of {id} was lost");
    }
    is_shown(client, session, acknowledged, covered).await?;
    Ok(usize::try_from(read)?)
}

async fn is_shown(
    client: &mut Client,
    session: &str,
    acknowledged: &HashMap<String, i64>,
    covered: &[pb::SeqRange],
) -> anyhow::Result<()> {
    let context = long_context(client, session).await?.context.context("no context")?;
    let is_covered =
        |seq| covered.iter().any(|rows| (rows.first_seq..=rows.last_seq).contains(&seq));
    ensure!(
        context.overlays.len() == usize::from(!covered.is_empty()),
        "other overlays: {:?}",
        context.overlays.iter().map(|it| (&it.stage, it.kind)).collect::<Vec<_>>()
    );
    let mut shown: HashMap<i64, usize> = HashMap::new();
    for origin in context.origins.iter().filter(|it| it.overlay_id.is_empty()) {
        for seq in origin.rows.iter().flat_map(|it| it.first_seq..=it.last_seq) {
            ensure!(!is_covered(seq), "row {seq} is covered and shown");
            *shown.entry(seq).or_default() += 1;
        }
    }
    for (id, seq) in acknowledged {
        for seq in [*seq, seq + 1] {
            ensure!(shown.get(&seq) == Some(&1), "row {seq} of {id} is not shown once");
        }
    }
    Ok(())
}
