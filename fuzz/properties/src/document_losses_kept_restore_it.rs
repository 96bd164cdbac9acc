//! An OpenAPI v3 document that is converted to v2 with its losses recorded, printed, and converted back, is the same as
//! before.

use crate::documents::with_document;
use kubeshape_convert::v2::from_v3::{Options, Scratch, convert, restore};
use kubeshape_convert::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Profile};

const KEEP: Options = Options { profile: Profile::Faithful, keep_losses: true, most_bytes: usize::MAX };

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let mut whole = None;
    with_document(source, |root, arena| {
        let Some(document) = v3::read(root, arena, Profile::Faithful).value else { return };
        let mut original = Vec::new();
        document.print(&mut original, Profile::Faithful);
        let converted = convert(&document, arena, &KEEP);
        // A document that is too deep to be read again has a note.
        let refused = converted.notes.iter().any(|note| note.code.number() == 2228);
        let mut out = Vec::new();
        if let Some(converted) = converted.value.filter(|_| !refused) {
            converted.print(&mut out, Style::V2, Profile::Faithful);
            whole = Some((original, out));
        }
    });
    let Some((original, second)) = whole else { return };
    // Numbers beyond 53 bits do not survive a second reading.
    let text = std::str::from_utf8(&second).expect("UTF-8");
    with_document(text, |root, _| {
        let arena = Bump::new();
        let read = v2::read(root, &arena, Profile::Faithful);
        let document = read.value.unwrap_or_else(|| panic!("{:?}\n{text}", read.notes));
        let mut scratch = Scratch::default();
        let restored = restore(&document, &mut scratch, &arena);
        let back = restored.value.unwrap_or_else(|| panic!("{:?}\n{text}", restored.notes));
        let mut out = Vec::new();
        back.print(&mut out, Profile::Faithful);
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&original), "{text}");
    });
}
