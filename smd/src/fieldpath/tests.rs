use super::*;
use crate::Bump;
use crate::value::Compat;

fn rewritten(text: &str, compat: Compat) -> Result<String, SetError> {
    let arena = Bump::new();
    Set::read_json_as(text.as_bytes(), compat, &arena)?.to_json()
}

fn element(text: &str, compat: Compat) -> Result<String, ElementError> {
    let arena = Bump::new();
    let mut out = Vec::new();
    PathElement::parse_as(text, compat, &arena)?.write(&mut out).expect("what was read is finite");
    Ok(String::from_utf8(out).expect("elements are text"))
}

#[test]
fn elements_are_rewritten_in_canonical_form() {
    for (text, canonical) in [
        ("f:", "f:"),
        ("f:a:b.c<", "f:a:b.c<"),
        ("i:+5", "i:5"),
        ("i:007", "i:7"),
        ("i:-1", "i:-1"),
        (r#"k:{"b":1,"a":"x<y"}"#, r#"k:{"a":"x\u003cy","b":1}"#),
        (r#"k: { "a" : 1 } "#, r#"k:{"a":1}"#),
        (r#"k:{"a":2,"a":1}"#, r#"k:{"a":2,"a":1}"#),
        (r#"k:{"<":1}"#, r#"k:{"<":1}"#),
        (r#"k:{"a":1,null:2}"#, r#"k:{"":2,"a":1}"#),
        ("k:null", "k:{}"),
        ("v: 1.0 ", "v:1"),
        ("v:1e30", "v:1e+30"),
        ("v:1e-7", "v:1e-07"),
        ("v:9007199254740993", "v:9007199254740992"),
        ("v:-0", "v:-0"),
        ("v:-+1", "v:-1"),
        ("v:null", "v:null"),
        (r#"v:{"b":[1,true],"a":{}}"#, r#"v:{"a":{},"b":[1,true]}"#),
        (r#"v:"\ud83d\ude02\ud83d""#, "v:\"\u{1f602}\u{fffd}\""),
    ] {
        assert_eq!(element(text, Compat::V64).as_deref(), Ok(canonical), "{text}");
        assert_eq!(element(text, Compat::V63).as_deref(), Ok(canonical), "{text}");
    }
}

#[test]
fn what_is_no_element_is_refused() {
    for (text, error) in [
        ("", "key must be 2 characters long:"),
        ("f", "key must be 2 characters long:"),
        ("name", "missing colon: name"),
        ("z:a", "unknown path element type"),
        ("i:", "no index: "),
        ("i: 1", "no index:  1"),
        ("v:", "expected a value at byte 0"),
        ("v:01", "no number at byte 2"),
        ("v:1e400", "no number at byte 5"),
        ("v:.5", "expected a value at byte 0"),
        ("v:nul", "expected null, true or false at byte 0"),
        ("k:[]", "expected { or null at byte 0"),
        ("k:{null:1}", "expected a string or } at byte 1"),
        (r#"k:{"a":1,}"#, "expected a string at byte 7"),
    ] {
        assert_eq!(element(text, Compat::V64).map_err(|error| error.to_string()), Err(error.to_owned()), "{text}");
        assert!(element(text, Compat::V63).is_err(), "{text}");
    }
}

#[test]
fn what_follows_a_value_is_refused_or_ignored() {
    for (text, canonical) in [(r#"k:{"a":1}x"#, r#"k:{"a":1}"#), ("v:1 2", "v:1"), ("v:nullx", "v:null")] {
        assert!(matches!(element(text, Compat::V64), Err(ElementError::Content(_))), "{text}");
        assert_eq!(element(text, Compat::V63).as_deref(), Ok(canonical), "{text}");
    }
    assert!(rewritten(r#"{"f:a":{}} {}"#, Compat::V64).is_err());
    assert_eq!(rewritten(r#"{"f:a":{}} {}"#, Compat::V63).as_deref(), Ok(r#"{"f:a":{}}"#));
}

#[test]
fn sets_are_read_as_upstream_reads_them() {
    for (text, canonical) in [
        ("null", "{}"),
        (" {} ", "{}"),
        (r#"{".":{}}"#, "{}"),
        (r#"{"f:a":{"z:q":{}}}"#, r#"{"f:a":{}}"#),
        (r#"{"z:q":{"f:a":1}}"#, "{}"),
        (r#"{"f:a":{".":{},"f:b":{}}}"#, r#"{"f:a":{".":{},"f:b":{}}}"#),
        (r#"{"f:a":{"f:b":null,".":[1,"x"]}}"#, r#"{"f:a":{".":{},"f:b":{}}}"#),
        (r#"{"f:a":{".":{}}}"#, r#"{"f:a":{}}"#),
        (r#"{"f:a":{"f:b":{}},"f:a":{"f:c":{}}}"#, r#"{"f:a":{"f:c":{}}}"#),
        (r#"{"f:a":{"f:b":{}},"f:a":{}}"#, r#"{"f:a":{".":{},"f:b":{}}}"#),
        (
            r#"{"i:1":{},"v:1":{},"k:{\"a\":1}":{},"f:b":{},"f:a":{}}"#,
            r#"{"f:a":{},"f:b":{},"k:{\"a\":1}":{},"v:1":{},"i:1":{}}"#,
        ),
        (
            r#"{"f:a":{".":{},"f:b":{}},"f:l":{"k:{\"k\":\"<\"}":{"f:x":{}}}}"#,
            r#"{"f:a":{".":{},"f:b":{}},"f:l":{"k:{\"k\":\"\\u003c\"}":{"f:x":{}}}}"#,
        ),
        (r#"{"f:\"\\\n\r\t\u0001<\u00e9\u2028":{}}"#, "{\"f:\\\"\\\\\\n\\r\\t\\u0001<é\u{2028}\":{}}"),
    ] {
        assert_eq!(rewritten(text, Compat::V64).as_deref(), Ok(canonical), "{text}");
    }
    let arena = Bump::new();
    assert_eq!(
        Set::read_json(b"{\"f:\xff\xfe\":{}}", &arena).map(|set| set.to_string()),
        Ok(".\u{fffd}\u{fffd}".to_owned())
    );
}

#[test]
fn what_is_no_set_is_refused() {
    for text in [
        "",
        " ",
        "1",
        "[]",
        "nul",
        r#"{"f:a":1}"#,
        r#"{"f:a":{}"#,
        r#"{"f:a"}"#,
        r#"{"a":{}}"#,
        r#"{1:{}}"#,
        r#"{"f:a":{},}"#,
    ] {
        assert!(rewritten(text, Compat::V64).is_err(), "{text}");
        assert!(rewritten(text, Compat::V63).is_err(), "{text}");
    }
    let deep = |n: usize| format!("{}{}", r#"{"f:a":"#.repeat(n), "{".to_owned() + &"}".repeat(n + 1));
    assert!(rewritten(&deep(500), Compat::V64).is_ok());
    assert!(rewritten(&deep(100_000), Compat::V64).is_err());
}
