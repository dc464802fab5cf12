//! The sources of settings, and the source of each value.

use super::SETTINGS;
use super::retired::RETIRED;
use super::values::{RawSetting, SettingType};
use crate::paths;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::{fmt, io};
use toml::{Table, Value};

/// The file that is read if it exists and no other is given.
const FILE: &str = "civitas.toml";

/// Environment variables with the prefix of settings that belong to the test suites and to `civitas import-decidim`.
const OF_OTHERS: [&str; 3] = ["CIVITAS_TEST_", "CIVITAS_REQUIRE_", "CIVITAS_DECIDIM_URL"];

/// The sources of settings, highest precedence first; the defaults come last.
#[derive(Debug, Clone, Default)]
pub struct SettingSources {
    /// Names of settings and their values, from the command line.
    pub flags: Vec<(String, String)>,
    /// All environment variables.
    pub environment: Vec<(String, String)>,
    /// A file that must exist; else `civitas.toml` if it exists.
    pub file: Option<PathBuf>,
    /// Defaults of the command that differ from the usual ones.
    pub defaults: Vec<(String, String)>,
}

/// An error of the configuration with its source, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// The same, without the words about the configuration.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "configuration: {}", self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A value as written, and its source in words. `None`: no setting has a value of its type.
struct SourcedValue {
    source: String,
    raw: Option<RawSetting>,
}

/// Of each name, the value with the highest precedence.
pub(super) struct MergedSettings(BTreeMap<String, SourcedValue>);

impl MergedSettings {
    /// Reads all sources; values are not checked yet.
    pub(super) fn merge(sources: &SettingSources) -> Result<Self, ConfigError> {
        let mut layers = Self(BTreeMap::new());
        let of_settings = SETTINGS.iter().map(|setting| (setting.name, setting.default));
        let of_command = sources.defaults.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in of_settings.chain(of_command) {
            layers.add(name, format!("the default of {name}"), Some(RawSetting::Text(value.to_owned())));
        }
        layers.add_file(sources.file.as_deref())?;
        for (name, value) in environment(&sources.environment) {
            layers.add(&name, format!("CIVITAS_{}", name.to_uppercase()), Some(RawSetting::Text(value)));
        }
        for (name, value) in &sources.flags {
            layers.add(name, format!("--{}", flag(name)), Some(RawSetting::Text(value.clone())));
        }
        match layers.0.keys().find(|name| !SETTINGS.iter().any(|setting| setting.name == *name)) {
            Some(strange) => {
                let retired = RETIRED.iter().find(|(name, _)| name == strange);
                let why = retired.map_or_else(String::new, |(_, sentence)| format!(" any more: {sentence}"));
                Err(layers.fault(strange, &format!("is no setting{why}")))
            }
            None => Ok(layers),
        }
    }

    fn add(&mut self, name: &str, source: String, raw: Option<RawSetting>) {
        self.0.insert(name.to_owned(), SourcedValue { source, raw });
    }

    /// Adds the values of the configured file, or of the usual one.
    fn add_file(&mut self, configured: Option<&Path>) -> Result<(), ConfigError> {
        let file = configured.unwrap_or(Path::new(FILE));
        // The usual file may be absent. A file that cannot be read is an error.
        let absent = |error: Error| error.kind() == ErrorKind::NotFound;
        if configured.is_none() && fs::symlink_metadata(file).is_err_and(absent) {
            return Ok(());
        }
        let text = read_file(file).map_err(|error| ConfigError(paths::with_path(file, error).to_string()))?;
        let source = relative_path(file).display();
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            ConfigError(format!("{source}, line {line}: {}", error.message()))
        })?;
        for (name, value) in table {
            self.add(&name, format!("{name} in {source}"), raw(value));
        }
        Ok(())
    }

    /// One setting.
    pub(super) fn read<T: SettingType>(&self, name: &str) -> Result<T, ConfigError> {
        let raw = self.0.get(name).and_then(|found| found.raw.as_ref());
        raw.and_then(T::read).ok_or_else(|| self.fault(name, T::MUST_BE))
    }

    /// An error of a setting, beginning with its source.
    pub(super) fn fault(&self, name: &str, what: &str) -> ConfigError {
        let source = self.0.get(name).map_or(name, |found| found.source.as_str());
        ConfigError(format!("{source} {what}"))
    }
}

fn read_file(file: &Path) -> io::Result<String> {
    match fs::metadata(file)? {
        found if found.is_dir() => Err(Error::other("it is a directory, and must be a file")),
        found if found.is_file() => fs::read_to_string(file),
        _ => Err(Error::other("it is no file")),
    }
}

/// The path of a file, relative if it is in the working directory.
fn relative_path(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

fn environment(all: &[(String, String)]) -> Vec<(String, String)> {
    let ours = all.iter().filter(|(name, value)| {
        !OF_OTHERS.iter().any(|prefix| name.starts_with(prefix)) && !is_of_service(name, value)
    });
    ours.filter_map(|(name, value)| Some((name.strip_prefix("CIVITAS_")?.to_lowercase(), value.clone())))
        .collect()
}

/// Whether Kubernetes sets it in each pod, for a service named `civitas` or `civitas-..`: `CIVITAS_SERVICE_HOST`,
/// `CIVITAS_PORT`, `CIVITAS_DB_PORT_5432_TCP`.
fn is_of_service(name: &str, value: &str) -> bool {
    name == "CIVITAS_PORT"
        || name.starts_with("CIVITAS_SERVICE_")
        || ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part))
        || (name.ends_with("_PORT") && value.contains("://"))
}

/// The flag of a setting, without its dashes at the beginning.
pub fn flag(name: &str) -> String {
    name.replace('_', "-")
}

fn raw(value: Value) -> Option<RawSetting> {
    match value {
        Value::Array(items) => items.into_iter().map(text).collect::<Option<_>>().map(RawSetting::List),
        other => text(other).map(RawSetting::Text),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Boolean(switch) => Some(switch.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}
