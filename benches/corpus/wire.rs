//! A rendered request as its blocks.
//!
//! Roles alternate in a request to Anthropic, so the blocks in order, each with
//! its role, are the whole of it: a message begins where the role changes.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use concertina::{
    ingest::{Limits, payload},
    model::WireFormat,
    service::{ContextBody, ContextOutput},
    tokens,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Marks go where a request ends; what is cached is the same with and without.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// One block, as it is sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WireBlock {
    pub(crate) is_assistant: bool,
    pub(crate) is_result: bool,
    pub(crate) json: String,
    /// By the estimator, uncalibrated.
    pub(crate) tokens: i64,
}

impl WireBlock {
    /// Reads the blocks of one message.
    pub(crate) fn of_message(message: &str) -> anyhow::Result<Vec<Arc<Self>>> {
        #[derive(Deserialize)]
        struct Whole<'a> {
            role: &'a str,
            #[serde(borrow)]
            content: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
        }
        let plain = message.replace(MARK, "");
        let whole: Whole<'_> = serde_json::from_str(&plain)?;
        let read = payload(WireFormat::AnthropicMessages, plain.as_bytes(), &Limits::default())?;
        let read = read.messages.first().context("a message")?;
        ensure!(read.blocks.len() == whole.content.len(), "blocks were read as others");
        let blocks = whole.content.iter().zip(&read.blocks).map(|(json, block)| {
            let kind: Kind<'_> = serde_json::from_str(json.get())?;
            Ok(Arc::new(Self {
                is_assistant: whole.role == "assistant",
                is_result: kind.kind == "tool_result",
                json: json.get().to_owned(),
                tokens: i64::from(tokens::block(block)),
            }))
        });
        blocks.collect()
    }
}

/// Tokens of consecutive blocks that start a message.
pub(crate) fn tokens_of(blocks: &[Arc<WireBlock>]) -> i64 {
    let borders = blocks.windows(2).filter(|two| two[0].is_assistant != two[1].is_assistant);
    let messages = i64::try_from(borders.count()).unwrap_or(0) + i64::from(!blocks.is_empty());
    messages * tokens::MESSAGE_TOKENS + blocks.iter().map(|it| it.tokens).sum::<i64>()
}

/// How many leading blocks are the same bytes.
pub(crate) fn common(before: &[Arc<WireBlock>], now: &[Arc<WireBlock>]) -> usize {
    let is_same = |(a, b): &(&Arc<WireBlock>, &Arc<WireBlock>)| Arc::ptr_eq(a, b) || a == b;
    before.iter().zip(now).take_while(is_same).count()
}

/// A request.
#[derive(Default)]
pub(crate) struct Wire {
    /// System prompt and tools, as bytes …
    pub(crate) fixed: [String; 2],
    /// … and as tokens.
    pub(crate) fixed_tokens: i64,
    pub(crate) blocks: Vec<Arc<WireBlock>>,
}

/// Reads requests; what was read for the last one and is the same bytes in
/// memory is not read again.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<usize, (Bytes, Vec<Arc<WireBlock>>)>,
}

impl Reader {
    pub(crate) fn read(&mut self, context: &ContextOutput) -> anyhow::Result<Wire> {
        let ContextBody::Json { system, tools, messages } = &context.body else {
            anyhow::bail!("a JSON format was asked for");
        };
        let mut known = HashMap::with_capacity(messages.len());
        let mut blocks = Vec::new();
        for message in messages {
            let place = message.as_ptr() as usize;
            let read = match self.known.remove(&place) {
                Some((bytes, read)) if bytes.len() == message.len() => read,
                _ => WireBlock::of_message(std::str::from_utf8(message)?)?,
            };
            blocks.extend(read.iter().cloned());
            known.insert(place, (message.clone(), read));
        }
        self.known = known;
        let plain = |bytes: &Bytes| Ok(std::str::from_utf8(bytes)?.replace(MARK, ""));
        let fixed: anyhow::Result<Vec<String>> = [system, tools].into_iter().map(plain).collect();
        let [system, tools] = <[String; 2]>::try_from(fixed?).unwrap_or_default();
        Ok(Wire { fixed: [system, tools], fixed_tokens: context.budget.fixed, blocks })
    }
}
