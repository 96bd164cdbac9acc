//! The fast reader and the full one give the same entries.

use std::fmt::Write;

use kubeshape_yaml::{Error, Limits, Path, Stream, Tape};
use proptest::prelude::*;

/// Reads every document with the given reader, down to the last entry.
fn read(source: &str, path: Path) -> Vec<Result<String, Error>> {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
    let mut tape = Tape::new();
    let mut documents = Vec::new();
    while let Some(result) = stream.next(&mut tape) {
        documents.push(result.map(|()| {
            let document = tape.document(source);
            let mut out = format!("content: {}, ignored: {:?}\n", tape.has_content(), stream.ignored());
            for (index, entry) in tape.entries().iter().enumerate() {
                let _ = writeln!(out, "{entry:?} {:?}", document.node(index as u32).text());
            }
            out
        }));
    }
    documents
}

fn same(source: &str) {
    let (fast, full) = (read(source, Path::Yaml), read(source, Path::Full));
    assert!(fast == full, "{source}\n--- fast\n{fast:#?}\n--- full\n{full:#?}");
}

#[test]
fn constructs_of_machine_written_yaml_are_read_alike() {
    for source in [
        "a: 1\nb: x\n",
        "a:\nb:\n  c: d\n  e:\n",
        "- a\n- b: c\n  d: e\n- - f\n  - g\n-\n- h\n",
        "a:\n- b\n- c: d\n  e:\n  - f\ng: h\n",
        "a:\n  - b\n  - c\nd: e\n",
        "a: x y\n  z\n\n  w\n\n\nb: c\n",
        "a: 'x'\nb: 'it''s'\nc: 'x\n  y\n\n  z'\nd: ''\n",
        "a: \"x\\n\\\"y\"\nb: \"x\n\n y\"\n\"c\": d\n'e': f\n",
        "a: |\n  x\n   y\n\n  z\n\nb: |-\n  x\nc: |+\n  x\n\n\nd: >\n  a\n  b\n\n  c\n   d\n  e\nf: >-\n\n  g\n",
        "a: |\nb: >-\n\nc: |+\n\n\nd: |\n\n  x\n",
        "- |\n x\n- >\n  y\n",
        "a: [] # c\nb: {}\nc: [a, 'b', 1 , \"c\"]\nd: {a: b, 'c': 2}\n",
        "# c\na: b # c\n  # c\n# c\nc: d#e\nf: a:b\n",
        "---\na: 1\n---\nb: 2\n---\n",
        "true: 1\ny: 2\n010: 3\n1.5: 4\n-1: 5\n~x: 6\n",
        "a: 1.0\nb: 1e3\nc: 0x1F\nd: .5\ne: null\nf: ~\ng: yes\nh: 12345678901234567890\n",
        "  a: 1\n  b:\n    c: 2\n",
        "a:\n  b c\n  d\ne:\n  'f'\ng:\n  |\n  h\n",
        "a: x\n  - y\n  -z\nb: -x\nc: -\n",
        "a: b\nc: d",
        "a: |\n  x",
        "a: |+\n  x\n  ",
        "a: |\n  x\n    ",
        "a:",
        "-",
        "a: 'x",
        "a: b: c\n",
        "a:\n - b\n- c\n",
        "a: \tb\n",
        "a: b\t\n",
        "a: b\n\tc\n",
        "a: {{ .Values.x }}\n",
        "a: |\n    \n  x\n",
        "a: |\n \n  x\n \n  y\n",
        "key: &a b\nc: *a\n",
        "a: |2\n   x\n",
        "a: >\n  x\n\n   y\n\n  z\n",
        "a: x # y\n  z\n",
        "a: [x\n  , y]\n",
        "a: .inf\n",
        "a: é\nb: 'é\n é'\n",
    ] {
        same(source);
    }
}

#[test]
fn files_of_the_corpus_are_read_alike() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut folders = vec![corpus.join("crds")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
                compare_file(&path);
            }
        }
    }
}

fn compare_file(path: &std::path::Path) {
    let source = std::fs::read_to_string(path).expect("readable");
    let mut fast = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    let mut full = Stream::with_path(source.as_bytes(), Limits::default(), Path::Full).expect("UTF-8");
    let (mut a, mut b) = (Tape::new(), Tape::new());
    loop {
        let (x, y) = (fast.next(&mut a), full.next(&mut b));
        assert_eq!(x, y, "{}", path.display());
        if x.is_none() {
            break;
        }
        assert_eq!(a.entries(), b.entries(), "{}", path.display());
        let (x, y) = (a.document(&source), b.document(&source));
        assert!((0..x.len() as u32).all(|n| x.node(n).text() == y.node(n).text()), "{}", path.display());
    }
}

/// Lines of block YAML, most of them fitting together.
fn block() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-c]: (x|1|yes|1\\.0|''|\"q\\\\n\"|\\[\\]|\\{\\}|\\[a, b\\]|\\{a: 1\\}|x y|a:b|x#y|x #y|~|- x|it's)",
        2 => "[a-c]:",
        2 => "- ([a-c]|1|- a|a: b|a:|'x'|\\[a\\]|)",
        1 => "[a-c]: [|>][+-]?( # c)?",
        1 => "[a-c]: ['\"]x",
        1 => "(x|y z|x'|x\"|#c|\\\\|&a b|\\*a|<<: x|---|\\.\\.\\.|\\? a|: b|'k': v|\"k\": \"v\")",
        1 => "",
    ];
    proptest::collection::vec((0usize..5, line, any::<bool>()), 1..12).prop_map(|lines| {
        let mut out = String::new();
        let mut depth = 0usize;
        for (step, line, space) in lines {
            depth = match step {
                0 => depth + 2,
                1 => depth.saturating_sub(2),
                2 if space => depth + 1,
                _ => depth,
            };
            out.push_str(&" ".repeat(depth));
            out.push_str(&line);
            if space && step == 4 {
                out.push(' ');
            }
            out.push('\n');
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(kubeshape_corpus::cases(4000)) })]

    #[test]
    fn generated_block_yaml_is_read_alike(source in block()) {
        same(&source);
    }

    #[test]
    fn loose_characters_are_read_alike(source in "[ab \n:#'\"|>\\-\\[\\]{},&*!?%\t\r0-9.~y]{0,40}") {
        same(&source);
    }
}
