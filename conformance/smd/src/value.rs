//! Calls of upstream's `value` package.

use crate::Verdict;
use serde_json::Value as Json;

/// Replays one call.
pub fn compare(kind: &str, record: &Json) -> Verdict {
    let _ = (kind, record);
    Verdict::Missing("not replayed".to_owned())
}
