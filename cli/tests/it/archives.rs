//! Archives as inputs: packed charts, and hostile archives.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd};
use std::io::Write;

/// Returns an archive of these members; a name that begins with `->` is a link.
fn packed(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        let (name, is_link) = name.strip_prefix("->").map_or((*name, false), |name| (name, true));
        // `set_path` refuses names that lead out of the archive.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        if is_link {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        archive.append(&header, *bytes).unwrap();
    }
    gzip(&archive.into_inner().unwrap())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Checks the definitions of an archive. Returns what is printed.
fn checked(bytes: &[u8]) -> (Run, String) {
    let folder = Folder::new();
    folder.write("a.tgz", bytes);
    let run = folder.run("check a.tgz -v");
    let words = format!("{} {}", run.words(), run.words_out());
    (run, words)
}

#[test]
fn a_packed_chart_is_read_like_a_folder() {
    let (one, two, three) = (crd("widgets", &["v1"]), crd("tabs", &["v1"]), crd("boxes", &["v1"]));
    let nested = packed(&[("sub/Chart.yaml", b"name: sub"), ("sub/crds/b.yaml", two.as_bytes())]);
    let (run, words) = checked(&packed(&[
        ("web/Chart.yaml", b"apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("web/values.yaml", b"replicas: 1\n"),
        ("web/README.md", b"text"),
        ("./web/crds/a.yaml", one.as_bytes()),
        ("web/.hidden/c.yaml", b"kind: {"),
        ("web/templates/d.yaml", b"kind: {{ .Values.kind }}"),
        ("web/templates/e.yaml", three.as_bytes()),
        ("web/charts/sub-1.0.0.tgz", &nested),
    ]));
    assert_eq!(run.code, Some(0), "{words}");
    assert!(words.contains("3 CustomResourceDefinitions checked"), "{words}");
    assert!(words.contains("1 file in templates/ must be rendered: `helm template a.tgz"), "{words}");
}

#[test]
fn members_of_an_archive_have_names_and_results() {
    let folder = Folder::new();
    folder.write("a.tgz", packed(&[("web/crds/a.yaml", crd("widgets", &["v1"]).as_bytes()), ("b.yaml", b"kind: {")]));
    let run = folder.run("convert a.tgz --to v3 -o out");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.words().contains("a.tgz/b.yaml:1:"), "{}", run.err);
    let run = folder.run("trim a.tgz --in-place --descriptions none");
    assert_eq!(run.code, Some(1), "{}", run.err);
}

#[test]
fn members_outside_of_the_archive_are_refused() {
    let good = crd("widgets", &["v1"]);
    for name in ["../a.yaml", "a/../../b.yaml", "/etc/a.yaml", "a\\..\\b.yaml"] {
        let (run, words) = checked(&packed(&[("crds/a.yaml", good.as_bytes()), (name, b"kind: A")]));
        assert_ne!(run.code, Some(0), "{name}");
        assert!(words.contains("it has a member "), "{name}: {words}");
    }
}

/// Each folder of a name is asked whether it is read, so long names of many members would be much work.
#[test]
fn long_names_are_refused() {
    for name in ["a/".repeat(600) + "b.yaml", "a/".repeat(70) + "b.yaml", "a".repeat(1_100)] {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(7);
        archive.append_data(&mut header, &name, &b"kind: A"[..]).unwrap();
        let (run, words) = checked(&gzip(&archive.into_inner().unwrap()));
        assert_ne!(run.code, Some(0), "{words}");
        assert!(words.contains("whose name has more than 1024 bytes or 64 folders: \"a"), "{words}");
    }
}

#[test]
fn links_and_duplicates_are_not_read() {
    let good = crd("widgets", &["v1"]);
    let (run, words) = checked(&packed(&[("->crds/a.yaml", b""), ("crds/b.yaml", good.as_bytes())]));
    assert_ne!(run.code, Some(0), "{words}");
    assert!(words.contains("of an archive, only files are read"), "{words}");
    let (run, _) = checked(&packed(&[("->crds/a.txt", b""), ("crds/b.yaml", good.as_bytes())]));
    assert_eq!(run.code, Some(0));
    let (_, words) = checked(&packed(&[("a.yaml", good.as_bytes()), ("./a.yaml", good.as_bytes())]));
    assert!(words.contains("the archive has several members with this name"), "{words}");
}

#[test]
fn bombs_end_at_the_limits() {
    let zeros = vec![0; 8 << 20];
    let names: Vec<String> = (0..33).map(|at| format!("{at}.txt")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &zeros[..])).collect();
    let (_, words) = checked(&packed(&members));
    assert!(words.contains("uncompressed it has more than 268435456 bytes"), "{words}");

    let names: Vec<String> = (0..20_001).map(|at| at.to_string()).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let (_, words) = checked(&packed(&members));
    assert!(words.contains("it has more than 20000 members"), "{words}");

    let mut nested = packed(&[("crds/a.yaml", b"kind: A")]);
    for _ in 0..5 {
        nested = packed(&[("charts/a.tgz", &nested)]);
    }
    let (_, words) = checked(&nested);
    assert!(words.contains("archives nest more than 4 levels"), "{words}");
}

#[test]
fn what_is_not_an_archive_is_refused() {
    // A header that claims more than there is.
    let mut header = tar::Header::new_ustar();
    header.set_path("a.yaml").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    let cut = packed(&[("a.yaml", b"kind: A")])[..60].to_vec();
    for bytes in [b"kind: A".to_vec(), gzip(b"kind: A"), cut, gzip(header.as_bytes())] {
        let (run, words) = checked(&bytes);
        assert_ne!(run.code, Some(0), "{words}");
        assert!(words.contains("it is not a proper archive (tar.gz): "), "{words}");
    }
}
