//! Levels of findings, and the rules by which a user changes them.

use crate::{Code, NoteKind, did_you_mean, nearest};
use std::fmt;
use std::str::FromStr;

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// It is neither shown nor counted.
    Off,
    /// It is worth knowing.
    Note,
    /// It is probably not what the author expects.
    Warning,
    /// It makes a run fail.
    Error,
}

impl Level {
    /// Returns the word used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

impl NoteKind {
    /// Returns the level of findings of this kind, unless a rule changes it. Losses are notes.
    pub fn level(self) -> Level {
        match self {
            NoteKind::Error => Level::Error,
            NoteKind::Warning => Level::Warning,
            _ => Level::Note,
        }
    }
}

/// The findings to which a rule applies.
///
/// # Example
/// ```
/// use kubeshape_schema::{Code, NoteKind, Selector};
///
/// assert_eq!("KS3003".parse(), Ok(Selector::Code(Code::UnknownType)));
/// assert_eq!("warning".parse(), Ok(Selector::Kind(NoteKind::Warning)));
/// assert_eq!("loss".parse(), Ok(Selector::Losses));
/// let error = "warnings".parse::<Selector>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no code or kind `warnings`; did you mean `warning`?");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Selector {
    /// All findings.
    All,
    /// All losses.
    Losses,
    /// Findings of one kind.
    Kind(NoteKind),
    /// Findings of one code.
    Code(Code),
}

impl Selector {
    /// Returns whether it includes findings with this code.
    pub fn has(self, code: Code) -> bool {
        match self {
            Selector::All => true,
            Selector::Losses => code.kind().is_loss(),
            Selector::Kind(kind) => code.kind() == kind,
            Selector::Code(own) => own == code,
        }
    }

    /// Returns whether it includes only errors, which cannot be allowed.
    pub fn is_error(self) -> bool {
        match self {
            Selector::All | Selector::Losses => false,
            Selector::Kind(kind) => kind == NoteKind::Error,
            Selector::Code(code) => code.kind() == NoteKind::Error,
        }
    }

    /// The words for selectors other than codes.
    pub fn words() -> impl Iterator<Item = &'static str> {
        NoteKind::ALL.iter().map(|kind| kind.name()).chain(["loss", "all"])
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::All => f.write_str("all"),
            Selector::Losses => f.write_str("loss"),
            Selector::Kind(kind) => f.write_str(kind.name()),
            Selector::Code(code) => code.fmt(f),
        }
    }
}

/// A string that is neither a code nor a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError {
    /// The string.
    pub text: String,
    /// Similar words, nearest first.
    pub nearest: Vec<String>,
}

impl std::error::Error for SelectorError {}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no code or kind `{}`{}", self.text, did_you_mean(&self.nearest))
    }
}

/// `KS3003`, `warning`, `loss`, `all`, …
impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Selector, SelectorError> {
        let text = text.trim();
        match text {
            "all" => return Ok(Selector::All),
            "loss" => return Ok(Selector::Losses),
            _ => {}
        }
        if let Some(kind) = NoteKind::ALL.iter().find(|kind| kind.name() == text) {
            return Ok(Selector::Kind(*kind));
        }
        Code::parse(text).map(Selector::Code).ok_or_else(|| SelectorError {
            text: text.to_owned(),
            nearest: match number(text) {
                Some(number) => Code::nearest(number).map(|code| code.to_string()).into_iter().collect(),
                None => nearest(&text.to_ascii_lowercase(), Selector::words()),
            },
        })
    }
}

/// Returns the number of a string that looks like a code.
fn number(text: &str) -> Option<u16> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok().filter(|_| digits.len() <= 5)
}

/// The rules of one source: a command line, or a table of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelRules {
    /// Findings that make a run fail.
    pub deny: Vec<Selector>,
    /// Findings that are neither shown nor counted.
    pub allow: Vec<Selector>,
}

impl LevelRules {
    /// Returns whether a code is denied, or `None` if no rule applies to it.
    fn is_denied(&self, code: Code) -> Option<(bool, Selector)> {
        let narrowest = |rules: &[Selector]| rules.iter().copied().filter(|rule| rule.has(code)).max();
        match (narrowest(&self.deny), narrowest(&self.allow)) {
            (None, None) => None,
            // If both are equally narrow, the code is denied.
            (Some(deny), allow) if allow.is_none_or(|allow| breadth(deny) >= breadth(allow)) => Some((true, deny)),
            (_, Some(allow)) => Some((false, allow)),
            (Some(deny), None) => Some((true, deny)),
        }
    }
}

/// Returns a larger number for narrower selectors.
fn breadth(selector: Selector) -> u8 {
    match selector {
        Selector::All => 0,
        Selector::Losses => 1,
        Selector::Kind(_) => 2,
        Selector::Code(_) => 3,
    }
}

/// The level of every code: that of its kind, unless a rule changes it.
///
/// Rules of an earlier layer override those of a later one. Within a layer, a code overrides a kind, a kind `loss`, and
/// `loss` `all`. A finding that is both denied and allowed is denied. Errors cannot be allowed.
///
/// # Example: every warning but one fails
/// ```
/// use kubeshape_schema::{Code, Level, LevelRules, Levels};
///
/// let rules = LevelRules { deny: vec!["warning".parse()?], allow: vec!["KS1004".parse()?] };
/// let levels = Levels::new([rules]);
/// assert_eq!(levels.of(Code::UnknownType), Level::Error);
/// assert_eq!(levels.of(Code::ResolvedKey), Level::Off);
/// assert_eq!(levels.of(Code::V2Default), Level::Note);
/// # Ok::<(), kubeshape_schema::SelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    layers: Vec<LevelRules>,
}

impl Levels {
    /// Creates the levels from these layers of rules. The first layer has priority.
    pub fn new(layers: impl IntoIterator<Item = LevelRules>) -> Levels {
        let is_used = |rules: &LevelRules| !rules.deny.is_empty() || !rules.allow.is_empty();
        Levels { layers: layers.into_iter().filter(is_used).collect() }
    }

    /// Returns the level of a code.
    pub fn of(&self, code: Code) -> Level {
        match self.rule(code) {
            _ if code.kind() == NoteKind::Error => Level::Error,
            None => code.kind().level(),
            Some((true, _)) => Level::Error,
            Some((false, _)) => Level::Off,
        }
    }

    /// Returns the rule that denies a code, or `None` if there is none, or if it is an error anyway.
    pub fn denied_by(&self, code: Code) -> Option<Selector> {
        let (is_denied, selector) = self.rule(code).filter(|_| code.kind() != NoteKind::Error)?;
        is_denied.then_some(selector)
    }

    /// Returns whether a rule denies losses, so that they have to be computed.
    pub fn denies_losses(&self) -> bool {
        Code::ALL.iter().any(|code| code.kind().is_loss() && self.denied_by(*code).is_some())
    }

    fn rule(&self, code: Code) -> Option<(bool, Selector)> {
        self.layers.iter().find_map(|layer| layer.is_denied(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(deny: &str, allow: &str) -> Result<LevelRules, SelectorError> {
        let read = |text: &str| text.split_whitespace().map(str::parse).collect::<Result<Vec<Selector>, _>>();
        Ok(LevelRules { deny: read(deny)?, allow: read(allow)? })
    }

    #[test]
    fn the_narrowest_rule_of_the_first_layer_decides() -> Result<(), SelectorError> {
        let (warning, loss, error) = (Code::ResolvedKey, Code::V2Default, Code::WrongType);
        for (layers, expected) in [
            (vec![], [Level::Warning, Level::Note, Level::Error]),
            (vec![rules("all", "")?], [Level::Error; 3]),
            (vec![rules("", "all")?], [Level::Off, Level::Off, Level::Error]),
            (vec![rules("all", "all")?], [Level::Error; 3]),
            (vec![rules("all", "warning dropped")?], [Level::Off, Level::Off, Level::Error]),
            (vec![rules("dropped", "loss")?], [Level::Warning, Level::Error, Level::Error]),
            (vec![rules("KS1004", "warning")?], [Level::Error, Level::Note, Level::Error]),
            (vec![rules("warning", "KS1004")?], [Level::Off, Level::Note, Level::Error]),
            // The first layer has priority, even with the wider rule.
            (vec![rules("", "warning")?, rules("KS1004", "")?], [Level::Off, Level::Note, Level::Error]),
            (vec![rules("narrowed", "")?, rules("KS1004", "")?], [Level::Error, Level::Note, Level::Error]),
        ] {
            let levels = Levels::new(layers.clone());
            assert_eq!([warning, loss, error].map(|code| levels.of(code)), expected, "{layers:?}");
        }
        Ok(())
    }

    #[test]
    fn the_rule_that_denies_a_code_is_known() -> Result<(), SelectorError> {
        let levels = Levels::new([rules("narrowed KS1004 error", "")?]);
        assert_eq!(levels.denied_by(Code::ResolvedKey), Some(Selector::Code(Code::ResolvedKey)));
        assert_eq!(levels.denied_by(Code::UnknownField), None);
        assert_eq!(levels.denied_by(Code::WrongType), None, "it is an error anyway");
        assert!(levels.denies_losses());
        assert!(!Levels::new([rules("warning note", "all")?]).denies_losses());
        Ok(())
    }

    #[test]
    fn unknown_selectors_name_the_nearest() {
        for (text, expected) in [
            ("KS3009", "there is no code or kind `KS3009`; did you mean `KS3005`?"),
            ("ks1018x", "there is no code or kind `ks1018x`"),
            ("narowed", "there is no code or kind `narowed`; did you mean `narrowed`?"),
            ("Warning", "there is no code or kind `Warning`; did you mean `warning`?"),
            ("", "there is no code or kind ``"),
        ] {
            assert_eq!(text.parse::<Selector>().map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
    }

    #[test]
    fn selectors_are_printed_as_they_are_read() {
        for text in Selector::words().map(str::to_owned).chain(Code::ALL.iter().map(Code::to_string)) {
            assert_eq!(text.parse::<Selector>().map(|selector| selector.to_string()), Ok(text));
        }
    }
}
