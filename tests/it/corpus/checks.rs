//! What must hold of every context.

use bytes::Bytes;
use concertina::{
    model::{BlockKind, Message, OverlayId, Role, WireFormat},
    render::check,
    service::{ContextBody, ContextOutput},
};

use super::play::ByFormat;

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

#[derive(Default)]
pub(crate) struct Checker {
    before: ByFormat<Before>,
}

struct Before {
    overlays: Vec<OverlayId>,
    messages: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Checked {
    pub faults: Vec<String>,
    pub shortened_request: bool,
}

pub(crate) fn parts(context: &ContextOutput) -> (&Bytes, &Bytes, &[Bytes]) {
    match &context.body {
        ContextBody::Json { system, tools, messages } => (system, tools, messages),
        ContextBody::Typed(_) => panic!("a JSON format was asked for"),
    }
}

pub(crate) fn may_end_with_assistant(context: &ContextOutput) -> bool {
    context.repairs.iter().any(|repair| repair.reason == "ENDS_WITH_ASSISTANT")
}

impl Checker {
    pub(crate) fn check(
        &mut self,
        context: &ContextOutput,
        format: WireFormat,
        history: &[Message],
    ) -> Checked {
        let mut out = Checked { faults: rules(context, format), ..Checked::default() };
        budget(context, &mut out);
        newest_request(context, history, &mut out);
        self.prefix(context, format, &mut out);
        out
    }

    /// I7: between two reductions each context is a prefix of the next.
    fn prefix(&mut self, context: &ContextOutput, format: WireFormat, out: &mut Checked) {
        let now = Before {
            overlays: context.overlays.iter().map(|it| it.id.clone()).collect(),
            messages: parts(context).2.iter().map(plain).collect(),
        };
        if let Some(before) = self.before.get(&format)
            && before.overlays == now.overlays
            && let Err(at) = is_prefix(&before.messages, &now.messages, format)
        {
            out.faults.push(format!("I7: message {at} of {} changed", before.messages.len()));
        }
        self.before.insert(format, now);
    }
}

fn plain(message: &Bytes) -> String {
    String::from_utf8(message.to_vec()).unwrap().replace(MARK, "")
}

fn is_prefix(before: &[String], now: &[String], format: WireFormat) -> Result<(), usize> {
    for (at, old) in before.iter().enumerate() {
        let new = now.get(at).ok_or(at)?;
        let may_grow = format == WireFormat::AnthropicMessages && at + 1 == before.len();
        let grown = || old.strip_suffix("]}").is_some_and(|open| new.starts_with(open));
        if old != new && !(may_grow && grown()) {
            return Err(at);
        }
    }
    Ok(())
}

/// I3: no rule of the format is broken.
pub(crate) fn rules(context: &ContextOutput, format: WireFormat) -> Vec<String> {
    let (system, tools, messages) = parts(context);
    let request = check::Request {
        format,
        system_json: system,
        tools_json: tools,
        messages,
        may_end_with_assistant: may_end_with_assistant(context),
    };
    let broken = check::violations_of(&request).into_iter();
    broken.map(|it| format!("I3: {} {}", it.rule, it.detail)).collect()
}

/// I4: the limit is kept.
fn budget(context: &ContextOutput, out: &mut Checked) {
    let budget = &context.budget;
    if budget.fixed + budget.messages > budget.limit() {
        out.faults.push(format!("I4: {} + {}", budget.fixed, budget.messages));
    }
}

/// I13: the newest request is shown word for word, unless `fit` shortened it.
fn newest_request(context: &ContextOutput, history: &[Message], out: &mut Checked) {
    let asks = |message: &&Message| {
        message.role == Role::User
            && message.blocks.iter().any(
                |block| matches!(&block.kind, BlockKind::Text(it) if !it.text.trim().is_empty()),
            )
    };
    let Some((at, request)) = history.iter().enumerate().rev().find(|(_, message)| asks(message))
    else {
        return;
    };
    let seq = i64::try_from(at + 1).unwrap();
    let shortened = context.overlays.iter().any(|overlay| {
        overlay.stage == "fit"
            && !overlay.is_range()
            && overlay.covered.contains(concertina::model::Seq(seq))
    });
    if shortened {
        out.shortened_request = true;
        return;
    }
    let messages: Vec<&str> =
        parts(context).2.iter().map(|it| std::str::from_utf8(it).unwrap()).collect();
    for block in &request.blocks {
        let BlockKind::Text(words) = &block.kind else { continue };
        if words.text.trim().is_empty() {
            continue;
        }
        let quoted = serde_json::to_string(&words.text).unwrap();
        let inner = &quoted[1..quoted.len() - 1];
        if !messages.iter().any(|message| message.contains(inner)) {
            out.faults.push(format!("I13: the request of message {seq} is not shown"));
        }
    }
}
