//! Regular expressions of Go's syntax, matched in linear time.

use kubeshape_structural::regex::{self as go, CompileError, Room, compile};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A regular expression that Go accepts.
#[derive(Clone, Debug)]
pub(crate) enum Regex {
    Compiled(regex::Regex),
    /// A non-empty string without special characters, and whether it is anchored at the beginning and at the end.
    Literal {
        text: Box<str>,
        start: bool,
        end: bool,
    },
}

impl Regex {
    /// Compiles an expression. The error is Go's.
    pub(crate) fn new(pattern: &str) -> Result<Regex, String> {
        if let Some(literal) = Regex::literal(pattern) {
            return Ok(literal);
        }
        compile(pattern).map(Regex::Compiled).map_err(|error| match error {
            CompileError::Invalid(error) => error.to_string(),
            CompileError::TooLarge | CompileError::TooMany => {
                format!("error parsing regexp: expression too large: `{pattern}`")
            }
        })
    }

    fn literal(pattern: &str) -> Option<Regex> {
        let (start, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
        let (end, text) = rest.strip_suffix('$').map_or((false, rest), |text| (true, text));
        let special = |byte| br"\.+*?()|[]{}^$".contains(&byte);
        let plain = (1..=SMALL).contains(&text.len()) && !text.bytes().any(special);
        plain.then(|| Regex::Literal { text: text.into(), start, end })
    }

    /// Compiles an expression at its first use if it is certain to compile, and immediately otherwise.
    ///
    /// # Errors
    /// See [`Regex::new`].
    pub(crate) fn constant(pattern: &str) -> Result<Constant, String> {
        let compiled = OnceLock::new();
        if let Some(literal) = Regex::literal(pattern) {
            let _ = compiled.set((Ok(literal), None));
        } else if pattern.len() <= SMALL && !pattern.contains('{') {
            go::check(pattern).map_err(|error| error.to_string())?;
        } else {
            let regex = Regex::new(pattern)?;
            if let Some(room) = Room::of(pattern) {
                let _ = compiled.set((Ok(regex), Some(room)));
            }
        }
        Ok(Constant { pattern: pattern.into(), compiled })
    }

    pub(crate) fn is_match(&self, searched: &str) -> bool {
        match self {
            Regex::Compiled(regex) => regex.is_match(searched),
            Regex::Literal { text, start, end } => match (start, end) {
                (false, false) => searched.contains(&**text),
                (true, false) => searched.starts_with(&**text),
                (false, true) => searched.ends_with(&**text),
                (true, true) => *searched == **text,
            },
        }
    }

    pub(crate) fn find<'t>(&self, searched: &'t str) -> Option<&'t str> {
        match self {
            Regex::Compiled(regex) => regex.find(searched).map(|found| found.as_str()),
            Regex::Literal { text, end, .. } => {
                // All matches are the same string, so any of them will do.
                let start = if *end { searched.len().checked_sub(text.len()) } else { searched.find(&**text) };
                start.filter(|_| self.is_match(searched)).and_then(|start| searched.get(start..start + text.len()))
            }
        }
    }

    /// Returns at most `most` matches that do not overlap; all of them if `most` is negative.
    pub(crate) fn find_all<'t>(&self, searched: &'t str, most: i64) -> Vec<&'t str> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        match self {
            Regex::Compiled(regex) => regex.find_iter(searched).take(most).map(|found| found.as_str()).collect(),
            Regex::Literal { text, start: false, end: false } => searched.matches(&**text).take(most).collect(),
            Regex::Literal { .. } => self.find(searched).into_iter().take(most).collect(),
        }
    }
}

/// An expression of at most this many bytes without counted repetitions is never too large.
const SMALL: usize = 256;

/// A constant expression. Compiling it takes longer than all checks around it, and not every program is run. So it is
/// compiled at its first use.
#[derive(Debug)]
pub(crate) struct Constant {
    pattern: Box<str>,
    /// The compiled expression with its share of the memory for patterns. It is kept if there is room.
    compiled: OnceLock<(Result<Regex, String>, Option<Room>)>,
}

impl Clone for Constant {
    /// A clone compiles the expression again, because it needs its own room.
    fn clone(&self) -> Constant {
        let compiled = OnceLock::new();
        if let Some((Ok(literal @ Regex::Literal { .. }), _)) = self.compiled.get() {
            let _ = compiled.set((Ok(literal.clone()), None));
        }
        Constant { pattern: self.pattern.clone(), compiled }
    }
}

impl Constant {
    /// Calls `call` with the compiled expression, or with the error if it is too large. Large expressions are checked
    /// when [`Regex::constant`] is called.
    pub(crate) fn with<T>(&self, call: impl FnOnce(Result<&Regex, &str>) -> T) -> T {
        if let Some((compiled, _)) = self.compiled.get() {
            return call(compiled.as_ref().map_err(String::as_str));
        }
        let compiled = Regex::new(&self.pattern);
        match Room::of(&self.pattern) {
            Some(room) => {
                let (compiled, _) = self.compiled.get_or_init(|| (compiled, Some(room)));
                call(compiled.as_ref().map_err(String::as_str))
            }
            None => call(compiled.as_ref().map_err(String::as_str)),
        }
    }
}

/// The number of computed patterns that are kept, per program and per process.
const KEPT: usize = 4;
const KEPT_IN_ALL: usize = 1024;
/// Longer patterns are not kept, in bytes.
const SHORT: usize = 64;

static IN_ALL: AtomicUsize = AtomicUsize::new(0);

/// The first few patterns that the evaluations of a program compute. A cell is filled once.
#[derive(Debug, Default)]
pub(crate) struct Patterns([OnceLock<Kept>; KEPT]);

/// A kept pattern. It counts towards the limit of the process.
#[derive(Debug)]
struct Kept {
    pattern: Box<str>,
    regex: Regex,
}

impl Drop for Kept {
    fn drop(&mut self) {
        IN_ALL.fetch_sub(1, Relaxed);
    }
}

impl Clone for Patterns {
    /// A clone has its own patterns.
    fn clone(&self) -> Patterns {
        Patterns::default()
    }
}

impl Patterns {
    /// Calls `call` with the compiled pattern.
    ///
    /// # Errors
    /// See [`Regex::new`].
    pub(crate) fn with<T>(&self, pattern: &str, call: impl FnOnce(&Regex) -> T) -> Result<T, String> {
        let free = self.0.iter().find(|cell| cell.get().is_none_or(|kept| *kept.pattern == *pattern));
        if let Some(kept) = free.and_then(OnceLock::get) {
            return Ok(call(&kept.regex));
        }
        let regex = Regex::new(pattern)?;
        let result = call(&regex);
        // Unicode classes and counted repetitions need much memory.
        if let Some(cell) = free
            && pattern.len() <= SHORT
            && !pattern.contains(['{', 'p', 'P'])
            && IN_ALL.fetch_update(Relaxed, Relaxed, |count| (count < KEPT_IN_ALL).then_some(count + 1)).is_ok()
        {
            // If another thread was first, this pattern is dropped and no longer counted.
            let _ = cell.set(Kept { pattern: pattern.into(), regex });
        }
        Ok(result)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{IN_ALL, KEPT, Patterns, Regex, SHORT, SMALL, compile};
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn small_expressions_always_compile() {
        for part in [r"\pL", r"\PL", r"(?i)\pL", "[^a]", r"(\pL+)+", r"(\PL*|.)*", "(a|b)*"] {
            let pattern = part.repeat(SMALL / part.len());
            assert!(Regex::constant(&pattern).is_ok_and(|regex| regex.with(|compiled| compiled.is_ok())), "{part}");
        }
        assert!(Regex::constant("[a").is_err());
        assert!(Regex::constant("(a{1000}){1000}").is_err());
    }

    #[test]
    fn literals_match_as_expressions_do() {
        for pattern in ["a", "^a", "a$", "^a$", "ab", "^ab", "ab$", "^ab$", "\u{e9}", "a-b", "a b"] {
            let literal = Regex::new(pattern).unwrap();
            assert!(matches!(literal, Regex::Literal { .. }), "{pattern}");
            let compiled = Regex::Compiled(compile(pattern).unwrap());
            for text in ["", "a", "ab", "aab", "ba", "abab", "b\u{e9}\u{e9}", "xa-b", "a b", "a\n", "ab\n"] {
                assert_eq!(literal.is_match(text), compiled.is_match(text), "{pattern:?} {text:?}");
                assert_eq!(literal.find(text), compiled.find(text), "{pattern:?} {text:?}");
                for most in [-1, 0, 1, 2] {
                    assert_eq!(literal.find_all(text, most), compiled.find_all(text, most), "{pattern:?} {text:?}");
                }
            }
        }
        for pattern in ["", "^", "$", "^$", "a.", "a|b", "^^a", "a$$", "\\d", "[a]"] {
            assert!(!matches!(Regex::new(pattern), Ok(Regex::Literal { .. })), "{pattern}");
        }
    }

    #[test]
    fn a_program_keeps_few_short_patterns() {
        let patterns = Patterns::default();
        let is_kept =
            |pattern: &str| patterns.0.iter().any(|cell| cell.get().is_some_and(|kept| *kept.pattern == *pattern));
        let long = "a+".repeat(SHORT);
        for other in [long.as_str(), r"\pL+", "a{2}"] {
            assert!(patterns.with(other, |regex| regex.is_match("aa\u{e9}")).is_ok());
            assert!(!is_kept(other), "{other}");
        }
        assert!(patterns.with("[", |_| ()).is_err());
        for n in 0..2 * KEPT {
            for _ in 0..2 {
                let pattern = format!("^{n}+$");
                assert_eq!(patterns.with(&pattern, |regex| regex.is_match(&n.to_string())), Ok(true));
                assert_eq!(is_kept(&pattern), n < KEPT);
            }
        }
        let before = IN_ALL.load(Relaxed);
        drop(patterns);
        assert!(IN_ALL.load(Relaxed) < before);
    }
}
