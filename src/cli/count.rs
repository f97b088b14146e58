//! `concertina count`: what a text or a message would count as.

use serde::Serialize;

use super::{
    Out, Remote,
    args::{self, Format},
    text,
};
use crate::proto::v1::{self, count_tokens_request::Content};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The text or JSON, or @FILE; standard input where it is `-` or left out.
    content: Option<String>,
    /// The content is JSON of this provider.
    #[arg(long, value_enum, value_name = "FORMAT")]
    payload_format: Option<Format>,
    /// The model whose calibration counts.
    #[arg(long)]
    model: Option<String>,
}

#[derive(Serialize)]
struct CountJson<'a> {
    tokens: i64,
    calibrated_tokens: i64,
    tokenizer: &'a str,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let content = args::argument_or_stdin(args.content.as_deref())?;
    let content = match args.payload_format {
        Some(format) => Content::Payload(v1::ProviderPayload {
            format: format.wire().into(),
            json: content.into(),
        }),
        None => Content::Text(String::from_utf8_lossy(&content).into_owned()),
    };
    let model = args.model.map(|name| v1::Model { name, ..v1::Model::default() });
    let request = v1::CountTokensRequest { model, content: Some(content) };
    let answer = remote.count_tokens(request).await?;
    if out.is_json() {
        out.json(&CountJson {
            tokens: answer.tokens,
            calibrated_tokens: answer.calibrated_tokens,
            tokenizer: &answer.tokenizer,
        })?;
    } else {
        let calibrated = text::thousands(answer.calibrated_tokens);
        let counted = text::count(answer.tokens, "token");
        out.line(format!("{counted} ({}), {calibrated} calibrated", answer.tokenizer))?;
    }
    Ok(())
}
