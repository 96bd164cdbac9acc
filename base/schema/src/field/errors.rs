//! Lists of errors with a bounded total size.

use super::{BadValue, Error, ErrorType};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Errors whose total size is bounded. Each has its path, and a long path can lead to many fields.
///
/// Errors beyond [`Errors::MOST`] bytes are dropped and counted; [`Errors::into_vec`] ends with the count.
///
/// ```
/// use kubeshape_schema::field::{Error, Errors, Path};
///
/// let mut errors = Errors::default();
/// let long = "x".repeat(1 << 20);
/// errors.extend((0..10).map(|_| Error::required(&Path::Base(&long), "", 0)));
/// let errors = errors.into_vec();
/// assert_eq!(errors.len(), 5);
/// assert!(errors[4].to_string().ends_with("6 more errors: all have more than 4194304 bytes together"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    all: Vec<Error>,
    bytes: usize,
    dropped: usize,
}

impl Errors {
    /// Maximum total size of paths, values and details in bytes.
    pub const MOST: usize = 4 << 20;

    /// Adds an error, or drops and counts it. All errors after the first dropped one are dropped.
    pub fn push(&mut self, error: Error) {
        if self.is_full() {
            return self.skip();
        }
        let bytes = self.bytes.saturating_add(error.size());
        if bytes > Errors::MOST && !self.all.is_empty() {
            return self.skip();
        }
        self.bytes = bytes;
        self.all.push(error);
    }

    /// Returns whether errors were dropped. If so, building more is useless.
    pub fn is_full(&self) -> bool {
        self.dropped > 0
    }

    /// Counts an error that was not built.
    pub fn skip(&mut self) {
        self.dropped += 1;
    }

    /// Keeps the errors for which this is true.
    pub fn retain(&mut self, keep: impl FnMut(&Error) -> bool) {
        self.all.retain(keep);
        self.bytes = self.all.iter().map(Error::size).sum();
    }

    /// Keeps the first errors.
    pub fn truncate(&mut self, count: usize) {
        self.all.truncate(count);
        self.retain(|_| true);
    }

    /// Moves the errors of another list to the end of this one.
    pub fn append(&mut self, other: &mut Errors) {
        self.dropped += std::mem::take(&mut other.dropped);
        other.bytes = 0;
        self.extend(std::mem::take(&mut other.all));
    }

    /// Returns the errors. If errors were dropped, the last one has their number.
    pub fn into_vec(mut self) -> Vec<Error> {
        self.all.extend(Error::dropped(self.dropped));
        self.all
    }
}

impl Error {
    /// Returns its size in bytes.
    pub fn size(&self) -> usize {
        let value = match &self.value {
            BadValue::Omitted => 0,
            BadValue::Text(text) | BadValue::Json(text) | BadValue::Printed(text) => text.len(),
        };
        self.path.len() + self.detail.len() + value
    }

    /// Returns the error that replaces this many dropped errors, or `None` for 0.
    pub fn dropped(count: usize) -> Option<Error> {
        let detail = format!("{count} more errors: all have more than {} bytes together", Errors::MOST);
        let (path, value) = (String::new(), BadValue::Omitted);
        (count > 0).then_some(Error { error_type: ErrorType::Internal, path, value, detail, at: 0 })
    }
}

impl Deref for Errors {
    type Target = [Error];

    fn deref(&self) -> &[Error] {
        &self.all
    }
}

impl DerefMut for Errors {
    fn deref_mut(&mut self) -> &mut [Error] {
        &mut self.all
    }
}

impl From<Vec<Error>> for Errors {
    fn from(all: Vec<Error>) -> Errors {
        let mut errors = Errors::default();
        errors.extend(all);
        errors
    }
}

/// Paths whose total size is bounded. [`Paths::into_vec`] ends with the number of dropped paths.
///
/// ```
/// use kubeshape_schema::field::Paths;
///
/// let mut paths = Paths::default();
/// (0..10).for_each(|_| paths.push(&"x".repeat(1 << 20)));
/// let paths = paths.into_vec();
/// assert_eq!((paths.len(), &*paths[4]), (5, "6 more, which are not shown"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    all: Vec<String>,
    bytes: usize,
    dropped: usize,
}

impl Paths {
    /// Adds a path, or drops and counts it.
    pub fn push(&mut self, path: &impl fmt::Display) {
        if self.dropped > 0 {
            self.dropped += 1;
            return;
        }
        let path = path.to_string();
        let bytes = self.bytes.saturating_add(path.len());
        if bytes > Errors::MOST && !self.all.is_empty() {
            self.dropped += 1;
            return;
        }
        self.bytes = bytes;
        self.all.push(path);
    }

    /// Sorts the paths.
    pub fn sort(&mut self) {
        self.all.sort_unstable();
    }

    /// Returns the paths. If paths were dropped, the last string has their number.
    pub fn into_vec(mut self) -> Vec<String> {
        if self.dropped > 0 {
            self.all.push(format!("{} more, which are not shown", self.dropped));
        }
        self.all
    }
}

impl Extend<Error> for Errors {
    fn extend<I: IntoIterator<Item = Error>>(&mut self, errors: I) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}
