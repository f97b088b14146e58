//! The independent check, asked about one context after the other.

use std::{
    io::Write as _,
    process::{Child, ChildStdin, Command, Stdio},
};

use concertina::{model::WireFormat, service::ContextOutput};

use super::checks;

/// A running check: reads a request a line, and tells what is wrong when it is
/// done.
pub(crate) struct Outside {
    child: Child,
    input: ChildStdin,
    output: std::thread::JoinHandle<String>,
}

impl Outside {
    pub(crate) fn start(script: String) -> Self {
        let mut child = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let output = std::thread::spawn(move || {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut stdout, &mut text).unwrap();
            text
        });
        Self { child, input, output }
    }

    pub(crate) fn ask(
        &mut self,
        label: &str,
        format: WireFormat,
        context: &ContextOutput,
    ) -> Option<String> {
        let (system, tools, messages) = checks::parts(context);
        let name = match format {
            WireFormat::AnthropicMessages => "anthropic",
            WireFormat::OpenAiChat => "openai-chat",
            WireFormat::OpenAiResponses => "openai-responses",
            WireFormat::Typed => return None,
        };
        let part = |bytes: &[u8]| {
            if bytes.is_empty() { "null".to_owned() } else { one_line(bytes) }
        };
        let messages: Vec<String> = messages.iter().map(|it| one_line(it)).collect();
        let line = format!(
            r#"{{"id":{},"format":"{name}","may_end_with_assistant":{},"system":{},"tools":{},"messages":[{}]}}"#,
            serde_json::to_string(label).unwrap(),
            checks::may_end_with_assistant(context),
            part(system),
            part(tools),
            messages.join(","),
        );
        writeln!(self.input, "{line}").err().map(|err| format!("{label}: the check ended: {err}"))
    }

    pub(crate) fn finish(mut self) {
        drop(self.input);
        let said = self.output.join().unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success() && said.is_empty(), "{}", &said[..said.len().min(4000)]);
    }
}

/// JSON that a client wrote may hold line breaks between its tokens.
fn one_line(json: &[u8]) -> String {
    String::from_utf8(json.to_vec()).unwrap().replace(['\n', '\r'], " ")
}
