//! Command lines of programs in Go (`pflag`): `--name=value`, `--name value`, `--switch`, `-v=4`.

use super::note;
use crate::error::Fatal;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A known flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// The type of the value in help; empty for a switch.
    pub(super) value: &'static str,
    /// What it does; empty if it is accepted and has no effect.
    pub(super) effect: &'static str,
}

/// A table of flags, one a line: `NAME VALUE EFFECT`; the value of a switch is `-`.
pub(super) fn table(text: &'static str) -> Vec<Flag> {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (name, value) = (parts.next().filter(|name| !name.is_empty())?, parts.next()?);
            Some(Flag { name, value: value.trim_matches('-'), effect: parts.next().unwrap_or_default() })
        })
        .collect()
}

/// The flags of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    given: BTreeMap<String, Vec<String>>,
    /// Whether `--help` or `--version` is given.
    pub(super) help: bool,
    pub(super) version: bool,
}

impl Flags {
    /// Reads arguments. Unknown flags are noted; their value is the next argument, unless that begins with `-`.
    ///
    /// # Errors
    /// A flag has no value, or an argument is not a flag.
    pub(super) fn read(arguments: &[String], known: &[Flag]) -> Result<Flags, Fatal> {
        let mut flags = Flags::default();
        let mut arguments = arguments.iter().peekable();
        let mut unknown: Vec<&str> = Vec::new();
        while let Some(argument) = arguments.next() {
            let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')).unwrap_or_default();
            if name.is_empty() {
                return Err(Fatal::Usage(format!("unexpected argument {argument:?}: expected --NAME=VALUE")));
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            match name {
                "help" | "h" => flags.help = true,
                "version" => flags.version = true,
                _ => {}
            }
            let flag = known.iter().find(|flag| flag.name == name);
            let value = match (value, flag) {
                (Some(value), _) => value,
                (None, Some(flag)) if !flag.value.is_empty() => {
                    let next = arguments.next().cloned();
                    next.ok_or_else(|| Fatal::Usage(format!("flag needs an argument: --{name}")))?
                }
                (None, Some(_)) => "true".to_owned(),
                (None, None) => arguments.next_if(|next| !next.starts_with('-')).cloned().unwrap_or_default(),
            };
            if flag.is_none() && !matches!(name, "help" | "h" | "version") {
                unknown.push(name);
            }
            flags.given.entry(name.to_owned()).or_default().push(value);
        }
        if !unknown.is_empty() {
            note(&format!("unknown flags are ignored: --{}", unknown.join(", --")));
        }
        Ok(flags)
    }

    /// Returns the last value of a flag; `None` if it is missing or empty.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.last().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns all values of a flag; commas separate values, too.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.given.get(name).into_iter().flatten().flat_map(|value| value.split(','));
        values.map(str::trim).filter(|value| !value.is_empty())
    }

    /// Returns the value of a switch.
    ///
    /// # Errors
    /// It is not a boolean of Go.
    pub(super) fn switch(&self, name: &str) -> Result<Option<bool>, Fatal> {
        let Some(value) = self.last(name) else { return Ok(None) };
        match value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Some(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Some(false)),
            _ => Err(Fatal::Usage(format!("invalid argument {value:?} for --{name}: expected true or false"))),
        }
    }
}

/// Returns the help of a program. Test libraries search it for flags, one a line.
pub(super) fn help(name: &str, about: &str, known: &[Flag]) -> String {
    let mut out = format!("{about}\n\nUsage:\n  {name} [flags]\n\nFlags:\n");
    for Flag { name, value, effect } in known {
        let effect = if effect.is_empty() { "accepted, without effect" } else { effect };
        let left = format!("      --{name} {value}");
        let _ = writeln!(out, "{left:<52} {effect}");
    }
    out.push_str("  -h, --help                                           print this help\n");
    out.push_str("      --version                                        print the version\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{Flag, Flags, table};

    fn known() -> Vec<Flag> {
        table("port int The port.\nallow-privileged -\nv int")
    }

    fn read(arguments: &[&str]) -> Result<Flags, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Flags::read(&arguments, &known()).map_err(|error| error.to_string())
    }

    #[test]
    fn forms_of_flags() {
        let flags =
            read(&["--port", "1", "--port=2", "--allow-privileged", "-v=4", "--odd", "x", "--other", "--v", "3"])
                .expect("flags");
        assert_eq!((flags.last("port"), flags.last("v"), flags.last("odd")), (Some("2"), Some("3"), Some("x")));
        assert_eq!(flags.switch("allow-privileged").expect("a switch"), Some(true));
        assert_eq!(flags.last("other"), None);
        assert_eq!(read(&["--port"]), Err("flag needs an argument: --port".to_owned()));
        assert_eq!(read(&["x"]), Err("unexpected argument \"x\": expected --NAME=VALUE".to_owned()));
    }
}
