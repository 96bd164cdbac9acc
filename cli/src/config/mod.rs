//! `kubeshape.toml`: defaults of a project.
//!
//! [`file`] finds and reads it. A key is the name of a long option, or `inputs`; [`args`](crate::args) defines the keys
//! and their values. [`options`] checks keys and values against that, and adds missing options to the command line, so
//! that every command sees one command line. `deny` and `allow` are the exception: they are rules in layers, to which
//! the command line only adds. [`show`] is `kubeshape config`.

mod file;
mod options;
mod show;

use crate::error::Fatal;
use clap::ArgMatches;
use clap::parser::ValueSource;
use kubeshape_schema::LevelRules;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use show::run;

/// The name of the file.
pub(crate) const NAME: &str = "kubeshape.toml";
/// Commands that read no inputs of a project.
const WITHOUT: [&str; 6] = ["completions", "man", "explain-code", "config", "help", "version"];

/// A command line completed from a configuration file.
#[derive(Debug)]
pub(crate) struct Configured {
    /// The command line.
    pub(crate) arguments: Vec<OsString>,
    /// The rules of the file for findings: those of the command, then those of all commands.
    pub(crate) rules: Vec<LevelRules>,
}

/// Completes a command line from its configuration file.
///
/// # Errors
/// The file cannot be read, or is invalid.
pub(crate) fn configured(arguments: Vec<OsString>) -> Result<Configured, Fatal> {
    let plain = |arguments| Ok(Configured { arguments, rules: Vec::new() });
    // Nearly every run ends here. Building all commands and parsing the command line twice takes longer than a small
    // conversion.
    let may_name_one = |argument: &OsString| argument.to_string_lossy().starts_with("--config");
    if !arguments.iter().any(may_name_one) && file::nearest().is_none() {
        return plain(arguments);
    }
    let command = options::commands();
    // Errors of the command line are reported when it is complete.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(&arguments) else {
        return plain(arguments);
    };
    let Some((name, own)) = matches.subcommand().filter(|(name, _)| !WITHOUT.contains(name)) else {
        return plain(arguments);
    };
    let Some(file) = file::find(given(own), is_off(own))? else { return plain(arguments) };
    let settings = options::read(&file, &command)?;
    let rules = options::rules(&settings, name);
    let arguments = options::complete(arguments, &settings, &file, (&command, name, own));
    Ok(Configured { arguments, rules })
}

/// Returns the value of `--config`.
fn given(matches: &ArgMatches) -> Option<PathBuf> {
    matches.try_get_one::<PathBuf>("config").ok().flatten().cloned()
}

/// Returns whether there is `--no-config`.
fn is_off(matches: &ArgMatches) -> bool {
    matches.try_get_one::<bool>("no_config").ok().flatten().copied().unwrap_or_default()
}

/// Returns whether the command line sets an option.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let is_known = matches.try_contains_id(id).is_ok();
    is_known && matches.value_source(id) == Some(ValueSource::CommandLine)
}
