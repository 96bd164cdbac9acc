//! If an OpenAPI v3 document is split, its parts are aggregated, and the result is split again, the parts are the same.
//! Every part is as self-contained as the document.


use crate::documents::with_document;
use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::split::{Slice, split};
use kubeshape_convert::v3;
use kubeshape_schema::Profile;

fn printed(slices: &[Slice<'_>]) -> Vec<(String, String)> {
    let print = |slice: &Slice<'_>| {
        let mut out = Vec::new();
        slice.document.print(&mut out, Profile::Faithful);
        (slice.name.to_owned(), String::from_utf8(out).expect("UTF-8"))
    };
    slices.iter().map(print).collect()
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    with_document(source, |root, arena| {
        let Some(document) = v3::read(root, arena, Profile::Faithful).value else { return };
        let slices = split(&document, arena).value;
        assert!(!slices.is_empty());
        let mut aggregator = Aggregator::new(Profile::Faithful);
        let mut notes = Vec::new();
        for slice in &slices {
            let added = aggregator.add(slice.name, &Document::V3(slice.document), arena);
            notes.extend(added.expect("slices are of one dialect"));
        }
        let whole = aggregator.finish().unwrap_or_else(|| panic!("parts of one document conflict: {notes:?}"));
        let whole = String::from_utf8(whole.to_vec()).expect("UTF-8");
        with_document(&whole, |root, arena| {
            let whole = v3::read(root, arena, Profile::Faithful).value.expect("an aggregate is a document");
            assert_eq!(printed(&split(&whole, arena).value), printed(&slices));
        });
    });
}
