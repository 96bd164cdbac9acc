//! Documents without resources.

use kubeshape_publish::{Base, MergeV2, MergeV3};

#[test]
fn the_v2_document_of_nothing_has_no_paths() {
    let document = MergeV2::new().finish(&Base::builtin());
    let expected = r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"},"paths":null}"#;
    assert_eq!(String::from_utf8(document).as_deref(), Ok(expected));
}

#[test]
fn it_may_be_valid() {
    let document = MergeV2::new().valid().finish(&Base::builtin());
    let expected = r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"},"paths":{}}"#;
    assert_eq!(String::from_utf8(document).as_deref(), Ok(expected));
}

#[test]
fn there_is_no_v3_document_of_nothing() {
    assert_eq!(MergeV3::new().finish(&Base::builtin()).count(), 0);
}
