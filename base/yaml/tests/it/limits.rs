//! Exceeding a limit is an error with a location, found quickly.

use std::fmt::Write;
use std::time::{Duration, Instant};

use kubeshape_yaml::{Error, Limits, Path, Stream, Tape};

fn first(source: &str, limits: Limits, path: Path) -> Result<(), Error> {
    let mut tape = Tape::new();
    let mut stream = Stream::with_path(source.as_bytes(), limits, path)?;
    stream.next(&mut tape).expect("a document")
}

fn refused(source: &str, limits: Limits, words: &str) {
    let start = Instant::now();
    for path in [Path::Auto, Path::Yaml, Path::Full] {
        let error = first(source, limits, path).expect_err("beyond the limit");
        assert!(error.limit, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
    // Generous, because the tests run without optimisation.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_source_beyond_the_limit_of_bytes_is_refused() {
    refused("a: 1234567\n", Limits { bytes: 10, ..Limits::default() }, "limit of 10 bytes");
}

#[test]
fn nesting_beyond_the_limit_of_levels_is_refused() {
    let limits = Limits { depth: 3, ..Limits::default() };
    for fine in
        ["[[[1]]]", "- - - 1\n", "a:\n  b:\n    c: 1\n", "a: [[1]]\n", "{\"a\": {\"b\": {}}}", "x: &x [[1]]\ny: *x\n"]
    {
        for path in [Path::Auto, Path::Yaml, Path::Full] {
            first(fine, limits, path).unwrap_or_else(|error| panic!("{fine}: {error}"));
        }
    }
    for deep in [
        "[[[[1]]]]",
        "- - - - 1\n",
        "a:\n  b:\n    c:\n      d: 1\n",
        "{\"a\": {\"b\": {\"c\": {}}}}",
        "x: &x [[1]]\ny: [*x]\n",
        "a:\n- b:\n  - {}\n",
    ] {
        refused(deep, limits, "more than 3 levels");
    }
}

#[test]
fn a_hundred_thousand_levels_are_refused_at_the_level_of_the_limit() {
    let n = 100_000;
    for source in
        ["[".repeat(n), "{a: ".repeat(n), "- ".repeat(n), "{\"a\":".repeat(n), "? ".repeat(n), "[? ".repeat(n)]
    {
        let limits = Limits::default();
        let error = first(&source, limits, Path::Auto).expect_err("too deep");
        assert!(error.limit || error.message.contains("key"), "{error}");
    }
    refused(&"[".repeat(n), Limits::default(), "more than 512 levels");
    let lines: Vec<String> = (0..2000).map(|n| " ".repeat(n) + "a:\n").collect();
    let lines = lines.concat();
    refused(&lines, Limits::default(), "more than 512 levels");
}

#[test]
fn nodes_beyond_the_limit_are_refused() {
    let limits = Limits { nodes: 6, ..Limits::default() };
    for path in [Path::Auto, Path::Yaml, Path::Full] {
        first("[1, 2, 3, 4, 5]", limits, path).expect("within the limit");
    }
    refused("[1, 2, 3, 4, 5, 6]", limits, "more than 6 nodes");
    refused("- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n", limits, "more than 6 nodes");
    refused("{\"a\": 1, \"b\": 2, \"c\": 3}", limits, "more than 6 nodes");
    refused("a: &a [1, 2]\nb: *a\n", limits, "more than 6 nodes");
}

#[test]
fn a_billion_laughs_are_refused_in_milliseconds() {
    let mut source = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let alias = format!("*a{}, ", n - 1).repeat(10);
        let _ = writeln!(source, "a{n}: &a{n} [{}]", alias.trim_end_matches(", "));
    }
    let start = Instant::now();
    let error = first(&source, Limits::default(), Path::Auto).expect_err("too many aliases");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(error.message.contains("aliases"), "{error}");
    refused(
        "a: &a [1, 2]\nb: *a\n",
        Limits { alias_nodes: 2, ..Limits::default() },
        "more than 2 nodes through aliases",
    );
    refused(
        "a: &a {b: 1}\nc:\n  <<: *a\n",
        Limits { alias_nodes: 1, ..Limits::default() },
        "more than 1 nodes through aliases",
    );
}

#[test]
fn a_scalar_beyond_the_limit_is_refused() {
    let limits = Limits { scalar: 5, ..Limits::default() };
    for fine in ["12345", "'12345'", "a: |\n  1234\n", "{\"a\": \"12345\"}"] {
        first(fine, limits, Path::Auto).unwrap_or_else(|error| panic!("{fine}: {error}"));
    }
    for long in [
        "a: 123456\n",
        "a: 12\n  456\n",
        "a: '123456'\n",
        "a: |\n  12345\n",
        "[123456]",
        "{\"a\": \"123456\"}",
        "abcdef: 1\n",
    ] {
        refused(long, limits, "more than the limit of 5");
    }
}
