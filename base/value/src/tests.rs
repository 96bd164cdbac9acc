use super::*;
use crate::Bump;
use std::cmp::Ordering;

fn json(value: Value<'_>) -> String {
    let mut out = Vec::new();
    value.write_json(&mut out).expect("all numbers are finite");
    String::from_utf8(out).expect("JSON is text")
}

#[test]
fn floats_read_as_gos_percent_v() {
    for (n, text) in [
        (999_999.0, "999999"),
        (123_456.789, "123456.789"),
        (1e6, "1e+06"),
        (1_234_567.0, "1.234567e+06"),
        (3e9, "3e+09"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-0.0, "-0"),
        (1e100, "1e+100"),
    ] {
        assert_eq!(Value::Float(n).to_string(), text);
    }
}

#[test]
fn strings_read_as_gos_percent_q() {
    for (text, quoted) in [
        ("<a>\u{2028}é\x01\n", r#""<a>\u2028é\x01\n""#),
        ("\x07\x08\x0c\r\t\x0b\"\\", r#""\a\b\f\r\t\v\"\\""#),
        ("\u{7f}\u{e0001}", r#""\x7f\U000e0001""#),
        ("e\u{301} \u{a0}", "\"e\u{301} \\u00a0\""),
    ] {
        assert_eq!(Value::String(text).to_string(), quoted);
    }
}

#[test]
fn json_escapes_html_and_writes_two_digits_of_exponent() {
    for (value, text) in [
        (Value::Float(1e20), "100000000000000000000"),
        (Value::Float(1e21), "1e+21"),
        (Value::Float(1e-6), "0.000001"),
        (Value::Float(1e-7), "1e-07"),
        (Value::Float(1.5e-9), "1.5e-09"),
        (Value::Float(1e-300), "1e-300"),
        (Value::Float(-0.0), "-0"),
        (Value::Float(2.0), "2"),
        (Value::String("<&>\u{2028}\u{7f}\x08\n"), r#""\u003c\u0026\u003e\u2028"#),
    ] {
        assert!(json(value).starts_with(text), "{} is not {text}", json(value));
    }
    assert_eq!(json(Value::String("\x08\x1f\u{7f}é")), "\"\\u0008\\u001f\u{7f}é\"");
    assert_eq!(Value::Float(f64::INFINITY).write_json(&mut Vec::new()), Err(NotFinite));
}

#[test]
fn a_map_without_a_key_is_greater_but_a_shorter_one_is_less() {
    let arena = Bump::new();
    let map = |entries: &[(&'static str, i64)]| {
        Value::Map(Map::from_entries(entries.iter().map(|(key, n)| (*key, Value::Int(*n))).collect(), &arena))
    };
    assert_eq!(map(&[("a", 1)]).cmp(&map(&[("a", 1), ("b", 1)])), Ordering::Less);
    assert_eq!(map(&[("a", 1), ("b", 1)]).cmp(&map(&[("b", 1)])), Ordering::Less);
    assert_eq!(map(&[("b", 1)]).cmp(&map(&[("a", 1), ("b", 1)])), Ordering::Greater);
}

#[test]
fn of_a_repeated_key_the_last_value_is_used() {
    let arena = Bump::new();
    let map = Map::from_entries(vec![("b", Value::Int(1)), ("a", Value::Int(2)), ("b", Value::Int(3))], &arena);
    assert_eq!(map.entries(), [("a", Value::Int(2)), ("b", Value::Int(3))]);
    assert_eq!(map.with("a", None, &arena).entries(), [("b", Value::Int(3))]);
    assert_eq!(map.with("aa", Some(Value::Null), &arena).len(), 3);
}
