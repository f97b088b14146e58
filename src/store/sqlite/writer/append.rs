//! Appending rows: one statement, whatever they are and however many append.

use super::{
    super::{command::PackedAppend, content::Packed, error::Failure, statements, values},
    Bound, Writer,
    heads::{Head, micros},
    pairing::Pairing,
    requests::Scope,
};
use crate::{
    codec::role_to_pb,
    model::{Revision, Seq},
    rounds::{CallKey, KnownCall, Placement},
    store::{Append, Appended, Error, NewRow},
};

/// What is answered to a repeated append: first seq, last seq, revision.
type Known = (i64, i64, i64);

/// An append in its place, to be written.
pub(super) struct Placed {
    pub(super) packed: PackedAppend,
    pub(super) appended: Appended,
    key: i64,
    turn: i64,
    tokens_before: i64,
    tokens: i64,
}

impl Placed {
    fn new(packed: PackedAppend, head: &mut Head) -> Self {
        let tokens_before = head.tokens;
        let placements = place(head, &packed.append.rows);
        let appended = Appended {
            first_seq: placements.first().map_or(head.next_seq(), |it| it.seq),
            last_seq: Seq(head.next_seq().0 - 1),
            revision: head.next_revision(),
            replayed: false,
            placements,
        };
        Self {
            packed,
            appended,
            key: head.key,
            turn: head.ledger.turn(),
            tokens_before,
            tokens: head.tokens,
        }
    }
}

impl Writer {
    /// Places an append on what is in memory; gives it back where that is not
    /// enough to know its place.
    pub(super) fn place_from_memory(
        &mut self,
        packed: PackedAppend,
    ) -> Result<Placed, Box<PackedAppend>> {
        let Some(mut head) = self.heads.take(&packed.append.session) else {
            return Err(Box::new(packed));
        };
        let session = packed.append.session.clone();
        let is_known = |row: &NewRow| head.ledger.missing_ids(&row.shape).is_empty();
        let is_enough =
            refusal(&packed.append, &head).is_none() && packed.append.rows.iter().all(is_known);
        let placed =
            if is_enough { Ok(Placed::new(packed, &mut head)) } else { Err(Box::new(packed)) };
        self.heads.put(&session, head);
        placed
    }

    /// Appends, whatever has to be looked up for it.
    pub(super) async fn append(&mut self, packed: PackedAppend) -> Result<Appended, Failure> {
        let mut head = self.head(&packed.append.session).await?;
        if let Some(refusal) = refusal(&packed.append, &head) {
            let known = self.known_append(&packed.append, head.key).await?;
            self.heads.put(&packed.append.session, head);
            return known.map_or(refusal, Ok);
        }
        self.learn(&mut head, &packed.append.rows).await?;
        let placed = Placed::new(packed, &mut head);
        let append = &placed.packed.append;
        match self.insert(std::iter::once(&placed)).await {
            Ok(()) => {
                self.heads.put(&append.session, head);
                Ok(placed.appended)
            }
            // The request was known: the head, which has moved on, is dropped.
            Err(Failure::Undone(err)) if err.is_conflict() => {
                let known = self.known_append(append, head.key).await?;
                known.ok_or(Failure::Undone(err))
            }
            Err(failure) => Err(failure),
        }
    }

    async fn known_append(
        &mut self,
        append: &Append,
        key: i64,
    ) -> Result<Option<Appended>, Failure> {
        let known: Option<Known> = self.known(Scope::Session(key), append.request.as_ref()).await?;
        Ok(known.map(|(first, last, revision)| Appended {
            first_seq: Seq(first),
            last_seq: Seq(last),
            revision: Revision(revision),
            replayed: true,
            placements: Vec::new(),
        }))
    }

    /// Looks up the calls that the rows' ids may mean.
    async fn learn(&mut self, head: &mut Head, rows: &[NewRow]) -> Result<(), Failure> {
        let mut ids: Vec<String> =
            rows.iter().flat_map(|row| head.ledger.missing_ids(&row.shape)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        ids.sort_unstable();
        ids.dedup();
        let statement =
            if head.is_fork { statements::CALLS_BY_ID_OF_FORK } else { statements::CALLS_BY_ID };
        let found: Vec<CallRow> = sqlx::query_as(statement)
            .bind(head.key)
            .bind(values::json(&ids))
            .fetch_all(&mut self.conn)
            .await?;
        head.ids_in_memory += ids.len();
        for id in ids {
            let of_id = found.iter().filter(|it| it.id == id);
            head.ledger.learn(&id, of_id.map(CallRow::known).collect());
        }
        Ok(())
    }

    /// Writes appends, all or none; at most as many as there are statements.
    pub(super) async fn insert<'a>(
        &mut self,
        batch: impl ExactSizeIterator<Item = &'a Placed>,
    ) -> Result<(), Failure> {
        let statement = batch.len().checked_sub(1);
        let Some(statement) = statement.and_then(|at| statements::APPENDS_AT_ONCE.get(at)) else {
            return Ok(());
        };
        let mut statement = sqlx::query(*statement);
        for placed in batch {
            statement = placed.bind(statement, self.last_content + 1);
            // Ids of an append that is undone are not given again.
            let rows = placed.packed.append.rows.len();
            self.last_content += i64::try_from(rows).unwrap_or(i64::MAX);
        }
        self.write_one(statement).await
    }
}

impl Placed {
    fn bind<'q>(&'q self, statement: Bound<'q>, first_content: i64) -> Bound<'q> {
        let Self { packed: PackedAppend { append, contents }, appended, .. } = self;
        let mut pairing = Pairing::default();
        for (row, placement) in append.rows.iter().zip(&appended.placements) {
            pairing.add(row, placement);
        }
        let pairing = (!pairing.is_empty()).then_some(pairing);
        let (rows, digests) = rows(append, contents, self.tokens_before, appended);
        let known: Known = (appended.first_seq.0, appended.last_seq.0, appended.revision.0);
        statement
            .bind(self.key)
            .bind(appended.revision.0)
            .bind(micros(append.at))
            .bind(append.author.as_str())
            .bind(first_content)
            .bind(rows)
            .bind(contents.bytes.as_slice())
            .bind(digests)
            .bind(appended.last_seq.next().0)
            .bind(self.turn)
            .bind(self.tokens)
            .bind(append.request.as_ref().map(|it| it.id.as_str()))
            .bind(append.request.as_ref().map(|it| it.digest.as_slice()))
            .bind(append.request.as_ref().map(|_| values::json(&known)))
            .bind(pairing.as_ref().map(Pairing::rounds))
            .bind(pairing.as_ref().map(Pairing::calls))
            .bind(pairing.as_ref().map(Pairing::answers))
    }
}

/// A call joined with its round's lane.
#[derive(Debug, sqlx::FromRow)]
struct CallRow {
    id: String,
    seq: i64,
    block: u32,
    lane: String,
    answer_seq: Option<i64>,
    answer_block: Option<u32>,
}

impl CallRow {
    fn known(&self) -> KnownCall {
        KnownCall {
            call: CallKey { seq: Seq(self.seq), block: self.block },
            lane: self.lane.clone(),
            answer: self.answer_seq.map(Seq).zip(self.answer_block),
        }
    }
}

/// What is answered without writing anything, unless the request is known.
fn refusal(append: &Append, head: &Head) -> Option<Result<Appended, Failure>> {
    let found = head.next_seq();
    match append.expected_next_seq {
        Some(expected) if expected != found => {
            Some(Err(Error::SeqMoved { expected, found }.into()))
        }
        _ if append.rows.is_empty() => Some(Ok(Appended {
            first_seq: found,
            last_seq: Seq(found.0 - 1),
            revision: head.revision,
            replayed: false,
            placements: Vec::new(),
        })),
        _ => None,
    }
}

fn place(head: &mut Head, rows: &[NewRow]) -> Vec<Placement> {
    let mut placements = Vec::with_capacity(rows.len());
    for row in rows {
        placements.push(head.ledger.place(&row.shape));
        head.ids_in_memory += row.shape.calls.len();
        head.tokens += row.tokens.total;
    }
    placements
}

/// The rows as a JSON array, and beside it one buffer with the digest and the
/// block tokens of each.
fn rows(
    append: &Append,
    contents: &Packed,
    mut tokens_before: i64,
    appended: &Appended,
) -> (String, Vec<u8>) {
    let mut digests = Vec::new();
    let mut rows = Vec::with_capacity(append.rows.len());
    let placed = append.rows.iter().zip(&appended.placements).zip(&contents.pieces);
    for ((row, placement), piece) in placed {
        let place = digests.len() + 1;
        digests.extend_from_slice(&row.digest);
        digests.extend_from_slice(&values::block_tokens(&row.tokens));
        rows.push((
            placement.seq.0,
            placement.turn,
            placement.round.0,
            row.shape.lane.as_str(),
            i32::from(role_to_pb(row.shape.role)),
            row.message.author.as_str(),
            row.tokens.total,
            tokens_before,
            row.encoded.len(),
            piece.codec as i64,
            piece.offset,
            piece.len,
            place,
            digests.len() + 1 - place - row.digest.len(),
        ));
        tokens_before += row.tokens.total;
    }
    (values::json(&rows), digests)
}
