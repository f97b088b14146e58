//! The house: who may name whom, and where each large dependency lives.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What each room may name of the others. Arrows point one way; `main.rs` only
/// names `cli`.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("proto", &[]),
    ("clock", &["model"]),
    ("id", &[]),
    ("rounds", &["model"]),
    ("codec", &["model", "proto"]),
    ("tokens", &["model"]),
    ("policies", &["model"]),
    ("ingest", &["model"]),
    ("projection", &["model", "rounds", "tokens", "policies"]),
    ("render", &["model"]),
    ("summary", &["model", "tokens", "policies"]),
    ("store", &["model", "rounds", "codec", "proto"]),
    (
        "service",
        &[
            "model",
            "rounds",
            "codec",
            "tokens",
            "policies",
            "ingest",
            "projection",
            "render",
            "summary",
            "store",
            "clock",
            "id",
        ],
    ),
    ("telemetry", &[]),
    ("config", &["service", "policies", "telemetry"]),
    ("grpc", &["model", "codec", "proto", "tokens", "service", "store", "config", "clock", "id"]),
    (
        "cli",
        &["model", "codec", "proto", "policies", "ingest", "grpc", "config", "telemetry", "id"],
    ),
];

/// Crates that must not be named outside their home.
const HOMES: &[(&str, &[&str])] = &[
    ("sqlx", &["src/store/sqlite/"]),
    ("zstd", &["src/store/sqlite/"]),
    ("tonic", &["src/grpc/", "src/cli/remote.rs", "src/proto.rs"]),
    ("prost", &["src/grpc/", "src/codec/", "src/store/", "src/cli/"]),
    ("tower", &["src/grpc/"]),
    ("clap", &["src/cli/", "src/main.rs"]),
    ("anyhow", &["src/cli/", "src/main.rs"]),
    ("comfy_table", &["src/cli/"]),
    ("indicatif", &["src/cli/"]),
    ("bpe_openai", &["src/tokens/"]),
    ("imagesize", &["src/tokens/"]),
    ("uuid", &["src/id.rs"]),
    ("unicode_segmentation", &["src/projection/"]),
];

/// What a pure room must not name.
const IMPURE: &[&str] = &[
    "async ",
    "tokio",
    "std::fs",
    "std::io",
    "std::net",
    "tracing",
    "Instant",
    "SystemTime",
    "rand::",
    "HashSet::new().iter",
];

struct Source {
    path: String,
    room: String,
    /// Without comments and without tests.
    code: String,
}

fn sources() -> Vec<Source> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&top.join("src"), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            let room = path.split('/').nth(1).unwrap().trim_end_matches(".rs").to_owned();
            Source { code: code_of(&text), path, room }
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}

fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The rooms that a file names, through `crate::a` or `use crate::{a, b}`.
fn rooms_named(code: &str) -> Vec<String> {
    let mut named = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            named.extend(top_names(list));
        } else {
            named.push(first_word(rest));
        }
    }
    named
}

fn top_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut is_start) = (0_i32, true);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            letter if is_start && !letter.is_whitespace() => {
                names.push(first_word(&list[at..]));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect()
}

#[test]
fn arrows_point_one_way() {
    let known: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    for file in sources() {
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == file.room) else {
            assert!(matches!(file.room.as_str(), "main" | "lib"), "no room for {}", file.path);
            continue;
        };
        for named in rooms_named(&file.code) {
            let is_fine = named == file.room
                || !known.contains(&named.as_str())
                || allowed.contains(&named.as_str());
            assert!(is_fine, "{} names `{named}`", file.path);
        }
    }
}

#[test]
fn each_dependency_stays_at_home() {
    for file in sources() {
        for (name, homes) in HOMES {
            let is_home = homes.iter().any(|home| file.path.starts_with(home));
            let is_named = file.code.match_indices(&format!("{name}::")).any(|(at, _)| {
                !file.code[..at]
                    .ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == ':')
            });
            assert!(is_home || !is_named, "{} names `{name}`", file.path);
        }
    }
}

#[test]
fn what_decides_is_pure() {
    for file in sources() {
        if !matches!(file.room.as_str(), "model" | "rounds" | "projection" | "render") {
            continue;
        }
        for name in IMPURE {
            assert!(!file.code.contains(name), "{} names `{name}`", file.path);
        }
    }
}

#[test]
fn history_is_insert_only() {
    for file in sources() {
        let is_erasure = file.path.ends_with("statements/erase.rs");
        for statement in
            ["UPDATE messages", "DELETE FROM messages", "UPDATE contents", "REPLACE INTO messages"]
        {
            assert!(is_erasure || !file.code.contains(statement), "{}: {statement}", file.path);
        }
    }
}

/// Context Collapse in three rooms: what can be covered and how it shows, the
/// operations, and what is on record. Each with a name of its own and those
/// that it must not name.
const COLLAPSE: &[(&str, &str, &[&str])] = &[
    ("src/projection/", "struct Segment", &["store::", "service::", "PlanId", "Summarizer"]),
    (
        "src/service/collapse/",
        "fn create_collapse",
        &["sqlx", "SELECT ", "INSERT ", "store::sqlite", "store::memory"],
    ),
    (
        "src/store/",
        "struct CommitOverlays",
        &["projection::", "summary::", "service::", "Segment", "Summarizer"],
    ),
];

#[test]
fn r74_index_operations_and_persistence_are_rooms_of_their_own() {
    let files = sources();
    for (room, own, strangers) in COLLAPSE {
        let of_room = || files.iter().filter(|file| file.path.starts_with(room));
        assert!(of_room().any(|file| file.code.contains(own)), "{room} has `{own}`");
        for file in of_room() {
            for name in *strangers {
                assert!(!file.code.contains(name), "{} names `{name}`", file.path);
            }
        }
    }
}
