//! OpenAPI documents of Kubernetes with the constraints that its Go code checks.
//!
//! The documents of a server have types, and almost no constraints. This module adds them from three sources:
//! - the rules and defaults of the overlay, as far as they are data;
//! - `constraints/*.yaml` of `kubeshape-builtin`: what a schema can say of the checks that are Go code here, too;
//! - the table of kinds: the form of their names.
//!
//! A file of `constraints/` has definitions. The members of a definition are:
//!
//! | member | meaning |
//! |---|---|
//! | `fields` | keywords of fields: `enum`, `minimum`, `maxItems` and others; `form: NAME` is a pattern with a length; `required: true` |
//! | `one of: [a, b]` | exactly one of the fields is set; with `none: allowed`, at most one |
//! | `rules` | rules in CEL: `rule`, `message`, `reason`, `field` |
//!
//! The name of a field may end in `[]` or `{}`: its items or values. `since: 1.34` and `until: 1.35` limit a field or
//! a rule to releases. Constraints hold for objects with defaults, and for values that a request changes.

mod defaults;
mod edit;
mod form;
mod rules;

use super::{Steps, read};
use crate::Release;
use crate::builtin::Naming;
use crate::builtin::kinds;
use crate::literal::Literal;
use edit::{Schemas, set};
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_schema::Code;
use kubeshape_value::{Bump, Value};
use kubeshape_yaml::{Node, Tape};
use std::collections::BTreeMap;

/// A document with constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The document, as JSON.
    pub document: String,
    /// What it does not say, by definition.
    pub unsaid: Vec<Unsaid>,
}

/// A default or a rule that a document with constraints does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsaid {
    /// The name of the definition: `io.k8s.api.core.v1.Pod`.
    pub definition: String,
    /// [`DefaultUnsaid`](Code::DefaultUnsaid) or [`RuleUnsaid`](Code::RuleUnsaid).
    pub code: Code,
    /// What is missing.
    pub detail: String,
}

/// The constraints of a release.
#[derive(Debug)]
pub struct Constraints {
    release: Release,
    /// How often the definitions of the release refer to a definition. Lists of kinds are left out.
    uses: BTreeMap<String, usize>,
    /// The overlay, by the short name of the definition.
    overlay: Vec<(String, Steps)>,
    files: Vec<(&'static str, Tape)>,
}

impl Constraints {
    /// Reads the constraints of a release. This unpacks the documents of the release.
    pub fn new(release: Release) -> Constraints {
        let mut overlay = Vec::new();
        read::each_of(&kubeshape_builtin::OVERLAY, |_, name, node| {
            overlay.push((name.to_owned(), read::steps_of(node, release, &mut Vec::new())));
        });
        let files = kubeshape_builtin::CONSTRAINTS.iter().filter_map(|(_, text)| Some((*text, edit::read(text)?)));
        let known = BuiltInDocuments::try_from(release).unwrap_or_else(|_| {
            // The oldest documents are the nearest to those of older releases.
            BuiltInDocuments::all().next().unwrap_or_else(BuiltInDocuments::newest)
        });
        Constraints { release, uses: edit::uses(&known.api().definitions()), overlay, files: files.collect() }
    }
}

impl Constraints {
    /// Adds the constraints to an OpenAPI v3 document of the release. `None` if it is not a document with schemas.
    ///
    /// # Example
    /// ```
    /// use kubeshape_validate::{Release, builtin::Constraints};
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let document = r#"{"openapi":"3.0.0","components":{"schemas":{"io.k8s.api.core.v1.GRPCAction":
    ///     {"type":"object","properties":{"port":{"type":"integer","default":0}}}}}}"#;
    /// let mut tape = Tape::new();
    /// Stream::new(document.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let root = tape.document(document).root().unwrap();
    /// let published = Constraints::new(Release::NEWEST).add(root).unwrap();
    /// assert!(published.document.contains(r#""port":{"maximum":65535,"minimum":1,"type":"integer"}"#));
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn add(&self, document: Node<'_>) -> Option<Published> {
        let arena = Bump::new();
        let root = Value::from_node(document, &arena).as_map()?;
        let components = root.get("components")?.as_map()?;
        let schemas = Schemas::new(components.get("schemas")?.as_map()?, &self.uses, &arena);
        let mut work = Work { schemas, arena: &arena, release: self.release, unsaid: Vec::new() };
        work.overlay(&self.overlay);
        for (text, tape) in &self.files {
            for (name, node) in tape.document(text).root().into_iter().flat_map(Node::pairs) {
                work.constrain(name.text(), node);
            }
        }
        work.metadata();
        let Work { schemas, mut unsaid, .. } = work;
        let components = components.with("schemas", Some(schemas.finish()), &arena);
        let root = root.with("components", Some(Value::Map(components)), &arena);
        let mut out = Vec::new();
        Value::Map(root).write_json(&mut out).ok()?;
        unsaid.sort();
        unsaid.dedup();
        Some(Published { document: String::from_utf8(out).ok()?, unsaid })
    }
}

/// A document on which constraints are put.
struct Work<'a> {
    schemas: Schemas<'a>,
    arena: &'a Bump,
    release: Release,
    unsaid: Vec<Unsaid>,
}

impl<'a> Work<'a> {
    fn unsaid(&mut self, definition: &str, code: Code, detail: String) {
        self.unsaid.push(Unsaid { definition: definition.to_owned(), code, detail });
    }

    /// Returns whether a field or a rule is part of the release.
    fn applies(&self, node: Node<'_>) -> bool {
        let minor = self.release.minor();
        read::minor(node, "since").is_none_or(|since| since <= minor)
            && read::minor(node, "until").is_none_or(|until| minor <= until)
    }

    /// Adds the defaults and rules of the overlay.
    fn overlay(&mut self, overlay: &[(String, Steps)]) {
        for (name, steps) in overlay {
            if let Some(definition) = self.schemas.find(name) {
                self.defaults(definition, &steps.defaults);
                self.rules(definition, &steps.rules);
            }
        }
    }

    /// Adds the constraints of a definition, if the document has it.
    fn constrain(&mut self, short: &str, node: Node<'_>) {
        let Some(definition) = self.schemas.find(short) else { return };
        for (key, facts) in node.get("fields").into_iter().flat_map(Node::pairs) {
            if self.applies(facts) {
                self.field(definition, key.text(), facts);
            }
        }
        let members: Vec<&str> = node.get("one of").into_iter().flat_map(Node::items).map(Node::text).collect();
        if !members.is_empty() {
            self.one_of(definition, &members, node.get("none").is_some());
        }
        for rule in node.get("rules").into_iter().flat_map(Node::items) {
            if !self.applies(rule) {
                continue;
            }
            let text = |key: &str| rule.get(key).map(Node::text).unwrap_or_default();
            self.rule(definition, text("rule"), text("message"), text("reason"), text("field"));
        }
    }

    /// Adds keywords to a field.
    fn field(&mut self, definition: &'a str, path: &str, facts: Node<'_>) {
        let path = super::check::read::split(path);
        let arena = self.arena;
        let has_length = facts.get("maxLength").is_some();
        let allows_empty = facts.get("minLength").is_none();
        let is_edited = self.schemas.edit(definition, &path, |mut schema| {
            for (key, value) in facts.pairs() {
                match key.text() {
                    "required" | "since" | "until" => {}
                    "form" => {
                        let Some((pattern, length)) = form::pattern(value.text(), allows_empty) else { continue };
                        schema = set(schema, "pattern", Value::String(arena.alloc_str(&pattern)), arena);
                        if let Some(length) = length.filter(|_| !has_length) {
                            schema = set(schema, "maxLength", Value::Int(length), arena);
                        }
                    }
                    keyword => {
                        schema = set(schema, arena.alloc_str(keyword), Literal::of(value).value(arena), arena);
                    }
                }
            }
            edit::without_zero(schema, arena)
        });
        if let (true, [name], Some(true)) = (is_edited, &*path, facts.get("required").and_then(Node::as_bool)) {
            self.schemas.require(definition, name);
        }
    }

    /// Adds the forms of names and labels to kinds.
    fn metadata(&mut self) {
        let names: Vec<&'a str> = self.schemas.names().collect();
        for definition in names {
            let Some((group, kind)) = self.schemas.kind(definition) else { continue };
            let Some(row) = kinds::find(group, kind) else { continue };
            if self.schemas.is_embedded(definition) {
                let detail = "names and labels: the kind is also a part of other kinds, where they are not checked";
                self.unsaid(definition, Code::RuleUnsaid, detail.to_owned());
                continue;
            }
            let (name, prefix) = ("self.metadata.name", "self.metadata.generateName");
            let rule = format!("has(self.metadata) && (has({name}) || has({prefix}))");
            self.rule(definition, &rule, "name or generateName is required", "FieldValueRequired", ".metadata.name");
            let given = format!("!has(self.metadata) || !has({name})");
            let (rule, message) = match row.naming.form(self.release) {
                Some(form) => {
                    let (pattern, length) = form::pattern(form, false).unwrap_or_default();
                    let length = length.unwrap_or(253);
                    let rule = format!("{given} || size({name}) <= {length} && {name}.matches('{pattern}')");
                    (rule, format!("the name must be a {}", form::in_words(form)))
                }
                None if row.naming == Naming::PathSegment => {
                    let rule = format!("{given} || !({name} in ['.', '..']) && !{name}.matches('[/%]')");
                    (rule, "may not be '.' or '..', and may not contain '/' or '%'".to_owned())
                }
                None => {
                    let detail = "the form of names cannot be expressed in a schema".to_owned();
                    self.unsaid(definition, Code::RuleUnsaid, detail);
                    continue;
                }
            };
            self.rule(definition, &rule, &message, "", ".metadata.name");
            let labels = "self.metadata.labels";
            let (key, _) = form::pattern("qualified name", false).unwrap_or_default();
            let (value, length) = form::pattern("label value", true).unwrap_or_default();
            let rule = format!(
                "!has(self.metadata) || !has({labels}) || {labels}.all(key, key.matches('{key}') && size({labels}[key]) <= \
                 {} && {labels}[key].matches('{value}'))",
                length.unwrap_or(63)
            );
            self.rule(definition, &rule, "a label has an invalid key or value", "", ".metadata.labels");
        }
    }
}

impl Naming {
    /// Returns the form of names, as far as a pattern can express it.
    fn form(self, release: Release) -> Option<&'static str> {
        match self {
            Naming::Subdomain => Some("dns1123 subdomain"),
            Naming::ServiceLabel if release.minor() < 36 => Some("dns1035 label"),
            Naming::Label | Naming::ServiceLabel => Some("dns1123 label"),
            Naming::PathSegment | Naming::Address | Naming::GroupResource => None,
        }
    }
}

#[cfg(test)]
mod tests;
