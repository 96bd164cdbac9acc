//! What is known of a field in addition to what a server publishes.

use crate::definitions::{Checked, of_cost};
use crate::session::finding;
use kubeshape::{Kind, Location};
use kubeshape_show::explain::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Whether a place is the schema at a pointer or a keyword of it, as opposed to something below.
fn is_about(at: &str, schema: &str) -> bool {
    let Some(rest) = at.strip_prefix(schema) else { return false };
    let below = ["/properties/", "/items", "/additionalProperties"];
    rest.is_empty() || rest.starts_with('/') && !below.iter().any(|part| rest.contains(part))
}

/// Where the fields of a kind are declared, for everything that is said about places in the definition.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// By the index of the field.
    pub(crate) declared: Vec<Option<Location>>,
    /// The indexes of fields by the pointers of their schemas. Several fields can have one schema.
    fields: BTreeMap<String, Vec<usize>>,
    /// How many places were looked at.
    steps: usize,
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

/// What the releases say of the fields of a kind, and what its rules cost in the newest release.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Findings by the index of the field.
    findings: BTreeMap<usize, Vec<Value>>,
    /// Costs by the pointer of the schema that has the rules, and the number of the rule.
    costs: BTreeMap<String, BTreeMap<usize, Value>>,
}

impl Said {
    pub(crate) fn of(kind: &Kind, places: &mut Places, checked: &[Checked]) -> Said {
        let mut out = Said::default();
        let Some(checked) = checked.iter().find(|checked| checked.name == kind.definition().name()) else { return out };
        for found in &checked.findings {
            for field in found.pointer.as_deref().map(|at| places.about(at)).unwrap_or_default() {
                out.findings.entry(field).or_default().push(finding(found));
            }
        }
        for (at, cost) in checked.costs.last().into_iter().flat_map(|(_, costs)| costs) {
            let schema = at.strip_suffix(RULES).unwrap_or(at);
            let number = cost.path.strip_suffix("].rule").and_then(|path| path.rsplit_once('[')?.1.parse().ok());
            if let Some(number) = number {
                let costs = out.costs.entry(schema.to_owned()).or_default();
                costs.entry(number).or_insert_with(|| of_cost(at, cost));
            }
        }
        out
    }

    /// What the releases say of a field: errors, warnings and advice.
    pub(crate) fn about(&self, field: usize) -> Value {
        self.findings.get(&field).cloned().unwrap_or_default().into()
    }
}

/// The keyword of rules, in a pointer.
const RULES: &str = "/x-kubernetes-validations";

/// The rules about a field that is declared there, with their costs.
pub(crate) fn rules(declared: &Location, said: &Said) -> Vec<Value> {
    let mut out = Vec::new();
    for (about, declared) in places(declared.clone()) {
        let Some(rules) = declared.node().get("x-kubernetes-validations") else { continue };
        let costs = said.costs.get(&declared.pointer());
        for (at, rule) in rules.items().enumerate() {
            let text = |key: &str| rule.get(key).and_then(|value| value.as_str().map(str::to_owned));
            out.push(json!({
                "about": about,
                "rule": text("rule"),
                "message": text("message"),
                "messageExpression": text("messageExpression"),
                "reason": text("reason"),
                "words": text("rule").and_then(|rule| kubeshape_cel::words(&rule)),
                "cost": costs.and_then(|costs| costs.get(&at)),
            }));
        }
    }
    out
}
