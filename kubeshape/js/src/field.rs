//! What is known of a field in addition to what a server publishes.

use crate::definitions::{Checked, is_about};
use kubeshape::{Kind, Location};
use kubeshape_show::explain::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where the fields of a kind are declared, for everything that is said about places in the definition.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// By the index of the field.
    pub(crate) declared: Vec<Option<Location>>,
    /// The indexes of fields by the pointers of their schemas. Several fields can have one schema.
    fields: BTreeMap<String, Vec<usize>>,
    /// How many places were looked at.
    pub(crate) steps: usize,
}

impl Places {
    pub(crate) fn of(kind: &Kind, fields: &[Field]) -> Places {
        let mut declarations = kind.declarations();
        let declared: Vec<Option<Location>> = fields.iter().map(|field| declarations.at(&field.pointer)).collect();
        let mut by_pointer: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, declared) in declared.iter().enumerate() {
            if let Some(declared) = declared {
                by_pointer.entry(declared.pointer()).or_default().push(at);
            }
        }
        Places { declared, fields: by_pointer, steps: declarations.work() }
    }

    /// The fields that a place is about: those whose schema it is, or has the keyword.
    pub(crate) fn about(&mut self, at: &str) -> Vec<usize> {
        let ends = at.match_indices('/').map(|(end, _)| end).chain([at.len()]);
        let mut out = Vec::new();
        for end in ends {
            self.steps += 1;
            let schema = at.get(..end).unwrap_or_default();
            out.extend(self.fields.get(schema).into_iter().flatten().filter(|_| is_about(at, schema)));
        }
        out
    }

    /// How much work it was.
    #[cfg(test)]
    pub(crate) fn work(&self) -> usize {
        self.steps
    }
}

/// Where rules about a field are declared: at the field, and at the items of a list or the values of a map, which are
/// no fields. Each with what the rules are about.
fn places(own: Location) -> Vec<(&'static str, Location)> {
    let node = own.node();
    let items = node.get("items").map(|items| own.at(items));
    let values = node.get("additionalProperties").filter(|values| values.get("type").is_some());
    let values = values.map(|values| own.at(values));
    let mut out = vec![("", own)];
    out.extend(items.map(|at| ("each item", at)));
    out.extend(values.map(|at| ("each value", at)));
    out
}

/// Whether there are rules about a field, its items or its values.
pub(crate) fn is_ruled(declared: &Location) -> bool {
    let node = declared.node();
    let schemas = [Some(node), node.get("items"), node.get("additionalProperties")];
    schemas.into_iter().flatten().any(|schema| schema.get("x-kubernetes-validations").is_some())
}

/// How stable a field is: the name of the stage, and what its entries in `x-kubernetes-api-lifecycle` say.
pub(crate) fn stage(declared: &Location) -> Option<(String, String)> {
    let node = declared.node();
    let entries = node.get("x-kubernetes-api-lifecycle")?.pairs().map(|(project, entry)| {
        let text = |key: &str| entry.get(key).and_then(|value| value.as_str().map(str::to_owned));
        let stage = text("status").unwrap_or_else(|| "new".to_owned());
        let since = text("minVersion").map(|version| format!(" since {version}")).unwrap_or_default();
        let gate = text("featureGate").map(|gate| format!(", behind the feature gate {gate}")).unwrap_or_default();
        (project.text().to_owned(), stage.clone(), format!("{stage}{since}{gate}"))
    });
    let all: Vec<(String, String, String)> = entries.collect();
    let (_, stage, _) = all.first()?;
    let texts: Vec<String> = all
        .iter()
        .map(|(project, _, text)| if all.len() > 1 { format!("{project}: {text}") } else { text.clone() })
        .collect();
    Some((stage.clone(), texts.join("; ")))
}

/// The rules about a field that is declared there, with their costs.
pub(crate) fn rules(declared: &Location, checked: Option<&Checked>) -> Vec<Value> {
    let mut out = Vec::new();
    for (about, declared) in places(declared.clone()) {
        let Some(rules) = declared.node().get("x-kubernetes-validations") else { continue };
        let schema = declared.pointer();
        for (at, rule) in rules.items().enumerate() {
            let text = |key: &str| rule.get(key).and_then(|value| value.as_str().map(str::to_owned));
            out.push(json!({
                "about": about,
                "rule": text("rule"),
                "message": text("message"),
                "messageExpression": text("messageExpression"),
                "reason": text("reason"),
                "words": text("rule").and_then(|rule| kubeshape_cel::words(&rule)),
                "cost": checked.and_then(|checked| checked.cost(&schema, at)),
            }));
        }
    }
    out
}
