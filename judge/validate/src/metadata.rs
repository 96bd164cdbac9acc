//! Validation of the metadata of objects, like `pkg/api/validation` of `k8s.io/apimachinery`.

use crate::names;
use crate::release::{AskedRelease, Change};
use crate::words::{self, Lengths};
use kubeshape_schema::field::{BadValue, Error, Errors, Path};
use kubeshape_schema::read::Reader;
use kubeshape_yaml::Node;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::escape::{self, Escape, is_printable};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum bytes of all keys and values of annotations together.
pub const ANNOTATIONS_SIZE: usize = 256 << 10;
/// The maximum length of the name of a manager, in bytes.
const MANAGER_LENGTH: usize = 128;
/// The maximum length of the name of a subresource, in bytes.
const SUBRESOURCE_LENGTH: usize = 256;

/// `metadata`, after its types were checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectMeta<'a> {
    /// `name`
    pub name: &'a str,
    /// `generateName`
    pub generate_name: &'a str,
    /// `namespace`
    pub namespace: &'a str,
    /// `uid`
    pub uid: &'a str,
    /// `resourceVersion`
    pub resource_version: &'a str,
    /// `generation`
    pub generation: i64,
    /// `creationTimestamp`; missing and null are Go's zero time.
    pub creation_timestamp: Option<Time>,
    /// `deletionTimestamp`
    pub deletion_timestamp: Option<Time>,
    /// `deletionGracePeriodSeconds`
    pub deletion_grace_period_seconds: Option<i64>,
    /// `labels`
    pub labels: &'a [(&'a str, &'a str)],
    /// `annotations`
    pub annotations: &'a [(&'a str, &'a str)],
    /// `ownerReferences`
    pub owner_references: &'a [OwnerReference<'a>],
    /// `finalizers`
    pub finalizers: &'a [&'a str],
    /// `managedFields`
    pub managed_fields: &'a [ManagedFields<'a>],
    /// The mapping, for the locations of errors.
    pub node: Option<Node<'a>>,
}

/// One of `ownerReferences`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerReference<'a> {
    /// `apiVersion`
    pub api_version: &'a str,
    /// `kind`
    pub kind: &'a str,
    /// `name`
    pub name: &'a str,
    /// `uid`
    pub uid: &'a str,
    /// `controller`
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`
    pub block_owner_deletion: Option<bool>,
}

/// One of `managedFields`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields<'a> {
    /// `manager`
    pub manager: &'a str,
    /// `operation`
    pub operation: &'a str,
    /// `fieldsType`
    pub fields_type: &'a str,
    /// `subresource`
    pub subresource: &'a str,
}

impl<'a> ObjectMeta<'a> {
    /// Reads a mapping whose types were checked before. Values of other types are treated as missing.
    pub fn read(node: Node<'a>, reader: &mut Reader<'a>) -> ObjectMeta<'a> {
        let mut meta = ObjectMeta { node: Some(node), ..ObjectMeta::default() };
        reader.each_pair(node, "", |r, key, value| match key.text() {
            "name" => meta.name = r.text(value),
            "generateName" => meta.generate_name = r.text(value),
            "namespace" => meta.namespace = r.text(value),
            "uid" => meta.uid = r.text(value),
            "resourceVersion" => meta.resource_version = r.text(value),
            "generation" => meta.generation = r.integer(value).unwrap_or(0),
            "creationTimestamp" => meta.creation_timestamp = time(value),
            "deletionTimestamp" => meta.deletion_timestamp = time(value),
            "deletionGracePeriodSeconds" => meta.deletion_grace_period_seconds = r.integer(value),
            "labels" => meta.labels = text_map(r, value),
            "annotations" => meta.annotations = text_map(r, value),
            "ownerReferences" => meta.owner_references = r.list(value, "", read_owner_reference),
            "finalizers" => meta.finalizers = r.texts(value),
            "managedFields" => meta.managed_fields = r.list(value, "", read_managed_fields),
            _ => {}
        });
        meta
    }

    /// Returns the value of an annotation; empty if it is missing.
    pub fn annotation(&self, name: &str) -> &'a str {
        self.annotations.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    /// Returns the location of a field, or that of the mapping if the field is missing.
    pub fn at(&self, field: &str) -> u32 {
        self.node.map_or(0, |node| place(node, field))
    }
}

/// Returns the location of a member of a mapping, or that of the mapping if it is missing.
pub(crate) fn place(node: Node<'_>, member: &str) -> u32 {
    node.get(member).unwrap_or(node).index()
}

/// Reads a mapping of strings, sorted by key.
fn text_map<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> &'a [(&'a str, &'a str)] {
    let mut pairs = bumpalo::collections::Vec::with_capacity_in(node.len(), reader.arena());
    reader.each_pair(node, "", |reader, key, value| pairs.push((key.text(), reader.text(value))));
    pairs.sort_unstable();
    pairs.into_bump_slice()
}

fn time(node: Node<'_>) -> Option<Time> {
    node.as_str().and_then(Time::parse).filter(|time| *time != Time::ZERO)
}

fn read_owner_reference<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> OwnerReference<'a> {
    let mut reference = OwnerReference::default();
    reader.each_pair(node, "", |r, key, value| match key.text() {
        "apiVersion" => reference.api_version = r.text(value),
        "kind" => reference.kind = r.text(value),
        "name" => reference.name = r.text(value),
        "uid" => reference.uid = r.text(value),
        "controller" => reference.controller = r.optional_boolean(value),
        "blockOwnerDeletion" => reference.block_owner_deletion = r.optional_boolean(value),
        _ => {}
    });
    reference
}

fn read_managed_fields<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> ManagedFields<'a> {
    let mut entry = ManagedFields::default();
    reader.each_pair(node, "", |r, key, value| match key.text() {
        "manager" => entry.manager = r.text(value),
        "operation" => entry.operation = r.text(value),
        "fieldsType" => entry.fields_type = r.text(value),
        "subresource" => entry.subresource = r.text(value),
        _ => {}
    });
    entry
}

/// Validates the metadata of a new object: `ValidateObjectMeta`. `name` returns the errors of a name; its second
/// argument says whether something will be appended to the name.
pub fn validate(
    meta: &ObjectMeta<'_>,
    namespaced: bool,
    name: &dyn Fn(&str, bool) -> names::Messages,
    path: &Path<'_>,
    release: &AskedRelease,
    errors: &mut Errors,
) {
    let before = errors.len();
    if !meta.generate_name.is_empty() {
        let generate = path.child("generateName");
        for message in name(meta.generate_name, true) {
            errors.push(Error::invalid(&generate, meta.generate_name, message, meta.at("generateName")));
        }
    }
    let name_path = path.child("name");
    if meta.name.is_empty() {
        errors.push(Error::required(&name_path, "name or generateName is required", meta.at("name")));
    } else {
        for message in name(meta.name, false) {
            errors.push(Error::invalid(&name_path, meta.name, message, meta.at("name")));
        }
    }
    let namespace = path.child("namespace");
    match (namespaced, meta.namespace) {
        (true, "") => errors.push(Error::required(&namespace, "", meta.at("namespace"))),
        (true, value) => {
            for message in names::dns1123_label(value) {
                errors.push(Error::invalid(&namespace, value, message, meta.at("namespace")));
            }
        }
        (false, "") => {}
        (false, _) => errors.push(Error::forbidden(&namespace, "not allowed on this type", meta.at("namespace"))),
    }
    if meta.generation < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(Error::invalid(&path.child("generation"), meta.generation, detail, meta.at("generation")));
    }
    common(meta, path, release, errors);
    finalizers(meta, &path.child("finalizers"), release, errors);
    words::labels(errors, before, release);
    words::once(errors, before, release);
}

/// Validates the metadata of an object that replaces another one: `ValidateObjectMetaUpdate`.
pub fn validate_update(
    meta: &ObjectMeta<'_>,
    old: &ObjectMeta<'_>,
    path: &Path<'_>,
    release: &AskedRelease,
    errors: &mut Errors,
) {
    let first = errors.len();
    if old.deletion_timestamp.is_some() {
        let before: HashSet<&str> = old.finalizers.iter().copied().collect();
        let mut added: Vec<&str> = meta.finalizers.iter().copied().filter(|name| !before.contains(name)).collect();
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let quoted: Vec<String> = added.iter().map(|name| escape::GoQuoted(name).to_string()).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                quoted.join(", ")
            );
            errors.push(Error::forbidden(&path.child("finalizers"), detail, meta.at("finalizers")));
        }
    }
    if meta.resource_version.is_empty() {
        let at = meta.at("resourceVersion");
        errors.push(Error::invalid(&path.child("resourceVersion"), "", "must be specified for an update", at));
    }
    if meta.generation < old.generation {
        let at = meta.at("generation");
        errors.push(Error::invalid(&path.child("generation"), meta.generation, "must not be decremented", at));
    }
    let texts =
        [("name", meta.name, old.name), ("namespace", meta.namespace, old.namespace), ("uid", meta.uid, old.uid)];
    for (field, new, old) in texts {
        immutable(path, field, new == old, || BadValue::from(new), meta, errors);
    }
    let times = [
        ("creationTimestamp", meta.creation_timestamp, old.creation_timestamp),
        ("deletionTimestamp", meta.deletion_timestamp, old.deletion_timestamp),
    ];
    for (field, new, old) in times {
        let value = || match (new, release.has(Change::ValuesInJson)) {
            (None, true) => BadValue::Json("null".to_owned()),
            (None, false) => BadValue::Text("null".to_owned()),
            (Some(time), true) => BadValue::Json(format!("\"{time}\"")),
            (Some(time), false) => BadValue::Printed(time.to_string().replace('T', " ").replace('Z', " +0000 UTC")),
        };
        immutable(path, field, new == old, value, meta, errors);
    }
    let (new, before) = (meta.deletion_grace_period_seconds, old.deletion_grace_period_seconds);
    let value = || match new {
        None if !release.has(Change::ValuesInJson) => BadValue::Text("null".to_owned()),
        None => BadValue::Json("null".to_owned()),
        Some(seconds) => BadValue::Json(seconds.to_string()),
    };
    immutable(path, "deletionGracePeriodSeconds", new == before, value, meta, errors);
    common(meta, path, release, errors);
    words::labels(errors, first, release);
    words::once(errors, first, release);
}

fn immutable(
    path: &Path<'_>,
    field: &'static str,
    same: bool,
    value: impl FnOnce() -> BadValue,
    meta: &ObjectMeta<'_>,
    errors: &mut Errors,
) {
    if !same {
        errors.push(Error::invalid(&path.child(field), value(), "field is immutable", meta.at(field)));
    }
}

/// Runs the checks of both creation and update.
fn common(meta: &ObjectMeta<'_>, path: &Path<'_>, release: &AskedRelease, errors: &mut Errors) {
    let before = errors.len();
    labels(meta.labels, &path.child("labels"), meta.at("labels"), errors);
    annotations(meta.annotations, &path.child("annotations"), meta.at("annotations"), errors);
    let owners = &path.child("ownerReferences");
    owner_references(meta.owner_references, owners, release, meta.at("ownerReferences"), errors);
    managed_fields(meta, &path.child("managedFields"), release, errors);
    words::lengths(errors, before, Lengths::Bytes, release);
}

/// Checks `managedFields`: `ValidateManagedFields`.
fn managed_fields(meta: &ObjectMeta<'_>, path: &Path<'_>, release: &AskedRelease, errors: &mut Errors) {
    for (i, entry) in meta.managed_fields.iter().enumerate() {
        let path = path.index(i);
        let at = meta.at("managedFields");
        let operation = path.child("operation");
        if !matches!(entry.operation, "Apply" | "Update") {
            errors.push(match (release.has(Change::RequiredFieldsOfOwners), entry.operation) {
                (true, "") => Error::required(&operation, "must not be empty", at),
                (true, other) => Error::not_supported(&operation, other, &["Apply", "Update"], at),
                (false, other) => Error::invalid(&operation, other, "must be `Apply` or `Update`", at),
            });
        }
        if !matches!(entry.fields_type, "" | "FieldsV1") {
            errors.push(Error::invalid(&path.child("fieldsType"), entry.fields_type, "must be `FieldsV1`", at));
        }
        let manager = path.child("manager");
        if entry.manager.len() > MANAGER_LENGTH {
            errors.push(Error::too_long(&manager, MANAGER_LENGTH, at));
        }
        for (i, c) in entry.manager.char_indices() {
            if c != ' ' && !is_printable(c) {
                let detail = format!("invalid character U+{:04X} (at position {i})", u32::from(c));
                errors.push(Error::invalid(&manager, entry.manager, detail, at));
            }
        }
        if entry.subresource.len() > SUBRESOURCE_LENGTH {
            errors.push(Error::too_long(&path.child("subresource"), SUBRESOURCE_LENGTH, at));
        }
    }
}

/// Checks labels: `ValidateLabels`.
pub fn labels(labels: &[(&str, &str)], path: &Path<'_>, at: u32, errors: &mut Errors) {
    for (key, value) in labels {
        for message in names::qualified_name(key) {
            errors.push(Error::invalid(path, *key, message, at));
        }
        for message in names::label_value(value) {
            errors.push(Error::invalid(path, *value, message, at));
        }
    }
}

/// Checks annotations: `ValidateAnnotations`.
pub fn annotations(annotations: &[(&str, &str)], path: &Path<'_>, at: u32, errors: &mut Errors) {
    let mut size = 0usize;
    for (key, value) in annotations {
        size = size.saturating_add(key.len()).saturating_add(value.len());
        let is_lowercase = key.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let lower = if is_lowercase { Cow::Borrowed(*key) } else { Cow::Owned(key.to_lowercase()) };
        for message in names::qualified_name(&lower) {
            errors.push(Error::invalid(path, *key, message, at));
        }
    }
    if size > ANNOTATIONS_SIZE {
        errors.push(Error::too_long(path, ANNOTATIONS_SIZE, at));
    }
}

fn owner_references(
    references: &[OwnerReference<'_>],
    path: &Path<'_>,
    release: &AskedRelease,
    at: u32,
    errors: &mut Errors,
) {
    let mut controller: Option<&OwnerReference<'_>> = None;
    for (i, reference) in references.iter().enumerate() {
        owner_reference(reference, path, i, release, at, errors);
        if reference.controller == Some(true) {
            match controller {
                None => controller = Some(reference),
                // Each error shows all of them.
                Some(_) if errors.is_full() => errors.skip(),
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
                        first.kind, first.name, reference.kind, reference.name
                    );
                    let value = if release.has(Change::ValuesInJson) {
                        BadValue::Json(json(references, true))
                    } else {
                        let items: Vec<String> = references.iter().map(printed).collect();
                        BadValue::Printed(format!("[]v1.OwnerReference{{{}}}", items.join(", ")))
                    };
                    errors.push(Error::invalid(path, value, detail, at));
                }
            }
        }
    }
}

/// Checks an item of `ownerReferences`: `validateOwnerReference`. `path` is that of the list.
fn owner_reference(
    reference: &OwnerReference<'_>,
    path: &Path<'_>,
    index: usize,
    release: &AskedRelease,
    at: u32,
    errors: &mut Errors,
) {
    let version = match reference.api_version.split_once('/') {
        None => reference.api_version,
        Some((_, version)) if !version.contains('/') => version,
        Some(_) => "",
    };
    let texts = [("kind", reference.kind), ("name", reference.name), ("uid", reference.uid)];
    let empty = texts.into_iter().filter(|(_, value)| value.is_empty()).map(|(field, _)| field);
    let is_event = matches!(reference.api_version, "v1" | "/v1") && reference.kind == "Event";
    if !(version.is_empty() || empty.clone().next().is_some() || is_event) {
        return;
    }
    let item;
    let path = if release.has(Change::RequiredFieldsOfOwners) {
        item = path.index(index);
        let version_path = item.child("apiVersion");
        if reference.api_version.is_empty() {
            errors.push(Error::required(&version_path, "must not be empty", at));
        } else if version.is_empty() {
            let detail = "must be <group>/<version> or <version>";
            errors.push(Error::invalid(&version_path, reference.api_version, detail, at));
        }
        errors.extend(empty.map(|field| Error::required(&item.child(field), "must not be empty", at)));
        &item
    } else {
        if version.is_empty() {
            let detail = "version must not be empty";
            errors.push(Error::invalid(&path.child("apiVersion"), reference.api_version, detail, at));
        }
        for field in empty {
            let is_short = release.has(Change::ShortMessages);
            let detail = if is_short { "must not be empty".to_owned() } else { format!("{field} must not be empty") };
            errors.push(Error::invalid(&path.child(field), "", detail, at));
        }
        path
    };
    if is_event {
        let value = if release.has(Change::ValuesInJson) {
            BadValue::Json(json(std::slice::from_ref(reference), false))
        } else {
            BadValue::Printed(printed(reference))
        };
        errors.push(Error::invalid(path, value, "/v1, Kind=Event is disallowed from being an owner", at));
    }
}

/// Prints an owner reference like Go's `%#v`, but pointers to booleans are printed as their values.
fn printed(reference: &OwnerReference<'_>) -> String {
    let text = escape::GoQuoted;
    let pointer = |value: Option<bool>| value.map_or("(*bool)(nil)".to_owned(), |value| format!("&{value}"));
    format!(
        "v1.OwnerReference{{APIVersion:{}, Kind:{}, Name:{}, UID:{}, Controller:{}, BlockOwnerDeletion:{}}}",
        text(reference.api_version),
        text(reference.kind),
        text(reference.name),
        text(reference.uid),
        pointer(reference.controller),
        pointer(reference.block_owner_deletion),
    )
}

/// Prints owner references like Go's `encoding/json`.
fn json(references: &[OwnerReference<'_>], list: bool) -> String {
    let mut out = Vec::new();
    for (i, reference) in references.iter().enumerate() {
        out.push(if i > 0 { b',' } else { b'[' });
        let texts = [
            ("{\"apiVersion\":", reference.api_version),
            (",\"kind\":", reference.kind),
            (",\"name\":", reference.name),
            (",\"uid\":", reference.uid),
        ];
        for (name, text) in texts {
            out.extend_from_slice(name.as_bytes());
            escape::string(&mut out, text, Escape::Html);
        }
        for (name, value) in
            [("controller", reference.controller), ("blockOwnerDeletion", reference.block_owner_deletion)]
        {
            if let Some(value) = value {
                out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
            }
        }
        out.push(b'}');
    }
    out.push(b']');
    let text = String::from_utf8_lossy(&out);
    if list { text.into_owned() } else { text.get(1..text.len() - 1).unwrap_or_default().to_owned() }
}

/// The finalizers of Kubernetes itself.
const STANDARD_FINALIZERS: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// Returns the warnings about finalizers that the old object does not have: `validateKubeFinalizerName`.
pub(crate) fn warnings_of_finalizers(finalizers: &[&str], old: &[&str], release: &AskedRelease) -> Vec<String> {
    let mut added: Vec<&str> = finalizers.iter().copied().filter(|name| !old.contains(name)).collect();
    added.sort_unstable();
    added.dedup();
    let mut warnings = Vec::new();
    for name in added {
        let mut warn = |text: &str| warnings.push(format!("metadata.finalizers: {}: {text}", escape::GoQuoted(name)));
        for message in words::qualified_name(name, release) {
            warn(&message);
        }
        if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            let path =
                if name.contains('.') && release.has(Change::PathsOfFinalizers) { " including a path (/)" } else { "" };
            warn(&format!(
                "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
    warnings
}

fn finalizers(meta: &ObjectMeta<'_>, path: &Path<'_>, release: &AskedRelease, errors: &mut Errors) {
    let at = meta.at("finalizers");
    for name in meta.finalizers {
        for message in names::qualified_name(name) {
            errors.push(Error::invalid(path, *name, message, at));
        }
    }
    if meta.finalizers.contains(&"orphan") && meta.finalizers.contains(&"foregroundDeletion") {
        let mut value = Vec::new();
        for (i, name) in meta.finalizers.iter().enumerate() {
            value.push(if i > 0 { b',' } else { b'[' });
            escape::string(&mut value, name, Escape::Html);
        }
        value.push(b']');
        let value = if release.has(Change::ValuesInJson) {
            BadValue::Json(String::from_utf8_lossy(&value).into_owned())
        } else {
            let quoted: Vec<String> = meta.finalizers.iter().map(|name| escape::GoQuoted(name).to_string()).collect();
            BadValue::Printed(format!("[]string{{{}}}", quoted.join(", ")))
        };
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(Error::invalid(path, value, detail, at));
    }
}
