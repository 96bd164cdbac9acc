//! Calls of upstream's `merge` package.

use crate::{Schemas, Verdict};
use serde_json::Value as Json;

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    let _ = (kind, record, schemas);
    Verdict::Missing("not replayed".to_owned())
}
