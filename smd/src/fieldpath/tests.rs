use super::*;
use crate::Bump;
use crate::value::{Compat, Map, Value};

fn rewritten(text: &str, compat: Compat) -> Result<String, SetError> {
    let arena = Bump::new();
    Set::read_json_as(text.as_bytes(), compat, &arena)?.to_json_as(compat)
}

fn element(text: &str, compat: Compat) -> Result<String, ElementError> {
    let arena = Bump::new();
    let mut out = Vec::new();
    PathElement::parse_as(text, compat, &arena)?.write_as(compat, &mut out).expect("what was read is finite");
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
fn invalid_elements_are_refused() {
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
fn data_after_a_value_is_refused_or_ignored() {
    for (text, canonical) in [(r#"k:{"a":1}x"#, r#"k:{"a":1}"#), ("v:1 2", "v:1"), ("v:nullx", "v:null")] {
        assert!(matches!(element(text, Compat::V64), Err(ElementError::Content(_))), "{text}");
        assert_eq!(element(text, Compat::V63).as_deref(), Ok(canonical), "{text}");
    }
    assert!(rewritten(r#"{"f:a":{}} {}"#, Compat::V64).is_err());
    assert_eq!(rewritten(r#"{"f:a":{}} {}"#, Compat::V63).as_deref(), Ok(r#"{"f:a":{}}"#));
}

#[test]
fn version_7_writes_less_escapes_and_shorter_exponents() {
    for (text, old, new) in [
        (r#"k:{"<":"<>&"}"#, r#"k:{"<":"\u003c\u003e\u0026"}"#, r#"k:{"<":"<>&"}"#),
        (r#"v:"\u2028\u2029""#, r#"v:"\u2028\u2029""#, "v:\"\u{2028}\u{2029}\""),
        (r#"v:"\b\f\u001f\u007f""#, "v:\"\\u0008\\u000c\\u001f\u{7f}\"", "v:\"\\b\\f\\u001f\u{7f}\""),
        (r#"v:["<",{"a":1e-7}]"#, r#"v:["\u003c",{"a":1e-07}]"#, r#"v:["<",{"a":1e-7}]"#),
        ("v:-1e-9", "v:-1e-09", "v:-1e-9"),
        ("v:1e30", "v:1e+30", "v:1e+30"),
        ("v:-0", "v:-0", "v:-0"),
        // Half of a surrogate pair no longer consumes the next escape.
        (r#"v:"\ud83d\n\ud83d\u0041""#, "v:\"\u{fffd}\\n\u{fffd}A\"", "v:\"\u{fffd}\\n\u{fffd}A\""),
        (r#"v:"\ud83d\ud83d\ude00""#, "v:\"\u{fffd}\u{fffd}\u{fffd}\"", "v:\"\u{fffd}\u{1f600}\""),
    ] {
        assert_eq!(element(text, Compat::V64).as_deref(), Ok(old), "{text}");
        assert_eq!(element(text, Compat::V70).as_deref(), Ok(new), "{text}");
    }
    for (text, canonical) in [
        (r#"{"k:{\"a\":\"<\"}":{"f:<\b":{}}}"#, r#"{"k:{\"a\":\"<\"}":{"f:<\b":{}}}"#),
        (r#"{"v:1e-7":{".":{}},"v:\"\\b\"":{}}"#, r#"{"v:1e-7":{},"v:\"\\b\"":{}}"#),
        // What is skipped is not converted.
        (r#"{"f:a":{".":1e400}}"#, r#"{"f:a":{}}"#),
        (r#"{"f:a":{"f:b":{}},"f:a":{}}"#, r#"{"f:a":{".":{},"f:b":{}}}"#),
    ] {
        assert_eq!(rewritten(text, Compat::V70).as_deref(), Ok(canonical), "{text}");
    }
    let arena = Bump::new();
    let set = Set::read_json_as(br#"{"k:{\"a\":\"<\"}":{"v:1e-7":{}}}"#, Compat::V70, &arena).expect("a set");
    let value = set.to_fields_v1_as(Compat::V70, &arena).expect("finite").to_serde();
    assert_eq!(value, serde_json::json!({"k:{\"a\":\"<\"}": {"v:1e-7": {}}}));
}

#[test]
fn version_7_accepts_only_json() {
    for text in [r#"k:{"a":1,null:2}"#, "v:-+1", "v:-+01", "v:\"\\n\u{1}\"", "v:1 2", r#"k:{"a":1}x"#, "v:1e400"] {
        assert!(matches!(element(text, Compat::V70), Err(ElementError::Content(_))), "{text}");
    }
    for text in [r#"{"f:a":{},null:{}}"#, r#"{"f:a":{}} {}"#, r#"{"f:a":{".":-+1}}"#, r#"{"f:a":{".":01}}"#] {
        assert!(rewritten(text, Compat::V70).is_err(), "{text}");
    }
    for text in [r#"{"f:a":{".":{"b":1,null:2}}}"#, r#"{"f:a":{".":-+1}}"#] {
        assert!(rewritten(text, Compat::V70).is_err() && rewritten(text, Compat::V64).is_ok(), "{text}");
    }
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
fn invalid_sets_are_refused() {
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
        "{1:{}}",
        r#"{"f:a":{},}"#,
    ] {
        assert!(rewritten(text, Compat::V64).is_err(), "{text}");
        assert!(rewritten(text, Compat::V63).is_err(), "{text}");
    }
    let deep = |n: usize| format!("{}{}", r#"{"f:a":"#.repeat(n), "{".to_owned() + &"}".repeat(n + 1));
    assert!(rewritten(&deep(500), Compat::V64).is_ok());
    assert!(rewritten(&deep(100_000), Compat::V64).is_err());
}

fn read<'a>(text: &'a str, arena: &'a Bump) -> Set<'a> {
    Set::read_json(text.as_bytes(), arena).expect("a set")
}

#[test]
fn paths_are_displayed_by_kinds_of_elements() {
    let arena = Bump::new();
    let mut elements: Vec<_> = [
        "i:0",
        "v:\"a\"",
        "v:1",
        r#"k:{"k":1,"l":2}"#,
        r#"k:{"k":1}"#,
        "k:{}",
        "v:1234567",
        r#"v:"<a>\u2028é\u0001\n""#,
        "f:b",
        "f:a",
    ]
    .map(|text| PathElement::parse(text, &arena).expect("an element"))
    .to_vec();
    elements.sort();
    assert_eq!(
        DisplayPath(&elements).to_string(),
        r#".a.b[][k=1][k=1,l=2][=1][=1.234567e+06][="<a>\u2028é\x01\n"][="a"][0]"#
    );
}

#[test]
fn of_equal_elements_the_one_of_the_child_is_written() {
    let arena = Bump::new();
    let int = [("id", crate::Value::Int(9_007_199_254_740_993))];
    let (int, name) = (PathElement::Key(arena.alloc(int)), PathElement::FieldName("name"));
    let (int_item, int_child) = (set_of(&[int], &arena), set_of(&[int, name], &arena));
    let float_item = read(r#"{"k:{\"id\":9007199254740992}":{}}"#, &arena);
    let float_child = read(r#"{"k:{\"id\":9007199254740992}":{"f:name":{}}}"#, &arena);
    let is_int = |set: Set<'_>| set.to_json().expect("finite").contains("0993");
    assert_eq!(int_item, float_item);
    // The right members are used, and the left children.
    assert!(is_int(float_item.union(int_item, &arena)));
    assert!(!is_int(int_item.union(float_item, &arena)));
    assert!(is_int(int_child.union(float_child, &arena)));
    assert!(is_int(int_child.union(float_item, &arena)));
    assert!(!is_int(int_item.union(float_child, &arena)));
    assert!(is_int(int_item.intersection(float_item, &arena)));
}

fn set_of<'a>(path: &Path<'a>, arena: &'a Bump) -> Set<'a> {
    let mut builder = SetBuilder::new(arena);
    assert!(builder.insert(path));
    builder.finish()
}

#[test]
fn unchanged_parts_of_operands_are_shared() {
    let arena = Bump::new();
    let a = read(r#"{"f:a":{"f:b":{},"f:c":{}},"f:d":{}}"#, &arena);
    let b = read(r#"{"f:a":{"f:b":{}}}"#, &arena);
    let c = read(r#"{"f:x":{}}"#, &arena);
    assert!(a.union(b, &arena).is(a));
    assert!(b.union(a, &arena).entries()[0].children.is(a.entries()[0].children));
    assert!(a.difference(c, &arena).is(a));
    assert!(a.recursive_difference(c, &arena).is(a));
    assert!(b.leaves(&arena).is(b));
    assert!(a.union(c, &arena).entries()[0].children.is(a.entries()[0].children));
}

#[test]
fn paths_that_are_empty_or_too_long_are_in_no_set() {
    let arena = Bump::new();
    let mut builder = SetBuilder::new(&arena);
    assert!(!builder.insert(&[]));
    assert!(builder.insert(&[PathElement::Index(0); 512]));
    assert!(!builder.insert(&[PathElement::Index(0); 513]));
    let set = builder.finish();
    assert_eq!(set.len(), 1);
    let text = set.to_json().expect("finite");
    assert_eq!(read(&text, &arena), set);
    assert_eq!(Set::from_fields_v1(set.to_fields_v1(&arena).expect("finite"), &arena), Ok(set));
}

#[test]
fn sets_are_read_from_values_as_from_json() {
    use crate::ToValue as _;
    let arena = Bump::new();
    let json = serde_json::json!({"v:1": {}, "v:1.0": {"f:a": null}, "i:+5": {".": 1}, "f:b": {"z:x": 3}, "f:a": {}});
    let set = Set::from_fields_v1(json.to_value(&arena), &arena).expect("a set");
    assert_eq!(set.to_json().as_deref(), Ok(r#"{"f:a":{},"f:b":{},"v:1":{".":{},"f:a":{}},"i:5":{}}"#));
    for json in [serde_json::json!({"f:a": 1}), serde_json::json!([]), serde_json::json!({"a": {}})] {
        assert!(Set::from_fields_v1(json.to_value(&arena), &arena).is_err(), "{json}");
    }
    assert_eq!(Set::from_fields_v1(crate::Value::Null, &arena), Ok(Set::EMPTY));
}

#[test]
fn a_pattern_for_any_element_shadows_those_for_one() {
    let arena = Bump::new();
    let field = |name| ElementMatcher::Is(PathElement::FieldName(name));
    let set = read(r#"{"f:a":{"f:x":{},"f:y":{}},"f:b":{"f:x":{},"f:y":{}}}"#, &arena);
    let pattern = Matcher::of(vec![
        (field("a"), Matcher::prefix(&[field("y")])),
        (ElementMatcher::Any, Matcher::prefix(&[field("x")])),
    ]);
    assert_eq!(Filter::Include(pattern).filter(set, &arena).to_string(), ".a.x\n.b.x");
}

#[test]
fn merged_patterns_match_the_same_as_upstreams() {
    let arena = Bump::new();
    let field = |name| ElementMatcher::Is(PathElement::FieldName(name));
    let set = read(r#"{"f:a":{"f:x":{},"f:y":{}},"f:b":{"f:x":{},"f:y":{}}}"#, &arena);
    let left = |patterns: &[&[ElementMatcher<'static>]]| {
        Filter::include(patterns.iter().map(|pattern| Matcher::prefix(pattern))).filter(set, &arena).to_string()
    };
    assert_eq!(left(&[&[field("a"), field("x")], &[field("b")]]), ".a.x\n.b.x\n.b.y");
    assert_eq!(left(&[&[field("a"), field("x")], &[field("a"), field("y")]]), ".a.x\n.a.y");
    // `Any` is never found, so the second pattern follows the first.
    assert_eq!(left(&[&[ElementMatcher::Any, field("x")], &[ElementMatcher::Any, field("y")]]), ".a.x\n.b.x");
    assert_eq!(left(&[&[field("a")], &[]]), set.to_string());
}

#[test]
fn only_scalars_name_the_items_of_a_value() {
    use crate::ToValue as _;
    let arena = Bump::new();
    let json =
        serde_json::json!({"l": [{"name": "n", "key": 1, "id": null}, {"id": {}}, [[5]], []], "e": {}, "n": null});
    assert_eq!(
        Set::from_value(json.to_value(&arena), &arena).to_string(),
        ".n\n.l[key=1,name=\"n\"].id\n.l[key=1,name=\"n\"].key\n.l[key=1,name=\"n\"].name\n.l[2][0][0]"
    );
    assert!(Set::from_value(crate::Value::Int(1), &arena).is_empty());
}

#[test]
fn managers_differ_by_version_before_they_differ_by_fields() {
    let arena = Bump::new();
    let owns = |text: &'static str, api_version| VersionedSet { set: read(text, &arena), api_version, applied: true };
    let of = |name, fields| {
        let mut managers = ManagedFields::new();
        managers.insert(name, fields);
        managers
    };
    let a = of("m", owns(r#"{"f:a":{}}"#, "v1"));
    assert_eq!(a.difference(&of("m", owns("{}", "v2")), &arena), of("m", owns("{}", "v2")));
    let expected = VersionedSet { applied: false, ..owns(r#"{"f:a":{},"f:b":{}}"#, "v1") };
    assert_eq!(a.difference(&of("m", owns(r#"{"f:b":{}}"#, "v1")), &arena), of("m", expected));
    assert!(a.difference(&a, &arena).is_empty());
    assert_eq!(a.difference(&ManagedFields::new(), &arena), a);
    assert!(ManagedFields::new().difference(&of("m", owns("{}", "v1")), &arena).is_empty());
}

#[test]
fn an_item_without_a_name_comes_last_and_is_not_written() {
    let arena = Bump::new();
    let set = set_of(&[PathElement::FieldName("l"), PathElement::Nameless], &arena);
    assert!(PathElement::Nameless > PathElement::Index(i64::MAX));
    assert_eq!(set.to_string(), ".l{{invalid path element}}");
    let error = SetError { message: "invalid PathElement".to_owned(), at: 0 };
    assert_eq!(set.to_json(), Err(error.clone()));
    assert_eq!(set.to_fields_v1(&arena), Err(error));
}

#[test]
fn prefixes_are_in_the_order_of_elements_and_exact_ones_distinguish_them() {
    const TEXTS: [&str; 20] = [
        "",
        "\0",
        "\0\0",
        "\u{1}",
        "a",
        "a\0",
        "a\0\0",
        "a\0b",
        "a\u{1}",
        "ab",
        "b",
        "name",
        "name\0",
        "names",
        "abcdef",
        "abcdefg",
        "abcdefg\0",
        "abcdefgh",
        "abcdefgh\0",
        "\u{10ffff}\u{10ffff}",
    ];
    const INTEGERS: [i64; 14] = [
        0,
        1,
        -1,
        2,
        255,
        256,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
        (1 << 60) - 1,
        1 << 60,
        -(1 << 60),
        i64::MAX,
        i64::MIN,
    ];
    const FLOATS: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        0.1,
        -0.1,
        9_007_199_254_740_992.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let texts = TEXTS.map(Value::String);
    let mut values = vec![Value::Null, Value::Bool(false), Value::Bool(true), Value::Map(Map::EMPTY), Value::List(&[])];
    values.extend([Value::List(&[Value::Null]), Value::Float(f64::NAN)]);
    values.extend(texts);
    values.extend(INTEGERS.map(Value::Int));
    values.extend(FLOATS.map(Value::Float));
    let mut keys = vec![Vec::new()];
    for name in TEXTS {
        keys.extend(values.iter().map(|value| vec![(name, *value)]));
        keys.extend([vec![(name, Value::Int(1)), ("z", Value::Null)], vec![(name, Value::Int(1)), ("", Value::Null)]]);
    }
    let mut elements = vec![PathElement::Nameless];
    elements.extend(TEXTS.map(PathElement::FieldName));
    elements.extend(keys.iter().map(|key| PathElement::Key(key)));
    elements.extend(values.iter().map(|value| PathElement::Value(*value)));
    elements.extend(INTEGERS.map(PathElement::Index));
    for a in &elements {
        for b in &elements {
            let (order, prefixes) = (a.cmp(b), a.prefix().cmp(&b.prefix()));
            assert!(prefixes.is_eq() || prefixes == order, "{a:?} {b:?}");
            assert!(order.is_eq() || prefixes.is_ne() || a.prefix() & 1 == 1, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_set_of_paths_in_any_order_is_that_of_the_paths_in_order() {
    let arena = Bump::new();
    let names: Vec<String> = (0..300).map(|n| format!("f{n}")).collect();
    let mut paths: Vec<Vec<PathElement<'_>>> = Vec::new();
    let mut state = 1_usize;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..600 {
        // Long paths with long common prefixes, and single elements among many.
        let (length, kinds) = if round % 2 == 0 { (1 + next(40), 2) } else { (1 + next(2), 300) };
        paths.push((0..length).map(|_| PathElement::FieldName(&names[next(kinds)])).collect());
    }
    let one_by_one = paths.iter().fold(Set::EMPTY, |set, path| {
        let mut builder = SetBuilder::new(&arena);
        assert!(builder.insert(path));
        set.union(builder.finish(), &arena)
    });
    // Unchanged, and with every string at another place in memory.
    for apart in [false, true] {
        let mut builder = SetBuilder::new(&arena);
        for path in &paths {
            let path: Vec<_> = path.iter().map(|step| if apart { step.copy_into(&arena) } else { *step }).collect();
            assert!(builder.insert(&path));
        }
        let set = builder.finish();
        assert!(set == one_by_one, "{apart}");
        assert!(paths.iter().all(|path| set.has(path)));
    }
}

#[test]
fn of_equal_elements_the_first_given_is_kept_at_every_node() {
    let arena = Bump::new();
    let mut builder = SetBuilder::new(&arena);
    let (one, single) = (PathElement::Value(Value::Int(1)), PathElement::Value(Value::Float(1.0)));
    let field = PathElement::FieldName;
    builder.insert(&[one, field("z"), single]);
    builder.insert(&[single, field("a")]);
    builder.insert(&[single, field("z"), one, field("b")]);
    builder.insert(&[field("n"), single]);
    builder.insert(&[field("n"), one]);
    let set = builder.finish();
    let first = |set: Set<'_>| format!("{:?}", set.entries()[0].element);
    assert_eq!(first(set.with_prefix(field("n"))), "Value(Float(1.0))");
    assert_eq!(format!("{:?}", set.entries()[1].element), "Value(Int(1))");
    assert_eq!(first(set.with_prefix(one).with_prefix(field("z"))), "Value(Float(1.0))");
    assert_eq!(set.len(), 4);
}
