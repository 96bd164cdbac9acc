//! Edits of a manifest after which a server accepts and refuses the same objects.
//!
//! [`plan`] finds the edits of a document, [`apply`] applies them to a source, [`is_made`] checks that the result
//! parses as the old document with exactly these changes, and [`diff`] shows them. Four kinds of findings have edits:
//!
//! | finding | edit | why objects are validated as before |
//! |---|---|---|
//! | an unknown field (KS1006) | the field is removed | a server drops it when it decodes the definition |
//! | a duplicate key (KS1003) | all but the last are removed | a server uses the last one |
//! | a duplicate value (KS3310) | all but the first are removed | an enum and a list of required fields are sets |
//! | `properties` or `items` without `type` (KS3110) | the type is written | no server accepts the definition without it, so that there are no objects yet |
//!
//! Edits keep the layout; comments at the end of a removed line are removed with it.
//!
//! # Example
//! ```
//! use kubeshape_check::{Check, Releases, fix};
//! use kubeshape_schema::Bump;
//! use kubeshape_structural::read::manifests;
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let text = "
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: tabs.example.com}
//! spec:
//!   group: example.com
//!   scope: Namespaced
//!   comment: ours # no field of the API
//!   names: {plural: tabs, kind: Tab}
//!   versions:
//!   - name: v1
//!     served: true
//!     storage: true
//!     schema: {openAPIV3Schema: {type: object}}
//! ";
//! let mut tape = Tape::new();
//! Stream::new(text.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let root = tape.document(text).node(0);
//! let arena = Bump::new();
//! let report = Check::new(Releases::ALL).definition(manifests(root).0[0], &arena);
//! let plan = fix::plan(root, &report.problems, fix::Types::Written);
//! let fixed = fix::apply(text, &plan.edits);
//! assert_eq!(fixed, text.replace("  comment: ours # no field of the API\n", ""));
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod diff;
mod entry;
pub(crate) mod layout;
mod same;

use crate::Problem;
pub(crate) use entry::Entries;
use kubeshape_schema::Code;
use kubeshape_schema::field::ErrorType;
use kubeshape_yaml::{Kind, Node};
pub(crate) use layout::write_bound;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use diff::diff;
pub use kubeshape_yaml::edit::{Edit, apply};
pub use same::is_made;

/// The codes of findings that have edits.
pub const CODES: [Code; 4] = [Code::UnknownField, Code::DuplicateKey, Code::CrdStructural, Code::AdviceTwice];

/// Whether missing types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// Yes: the definition is new, so that there are no objects that another type would reject.
    Written,
    /// No: a server may have this definition, with objects of any type.
    Kept,
}

/// The edits of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Sorted by position. They do not overlap.
    pub edits: Vec<Edit>,
    /// The locations of the fixed findings.
    pub mended: BTreeSet<u32>,
    /// The locations of the remaining findings, and the reasons.
    pub left: BTreeMap<u32, &'static str>,
    /// The keys and items that are removed.
    removed: BTreeSet<u32>,
    /// The mappings that get a type.
    typed: BTreeMap<u32, &'static str>,
    /// The strings that are replaced.
    texts: BTreeMap<u32, String>,
}

impl Plan {
    /// Creates a plan that removes keys and items, and replaces strings.
    pub(crate) fn of_texts(removed: BTreeSet<u32>, texts: BTreeMap<u32, String>) -> Plan {
        Plan { removed, texts, ..Plan::default() }
    }
}

/// Returns the edits of a document for the problems of its definitions.
///
/// Nodes from an alias or a merge key, and nodes that an alias repeats, are not edited. Takes linear time.
pub fn plan(root: Node<'_>, problems: &[Problem], types: Types) -> Plan {
    let mut plan = Plan::default();
    let wanted = problems.iter().filter(|problem| CODES.contains(&problem.note.code) && problem.is_of_all());
    let mut wanted = wanted.peekable();
    if wanted.peek().is_none() {
        return plan;
    }
    // Servers before 1.22 accepted definitions of v1beta1 without types, so that there may be objects.
    let is_beta = problems.iter().any(|problem| problem.note.code == Code::CrdBeta);
    let types = if is_beta { Types::Kept } else { types };
    let document = root.document();
    let entries = Entries::of(root);
    // By mapping or sequence: the keys and items to remove, and the finding that requires it.
    let mut going: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut doubled = BTreeSet::new();
    for problem in wanted {
        let at = problem.note.at;
        let node = document.node(at);
        match problem.note.code {
            Code::UnknownField if problem.note.detail != node.text() => {
                plan.left.insert(at, "the name may be misspelt, so that --fix does not remove the field");
            }
            Code::UnknownField | Code::AdviceTwice => {
                if let Some(parent) = entries.parent(at) {
                    going.entry(parent).or_default().insert(at, at);
                }
            }
            Code::DuplicateKey => doubled.extend(entries.parent(at)),
            _ if is_missing_type(problem) => match (types, type_of(node)) {
                (Types::Kept, _) => {
                    plan.left.insert(
                        at,
                        "--fix writes no type here: objects may exist that it refuses, or it uncovers other errors",
                    );
                }
                (Types::Written, Some(ty)) => {
                    plan.typed.insert(at, ty);
                }
                (Types::Written, None) => {}
            },
            _ => {}
        }
    }
    for mapping in doubled {
        for (earlier, again) in doubles(document.node(mapping)) {
            if document.is_json() && earlier.1.entry().is_container() {
                plan.left.insert(again, "in JSON, a server may unite both values, so that --fix keeps them");
            } else {
                going.entry(mapping).or_default().insert(earlier.0.index(), again);
            }
        }
    }
    let mut edits = Vec::new();
    for (container, removed) in going {
        let keys: BTreeSet<u32> = removed.keys().copied().collect();
        match layout::remove(document.node(container), &keys).filter(|edits| entries.are_free(edits)) {
            Some(made) => {
                edits.extend(made);
                plan.mended.extend(removed.values());
                plan.removed.extend(keys);
            }
            None => removed.values().for_each(|at| _ = plan.left.insert(*at, HARD)),
        }
    }
    for (at, ty) in std::mem::take(&mut plan.typed) {
        let node = document.node(at);
        let made = layout::write_type(node, ty, &plan.removed);
        let made = made.filter(|edit| entries.is_own(node) && entries.are_free(std::slice::from_ref(edit)));
        if let Some(edit) = made {
            edits.push(edit);
            plan.mended.insert(at);
            plan.typed.insert(at, ty);
        } else {
            plan.left.insert(at, HARD);
        }
    }
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    // Edits inside a removed value are not needed.
    let mut end = 0;
    edits.retain(|edit| {
        let is_apart = edit.range.start >= end;
        end = end.max(edit.range.end);
        is_apart
    });
    plan.edits = edits;
    plan
}

/// Returns the members of a mapping whose key is repeated later, each with the next location of the key.
fn doubles(mapping: Node<'_>) -> Vec<((Node<'_>, Node<'_>), u32)> {
    let mut last = HashMap::new();
    let pairs = mapping.pairs();
    pairs.filter_map(|pair| last.insert(pair.0.text(), pair).map(|earlier| (earlier, pair.0.index()))).collect()
}

/// Why an edit is impossible.
const HARD: &str = "--fix does not edit it: an alias, a comment or the layout stands in the way";

/// Returns whether the problems after the edits are those before without the fixed ones. A problem with the same cause
/// may disappear, too.
pub fn is_expected(before: &[Problem], after: &[Problem], plan: &Plan) -> bool {
    // Locations are not compared, because edits move them. The location of a duplicate key is part of its message.
    let key = |problem: &Problem| match problem.note.code {
        Code::DuplicateKey => (Code::DuplicateKey, String::new(), problem.releases.clone()),
        code => (code, problem.note.detail.to_string(), problem.releases.clone()),
    };
    let mut known: HashMap<_, usize> = HashMap::new();
    for problem in before {
        let (code, at) = (problem.note.code, problem.note.at);
        // A duplicate key may be fixed although an unknown field of that name remains.
        let stays = code == Code::UnknownField && plan.left.contains_key(&at);
        let is_mended = CODES.contains(&code) && plan.mended.contains(&at) && !stays;
        if !is_mended || (problem.note.code == Code::CrdStructural && !is_missing_type(problem)) {
            *known.entry(key(problem)).or_default() += 1;
        }
    }
    after.iter().all(|problem| match known.get_mut(&key(problem)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}

/// Returns whether a problem is a type that a structural schema requires.
fn is_missing_type(problem: &Problem) -> bool {
    let is_type = |path: &str| path.rsplit('.').next() == Some("type");
    let error = problem.error.as_ref();
    problem.note.code == Code::CrdStructural
        && error.is_some_and(|error| error.error_type == ErrorType::Required && is_type(&error.path))
}

/// Returns the only type for which the keywords of a schema have an effect.
fn type_of(schema: Node<'_>) -> Option<&'static str> {
    let has = |name: &str, kind: Kind| schema.get(name).is_some_and(|value| value.kind() == kind);
    if schema.get("type").is_some() {
        return None;
    }
    let is_object = has("properties", Kind::Map) || has("additionalProperties", Kind::Map);
    match (is_object, has("items", Kind::Map)) {
        (true, false) => Some("object"),
        (false, true) => Some("array"),
        _ => None,
    }
}

impl Problem {
    /// Returns whether the problem does not depend on the release.
    fn is_of_all(&self) -> bool {
        self.releases.is_empty() || self.error.is_some()
    }
}
