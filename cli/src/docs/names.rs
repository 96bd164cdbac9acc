//! Names of files, and anchors in pages.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The anchors of a page, each with the number of the last one that has it in front. Each is there once.
#[derive(Debug, Default)]
pub(super) struct Anchors(BTreeMap<String, usize>);

impl Anchors {
    /// Returns the anchor of a field: its path as `kubectl explain` has it, with a dot in front: `.spec.ports.name`. No
    /// heading has an anchor with a dot.
    pub(super) fn of(&mut self, path: &str) -> String {
        let mut out = String::with_capacity(path.len());
        let mut rest = path;
        while let Some(c) = rest.chars().next() {
            if let Some(after) = ["[]", "{}"].iter().find_map(|mark| rest.strip_prefix(mark)) {
                rest = after;
                continue;
            }
            match c {
                '[' if rest.starts_with("[\"") => out.push('.'),
                c if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') => out.push(c),
                ']' | '"' => {}
                c => {
                    let _ = write!(out, "_{:x}", u32::from(c));
                }
            }
            rest = &rest[if rest.starts_with("[\"") { 2 } else { c.len_utf8() }..];
        }
        let Some(last) = self.0.get(&out).copied() else {
            self.0.insert(out.clone(), 1);
            return out;
        };
        let mut n = last + 1;
        let mut name = format!("{out}-{n}");
        while self.0.contains_key(&name) {
            n += 1;
            name = format!("{out}-{n}");
        }
        self.0.insert(out, n);
        self.0.insert(name.clone(), 1);
        name
    }
}

/// Returns the address of a file from another one. Both are relative to the same folder.
pub(super) fn link(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    let (here, there) = (from.rsplit_once('/'), to.rsplit_once('/'));
    let to = match (here, there) {
        (Some((own, _)), Some((folder, name))) if own == folder => name.to_owned(),
        _ => format!("{up}{to}"),
    };
    to.replace('%', "%25")
}

#[cfg(test)]
mod tests {
    use super::{Anchors, link};

    #[test]
    fn anchors_are_paths_of_explain_and_differ() {
        let mut anchors = Anchors::default();
        let paths = [".spec.ports[].name", ".spec.ports{}.name", ".a[\"x.y/é\"][]", ".a b", ".spec.ports.name"];
        let expected = [".spec.ports.name", ".spec.ports.name-2", ".a.x.y_2f_e9", ".a_20b", ".spec.ports.name-3"];
        assert_eq!(paths.map(|path| anchors.of(path)), expected);
    }

    #[test]
    fn a_link_leads_from_one_file_to_another() {
        assert_eq!(link("a/b.md", "a/c.md"), "c.md");
        assert_eq!(link("a/b.md", "d/c%.md"), "../d/c%25.md");
        assert_eq!(link("a/b.md", "index.md"), "../index.md");
        assert_eq!(link("index.md", "a/b.md"), "a/b.md");
    }
}
