//! The behavior of Go code for objects of built-in kinds, as data: `overlay/*.yaml` of `kubeshape-builtin`.
//!
//! A file has the definitions of one API group. A definition has lists of steps:
//! - `defaults`: the values that defaulting sets in empty fields (`SetDefaults_…` of `pkg/apis/*/*/defaults.go`);
//! - `disabled`: fields of features that are off, dropped from new objects, and from changed ones that did not have
//!   them. A field may have an end: `{field: a.b, until: 1.36}` (`dropDisabledFields`);
//! - `create`, `update`, `status`: what the strategy of a kind does before it stores a new object, a changed one, and
//!   one sent to the status subresource (`PrepareForCreate`, `PrepareForUpdate`).
//! - `allocate`: the values that the storage adds after validation.
//!
//! A step is a mapping:
//!
//! | member | meaning |
//! |---|---|
//! | `set: a.b` | the field to set; missing parts of the path are created |
//! | `to: VALUE` | the value |
//! | `put: a.b` | like `set`, even if a default finds a value |
//! | `from: c.d` | the value of another field, if present |
//! | `by: NAME` | a native rule, for behavior that this table cannot express |
//! | `when: CEL` | a condition; `self` is the struct. Reading a missing field makes it false |
//! | `drop: a.b` | the field is removed |
//! | `keep: a.b` | the field has the value of the stored object |
//! | `since: 1.34` | only in this release and later ones |
//!
//! # Rules
//! A definition has `rules`, too: what Go's `Validate…` functions check of every value of the struct, in the order of
//! their errors. The rules of structs in it follow, unless a rule `in` runs them earlier or `skip` leaves them out. The
//! definition of a kind also has:
//!
//! - `create rules`: for new objects, after `rules`;
//! - `update rules`: for changed objects, before `rules`. Without this list, only the metadata is checked as
//!   `ValidateObjectMetaUpdate` does it;
//! - `status rules`: for objects that are sent to the status subresource; `rules` are not used for them.
//!
//! The metadata of new objects is checked first, without a rule. A rule is a mapping with one of these members:
//!
//! | member | meaning |
//! |---|---|
//! | `required: a.b` | the field is set |
//! | `forbidden: a.b` | the field is not set |
//! | `invalid: a.b` | always an error; with a condition |
//! | `enum: a.b`, `of: [A, B]` | one of the texts, in the order of the message |
//! | `range: a.b`, `min: 0`, `max: 9` | the number is between them |
//! | `format: a.b`, `as: NAME` | a form of `check/form.rs` |
//! | `unique: a.b`, `key: c` | no item, or no member `c` of items, appears twice |
//! | `items: a.b`, `most: 9`; `bytes: a.b`, `most: 9` | the length of a list, of a text |
//! | `immutable: a.b` | the field is as in the old object |
//! | `one of: [a, b]`, `none: TEXT`, `detail: TEXT` | no member is set: `none` (required); several are: `detail` (forbidden) |
//! | `by: NAME`, `at: a.b` | a native rule of `check/native/` about the struct, or about a field of it |
//! | `in: a`, `skip: a` | the structs in a field are checked now, never |
//! | `rules: [RULE…]` | a list with one condition |
//! | `always: true` | in `update rules`: the `rules` of the kind run here |
//! | `warn: TEXT`, `at: a.b` | a warning, with the path before it |
//!
//! A path may have `[]` behind a list, for its items, and `{}` behind a map, for its values. More members:
//!
//! | member | meaning |
//! |---|---|
//! | `detail: TEXT` | the detail of the error, if it is not that of the test |
//! | `empty: required`, `empty: tested` | an empty value is an error of its own, or is tested. Otherwise it is skipped |
//! | `if: a.b`, `unless: a.b` | only if the field is set, is not set |
//! | `if: a.b`, `is: [A, B]` | only if the text of the field is one of these |
//! | `when: CEL` | only if this holds; slower than the others |
//! | `stop: true` | an error of this rule ends the rules of the struct |
//! | `since: 1.34`, `until: 1.35` | only in these releases |

mod autoscaler;
mod check;
mod edit;
mod native;
mod published;
mod read;
mod request;
mod run;
mod service;

use super::Release;
use crate::literal::Literal;
use crate::typed::Typed;
pub(super) use check::{Found, Scope};
pub use check::{MAX_ANNOTATION_EXPRESSION, admission_errors};
pub(super) use edit::semantic_equal;
use kubeshape_cel::{Env, Program, Type};
use kubeshape_value::Value;
use native::Native;
pub(super) use native::quality;
pub use published::{Constraints, Published, Unsaid};
pub(super) use request::Request;
use std::sync::OnceLock;

/// The steps of all structs of a kind.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// By the index of the struct in the types.
    structs: Vec<Steps>,
    /// Whether a struct, or one inside it, has rules.
    checked: Vec<bool>,
    /// The changes of steps and rules.
    changes: Vec<StepChange>,
}

/// A change of the steps or rules of a struct.
#[derive(Debug)]
struct StepChange {
    /// The index of the struct.
    at: usize,
    /// The field without which the steps do nothing; `None` if they concern every value of the struct.
    field: Option<String>,
    /// The first minor release that has or does not have the step.
    since: u8,
}

/// The steps of one struct.
#[derive(Debug, Default)]
pub(super) struct Steps {
    defaults: Vec<Step>,
    disabled: Vec<Vec<String>>,
    create: Option<Vec<Step>>,
    allocate: Option<Vec<Step>>,
    update: Option<Vec<Step>>,
    status: Option<Vec<Step>>,
    rules: check::Rules,
}

#[derive(Debug)]
struct Step {
    path: Vec<String>,
    action: Action,
    when: Option<Condition>,
    /// Whether an empty list or map is a value that a default does not replace.
    keeps_empty: bool,
}

#[derive(Debug)]
enum Action {
    To(Literal),
    Put(Literal),
    From(Vec<String>),
    By(Native),
    Drop,
    Keep,
}

/// A condition in CEL, compiled at its first use.
#[derive(Debug)]
struct Condition {
    source: Box<str>,
    program: OnceLock<Option<Program>>,
}

impl Condition {
    /// The maximum cost of one evaluation.
    const LIMIT: u64 = 1_000_000;

    fn new(source: &str) -> Condition {
        Condition { source: source.into(), program: OnceLock::new() }
    }

    fn program(&self) -> Option<&Program> {
        let compile = || {
            let env = Env::new(kubeshape_cel::Release::NEWEST).with_variable("self", Type::Dyn);
            env.compile(&self.source).ok()?.program().ok()
        };
        self.program.get_or_init(compile).as_ref()
    }

    fn holds(&self, value: Value<'_>) -> bool {
        let Some(program) = self.program() else { return false };
        let outcome = program.evaluate([("self", kubeshape_cel::Value::from(value))], Condition::LIMIT);
        matches!(outcome.result, Ok(kubeshape_cel::Value::Bool(true)))
    }
}

/// The phase of a request in which steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Create,
    Allocate,
    Update,
    Status,
}

impl Overlay {
    /// Returns the steps of the structs of a kind in a release.
    pub(super) fn new(types: &Typed, release: Release) -> Overlay {
        let (structs, changes) = read::steps(&types.definitions().collect::<Vec<_>>(), release);
        let mut checked: Vec<bool> = structs.iter().map(|steps| !steps.rules.is_empty()).collect();
        let edges = types.edges();
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (at, inner) in edges.iter().enumerate() {
                let is_inner = inner.iter().any(|inner| checked.get(*inner) == Some(&true));
                if let Some(own) = checked.get_mut(at).filter(|own| !**own && is_inner) {
                    *own = true;
                    is_changed = true;
                }
            }
        }
        Overlay { structs, checked, changes }
    }

    /// Returns the changes of steps and rules in all releases: the index of the struct, the field without which they do
    /// nothing, and the first minor release after the change.
    pub(super) fn changes(&self) -> impl Iterator<Item = (usize, Option<&str>, u8)> {
        self.changes.iter().map(|change| (change.at, change.field.as_deref(), change.since))
    }

    fn is_checked(&self, index: usize) -> bool {
        self.checked.get(index) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses_and_every_condition_compiles() {
        for release in Release::all() {
            for (file, definition, steps) in read::all(release) {
                let lists = [
                    Some(&steps.defaults),
                    steps.create.as_ref(),
                    steps.allocate.as_ref(),
                    steps.update.as_ref(),
                    steps.status.as_ref(),
                ];
                for step in lists.into_iter().flatten().flatten() {
                    if let Some(condition) = &step.when {
                        assert!(condition.program().is_some(), "{file}: {definition}: {}", condition.source);
                    }
                }
                for condition in steps.rules.conditions() {
                    assert!(condition.program().is_some(), "{file}: {definition}: {}", condition.source);
                }
            }
            assert_eq!(read::problems(release), Vec::<String>::new());
        }
    }
}
