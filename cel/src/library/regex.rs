//! Regular expressions with Go's language, matched in linear time.

use kubeshape_structural::regex::{self as go, CompileError, compile};
use std::sync::OnceLock;

/// A regular expression that Go accepts.
#[derive(Clone, Debug)]
pub(crate) struct Regex(regex::Regex);

impl Regex {
    /// Compiles an expression; the error is Go's.
    pub(crate) fn new(pattern: &str) -> Result<Regex, String> {
        compile(pattern).map(Regex).map_err(|error| match error {
            CompileError::Invalid(error) => error.to_string(),
            CompileError::TooLarge => format!("error parsing regexp: expression too large: `{pattern}`"),
        })
    }

    /// Compiles an expression when it is first needed, if it is certain that this succeeds.
    ///
    /// # Errors
    /// As [`Regex::new`].
    pub(crate) fn constant(pattern: &str) -> Result<Constant, String> {
        let compiled = OnceLock::new();
        if pattern.len() <= SMALL && !pattern.contains('{') {
            go::check(pattern).map_err(|error| error.to_string())?;
        } else {
            let _ = compiled.set(Ok(Regex::new(pattern)?));
        }
        Ok(Constant { pattern: pattern.into(), compiled })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.0.find(text).map(|found| found.as_str())
    }

    /// At most `most` matches that do not overlap; all of them if it is negative.
    pub(crate) fn find_all<'t>(&self, text: &'t str, most: i64) -> Vec<&'t str> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.0.find_iter(text).take(most).map(|found| found.as_str()).collect()
    }
}

/// An expression of so many bytes without counted repetitions never takes more than it may.
const SMALL: usize = 256;

/// An expression that is a constant. Compiling it takes longer than checking everything around it, and not every program is run.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pattern: Box<str>,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Constant {
    /// The compiled expression.
    ///
    /// # Errors
    /// It is too large, which is found before unless it is small.
    pub(crate) fn get(&self) -> Result<&Regex, &str> {
        self.compiled.get_or_init(|| Regex::new(&self.pattern)).as_ref().map_err(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{Regex, SMALL};

    #[test]
    fn small_expressions_always_compile() {
        for part in [r"\pL", r"\PL", r"(?i)\pL", "[^a]", r"(\pL+)+", r"(\PL*|.)*", "(a|b)*"] {
            let pattern = part.repeat(SMALL / part.len());
            assert!(Regex::constant(&pattern).is_ok_and(|regex| regex.get().is_ok()), "{part}");
        }
        assert!(Regex::constant("[a").is_err());
        assert!(Regex::constant("(a{1000}){1000}").is_err());
    }
}
