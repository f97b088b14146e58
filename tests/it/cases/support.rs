//! A conversation over the wire. Every context that is asked for is held
//! against the rules of its format.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model,
    proto::v1::{
        self as pb, Message, Role, ToolUse, WireFormat, block::Kind,
        collapse_service_client::CollapseServiceClient,
    },
    render::check::{Request, violations_of},
    summary::Summarizer,
};
use serde_json::Value;
use tonic::{Status, transport::Channel};

use crate::grpc::support::{Sessions, TestServer};
pub(crate) use crate::grpc::support::{message, result, text, told, user};

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenaiChat, WireFormat::OpenaiResponses];

/// One session `s` of one server.
pub(crate) struct Talk {
    pub(crate) server: TestServer,
    pub(crate) client: Sessions,
    pub(crate) overlays: CollapseServiceClient<Channel>,
    pub(crate) newest: i64,
}

impl Talk {
    /// Under a preset, in a window of so many tokens.
    pub(crate) async fn start(preset: &str, window: i64) -> Self {
        Self::start_with(preset, "", window).await
    }

    pub(crate) async fn start_with(preset: &str, overrides: &str, window: i64) -> Self {
        Self::over(TestServer::start().await, creating("s", preset, overrides, window)).await
    }

    /// With summaries from elsewhere.
    pub(crate) async fn summarized_by(
        summarizer: Arc<dyn Summarizer>,
        preset: &str,
        overrides: &str,
        window: i64,
    ) -> Self {
        let server = TestServer::start_with(summarizer, |_| {}).await;
        Self::over(server, creating("s", preset, overrides, window)).await
    }

    /// Of a session of its own on a server.
    pub(crate) async fn over(server: TestServer, create: pb::CreateSessionRequest) -> Self {
        let client = server.client().await;
        let overlays = server.collapses().await;
        let mut talk = Self { server, client, overlays, newest: 0 };
        talk.client.create_session(create).await.unwrap();
        talk
    }

    /// The same after a restart of the server.
    pub(crate) async fn restart(self) -> Self {
        let server = self.server.restart().await;
        let (client, overlays) = (server.client().await, server.collapses().await);
        Self { server, client, overlays, newest: self.newest }
    }

    pub(crate) async fn say(&mut self, messages: Vec<Message>) -> pb::AppendTurnResponse {
        let request =
            pb::AppendTurnRequest { session_id: "s".into(), messages, ..Default::default() };
        let answer = self.client.append_turn(request).await.unwrap().into_inner();
        self.newest = answer.last_seq;
        answer
    }

    pub(crate) async fn user(&mut self, words: &str) {
        self.say(vec![user(words)]).await;
    }

    /// A user's words and the answer.
    pub(crate) async fn exchange(&mut self, words: &str, answer: &str) {
        self.say(vec![user(words), assistant(vec![text(answer)])]).await;
    }

    /// A call and its result; the seq of the result.
    pub(crate) async fn tool(&mut self, tool: &str, input: &str, output: &str) -> i64 {
        let id = format!("c{}", self.newest + 1);
        let result = message(Role::User, vec![result(&id, output.to_owned())]);
        self.say(vec![assistant(vec![call(&id, tool, input)]), result]).await.last_seq
    }

    /// A provider's payload.
    pub(crate) async fn payload(&mut self, format: WireFormat, json: &str) {
        let payload =
            pb::ProviderPayload { format: format.into(), json: Bytes::from(json.to_owned()) };
        let request = pb::AppendTurnRequest {
            session_id: "s".into(),
            payload: Some(payload),
            ..Default::default()
        };
        self.newest = self.client.append_turn(request).await.unwrap().into_inner().last_seq;
    }

    pub(crate) async fn try_context(
        &mut self,
        request: pb::GetContextRequest,
    ) -> Result<pb::Context, Status> {
        let format = request.format();
        let context = self.client.get_context(request).await?.into_inner().context.unwrap();
        obeys(&context, format);
        Ok(context)
    }

    pub(crate) async fn context(&mut self, format: WireFormat) -> pb::Context {
        self.try_context(asking(format)).await.unwrap()
    }

    /// A context of up to so many bytes.
    pub(crate) async fn context_of(&mut self, format: WireFormat, bytes: i64) -> pb::Context {
        let roomy = usize::try_from(bytes).unwrap();
        self.client = self.client.clone().max_decoding_message_size(roomy);
        let request = pb::GetContextRequest { max_response_bytes: bytes, ..asking(format) };
        self.try_context(request).await.unwrap()
    }

    /// The messages of a context, parsed.
    pub(crate) async fn values(&mut self, format: WireFormat) -> Vec<Value> {
        values(&self.context(format).await)
    }

    /// The messages of a context as one text.
    pub(crate) async fn shown(&mut self, format: WireFormat) -> String {
        joined(&self.context(format).await)
    }

    pub(crate) async fn snip(&mut self, first: i64, last: i64) -> Result<pb::Overlay, Status> {
        let request = pb::CreateSnipRequest {
            session_id: "s".into(),
            rows: Some(pb::SeqRange { first_seq: first, last_seq: last }),
            ..Default::default()
        };
        Ok(self.overlays.create_snip(request).await?.into_inner().overlay.unwrap())
    }

    pub(crate) async fn history(&mut self) -> Vec<pb::StoredMessage> {
        let rows = crate::grpc::support::history(&mut self.client).await;
        rows.into_iter().map(|row| row.message.unwrap()).collect()
    }

    /// The whole of a piece of content.
    pub(crate) async fn content(&mut self, content: pb::ContentRef) -> Vec<u8> {
        let request = pb::ReadContentRequest {
            session_id: "s".into(),
            content: Some(content),
            ..Default::default()
        };
        let mut chunks = self.client.read_content(request).await.unwrap().into_inner();
        let mut out = Vec::new();
        while let Some(chunk) = chunks.message().await.unwrap() {
            out.extend_from_slice(&chunk.chunk);
        }
        out
    }
}

pub(crate) fn creating(
    id: &str,
    preset: &str,
    overrides: &str,
    window: i64,
) -> pb::CreateSessionRequest {
    let policy = pb::Policy {
        preset: preset.into(),
        overrides_json: Bytes::from(overrides.to_owned()),
        ..Default::default()
    };
    let model = pb::Model { context_window: window, ..Default::default() };
    pb::CreateSessionRequest {
        session_id: id.into(),
        policy: Some(policy),
        model: Some(model),
        ..Default::default()
    }
}

pub(crate) fn asking(format: WireFormat) -> pb::GetContextRequest {
    pb::GetContextRequest { session_id: "s".into(), format: format.into(), ..Default::default() }
}

fn obeys(context: &pb::Context, format: WireFormat) {
    let of = match format {
        WireFormat::AnthropicMessages => model::WireFormat::AnthropicMessages,
        WireFormat::OpenaiChat => model::WireFormat::OpenAiChat,
        WireFormat::OpenaiResponses => model::WireFormat::OpenAiResponses,
        _ => return,
    };
    let request = Request {
        format: of,
        system_json: &context.system_json,
        tools_json: &context.tools_json,
        messages: &context.messages_json,
        may_end_with_assistant: has(context, "ENDS_WITH_ASSISTANT"),
    };
    assert_eq!(violations_of(&request), [], "{}", joined(context));
    let budget = context.budget.as_ref().unwrap();
    let used = budget.fixed + budget.messages;
    assert!(used <= budget.window - budget.output_reserve, "{budget:?}");
}

/// Whether something had to be mended for that reason.
pub(crate) fn has(context: &pb::Context, reason: &str) -> bool {
    context.repairs.iter().any(|repair| repair.reason == reason)
}

pub(crate) fn values(context: &pb::Context) -> Vec<Value> {
    context.messages_json.iter().map(|json| serde_json::from_slice(json).unwrap()).collect()
}

pub(crate) fn joined(context: &pb::Context) -> String {
    let messages = context.messages_json.iter();
    messages.map(|json| std::str::from_utf8(json).unwrap()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn assistant(kinds: Vec<Kind>) -> Message {
    message(Role::Assistant, kinds)
}

pub(crate) fn results(kinds: Vec<Kind>) -> Message {
    message(Role::User, kinds)
}

pub(crate) fn call(id: &str, tool: &str, input: &str) -> Kind {
    Kind::ToolUse(ToolUse {
        id: id.into(),
        name: tool.into(),
        input_json: Bytes::from(input.to_owned()),
        ..Default::default()
    })
}

pub(crate) fn thinking(words: &str, signature: &str) -> Kind {
    Kind::Thinking(pb::Thinking {
        parts: vec![words.into()],
        signature: signature.into(),
        ..Default::default()
    })
}

/// A picture of these dimensions with so many bytes.
pub(crate) fn image(width: u32, height: u32, bytes: usize) -> Kind {
    let png = crate::projection::support::png(width, height, bytes);
    let model::ImageSource::Data(data) = png.source else { unreachable!("a picture has bytes") };
    Kind::Image(pb::Image {
        media_type: png.media_type,
        source: Some(pb::image::Source::Data(data)),
    })
}

pub(crate) fn prose(chars: usize) -> String {
    crate::projection::support::prose(chars)
}

/// How often `part` stands in `whole`.
pub(crate) fn count(whole: &str, part: &str) -> usize {
    whole.matches(part).count()
}
