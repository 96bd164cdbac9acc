//! Builds strings that match a regular expression.

use kubeshape_structural::regex::translated;
use regex_syntax::Parser;
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use std::num::NonZero;

/// The longest string, in characters.
pub(super) const MAX_LENGTH: usize = 65_536;

/// Selects one of the matching strings.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// Selects the alternative, and the character of a class.
    pub(super) pick: usize,
    /// The number of additional repetitions.
    pub(super) more: usize,
}

/// A parsed pattern.
pub(super) struct Pattern(Hir);

impl Pattern {
    /// Parses a pattern of Go. Returns `None` if it is invalid.
    pub(super) fn new(pattern: &str) -> Option<Pattern> {
        Parser::new().parse(&translated(pattern).ok()?).ok().map(Pattern)
    }

    /// Returns a string that matches, apart from assertions such as word boundaries. `None` if it would be too long.
    pub(super) fn text(&self, choice: Choice) -> Option<String> {
        let mut out = String::new();
        write(&self.0, choice, &mut out)?;
        Some(out)
    }
}

fn write(hir: &Hir, choice: Choice, out: &mut String) -> Option<()> {
    if out.len() > MAX_LENGTH {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => out.push(character(class, choice.pick)?),
        HirKind::Capture(capture) => write(&capture.sub, choice, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, choice, out))?,
        HirKind::Alternation(branches) => write(branches.get(choice.pick % branches.len())?, choice, out)?,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.map_or(usize::MAX, |max| max as usize);
            let count = (repetition.min as usize).saturating_add(choice.more).min(most);
            for _ in 0..count {
                let before = out.len();
                write(&repetition.sub, choice, out)?;
                if out.len() == before {
                    break;
                }
            }
        }
    }
    Some(())
}

/// Returns a character of a class, preferably a letter or a digit.
fn character(class: &Class, pick: usize) -> Option<char> {
    let holds = |c: &char| match class {
        Class::Unicode(class) => class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c)),
        Class::Bytes(class) => {
            class.ranges().iter().any(|range| (char::from(range.start())..=char::from(range.end())).contains(c))
        }
    };
    let plain = || ('a'..='z').chain('0'..='9').chain('A'..='Z').filter(holds);
    if let Some(count) = NonZero::new(plain().count()) {
        return plain().nth(pick % count);
    }
    let first = || match class {
        Class::Unicode(class) => class.ranges().first().map(ClassUnicodeRange::start),
        Class::Bytes(class) => class.ranges().first().map(|range| char::from(range.start())),
    };
    ('!'..='~').find(holds).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::{Choice, Pattern};

    #[test]
    fn strings_match_their_patterns() {
        for pattern in [
            r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
            r"^https?://.+$",
            r"^\d{4}-\d{2}$",
            "^(A|B|C)$",
        ] {
            let regex = kubeshape_structural::regex::compile(pattern).expect("a pattern");
            let read = Pattern::new(pattern).expect("a pattern");
            for pick in 0..3 {
                for more in 0..3 {
                    let text = read.text(Choice { pick, more }).expect("a text");
                    assert!(regex.is_match(&text), "{pattern} {text:?}");
                }
            }
        }
    }
}
