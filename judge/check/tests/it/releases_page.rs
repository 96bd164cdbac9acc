//! `docs/releases.md` has the tables of this code.

use kubeshape_validate::{Change, Release};
use std::fmt::Write;

/// Returns the rows of a table: the release, and its change.
fn table<'t>(changes: impl Iterator<Item = (Release, &'t str)>) -> String {
    let mut out = String::from("| since | what |\n|---|---|\n");
    for (release, text) in changes {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "| {release} | {text} |").unwrap();
    }
    out
}

#[test]
fn changes_of_rules_are_on_the_page() {
    let rules = table(Change::ALL.iter().map(|change| (change.since(), change.text())));
    kubeshape_corpus::page::check_section("releases.md", "rules", &rules);
    let expressions = table(kubeshape_cel::Change::ALL.iter().map(|change| (change.since(), change.text())));
    kubeshape_corpus::page::check_section("releases.md", "expressions", &expressions);
}
