//! References in printed JSON.

use bytes::Bytes;
use kubeshape_yaml::pointer;
use std::collections::BTreeMap;

pub(super) use crate::references_to;

/// New names of members by their old ones.
pub(super) type Renames = BTreeMap<String, String>;

/// Returns the JSON with other references to one section, or `None` if nothing in it changes.
pub(super) fn rewritten(json: &[u8], section: &str, renames: &Renames) -> Option<Bytes> {
    if renames.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(json).ok()?;
    let prefix = format!("\"$ref\":\"#/{section}/");
    let mut out = String::new();
    let mut written = 0;
    for (at, _) in text.match_indices(&prefix) {
        let start = at + prefix.len();
        let Some(length) = text[start..].find('"') else { continue };
        let name = &text[start..start + length];
        if let Some(new) = renames.get(&*pointer::unescape(name)) {
            out.push_str(&text[written..start]);
            out.push_str(&pointer::escape(new));
            written = start + length;
        }
    }
    if written == 0 {
        return None;
    }
    out.push_str(&text[written..]);
    Some(Bytes::from(out))
}
