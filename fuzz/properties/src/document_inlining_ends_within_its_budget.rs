//! Inlining ends within its budget. The result is a document within the budget that can be read again, or a note with
//! the reason why there is no document. If recursion is cut, no reference to an existing definition remains.


use crate::documents::with_document;
use kubeshape_convert::graph::inline::{Options, Recursion, document as inline};
use kubeshape_convert::v3;
use kubeshape_schema::Profile;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for recursion in [Recursion::Keep, Recursion::Cut] {
        let mut printed = None;
        with_document(source, |root, arena| {
            let Some(document) = v3::read(root, arena, Profile::Faithful).value else { return };
            let options = Options { recursion, schemas: 5_000, ..Options::default() };
            let inlined = inline(&document, &options, arena);
            match inlined.value {
                None => assert!(!inlined.notes.is_empty()),
                Some(inlined) => {
                    let mut out = Vec::new();
                    inlined.print(&mut out, Profile::Faithful);
                    printed = Some(String::from_utf8(out).expect("UTF-8"));
                }
            }
        });
        let Some(printed) = printed else { continue };
        with_document(&printed, |root, arena| {
            let again = v3::read(root, arena, Profile::Faithful);
            assert!(again.value.is_some(), "{:?}\n{printed}", again.notes);
        });
    }
}
