//! Real sessions, where there are any: `CONCERTINA_CORPUS` names their folder,
//! which has a folder for each program and `normalized/` with the same sessions
//! in one shape.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read as _, Seek as _},
    path::{Path, PathBuf},
};

use concertina::{
    ingest::session::{Imported, Reader, Source, SourceFormat, detect},
    model::{BlockKind, Message, Role},
};

fn corpus() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the corpus is not part of the repository")]
    std::env::var("CONCERTINA_CORPUS").ok().map(PathBuf::from)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn source_of(path: &Path) -> Option<Source> {
    let mut first = Vec::new();
    File::open(path).unwrap().take(64 << 10).read_to_end(&mut first).unwrap();
    detect(&first, path.to_str().unwrap())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    messages: usize,
    items: usize,
    skipped: usize,
    calls: usize,
    results: usize,
    images: usize,
    turns: usize,
}

fn read(path: &Path, source: Source) -> Counts {
    let mut file = File::open(path).unwrap();
    file.rewind().unwrap();
    let mut counts = Counts::default();
    for imported in Reader::new(source, BufReader::new(file)) {
        match imported.unwrap() {
            Imported::Message { message, .. } => count(&message, &mut counts),
            Imported::Item { .. } => counts.items += 1,
            Imported::Skipped { .. } => counts.skipped += 1,
            Imported::Damaged { line, detail } => panic!("{}:{line}: {detail}", path.display()),
        }
    }
    counts
}

fn count(message: &Message, counts: &mut Counts) {
    counts.messages += 1;
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

const FOLDERS: [(&str, SourceFormat); 8] = [
    ("claude-code", SourceFormat::ClaudeCode),
    ("codex", SourceFormat::Codex),
    ("openai-chat", SourceFormat::OpenAiChat),
    ("openhands", SourceFormat::OpenHands),
    ("pi", SourceFormat::Pi),
    ("swe-agent", SourceFormat::SweAgent),
    ("tau-bench", SourceFormat::TauBench),
    ("normalized", SourceFormat::Anthropic),
];

#[test]
fn every_real_session_imports_without_damage() {
    let Some(corpus) = corpus() else {
        assert_eq!(FOLDERS.len(), SourceFormat::ALL.len(), "the fixtures stand in for it");
        return;
    };
    let mut calls = BTreeMap::new();
    for (folder, format) in FOLDERS {
        for path in files(&corpus.join(folder)) {
            let source = source_of(&path).unwrap();
            assert_eq!(source.format, format, "{}", path.display());
            let counts = read(&path, source);
            eprintln!("{folder:12} {:45} {counts:?}", path.file_name().unwrap().display());
            assert!(counts.messages > 0, "{}", path.display());
            let name = path.file_name().unwrap().to_str().unwrap();
            let stem = name.split('.').next().unwrap().to_owned();
            calls.entry(stem).or_insert_with(Vec::new).push(counts.calls);
        }
    }
    for (stem, counts) in calls {
        eprintln!("{stem}: {counts:?}");
    }
}

#[test]
fn what_is_not_a_session_is_not_taken_for_one() {
    let Some(corpus) = corpus() else { return };
    for path in files(&corpus.join("aider")) {
        assert_eq!(source_of(&path), None, "{}", path.display());
    }
}
