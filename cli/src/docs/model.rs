//! What templates get: the fields of a kind, in JSON.
//!
//! All facts are those of `kubeshape explain` ([`fields`]), with what the explorer adds to each field: how it merges,
//! and what its rules cost.

use super::names::Anchors;
use super::prose;
use crate::args::Nested;
use crate::show::Lifecycles;
use kubeshape::Kind;
use kubeshape_js::Session;
use kubeshape_schema::Bump;
use kubeshape_show::explain::{Field, RULE_IN_WORDS, Rule, fields, is_about_rule, root};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An example with more lines shows only the required fields.
const LONGEST_SAMPLE: usize = 60;
/// The beginning of the anchor of a section: `fields.spec.ports`. Anchors of fields begin with a dot.
const SECTION: &str = "fields";
/// Differences of versions that are listed of each kind.
const MOST_DIFFERENCES: usize = 200;

/// The fields of one version of a kind.
#[derive(Debug)]
pub(super) struct Fields<'k> {
    pub(super) kind: &'k Kind,
    root: Field,
    all: Vec<Field>,
    anchors: Vec<String>,
}

impl<'k> Fields<'k> {
    /// Reads the fields of a kind. `Ok(None)` if no document describes it.
    ///
    /// # Errors
    /// There are too many fields.
    pub(super) fn of(kind: &'k Kind) -> Result<Option<Fields<'k>>, String> {
        let arena = Bump::new();
        let resource = kind.resource_name();
        let Some(document) = kind.openapi(&arena) else { return Ok(None) };
        let gvr = kind.gvr(&resource);
        let read = root(document, gvr).and_then(|root| Ok((root, fields(document, gvr, &[])?)));
        let (root, fields) = read.map_err(|error| error.to_string())?;
        let mut anchors = Anchors::default();
        let anchors = fields.iter().map(|field| anchors.of(&field.path)).collect();
        Ok(Some(Fields { kind, root, all: fields, anchors }))
    }

    /// Returns the first sentence about the kind.
    pub(super) fn summary(&self) -> String {
        prose::first_sentence(&self.root.description)
    }

    /// Returns the kind with its fields. `pages` has its input.
    pub(super) fn page(&self, pages: &mut Session, nested: Nested) -> Value {
        let kind = self.kind;
        let lifecycles = Lifecycles::of(kind);
        let parents = if nested == Nested::Linked { parents(&self.all) } else { Vec::new() };
        let has_fields: BTreeSet<usize> = parents.iter().copied().flatten().collect();
        let section = |at: usize| self.anchors.get(at).map(|anchor| format!("{SECTION}{anchor}"));
        let fields = self.all.iter().zip(&self.anchors).enumerate().map(|(at, (field, anchor))| {
            // Of other fields, the explorer knows nothing more.
            let has_more = is_shared(field) || !field.rules.is_empty() || !field.each_rules.is_empty();
            let known = has_more.then(|| pages.field(kind.api_version(), kind.kind(), at));
            let known = known.filter(|known| known["path"] == field.path).unwrap_or_default();
            let mut out = facts(field, &known);
            let lifecycle = lifecycles.at(&field.pointer).map(|(_, text)| text);
            if let Some(out) = out.as_object_mut() {
                out.insert("path".to_owned(), json!(field.path));
                out.insert("anchor".to_owned(), json!(anchor));
                out.insert("type".to_owned(), json!(field.type_name));
                out.insert("required".to_owned(), json!(field.required));
                out.insert("merge".to_owned(), json!(known["merge"].as_str().filter(|_| is_shared(field))));
                out.insert("lifecycle".to_owned(), json!(lifecycle));
                out.insert("section".to_owned(), json!(has_fields.contains(&at).then(|| section(at)).flatten()));
            }
            out
        });
        let fields: Vec<Value> = fields.collect();
        let mut out = summary(kind);
        if let (Some(out), Value::Object(own)) = (out.as_object_mut(), facts(&self.root, &Value::Null)) {
            out.extend(own);
            if nested == Nested::Linked {
                out.insert("sections".to_owned(), self.sections(&parents, &fields));
            }
            out.insert("fields".to_owned(), fields.into());
            out.insert("example".to_owned(), example(kind, pages));
        }
        out
    }

    /// Returns the objects with their own fields: first the object itself, then nested ones in their order.
    fn sections(&self, parents: &[Option<usize>], fields: &[Value]) -> Value {
        let mut sections: BTreeMap<Option<usize>, Vec<&Value>> = BTreeMap::new();
        for (parent, field) in parents.iter().zip(fields) {
            sections.entry(*parent).or_default().push(field);
        }
        let section = |(parent, own): (Option<usize>, Vec<&Value>)| {
            let of = |all: &[String]| parent.and_then(|at| all.get(at).cloned());
            json!({
                "path": parent.and_then(|at| self.all.get(at)).map(|field| &field.path),
                "field": of(&self.anchors),
                "anchor": of(&self.anchors).map(|anchor| format!("{SECTION}{anchor}")),
                "fields": own,
            })
        };
        sections.into_iter().map(section).collect()
    }

    /// Returns the differences from another version.
    pub(super) fn compared(&self, other: &Fields<'_>) -> Value {
        let by_path = |side: &Fields<'_>| -> BTreeMap<String, usize> {
            side.all.iter().enumerate().map(|(at, field)| (field.path.clone(), at)).collect()
        };
        let (own, theirs) = (by_path(self), by_path(other));
        let only = |side: &Fields<'_>, those: &BTreeMap<String, usize>| -> Vec<String> {
            // Fields below a new field say nothing more. They follow it.
            let mut out: Vec<String> = Vec::new();
            for field in side.all.iter().filter(|field| !those.contains_key(&field.path)) {
                if !out.last().is_some_and(|parent| is_below(&field.path, parent)) {
                    out.push(field.path.clone());
                }
            }
            out
        };
        let (added, removed) = (only(self, &theirs), only(other, &own));
        let pairs = own.iter().filter_map(|(path, at)| {
            let (here, there) = (self.all.get(*at)?, other.all.get(*theirs.get(path)?)?);
            let (after, before) = (statements(here), statements(there));
            let now: Vec<&String> = after.iter().filter(|one| !before.contains(one)).collect();
            let was: Vec<&String> = before.iter().filter(|one| !after.contains(one)).collect();
            let is_same = now.is_empty() && was.is_empty();
            (!is_same).then(|| json!({ "path": path, "anchor": self.anchors.get(*at), "now": now, "was": was }))
        });
        let changed: Vec<Value> = pairs.collect();
        let anchored =
            |path: &String| json!({ "path": path, "anchor": own.get(path).and_then(|at| self.anchors.get(*at)) });
        let cut = |all: Vec<Value>| -> Value { all.into_iter().take(MOST_DIFFERENCES).collect() };
        let left = [added.len(), removed.len(), changed.len()].map(|count| count.saturating_sub(MOST_DIFFERENCES));
        json!({
            "version": other.kind.version_name(),
            "apiVersion": other.kind.api_version(),
            "added": cut(added.iter().map(anchored).collect()),
            "removed": cut(removed.iter().map(|path| json!({ "path": path })).collect()),
            "changed": cut(changed),
            "left": left.iter().sum::<usize>(),
        })
    }
}

/// Returns the index of the field that each field belongs to. A field follows its parent.
fn parents(fields: &[Field]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        let is_parent = |of: &usize| fields.get(*of).is_some_and(|of| is_below(&field.path, &of.path));
        while open.last().is_some_and(|of| !is_parent(of)) {
            open.pop();
        }
        out.push(open.last().copied());
        open.push(at);
    }
    out
}

/// Returns what all lists say about a kind.
pub(super) fn summary(kind: &Kind) -> Value {
    let resource = kind.resource();
    let version = kind.version();
    let names = |all: &[std::sync::Arc<str>]| all.iter().map(|name| json!(**name)).collect::<Value>();
    json!({
        "kind": kind.kind(),
        "apiVersion": kind.api_version(),
        "group": kind.group(),
        "version": kind.version_name(),
        "plural": resource.map(|resource| &*resource.plural),
        "singular": resource.map(|resource| &*resource.singular),
        "shortNames": resource.map_or_else(|| json!([]), |resource| names(&resource.short_names)),
        "categories": resource.map_or_else(|| json!([]), |resource| names(&resource.categories)),
        "scope": resource.map(|resource| format!("{:?}", resource.scope)),
        "subresources": kind.subresources().map_or_else(|| json!([]), names),
        "served": version.map(|version| version.served),
        "stored": version.map(|version| version.storage),
        "deprecated": version.is_some_and(|version| version.deprecated),
        "warning": version.and_then(|version| version.deprecation_warning.as_deref()),
    })
}

/// Whether the field is a list, a map or an object that says how it merges.
fn is_shared(field: &Field) -> bool {
    field.type_name.starts_with("[]")
        || field.type_name.starts_with("map[")
        || field.facts.iter().any(|(name, _)| name == "map type")
}

fn is_below(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.starts_with(['.', '[', '{']))
}

/// Returns the description, the facts and the rules of a field. `known` is what the explorer says of it.
fn facts(field: &Field, known: &Value) -> Value {
    let named = |facts: &[(String, String)]| -> Vec<Value> {
        let own = facts.iter().filter(|(name, _)| !is_about_rule(name));
        own.map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    let mut own = field.facts.clone();
    let default = own.iter().position(|(name, _)| name == "default").map(|at| own.remove(at).1);
    let each = if field.type_name.starts_with("map[") { "each value" } else { "each item" };
    let shares = shares(known);
    let rules = [("", &field.rules), (each, &field.each_rules)].into_iter();
    let rules = rules.flat_map(|(about, rules)| rules.iter().map(move |rule| (about, rule)));
    let rules = rules.map(|(about, rule)| of_rule(about, rule, shares.get(&(about, rule.rule.as_str()))));
    json!({
        "description": prose::blocks(&field.description),
        "summary": prose::first_sentence(&field.description),
        "default": default,
        "facts": named(&own),
        "each": if field.each.is_empty() { Value::Null } else { json!({ "name": each, "facts": named(&field.each) }) },
        "rules": rules.collect::<Vec<Value>>(),
    })
}

/// Returns the shares of the budget that the rules of a field use, by what a rule is about and the rule.
fn shares(known: &Value) -> BTreeMap<(&str, &str), f64> {
    let rules = known["rules"].as_array().into_iter().flatten();
    let shares = rules.filter_map(|rule| {
        let key = (rule["about"].as_str()?, rule["rule"].as_str()?);
        Some((key, rule["cost"]["share"].as_f64()?))
    });
    // Equal rules cost the same.
    shares.collect()
}

fn of_rule(about: &str, rule: &Rule, share: Option<&f64>) -> Value {
    json!({
        "about": about,
        "rule": rule.rule,
        "message": rule.message,
        "messageExpression": rule.message_expression,
        "reason": rule.reason,
        "words": rule.words,
        "share": share.map(|share| percent(*share)),
    })
}

/// Returns a share in percent.
fn percent(share: f64) -> String {
    if share < 0.01 { "less than 1%".to_owned() } else { format!("{:.0}%", share * 100.0) }
}

/// Returns an example that a server accepts: with all fields if it is short.
fn example(kind: &Kind, pages: &Session) -> Value {
    let sample = |is_maximal| {
        let sample = pages.sample(kind.api_version(), kind.kind(), is_maximal);
        let is_valid = sample["problems"].as_array().is_some_and(Vec::is_empty);
        sample["text"].as_str().filter(|_| is_valid).map(str::to_owned)
    };
    let maximal = sample(true).filter(|text| text.lines().count() <= LONGEST_SAMPLE);
    // Servers may have more rules for built-in kinds than their documents.
    let is_proven = kind.definition().is_custom_resource();
    let (text, is_maximal) = match maximal {
        Some(text) => (Some(text), true),
        None => (sample(false), false),
    };
    text.map_or(Value::Null, |text| json!({ "text": text, "all": is_maximal, "proven": is_proven }))
}

/// Returns what a schema says of a field, each fact in a line.
fn statements(field: &Field) -> Vec<String> {
    let mut out = vec![format!("type: {}", field.type_name)];
    out.extend(field.required.then(|| "required".to_owned()));
    let fact = |(name, value): &(String, String)| format!("{name}: {value}");
    // Fields that are required are compared themselves, and the words of a rule differ with the rule.
    let is_compared = |(name, _): &&(String, String)| name != "required fields" && name != RULE_IN_WORDS;
    out.extend(field.facts.iter().filter(is_compared).map(fact));
    out.extend(field.each.iter().map(|each| format!("each {}", fact(each))));
    out.extend(field.each_rules.iter().map(|rule| format!("each rule: {}", rule.rule)));
    out
}
