//! `kubeshape config`.

use super::file::{self, File};
use super::options::{self, Given, Setting};
use super::{NAME, WITHOUT};
use crate::args::ConfigArgs;
use crate::error::Fatal;
use crate::report;
use clap::{Arg, ArgAction, Command};
use kubeshape_schema::{did_you_mean, nearest};
use std::fmt::Write;
use std::path::PathBuf;

/// The column of comments.
const COMMENT: usize = 40;

/// Prints the configuration file in effect, or all settings of a command, as TOML.
///
/// # Errors
/// The file cannot be read or is invalid, or there is no such command.
pub(crate) fn run(args: &ConfigArgs, given: Option<PathBuf>, is_off: bool) -> Result<(), Fatal> {
    let commands = options::commands();
    let command = args.command.as_deref().map(|name| named(&commands, name)).transpose()?;
    let file = file::find(given, is_off)?;
    let settings = file.as_ref().map_or(Ok(Vec::new()), |file| options::read(file, &commands))?;
    let mut out = match &file {
        Some(file) => format!("# Configuration file: {}\n", file.name),
        None => format!("# Configuration file: none ({NAME} is not in this folder or above it)\n"),
    };
    match command {
        Some(command) => of_command(command, &settings, file.as_ref(), &mut out),
        None => all(&settings, file.as_ref(), &commands, &mut out),
    }
    report::print(report::clean::lines(&out).as_bytes())
}

fn named<'c>(commands: &'c Command, name: &str) -> Result<&'c Command, Fatal> {
    options::named(commands, name).ok_or_else(|| {
        let known = commands.get_subcommands().map(Command::get_name).filter(|name| !WITHOUT.contains(name));
        Fatal::Usage(format!("no command `{name}` can be configured{}", did_you_mean(&nearest(name, known))))
    })
}

/// Prints everything in the file.
fn all(settings: &[Setting], file: Option<&File>, commands: &Command, out: &mut String) {
    let Some(file) = file else { return };
    for setting in settings.iter().filter(|setting| setting.command.is_none()) {
        line(&setting.key, &setting.value, &file.place(setting.at), out);
    }
    for command in commands.get_subcommands().map(Command::get_name) {
        let mut own = settings.iter().filter(|setting| setting.command.as_deref() == Some(command)).peekable();
        if own.peek().is_some() {
            let _ = writeln!(out, "\n[{command}]");
        }
        own.for_each(|setting| line(&setting.key, &setting.value, &file.place(setting.at), out));
    }
}

/// Prints the settings of one command: from the file, or else the default.
fn of_command(command: &Command, settings: &[Setting], file: Option<&File>, out: &mut String) {
    let effective = options::effective(settings, command);
    let _ = writeln!(out, "\n[{}]", command.get_name());
    for key in options::keys(command) {
        let set = effective.iter().find(|(setting, _)| setting.key == key);
        if let (Some((setting, arg)), Some(file)) = (set, file) {
            let value = if options::is_path(arg) { resolved(&setting.value, file) } else { setting.value.clone() };
            line(key, &value, &file.place(setting.at), out);
        } else if let Some(value) = options::option(command, key).and_then(default) {
            line(key, &value, "default", out);
        }
    }
}

/// Makes paths relative to the current folder.
fn resolved(value: &Given, file: &File) -> Given {
    match value {
        Given::Text(text) => Given::Text(file.path(text)),
        Given::List(texts) => Given::List(texts.iter().map(|text| file.path(text)).collect()),
        other => other.clone(),
    }
}

fn default(arg: &Arg) -> Option<Given> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return Some(Given::Switch(false));
    }
    let value = arg.get_default_values().first()?.to_string_lossy().into_owned();
    (!value.is_empty()).then(|| if value.parse::<i64>().is_ok() { Given::Number(value) } else { Given::Text(value) })
}

/// Prints `KEY = VALUE    # WHERE`.
fn line(key: &str, value: &Given, origin: &str, out: &mut String) {
    // A JSON string is a TOML string.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let value = match value {
        Given::Switch(on) => on.to_string(),
        Given::Number(text) => text.clone(),
        Given::Text(text) => quoted(text),
        Given::List(texts) => format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
    };
    let text = format!("{key} = {value}");
    let _ = writeln!(out, "{text:<COMMENT$} # {origin}");
}
