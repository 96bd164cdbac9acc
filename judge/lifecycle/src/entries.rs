//! Checks the entries of `x-kubernetes-api-lifecycle` in a document: which are malformed, and which fields of a
//! CustomResourceDefinition are not generally available in a release.

use crate::annotate::{self, EXTENSION};
use crate::roots::{Root, roots, versions};
use crate::tag::{KUBERNETES, Key};
use crate::warn::{Cluster, Kind, MAX_WARNINGS, printable};
use crate::{Stage, Version};
use kubeshape_input::{Code, Document, Finding, Note};
use kubeshape_schema::read::describe;
use kubeshape_yaml::{Kind as Type, Node};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of characters of a string in a message. Names and values of a document may be longer.
pub const LONGEST: usize = 400;

/// Shortens a string and removes control characters.
fn short(text: &str) -> String {
    let mut out = printable(text);
    if let Some((end, _)) = out.char_indices().nth(LONGEST - 1) {
        out.truncate(end);
        out.push('…');
    }
    out
}

/// Returns the malformed entries of a document, in source order, at most [`MAX_WARNINGS`]. The valid parts of such an
/// entry are still used.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::entries;
/// let text = b"swagger: '2.0'
/// definitions:
///   Frobber:
///     properties:
///       width: {type: integer, x-kubernetes-api-lifecycle: {kubernetes: {minVersion: 1.20, status: alpha}}}
/// ";
/// let input = kubeshape_input::read("a.yaml", text, kubeshape_input::Limits::default());
/// let notes = entries::faults(&input.documents[0]);
/// assert_eq!(notes[0].detail, "width: minVersion is the number 1.20, expected a minor release such as \"v1.20\"");
/// ```
pub fn faults(document: &Document) -> Vec<Note<'static>> {
    let mut out = Faults::default();
    walk(roots(document), |schema, field| out.schema(schema, field));
    out.notes
}

/// Like [`faults`], as findings with locations.
pub fn findings(document: &Document) -> Vec<Finding> {
    if !may_be_in(document.document()) {
        return Vec::new();
    }
    let mut resolver = document.resolver();
    faults(document).iter().map(|note| resolver.finding(note)).collect()
}

/// Like [`faults`], for one CustomResourceDefinition of a document.
pub fn faults_of(definition: Node<'_>) -> Vec<Note<'static>> {
    let mut out = Faults::default();
    walk(versions(definition), |schema, field| out.schema(schema, field));
    out.notes
}

/// Returns whether a string may have entries. Most have none, and need no walk.
pub fn are_in(text: &str) -> bool {
    text.contains(EXTENSION)
}

/// Returns whether a document may have entries. Searches only the source of the document: an input can have a million
/// documents.
pub fn may_be_in(document: kubeshape_yaml::Document<'_>) -> bool {
    let text = document.root().and_then(|root| document.source().get(root.span()));
    text.is_none_or(are_in)
}

/// A field of a CustomResourceDefinition that is not generally available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The code: [`Code::DefinedField`], or [`Code::DefinedOff`] if a field that is off is required or has a default.
    pub code: Code,
    /// The entry in the tape of the document.
    pub at: u32,
    /// `spec.width: alpha since v1.20`
    pub text: String,
}

impl Field {
    /// Returns it as a note.
    pub fn note(self) -> Note<'static> {
        Note::new(self.code, self.at, self.text)
    }
}

/// Returns the fields of a CustomResourceDefinition that are alpha, beta, deprecated or off in a cluster, in source
/// order, at most [`MAX_WARNINGS`].
///
/// # Example
/// ```
/// use kubeshape_input::Code;
/// use kubeshape_lifecycle::{entries, warn::Cluster};
/// let text = b"apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// spec:
///   versions:
///   - name: v1
///     schema:
///       openAPIV3Schema:
///         required: [width]
///         properties:
///           width: {type: integer, x-kubernetes-api-lifecycle: {kubernetes: {status: alpha, featureGate: Frobber2D}}}
/// ";
/// let input = kubeshape_input::read("a.yaml", text, kubeshape_input::Limits::default());
/// let fields = entries::fields(input.documents[0].root(), &Cluster::default());
/// assert_eq!(fields[0].code, Code::DefinedOff);
/// assert_eq!(fields[0].text, "width: alpha; the feature gate Frobber2D is off, and the field is required");
/// ```
pub fn fields(definition: Node<'_>, cluster: &Cluster) -> Vec<Field> {
    let mut out: Vec<Field> = Vec::new();
    walk(versions(definition), |schema, at| {
        let Some(field) = at.filter(|_| out.len() < MAX_WARNINGS) else { return };
        let entry = last(schema, EXTENSION).and_then(|(_, value)| annotate::read(value).remove(KUBERNETES));
        let Some((kind, text)) = entry.and_then(|entry| cluster.judge(&entry)) else { return };
        let contradiction = match kind {
            Kind::Off if field.is_required => Some("is required"),
            Kind::Off if schema.get("default").is_some() => Some("has a default"),
            _ => None,
        };
        let (code, end) = match contradiction {
            Some(why) => (Code::DefinedOff, format!(", and the field {why}")),
            None => (Code::DefinedField, String::new()),
        };
        out.push(Field { code, at: field.key.index(), text: short(&format!("{}: {text}{end}", field.path())) });
    });
    out
}

/// Like [`fields`], for several releases: each field with the releases that have the same result. The release of the
/// cluster is not used.
pub fn fields_by_release(definition: Node<'_>, releases: &[Version], cluster: &Cluster) -> Vec<(Field, Vec<Version>)> {
    let mut known: BTreeMap<(u32, usize), (Field, Vec<Version>)> = BTreeMap::new();
    for (number, release) in releases.iter().enumerate() {
        let cluster = Cluster { release: Some(*release), ..cluster.clone() };
        for field in fields(definition, &cluster) {
            let same = known.range_mut((field.at, 0)..=(field.at, number)).find(|(_, (known, _))| *known == field);
            match same {
                Some((_, (_, releases))) => releases.push(*release),
                None => _ = known.insert((field.at, number), (field, vec![*release])),
            }
        }
    }
    known.into_values().collect()
}

/// A property whose schema is visited.
struct Property<'p, 'd> {
    key: Node<'d>,
    is_required: bool,
    steps: &'p [Step<'d>],
    at: usize,
}

/// A step from one schema to another.
struct Step<'d> {
    /// The name of a property; `None` for items and values.
    name: Option<&'d str>,
    /// The step before it.
    before: Option<usize>,
}

impl Property<'_, '_> {
    /// `spec.parts[].width`
    fn path(&self) -> String {
        let mut names = Vec::new();
        let mut next = Some(self.at);
        while let Some(at) = next {
            names.push(self.steps[at].name);
            next = self.steps[at].before;
        }
        let mut out = String::new();
        for name in names.into_iter().rev() {
            match name {
                None => out.push_str("[]"),
                Some(name) if out.is_empty() => out.push_str(name),
                Some(name) => out.extend([".", name]),
            }
        }
        out
    }
}

/// Returns the last entry of a key. It is used if a key is repeated.
fn last<'d>(node: Node<'d>, key: &str) -> Option<(Node<'d>, Node<'d>)> {
    node.pairs().filter(|(name, _)| name.text() == key).last()
}

/// Visits each schema once, in source order: those of properties with the property.
fn walk<'d>(roots: Vec<(Root<'d>, Node<'d>)>, mut visit: impl FnMut(Node<'d>, Option<&Property<'_, 'd>>)) {
    /// A schema to visit.
    struct Next<'d> {
        schema: Node<'d>,
        /// The key, if it is the schema of a property.
        key: Option<Node<'d>>,
        is_required: bool,
        /// The last step to it.
        at: Option<usize>,
    }
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut steps: Vec<Step<'d>> = Vec::new();
    let mut todo: Vec<Next<'d>> =
        roots.into_iter().rev().map(|(_, schema)| Next { schema, key: None, is_required: false, at: None }).collect();
    while let Some(Next { schema, key, is_required, at }) = todo.pop() {
        // Aliases lead to the same schema again.
        if !seen.insert(schema.index()) {
            continue;
        }
        let property = key.zip(at).map(|(key, at)| Property { key, is_required, steps: &steps, at });
        visit(schema, property.as_ref());
        let from = todo.len();
        let required: BTreeSet<&str> =
            schema.get("required").into_iter().flat_map(Node::items).filter_map(Node::as_str).collect();
        for (key, value) in schema.pairs() {
            match key.text() {
                "properties" => {
                    for (key, schema) in value.pairs() {
                        let name = key.text();
                        steps.push(Step { name: Some(name), before: at });
                        let (is_required, at) = (required.contains(name), Some(steps.len() - 1));
                        todo.push(Next { schema, key: Some(key), is_required, at });
                    }
                }
                "items" | "additionalProperties" => {
                    steps.push(Step { name: None, before: at });
                    todo.push(Next { schema: value, key: None, is_required: false, at: Some(steps.len() - 1) });
                }
                "allOf" | "anyOf" | "oneOf" => {
                    let branches = value.items().map(|schema| Next { schema, key: None, is_required: false, at });
                    todo.extend(branches);
                }
                _ => {}
            }
        }
        todo[from..].reverse();
    }
}

#[derive(Default)]
struct Faults {
    notes: Vec<Note<'static>>,
}

impl Faults {
    fn say(&mut self, at: Node<'_>, field: Option<&Property<'_, '_>>, detail: &str) {
        if self.notes.len() < MAX_WARNINGS {
            let detail = field.map_or_else(|| detail.to_owned(), |field| format!("{}: {detail}", field.path()));
            self.notes.push(Note::new(Code::LifecycleEntry, at.index(), short(&detail)));
        }
    }

    fn schema(&mut self, schema: Node<'_>, field: Option<&Property<'_, '_>>) {
        let Some((key, value)) = last(schema, EXTENSION).filter(|_| self.notes.len() < MAX_WARNINGS) else { return };
        if field.is_none() {
            self.say(
                key,
                field,
                "the schema is not that of a property, so nobody reads the entry; move it to a property",
            );
        }
        if value.kind() != Type::Map {
            self.say(value, field, &format!("found {}, expected an object of projects", describe(value)));
            return;
        }
        let mut projects = BTreeSet::new();
        for (project, entry) in value.pairs() {
            let name = project.text();
            if !projects.insert(name) {
                self.say(project, field, &format!("the project {name:?} stands twice; the last entry counts"));
            }
            self.entry(project, entry, field);
        }
    }

    fn entry(&mut self, project: Node<'_>, entry: Node<'_>, field: Option<&Property<'_, '_>>) {
        if entry.kind() != Type::Map {
            let found = describe(entry);
            self.say(
                entry,
                field,
                &format!("found {found}, expected an object with minVersion, status and featureGate"),
            );
            return;
        }
        if entry.is_empty() {
            self.say(project, field, "minVersion, status and featureGate are missing");
        }
        let is_kubernetes = project.text() == KUBERNETES;
        let mut known = BTreeSet::new();
        for (key, value) in entry.pairs() {
            let name = key.text();
            let Some(member) = Key::of(name) else {
                self.say(key, field, &format!("found the member {name:?}, expected minVersion, status or featureGate"));
                continue;
            };
            if !known.insert(name) {
                self.say(key, field, &format!("{name} stands twice; the last one counts"));
            }
            let (expected, is_right): (&str, fn(&str) -> bool) = match member {
                Key::MinVersion if is_kubernetes => {
                    ("a minor release such as \"v1.20\"", |text| Version::strict(text).is_some_and(Version::exists))
                }
                Key::Status if is_kubernetes => ("alpha, beta or deprecated", |text| Stage::of_status(text).is_some()),
                Key::MinVersion | Key::Status | Key::FeatureGate => ("a text", |text| !text.is_empty()),
            };
            if !value.as_str().is_some_and(is_right) {
                self.say(value, field, &format!("{name} is {}, expected {expected}", describe(value)));
            }
        }
    }
}
