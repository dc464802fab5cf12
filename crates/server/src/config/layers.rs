//! The sources of settings, and the source of each value.

use super::values::{Raw, Readable};
use super::{SETTINGS, Setting};
use crate::paths;
use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The file that is read if it exists and no other is given.
const FILE: &str = "civitas.toml";

/// Environment variables with the prefix of settings that belong to the test suites.
const OF_TESTS: [&str; 2] = ["CIVITAS_TEST_", "CIVITAS_REQUIRE_"];

/// The sources of settings, highest precedence first; the defaults come last.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Names of settings and their values, from the command line.
    pub flags: Vec<(String, String)>,
    /// All environment variables.
    pub environment: Vec<(String, String)>,
    /// A file that must exist; else `civitas.toml` if it exists.
    pub file: Option<PathBuf>,
    /// Defaults of the command that differ from the usual ones.
    pub defaults: Vec<(String, String)>,
}

/// An error of the configuration with its place, in one line.
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

/// All layers together.
pub(super) struct Layers(Figment);

impl Layers {
    /// Reads them; values are not checked yet.
    pub(super) fn of(sources: &Sources) -> Result<Self, ConfigError> {
        let defaults = SETTINGS.iter().map(|s| (s.name.to_owned(), s.default.to_owned())).collect();
        let file = sources.file.as_deref().unwrap_or(Path::new(FILE));
        // Without one of the usual name the defaults apply. One that cannot be read is a mistake, not none.
        let absent = |error: Error| error.kind() == ErrorKind::NotFound;
        let is_read = sources.file.is_some() || !fs::symlink_metadata(file).is_err_and(absent);
        if is_read {
            check_file(file).map_err(|error| ConfigError(paths::at(file, error).to_string()))?;
        }
        let figment = Figment::new()
            .merge(Words { words: defaults, spell: |name| format!("the default of {name}") })
            .merge(Words { words: sources.defaults.clone(), spell: |name| format!("the default of {name}") })
            .merge(if is_read { Toml::file_exact(file) } else { Toml::string("") })
            .merge(Words { words: environment(&sources.environment), spell: variable })
            .merge(Words { words: sources.flags.clone(), spell: flag });
        let all: Dict = figment.extract().map_err(|error| ConfigError(one_line(&error)))?;
        let layers = Self(figment);
        match all.keys().find(|name| !SETTINGS.iter().any(|setting| setting.name == *name)) {
            Some(strange) => Err(layers.fault(strange, "is no setting")),
            None => Ok(layers),
        }
    }

    /// One setting.
    pub(super) fn read<T: Readable>(&self, name: &str) -> Result<T, ConfigError> {
        let value = self.0.find_value(name).ok();
        value.and_then(raw).and_then(|raw| T::read(&raw)).ok_or_else(|| self.fault(name, T::MUST_BE))
    }

    /// An error of a setting, beginning with its place.
    pub(super) fn fault(&self, name: &str, what: &str) -> ConfigError {
        let place = match self.0.find_metadata(name) {
            Some(metadata) => match metadata.source.as_ref().and_then(|source| source.file_path()) {
                Some(path) => format!("{name} in {}", shown(path).display()),
                None => metadata.interpolate(&Profile::Default, &[name]),
            },
            None => name.to_owned(),
        };
        ConfigError(format!("{place} {what}"))
    }
}

fn check_file(file: &Path) -> io::Result<()> {
    match fs::metadata(file)? {
        found if found.is_dir() => Err(Error::other("it is a directory, and must be a file")),
        found if found.is_file() => File::open(file).map(drop),
        _ => Err(Error::other("it is no file")),
    }
}

/// The path of a file, relative if it is in the working directory.
fn shown(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

fn environment(all: &[(String, String)]) -> Vec<(String, String)> {
    let ours = all.iter().filter(|(name, value)| {
        !OF_TESTS.iter().any(|prefix| name.starts_with(prefix)) && !is_of_service(name, value)
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

/// The name of a setting in the environment.
fn variable(name: &str) -> String {
    format!("CIVITAS_{}", name.to_uppercase())
}

/// The name of a setting on the command line.
fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

impl Setting {
    /// The flag, without its dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }
}

fn raw(value: Value) -> Option<Raw> {
    match value {
        Value::Array(_, items) => items.into_iter().map(text).collect::<Option<_>>().map(Raw::List),
        other => text(other).map(Raw::Text),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(text),
        Value::Bool(_, switch) => Some(switch.to_string()),
        Value::Num(_, number) => number.to_i128().map(|n| n.to_string()),
        _ => None,
    }
}

/// The error of the parser in one line, without content of the file.
fn one_line(error: &figment::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let last = text.lines().last().filter(|last| *last != first).unwrap_or_default();
    [first, last].join(" ").trim_end().to_owned()
}

/// A source whose values are texts: defaults, environment, command line.
struct Words {
    words: Vec<(String, String)>,
    /// The form of a name in it.
    spell: fn(&str) -> String,
}

impl Provider for Words {
    fn metadata(&self) -> Metadata {
        let spell = self.spell;
        Metadata::named("words").interpolater(move |_, names| spell(&names.join(".")))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let dict: Dict =
            self.words.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        Ok(Profile::Default.collect(dict))
    }
}
