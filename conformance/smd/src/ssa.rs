//! Sequences of applies and updates through the whole stack.

use crate::{Schemas, Verdict};
use serde_json::Value as Json;

/// Replays one sequence and tells the verdict of each operation by its place.
pub fn compare(record: &Json, schemas: &Schemas, tell: &mut dyn FnMut(usize, Verdict)) {
    let _ = (record, schemas);
    tell(0, Verdict::Missing("not replayed".to_owned()));
}
