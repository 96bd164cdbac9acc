//! Exemptions: accepted changes.

use crate::change::{Change, Class, Consumer};
use kubeshape_schema::Code;
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};
use std::fmt;

/// Most exemptions in a file.
const MOST: usize = 10_000;

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    of_month: u8,
}

impl Day {
    /// Reads `YYYY-MM-DD`. Returns `None` if there is no such day.
    ///
    /// # Example
    /// ```
    /// use kubeshape_diff::Day;
    /// assert!(Day::parse("2028-02-29").unwrap() > Day::parse("2027-12-31").unwrap());
    /// assert_eq!(Day::parse("2027-02-29"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Day> {
        let number = |range: std::ops::Range<usize>| {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u16>().ok())?
        };
        let is_formed = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u16::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        let is_day = is_formed && (1..=days).contains(&day);
        is_day.then_some(Day { year, month: month as u8, of_month: day as u8 })
    }

    /// Returns the day this many days after 1970-01-01 (UTC).
    pub fn of_unix_days(days: u64) -> Day {
        // Uses eras of 400 years that begin in March, as Howard Hinnant's `civil_from_days`.
        let days = days.min(2_900_000) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + u64::from(month <= 2);
        Day { year: year as u16, month: month as u8, of_month: day as u8 }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.of_month)
    }
}

/// An accepted change and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exemption {
    /// The code of the change.
    pub code: Code,
    /// The name of the definition. `None` matches any.
    pub definition: Option<String>,
    /// The field, as in [`Change::path`]. `None` matches any; a trailing `.**` matches every field below.
    pub path: Option<String>,
    /// The consumer. `None` matches all.
    pub consumer: Option<Consumer>,
    /// The reason.
    pub reason: String,
    /// The last day on which it applies.
    pub expires: Option<Day>,
    /// Its line in the file.
    pub line: usize,
}

impl Exemption {
    fn is_about(&self, definition: &str, change: &Change) -> bool {
        self.code == change.code
            && self.definition.as_ref().is_none_or(|name| name == definition)
            && self.path.as_ref().is_none_or(|path| match path.strip_suffix(".**") {
                None => *path == change.path,
                Some(above) => {
                    change.path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']) || rest.is_empty())
                }
            })
    }
}

/// An error in a file of exemptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExemptionError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The error and what is expected.
    pub message: String,
}

impl fmt::Display for ExemptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ExemptionError {}

/// Exemptions, with a mark for each that was used.
#[derive(Clone, Debug, Default)]
pub struct Exemptions {
    all: Vec<(Exemption, bool)>,
    today: Option<Day>,
}

impl Exemptions {
    /// Reads a list of exemptions, in YAML or JSON, as they apply on a day.
    ///
    /// # Errors
    /// The input is not a list of exemptions. The error says where, what was found, and what was expected.
    ///
    /// # Example
    /// ```
    /// use kubeshape_diff::{Day, Exemptions};
    ///
    /// let text = "
    /// - code: KS8409
    ///   path: spec.size
    ///   consumer: writers
    ///   reason: Nobody uses sizes above 5.
    ///   expires: 2027-06-30
    /// ";
    /// let today = Day::parse("2027-07-01").unwrap();
    /// let exemptions = Exemptions::read(text, today)?;
    /// assert_eq!(exemptions.expired().next().unwrap().reason, "Nobody uses sizes above 5.");
    /// let error = Exemptions::read("- code: KS8409\n  because: x", today).unwrap_err();
    /// assert_eq!(error.to_string(), "2:12: unknown field \"because\"; expected one of code, definition, path, \
    ///     consumer, reason, expires");
    /// # Ok::<(), kubeshape_diff::ExemptionError>(())
    /// ```
    pub fn read(text: &str, today: Day) -> Result<Exemptions, ExemptionError> {
        let mut tape = Tape::new();
        let broken = |error: kubeshape_yaml::Error| ExemptionError { line: 1, column: 1, message: error.to_string() };
        let mut stream = Stream::new(text.as_bytes(), Limits::default()).map_err(broken)?;
        let source = stream.source();
        let mut all = Vec::new();
        if let Some(read) = stream.next(&mut tape) {
            read.map_err(broken)?;
            if let Some(root) = tape.document(source).root().filter(|root| !root.is_null()) {
                if root.kind() != Kind::Seq {
                    return Err(error(root, "expected a list of exemptions".to_owned()));
                }
                for item in root.items() {
                    if all.len() == MOST {
                        return Err(error(item, format!("found more than {MOST} exemptions; split the file")));
                    }
                    all.push((exemption(item)?, false));
                }
            }
        }
        Ok(Exemptions { all, today: Some(today) })
    }

    /// Returns the effects of a change that no exemption covers. Expired exemptions cover nothing.
    pub fn left(&mut self, definition: &str, change: &Change) -> Vec<(Consumer, Class)> {
        let mut left = change.effects.clone();
        for (exemption, is_used) in &mut self.all {
            if !exemption.is_about(definition, change) {
                continue;
            }
            let is_expired = exemption.expires.zip(self.today).is_some_and(|(expires, today)| expires < today);
            let concerns = |consumer: Consumer| exemption.consumer.is_none_or(|only| only == consumer);
            if change.effects.iter().any(|(consumer, _)| concerns(*consumer)) {
                *is_used = true;
            }
            if !is_expired {
                left.retain(|(consumer, _)| !concerns(*consumer));
            }
        }
        left
    }

    /// Returns the expired exemptions.
    pub fn expired(&self) -> impl Iterator<Item = &Exemption> {
        let today = self.today;
        let is_over =
            move |exemption: &&Exemption| exemption.expires.zip(today).is_some_and(|(expires, today)| expires < today);
        self.all.iter().map(|(exemption, _)| exemption).filter(is_over)
    }

    /// Returns the unused exemptions.
    pub fn unused(&self) -> impl Iterator<Item = &Exemption> {
        self.all.iter().filter(|(_, is_used)| !is_used).map(|(exemption, _)| exemption)
    }
}

fn exemption(item: Node<'_>) -> Result<Exemption, ExemptionError> {
    const FIELDS: [&str; 6] = ["code", "definition", "path", "consumer", "reason", "expires"];
    if item.kind() != Kind::Map {
        return Err(error(item, "expected an exemption with the fields code and reason".to_owned()));
    }
    for (key, value) in item.pairs() {
        let name = key.as_str().unwrap_or_default();
        if !FIELDS.contains(&name) {
            return Err(error(value, format!("unknown field {name:?}; expected one of {}", FIELDS.join(", "))));
        }
    }
    let text = |name: &str| match item.get(name) {
        None => Ok(None),
        Some(value) => match value.as_str().filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(Some((value, text))),
            None => Err(error(value, format!("{name}: expected a non-empty string"))),
        },
    };
    let Some((at, code)) = text("code")? else {
        return Err(error(item, "missing code; expected one such as KS8409".to_owned()));
    };
    let Some(code) = Code::parse(code) else {
        return Err(error(at, format!("code: found {code:?}, expected a code such as KS8409")));
    };
    let Some((_, reason)) = text("reason")? else {
        return Err(error(item, "missing reason; say why the change is accepted".to_owned()));
    };
    let consumer = match text("consumer")? {
        None => None,
        Some((at, name)) => {
            Some(Consumer::ALL.into_iter().find(|consumer| consumer.name() == name).ok_or_else(|| {
                let names: Vec<&str> = Consumer::ALL.iter().map(|consumer| consumer.name()).collect();
                error(at, format!("consumer: found {name:?}, expected one of {}", names.join(", ")))
            })?)
        }
    };
    let expires = match text("expires")? {
        None => None,
        Some((at, text)) => Some(
            Day::parse(text)
                .ok_or_else(|| error(at, format!("expires: found {text:?}, expected a day such as 2027-06-30")))?,
        ),
    };
    let line = place(item).0;
    let owned = |found: Option<(Node<'_>, &str)>| found.map(|(_, text)| text.to_owned());
    Ok(Exemption {
        code,
        definition: owned(text("definition")?),
        path: owned(text("path")?),
        consumer,
        reason: reason.to_owned(),
        expires,
        line,
    })
}

/// Returns line and column of a node.
fn place(node: Node<'_>) -> (usize, usize) {
    let source = node.document().source();
    let before = source.get(..node.span().start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn error(node: Node<'_>, message: String) -> ExemptionError {
    let (line, column) = place(node);
    ExemptionError { line, column, message }
}
