//! Documents of a stream, locations of nodes, and error messages.

use kubeshape_yaml::{Flags, Kind, Limits, Number, Path, Stream, Tape, json};

/// Returns every document: `-` for a document without content, `line:column message` for an error.
fn all(source: &str, path: Path) -> Vec<String> {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
    let mut tape = Tape::new();
    let mut found = Vec::new();
    while let Some(result) = stream.next(&mut tape) {
        found.push(match result {
            Err(error) => format!("{}:{} {}", error.line, error.column, error.message),
            Ok(()) if !tape.has_content() => "-".into(),
            Ok(()) => {
                let mut out = Vec::new();
                json::write(tape.document(source).root().expect("a root"), &mut out, json::Options::default());
                String::from_utf8(out).expect("UTF-8")
            }
        });
    }
    found
}

fn documents(source: &str, expected: &[&str]) {
    for path in [Path::Auto, Path::Full] {
        assert_eq!(all(source, path), expected, "{source:?} {path:?}");
    }
}

#[test]
fn documents_are_separated_by_markers_and_empty_ones_are_skipped() {
    documents("", &[]);
    documents("---\n---\n", &[]);
    documents("a: 1\n---\nb: 2\n", &["{\"a\":1}", "{\"b\":2}"]);
    documents("---\na: 1\n---\n---\nb: 2\n---\n", &["{\"a\":1}", "{\"b\":2}"]);
    documents("--- # c\n--- a\n--- {b: 1}\n--- |\n x\n", &["\"a\"", "{\"b\":1}", "\"x\\n\""]);
    documents("a: |\n  ---\n---\n", &["{\"a\":\"---\\n\"}"]);
}

#[test]
fn documents_of_comments_have_no_content() {
    documents("# c\n", &["-"]);
    documents("# c\n---\na: 1\n---\n# d\n---\nb: 2\n", &["-", "{\"a\":1}", "-", "{\"b\":2}"]);
    documents("\n", &["-"]);
}

#[test]
fn directives_and_document_ends_are_known() {
    documents(
        "%YAML 1.1\n---\na: 1\n...\n%TAG !e! tag:yaml.org,2002:\n---\nb: !e!str 1\n",
        &["{\"a\":1}", "{\"b\":\"1\"}"],
    );
    documents("a: 1\n...\n---\nb: 2\n", &["{\"a\":1}", "{\"b\":2}"]);
}

#[test]
fn ignored_text_is_reported() {
    let source = "a: 1\n...\nb: 2\n---\nc: 3\n";
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    let mut tape = Tape::new();
    assert!(matches!(stream.next(&mut tape), Some(Ok(()))));
    assert_eq!(stream.ignored().map(|range| &source[range]), Some("b: 2\n"));
    assert!(matches!(stream.next(&mut tape), Some(Ok(()))));
    assert_eq!(stream.ignored(), None);
    assert!(stream.next(&mut tape).is_none());
}

#[test]
fn a_stream_always_continues() {
    // go-yaml reads the brackets alone as the document.
    documents("{}: b\n---\nc\n", &["{}", "\"c\""]);
    documents("[]: b\n", &["[]"]);
    documents("\"a\":1\n", &["\"a\""]);
}

#[test]
fn the_stream_continues_after_an_error() {
    for path in [Path::Auto, Path::Full] {
        let found = all("a: 'x\n---\nb: 2\n---\n@\n---\nc: 3\n", path);
        assert_eq!(found.len(), 4);
        assert!(found[0].starts_with("1:4 the single quote that begins here is not closed"), "{}", found[0]);
        assert_eq!(found[1], "{\"b\":2}");
        assert!(found[2].starts_with("5:1 found '@'"), "{}", found[2]);
        assert_eq!(found[3], "{\"c\":3}");
    }
}

#[test]
fn byte_order_marks_and_line_breaks_of_other_systems_are_read() {
    documents("\u{FEFF}a: 1\r\nb: |\r\n  x\r\n---\r\nc: d\r\n e\r\n", &["{\"a\":1,\"b\":\"x\\n\"}", "{\"c\":\"d e\"}"]);
    documents("a: 1\u{85}b: 2\u{2028}c: 3\n", &["{\"a\":1,\"b\":2,\"c\":3}"]);
}

#[test]
fn sources_that_are_not_utf_8_are_refused_with_a_location() {
    let error = Stream::new(b"\xFF\xFEa\0", Limits::default()).expect_err("UTF-16");
    assert!(error.message.contains("UTF-16"), "{error}");
    let error = Stream::new(b"a: 1\nb: \xC3\x28\n", Limits::default()).expect_err("no UTF-8");
    assert_eq!((error.line, error.column, error.offset), (2, 4, 8));
    assert!(error.message.contains("0xC3"), "{error}");
}

#[test]
fn json_is_read_as_json_and_everything_else_as_yaml() {
    let json = "{\"a\": \"\\/\\ud83d\\ude00\\ud800\", \"b\": 1.0}\n{\"c\": [1, true, null]}\n---\nd: 1\n";
    assert_eq!(all(json, Path::Auto), ["{\"a\":\"/😀\u{FFFD}\",\"b\":1}", "{\"c\":[1,true,null]}", "{\"d\":1}"]);
    assert_eq!(all("{a: 1}\n---\n{\"b\": yes}\n", Path::Auto), ["{\"a\":1}", "{\"b\":true}"]);
    assert_eq!(all(" [1] \"x\"\n2", Path::Json), ["[1]", "\"x\"", "2"]);
    let found = all("{\"a\": 1,}x", Path::Json);
    assert_eq!(found, ["1:9 found '}' in JSON, expected a key in double quotes or '}', inside the '{' of line 1"]);
    let found = all("{\"a\": 1\n \"b\": 2}", Path::Auto);
    assert_eq!(found, ["2:2 found '\"' in JSON, expected ',' or '}', inside the '{' of line 1"]);
}

#[test]
fn numbers_of_json_keep_their_kind() {
    let source = "{\"a\": 1.0, \"b\": 1, \"c\": 18446744073709551615, \"d\": -0}";
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").expect("JSON");
    let document = tape.document(source);
    assert!(document.is_json());
    let root = document.root().expect("a root");
    let number = |key: &str| root.get(key).and_then(kubeshape_yaml::Node::as_number);
    assert_eq!(number("a"), Some(Number::Float(1.0)));
    assert_eq!(number("b"), Some(Number::Int(1)));
    assert_eq!(number("c"), Some(Number::Uint(u64::MAX)));
    assert_eq!(number("d"), Some(Number::Int(0)));
}

#[test]
fn locations_are_those_of_the_text() {
    let source = "a:  'x y' # c\nb:\n- c: d\n  e: f\n    g\n- [1, 2]\nh: |\n  i\n\nj:\n";
    for path in [Path::Auto, Path::Full] {
        let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
        let mut tape = Tape::new();
        stream.next(&mut tape).expect("a document").expect("YAML");
        let root = tape.document(source).root().expect("a root");
        let text = |key: &str| &source[root.get(key).expect("a key").span()];
        assert_eq!(text("a"), "'x y'");
        assert_eq!(text("b"), "- c: d\n  e: f\n    g\n- [1, 2]");
        let items: Vec<&str> = root.get("b").expect("b").items().map(|item| &source[item.span()]).collect();
        assert_eq!(items, ["c: d\n  e: f\n    g", "[1, 2]"]);
        assert_eq!(text("h"), "|\n  i");
        assert_eq!(root.get("j").expect("j").span(), source.len() - 1..source.len() - 1);
    }
}

#[test]
fn keys_that_were_not_strings_and_nodes_from_aliases_are_marked() {
    let source = "y: &a {b: 1}\n1.50: *a\nc:\n  <<: *a\n  d: 2\n\"true\": 3\n";
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").expect("YAML");
    let root = tape.document(source).root().expect("a root");
    let keys: Vec<_> = root.pairs().map(|(key, _)| (key.text(), key.entry().flags.has(Flags::RESOLVED_KEY))).collect();
    assert_eq!(keys, [("true", true), ("1.5", true), ("c", false), ("true", false)]);
    let aliased = |key: &str| root.get(key).expect("a key").entry().flags.has(Flags::ALIASED);
    assert_eq!((aliased("1.5"), aliased("c")), (true, false));
    let merged = root.get("c").expect("c");
    let keys: Vec<_> = merged.pairs().map(|(key, _)| (key.text(), key.entry().flags.has(Flags::ALIASED))).collect();
    assert_eq!(keys, [("b", true), ("d", false)]);
    assert_eq!(merged.get("b").map(|node| (node.kind(), node.pointer())), Some((Kind::Int, "/c/b".into())));
}

#[test]
fn errors_say_what_was_found_where_and_what_to_do() {
    for (source, place, words) in [
        ("a: {{ .Values.x }}\n", "1:4", "template"),
        ("{{ if x }}\na: 1\n", "1:1", "template"),
        ("a:\n\tb: 1\n", "2:1", "found a tab"),
        ("a: b: c\n", "1:5", "quote the text"),
        ("a: \"x\\y\"\n", "1:6", "unknown escape '\\y'"),
        ("a: [1, 2\nb: 3\n", "2:2", "expected ',' or ']', inside the '[' of line 1"),
        ("a: *b\n", "1:4", "no anchor &b"),
        ("&a [*a]\n", "1:5", "inside the value of its own anchor"),
        ("a: 1\n  b: 2\n", "2:4", "found ': ' where no mapping can begin"),
        ("a: - b\n", "1:4", "found a sequence item"),
        ("a: \u{7}\n", "1:4", "control character U+0007"),
        ("a: .inf\n", "1:4", "JSON has no number"),
        ("null: 1\n", "1:1", "the key 'null'"),
        ("? [a]\n: b\n", "1:3", "collection as a key"),
        ("a:\n  - b\n c: d\n", "3:2", "indentation of this line"),
        ("%YAML 1.2\n---\na: 1\n", "1:1", "YAML version 1.2"),
        ("a: !!int x\n", "1:10", "!!int"),
        ("a: @b\n", "1:4", "found '@'"),
        ("a: |x\n  b\n", "1:5", "head of a block text"),
        ("<<: 1\n", "1:5", "merge key"),
        ("a: !<x y\n", "1:7", "'>'"),
    ] {
        for path in [Path::Auto, Path::Full] {
            let found = all(source, path);
            let error = found.first().expect("an answer");
            assert!(error.starts_with(&format!("{place} ")) && error.contains(words), "{source:?}: {error}");
        }
    }
}

#[test]
fn a_replaced_value_is_not_an_error() {
    documents("a: .inf\na: 1\n", &["{\"a\":1}"]);
    documents("a: {~: x}\na: 1\n", &["{\"a\":1}"]);
    documents("a: &x {b: .nan}\na: *x\nc: *x\nc: 1\na: 2\n", &["{\"a\":2,\"c\":1}"]);
}
