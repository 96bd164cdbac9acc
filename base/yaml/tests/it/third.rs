//! Tests of the values that go-yaml's third version reads. They are those of kustomize 5.8.1.

use kubeshape_yaml::{Limits, Stream, Tape, Third, json};

fn read(source: &str) -> (Third, String) {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())
        .expect("a stream")
        .next(&mut tape)
        .expect("a document")
        .expect("it is read");
    let third = tape.read_as_third(source);
    let mut out = Vec::new();
    json::write(tape.document(source).node(0), &mut out, json::Options::default());
    (third, String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn words_are_strings_dates_are_points_in_time_and_other_scalars_stay() {
    for (written, value) in [
        ("y", r#""y""#),
        ("N", r#""N""#),
        ("yes", r#""yes""#),
        ("On", r#""On""#),
        ("OFF", r#""OFF""#),
        ("\n    no", r#""no""#),
        ("2001-1-1", r#""2001-01-01T00:00:00Z""#),
        ("!!timestamp 2001-01-01", r#""2001-01-01T00:00:00Z""#),
        ("2001-12-14t21:59:43.10-05:00", r#""2001-12-14T21:59:43.1-05:00""#),
        ("2001-12-14  21:59:43.100", r#""2001-12-14T21:59:43.1Z""#),
        ("2001-12-15T2:59:43.0123456789+00:00", r#""2001-12-15T02:59:43.012345678Z""#),
        ("2001-12-15T02:59:43,000+01:60", r#""2001-12-15T02:59:43+02:00""#),
        ("0o+7", "7"),
        ("0o-1_0", "-8"),
    ] {
        let changed = Third { is_changed: true, refused: None };
        assert_eq!(
            read(&format!("a:\n  b: {written}\n")),
            (changed, format!(r#"{{"a":{{"b":{value}}}}}"#)),
            "{written}"
        );
    }
    for (written, value) in [
        ("True", "true"),
        ("FALSE", "false"),
        ("~", "null"),
        ("'y'", r#""y""#),
        ("\"2001-01-01\"", r#""2001-01-01""#),
        ("!!str y", r#""y""#),
        ("!!str 2001-01-01", r#""2001-01-01""#),
        ("!other 2001-01-01", r#""2001-01-01""#),
        ("|-\n    2001-01-01", r#""2001-01-01""#),
        ("2001-12-14 21:59:43.10 -5", r#""2001-12-14 21:59:43.10 -5""#),
        ("2001-12-15T02:59:43.1Z", r#""2001-12-15T02:59:43.1Z""#),
        ("-0o+7", r#""-0o+7""#),
        ("0o7", "7"),
        ("0777", "511"),
        ("1:30", r#""1:30""#),
        ("1_000", "1000"),
    ] {
        assert_eq!(
            read(&format!("a:\n  b: {written}\n")),
            (Third::default(), format!(r#"{{"a":{{"b":{value}}}}}"#)),
            "{written}"
        );
    }
}

#[test]
fn keys_are_words_too_and_other_keys_are_refused_below_the_root() {
    for (source, value) in [
        ("y: {on: off}", r#"{"y":{"on":"off"}}"#),
        ("a: [{? n : 1}, {&k yes: 2, b: *k}]", r#"{"a":[{"n":1},{"b":"yes","yes":2}]}"#),
        ("a: &a {y: no}\nb: {<<: *a, c: *a}", r#"{"a":{"y":"no"},"b":{"c":{"y":"no"},"y":"no"}}"#),
    ] {
        assert_eq!(read(source), (Third { is_changed: true, refused: None }, value.to_owned()), "{source}");
    }
    assert_eq!(read("1: a\n2001-01-01: b"), (Third::default(), r#"{"1":"a","2001-01-01":"b"}"#.to_owned()));
    for source in ["a: {1: b}", "a: {true: b}", "a: [{2001-01-01: b}]", "a: !!bool y", "a: {!!bool y: b}"] {
        assert!(read(source).0.refused.is_some(), "{source}");
    }
    // In brackets, kustomize puts quotes around a colon before it reads the time.
    let both = read("a: {b: 2001-01-01, c: 2001-1-1t0:0:0Z}\nd: 2001-1-1t0:0:0Z");
    assert_eq!(both.1, r#"{"a":{"b":"2001-01-01T00:00:00Z","c":"2001-1-1t0:0:0Z"},"d":"2001-01-01T00:00:00Z"}"#);
    assert!(read("a: 2001-12-15T02:59:43+24:00").0.refused.is_some());
    assert_eq!(read("{\"a\": \"2001-01-01\", \"b\": true}").0, Third::default());
}
