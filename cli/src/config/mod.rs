//! `kubeshape.toml`: defaults of a project.
//!
//! [`file`] finds and reads it. A key is the name of a long option, or `inputs`; which keys there are, and which values
//! they take, is what [`args`](crate::args) says. [`options`] checks keys and values against that, and adds to the
//! command line what it does not say itself, so that every command sees one command line. `deny` and `allow` are the
//! exception: they are rules in layers, and the command line only adds to them. [`show`] is `kubeshape config`.

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

/// A command line together with what a configuration file says.
#[derive(Debug)]
pub(crate) struct Configured {
    /// The command line.
    pub(crate) arguments: Vec<OsString>,
    /// The rules of the file for findings: those of the command, then those of all commands.
    pub(crate) rules: Vec<LevelRules>,
}

/// Completes a command line by the configuration file that holds for it.
///
/// # Errors
/// The file cannot be read, or something in it is wrong.
pub(crate) fn configured(arguments: Vec<OsString>) -> Result<Configured, Fatal> {
    let plain = |arguments| Ok(Configured { arguments, rules: Vec::new() });
    // Nearly every run ends here. To make all commands and read the command line twice takes longer than a small conversion.
    let may_name_one = |argument: &OsString| argument.to_string_lossy().starts_with("--config");
    if !arguments.iter().any(may_name_one) && file::nearest().is_none() {
        return plain(arguments);
    }
    let command = options::commands();
    // What is wrong with the command line is told when it is complete.
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

/// What `--config` names.
fn given(matches: &ArgMatches) -> Option<PathBuf> {
    matches.try_get_one::<PathBuf>("config").ok().flatten().cloned()
}

/// Whether there is `--no-config`.
fn is_off(matches: &ArgMatches) -> bool {
    matches.try_get_one::<bool>("no_config").ok().flatten().copied().unwrap_or_default()
}

/// Whether the command line says something of an option.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let is_known = matches.try_contains_id(id).is_ok();
    is_known && matches.value_source(id) == Some(ValueSource::CommandLine)
}
