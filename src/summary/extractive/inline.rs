//! Calls of agents whose format has none: they stand in the assistant's text,
//! and a user message says what they came to.

use serde_json::{Map, Value};

/// A call written in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InlineCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub input_json: Vec<u8>,
}

/// The call that ends an assistant's text: `<function=name>…` or a fenced block.
pub(super) fn call(text: &str) -> Option<InlineCall> {
    function(text).or_else(|| fenced(text))
}

fn function(text: &str) -> Option<InlineCall> {
    let (_, rest) = text.rsplit_once("<function=")?;
    let (tool, mut rest) = rest.split_once('>')?;
    let mut args = Map::new();
    while let Some((_, after)) = rest.split_once("<parameter=") {
        let (name, after) = after.split_once('>')?;
        let (value, after) = after.split_once("</parameter>").unwrap_or((after, ""));
        args.insert(name.trim().to_owned(), Value::String(value.trim_matches('\n').to_owned()));
        rest = after;
    }
    Some(InlineCall {
        tool: tool.trim().to_owned(),
        input_json: Value::Object(args).to_string().into_bytes(),
    })
}

fn fenced(text: &str) -> Option<InlineCall> {
    let before = text.trim_end().strip_suffix("```")?;
    let (_, block) = before.rsplit_once("```")?;
    // The first line may name a language.
    let (language, script) = block.split_once('\n')?;
    let is_shell = matches!(language.trim(), "" | "bash" | "sh" | "shell" | "console");
    let script = script.trim();
    if !is_shell || script.is_empty() {
        return None;
    }
    let args = serde_json::json!({ "command": script });
    Some(InlineCall { tool: "bash".to_owned(), input_json: args.to_string().into_bytes() })
}

/// What a command of SWE-agent's own does to files; `None` for a shell's.
pub(super) enum OwnCommand {
    /// `open path`.
    Open(String),
    /// `create path`.
    Create(String),
    /// `edit 10:20 … end_of_edit`: the file that is open.
    Edit,
}

/// Reads a command of SWE-agent's own.
pub(super) fn own_command(script: &str) -> Option<OwnCommand> {
    let mut words = script.split_whitespace();
    let (name, argument) = (words.next()?, words.next()?);
    let argument = argument.trim_matches(['"', '\'']).to_owned();
    match name {
        "open" => Some(OwnCommand::Open(argument)),
        "create" => Some(OwnCommand::Create(argument)),
        "edit" => {
            let (from, to) = argument.split_once(':')?;
            let are_numbers =
                !from.is_empty() && from.bytes().chain(to.bytes()).all(|it| it.is_ascii_digit());
            are_numbers.then_some(OwnCommand::Edit)
        }
        _ => None,
    }
}

/// The file that SWE-agent says is open, in what it prints after a command.
pub(super) fn open_file(observation: &str) -> Option<&str> {
    let (_, rest) = observation.rsplit_once("(Open file: ")?;
    let (path, _) = rest.split_once(')')?;
    (path != "n/a" && !path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_text_are_found() {
        let found = call("Let me run it.\n```\npython a.py\n```").unwrap();
        assert_eq!(
            (found.tool.as_str(), &*found.input_json),
            ("bash", &br#"{"command":"python a.py"}"#[..])
        );
        let found = call("ok\n<function=str_replace_editor>\n<parameter=command>view</parameter>\n<parameter=path>/a</parameter>\n</function>").unwrap();
        assert_eq!(found.tool, "str_replace_editor");
        assert_eq!(found.input_json, br#"{"command":"view","path":"/a"}"#);
        assert_eq!(call("```rust\nfn a() {}\n```"), None);
        assert_eq!(call("plain"), None);
        assert!(matches!(own_command("edit 10:20\nx\nend_of_edit"), Some(OwnCommand::Edit)));
        assert!(own_command("edit a").is_none());
        assert_eq!(
            open_file("x\n(Open file: /a/b.py)\n(Current directory: /a)\nbash-$"),
            Some("/a/b.py")
        );
    }
}
