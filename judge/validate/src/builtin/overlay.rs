//! What Go code adds to the objects of built-in kinds, as data: `overlay/*.yaml` of `kubeshape-builtin`.
//!
//! A file has the definitions of one API group. A definition has lists of steps:
//!
//! - `defaults`: what defaulting sets where a field is empty (`SetDefaults_…` of `pkg/apis/*/*/defaults.go`);
//! - `disabled`: fields of features that are off, dropped from new objects, and from changed ones that did not have them
//!   (`dropDisabledFields`);
//! - `create`, `update`, `status`: what the strategy of a kind does before it stores a new object, a changed one, and one sent
//!   to the status subresource (`PrepareForCreate`, `PrepareForUpdate`).
//!
//! - `allocate`: what the storage adds after validation.
//!
//! A step is a mapping:
//!
//! | member | meaning |
//! |---|---|
//! | `set: a.b` | the field that is set; a part that is absent is created |
//! | `to: VALUE` | the value |
//! | `put: a.b` | as `set`, also where a default finds a value |
//! | `from: c.d` | the value of another field, if that is there |
//! | `by: NAME` | a native rule, for what this table cannot say |
//! | `when: CEL` | only if this holds; `self` is the struct. An absent field that is read makes it false |
//! | `drop: a.b` | the field is removed |
//! | `keep: a.b` | the field has the value of the stored object |
//! | `since: 1.34` | only in this release and later ones |

mod autoscaler;
mod native;
mod read;
mod run;
mod service;

use super::Release;
use crate::literal::Literal;
use crate::typed::Typed;
use kubeshape_cel::{Env, Program, Type};
use kubeshape_value::Value;
use native::Native;
pub(super) use native::Request;
use std::sync::OnceLock;

/// The steps of all structs of a kind.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// By the place of the struct in the types.
    structs: Vec<Steps>,
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
}

#[derive(Debug)]
struct Step {
    path: Vec<String>,
    action: Action,
    when: Option<Condition>,
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

/// A condition in CEL. It is compiled when it is first needed.
#[derive(Debug)]
struct Condition {
    source: Box<str>,
    program: OnceLock<Option<Program>>,
}

impl Condition {
    /// What one evaluation may cost.
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

/// When a server runs the steps of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Create,
    Allocate,
    Update,
    Status,
}

impl Overlay {
    /// The steps of the structs of a kind in a release.
    pub(super) fn new(types: &Typed, release: Release) -> Overlay {
        Overlay { structs: read::steps(&types.definitions().collect::<Vec<_>>(), release) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_every_condition_compiles() {
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
            }
            assert_eq!(read::problems(release), Vec::<String>::new());
        }
    }
}
