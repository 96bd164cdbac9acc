//! `x-kubernetes-api-lifecycle` in OpenAPI documents and CustomResourceDefinitions.
//!
//! The strings are edited in place: everything else stays the same, byte for byte.

mod text;

use crate::fields::{self, Lifecycle, Tags};
use crate::roots::{Openapi, Root, openapi, roots};
use crate::tag::KUBERNETES;
use crate::types::TypePlace;
use crate::{Features, GoField, GoType, Json, Options, Stage, Step, Types};
use kubeshape_input::{Code, Document, Finding};
use kubeshape_yaml::Node;
use kubeshape_yaml::edit::{self, Edit};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The name of the extension.
pub const EXTENSION: &str = "x-kubernetes-api-lifecycle";

/// A document with the extension.
#[derive(Clone, Debug, Default)]
pub struct Annotated {
    /// The whole input after the edits.
    pub text: String,
    /// Properties that now have the extension and did not have it before.
    pub added: usize,
    /// Properties whose extension changed.
    pub changed: usize,
    /// Properties that lost the extension.
    pub removed: usize,
    /// The difference in bytes; negative if the result is shorter.
    pub bytes: i64,
    /// Fields without a property in the documents, and locations that cannot be edited.
    pub findings: Vec<Finding>,
    /// The types for which the documents have schemas.
    pub types: BTreeSet<TypeName>,
}

/// The folder of a package, the package, and one of its types.
pub type TypeName = (String, String, String);

/// How a reference with other members is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Other members are next to `$ref`, as in the documents of Kubernetes.
    V2,
    /// Nothing may be next to `$ref`: it is wrapped in `allOf`.
    V3,
}

/// The JSON members of objects of a type.
struct Members<'w> {
    of: TypePlace<'w>,
    by_name: BTreeMap<&'w str, (TypePlace<'w>, &'w GoField)>,
    /// Those with a lifecycle that were not reported yet.
    untold: RefCell<Vec<&'w str>>,
}

struct Walk<'w> {
    types: &'w Types,
    features: &'w Features,
    options: &'w Options,
    document: &'w Document,
    dialect: Dialect,
    edits: Vec<Edit>,
    members: BTreeMap<*const GoType, Rc<Members<'w>>>,
    /// The positions of edits of properties. A node that several paths reach through aliases is edited once.
    seen: BTreeSet<usize>,
    out: Annotated,
}

/// Writes the lifecycle of fields into the documents of one input, whose strings are parts of one source.
///
/// OpenAPI definitions are found by their names ([`Types::of_definition`]), CustomResourceDefinitions by group, version
/// and kind ([`Types::of_kind`]). If no Go type has a lifecycle for a field, the existing extension is evaluated again,
/// so that it is removed when its gate is generally available.
pub fn annotate(documents: &[Document], types: &Types, features: &Features, options: &Options) -> Annotated {
    let mut out = Annotated::default();
    let Some(first) = documents.first() else { return out };
    let mut edits = Vec::new();
    let mut members = BTreeMap::new();
    for document in documents {
        let mut walk = Walk {
            types,
            features,
            options,
            document,
            dialect: Dialect::V3,
            members: std::mem::take(&mut members),
            edits: Vec::new(),
            seen: BTreeSet::new(),
            out: std::mem::take(&mut out),
        };
        walk.document();
        edits.append(&mut walk.edits);
        (out, members) = (walk.out, walk.members);
    }
    for known in members.values() {
        let declaring = known.by_name.values().map(|(place, _)| *place);
        out.types.extend(declaring.chain([known.of]).map(name_of));
    }
    let before = first.source().text();
    out.text = edit::apply(before, &edits);
    out.bytes = i64::try_from(out.text.len()).unwrap_or(i64::MAX) - i64::try_from(before.len()).unwrap_or(0);
    out
}

fn name_of(place: TypePlace<'_>) -> TypeName {
    (place.package.folder.clone(), place.package.name.clone(), place.of.name.clone())
}

/// Returns the types with fields that have a lifecycle, each with whether it is one of `found` ([`Annotated::types`] of
/// all documents). The lifecycles of the others are in no document.
pub fn tagged<'t>(types: &'t Types, found: &BTreeSet<TypeName>) -> Vec<(TypePlace<'t>, bool)> {
    let has_tags = |place: &TypePlace<'_>| {
        let mut fields = place.of.fields.iter().filter(|field| matches!(field.json, Json::Member(_)));
        fields.any(|field| !Tags::of(place.file, field).is_empty())
    };
    types.types().filter(has_tags).map(|place| (place, found.contains(&name_of(place)))).collect()
}

/// Returns the finding that no schema was found for a type with lifecycles.
pub fn not_found(place: TypePlace<'_>) -> Finding {
    let package = if place.package.folder.is_empty() { &place.package.name } else { &place.package.folder };
    let detail = format!(
        "no definition of the documents is of the type {0}; expected one named after its package, such as {1}.{0}, \
         or a CustomResourceDefinition of its group and version",
        place.of.name,
        package.rsplit('/').take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("."),
    );
    place
        .file
        .source
        .finding(Code::LifecycleUnplaced, place.of.span.clone(), detail)
        .of_resource(place.of.name.as_str())
}

impl<'w> Walk<'w> {
    fn document(&mut self) {
        if let Some(Openapi::V2(_)) = openapi(self.document.root()) {
            self.dialect = Dialect::V2;
        }
        for (root, schema) in roots(self.document) {
            let place = match root {
                Root::Definition { name } => self.types.of_definition(name),
                Root::Version { group, version, kind } => self.types.of_kind(group, version, kind),
            };
            self.schema(schema, place);
        }
    }

    /// Walks a schema together with its type, if it is known.
    fn schema(&mut self, schema: Node<'w>, place: Option<TypePlace<'w>>) {
        let mut todo = vec![(schema, place)];
        while let Some((schema, place)) = todo.pop() {
            let Some(properties) = schema.get("properties") else { continue };
            let members = place.map(|place| self.members(place));
            let mut found: BTreeSet<&str> = BTreeSet::new();
            for (key, property) in properties.pairs() {
                let name = key.text();
                let known = members.as_ref().and_then(|members| members.by_name.get(name).copied());
                found.insert(name);
                self.property(key, property, known);
                match known {
                    Some((place, field)) => {
                        let inner = self.types.resolve(place, &field.type_ref);
                        todo.extend(below(property, &field.type_ref.steps).map(|schema| (schema, inner)));
                    }
                    // Without a type, the extensions of the document are used.
                    None => todo.extend(
                        [Some(property), property.get("items"), property.get("additionalProperties")]
                            .into_iter()
                            .flatten()
                            .map(|schema| (schema, None)),
                    ),
                }
            }
            // A field is reported once, so that the work is bounded by the existing properties.
            if let Some(members) = members {
                members.untold.borrow_mut().retain(|name| {
                    let is_found = found.contains(name);
                    if let Some((place, field)) = members.by_name.get(name).filter(|_| !is_found) {
                        self.unplaced(name, *place, field, schema);
                    }
                    is_found
                });
            }
        }
    }

    /// Returns the members of a type, cached.
    fn members(&mut self, place: TypePlace<'w>) -> Rc<Members<'w>> {
        if let Some(known) = self.members.get(&std::ptr::from_ref(place.of)) {
            return Rc::clone(known);
        }
        let mut by_name = BTreeMap::new();
        for (place, field) in self.types.members(place) {
            if let Json::Member(name) = &field.json {
                by_name.insert(name.as_str(), (place, field));
            }
        }
        let tagged = by_name
            .iter()
            .filter(|(_, (place, field))| self.state(*place, field).is_some_and(|state| !state.projects.is_empty()));
        let untold = RefCell::new(tagged.map(|(name, _)| *name).collect());
        let made = Rc::new(Members { of: place, by_name, untold });
        self.members.insert(std::ptr::from_ref(place.of), Rc::clone(&made));
        made
    }

    fn state(&self, place: TypePlace<'w>, field: &'w GoField) -> Option<fields::State> {
        let tags = Tags::of(place.file, field);
        (!tags.is_empty()).then(|| fields::state(&tags, self.features, self.options))
    }

    /// Reports a field with a lifecycle that has no property.
    fn unplaced(&mut self, name: &str, place: TypePlace<'w>, field: &'w GoField, schema: Node<'w>) {
        let at = self.document.source().location(schema.span().start);
        let detail = format!(
            "{}.{} is the property {name:?}, which the schema at {at} does not have",
            place.of.name, field.name
        );
        self.out.findings.push(place.file.source.finding(Code::LifecycleUnplaced, field.span.clone(), detail));
    }

    /// Adds, changes or removes the extension of a property.
    fn property(&mut self, key: Node<'w>, property: Node<'w>, known: Option<(TypePlace<'w>, &'w GoField)>) {
        // If a key is repeated, the last one is used.
        let existing = property.pairs().filter(|(key, _)| key.text() == EXTENSION).last();
        let wanted = match known.and_then(|(place, field)| self.state(place, field)) {
            Some(state) => state.projects,
            None => match existing {
                Some((_, value)) => self.again(value),
                None => return,
            },
        };
        if existing.is_none() && wanted.is_empty() {
            return;
        }
        if existing.is_some_and(|(_, value)| read(value) == wanted && value.len() == wanted.len()) {
            return;
        }
        if let Some(why) = text::hindrance(property) {
            if !self.seen.contains(&property.span().start) {
                let detail = format!("the schema of {:?} {why}; write it out", key.text());
                let source = self.document.source();
                self.out.findings.push(source.finding(Code::LifecycleUnplaced, key.span(), detail));
            }
            return;
        }
        if !self.seen.insert(property.span().start) {
            return;
        }
        let source = self.document.document();
        match existing {
            None => self.out.added += 1,
            Some(_) if wanted.is_empty() => self.out.removed += 1,
            Some(_) => self.out.changed += 1,
        }
        text::edits(source, property, &wanted, self.dialect == Dialect::V3, &mut self.edits);
    }

    /// Evaluates an existing entry again: its gate may have changed.
    fn again(&self, value: Node<'w>) -> BTreeMap<String, Lifecycle> {
        let mut projects = read(value);
        if let Some(entry) = projects.remove(KUBERNETES) {
            fields::tagged(entry, self.features, self.options, &mut projects);
        }
        projects
    }
}

/// Reads the entries of an extension.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::annotate::read;
/// let text = b"kubernetes: {minVersion: v1.20, status: alpha}";
/// let input = kubeshape_input::read("a.yaml", text, kubeshape_input::Limits::default());
/// assert_eq!(read(input.documents[0].root())["kubernetes"].status.as_deref(), Some("alpha"));
/// ```
pub fn read(value: Node<'_>) -> BTreeMap<String, Lifecycle> {
    let text = |node: Option<Node<'_>>| node.and_then(Node::as_str).map(str::to_owned);
    let entry = |value: Node<'_>| Lifecycle {
        min_version: text(value.get("minVersion")),
        status: text(value.get("status")),
        feature_gate: text(value.get("featureGate")),
    };
    value.pairs().map(|(key, value)| (key.text().to_owned(), entry(value))).collect()
}

/// Returns the stage of an entry, if it has one.
pub fn stage(entry: &Lifecycle) -> Option<Stage> {
    entry.status.as_deref().and_then(Stage::of_status)
}

fn step(schema: Node<'_>, step: Step) -> Option<Node<'_>> {
    match step {
        Step::Items => schema.get("items"),
        Step::Values => schema.get("additionalProperties"),
    }
}

/// Returns the schema inside these lists and maps.
fn below<'w>(schema: Node<'w>, steps: &[Step]) -> Option<Node<'w>> {
    steps.iter().try_fold(schema, |at, next| step(at, *next))
}
