//! A field set that can be read is the same when it is written, read and written again, in all versions. Version 6.3.3
//! accepts what 6.4.2 accepts, as the same set. The set operations agree with each other.

use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let arena = Bump::new();
    if let Ok(set) = Set::read_json_as(data, Compat::V70, &arena) {
        let text = set.to_json_as(Compat::V70).expect("what was read is finite");
        let again = Set::read_json_as(text.as_bytes(), Compat::V70, &arena).expect("it was written");
        assert_eq!((again, again.to_json_as(Compat::V70).as_ref()), (set, Ok(&text)));
    }
    let old = Set::read_json_as(data, Compat::V63, &arena);
    let Ok(set) = Set::read_json_as(data, Compat::V64, &arena) else { return };
    assert_eq!(old, Ok(set));

    let text = set.to_json().expect("what was read is finite");
    let again = Set::read_json(text.as_bytes(), &arena).expect("it was written");
    assert_eq!(again, set);
    assert_eq!(again.to_json().as_ref(), Ok(&text));

    let value = set.to_fields_v1(&arena).expect("what was read is finite");
    assert_eq!(Set::from_fields_v1(value, &arena), Ok(set));
    // Other readers have a lower limit of depth.
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(&text) {
        assert_eq!(json.to_value(&arena), value);
    }

    assert_eq!(set.len(), set.iter().count());
    let leaves = set.leaves(&arena);
    assert_eq!(leaves.union(set, &arena), set);
    assert_eq!(leaves.intersection(set, &arena), leaves);
    let inner = set.difference(leaves, &arena);
    assert_eq!(inner.union(leaves, &arena), set);
    assert!(set.recursive_difference(again, &arena).is_empty());
}
