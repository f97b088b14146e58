//! Real sessions, where there are any: `CONCERTINA_CORPUS` names their folder,
//! which has a folder for each program and `normalized/` with the same sessions
//! in one shape.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::{Path, PathBuf},
};

use concertina::{
    ingest::session::{Imported, Reader, Source, SourceFormat, detect},
    model::{BlockKind, Message, Role},
    rounds::{Ledger, MessageShape},
};

fn corpus() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the corpus is not part of the repository")]
    std::env::var("CONCERTINA_CORPUS").ok().map(PathBuf::from)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn source_of(path: &Path) -> Option<Source> {
    let mut first = Vec::new();
    File::open(path).unwrap().take(64 << 10).read_to_end(&mut first).unwrap();
    detect(&first, path.to_str().unwrap())
}

#[derive(Debug, Default)]
struct Counts {
    calls: usize,
    results: usize,
    images: usize,
    turns: usize,
    /// Results of no call, results that came when their round was over, and
    /// results that took another's place.
    orphans: usize,
    late: usize,
    superseded: usize,
}

fn read(path: &Path, source: Source) -> Counts {
    let file = File::open(path).unwrap();
    let (mut counts, mut ledger) = (Counts::default(), Ledger::new());
    for imported in Reader::new(source, BufReader::new(file)) {
        match imported.unwrap() {
            Imported::Message { message, .. } => {
                count(&message, &mut counts);
                place(&message, &mut ledger, &mut counts);
            }
            Imported::Item { .. } | Imported::Skipped { .. } => {}
            Imported::Damaged { line, detail } => panic!("{}:{line}: {detail}", path.display()),
        }
    }
    counts
}

fn count(message: &Message, counts: &mut Counts) {
    let mut has_more_than_results = false;
    for block in &message.blocks {
        match &block.kind {
            BlockKind::ToolUse(_) => counts.calls += 1,
            BlockKind::ToolResult(_) => {
                counts.results += 1;
                continue;
            }
            BlockKind::Image(_) => counts.images += 1,
            _ => {}
        }
        has_more_than_results = true;
    }
    counts.turns += usize::from(message.role == Role::User && has_more_than_results);
}

fn place(message: &Message, ledger: &mut Ledger, counts: &mut Counts) {
    let placement = ledger.place(&MessageShape::of(message));
    counts.orphans += placement.orphans.len();
    counts.late += placement.answers.iter().filter(|it| it.is_late).count();
    counts.superseded += placement.answers.iter().filter(|it| it.supersedes.is_some()).count();
}

/// A row of `MANIFEST.tsv`, which was made by other programs than this one.
struct Row {
    file: String,
    format: String,
    turns: usize,
    calls: usize,
    images: usize,
    repairs: String,
}

impl Row {
    /// How often the normalized twin had to be mended that way.
    fn repairs(&self, name: &str) -> usize {
        let each = self.repairs.split(';').filter_map(|it| it.split_once('='));
        each.filter(|(it, _)| *it == name).map(|(_, count)| count.parse::<usize>().unwrap()).sum()
    }
}

fn manifest(corpus: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        Row {
            file: cells[0].to_owned(),
            format: cells[1].to_owned(),
            turns: cells[7].parse().unwrap(),
            calls: cells[8].parse().unwrap(),
            images: cells[11].parse().unwrap(),
            repairs: cells[18].to_owned(),
        }
    });
    rows.collect()
}

#[test]
fn every_real_session_imports_whole() {
    let Some(corpus) = corpus() else {
        assert_eq!(SourceFormat::named("codex"), Some(SourceFormat::Codex), "no corpus here");
        return;
    };
    let mut imported = 0;
    for row in manifest(&corpus) {
        let Some(format) = SourceFormat::named(&row.format) else { continue };
        let path = corpus.join(&row.file);
        let source = source_of(&path).unwrap();
        assert_eq!(source.format, format, "{}", row.file);
        let counts = read(&path, source);
        assert_eq!(counts.calls, row.calls, "{}", row.file);
        // What is on a branch that was left is history all the same.
        let turns = row.turns + row.repairs("abandoned_branch_records");
        assert_eq!(counts.turns, turns, "{}", row.file);
        let unanswered = counts.calls + counts.orphans + counts.superseded - counts.results;
        assert_eq!(unanswered, row.repairs("synthesized_results"), "{}", row.file);
        assert_eq!(counts.orphans, row.repairs("dropped_orphan_results"), "{}", row.file);
        assert_eq!((counts.late, counts.superseded), (0, 0), "{}", row.file);
        if format != SourceFormat::Codex {
            // Those of the rollouts were blotted out and no longer decode.
            assert_eq!(counts.images, row.images, "{}", row.file);
        }
        imported += 1;
    }
    assert!(imported > 20, "{imported}");
}

#[test]
fn every_record_of_a_real_session_imports() {
    let Some(corpus) = corpus() else {
        assert_eq!(SourceFormat::named("anthropic"), Some(SourceFormat::Anthropic));
        return;
    };
    for row in manifest(&corpus) {
        let name = Path::new(&row.file).file_name().unwrap().to_str().unwrap();
        let stem = name.split('.').next().unwrap();
        let path = corpus.join("normalized").join(format!("{stem}.jsonl"));
        let counts = read(&path, source_of(&path).unwrap());
        assert_eq!((counts.calls, counts.turns), (row.calls, row.turns), "{stem}");
        assert_eq!(counts.results, counts.calls, "{stem}");
        assert_eq!((counts.orphans, counts.late, counts.superseded), (0, 0, 0), "{stem}");
    }
}

#[test]
fn what_is_no_session_is_not_taken_for_one() {
    assert_eq!(detect(b"# aider chat started at noon", "a.md"), None);
    let Some(corpus) = corpus() else { return };
    for path in files(&corpus.join("aider")) {
        assert_eq!(source_of(&path), None, "{}", path.display());
    }
}
