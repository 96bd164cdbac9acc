//! Edits of a manifest after which a server accepts and refuses the same objects.
//!
//! [`plan`] finds the edits of a document, [`apply`] makes those of a text, [`is_made`] tells whether the text that came out
//! reads as the old one with exactly these changes, and [`diff`] shows them. An edit is made for four findings:
//!
//! | finding | edit | why objects are judged as before |
//! |---|---|---|
//! | an unknown field (KS1006) | the field is removed | a server drops it when it reads the definition |
//! | a key that stands twice (KS1003) | all but the last are removed | the last one is what a server reads |
//! | a value that stands twice (KS3310) | all but the first are removed | an enum and a list of required fields are sets |
//! | `properties` or `items` without `type` (KS3110) | the type is written | no server takes the definition without it, so that there are no objects yet |
//!
//! What is changed keeps its layout; comments at the end of a removed line go with it.
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
mod layout;
mod same;

use crate::Problem;
use entry::Entries;
use kubeshape_schema::Code;
use kubeshape_schema::field::ErrorType;
use kubeshape_yaml::{Kind, Node};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use diff::diff;
pub use kubeshape_yaml::edit::{Edit, apply};
pub use same::is_made;

/// The codes of findings for which there are edits.
pub const CODES: [Code; 4] = [Code::UnknownField, Code::DuplicateKey, Code::CrdStructural, Code::AdviceTwice];

/// Whether types that are missing are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// They are. The definition is a new one, so that there are no objects that another type would refuse.
    Written,
    /// They are not. A server may hold the definition as it is, with objects of any type.
    Kept,
}

/// The edits of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the text. None overlaps another.
    pub edits: Vec<Edit>,
    /// The places of the findings that are mended.
    pub mended: BTreeSet<u32>,
    /// The places of findings that stay, and why.
    pub left: BTreeMap<u32, &'static str>,
    /// What is not in the value any more: keys and items.
    removed: BTreeSet<u32>,
    /// The mappings that have a type now.
    typed: BTreeMap<u32, &'static str>,
}

/// The edits of a document for the problems of its definitions.
///
/// What came in through an alias or a merge key, and what an alias names, is not edited. Takes time in proportion to the
/// document.
pub fn plan(root: Node<'_>, problems: &[Problem], types: Types) -> Plan {
    let mut plan = Plan::default();
    let wanted = problems.iter().filter(|problem| CODES.contains(&problem.note.code) && problem.is_of_all());
    let mut wanted = wanted.peekable();
    if wanted.peek().is_none() {
        return plan;
    }
    // Servers before 1.22 took definitions of v1beta1 without types, so that there may be objects.
    let is_beta = problems.iter().any(|problem| problem.note.code == Code::CrdBeta);
    let types = if is_beta { Types::Kept } else { types };
    let document = root.document();
    let entries = Entries::of(root);
    // By mapping or sequence: the keys and items that go, and the finding that asks for it.
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
    // What stands in a value that goes needs no edit.
    let mut end = 0;
    edits.retain(|edit| {
        let is_apart = edit.range.start >= end;
        end = end.max(edit.range.end);
        is_apart
    });
    plan.edits = edits;
    plan
}

/// The members of a mapping whose key stands again, each with the next place of the key.
fn doubles(mapping: Node<'_>) -> Vec<((Node<'_>, Node<'_>), u32)> {
    let mut last = HashMap::new();
    let pairs = mapping.pairs();
    pairs.filter_map(|pair| last.insert(pair.0.text(), pair).map(|earlier| (earlier, pair.0.index()))).collect()
}

/// Why an edit is not made.
const HARD: &str = "--fix does not edit it: an alias, a comment or the layout stands in the way";

/// Whether problems after edits are those before, without the mended ones. A problem that had the same cause may be gone, too.
pub fn is_expected(before: &[Problem], after: &[Problem], plan: &Plan) -> bool {
    // A place is not compared, because edits move it; that of a repeated key stands in the text.
    let key = |problem: &Problem| match problem.note.code {
        Code::DuplicateKey => (Code::DuplicateKey, String::new(), problem.releases.clone()),
        code => (code, problem.note.detail.to_string(), problem.releases.clone()),
    };
    let mut known: HashMap<_, usize> = HashMap::new();
    for problem in before {
        let (code, at) = (problem.note.code, problem.note.at);
        // A repeated key may be mended where an unknown field of that key stays.
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

/// Whether a problem is a type that a structural schema must have.
fn is_missing_type(problem: &Problem) -> bool {
    let is_type = |path: &str| path.rsplit('.').next() == Some("type");
    let error = problem.error.as_ref();
    problem.note.code == Code::CrdStructural
        && error.is_some_and(|error| error.error_type == ErrorType::Required && is_type(&error.path))
}

/// The only type under which the keywords of a schema say anything.
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
    /// Whether it is no matter of single releases.
    fn is_of_all(&self) -> bool {
        self.releases.is_empty() || self.error.is_some()
    }
}
