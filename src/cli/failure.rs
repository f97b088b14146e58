//! What went wrong, told so that somebody can act on it.

use std::{io, process::ExitCode};

use super::{Out, remote::Refusal};

/// It was asked for wrongly; nothing was tried.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(String);

impl Usage {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// It was done as far as it could be, and everything that needs saying was said.
#[derive(Debug, thiserror::Error)]
#[error("not everything worked")]
pub(super) struct Partly;

const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// Tells the error and gives the exit code.
pub(super) fn report(error: &anyhow::Error, out: &mut Out) -> ExitCode {
    if error.is::<Partly>() {
        return ExitCode::from(FAILED);
    }
    if reader_went_away(error) {
        return ExitCode::SUCCESS;
    }
    out.problem("error", &chain(error));
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        tell_refusal(refusal, out);
    }
    ExitCode::from(if error.is::<Usage>() { WRONG_USAGE } else { FAILED })
}

/// The message and its causes, each said once.
fn chain(error: &anyhow::Error) -> String {
    let mut told: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !told.last().is_some_and(|last| last.contains(&cause)) {
            told.push(cause);
        }
    }
    told.join(": ")
}

fn tell_refusal(refusal: &Refusal, out: &mut Out) {
    if !refusal.reason.is_empty() {
        out.say(&format!("  reason: {}", refusal.reason));
    }
    for (key, value) in refusal.metadata.iter().chain(&refusal.fields) {
        out.say(&format!("  {key}: {value}"));
    }
    if let Some(hint) = refusal.hint.or_else(|| hint(refusal)) {
        out.problem("hint", hint);
    }
}

/// `concertina history … | head` is no failure.
fn reader_went_away(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(broken)
}

fn hint(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal.reason.as_str() {
        "SESSION_NOT_FOUND" => "`concertina sessions` lists what is there",
        "SESSION_EXISTS" => "leave the id out and the server makes one",
        "OVERLAY_NOT_FOUND" | "ALREADY_ROLLED_BACK" => {
            "`concertina overlays SESSION --all` lists them, those out of force too"
        }
        "VIEW_NOT_FOUND" => "`concertina views list SESSION` lists them",
        "PIN_NOT_FOUND" | "RANGE_PINNED" => {
            "`concertina pins SESSION` lists them, `concertina unpin SESSION PIN` takes one away"
        }
        "PLAN_NOT_FOUND" | "PLAN_EXPIRED" => "`concertina collapse prepare` makes a new one",
        "REVISION_NOT_FOUND" => "`concertina revisions SESSION` lists them",
        "RANGE_NOT_FOUND" => "`concertina history SESSION` prints the rows that are there",
        "RANGE_HOLDS_NEWEST_REQUEST" => "name rows that end before it",
        "RANGE_LEASED" => {
            "somebody summarizes these rows: later, or `concertina collapse abandon SESSION PLAN`"
        }
        "OVERLAY_CONFLICT" => "`concertina overlays SESSION` shows what came; then prepare again",
        "NOTHING_TO_COLLAPSE" => {
            "`concertina overlays SESSION` shows what is covered; other rows can be named"
        }
        "SUMMARY_TOO_LONG" | "SUMMARY_NOT_SMALLER" | "SUMMARY_REJECTED" => {
            "name a wider range: the summary of so little is hardly smaller than it"
        }
        "PIN_TOO_LARGE" => "pin fewer rows, or give the view a larger window",
        "SESSION_HAS_FORKS" => "`concertina sessions --forks-of SESSION` lists them",
        "INVALID_POLICY" => "`concertina policy show default` prints every key with its unit",
        "UNKNOWN_MODEL" => "say how large its window is: `--window TOKENS`",
        "CONTEXT_IRREDUCIBLE" => "use a larger window, or make the context items smaller",
        "SESSION_EMPTY" => "append a message first: `concertina append SESSION TEXT`",
        "SEQ_CONFLICT" => "somebody else wrote: read the new rows, then decide again",
        "IDEMPOTENCY_KEY_REUSED" => "use a new `--request-id` for other content",
        "MESSAGE_TOO_LARGE" => "keep large files outside and append what the model should see",
        "" if refusal.code == "UNAVAILABLE" => {
            "is a server running there? `concertina serve --data DIR` starts one"
        }
        "" if refusal.code == "UNIMPLEMENTED" => "this server does not offer that method yet",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_its_message_repeats_is_said_once() {
        let inner = io::Error::other("no route");
        let error = anyhow::Error::new(inner).context("cannot connect: no route");
        assert_eq!(chain(&error), "cannot connect: no route");
        assert_eq!(chain(&error.context("importing")), "importing: cannot connect: no route");
    }

    #[test]
    fn a_closed_pipe_is_recognized_under_context() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(reader_went_away(&anyhow::Error::new(pipe).context("writing")));
    }
}
