//! What a change of definitions does.

use crate::Session;
use kubeshape::diff::{Change, Class, Effort, Proof, definitions, witnesses};
use kubeshape::input::Document;
use kubeshape::schema::Bump;
use kubeshape::smd::ToValue;
use kubeshape::structural::read::Manifest;
use kubeshape::{Cluster, Crd};
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Session {
    /// Returns what changes between the definitions of two texts, for whom, with objects that show it, and the steps of an
    /// upgrade.
    pub fn compare(&self, old: &str, new: &str) -> Value {
        let read =
            |name: &str, text: &str| kubeshape::input::read(name, text.as_bytes(), kubeshape::input::Limits::default());
        let (before, after) = (read("old.yaml", old), read("new.yaml", new));
        let found = before.findings.iter().chain(&after.findings);
        let findings = crate::session::findings(found);
        let (was, is) = (manifests(&before.documents), manifests(&after.documents));
        let (plans_old, plans_new) = (Crd::read_all("old.yaml", old).0, Crd::read_all("new.yaml", new).0);
        let names: BTreeSet<&str> = was.iter().chain(&is).map(|(name, ..)| name.as_str()).collect();
        let all = names.into_iter().map(|name| {
            let of = |side: &[(String, usize, Manifest<'_>)]| side.iter().position(|(own, ..)| own == name);
            match (of(&was), of(&is)) {
                (Some(old), Some(new)) => {
                    let mut out = pair(name, (&before.documents, &was[old]), (&after.documents, &is[new]));
                    let place = |all: &[Crd]| all.iter().position(|crd| crd.name() == name);
                    if let (Some(old), Some(new)) = (place(&plans_old), place(&plans_new)) {
                        out["plan"] = plan(&plans_old[old], &plans_new[new]);
                    }
                    out
                }
                (Some(_), None) => json!({ "name": name, "class": "breaking", "gone": true, "changes": [] }),
                _ => json!({ "name": name, "class": "same", "new": true, "changes": [] }),
            }
        });
        json!({ "definitions": all.collect::<Value>(), "findings": findings })
    }
}

impl Session {
    /// Returns the fields of a kind as another text defines it, in the columns of [`tree`](Session::tree).
    #[allow(clippy::unused_self)]
    pub fn tree_of(&self, text: &str, api_version: &str, kind: &str) -> Value {
        let mut other = Session::default();
        other.set("new.yaml", text.as_bytes());
        other.tree(api_version, kind)
    }
}

/// The definitions of an input by their names, each with the index of its document.
fn manifests(documents: &[Document]) -> Vec<(String, usize, Manifest<'_>)> {
    let mut out = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        for manifest in document.manifests().0 {
            let name = manifest.node.get("metadata").and_then(|metadata| metadata.get("name")?.as_str());
            out.push((name.unwrap_or_default().to_owned(), at, manifest));
        }
    }
    out
}

type Side<'a> = (&'a [Document], &'a (String, usize, Manifest<'a>));

fn pair(name: &str, old: Side<'_>, new: Side<'_>) -> Value {
    let arena = Bump::new();
    let (was, is) = (old.1.2.read(&arena), new.1.2.read(&arena));
    let (Some(was), Some(is)) = (was.value, is.value) else {
        return json!({ "name": name, "error": "one of the definitions cannot be read", "changes": [] });
    };
    let all = definitions(&was, &is);
    let proofs = witnesses(&was, &is, &Effort::default());
    let class = all.iter().map(Change::class).max();
    let mut before = old.0[old.1.1].resolver();
    let mut after = new.0[new.1.1].resolver();
    let changes =
        all.iter().zip(proofs.into_iter().chain(std::iter::repeat(Proof::NotNeeded))).map(|(change, proof)| {
            let effects = change.effects.iter().map(|(consumer, class)| json!([consumer.name(), class.name()]));
            let mut out = json!({
                "code": change.code.to_string(),
                "title": change.code.title(),
                "class": change.class().name(),
                "version": change.version,
                "path": change.path,
                "field": field(&change.path),
                "detail": change.detail,
                "effects": effects.collect::<Value>(),
                "oldLine": before.place(change.old).map(|place| place.line),
                "newLine": after.place(change.new).map(|place| place.line),
            });
            match proof {
                Proof::NotNeeded => {}
                Proof::None(reason) => out["noWitness"] = json!(reason),
                Proof::Witness(witness) => {
                    let arena = Bump::new();
                    out["witness"] = json!({
                        "text": kubeshape::registry::print::yaml(witness.object.to_value(&arena)),
                        "outcome": witness.outcome.to_string(),
                        "errors": witness.errors,
                    });
                }
            }
            out
        });
    let changes: Vec<Value> = changes.collect();
    let counts: Vec<Value> = [Class::Breaking, Class::Risky, Class::Compatible, Class::Cosmetic]
        .into_iter()
        .map(|class| json!([class.name(), all.iter().filter(|change| change.class() == class).count()]))
        .collect();
    json!({ "name": name, "class": class.map_or("same", Class::name), "counts": counts, "changes": changes })
}

/// The path of a change as the tree of fields has it. Items and values are no fields, so it is the one of their list or map.
fn field(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let path = path.replace(".*", "{}");
    let path = path.trim_end_matches("{}").trim_end_matches("[]");
    format!(".{path}")
}

fn plan(old: &Crd, new: &Crd) -> Value {
    match old.upgrade_to(new, &Cluster::default()) {
        Ok(plan) => {
            let steps = plan
                .steps
                .iter()
                .map(|step| json!({ "title": step.action.title(), "why": step.why, "commands": step.commands }));
            json!({ "refused": plan.refused, "safe": plan.is_safe(), "steps": steps.collect::<Value>() })
        }
        Err(error) => json!({ "error": error.to_string() }),
    }
}
