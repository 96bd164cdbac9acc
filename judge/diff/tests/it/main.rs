//! The changes of definitions, and their class for each consumer.
#![allow(clippy::unwrap_used)]

mod laws;
mod ownership;
mod plans;
mod upgrades;
mod witnesses;

use kubeshape_diff::{Change, Class, Consumer, definitions};
use kubeshape_schema::Bump;
use kubeshape_structural::{Crd, read};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fmt::Write;

fn crd(rest: &str, schema: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: tabs.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: tabs, kind: Tab, shortNames: [tb]}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{a: {schema}}}}}}}
{rest}"
    )
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    with_definitions(old, new, definitions)
}

/// Reads two definitions.
fn with_definitions<T>(old: &str, new: &str, then: impl FnOnce(&Crd<'_>, &Crd<'_>) -> T) -> T {
    let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
    Stream::new(old.as_bytes(), Limits::default()).unwrap().next(&mut old_tape).unwrap().unwrap();
    Stream::new(new.as_bytes(), Limits::default()).unwrap().next(&mut new_tape).unwrap().unwrap();
    let arena = Bump::new();
    let read = |root| {
        let read = read::read(root, &arena);
        read.value.unwrap_or_else(|| panic!("{:?}", read.notes))
    };
    let (old, new) = (read(old_tape.document(old).root().unwrap()), read(new_tape.document(new).root().unwrap()));
    then(&old, &new)
}

/// Returns the pairs of `corpus/diff`: name, old definition, new definition, and the expected changes.
fn pairs() -> Vec<(String, String, String, Vec<String>)> {
    let folder = kubeshape_corpus::folder().join("diff");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let expected = text.lines().filter_map(|line| line.strip_prefix("# ").map(str::to_owned)).collect();
        let (old, new) = text.split_once("---\n").unwrap();
        (path.display().to_string(), old.to_owned(), new.to_owned(), expected)
    };
    paths.iter().map(read).collect()
}

#[test]
fn changes_of_schemas() {
    let pairs = pairs();
    assert!(pairs.len() >= 120, "{}", pairs.len());
    for (name, old, new, expected) in pairs {
        let line = |change: &Change| format!("{} {}: {}", change.code, change.path, change.class());
        let found: Vec<String> = changes(&old, &new).iter().map(line).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(changes(&old, &old), [], "{name}");
        assert_eq!(changes(&new, &new), [], "{name}");
    }
}

#[test]
fn changes_of_definitions() {
    let second = |served: bool| {
        format!(
            "  - name: v2\n    served: {served}\n    storage: false\n    schema: {{openAPIV3Schema: {{type: object}}}}\n"
        )
    };
    let plain = crd("", "{type: string}");
    let status = plain.replace("    storage: true\n", "    storage: true\n    subresources: {status: {}}\n");
    let stored = crd(&second(true).replace("storage: false", "storage: true"), "{type: string}").replacen(
        "storage: true",
        "storage: false",
        1,
    );
    let with_status = |text: &str| text.replace("properties: {", "properties: {status: {type: object}, ");
    let (seen, seen_with_status) = (with_status(&plain), with_status(&status));
    let cases: [(&str, &str, &[&str]); 11] = [
        (&plain, &crd(&second(true), "{type: string}"), &["KS8425 v2: meta compatible"]),
        (&crd(&second(true), "{type: string}"), &plain, &["KS8424 v2: storage risky, meta breaking"]),
        (&crd(&second(true), "{type: string}"), &crd(&second(false), "{type: string}"), &["KS8424 v2: meta breaking"]),
        (&crd(&second(true), "{type: string}"), &stored, &["KS8426 : storage risky"]),
        (&stored, &plain, &["KS8424 v2: storage breaking, meta breaking", "KS8426 : storage risky"]),
        // There is no status that a client could write.
        (&plain, &status, &["KS8429 v1: writers compatible, meta compatible"]),
        (&seen, &seen_with_status, &["KS8429 v1: writers breaking, meta compatible"]),
        (&seen_with_status, &seen, &["KS8429 v1: writers breaking, meta breaking"]),
        (
            &plain,
            &plain.replace("kind: Tab", "kind: Tub"),
            &["KS8427 : writers breaking, meta breaking", "KS8427 : meta breaking", "KS8428 : meta risky"],
        ),
        (&plain, &plain.replace("Namespaced", "Cluster"), &["KS8427 : meta breaking"]),
        (&plain, &plain.replace(", shortNames: [tb]", ""), &["KS8428 : meta risky"]),
    ];
    for (old, new, expected) in cases {
        let line = |change: &Change| {
            let effects: Vec<String> = change.effects.iter().map(|(whom, class)| format!("{whom} {class}")).collect();
            format!("{} {}: {}", change.code, change.version, effects.join(", "))
        };
        let found: Vec<String> = changes(old, new).iter().map(line).collect();
        assert_eq!(found, expected, "{old}\n{new}");
    }
}

/// A server refuses a duplicate version. The first version of the name is compared, on both sides.
#[test]
fn a_duplicate_version_is_compared_once() {
    let twice = crd(
        "  - {name: v1, served: true, storage: false, \
         schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}\n",
        "{type: string}",
    );
    assert_eq!(twice.matches("name: v1").count(), 2, "{twice}");
    assert_eq!(changes(&twice, &twice), []);
}

#[test]
fn a_change_has_a_class_for_each_affected_consumer() {
    let found = changes(&crd("", "{type: string}"), &crd("", "{type: string, maxLength: 3}"));
    assert_eq!(found[0].class_for(Consumer::Storage), Some(Class::Risky));
    assert_eq!(found[0].class_for(Consumer::Writers), Some(Class::Breaking));
    assert_eq!(found[0].class_for(Consumer::Readers), None);
    assert_eq!(found[0].class(), Class::Breaking);
    assert_eq!(found[0].detail, "maxLength 3 added");
}

#[test]
fn a_default_is_risky_for_writers_if_something_validates_the_value_around_it() {
    let object = |keyword: &str, default: &str| {
        crd(
            "",
            &format!("{{type: object, {keyword}properties: {{b: {{type: string{default}}}, c: {{type: string}}}}}}"),
        )
    };
    let cases = [
        ("", Class::Compatible),
        ("not: {required: [b]}, ", Class::Risky),
        ("oneOf: [{required: [b]}, {required: [c]}], ", Class::Risky),
        ("maxProperties: 1, ", Class::Risky),
        ("x-kubernetes-validations: [{rule: '!has(self.b)'}], ", Class::Risky),
    ];
    for (keyword, expected) in cases {
        let found = changes(&object(keyword, ""), &object(keyword, ", default: x"));
        assert_eq!(found.len(), 1, "{keyword}: {found:?}");
        assert_eq!(found[0].class_for(Consumer::Writers), Some(expected), "{keyword}: {found:?}");
    }
    // In a list of type map, only the keys matter.
    let list = |fields: &str| {
        let item = format!("{{type: object, required: [k], properties: {{k: {{type: string}}, {fields}}}}}");
        crd(
            "",
            &format!("{{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {item}}}"),
        )
    };
    for (name, expected) in [("m", Class::Compatible), ("l", Class::Risky)] {
        let with = |default: &str| {
            let other = if name == "l" { "m" } else { "l" };
            list(&format!("{name}: {{type: string, default: {default}}}, {other}: {{type: string, default: y}}"))
        };
        let found = changes(&list("m: {type: string}, l: {type: string}"), &with("x"));
        let change = found.iter().find(|change| change.path == format!("a[].{name}")).unwrap();
        assert_eq!(change.class_for(Consumer::Writers), Some(expected), "{found:?}");
    }
}

#[test]
fn large_definitions_take_linear_time() {
    // A long name would be part of the path of every field below it.
    let fields = |keyword: &str| {
        let fields: Vec<String> = (0..2_000).map(|at| format!("f{at}: {{type: string, {keyword}}}")).collect();
        format!(
            "{{type: object, properties: {{{}: {{type: object, properties: {{{}}}}}}}}}",
            "n".repeat(1_000),
            fields.join(", ")
        )
    };
    let changes = changes(&crd("", &fields("maxLength: 3")), &crd("", &fields("maxLength: 2")));
    assert_eq!(changes.len(), 2_000);
    assert!(changes.iter().all(|change| change.path.chars().count() < 300));
    // Long lists are looked up, and some of their values are named.
    let values = |letter: char| (0..50_000).map(|at| format!("{letter}{at}")).collect::<Vec<_>>().join(", ");
    let list = |letter: char| format!("{{type: string, enum: [{}]}}", values(letter));
    let changes = self::changes(&crd("", &list('p')), &crd("", &list('q')));
    assert_eq!(
        changes[0].detail,
        r#"no longer accepted: "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" and 49992 more"#
    );
}

#[test]
fn logic_stays_within_its_limits() {
    // Branches are nested, and all of them have patterns that have many states together.
    let branches = |depth: usize, letter: char| {
        let mut inner = format!("{{pattern: '[pq]*{letter}[pq]{{300}}$'}}");
        for level in 0..depth {
            let all: Vec<String> =
                (0..12).map(|at| format!("{{minLength: {at}, anyOf: [{inner}, {{maxLength: {level}}}]}}")).collect();
            if level == depth - 1 {
                return format!("{{type: string, anyOf: [{}]}}", all.join(", "));
            }
            inner = all[level].clone();
        }
        inner
    };
    let start = std::time::Instant::now();
    let found = changes(&crd("", &branches(8, 'p')), &crd("", &branches(8, 'q')));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].class_for(Consumer::Writers) >= Some(kubeshape_diff::Class::Risky));
    // Long lists of branches.
    let many = |letter: char| {
        let all: Vec<String> = (0..2_000).map(|at| format!("{{enum: [{letter}{at}]}}")).collect();
        format!("{{type: string, oneOf: [{}]}}", all.join(", "))
    };
    assert_eq!(changes(&crd("", &many('p')), &crd("", &many('q'))).len(), 1);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Returns the marked part: the side, the line, and the text of the key or item.
fn mark(change: &Change, old: &str, new: &str) -> String {
    let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
    Stream::new(old.as_bytes(), Limits::default()).unwrap().next(&mut old_tape).unwrap().unwrap();
    Stream::new(new.as_bytes(), Limits::default()).unwrap().next(&mut new_tape).unwrap().unwrap();
    let (was, is) = (old_tape.document(old), new_tape.document(new));
    let (side, source, node) = match (change.new_part(is), change.old_part(was)) {
        (Some((key, _)), _) => ("new", new, key),
        (None, Some((key, _))) => ("old", old, key),
        (None, None) => ("new", new, is.node(change.new)),
    };
    let span = node.span();
    let line = source[..span.start].matches('\n').count() + 1;
    let text: String = source[span].lines().next().unwrap_or_default().chars().take(40).collect();
    format!("{} {}: {side}:{line} {text}", change.code, change.path)
}

/// `corpus/diff/marks.txt` has the line that each change marks. `UPDATE_EXPECT=1` writes it again.
#[test]
fn each_change_marks_what_changed() {
    let mut marks = String::new();
    for (name, old, new, _) in pairs() {
        let name = name.rsplit('/').next().unwrap_or_default();
        for change in changes(&old, &new) {
            writeln!(marks, "{name} {}", mark(&change, &old, &new)).unwrap();
        }
    }
    let path = kubeshape_corpus::folder().join("diff/marks.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &marks).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (found, expected) in marks.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(marks.lines().count(), expected.lines().count());
}

#[test]
fn a_change_marks_its_keyword_on_its_own_side() {
    let plain = "{description: a, type: string}";
    let cases = [
        (plain, "{description: a, maxLength: 255, type: string}", "new maxLength"),
        ("{description: a, maxLength: 255, type: string}", plain, "old maxLength"),
        (plain, "{description: a, type: string, enum: [b]}", "new enum"),
        ("{type: string, enum: [b, c]}", "{type: string, enum: [b]}", "old c"),
        ("{type: object, properties: {b: {type: string}}}", "{type: object}", "old b"),
    ];
    for (old, new, expected) in cases {
        let (old, new) = (crd("", old), crd("", new));
        let marks: Vec<String> = changes(&old, &new).iter().map(|change| mark(change, &old, &new)).collect();
        let (side, text) = expected.split_once(' ').unwrap();
        let found =
            marks.iter().any(|mark| mark.contains(&format!(": {side}:")) && mark.ends_with(&format!(" {text}")));
        assert!(found, "{marks:?}, not {expected}");
    }
}

#[test]
fn many_changes_are_marked_in_linear_time() {
    let many = |letter: char| {
        let names: Vec<String> = (0..20_000).map(|at| format!("{letter}{at}")).collect();
        let all: Vec<String> = names.iter().map(|name| format!("{name}: {{type: string}}")).collect();
        format!("{{type: object, required: [{}], properties: {{{}}}}}", names.join(", "), all.join(", "))
    };
    let (old, new) = (crd("", &many('p')), crd("", &many('q')));
    let changes = changes(&old, &new);
    let mut tapes = [Tape::new(), Tape::new()];
    for (tape, source) in tapes.iter_mut().zip([&old, &new]) {
        Stream::new(source.as_bytes(), Limits::default()).unwrap().next(tape).unwrap().unwrap();
    }
    let [was, is] = [tapes[0].document(&old), tapes[1].document(&new)];
    // Each change begins at its field, or marks an item near the beginning of a list: no long search is needed.
    for change in &changes {
        for (at, document) in [(change.old, was), (change.new, is)] {
            let searched = change.part.first().map_or(0, |first| match first.as_str() {
                "required" => change.part[1].parse().unwrap(),
                _ => document.node(at).len(),
            });
            assert!(searched <= 1000, "{change:?}");
        }
    }
    let marked = changes.iter().filter(|change| change.old_part(was).is_some() || change.new_part(is).is_some());
    assert_eq!(marked.count(), changes.len());
}

#[test]
fn all_versions_share_the_limits_of_comparing_patterns() {
    let definition = |letter: char| {
        let version = |at: usize| {
            format!(
                "  - name: v{at}\n    served: true\n    storage: false\n    schema: {{openAPIV3Schema: {{type: object, properties: \
                 {{a: {{type: string, pattern: '[pq]*{letter}[pq]{{{}}}$'}}}}}}}}\n",
                300 + at
            )
        };
        crd(&(2..60).map(version).collect::<String>(), "{type: string}")
    };
    let start = std::time::Instant::now();
    let found = changes(&definition('p'), &definition('q'));
    assert_eq!(found.len(), 58);
    // One alone takes about a second.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
