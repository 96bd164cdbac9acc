//! Keys and values, checked against the options of the commands.

use super::file::File;
use super::{WITHOUT, is_given};
use crate::args::{Cli, allowable, selector};
use crate::cluster::context_of;
use crate::error::Fatal;
use clap::builder::ValueHint;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use kubeshape_schema::{LevelRules, Selector, did_you_mean, nearest};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The key for the inputs of a command.
pub(super) const INPUTS: &str = "inputs";
/// Options that a file cannot set.
const NEVER: [&str; 4] = ["help", "version", "config", "no-config"];

/// Options that only a file of `--config` can set. A file that is found may come with a folder from someone else, and
/// must not decide who can connect, where requests and tokens are sent, which clusters and credential programs are
/// used, which revision git reads, that inputs are edited, which templates
/// and commands run, or that files of others are treated as results.
const OF_NAMED_FILES: [&str; 29] = [
    "adopt",
    "advertise-address",
    "against",
    "aggregate",
    "aggregate-ca",
    "aggregate-token-file",
    "allowed-hosts",
    "anonymous-auth",
    "authorization-mode",
    "cache",
    "certificate-authority",
    "client-ca",
    "context",
    "cors-allowed-origins",
    "exec",
    "fix",
    "in-place",
    "kubeconfig",
    "listen",
    "server",
    "service-account-issuer",
    "service-account-key-file",
    "service-account-signing-key-file",
    "template",
    "tls-cert",
    "tls-key",
    "token-file",
    "unix-socket",
    "webhook",
];
/// How a command uses the path of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// It reads the path.
    Reads,
    /// It can write, replace or delete the path. A file that is found can only name paths in its own folder.
    Writes,
}

/// All options with paths, except those of [`OF_NAMED_FILES`]. `objects` can be written because of `write-back`.
const PATHS: [(&str, Access); 19] = [
    ("base", Access::Reads),
    ("configs", Access::Reads),
    ("data", Access::Writes),
    ("exempt", Access::Reads),
    ("features", Access::Reads),
    ("filename", Access::Reads),
    ("kubernetes", Access::Reads),
    ("live", Access::Reads),
    ("objects", Access::Writes),
    ("old", Access::Reads),
    ("onto", Access::Reads),
    ("output", Access::Writes),
    ("params", Access::Reads),
    ("policies", Access::Reads),
    ("rules-from", Access::Reads),
    ("report", Access::Writes),
    ("sample", Access::Reads),
    ("schemas", Access::Reads),
    ("types", Access::Reads),
];

/// A key of the file with its value.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The table; `None` for settings of all commands.
    pub(super) command: Option<String>,
    pub(super) key: String,
    pub(super) value: Given,
    /// The position of the key, in bytes.
    pub(super) at: usize,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Switch(bool),
    Text(String),
    Number(String),
    List(Vec<String>),
}

impl Given {
    /// Returns the strings of the value.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Given::Switch(_) => Vec::new(),
            Given::Text(text) | Given::Number(text) => vec![text],
            Given::List(texts) => texts.iter().map(String::as_str).collect(),
        }
    }
}

/// All commands with all their options.
pub(super) fn commands() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Returns the command of that name, if a file can configure it.
pub(super) fn named<'c>(commands: &'c Command, name: &str) -> Option<&'c Command> {
    commands.find_subcommand(name).filter(|command| !WITHOUT.contains(&command.get_name()))
}

/// Returns the option of a command for a key.
pub(super) fn option<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    let is_it = |arg: &&Arg| match arg.get_long() {
        Some(long) => long == key && !NEVER.contains(&long),
        None => key == INPUTS && arg.is_positional() && arg.get_id() == INPUTS,
    };
    command.get_arguments().find(is_it)
}

/// Returns the keys of a command.
pub(super) fn keys(command: &Command) -> impl Iterator<Item = &str> {
    let key = |arg: &'_ Arg| match arg.get_long() {
        Some(_) => None,
        None => (arg.is_positional() && arg.get_id() == INPUTS).then_some(INPUTS),
    };
    let longs = command.get_arguments().filter_map(Arg::get_long).filter(|long| !NEVER.contains(long));
    longs.chain(command.get_arguments().filter_map(key))
}

/// Reads the keys and values of a file.
///
/// # Errors
/// The file is not TOML, or keys or values are invalid: all of them are reported.
pub(super) fn read(file: &File, commands: &Command) -> Result<Vec<Setting>, Fatal> {
    let table = DeTable::parse(&file.text).map_err(|error| {
        let end = file.text.len();
        file.wrong(error.span().unwrap_or(end..end), error.message().to_owned())
    })?;
    let (mut settings, mut faults) = (Vec::new(), Vec::new());
    let mut take = |setting: Result<Setting, Fatal>| match setting {
        Ok(setting) => settings.push(setting),
        Err(fault) => faults.push(fault),
    };
    for (key, value) in table.get_ref() {
        match (named(commands, key.get_ref()), value.get_ref()) {
            (Some(command), DeValue::Table(table)) => {
                table.iter().for_each(|(key, value)| take(setting(file, Some(command), commands, key, value)));
            }
            (Some(command), _) => {
                let name = command.get_name();
                take(Err(file.wrong(value.span(), format!("`{name}` is a command: expected a table, [{name}]"))));
            }
            (None, _) => take(setting(file, None, commands, key, value)),
        }
    }
    settings.sort_by_key(|setting| setting.at);
    Fatal::of_all(faults).map_or(Ok(settings), Err)
}

fn setting(
    file: &File,
    command: Option<&Command>,
    commands: &Command,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Setting, Fatal> {
    let name: &str = key.get_ref();
    let all = || commands.get_subcommands().filter_map(|command| named(commands, command.get_name()));
    let owners: Vec<&Command> = match command {
        Some(command) => vec![command],
        None => all().collect(),
    };
    let Some((owner, arg)) = owners.iter().find_map(|owner| Some((*owner, option(owner, name)?))) else {
        let mut known: BTreeSet<&str> = owners.iter().flat_map(|owner| keys(owner)).collect();
        if command.is_none() {
            known.extend(all().map(Command::get_name));
        }
        let near = did_you_mean(&nearest(name, known.into_iter()));
        let text = match command {
            Some(command) => format!("`{}` has no option `{name}`{near}", command.get_name()),
            None => format!("there is no option and no command `{name}`{near}"),
        };
        return Err(file.wrong(key.span(), text));
    };
    let given = given(file, arg, value)?;
    if !file.is_named && OF_NAMED_FILES.contains(&name) {
        let text = format!("`{name}` counts in a file that `--config` names, and on the command line");
        return Err(file.wrong(key.span(), text));
    }
    for (text, span) in given.1 {
        if !file.is_named && context_of(Path::new(&text)).is_some() {
            let why = "clusters are named on the command line, or in a file that `--config` names";
            return Err(file.wrong(span, why));
        }
        if !file.is_named && PATHS.contains(&(name, Access::Writes)) && !file.is_inside(&text) {
            let why = "expected a path in the folder of this file; name others on the command line, or this file with \
                       `--config`";
            return Err(file.wrong(span, why));
        }
        check(owner, arg, name, &text).map_err(|why| file.wrong(span, why))?;
    }
    Ok(Setting {
        command: command.map(|command| command.get_name().to_owned()),
        key: name.to_owned(),
        value: given.0,
        at: key.span().start,
    })
}

/// The strings of a value, with their byte ranges in the file.
type Texts = Vec<(String, Range<usize>)>;

/// Returns the value of an option, with the positions of its strings.
fn given(file: &File, arg: &Arg, value: &Spanned<DeValue<'_>>) -> Result<(Given, Texts), Fatal> {
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse);
    let is_list = matches!(arg.get_action(), ArgAction::Append) || arg.is_positional();
    let expected = match (is_switch, is_list) {
        (true, _) => "true or false",
        (_, true) => "a string, or a list of strings",
        _ => "a string or a number",
    };
    let wrong = |value: &Spanned<DeValue<'_>>| {
        file.wrong(value.span(), format!("found {}, expected {expected}", describe(value.get_ref())))
    };
    let text = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(text) if !is_switch => Ok((text.to_string(), value.span())),
        DeValue::Integer(number) if !is_switch => Ok((number.to_string(), value.span())),
        _ => Err(wrong(value)),
    };
    match value.get_ref() {
        DeValue::Boolean(on) if is_switch => Ok((Given::Switch(*on), Vec::new())),
        DeValue::Array(items) if is_list => {
            let texts = items.iter().map(text).collect::<Result<Vec<_>, Fatal>>()?;
            Ok((Given::List(texts.iter().map(|(text, _)| text.clone()).collect()), texts))
        }
        DeValue::Integer(_) => text(value).map(|text| (Given::Number(text.0.clone()), vec![text])),
        _ => text(value).map(|text| (Given::Text(text.0.clone()), vec![text])),
    }
}

fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Checks that an option accepts a string. Returns the reason if not.
fn check(command: &Command, arg: &Arg, key: &str, text: &str) -> Result<(), String> {
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !values.is_empty() && !arg.is_positional() && !matches!(arg.get_action(), ArgAction::SetTrue) {
        if values.iter().any(|value| value == text) {
            return Ok(());
        }
        let near = did_you_mean(&nearest(text, values.iter().map(String::as_str)));
        return Err(format!("found `{text}`, expected one of {}{near}", values.join(", ")));
    }
    match key {
        "deny" => return selector(text).map(|_| ()),
        "allow" => return allowable(text).map(|_| ()),
        INPUTS => return Ok(()),
        _ => {}
    }
    // Only this option is checked.
    let alone = command.clone().mut_args(|arg| arg.required(false));
    let argument = format!("--{key}={text}");
    match alone.try_get_matches_from([command.get_name(), &argument]) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Err(line.trim_start_matches("error: ").to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns the rules for findings of a command.
pub(super) fn rules(settings: &[Setting], command: &str) -> Vec<LevelRules> {
    let layer = |command: Option<&str>| {
        let of = |key: &str| -> Vec<Selector> {
            let own = settings.iter().filter(|setting| setting.key == key && setting.command.as_deref() == command);
            // They were checked when they were read.
            own.flat_map(|setting| setting.value.texts()).filter_map(|text| text.parse().ok()).collect()
        };
        LevelRules { deny: of("deny"), allow: of("allow") }
    };
    vec![layer(Some(command)), layer(None)]
}

/// Returns the settings of a command: its own, and those of all commands for which it has an option and no own setting.
pub(super) fn effective<'s>(settings: &'s [Setting], command: &Command) -> Vec<(&'s Setting, Arg)> {
    let name = command.get_name();
    let is_own = |setting: &&Setting| setting.command.as_deref() == Some(name);
    let own: BTreeSet<&str> = settings.iter().filter(is_own).map(|setting| setting.key.as_str()).collect();
    let holds =
        |setting: &&Setting| is_own(setting) || (setting.command.is_none() && !own.contains(setting.key.as_str()));
    let held = settings.iter().filter(holds);
    held.filter_map(|setting| Some((setting, option(command, &setting.key)?.clone()))).collect()
}

/// Adds the settings of the file that the command line lacks.
pub(super) fn complete(
    arguments: Vec<OsString>,
    settings: &[Setting],
    file: &File,
    (commands, name, matches): (&Command, &str, &ArgMatches),
) -> Vec<OsString> {
    let Some(command) = named(commands, name) else { return arguments };
    let (mut options, mut inputs) = (Vec::new(), Vec::new());
    for (setting, arg) in effective(settings, command) {
        let rivals = command.get_arg_conflicts_with(&arg);
        let is_rivalled = || rivals.iter().any(|rival| is_given(matches, rival.get_id().as_str()));
        if matches!(setting.key.as_str(), "deny" | "allow") || is_given(matches, arg.get_id().as_str()) || is_rivalled()
        {
            continue;
        }
        let is_path = is_path(&arg);
        let resolved = |text: &str| if is_path { file.path(text) } else { text.to_owned() };
        if arg.is_positional() {
            inputs.extend(setting.value.texts().into_iter().map(|text| OsString::from(resolved(text))));
        } else if setting.value == Given::Switch(true) {
            options.push(OsString::from(format!("--{}", setting.key)));
        } else {
            let texts = setting.value.texts().into_iter();
            options.extend(texts.map(|text| OsString::from(format!("--{}={}", setting.key, resolved(text)))));
        }
    }
    let mut out = arguments;
    let end = out.iter().position(|argument| argument == "--").unwrap_or(out.len());
    let is_last = end == out.len();
    out.splice(end..end, options);
    if !inputs.is_empty() {
        if is_last {
            out.push(OsString::from("--"));
        }
        out.append(&mut inputs);
    }
    out
}

/// Returns whether the values of an option are paths.
pub(super) fn is_path(arg: &Arg) -> bool {
    matches!(
        arg.get_value_hint(),
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath | ValueHint::ExecutablePath
    )
}

#[cfg(test)]
mod tests {
    use super::{NEVER, OF_NAMED_FILES, PATHS, commands, is_path, named};
    use clap::ValueHint;
    use std::collections::BTreeSet;

    /// Names of values that are paths.
    const NAMES: [&str; 9] = ["DIR", "DOC", "FILE", "FOLDER", "INPUT", "LIVE", "NAME=FILE", "OLD", "PATH"];

    #[test]
    fn each_option_with_a_path_is_classified() {
        let commands = commands();
        let (mut paths, mut longs) = (BTreeSet::new(), BTreeSet::new());
        let all: Vec<_> =
            commands.get_subcommands().filter_map(|command| named(&commands, command.get_name())).collect();
        let nested = all.iter().flat_map(|command| command.get_subcommands());
        for arg in all.iter().copied().chain(nested).flat_map(clap::Command::get_arguments) {
            if matches!(arg.get_value_hint(), ValueHint::CommandString | ValueHint::CommandName | ValueHint::Url) {
                let long = arg.get_long().unwrap_or_default();
                assert!(OF_NAMED_FILES.contains(&long), "--{long} runs a command, or sends requests");
            }
            let is_named = arg.get_value_names().unwrap_or_default().iter().any(|name| NAMES.contains(&name.as_str()));
            longs.extend(arg.get_long().map(str::to_owned));
            if let Some(long) = arg.get_long().filter(|_| is_path(arg) || is_named) {
                paths.insert(long.to_owned());
            }
        }
        let known = PATHS.iter().map(|(name, _)| *name).chain(OF_NAMED_FILES).chain(NEVER);
        let known: BTreeSet<String> = known.map(str::to_owned).collect();
        let missing: Vec<_> = paths.difference(&known).collect();
        assert!(missing.is_empty(), "say in PATHS what is done with {missing:?}");
        let gone: Vec<_> = PATHS.iter().map(|(name, _)| *name).filter(|name| !longs.contains(*name)).collect();
        assert!(gone.is_empty(), "no option is named {gone:?}");
    }
}
