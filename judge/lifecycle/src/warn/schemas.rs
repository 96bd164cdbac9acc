//! The parts of schemas with lifecycles, and the walk over objects with them.

use super::{Cluster, Kind, MAX_WARNINGS, printable};
use crate::annotate::{self, EXTENSION};
use crate::kinds::{CustomVersion, custom_warning};
use crate::roots::{Openapi, is_definition, openapi, text};
use crate::tag::KUBERNETES;
use crate::{Lifecycle, entries};
use kubeshape_input::Document;
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The maximum number of schemas for one value: its own, and those added by `allOf` and `$ref`.
const MAX_SCHEMAS: usize = 32;

/// The maximum number of lists and maps around a field.
const MAX_STEPS: usize = 64;

/// A schema, reduced to the paths to fields with a lifecycle.
#[derive(Clone, Debug, Default)]
struct Prepared {
    /// The extension of the property with this schema.
    entry: Option<Lifecycle>,
    properties: BTreeMap<String, usize>,
    values: Option<usize>,
    items: Option<usize>,
    /// `allOf` and `$ref`.
    also: Vec<usize>,
}

impl Prepared {
    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        let rest = self.values.iter().chain(&self.items).chain(&self.also);
        self.properties.values().chain(rest).copied()
    }
}

/// A kind in a version.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The number of its schema; `None` if no field has a lifecycle.
    schema: Option<usize>,
    /// The warning about the version.
    deprecated: Option<String>,
}

/// The kinds of OpenAPI documents and CustomResourceDefinitions with the lifecycles of their fields.
///
/// It owns its contents: the documents are no longer needed.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// By API version and kind.
    kinds: BTreeMap<(String, String), Known>,
    schemas: Vec<Prepared>,
}

/// A field of an object that is not generally available.
#[derive(Clone, Debug)]
pub struct Warning<'o> {
    /// The key of the field in the object.
    pub at: Node<'o>,
    /// The state of the field.
    pub kind: Kind,
    /// `spec.width: deprecated since v1.20`
    pub text: String,
}

/// Reads the schemas of one document.
struct Reader<'d, 's> {
    out: &'s mut Schemas,
    /// The definitions by name, for references.
    names: BTreeMap<&'d str, Node<'d>>,
    /// The numbers of schemas, by node.
    known: BTreeMap<u32, usize>,
    todo: Vec<(usize, Node<'d>)>,
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl Schemas {
    /// Adds a document. If several documents have a kind, the first one is used. Other documents than OpenAPI documents
    /// and CustomResourceDefinitions have no kinds.
    pub fn add(&mut self, document: &Document) {
        let root = document.root();
        let before = self.schemas.len();
        let openapi = openapi(root);
        let definitions = match openapi {
            Some(Openapi::V2(definitions) | Openapi::V3(definitions)) => definitions,
            None => None,
        };
        let names = definitions.into_iter().flat_map(Node::pairs).map(|(key, value)| (key.text(), value)).collect();
        let mut reader = Reader { out: self, names, known: BTreeMap::new(), todo: Vec::new() };
        let mut kinds = Vec::new();
        for definition in reader.names.values().copied().collect::<Vec<_>>() {
            for gvk in definition.get("x-kubernetes-group-version-kind").into_iter().flat_map(Node::items) {
                let version = api_version(text(gvk.get("group")), text(gvk.get("version")));
                kinds.push(((version, text(gvk.get("kind")).to_owned()), definition, None));
            }
        }
        if openapi.is_none() {
            document
                .objects()
                .into_iter()
                .filter(|object| is_definition(*object))
                .for_each(|object| custom(object, &mut kinds));
        }
        for (kind, schema, deprecated) in kinds {
            let schema = reader.schema(schema);
            reader.out.kinds.entry(kind).or_insert(Known { schema: Some(schema), deprecated });
        }
        reader.read();
        self.prune(before);
    }

    /// Adds a document if it has the extension. That costs a search in its source; most documents do not have it.
    pub fn add_annotated(&mut self, document: &Document) {
        if !document.source().has_lines() || entries::may_be_in(document.document()) {
            self.add(document);
        }
    }

    /// Returns whether no field of any kind has a lifecycle.
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    /// Returns the feature gates that fields name.
    pub fn gates(&self) -> BTreeSet<&str> {
        let entries = self.schemas.iter().filter_map(|schema| schema.entry.as_ref());
        let gates = entries.flat_map(|entry| entry.feature_gate.as_deref().unwrap_or_default().split(','));
        gates.map(str::trim).filter(|gate| !gate.is_empty()).collect()
    }

    /// Returns whether the kind is known.
    pub fn has(&self, api_version: &str, kind: &str) -> bool {
        self.kind(api_version, kind).is_some()
    }

    fn kind(&self, api_version: &str, kind: &str) -> Option<&Known> {
        self.kinds.get(&(api_version.to_owned(), kind.to_owned()))
    }

    /// Returns the server's warning about a deprecated version of a custom resource.
    pub fn deprecated(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.kind(api_version, kind)?.deprecated.as_deref()
    }

    /// Returns the fields of an object that are not generally available, in the order of the object, at most
    /// [`MAX_WARNINGS`]. An object of an unknown kind has none.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::warn::{Cluster, Schemas};
    /// let read = |text: &str| kubeshape_input::read("a.yaml", text.as_bytes(), kubeshape_input::Limits::default());
    /// let mut schemas = Schemas::default();
    /// schemas.add(&read("swagger: '2.0'
    /// definitions:
    ///   Frobber:
    ///     x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Frobber}]
    ///     properties:
    ///       width: {type: integer, x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: deprecated}}}
    /// ").documents[0]);
    /// let object = read("{apiVersion: example.com/v1, kind: Frobber, width: 1}");
    /// let warnings = schemas.warnings(object.documents[0].root(), &Cluster::default());
    /// assert_eq!(warnings[0].text, "width: deprecated since v1.20");
    /// ```
    pub fn warnings<'o>(&self, object: Node<'o>, cluster: &Cluster) -> Vec<Warning<'o>> {
        let known = self.kind(text(object.get("apiVersion")), text(object.get("kind")));
        let mut walk = Walk { schemas: self, cluster, path: Vec::new(), out: Vec::new() };
        if let Some(schema) = known.and_then(|known| known.schema) {
            walk.value(object, &[schema]);
        }
        walk.out
    }

    /// Returns the lifecycle of one field of a kind, by the names of properties on the way to it. Lists and maps need
    /// no steps, as in the paths of `kubectl explain`. `None` if the field is generally available or unknown.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::warn::Schemas;
    /// let text = "swagger: '2.0'
    /// definitions:
    ///   Frobber:
    ///     x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Frobber}]
    ///     properties:
    ///       parts: {items: {properties: {width: {x-kubernetes-api-lifecycle: {kubernetes: {status: deprecated}}}}}}
    /// ";
    /// let mut schemas = Schemas::default();
    /// let limits = kubeshape_input::Limits::default();
    /// schemas.add(&kubeshape_input::read("a.yaml", text.as_bytes(), limits).documents[0]);
    /// let field = schemas.field("example.com/v1", "Frobber", &["parts", "width"]).unwrap();
    /// assert_eq!(field.to_string(), "deprecated");
    /// assert!(schemas.field("example.com/v1", "Frobber", &["parts"]).is_none());
    /// ```
    pub fn field(&self, api_version: &str, kind: &str, path: &[&str]) -> Option<&Lifecycle> {
        let mut schemas = vec![self.kind(api_version, kind)?.schema?];
        for name in path {
            schemas = self.child(schemas, name)?;
        }
        self.entry(&schemas)
    }

    /// Returns the lifecycle of the field at a JSON pointer into an object: `/spec/parts/0/width`. In a map with values
    /// of one type, any key can be used. `None` if the field is generally available or unknown.
    pub fn at(&self, api_version: &str, kind: &str, pointer: &str) -> Option<&Lifecycle> {
        let mut schemas = vec![self.kind(api_version, kind)?.schema?];
        for step in pointer.split('/').skip(1) {
            let name = step.replace("~1", "/").replace("~0", "~");
            let all = self.united(&schemas);
            let of = |at: &usize| self.schemas.get(*at);
            let named = |at: &usize| of(at)?.properties.get(&name).copied();
            let is_item = name.bytes().all(|byte| byte.is_ascii_digit());
            let below = |at: &usize| of(at).and_then(|schema| schema.items.filter(|_| is_item).or(schema.values));
            schemas = all.iter().filter_map(named).collect();
            if schemas.is_empty() {
                schemas = all.iter().filter_map(below).collect();
            }
        }
        self.entry(&schemas)
    }

    /// Returns the schemas of a property, of list items, or of map values.
    fn child(&self, mut schemas: Vec<usize>, name: &str) -> Option<Vec<usize>> {
        for _ in 0..MAX_STEPS {
            let all = self.united(&schemas);
            let of = |at: &usize| self.schemas.get(*at);
            let found: Vec<usize> =
                all.iter().filter_map(|at| of(at)?.properties.get(name).copied()).take(MAX_SCHEMAS).collect();
            if !found.is_empty() {
                return Some(found);
            }
            let below = all.iter().filter_map(of).flat_map(|schema| schema.items.into_iter().chain(schema.values));
            let below: Vec<usize> = below.take(MAX_SCHEMAS).collect();
            if below.is_empty() {
                return None;
            }
            schemas = below;
        }
        None
    }

    fn entry(&self, schemas: &[usize]) -> Option<&Lifecycle> {
        schemas.iter().find_map(|at| self.schemas.get(*at)?.entry.as_ref())
    }

    /// Returns all schemas of a value.
    fn united(&self, of: &[usize]) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut todo: Vec<usize> = of.iter().rev().copied().collect();
        while let Some(at) = todo.pop() {
            if out.len() < MAX_SCHEMAS && seen.insert(at) {
                out.push(at);
                todo.extend(self.schemas[at].also.iter().take(MAX_SCHEMAS).rev());
            }
        }
        out
    }

    /// Drops schemas that lead to no field with a lifecycle, among those from a number on.
    fn prune(&mut self, from: usize) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.schemas.len() - from];
        for (at, schema) in self.schemas.iter().enumerate().skip(from) {
            for other in schema.all() {
                users[other - from].push(at);
            }
        }
        let mut leads = vec![false; users.len()];
        let mut todo: Vec<usize> = (from..self.schemas.len()).filter(|at| self.schemas[*at].entry.is_some()).collect();
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut leads[at - from], true) {
                todo.extend(users[at - from].iter().copied());
            }
        }
        let stays = |at: &usize| *at < from || leads[*at - from];
        for schema in &mut self.schemas[from..] {
            schema.properties.retain(|_, at| stays(at));
            schema.values = schema.values.filter(stays);
            schema.items = schema.items.filter(stays);
            schema.also.retain(stays);
        }
        for known in self.kinds.values_mut() {
            known.schema = known.schema.filter(stays);
        }
        if !leads.contains(&true) {
            self.schemas.truncate(from);
        }
    }
}

type Found<'d> = ((String, String), Node<'d>, Option<String>);

/// Collects the kinds of a CustomResourceDefinition.
fn custom<'d>(object: Node<'d>, kinds: &mut Vec<Found<'d>>) {
    let Some(spec) = object.get("spec") else { return };
    let (group, kind) = (text(spec.get("group")), text(spec.get("names").and_then(|names| names.get("kind"))));
    let own = |at: Node<'d>, key: &str| at.get(key).and_then(|schema| schema.get("openAPIV3Schema"));
    let versions: Vec<Node<'_>> = spec.get("versions").into_iter().flat_map(Node::items).collect();
    let is_true = |node: Option<Node<'_>>| node.and_then(Node::as_bool) == Some(true);
    let facts: Vec<CustomVersion<'_>> = versions
        .iter()
        .map(|version| CustomVersion {
            name: text(version.get("name")),
            served: is_true(version.get("served")),
            deprecated: is_true(version.get("deprecated")),
            warning: version.get("deprecationWarning").and_then(Node::as_str),
        })
        .collect();
    let best = crate::kinds::best(&facts);
    for (version, fact) in versions.into_iter().zip(&facts) {
        // v1beta1 may have one schema for all versions.
        let schema = own(version, "schema").or_else(|| own(spec, "validation")).unwrap_or(version);
        let warning = custom_warning(group, kind, fact, best);
        kinds.push(((api_version(group, fact.name), kind.to_owned()), schema, warning));
    }
}

impl<'d> Reader<'d, '_> {
    /// Returns the number of a schema, which is read later.
    fn schema(&mut self, node: Node<'d>) -> usize {
        if let Some(known) = self.known.get(&node.index()) {
            return *known;
        }
        let number = self.out.schemas.len();
        self.out.schemas.push(Prepared::default());
        self.known.insert(node.index(), number);
        self.todo.push((number, node));
        number
    }

    fn read(&mut self) {
        while let Some((number, node)) = self.todo.pop() {
            let mut made = Prepared::default();
            // If a key is repeated, the last one is used.
            for (key, value) in node.pairs() {
                match key.text() {
                    EXTENSION => made.entry = annotate::read(value).remove(KUBERNETES),
                    "properties" => {
                        made.properties =
                            value.pairs().map(|(key, value)| (key.text().to_owned(), self.schema(value))).collect();
                    }
                    "additionalProperties" => made.values = Some(self.schema(value)),
                    "items" => made.items = Some(self.schema(value)),
                    "allOf" => made.also.extend(value.items().map(|part| self.schema(part))),
                    "$ref" => {
                        if let Some(target) = self.target(value) {
                            made.also.push(self.schema(target));
                        }
                    }
                    _ => {}
                }
            }
            self.out.schemas[number] = made;
        }
    }

    fn target(&self, reference: Node<'d>) -> Option<Node<'d>> {
        let reference = reference.as_str()?;
        let name =
            reference.strip_prefix("#/definitions/").or_else(|| reference.strip_prefix("#/components/schemas/"))?;
        let plain = self.names.get(name).copied();
        plain.or_else(|| self.names.get(name.replace("~1", "/").replace("~0", "~").as_str()).copied())
    }
}

/// A step to a value in an object.
#[derive(Clone, Copy)]
enum Step<'o> {
    Property(&'o str),
    Key(&'o str),
    Item(usize),
}

struct Walk<'w, 'o> {
    schemas: &'w Schemas,
    cluster: &'w Cluster,
    path: Vec<Step<'o>>,
    out: Vec<Warning<'o>>,
}

impl<'o> Walk<'_, 'o> {
    /// The reader bounds the nesting of objects.
    fn value(&mut self, value: Node<'o>, schemas: &[usize]) {
        let schemas = self.schemas.united(schemas);
        let of = |at: &usize| &self.schemas.schemas[*at];
        let items: Vec<usize> = schemas.iter().filter_map(|at| of(at).items).collect();
        if !items.is_empty() {
            for (number, item) in value.items().enumerate() {
                self.below(Step::Item(number), item, &items);
            }
        }
        let values: Vec<usize> = schemas.iter().filter_map(|at| of(at).values).collect();
        if values.is_empty() && schemas.iter().all(|at| of(at).properties.is_empty()) {
            return;
        }
        for (key, value) in value.pairs() {
            let name = key.text();
            let found: Vec<usize> = schemas.iter().filter_map(|at| of(at).properties.get(name).copied()).collect();
            if found.is_empty() {
                self.below(Step::Key(name), value, &values);
                continue;
            }
            self.path.push(Step::Property(name));
            if let Some(entry) = self.schemas.entry(&found) {
                self.judge(key, entry);
            }
            self.value(value, &found);
            self.path.pop();
        }
    }

    fn below(&mut self, step: Step<'o>, value: Node<'o>, schemas: &[usize]) {
        if !schemas.is_empty() && self.out.len() < MAX_WARNINGS {
            self.path.push(step);
            self.value(value, schemas);
            self.path.pop();
        }
    }

    fn judge(&mut self, at: Node<'o>, entry: &Lifecycle) {
        if self.out.len() >= MAX_WARNINGS {
            return;
        }
        if let Some((kind, text)) = self.cluster.judge(entry) {
            let text = printable(&format!("{}: {text}", self.path()));
            self.out.push(Warning { at, kind, text });
        }
    }

    /// Formats the path like `field.Path`.
    fn path(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            let _ = match step {
                Step::Property(name) if out.is_empty() => write!(out, "{name}"),
                Step::Property(name) => write!(out, ".{name}"),
                Step::Key(name) => write!(out, "[{name}]"),
                Step::Item(number) => write!(out, "[{number}]"),
            };
        }
        out
    }
}
