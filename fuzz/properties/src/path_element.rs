//! A path element that can be read is the same when it is written, read and written again, and keeps its position in
//! the order of elements.

use kubeshape_smd::Bump;
use kubeshape_smd::fieldpath::PathElement;
use kubeshape_smd::value::Compat;
use std::cmp::Ordering;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    let arena = Bump::new();
    let Ok(element) = PathElement::parse(data, &arena) else { return };
    assert_eq!(PathElement::parse_as(data, Compat::V63, &arena), Ok(element));

    let mut out = Vec::new();
    element.write(&mut out).expect("what was read is finite");
    let text = String::from_utf8(out).expect("elements are text");
    let again = PathElement::parse(&text, &arena).expect("it was written");
    assert_eq!(again.cmp(&element), Ordering::Equal);
    assert_eq!(again, element);
    assert_eq!(again.to_string(), element.to_string());

    let mut twice = Vec::new();
    again.write(&mut twice).expect("what was read is finite");
    assert_eq!(twice, text.as_bytes());
}
