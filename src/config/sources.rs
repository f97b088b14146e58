//! Where settings come from, and which of them wins.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::{Config, Problem, Problems, settings};

/// What was said, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Settings from the command line, by name; a name's last one counts.
    pub flags: Vec<(&'static str, String)>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The file; `None`: none.
    pub file: Option<PathBuf>,
}

impl Sources {
    /// Flags and a file over this process's environment. Where no file is
    /// named, `CONCERTINA_CONFIG` may name one.
    #[must_use]
    pub fn of_process(flags: Vec<(&'static str, String)>, file: Option<PathBuf>) -> Self {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("CONCERTINA_"))
            .collect();
        let file = file.or_else(|| env.get("CONCERTINA_CONFIG").map(PathBuf::from));
        Self { flags, env, file }
    }
}

/// Reads every source, the weakest first.
///
/// # Errors
///
/// Everything that is wrong.
pub fn load(sources: &Sources) -> Result<Config, Problems> {
    let mut loading = Loading::default();
    if let Some(path) = &sources.file {
        loading.file(path);
    }
    for name in settings::names() {
        let variable = settings::variable(name);
        if let Some(value) = sources.env.get(&variable) {
            loading.set(variable, name, value);
        }
    }
    for (name, value) in &sources.flags {
        loading.set(format!("--{}", name.replace(['_', '.'], "-")), name, value);
    }
    loading.finish()
}

#[derive(Default)]
struct Loading {
    config: Config,
    problems: Vec<Problem>,
}

impl Loading {
    fn file(&mut self, path: &std::path::Path) {
        let origin = path.display().to_string();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(err) => return self.problem(origin, format!("cannot be read: {err}")),
        };
        match text.parse::<toml::Table>() {
            Ok(table) => self.table(&origin, "", &table),
            Err(err) => self.problem(origin, format!("expected TOML: {}", err.message())),
        }
    }

    fn table(&mut self, origin: &str, prefix: &str, table: &toml::Table) {
        for (key, value) in table {
            let name = format!("{prefix}{key}");
            let at = format!("{origin}: {name}");
            match value {
                toml::Value::Table(inner) => self.table(origin, &format!("{name}."), inner),
                toml::Value::String(text) => self.set(at, &name, text),
                toml::Value::Integer(number) => self.set(at, &name, &number.to_string()),
                toml::Value::Boolean(flag) => self.set(at, &name, &flag.to_string()),
                toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Array(_) => {
                    self.problem(at, format!("expected a plain value, found {}", value.type_str()));
                }
            }
        }
    }

    fn set(&mut self, origin: String, name: &str, value: &str) {
        let Some(setting) = settings::find(name) else {
            return self.problem(origin, "there is no such setting".to_owned());
        };
        if let Err(description) = (setting.set)(&mut self.config, value) {
            self.problem(origin, description);
        }
    }

    fn problem(&mut self, origin: String, description: String) {
        self.problems.push(Problem { origin, description });
    }

    fn finish(mut self) -> Result<Config, Problems> {
        if !self.config.listen.ip().is_loopback() && !self.config.insecure {
            let description = format!(
                "{} is not on loopback: nothing controls who calls, so this needs --insecure",
                self.config.listen
            );
            self.problem("listen".to_owned(), description);
        }
        let limits = &self.config.limits;
        if limits.message_bytes > limits.request_bytes {
            let description = format!(
                "expected at most limits.request_bytes of {}, found {}",
                limits.request_bytes, limits.message_bytes
            );
            self.problem("limits.message_bytes".to_owned(), description);
        }
        if self.problems.is_empty() { Ok(self.config) } else { Err(Problems(self.problems)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[track_caller]
    fn problems(sources: &Sources) -> Vec<String> {
        let problems = load(sources).unwrap_err();
        problems.0.into_iter().map(|it| it.origin).collect()
    }

    #[test]
    fn a_flag_wins_over_the_environment_and_that_over_the_file() {
        let file = file("listen = \"127.0.0.1:1\"\ndrain_seconds = 1\n[limits]\nlabels = 1");
        let sources = Sources {
            flags: vec![("listen", "127.0.0.1:3".into())],
            env: env(&[("CONCERTINA_LISTEN", "127.0.0.1:2"), ("CONCERTINA_DRAIN_SECONDS", "2")]),
            file: Some(file.path().to_owned()),
        };
        let config = load(&sources).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.drain.as_secs(), 2);
        assert_eq!(config.limits.labels, 1);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let file = file("colour = 1\n[limits]\nlabels = 0\nsize = 2\n[log]\nformat = [1]");
        let sources = Sources {
            flags: vec![("listen", "here".into())],
            env: env(&[("CONCERTINA_LOG_FORMAT", "xml"), ("CONCERTINA_CORPUS", "elsewhere")]),
            file: Some(file.path().to_owned()),
        };
        let path = file.path().display();
        let mut expected = vec![
            format!("{path}: colour"),
            format!("{path}: limits.labels"),
            format!("{path}: limits.size"),
            format!("{path}: log.format"),
            "CONCERTINA_LOG_FORMAT".to_owned(),
            "--listen".to_owned(),
        ];
        let mut found = problems(&sources);
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn off_loopback_only_where_it_is_asked_for() {
        let mut sources =
            Sources { flags: vec![("listen", "0.0.0.0:0".into())], ..Sources::default() };
        assert_eq!(problems(&sources), ["listen"]);
        sources.flags.push(("insecure", "true".into()));
        assert!(load(&sources).unwrap().insecure);
    }

    #[test]
    fn an_unknown_preset_is_refused() {
        let sources = Sources { flags: vec![("default_preset", "x".into())], ..Sources::default() };
        assert_eq!(problems(&sources), ["--default-preset"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let sources = Sources { file: Some("/nowhere/at/all.toml".into()), ..Sources::default() };
        assert_eq!(problems(&sources), ["/nowhere/at/all.toml"]);
    }
}
