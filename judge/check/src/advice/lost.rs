//! Advice about what OpenAPI v2 lacks.

use kubeshape_schema::{Bump, Code, Note, Schema};
use kubeshape_structural::openapi_v2;

/// Reports schemas whose fields are missing in the server's OpenAPI v2 document.
pub(super) fn about<'a>(schema: &'a Schema<'a>, arena: &'a Bump, notes: &mut Vec<Note<'static>>) {
    let mut losses = Vec::new();
    openapi_v2(schema, arena, Some(&mut losses));
    for loss in losses {
        let why = match loss.code {
            Code::V2Nullable => "it is nullable",
            Code::V2PreserveUnknown => "it preserves unknown fields",
            _ => continue,
        };
        // The detail lists the keywords that are left out.
        if loss.detail.split(", ").any(|keyword| keyword == "properties") {
            let detail = format!("the fields of this object are left out, because {why}");
            notes.push(Note::new(Code::AdviceV2, loss.at, detail));
        }
    }
}
