//! Parts of the documentation that come from tables in the code.

use std::path::Path;

/// Compares a part of a page below `docs/` with its expected contents. The part is between `<!-- NAME -->` and `<!--
/// end -->`. With `UPDATE_EXPECT=1`, the part is written.
///
/// # Panics
/// The page has no such part, or the part is out of date.
#[expect(clippy::panic, reason = "for tests")]
pub fn check_section(page: &str, name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let Some((before, rest)) = text.split_once(&format!("<!-- {name} -->\n")) else {
        panic!("{page} has no part `{name}`");
    };
    let Some((found, after)) = rest.split_once("<!-- end -->") else { panic!("{page}: `{name}` has no end") };
    if found == expected {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "docs/{page}: the part `{name}` is out of date; run this test with UPDATE_EXPECT=1"
    );
    let written = std::fs::write(&path, format!("{before}<!-- {name} -->\n{expected}<!-- end -->{after}"));
    written.unwrap_or_else(|error| panic!("{page}: {error}"));
}
