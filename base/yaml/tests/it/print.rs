//! Printed values read back as the same value.

use kubeshape_yaml::emit::{Emitter, Rewriter};
use kubeshape_yaml::{Limits, Path, Stream, Tape, json, number};
use proptest::prelude::*;
use serde_json::Value;

fn print(value: &Value, out: &mut Emitter<'_>) {
    match value {
        Value::Null => out.null(),
        Value::Bool(b) => out.bool(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => out.int(n),
            (_, Some(n)) => out.uint(n),
            _ => out.float(n.as_f64().expect("a double")),
        },
        Value::String(text) => out.str(text),
        Value::Array(items) => {
            out.begin_seq();
            for item in items {
                out.item();
                print(item, out);
            }
            out.end_seq();
        }
        Value::Object(pairs) => {
            out.begin_map();
            for (key, value) in pairs {
                out.key(key);
                print(value, out);
            }
            out.end_map();
        }
    }
}

fn read(source: &str, path: Path) -> String {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut out = Vec::new();
    json::write(
        tape.document(source).root().expect("a root"),
        &mut out,
        json::Options { escape_html: false, sorted: true },
    );
    assert!(stream.next(&mut tape).is_none(), "more than one document in\n{source}");
    assert_eq!(stream.ignored(), None);
    String::from_utf8(out).expect("UTF-8")
}

/// Appends the value as the expected JSON.
fn canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Bool(_) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => number::write_int(n, out),
            (_, Some(n)) => number::write_uint(n, out),
            _ => number::write_json(n.as_f64().expect("a double"), out),
        },
        Value::String(text) => json::write_str(text, out, false),
        Value::Array(items) => {
            out.push(b'[');
            for (n, item) in items.iter().enumerate() {
                out.extend_from_slice(if n > 0 { b"," } else { b"" });
                canonical(item, out);
            }
            out.push(b']');
        }
        Value::Object(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().collect();
            pairs.sort_by_key(|pair| pair.0);
            out.push(b'{');
            for (n, (key, value)) in pairs.into_iter().enumerate() {
                out.extend_from_slice(if n > 0 { b"," } else { b"" });
                json::write_str(key, out, false);
                out.push(b':');
                canonical(value, out);
            }
            out.push(b'}');
        }
    }
}

fn round(value: &Value) {
    let mut out = Vec::new();
    print(value, &mut Emitter::new(&mut out));
    let yaml = String::from_utf8(out).expect("UTF-8");
    let mut expected = Vec::new();
    canonical(value, &mut expected);
    let expected = String::from_utf8(expected).expect("UTF-8");
    for path in [Path::Full, Path::Yaml] {
        let found = read(&yaml, path);
        assert!(found == expected, "{expected}\n--- printed\n{yaml}\n--- read\n{found}");
    }
    // The JSON reader keeps the value, and so does the YAML that is printed from its tape.
    assert_eq!(read(&expected, Path::Json), expected);
    let mut stream = Stream::with_path(expected.as_bytes(), Limits::default(), Path::Json).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").expect("JSON");
    let mut out = Vec::new();
    Emitter::new(&mut out).node(tape.document(&expected).root().expect("a root"));
    assert_eq!(String::from_utf8(out).expect("UTF-8"), yaml);
    // JSON in pieces gives the same, wherever the pieces end.
    for size in [1, 7, expected.len().max(1)] {
        let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
        let mut rest = expected.as_str();
        while let Some(end) = rest.char_indices().map(|(at, _)| at).find(|at| *at >= size) {
            rewriter.piece(&rest[..end], &mut out);
            rest = &rest[end..];
        }
        rewriter.piece(rest, &mut out);
        rewriter.end(&mut out);
        assert_eq!(String::from_utf8(out).expect("UTF-8"), yaml, "in pieces of {size}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "[a-c:#'\"\\\\ \n\t\r\u{85}\u{2028}\u{feff}\u{1}é-]{0,10}",
        "[0-9+\\-._xobeE:TZ]{0,8}",
        "[ \nab]{0,8}",
        prop_oneof![
            Just("yes"),
            Just("~"),
            Just("null"),
            Just("<<"),
            Just("---"),
            Just("..."),
            Just("-"),
            Just("? a"),
            Just("{{ x }}"),
            Just("%a"),
            Just("=\u{FFFE}"),
            Just("0x1F"),
            Just(".inf"),
            Just("2001-12-14"),
            Just("\u{10FFFF}")
        ]
        .prop_map(String::from),
        "\\PC{0,10}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite, and no integer in JSON", |n| n.is_finite() && n.fract() != 0.0)
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(kubeshape_corpus::cases(4000)) })]

    #[test]
    fn printed_values_read_back_equal(value in value()) {
        round(&value);
    }
}

#[test]
fn keys_beyond_the_limit_of_simple_keys_read_back() {
    let key = "k".repeat(3000);
    for value in [serde_json::json!(1), serde_json::json!({"a": [1]}), serde_json::json!(["x", "y\nz\n"])] {
        round(&serde_json::json!({ key.as_str(): value, "z": 1 }));
        round(&serde_json::json!([{ key.as_str(): value }]));
    }
}
