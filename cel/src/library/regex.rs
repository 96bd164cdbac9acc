//! Regular expressions with Go's language, matched in linear time.

use kubeshape_structural::regex::{CompileError, compile};

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
