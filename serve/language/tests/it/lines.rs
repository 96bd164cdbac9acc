//! Where a line is in its document.

use kubeshape_language::{Step, outline};

/// Returns the steps in short: `spec.containers[0].name`.
fn steps(text: &str, line: usize, column: Option<usize>) -> String {
    let mut out = String::new();
    for step in outline(text, line, column).steps {
        match step {
            Step::Key(key) if out.is_empty() => out = key,
            Step::Key(key) => out = format!("{out}.{key}"),
            Step::Index(number) => out = format!("{out}[{number}]"),
        }
    }
    out
}

#[test]
fn lists_may_be_as_indented_as_their_key() {
    let text = "spec:\n  a:\n  - b: 1\n    c:\n    - d\n  - e: 2\n\n  f: 3\n";
    assert_eq!(steps(text, 4, None), "spec.a[0].c[0]");
    assert_eq!(steps(text, 5, None), "spec.a[1].e");
    assert_eq!(steps(text, 6, Some(4)), "spec.a[1]");
    assert_eq!(steps(text, 6, Some(2)), "spec");
    assert_eq!(steps(text, 7, None), "spec.f");
}

#[test]
fn block_scalars_comments_and_quotes_have_no_keys() {
    let text = "a: |\n  b: 1\n\n  c: 2\n# d: 3\n\"e.f/g\": {h: 1}\ni: 'x: y'\nj:\n";
    assert_eq!(steps(text, 5, None), "e.f/g");
    assert_eq!(steps(text, 8, Some(2)), "j");
    assert_eq!(outline(text, 8, Some(0)).siblings, ["a", "e.f/g", "i", "j"]);
}

#[test]
fn siblings_are_those_of_the_own_mapping() {
    let text = "apiVersion: v1 # c\nkind: 'Pod'\nl:\n- a: 1\n  b: 2\n-\n- c: 3\n  \n  d: 4\n- e: 5\nm: {}\n";
    let found = outline(text, 7, Some(2));
    assert_eq!((found.siblings, found.steps.len()), (vec!["c".to_owned(), "d".to_owned()], 2));
    assert_eq!((found.api_version.as_str(), found.kind.as_str()), ("v1", "Pod"));
    assert!(outline(text, 5, Some(2)).siblings.is_empty());
}
