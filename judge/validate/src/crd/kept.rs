//! Results about a definition in one release that apply to others.

use crate::release::AskedRelease;
use kubeshape_cel::{CheckedRule, Issues, RuleError};
use kubeshape_schema::field::Error;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// Results that are kept while several releases check one definition, or one that replaces another: checked
/// expressions, and errors of defaults. It must be used for these definitions only.
#[derive(Debug, Default)]
pub struct Kept {
    expressions: Answers<Expression, Result<CheckedRule, RuleError>>,
    defaults: Answers<String, Vec<Error>>,
}

/// An expression of a definition.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Expression {
    pub(super) path: String,
    /// Whether it is already stored.
    pub(super) stored: bool,
    /// Whether `oldSelf` is optional.
    pub(super) optional: bool,
}

/// The maximum bytes of kept questions: a long name is part of the path of each expression. Other questions are
/// evaluated again.
const MOST: usize = 8 << 20;

/// An answer, and the releases for which it applies.
type Answer<T> = (RangeInclusive<u8>, Arc<T>);

/// Answers by question.
type Answers<K, T> = Mutex<Known<K, T>>;

/// Answers, each for a range of releases. They are never iterated over in the order of questions.
#[derive(Debug)]
struct Known<K, T> {
    all: HashMap<K, Vec<Answer<T>>>,
    /// The bytes of the questions.
    bytes: usize,
}

impl<K, T> Default for Known<K, T> {
    fn default() -> Self {
        Known { all: HashMap::new(), bytes: 0 }
    }
}

/// A question about a path.
trait Question: Eq + Hash {
    fn path(&self) -> &str;
}

impl Question for Expression {
    fn path(&self) -> &str {
        &self.path
    }
}

impl Question for String {
    fn path(&self) -> &str {
        self
    }
}

impl Kept {
    pub(super) fn expression(
        &self,
        expression: Expression,
        release: &AskedRelease,
        check: impl FnOnce(&AskedRelease) -> Result<CheckedRule, RuleError>,
    ) -> Arc<Result<CheckedRule, RuleError>> {
        answer(&self.expressions, expression, release, check)
    }

    /// Returns the errors of an expression that does not compile in an evaluated release, by the path of its error.
    pub fn mistakes(&self, path: &str, release: &AskedRelease) -> Option<Issues> {
        let known = self.expressions.lock().unwrap_or_else(PoisonError::into_inner);
        [(false, false), (false, true), (true, false), (true, true)].into_iter().find_map(|(stored, optional)| {
            let answers = known.all.get(&Expression { path: path.to_owned(), stored, optional })?;
            let (_, answer) = answers.iter().find(|(releases, _)| release.is_in(releases))?;
            answer.as_ref().as_ref().err()?.issues.clone()
        })
    }

    pub(super) fn defaults(
        &self,
        path: String,
        release: &AskedRelease,
        check: impl FnOnce(&AskedRelease) -> Vec<Error>,
    ) -> Arc<Vec<Error>> {
        answer(&self.defaults, path, release, check)
    }
}

/// Returns the kept answer for the release, or a new one. Both narrow the releases that give the same answers.
fn answer<K: Question, T>(
    answers: &Answers<K, T>,
    question: K,
    release: &AskedRelease,
    ask: impl FnOnce(&AskedRelease) -> T,
) -> Arc<T> {
    let lock = || answers.lock().unwrap_or_else(PoisonError::into_inner);
    let known =
        lock().all.get(&question).and_then(|all| all.iter().find(|(releases, _)| release.is_in(releases)).cloned());
    let (releases, found) = known.unwrap_or_else(|| {
        // The lock is released first: the computation may ask other questions.
        let apart = release.apart();
        let found = Arc::new(ask(&apart));
        let releases = apart.range();
        let mut known = lock();
        let bytes = known.bytes.saturating_add(question.path().len());
        if bytes <= MOST || known.all.contains_key(&question) {
            known.bytes = bytes;
            known.all.entry(question).or_default().push((releases.clone(), found.clone()));
        }
        (releases, found)
    });
    release.narrow(&releases);
    found
}
