//! Replays recorded calls of structured merge diff and of server-side apply, and compares the answers.
//!
//! A record is one line of JSON: the call, its arguments, and upstream's answer. Recorded folders and the project's Go
//! program write the same records, so one replay serves both.

pub mod fieldpath;
pub mod generated;
pub mod managed;
pub mod merge;
pub mod odd;
pub mod own;
mod read;
pub mod schema;
pub mod ssa;
pub mod typed;
pub mod value;

pub use read::{Schemas, lines, set_of, typed_value_of};

use serde_json::Value as Json;
use std::path::Path;

/// The result of comparing one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same.
    Equal,
    /// The answers differ, first at this path.
    Differing(String),
    /// We have no answer, for this reason.
    Missing(String),
}

impl Verdict {
    /// Returns `Equal` if both are equal, otherwise the expected and the found value.
    pub fn of<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, expected: &T, found: &T) -> Verdict {
        if expected == found {
            Verdict::Equal
        } else {
            Verdict::Differing(format!("{what}: expected {expected:?}, found {found:?}"))
        }
    }

    /// Returns the first verdict that is not equal.
    #[must_use]
    pub fn and(self, then: impl FnOnce() -> Verdict) -> Verdict {
        match self {
            Verdict::Equal => then(),
            other => other,
        }
    }
}

/// The files of records, in the order in which they are replayed.
pub const FILES: [&str; 14] = [
    "upstream-schema",
    "upstream-value",
    "upstream-fieldpath",
    "upstream-typed",
    "upstream-merge",
    "upstream-managedfields",
    "generated-sets",
    "generated-typed-builtin",
    "generated-typed-crd",
    "generated-validate-builtin",
    "generated-validate-crd",
    "generated-ssa-builtin",
    "generated-ssa-crd",
    "sequences",
];

/// Replays every record of a folder of gzipped files, and passes the row, the name and the verdict of each to `report`.
/// # Errors
/// A file cannot be read.
pub fn replay(folder: &Path, report: &mut dyn FnMut(&str, &str, Verdict)) -> Result<(), String> {
    let schemas = Schemas::read(folder)?;
    for file in FILES {
        for line in lines(&folder.join(format!("{file}.ndjson.gz")))? {
            replay_record(file, &line, &schemas, report);
        }
    }
    Ok(())
}

/// Replays one record.
pub fn replay_record(file: &str, record: &Json, schemas: &Schemas, report: &mut dyn FnMut(&str, &str, Verdict)) {
    let kind = record["kind"].as_str().unwrap_or_default();
    let name = format!("{} {}", record["test"].as_str().unwrap_or_default(), record["seq"]);
    let mut one = |verdict| report(&format!("{file} {kind}"), &name, verdict);
    match kind.split('.').next().unwrap_or_default() {
        "schema" => one(schema::compare(kind, record, schemas)),
        "value" => one(value::compare(kind, record)),
        "odd" => one(odd::compare(kind, record, schemas.compat)),
        "set" | "element" | "path" | "managers" | "sets" => one(fieldpath::compare(kind, record, schemas)),
        "typed" | "comparison" | "validate" => one(typed::compare(kind, record, schemas)),
        "testcase" | "updater" | "conflicts" => one(merge::compare(kind, record, schemas)),
        "managedfields" | "csaupgrade" => one(managed::compare(kind, record, schemas)),
        "ssa" => ssa::compare(record, schemas, &mut |op, verdict| {
            report(&format!("{file} {kind}"), &format!("{name} op {op}"), verdict);
        }),
        other => one(Verdict::Missing(format!("unknown kind {other:?}"))),
    }
}
