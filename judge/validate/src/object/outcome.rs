//! The results of a walk over a value and its schema.

use super::equal::Printing;
use super::name::{Failure, Name};
use super::pattern::MAX_PATTERNS;
use kubeshape_schema::field::{BadValue, Error, ErrorType, Errors, Path};
use kubeshape_value::Stop;
use std::cell::Cell;
use std::rc::Rc;

/// The context that the errors of a walk share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<'b> {
    /// The path of the whole value.
    pub(super) path: &'b Path<'b>,
    pub(super) printing: Printing<'b>,
}

/// The results of a walk.
#[derive(Debug)]
pub(super) struct Outcome<'b> {
    /// The context of errors; `None` in a quick walk.
    pub(super) base: Option<Base<'b>>,
    pub(super) failed: bool,
    pub(super) failures: Failures,
    pub(super) matches: u32,
    /// The bytes of patterns that may still be compiled without being kept.
    pub(super) patterns: usize,
    pub(super) stop: Stop<'b>,
}

/// Failures. Those of a whole walk have a bounded total size: each has its path, and a long path can lead to many
/// values.
#[derive(Debug, Default)]
pub(super) struct Failures {
    all: Vec<Failure>,
    /// The number of failures that are not collected.
    dropped: usize,
    /// The remaining bytes for failures of the whole walk; `None` in a quick walk.
    room: Option<Rc<Cell<usize>>>,
}

impl Failures {
    /// Returns an empty collection for a part of the walk.
    pub(super) fn apart(&self) -> Failures {
        Failures { all: Vec::new(), dropped: 0, room: self.room.clone() }
    }

    /// Returns whether there is nearly no room.
    fn is_full(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.get() > Errors::MOST / 8 * 7)
    }

    fn push(&mut self, failure: Failure) {
        if let Some(room) = &self.room {
            let bytes = room.get().saturating_add(failure.size());
            if bytes > Errors::MOST && room.get() > 0 {
                self.dropped += 1;
                return;
            }
            room.set(bytes);
        }
        self.all.push(failure);
    }

    fn append(&mut self, mut other: Failures) {
        self.all.append(&mut other.all);
        self.dropped += other.dropped;
    }

    pub(super) fn clear(&mut self) {
        if let Some(room) = &self.room {
            room.set(room.get().saturating_sub(self.all.iter().map(Failure::size).sum()));
        }
        self.all.clear();
        self.dropped = 0;
    }
}

impl Drop for Failures {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<'b> Outcome<'b> {
    pub(super) fn quick(stop: Stop<'b>) -> Self {
        Outcome { base: None, failed: false, failures: Failures::default(), matches: 0, patterns: MAX_PATTERNS, stop }
    }

    pub(super) fn full(base: Base<'b>, stop: Stop<'b>) -> Self {
        let failures = Failures { all: Vec::new(), dropped: 0, room: Some(Rc::default()) };
        Outcome { base: Some(base), failures, ..Outcome::quick(stop) }
    }

    /// Returns an outcome for a part of the walk whose errors may be dropped.
    pub(super) fn apart(&self) -> Self {
        let (base, failures, patterns) = (self.base, self.failures.apart(), self.patterns);
        Outcome { base, failures, patterns, ..Outcome::quick(self.stop) }
    }

    #[inline]
    pub(super) fn is_valid(&self) -> bool {
        !self.failed
    }

    /// Returns whether a walk may end here.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.failed && self.base.is_none() || self.stop.is_set()
    }

    #[inline]
    pub(super) fn matches(&mut self, count: u32) {
        self.matches = self.matches.saturating_add(count);
    }

    /// Reports an error. A quick walk does not create it.
    #[inline]
    pub(super) fn fail(&mut self, failure: impl FnOnce(Base<'_>) -> Failure) {
        self.failed = true;
        match self.base {
            // They would only be counted.
            Some(_) if self.failures.is_full() => self.failures.dropped += 1,
            Some(base) => self.failures.push(failure(base)),
            None => {}
        }
    }

    pub(super) fn take(&mut self, other: Outcome<'_>) {
        self.failed |= other.failed;
        self.patterns = self.patterns.min(other.patterns);
        self.failures.append(other.failures);
        self.matches(other.matches);
    }

    /// Returns the failures, and the number of those that are not collected.
    pub(super) fn into_failures(mut self) -> (Vec<Failure>, usize) {
        (std::mem::take(&mut self.failures.all), self.failures.dropped)
    }
}

/// Returns an error about the value at `name`.
#[cold]
pub(super) fn failure(
    base: Base<'_>,
    name: &Name<'_>,
    error_type: ErrorType,
    value: BadValue,
    detail: String,
) -> Failure {
    let error = Error { error_type, path: name.below(base.path), value, detail, at: 0 };
    Failure { error, name: name.to_string() }
}

/// Returns an error that upstream reports about the whole value, without a path.
#[cold]
pub(super) fn composite(base: Base<'_>, detail: String) -> Failure {
    let value = BadValue::Text(String::new());
    let error = Error { error_type: ErrorType::Invalid, path: base.path.to_string(), value, detail, at: 0 };
    Failure { error, name: String::new() }
}
