//! Selectors.

use kubeshape_objects::select::{FieldSelector, LabelSelector};

#[test]
fn label_selectors_are_read_as_apimachinery_does() {
    for (text, labels, expected) in [
        ("", &[][..], true),
        ("a", &[("a", "")], true),
        ("!a", &[("a", "")], false),
        ("a=b", &[("a", "b")], true),
        ("a==b", &[("a", "c")], false),
        ("a!=b", &[], true),
        ("a in (b,c)", &[("a", "c")], true),
        ("a notin (b)", &[("a", "b")], false),
        ("a in ()", &[("a", "")], true),
        ("a in (,)", &[("a", "")], true),
        ("a=", &[("a", "")], true),
        ("in in (in,notin)", &[("in", "notin")], true),
        ("x/y=1, a>2", &[("x/y", "1"), ("a", "3")], true),
        ("a<2", &[("a", "x")], false),
    ] {
        let selector = LabelSelector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let found = selector.matches(|name| labels.iter().find(|(key, _)| *key == name).map(|(_, value)| *value));
        assert_eq!(found, expected, "{text}");
    }
    for (text, why) in [
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a in b", "found 'b' expected: '('"),
        ("(a)", "found '(', expected: !, identifier, or 'end of string'"),
        ("a>b", "for 'Gt', 'Lt' operators, the value must be an integer"),
        ("a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("-a=b", "key: Invalid value: \"-a\""),
        ("a=b_", "values[0][a]: Invalid value: \"b_\""),
    ] {
        let error = LabelSelector::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn field_selectors_know_escapes() {
    let selector = FieldSelector::parse(r"a=x\,y,b!=\\").unwrap();
    assert_eq!(selector.required("a"), Some("x,y"));
    assert!(selector.matches(|field| if field == "a" { "x,y".to_owned() } else { String::new() }));
    assert!(!selector.matches(|_| r"\".to_owned()));
    for text in ["a", r"a=\b", "a=b=c"] {
        FieldSelector::parse(text).unwrap_err();
    }
}

proptest::proptest! {
    #[test]
    fn no_selector_is_too_odd(text in "[a-c=!()<>, \\\\./-]{0,40}|(in|notin|a|=|,|\\(|\\)| ){0,12}") {
        let _ = LabelSelector::parse(&text);
        let _ = FieldSelector::parse(&text);
    }
}
