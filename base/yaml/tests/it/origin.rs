//! Parts of scalars in the source.

use kubeshape_yaml::{Limits, Path, Stream, Tape};

/// Returns what the source has for parts of the text of the member `a`: `before|part`, with the part in the source.
fn parts(source: &str, parts: &[&str]) -> Vec<String> {
    let mut found = vec![parts_read_by(Path::Auto, source, parts), parts_read_by(Path::Full, source, parts)];
    assert_eq!(found[0], found[1], "{source}");
    found.swap_remove(0)
}

fn parts_read_by(path: Path, source: &str, parts: &[&str]) -> Vec<String> {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").unwrap_or_else(|error| panic!("{error}: {source}"));
    let root = tape.document(source).root().expect("a root");
    let node = root.get("a").expect("a member");
    let of = |part: &&str| {
        let at = node.text().rfind(*part).unwrap_or_else(|| panic!("{:?} has no {part:?}", node.text()));
        let range = node.source_of(at..at + part.len());
        let line = source[..range.start].matches('\n').count() + 1;
        format!("{line}: {}", &source[range])
    };
    parts.iter().map(of).collect()
}

#[test]
fn scalars_of_one_line_are_found_as_they_are_written() {
    assert_eq!(parts("a: self.b > 1\n", &["b", "> 1"]), ["1: b", "1: > 1"]);
    assert_eq!(parts("a: !!str self.b\n", &["b"]), ["1: b"]);
    assert_eq!(parts("a: 'x == ''é'' && y'\n", &["'é'", "y", "x"]), ["1: ''é''", "1: y", "1: x"]);
    assert_eq!(
        parts(r#"a: "m('\\d\t\u00e9\x41') \"b\" c""#, &["\\d", "é", "A", "\"b\"", "c"]),
        [r"1: \\d", r"1: \u00e9", r"1: \x41", r#"1: \"b\""#, "1: c"]
    );
    assert_eq!(
        parts_read_by(Path::Auto, r#"{"a": "\ud83d\ude00 \/b c", "b": 1}"#, &["\u{1F600}", "/b", "c"]),
        [r"1: \ud83d\ude00", r"1: \/b", "1: c"]
    );
    assert_eq!(parts("a: !!str \"\\td\"\n", &["d", "\t"]), ["1: d", "1: "]);
}

#[test]
fn lines_of_blocks_lose_their_indentation() {
    let block = "a: |-2 # comment\n    deep &&\n\n  x y\n  last\nb: 1\n";
    assert_eq!(parts(block, &["deep", "x y", "last", "&&\n\nx"]), ["2: deep", "4: x y", "5: last", "2: &&\n\n  x"]);
    let folded = "a: >\n  one\n  two\n\n   three\n  end\n";
    assert_eq!(
        parts(folded, &["one", "two", "one two", "three", "end"]),
        ["2: one", "3: two", "2: one\n  two", "5: three", "6: end"]
    );
}

#[test]
fn folded_lines_are_found() {
    assert_eq!(parts("a: one\n  two\n\n  three\n", &["one", "two", "three"]), ["1: one", "2: two", "4: three"]);
    assert_eq!(parts("a: 'one\n  it''s\n\n  three'\n", &["it's", "three"]), ["2: it''s", "4: three"]);
    assert_eq!(
        parts("a: \"one \\\n  two\\n\\\n  three\"\n", &["two", "three", "one"]),
        ["2: two", "3: three", "1: one"]
    );
    assert_eq!(parts("a: \"one\n  two\"\n", &["one two"]), ["1: one\n  two"]);
}

#[test]
fn a_part_without_characters_is_after_the_character_before_it() {
    assert_eq!(parts("a: |\n  x\n", &["\n", ""]), ["2: ", "2: "]);
    assert_eq!(parts("a: ''\n", &[""]), ["1: "]);
    assert_eq!(parts("a: \"\\t\"\n", &[""]), ["1: "]);
}

#[test]
fn aliases_are_found_where_their_anchor_is() {
    assert_eq!(parts("b: &x |\n  self.c\na: *x\n", &["c"]), ["2: c"]);
}
