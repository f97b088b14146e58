//! Material as the service builds it, from messages as agents write them.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Message, MessageTokens, Revision, Role, Row, Seq, SeqRange, Timestamp,
        ToolOutput, ToolResult, ToolUse,
    },
    rounds::{Ledger, MessageShape},
    summary::{Material, MaterialCall, MaterialRound, Task},
};

/// A conversation in rounds.
pub(crate) fn rounds(messages: Vec<Message>) -> Vec<MaterialRound> {
    let mut ledger = Ledger::new();
    let mut rows: BTreeMap<Seq, Arc<Row>> = BTreeMap::new();
    let mut rounds: BTreeMap<Seq, MaterialRound> = BTreeMap::new();
    for message in messages {
        let placed = ledger.place(&MessageShape::of(&message));
        let (seq, turn) = (placed.seq, placed.turn);
        let row = Arc::new(Row {
            seq,
            turn,
            round: placed.round,
            revision: Revision(1),
            record_time: Timestamp::from_micros(0),
            message: Arc::new(message),
            tokens: MessageTokens::default(),
            digest: [0; 32],
        });
        rows.insert(seq, row.clone());
        let new = || MaterialRound { id: placed.round, turn, rows: Vec::new(), calls: Vec::new() };
        rounds.entry(placed.round).or_insert_with(new).rows.push(row);
        let calls = placed
            .calls
            .iter()
            .map(|(block, _, _)| MaterialCall { call: (seq, *block), answer: None });
        rounds.get_mut(&placed.round).unwrap().calls.extend(calls);
        for answered in &placed.answers {
            let round = rounds.get_mut(&answered.call.seq).unwrap();
            let key = (answered.call.seq, answered.call.block);
            for call in round.calls.iter_mut().filter(|it| it.call == key) {
                call.answer = Some((seq, answered.block));
            }
            if !round.rows.iter().any(|row| row.seq == seq) {
                round.rows.push(rows[&seq].clone());
            }
        }
    }
    rounds.into_values().collect()
}

/// These rounds and nothing else.
pub(crate) fn material(rounds: &[MaterialRound]) -> Material {
    let covered = rounds.iter().flat_map(|round| &round.rows).map(|row| row.seq);
    let covered: Vec<Seq> = covered.collect();
    let ends = covered.iter().min().zip(covered.iter().max());
    Material {
        rounds: rounds.to_vec(),
        earlier: Vec::new(),
        covered: ends
            .map(|(first, last)| SeqRange { first: *first, last: *last })
            .into_iter()
            .collect(),
    }
}

/// A task in a layout with a cap.
pub(crate) fn task(material: Material, template: &str, max_tokens: i64) -> Task {
    Task {
        material,
        template: template.to_owned(),
        min_tokens: max_tokens.min(100),
        max_tokens,
        instructions: String::new(),
    }
}

/// A conversation that is written as it is spoken.
#[derive(Debug, Default, Clone)]
pub(crate) struct Talk {
    pub(crate) messages: Vec<Message>,
    calls: usize,
}

impl Talk {
    pub(crate) fn say(mut self, role: Role, blocks: Vec<Block>) -> Self {
        self.messages.push(Message {
            role,
            blocks: blocks.into_iter().map(Arc::new).collect(),
            ..Message::default()
        });
        self
    }

    pub(crate) fn user(self, words: &str) -> Self {
        self.say(Role::User, vec![Block::text(words)])
    }

    pub(crate) fn assistant(self, words: &str) -> Self {
        self.say(Role::Assistant, vec![Block::text(words)])
    }

    /// A call and its result.
    pub(crate) fn tool(self, name: &str, input: &str, output: &str) -> Self {
        self.call("", name, input, output, false)
    }

    /// A call that fails.
    pub(crate) fn failing(self, name: &str, input: &str, output: &str) -> Self {
        self.call("", name, input, output, true)
    }

    /// Words, a call and its result.
    pub(crate) fn call(
        mut self,
        words: &str,
        name: &str,
        input: &str,
        output: &str,
        is_error: bool,
    ) -> Self {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let call = Block::new(BlockKind::ToolUse(ToolUse {
            id: id.clone(),
            name: name.to_owned(),
            input_json: Bytes::copy_from_slice(input.as_bytes()),
            ..ToolUse::default()
        }));
        let result = Block::new(BlockKind::ToolResult(ToolResult {
            tool_use_id: id,
            is_error,
            output: vec![ToolOutput::Text(Bytes::copy_from_slice(output.as_bytes()))],
            ..ToolResult::default()
        }));
        let mut blocks = vec![call];
        if !words.is_empty() {
            blocks.insert(0, Block::text(words));
        }
        self.say(Role::Assistant, blocks).say(Role::User, vec![result])
    }

    pub(crate) fn task(&self, template: &str, max_tokens: i64) -> Task {
        task(material(&rounds(self.messages.clone())), template, max_tokens)
    }
}
