//! Comparison of definitions in memory.

use super::{located, of_finding};
use crate::definitions::Definitions;
use crate::rows::{Answer, Made, Row};
use kubeshape_diff::{Change, Class, Consumer, definitions};
use kubeshape_input::{Document, Finding, Limits};
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_structural::read::Manifest;
use std::collections::BTreeSet;

/// Compares the definitions of a row.
pub(crate) fn answer(row: Row<'_>) -> Answer {
    let mut findings = Vec::new();
    let mut read =
        |name: &str, text| Definitions::of_text(name, text, Limits::default(), |it| findings.push(it.clone()));
    let (old, new) = (read(&format!("{}@old", row.name), row.old), read(row.name, row.text));
    let mut out = Answer::new("same", findings);
    let mut worst: Option<Class> = None;
    let names: BTreeSet<&str> = old.names().chain(new.names()).collect();
    for name in names {
        let class = match (old.get(name), new.get(name)) {
            (Some(was), Some(is)) => pair(name, was, is, &mut out.findings),
            (Some((document, manifest)), None) => {
                let change = super::removal(&manifest);
                let place =
                    || located(&mut document.resolver().of_resource(name), &change, change.old, Change::old_part);
                out.findings.push(of_finding(&change, &change.effects, place(), place()));
                Some(Class::Breaking)
            }
            _ => None,
        };
        let text = class.map_or("same", Class::name).to_owned();
        out.results.push(Made { resource: name.to_owned(), version: String::new(), shape: "class", text });
        worst = worst.max(class);
    }
    out.verdict = worst.map_or("same", Class::name);
    if out.findings.iter().any(Finding::is_error) && worst.is_none() {
        out.verdict = "refused";
    }
    out
}

/// Compares two definitions. Returns the class of the worst change.
fn pair(
    name: &str,
    old: (&Document, Manifest<'_>),
    new: (&Document, Manifest<'_>),
    findings: &mut Vec<Finding>,
) -> Option<Class> {
    let arena = Bump::new();
    let was = definition(name, old, &arena, findings)?;
    let is = definition(name, new, &arena, findings)?;
    let (mut before, mut after) = (old.0.resolver().of_resource(name), new.0.resolver().of_resource(name));
    let mut worst = None;
    for change in definitions(&was, &is) {
        let effects: &[(Consumer, Class)] = &change.effects;
        let was = located(&mut before, &change, change.old, Change::old_part);
        let is = located(&mut after, &change, change.new, Change::new_part);
        findings.push(of_finding(&change, effects, was, is));
        worst = worst.max(effects.iter().map(|(_, class)| *class).max());
    }
    worst
}

fn definition<'a>(
    name: &str,
    (document, manifest): (&'a Document, Manifest<'a>),
    arena: &'a Bump,
    findings: &mut Vec<Finding>,
) -> Option<Crd<'a>> {
    let read = manifest.read(arena);
    if read.value.is_none() {
        let mut resolver = document.resolver().of_resource(name);
        findings.extend(read.notes.iter().map(|note| resolver.finding(note)));
    }
    read.value
}
