//! Checks of policies, bindings and webhook configurations: as a server validates them on creation, and for probable
//! mistakes.

use super::costs::ObjectCosts;
use crate::locate;
use crate::location::Location;
use kubeshape_input::{Code, Finding};
use kubeshape_policy::{Gvk, Kinds, Release, creation_errors, type_warnings};
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::strict::{Fields, unknown_field};
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The group of policies and webhook configurations.
pub const GROUP: &str = "admissionregistration.k8s.io";
/// The maximum number of findings of one kind about an object.
const MOST: usize = 50;

/// The results of the checks.
#[derive(Debug, Default)]
pub struct Checked {
    /// The findings, in the order of the objects.
    pub findings: Vec<Finding>,
    /// The number of policies, bindings and webhook configurations.
    pub objects: usize,
    /// The number of those that a server refuses.
    pub refused: usize,
    /// What the expressions can cost, in the order of the objects.
    pub costs: Vec<ObjectCosts>,
}

/// Returns whether a node is a policy, a binding or a webhook configuration.
pub fn is_policy(node: Node<'_>) -> bool {
    let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map(|(group, _)| group);
    group == Some(GROUP) && !text("kind").is_empty()
}

/// The objects that may be parameters: their namespaces, by kind and name.
#[derive(Clone, Debug, Default)]
pub struct Others(BTreeMap<(String, String), BTreeSet<String>>);

impl Others {
    /// Adds an object.
    pub fn add(&mut self, node: Node<'_>) {
        let text = |node: Option<Node<'_>>| node.and_then(Node::as_str).unwrap_or_default().to_owned();
        let metadata = |key| text(node.get("metadata").and_then(|metadata| metadata.get(key)));
        let namespaces = self.0.entry((text(node.get("kind")), metadata("name"))).or_default();
        namespaces.insert(metadata("namespace"));
    }

    /// Adds all objects of another set.
    pub fn append(&mut self, other: Others) {
        for (named, namespaces) in other.0 {
            self.0.entry(named).or_default().extend(namespaces);
        }
    }

    /// Returns whether an object can be the parameter of a binding. An empty namespace matches any.
    fn has(&self, kind: &str, name: &str, namespace: &str) -> bool {
        let found = self.0.get(&(kind.to_owned(), name.to_owned()));
        found.is_some_and(|places| namespace.is_empty() || places.contains("") || places.contains(namespace))
    }
}

/// The references of a binding or a policy to one another.
#[derive(Debug)]
struct Named<'l> {
    /// The kind of the policy.
    kind: String,
    /// The name of the policy.
    policy: String,
    location: &'l Location,
    binding: Option<Binding>,
}

#[derive(Debug)]
struct Binding {
    has_param_ref: bool,
    /// The name and namespace of the parameter.
    param: Option<(String, String)>,
}

impl Checked {
    /// Checks policies, bindings and webhook configurations like a server of a release on creation. Other objects are
    /// skipped; objects that may be parameters are passed separately.
    pub fn of(objects: &[Location], others: &Others, kinds: &dyn Kinds, release: Release) -> Checked {
        let mut checked = Checked::default();
        let (mut policies, mut bindings) = (Vec::new(), Vec::new());
        for location in objects.iter().filter(|location| is_policy(location.node())) {
            let arena = Bump::new();
            let value = Value::from_node(location.node(), &arena);
            checked.objects += 1;
            let before = checked.findings.len();
            checked.object(location, value, kinds, release, &arena);
            checked.refused += usize::from(checked.findings.iter().skip(before).any(Finding::is_error));
            let named = Named::of(value, location);
            match named.binding {
                Some(_) => bindings.push(named),
                None if named.kind.ends_with("Policy") => policies.push((named, param_kind(value))),
                None => {}
            }
        }
        checked.unused(&policies, &bindings, others);
        checked
    }

    /// Checks an object by itself.
    fn object<'a>(
        &mut self,
        location: &'a Location,
        value: Value<'a>,
        kinds: &dyn Kinds,
        release: Release,
        arena: &'a Bump,
    ) {
        let node = location.node();
        let gvk = Gvk::of(text(value, "apiVersion"), text(value, "kind"));
        if kinds.kind(&gvk).is_none() {
            let detail = format!("no matches for kind {:?} in version {:?}", gvk.kind, gvk.api_version());
            let mut finding = about(location, "apiVersion", Code::PolicyNotServed, detail, value);
            finding.advice = Some(not_served(&gvk, kinds));
            return self.findings.push(finding);
        }
        let decoded = match kinds.decode(&gvk, value, arena) {
            Ok(decoded) => decoded,
            Err(error) => return self.findings.push(about(location, "", Code::PolicyRefused, error, value)),
        };
        for path in decoded.unknown.iter().take(MOST) {
            let detail = unknown_field(path, Fields::Decoded);
            let found = locate::at_field(node, path);
            let at = location.at(found.key.unwrap_or(found.value));
            self.findings.push(at.finding(Code::ObjectField, detail).of_resource(named(value)));
        }
        for error in creation_errors(decoded.value, release).iter().take(MOST) {
            let text = error.to_string();
            let mut finding = about(location, &error.path, Code::PolicyRefused, text.clone(), value);
            if let Some(mistake) = Mistake::of(&error.detail) {
                finding = mistake.mark(finding, location, &error.path);
                finding.detail = format!("{}: {}", error.path, mistake.message);
                finding.exact = Some(text);
            }
            self.findings.push(finding);
        }
        for warning in type_warnings(decoded.value, kinds, release).iter().take(MOST) {
            let mut finding = about(location, &warning.field, Code::PolicyType, warning.text.trim(), value);
            if let Some(mistake) = Mistake::of(&warning.text) {
                finding = mistake.mark(finding, location, &warning.field);
                finding.detail = format!("{}: {}", warning.field, mistake.message);
                finding.notes.push(format!("for {}", kinds_of(&warning.text).join("; ")));
                finding.exact = Some(warning.text.clone());
            }
            self.findings.push(finding);
        }
        let costs = ObjectCosts::of(location, decoded.value, kinds, release);
        self.findings.extend(costs.warnings());
        self.costs.push(costs);
    }

    /// Reports policies without bindings, bindings without policies, and parameters that are not among the objects.
    fn unused(&mut self, policies: &[(Named<'_>, Option<String>)], bindings: &[Named<'_>], others: &Others) {
        let bound: BTreeSet<_> = bindings.iter().map(Named::policy).collect();
        let known: BTreeMap<_, _> = policies.iter().rev().map(|(policy, kind)| (policy.policy(), kind)).collect();
        for (policy, _) in policies {
            if !bound.contains(&policy.policy()) {
                let detail = format!("no {}Binding names it, so it does nothing", policy.kind);
                self.findings.push(policy.finding("metadata.name", detail));
            }
        }
        for named in bindings {
            let Some(param_kind) = known.get(&named.policy()) else {
                let detail = format!("{} {:?} is not among the inputs", named.kind, named.policy);
                self.findings.push(named.finding("spec.policyName", detail));
                continue;
            };
            let Some(binding) = &named.binding else { continue };
            match (param_kind, &binding.param) {
                (None, _) if binding.has_param_ref => {
                    let detail = "the policy has no paramKind, so paramRef is ignored".to_owned();
                    self.findings.push(named.finding("spec.paramRef", detail));
                }
                (Some(_), _) if !binding.has_param_ref => {
                    let detail = "the policy has a paramKind, and the binding no paramRef: `params` is null".to_owned();
                    self.findings.push(named.finding("spec", detail));
                }
                (Some(kind), Some((name, namespace))) if !others.has(kind, name, namespace) => {
                    let detail = format!("the {kind} {name:?} is not among the inputs");
                    self.findings.push(named.finding("spec.paramRef.name", detail));
                }
                _ => {}
            }
        }
    }
}

impl<'l> Named<'l> {
    fn of(value: Value<'_>, location: &'l Location) -> Named<'l> {
        let kind = text(value, "kind");
        let spec = value.get("spec").unwrap_or(Value::Null);
        let Some(policy_kind) = kind.strip_suffix("Binding") else {
            let name = text(value.get("metadata").unwrap_or(Value::Null), "name");
            return Named { kind: kind.to_owned(), policy: name.to_owned(), location, binding: None };
        };
        let param_ref = spec.get("paramRef").filter(|param_ref| !param_ref.is_null());
        let named = |param_ref: Value<'_>| {
            let name = text(param_ref, "name");
            (!name.is_empty()).then(|| (name.to_owned(), text(param_ref, "namespace").to_owned()))
        };
        let binding = Binding { has_param_ref: param_ref.is_some(), param: param_ref.and_then(named) };
        let policy = text(spec, "policyName").to_owned();
        Named { kind: policy_kind.to_owned(), policy, location, binding: Some(binding) }
    }

    /// Returns the kind and the name of the policy.
    fn policy(&self) -> (&str, &str) {
        (&self.kind, &self.policy)
    }

    fn finding(&self, path: &str, detail: String) -> Finding {
        let arena = Bump::new();
        let value = Value::from_node(self.location.node(), &arena);
        about(self.location, path, Code::PolicyUnused, detail, value)
    }
}

/// Returns the kind of a policy's parameters.
fn param_kind(policy: Value<'_>) -> Option<String> {
    let kind = policy.get("spec")?.get("paramKind")?.get("kind")?.as_str()?;
    Some(kind.to_owned())
}

fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `ValidatingAdmissionPolicy small`
pub(super) fn named(value: Value<'_>) -> String {
    format!("{} {}", text(value, "kind"), text(value.get("metadata").unwrap_or(Value::Null), "name"))
}

fn about(location: &Location, path: &str, code: Code, detail: impl Into<String>, value: Value<'_>) -> Finding {
    let found = locate::at_field(location.node(), path);
    location.at(found.shown()).finding(code, detail).of_resource(named(value))
}

/// Returns advice about a kind that the release does not serve.
fn not_served(gvk: &Gvk, kinds: &dyn Kinds) -> String {
    let versions = ["v1", "v1beta1", "v1alpha1"].map(|version| format!("{GROUP}/{version}"));
    let served = versions.iter().find(|version| kinds.kind(&Gvk::of(version, &gvk.kind)).is_some());
    match served {
        Some(version) => format!("The release serves {version}."),
        None => "`docs/policies.md` says which releases serve the kind.".to_owned(),
    }
}

/// The first error of an expression, parsed from its message.
struct Mistake {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    message: String,
}

impl Mistake {
    /// Finds `ERROR: <input>:LINE:COLUMN: MESSAGE`.
    fn of(text: &str) -> Option<Mistake> {
        let (_, rest) = text.split_once("ERROR: <input>:")?;
        let mut parts = rest.splitn(3, ':');
        let (line, column) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let message = parts.next()?.split("\n |").next()?.trim();
        Some(Mistake { line, column, message: message.to_owned() })
    }

    /// Moves a finding to the error.
    fn mark(&self, mut finding: Finding, location: &Location, path: &str) -> Finding {
        let node = locate::at_field(location.node(), path).value;
        let Some(part) = node.as_str().and_then(|text| self.part(text, is_trimmed(path))) else { return finding };
        let at = location.document().source().finding(finding.code, node.source_of(part), "");
        (finding.place, finding.excerpt, finding.span) = (at.place, at.excerpt, at.span);
        finding
    }

    /// Returns the byte range of the error in an expression: the word at its location.
    fn part(&self, text: &str, is_trimmed: bool) -> Option<Range<usize>> {
        let skipped = if is_trimmed { text.len() - text.trim_start().len() } else { 0 };
        let mut start = skipped;
        let mut lines = text.get(skipped..)?.split_inclusive('\n');
        for _ in 1..self.line {
            start += lines.next()?.len();
        }
        let line = lines.next()?;
        let offset = line.char_indices().nth(self.column.checked_sub(1)?).map_or(line.len(), |(at, _)| at);
        // For a field, the server reports the location of the dot.
        let offset = offset + usize::from(line.get(offset..)?.starts_with('.'));
        let rest = line.get(offset..)?;
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word };
        Some(start + offset..start + offset + length)
    }
}

/// Returns whether the server trims an expression before it compiles it.
fn is_trimmed(path: &str) -> bool {
    path.contains("matchConditions") || path.contains("mutations") || path.contains("auditAnnotations")
}

/// Returns the kinds for which an expression has type errors.
fn kinds_of(warning: &str) -> Vec<&str> {
    warning.lines().filter_map(|line| line.split_once(": ERROR: ")).map(|(kind, _)| kind).collect()
}
