//! What is wrong with a value.

use std::fmt::{self, Write as _};

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// Where, as upstream writes paths: `.spec.ports[port=80].name`; empty for the whole.
    pub path: String,
    /// Where, as the JSON pointer into the value: `/spec/ports/0/name`. Of two values that are compared or merged it
    /// points into the right one, if that has such a place.
    pub pointer: String,
    /// What is wrong.
    pub kind: ValidationErrorKind,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationErrorKind {
    /// The map declares no field of that name and takes no others; the last element of the path.
    UndeclaredField {
        /// The field.
        name: String,
        /// Declared names that are near to it, nearest first.
        nearest: Vec<String>,
    },
    /// Anything else, in upstream's words.
    Other(String),
}

/// Everything that is wrong with a value, never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ValidationErrors(pub Vec<ValidationError>);

impl fmt::Display for ValidationErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValidationErrorKind::UndeclaredField { .. } => f.write_str("field not declared in schema"),
            ValidationErrorKind::Other(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for ValidationErrors {
    /// As upstream prints them: one alone, several each on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => one.fmt(f),
            errors => {
                f.write_str("errors:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

/// A step of a JSON pointer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'t> {
    Name(&'t str),
    At(usize),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('/')?;
        match self {
            Token::At(at) => at.fmt(f),
            Token::Name(name) => name.chars().try_for_each(|c| match c {
                '~' => f.write_str("~0"),
                '/' => f.write_str("~1"),
                c => f.write_char(c),
            }),
        }
    }
}

/// The errors of a walk. Paths are put together on the way up, so a walk without errors never sees one.
#[derive(Debug, Default)]
pub(super) struct Errors {
    found: Vec<ValidationError>,
}

impl Errors {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Adds an error of the value that is being looked at.
    #[cold]
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.add_kind(ValidationErrorKind::Other(message.into()));
    }

    #[cold]
    pub(super) fn add_kind(&mut self, kind: ValidationErrorKind) {
        self.found.push(ValidationError { path: String::new(), pointer: String::new(), kind });
    }

    /// Adds an error of a list item that has no path of its own: the path is the list's, the pointer the item's.
    #[cold]
    pub(super) fn add_item(&mut self, message: String, at: usize) {
        self.add(message);
        let from = self.len() - 1;
        self.below(from, &"", Token::At(at));
    }

    /// The errors from there on are errors of a child.
    #[inline]
    pub(super) fn below(&mut self, from: usize, element: &dyn fmt::Display, token: Token<'_>) {
        if self.found.len() > from {
            self.prefix(from, element, token);
        }
    }

    #[cold]
    fn prefix(&mut self, from: usize, element: &dyn fmt::Display, token: Token<'_>) {
        let (element, token) = (element.to_string(), token.to_string());
        for error in self.found.iter_mut().skip(from) {
            error.path.insert_str(0, &element);
            error.pointer.insert_str(0, &token);
        }
    }

    pub(super) fn into_result(self) -> Result<(), ValidationErrors> {
        if self.found.is_empty() { Ok(()) } else { Err(ValidationErrors(self.found)) }
    }
}

/// The names that are nearest to one, nearest first, at most three. Those that are too far away are left out.
///
/// # Example: a letter left out
/// ```
/// use kubeshape_smd::typed::nearest;
/// assert_eq!(nearest("protocl", ["port", "protocol"].into_iter()), ["protocol"]);
/// assert_eq!(nearest("widgt", ["Gadget", "Widget"].into_iter()), ["Widget"]);
/// assert!(nearest("kitten", ["sitting"].into_iter()).is_empty());
/// ```
#[cold]
pub fn nearest<'n>(name: &str, declared: impl Iterator<Item = &'n str>) -> Vec<String> {
    /// Nobody mistypes that many letters, and longer names would cost too much.
    const LONGEST: usize = 64;
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if letters.len() > LONGEST {
        return Vec::new();
    }
    let most = (letters.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = declared
        .filter(|other| other.len().abs_diff(name.len()) <= most * 4)
        .filter_map(|other| Some((distance(&letters, other, most)?, other)))
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, other)| other.to_owned()).collect()
}

/// How many letters must be changed, added or left out; a change of case counts as half of that, rounded down for the
/// whole. None if it is more than `most`.
fn distance(name: &[char], other: &str, most: usize) -> Option<usize> {
    // In halves.
    let mut row: Vec<usize> = (0..=name.len()).map(|at| 2 * at).collect();
    for (line, c) in other.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], 2 * (line + 1));
        for (at, d) in name.iter().enumerate() {
            let change = if c == *d { 0 } else { 2 - usize::from(c.eq_ignore_ascii_case(d)) };
            let best = (diagonal + change).min(row[at] + 2).min(row[at + 1] + 2);
            diagonal = std::mem::replace(&mut row[at + 1], best);
        }
        if row.iter().min().is_none_or(|least| *least > 2 * most + 1) {
            return None;
        }
    }
    let halves = row.last().copied()?;
    (halves / 2 <= most).then_some(halves)
}
