//! One file, from its bytes to the server.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufRead as _, BufReader, IsTerminal as _},
    path::Path,
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Args, Report, batch::Batch, session};
use crate::{
    cli::{Out, append, remote::Remote},
    codec,
    ingest::session::{Imported, Layout, Reader, Source, SourceFormat, detect},
    proto::v1,
};

/// What a file's format is told from.
const HEAD_BYTES: usize = 64 << 10;

/// Imports one file and says what came of it.
pub(super) async fn import(
    path: &Path,
    args: &Args,
    remote: &mut Remote,
    told: &mut BTreeSet<String>,
    out: &mut Out,
) -> anyhow::Result<Report> {
    let opened = File::open(path).context("cannot open it")?;
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let progress = progress(size, &name);
    let mut input = BufReader::with_capacity(HEAD_BYTES, progress.wrap_read(opened));
    let head = input.fill_buf().context("cannot read it")?;
    let source = source(head, &name, args.format.as_deref())?;
    let session_id = session(&name, args, remote, told, out).await?;
    let reader = Reader::new(source, input);
    let mut import = Import {
        remote,
        out,
        progress,
        batch: Batch::default(),
        report: Report {
            file: path.display().to_string(),
            session_id,
            format: source.format.name().to_owned(),
            ..Report::default()
        },
    };
    for entry in reader {
        import.take(entry.context("cannot read on")?).await?;
    }
    import.flush().await?;
    import.progress.finish_and_clear();
    Ok(import.report)
}

/// A file that is being imported.
struct Import<'a> {
    remote: &'a mut Remote,
    out: &'a mut Out,
    progress: ProgressBar,
    batch: Batch,
    report: Report,
}

impl Import<'_> {
    async fn take(&mut self, entry: Imported) -> anyhow::Result<()> {
        match entry {
            Imported::Message { line, message } => {
                self.batch.push(line, &message);
                if self.batch.is_full() {
                    self.flush().await?;
                }
            }
            Imported::Item { line, item } => self.set_item(line, &item).await?,
            Imported::Skipped { reason, .. } => {
                *self.report.skipped.entry(reason.into_owned()).or_default() += 1;
            }
            Imported::Damaged { line, detail } => {
                self.report.damaged += 1;
                self.tell(line, &detail);
            }
        }
        Ok(())
    }

    async fn set_item(
        &mut self,
        line: u64,
        item: &crate::model::ContextItem,
    ) -> anyhow::Result<()> {
        let request = v1::SetContextItemRequest {
            session_id: self.report.session_id.clone(),
            item: Some(codec::session::item_to_pb(item)),
            author: "import".to_owned(),
        };
        match self.remote.set_context_item(request).await {
            Ok(_) => self.report.items += 1,
            Err(refusal) if is_about_content(&refusal.reason) => self.refused(line, &refusal),
            Err(refusal) => return Err(refusal.into()),
        }
        Ok(())
    }

    /// Sends the batch. Where the server will not take it whole, it may take
    /// most of its messages one by one.
    async fn flush(&mut self) -> anyhow::Result<()> {
        let batch = self.batch.take();
        if batch.is_empty() {
            return Ok(());
        }
        match self.append(&batch).await {
            Err(refusal) if is_about_content(&refusal.reason) => {
                for single in batch.singles() {
                    match self.append(&single).await {
                        Err(refusal) if is_about_content(&refusal.reason) => {
                            self.refused(single.first_line(), &refusal);
                        }
                        outcome => outcome?,
                    }
                }
                Ok(())
            }
            outcome => Ok(outcome?),
        }
    }

    async fn append(&mut self, batch: &Batch) -> Result<(), crate::cli::remote::Refusal> {
        let request = batch.request(&self.report.session_id);
        let answer = self.remote.append_turn(request).await?;
        let number = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        if answer.replayed {
            self.report.already_there += number;
        } else {
            self.report.messages += number;
        }
        for warning in &answer.warnings {
            self.report.warnings += 1;
            let line = append::warning_line(warning);
            let (progress, out) = (&self.progress, &mut *self.out);
            progress.suspend(|| out.problem("warning", &line));
        }
        Ok(())
    }

    fn refused(&mut self, line: u64, refusal: &crate::cli::remote::Refusal) {
        self.report.refused += 1;
        self.tell(line, &format!("refused: {refusal}"));
    }

    /// `FILE:LINE: what is wrong`.
    fn tell(&mut self, line: u64, detail: &str) {
        let words = format!("{}:{line}: {detail}", self.report.file);
        let (progress, out) = (&self.progress, &mut *self.out);
        progress.suspend(|| out.say(&words));
    }
}

/// Reasons that concern what was sent, not the server or the session.
fn is_about_content(reason: &str) -> bool {
    matches!(reason, "INVALID_FIELD" | "INVALID_PAYLOAD" | "MESSAGE_TOO_LARGE")
}

/// What a file is told from its beginning and its name.
fn source(head: &[u8], name: &str, asked: Option<&str>) -> anyhow::Result<Source> {
    let found = detect(head, name);
    match (asked.and_then(SourceFormat::named), found) {
        (Some(format), Some(found)) => Ok(Source { format, ..found }),
        (None, Some(found)) => Ok(found),
        // A damaged beginning must not keep the rest out.
        (Some(format), None) => Ok(Source { format, layout: layout(name) }),
        (None, None) => anyhow::bail!(
            "expected a recorded session, found none of a known kind; `--format` may name it"
        ),
    }
}

/// Where the beginning does not tell, the name may.
fn layout(name: &str) -> Layout {
    let extension = Path::new(name).extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("jsonl") { Layout::Lines } else { Layout::Document }
}

/// A bar on a terminal, nothing elsewhere.
fn progress(size: u64, name: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let progress = ProgressBar::with_draw_target(Some(size), target);
    let template = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    progress.set_style(style);
    progress.set_message(name.to_owned());
    progress
}
