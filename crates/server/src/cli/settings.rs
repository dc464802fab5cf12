//! Every setting as a flag of every command.

use crate::config::{self, RETIRED, SETTINGS, Setting, SettingSources};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

const CONFIG: &str = "config";

/// `--config FILE`, and a flag for each setting that was given.
#[derive(Debug)]
pub(super) struct SettingFlags {
    file: Option<PathBuf>,
    flags: Vec<(String, String)>,
}

impl SettingFlags {
    /// With the environment behind them.
    pub(super) fn sources(self, environment: &[(String, String)]) -> SettingSources {
        SettingSources {
            flags: self.flags,
            file: self.file,
            environment: environment.to_vec(),
            defaults: Vec::new(),
        }
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("The file of settings [default: civitas.toml, when it is there]");
        let command = command.arg(config.global(true).help_heading("Settings"));
        command.args(SETTINGS.iter().map(flag)).args(RETIRED.iter().map(|(name, _)| retired_flag(name)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let mut help: String = setting.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    if !setting.default.is_empty() {
        help = format!("{help} [default: {}]", setting.default);
    }
    Arg::new(setting.name)
        .long(config::flag(setting.name))
        .value_name("VALUE")
        .help(help)
        .help_heading("Settings")
        .hide_short_help(true)
        .global(true)
}

/// Read, so that the error says what became of the setting.
fn retired_flag(name: &'static str) -> Arg {
    Arg::new(name).long(config::flag(name)).hide(true).global(true)
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let names = SETTINGS.iter().map(|setting| setting.name).chain(RETIRED.iter().map(|(name, _)| *name));
        let flags = names
            .filter_map(|name| Some((name.to_owned(), matches.get_one::<String>(name)?.clone())))
            .collect();
        Ok(Self { file: matches.get_one::<PathBuf>(CONFIG).cloned(), flags })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
