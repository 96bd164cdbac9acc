//! Owned objects.

use crate::error::Error;
use crate::location::Location;
use crate::{explain, print};
use kubeshape_input::{Code, Finding, Input, Limits};
use kubeshape_smd::fieldpath::{Set, SetError};
use kubeshape_smd::managed::{Gvk, Managed, Operation, Ownership, Time, entries};
use kubeshape_smd::value::{Compat, NotFinite};
use kubeshape_smd::{Bump, ToValue, Value};
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Kind, Node};
use std::sync::Arc;

/// An object, and its place in an input.
///
/// # Example: an object of a file
/// ```
/// use kubeshape_registry::Object;
///
/// let object = Object::read("pod.yaml", b"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n")?;
/// assert_eq!((object.api_version(), object.kind(), object.name()), ("v1", "Pod", "web"));
/// assert_eq!(object.location().unwrap().to_string(), "pod.yaml:1:1");
/// assert_eq!(object.to_json(), r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}"#);
/// # Ok::<(), Box<kubeshape_input::Finding>>(())
/// ```
///
/// # Example: an object of JSON values
/// ```
/// use kubeshape_registry::Object;
///
/// let object = Object::from(serde_json::json!({"apiVersion": "v1", "kind": "Pod"}));
/// assert_eq!(object.to_yaml(), "apiVersion: v1\nkind: Pod\n");
/// assert!(object.location().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Object {
    value: serde_json::Value,
    location: Option<Location>,
}

impl Object {
    /// Reads the only object of an input, YAML or JSON.
    ///
    /// # Errors
    /// The input cannot be read, or does not contain exactly one object.
    pub fn read(name: impl Into<Arc<str>>, text: impl AsRef<[u8]>) -> Result<Object, Box<Finding>> {
        let name: Arc<str> = name.into();
        let (objects, findings) = Object::read_all(Arc::clone(&name), text);
        if let Some(error) = findings.into_iter().find(Finding::is_error) {
            return Err(error.into());
        }
        let mut objects = objects.into_iter();
        match (objects.next(), objects.next()) {
            (Some(object), None) => Ok(object),
            (None, _) => {
                Err(Finding::new(Code::NotAnObject, "found nothing, expected an object").in_input(name).into())
            }
            (Some(first), Some(second)) => {
                let found = format!("found {} objects, expected one", 2 + objects.count());
                let at = second.location.or(first.location);
                let nowhere = || Finding::new(Code::NotAnObject, found.clone()).in_input(name);
                Err(at.map_or_else(nowhere, |at| at.finding(Code::NotAnObject, found.clone())).into())
            }
        }
    }

    /// Reads all objects of an input, also those in lists, and the findings about the rest.
    pub fn read_all(name: impl Into<Arc<str>>, text: impl AsRef<[u8]>) -> (Vec<Object>, Vec<Finding>) {
        let Input { documents, mut findings } = kubeshape_input::read(name, text.as_ref(), Limits::default());
        // A definition of another system is an object here.
        findings.retain(|finding| !matches!(finding.code, Code::Derived | Code::NotDerived));
        let mut objects = Vec::new();
        for document in documents.into_iter().map(Arc::new) {
            let root = Location::root(Arc::clone(&document));
            for node in expand_list(document.root()) {
                match Object::at(root.at(node)) {
                    Ok(object) => objects.push(object),
                    Err(finding) => findings.push(*finding),
                }
            }
        }
        (objects, findings)
    }

    /// Returns the object at a location in an input.
    ///
    /// # Errors
    /// It is not a map, or contains a number that JSON cannot represent.
    pub fn at(location: Location) -> Result<Object, Box<Finding>> {
        let node = location.node();
        if node.kind() != Kind::Map {
            let detail = format!("found {}, expected an object", describe(node));
            return Err(location.finding(Code::NotAnObject, detail).into());
        }
        let arena = Bump::new();
        let value = Value::from_node(node, &arena);
        if value.write_json(&mut Vec::new()) == Err(NotFinite) {
            let detail = "found a number that is not finite, which JSON cannot represent";
            return Err(location.finding(Code::NotAnObject, detail).into());
        }
        Ok(Object { value: value.to_serde(), location: Some(location) })
    }

    /// Returns the object of a value.
    pub fn of(value: Value<'_>) -> Object {
        Object { value: value.to_serde(), location: None }
    }

    /// Returns the value.
    pub fn value(&self) -> &serde_json::Value {
        &self.value
    }

    /// Returns the value without its location.
    pub fn into_value(self) -> serde_json::Value {
        self.value
    }

    /// Returns its location; `None` if it was not read from an input.
    pub fn location(&self) -> Option<&Location> {
        self.location.as_ref()
    }

    fn text(&self, pointer: &str) -> &str {
        self.value.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// Returns `apiVersion`, or an empty string.
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion")
    }

    /// Returns `kind`, or an empty string.
    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    /// Returns `metadata.name`, or an empty string.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// Returns `metadata.namespace`, or an empty string.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// Returns group, version and kind.
    pub fn gvk(&self) -> Gvk<'_> {
        Gvk::new(self.api_version(), self.kind())
    }

    /// Returns its identity: group, kind, namespace, name.
    pub fn identity(&self) -> (&str, &str, &str, &str) {
        (self.gvk().group(), self.gvk().kind(), self.namespace(), self.name())
    }

    /// Returns the object as compact JSON.
    pub fn to_json(&self) -> String {
        self.value.to_string()
    }

    /// Returns the object as YAML.
    pub fn to_yaml(&self) -> String {
        print::yaml(self.value.to_value(&Bump::new()))
    }

    /// Returns the owners of its fields by its managed fields: applies first, then by time.
    ///
    /// They are read as the API server 1.37 reads them; an object does not say which release stored it.
    ///
    /// # Errors
    /// [`Error::ManagedFields`]: the managed fields cannot be read.
    ///
    /// # Example: the owners of an object
    /// ```
    /// use kubeshape_registry::Object;
    ///
    /// let pod = Object::read("pod.yaml", b"
    /// metadata:
    ///   managedFields:
    ///   - {manager: kubectl, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {f:spec: {f:replicas: {}}}}
    /// ")?;
    /// let owners = pod.owners()?;
    /// assert_eq!(owners[0].manager, "kubectl");
    /// assert_eq!(owners[0].fields.paths(), [".spec.replicas"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owners(&self) -> Result<Vec<Owner>, Error> {
        let arena = Bump::new();
        let managed = managed(self.value.to_value(&arena), Compat::default(), &arena)
            .map_err(|error| explain::managed_fields_error(&error, self.location()))?;
        let owner = |(owner, fields): &(kubeshape_smd::managed::Owner<'_>, Set<'_>)| Owner {
            manager: owner.manager.to_owned(),
            operation: owner.operation,
            api_version: owner.api_version.to_owned(),
            subresource: owner.subresource.to_owned(),
            time: owner.time,
            fields: FieldSet::of(*fields, Compat::default()),
        };
        Ok(Ownership::new(&managed).all().iter().map(owner).collect())
    }
}

impl From<serde_json::Value> for Object {
    fn from(value: serde_json::Value) -> Object {
        Object { value, location: None }
    }
}

impl ToValue for Object {
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        self.value.to_value(arena)
    }
}

/// Equal if the values are equal, wherever they come from.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Reads `metadata.managedFields` of an object, as a release of structured-merge-diff does.
///
/// # Errors
/// They cannot be read.
pub fn managed<'a>(
    object: Value<'a>,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Managed<'a>, kubeshape_smd::managed::DecodeError> {
    let list = object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    entries::decode_as(list, compat, arena)
}

/// Describes a node in words.
pub fn describe(node: Node<'_>) -> &'static str {
    match node.kind() {
        Kind::Null => "nothing",
        Kind::True | Kind::False => "a boolean",
        Kind::Int | Kind::Float => "a number",
        Kind::Str => "a string",
        Kind::Seq => "a list",
        Kind::Map => "an object",
    }
}

/// A manager that owns fields of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub manager: String,
    /// The operation by which it owns them.
    pub operation: Operation,
    /// The version in which it wrote.
    pub api_version: String,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
    /// When its entry last changed.
    pub time: Option<Time>,
    /// Its fields.
    pub fields: FieldSet,
}

/// A set of fields of an object.
///
/// Example: fields in the form of managed fields
/// ```
/// use kubeshape_registry::FieldSet;
///
/// let fields = FieldSet::from_json(r#"{"f:spec":{"f:ports":{"k:{\"number\":80}":{"f:name":{}}}}}"#)?;
/// assert_eq!(fields.to_string(), ".spec.ports[number=80].name");
/// assert!(fields.contains(".spec.ports[number=80].name"));
/// assert!(!fields.contains(".spec"));
/// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    json: String,
    paths: Vec<String>,
}

impl FieldSet {
    /// Creates a set as a version of structured-merge-diff writes it.
    pub(crate) fn of(set: Set<'_>, compat: Compat) -> FieldSet {
        let text = set.to_string();
        let paths = if set.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() };
        // Only a number that is not finite has no JSON, and no object read from JSON contains one.
        FieldSet { json: set.to_json_as(compat).unwrap_or_default(), paths }
    }

    /// Reads the `fieldsV1` of an entry of managed fields.
    ///
    /// # Errors
    /// The string is not a set of fields.
    pub fn from_json(json: &str) -> Result<FieldSet, SetError> {
        Ok(FieldSet::of(Set::read_json(json.as_bytes(), &Bump::new())?, Compat::default()))
    }

    /// Returns the set as `fieldsV1`.
    pub fn to_json(&self) -> &str {
        &self.json
    }

    /// Returns the paths in the server's order: `.spec.replicas`, `.spec.ports[number=80].name`.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns whether a path is in the set.
    pub fn contains(&self, path: &str) -> bool {
        self.paths.iter().any(|known| known == path)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.paths.len()
    }
}

/// Prints a path per line.
impl std::fmt::Display for FieldSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.paths.join("\n"))
    }
}
