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
}

fn read(path: &Path, source: Source) -> Counts {
    let file = File::open(path).unwrap();
    let mut counts = Counts::default();
    for imported in Reader::new(source, BufReader::new(file)) {
        match imported.unwrap() {
            Imported::Message { message, .. } => count(&message, &mut counts),
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

/// A row of `MANIFEST.tsv`, which was made by other programs than this one.
struct Row {
    file: String,
    format: String,
    turns: usize,
    calls: usize,
    images: usize,
    /// Lines on a branch that was left; they are history all the same.
    abandoned: usize,
}

fn manifest(corpus: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let repair =
            cells[18].split(';').find_map(|it| it.strip_prefix("abandoned_branch_records="));
        Row {
            file: cells[0].to_owned(),
            format: cells[1].to_owned(),
            turns: cells[7].parse().unwrap(),
            calls: cells[8].parse().unwrap(),
            images: cells[11].parse().unwrap(),
            abandoned: repair.map_or(0, |it| it.parse().unwrap()),
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
        assert_eq!(counts.turns, row.turns + row.abandoned, "{}", row.file);
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
