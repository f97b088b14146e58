//! What cases are made of.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    codec,
    model::{
        Block, BlockKind, Cause, Cleared, ContentRef, Message, MessageTokens, Model, Namespace,
        Overlay, OverlayId, OverlayKind, Pin, PinId, PlanId, Revision, Role, Row, RowSet, Seq,
        SeqRange, SessionId, Timestamp, ToolOutput, ToolResult, ToolUse, View, ViewName,
    },
    rounds::MessageShape,
    store::{
        Append, Appended, CommitOverlays, Committed, DeleteView, Error, NewPin, NewPlan, NewRow,
        NewSession, Plan, PlannedOn, RequestKey, RollbackOverlay, RowsQuery, SessionRef, SetView,
        SetViewParts, Store, Unpin,
    },
};

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanos: 0 }
}

pub(super) fn session(id: &str) -> SessionRef {
    session_of(Namespace::DEFAULT, id)
}

pub(super) fn session_of(namespace: &str, id: &str) -> SessionRef {
    SessionRef { namespace: Namespace::new(namespace), id: SessionId::new(id) }
}

pub(super) fn request(id: &str, digest: u8) -> RequestKey {
    RequestKey { id: id.into(), digest: [digest; 32] }
}

pub(super) fn new_session(session: SessionRef) -> NewSession {
    NewSession {
        session,
        display_name: String::new(),
        labels: [].into(),
        parent_session_id: String::new(),
        main: parts(None),
        at: at(1_000),
        request: None,
    }
}

pub(super) async fn created(store: &dyn Store, id: &str) -> SessionRef {
    store.create_session(new_session(session(id))).await.unwrap();
    session(id)
}

pub(super) fn model(name: &str) -> Model {
    Model {
        name: name.into(),
        context_window: 200_000,
        output_reserve: Some(8_192),
        request_bytes_limit: 20 << 20,
        caller_fixed_tokens: 35_000,
    }
}

pub(super) fn parts(model: Option<Model>) -> SetViewParts {
    SetViewParts {
        preset: "default".into(),
        overrides_json: Bytes::from_static(b"{\"b\":1, \"a\":2}"),
        policy_json: Bytes::from_static(b"{\"stages\":[]}"),
        model,
    }
}

pub(super) fn set(session: &SessionRef, name: &str, parts: SetViewParts) -> SetView {
    SetView {
        session: session.clone(),
        view: ViewName::new(name),
        parts,
        only_without_model: false,
        author: "ann".into(),
        at: at(5_000),
    }
}

pub(super) fn deletion(session: &SessionRef, name: &str) -> DeleteView {
    DeleteView { session: session.clone(), view: ViewName::new(name), at: at(6_000) }
}

pub(super) fn view_of(name: ViewName, parts: SetViewParts, revision: i64) -> View {
    View {
        name,
        preset: parts.preset,
        overrides_json: parts.overrides_json,
        policy_json: parts.policy_json,
        model: parts.model,
        reductions_revision: Revision(revision),
    }
}

pub(super) fn message(role: Role, lane: &str, blocks: Vec<BlockKind>) -> Message {
    Message {
        role,
        lane: lane.into(),
        author: "ann".into(),
        blocks: blocks.into_iter().map(|it| Arc::new(Block::new(it))).collect(),
        ..Message::default()
    }
}

pub(super) fn call(id: &str) -> BlockKind {
    BlockKind::ToolUse(ToolUse {
        id: id.into(),
        name: "bash".into(),
        input_json: Bytes::from_static(b"{\"command\":\"ls\"}"),
        ..ToolUse::default()
    })
}

pub(super) fn result(id: &str, text: &str) -> BlockKind {
    BlockKind::ToolResult(ToolResult {
        tool_use_id: id.into(),
        output: vec![ToolOutput::Text(Bytes::copy_from_slice(text.as_bytes()))],
        ..ToolResult::default()
    })
}

pub(super) fn words(text: &str) -> NewRow {
    row(message(Role::User, "", vec![Block::text(text).kind]))
}

pub(super) fn row(message: Message) -> NewRow {
    let encoded = codec::encode(&message);
    let blocks: Vec<u32> = (0_u32..).step_by(100).take(message.blocks.len()).collect();
    NewRow {
        digest: codec::digest(&encoded),
        tokens: MessageTokens { total: 4 + i64::from(blocks.iter().sum::<u32>()), blocks },
        shape: MessageShape::of(&message),
        message: Arc::new(message),
        encoded,
    }
}

pub(super) fn append(session: &SessionRef, rows: Vec<NewRow>) -> Append {
    Append {
        session: session.clone(),
        rows,
        expected_next_seq: None,
        author: "ann".into(),
        at: at(2_000),
        request: None,
    }
}

pub(super) async fn appended(store: &dyn Store, session: &SessionRef, rows: usize) -> Appended {
    let rows = (0..rows).map(|n| words(&format!("message {n}"))).collect();
    store.append(append(session, rows)).await.unwrap()
}

pub(super) fn everything() -> RowsQuery {
    RowsQuery {
        first: Seq(1),
        last: Seq(i64::MAX),
        newest_first: false,
        limit: usize::MAX,
        limit_bytes: usize::MAX,
    }
}

pub(super) async fn all_rows(store: &dyn Store, session: &SessionRef) -> Vec<Row> {
    store.read_rows(session, everything()).await.unwrap()
}

pub(super) fn seqs(rows: &[Row]) -> Vec<i64> {
    rows.iter().map(|it| it.seq.0).collect()
}

pub(super) fn rows_of(first: i64, last: i64) -> RowSet {
    RowSet::of_ranges(vec![SeqRange { first: Seq(first), last: Seq(last) }])
}

/// A collapse of the rows from `first` to `last`.
pub(super) fn collapse(id: &str, first: i64, last: i64) -> Overlay {
    Overlay {
        id: OverlayId::new(id),
        view: ViewName::main(),
        kind: OverlayKind::Collapse,
        covered: rows_of(first, last),
        kept: RowSet::default(),
        summary: format!("what {first} to {last} came to"),
        cleared: Vec::new(),
        tokens_before: 100,
        tokens_after: 10,
        summarizer: "extractive".into(),
        cause: Cause::Manual,
        stage: String::new(),
        author: String::new(),
        commit_revision: Revision::default(),
        commit_time: Timestamp::default(),
        rollback: None,
        transcript_id: String::new(),
        covered_overlays: Vec::new(),
        source_digest: [7; 32],
    }
}

/// A clear of a piece of each row from `first` to `last`.
pub(super) fn clear(id: &str, first: i64, last: i64) -> Overlay {
    let cleared = (first..=last).map(|seq| Cleared {
        content: ContentRef { seq: Seq(seq), block: 0, output: (seq % 2 == 0).then_some(1) },
        shown_as: format!("[cleared {seq}]"),
    });
    Overlay {
        kind: OverlayKind::Clear,
        cleared: cleared.collect(),
        summary: String::new(),
        ..collapse(id, first, last)
    }
}

pub(super) fn ids(overlays: &[Overlay]) -> Vec<&str> {
    overlays.iter().map(|it| it.id.as_str()).collect()
}

pub(super) fn commit(
    session: &SessionRef,
    planned_at: i64,
    overlays: Vec<Overlay>,
) -> CommitOverlays {
    CommitOverlays {
        session: session.clone(),
        view: ViewName::main(),
        planned_on: PlannedOn::View(Revision(planned_at)),
        overlays,
        supersedes: Vec::new(),
        author: "bob".into(),
        at: at(3_000),
        request: None,
    }
}

/// Commits to `main`, planned just now.
pub(super) async fn committed(
    store: &dyn Store,
    session: &SessionRef,
    overlays: Vec<Overlay>,
) -> Result<Committed, Error> {
    let planned_at = reduced_at(store, session).await;
    store.commit_overlays(commit(session, planned_at, overlays)).await
}

/// When `main` was last reduced.
pub(super) async fn reduced_at(store: &dyn Store, session: &SessionRef) -> i64 {
    view_reduced_at(store, session, ViewName::MAIN).await
}

pub(super) async fn view_reduced_at(store: &dyn Store, session: &SessionRef, name: &str) -> i64 {
    let views = store.get_session(session).await.unwrap().views;
    views.iter().find(|it| it.name.as_str() == name).unwrap().reductions_revision.0
}

/// A pin of the rows from `first` to `last` of `main`.
pub(super) fn pin(session: &SessionRef, id: &str, first: i64, last: i64) -> NewPin {
    NewPin {
        session: session.clone(),
        view: ViewName::main(),
        id: PinId::new(id),
        rows: SeqRange { first: Seq(first), last: Seq(last) },
        reason: "matters".into(),
        author: "pia".into(),
        at: at(7_000),
        request: None,
    }
}

pub(super) fn unpin(session: &SessionRef, id: &str) -> Unpin {
    Unpin { session: session.clone(), pin: PinId::new(id), at: at(7_500) }
}

/// The ids of the pins that hold in a view.
pub(super) async fn pins(store: &dyn Store, session: &SessionRef, view: &str) -> Vec<String> {
    let pins: Vec<Pin> = store.list_pins(session, &ViewName::new(view)).await.unwrap();
    pins.iter().map(|it| it.id.to_string()).collect()
}

/// A plan to collapse the rows from `first` to `last` of `main`, where nothing
/// is in force. It is made at 8,000 and holds until 8,120.
pub(super) fn plan(id: &str, first: i64, last: i64) -> Plan {
    Plan {
        id: PlanId::new(id),
        view: ViewName::main(),
        kind: OverlayKind::Collapse,
        covered: rows_of(first, last),
        kept: RowSet::default(),
        overlays: Vec::new(),
        pins: Vec::new(),
        source_digest: [7; 32],
        max_summary_tokens: 300,
        stage: String::new(),
        is_own: false,
        author: "pam".into(),
        create_time: at(8_000),
        expire_time: at(8_120),
        end: None,
    }
}

pub(super) fn prepare(session: &SessionRef, planned_at: i64, plans: Vec<Plan>) -> NewPlan {
    NewPlan { session: session.clone(), planned_at: Revision(planned_at), plans, request: None }
}

/// Leases ranges of `main`, looked at just now.
pub(super) async fn prepared(
    store: &dyn Store,
    session: &SessionRef,
    plans: Vec<Plan>,
) -> Result<Vec<Plan>, Error> {
    let planned_at = reduced_at(store, session).await;
    Ok(store.prepare(prepare(session, planned_at, plans)).await?.plans)
}

/// What plans of `main` planned, to be committed at 8,050.
pub(super) fn planned(
    session: &SessionRef,
    plans: &[&str],
    overlays: Vec<Overlay>,
) -> CommitOverlays {
    CommitOverlays {
        planned_on: PlannedOn::Plans(plans.iter().map(|id| PlanId::new(id)).collect()),
        at: at(8_050),
        ..commit(session, 0, overlays)
    }
}

pub(super) fn rollback(session: &SessionRef, id: &str) -> RollbackOverlay {
    RollbackOverlay {
        session: session.clone(),
        overlay: OverlayId::new(id),
        clears_too: false,
        pin: None,
        reason: "wrong".into(),
        author: "eve".into(),
        at: at(4_000),
    }
}

pub(super) async fn revision(store: &dyn Store, session: &SessionRef) -> i64 {
    store.get_session(session).await.unwrap().revision.0
}
