//! Prepares and validates the objects of a resource before they are stored (upstream: the strategies of registries).

use crate::value::{self, with, with_meta};
use kubeshape_gotypes::definition::DEFINITION;
use kubeshape_gotypes::{normal, write, write_typed};
use kubeshape_registry::Requests;
use kubeshape_schema::field::Error;
use kubeshape_smd::value::{Map, Stop};
use kubeshape_smd::{Bump, Value};
use kubeshape_structural::read::Manifest;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{self, Assigned, BuiltInKind};
use kubeshape_validate::crd::{self, Defaults, Definition};
use kubeshape_validate::metadata::ObjectMeta;
use kubeshape_validate::object::{
    Checked, Object, count_generation, decode_metadata, deep_equal, keep_metadata, metadata_update_errors, with_status,
};
use kubeshape_validate::typed::Typed;
use kubeshape_yaml::{Node, Tape};
use std::sync::Arc;

/// The version of definitions that servers before 1.22 had, too.
pub(super) const V1BETA1: &str = "apiextensions.k8s.io/v1beta1";
/// The default port of a conversion webhook.
const WEBHOOK_PORT: i64 = 443;

/// Prepares and validates the objects of a resource.
#[derive(Clone, Debug)]
pub(super) enum Strategy {
    /// A custom resource.
    Custom(Requests),
    /// CustomResourceDefinitions, by the rules of a release.
    Definition(Arc<Typed>, Release),
    /// Another kind of Kubernetes.
    BuiltIn(Arc<builtin::Strategy>),
    /// A kind of which only an OpenAPI document is known: only types are checked.
    Documented(Arc<Documented>),
}

/// A kind of which only an OpenAPI document is known.
#[derive(Debug)]
pub(super) struct Documented {
    pub(super) types: Typed,
    pub(super) namespaced: bool,
    pub(super) has_status: bool,
    pub(super) metadata: BuiltInKind,
    pub(super) release: Release,
}

impl Documented {
    fn without_status<'a>(&self, object: Value<'a>, status: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
        if self.has_status { with(object, "status", status, arena) } else { object }
    }
}

impl Strategy {
    /// Decodes an object: unknown fields are dropped, defaults inserted. The source is the JSON of a request, which
    /// says how numbers are written.
    ///
    /// # Errors
    /// A value has the wrong type. The message is that of Go's decoder.
    pub(super) fn decode<'a>(
        &'a self,
        object: Value<'a>,
        source: Option<Node<'a>>,
        arena: &'a Bump,
    ) -> Result<Object<'a>, String> {
        let types = match (self, source) {
            (Strategy::Custom(requests), _) => return requests.resource().decode(object, arena),
            (Strategy::BuiltIn(kind), Some(source)) => return kind.decode_json(object, source, arena),
            (Strategy::BuiltIn(kind), None) => return kind.decode(object, arena),
            (Strategy::Definition(types, _), _) => types,
            (Strategy::Documented(kind), _) => &kind.types,
        };
        let decoded = source.map_or_else(|| types.decode(object), |source| types.decode_json(object, source));
        if let Some(error) = decoded.errors.into_iter().next() {
            return Err(error.message);
        }
        let metadata = decode_metadata(value::metadata(object), arena)?;
        let object_with = |object, arena| with(object, "metadata", Some(metadata.value), arena);
        if let Strategy::Documented(_) = self {
            let value = object_with(types.known(object, arena), arena);
            return Ok(Object { value, unknown: decoded.unknown });
        }
        let mut unknown: Vec<String> = metadata.unknown.iter().map(|field| format!("metadata.{field}")).collect();
        let normal = normal(&DEFINITION, object_with(object, arena), arena);
        unknown.extend(normal.unknown);
        Ok(Object { value: with_defaults(normal.value, arena), unknown })
    }

    /// Decodes the result of server-side apply. A custom resource keeps its nulls, which validation refuses.
    ///
    /// # Errors
    /// See [`decode`](Self::decode).
    pub(super) fn decode_applied<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        match self {
            Strategy::Custom(requests) => requests.resource().decode_applied(object, arena),
            _ => self.decode(object, None, arena),
        }
    }

    /// Adds the zero values that Go prints to an object with only type and metadata.
    pub(super) fn empty<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        match self {
            Strategy::Definition(..) => normal(&DEFINITION, object, arena).value,
            Strategy::Custom(_) | Strategy::BuiltIn(_) | Strategy::Documented(_) => object,
        }
    }

    /// Returns the object that a new one is compared with to find the fields of its creator: Go's zero value. `None` is
    /// an empty object.
    pub(super) fn zero<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
        let said = |key: &'static str| object.get(key).map(|value| (key, value));
        let head: Vec<_> = ["apiVersion", "kind"].into_iter().filter_map(said).collect();
        match self {
            Strategy::Custom(_) => None,
            Strategy::Definition(..) => Some(self.empty(Value::Map(Map::from_entries(head, arena)), arena)),
            Strategy::BuiltIn(kind) => Some(kind.types().stored(Value::Map(Map::from_entries(head, arena)), arena)),
            Strategy::Documented(kind) => Some(kind.types.stored(Value::Map(Map::from_entries(head, arena)), arena)),
        }
    }

    /// Prepares a decoded object for creation: `PrepareForCreate`.
    ///
    /// # Errors
    /// The object cannot be decoded again.
    pub(super) fn prepare_create<'a>(
        &'a self,
        object: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Result<Value<'a>, String> {
        let prepared = match self {
            Strategy::Custom(requests) => requests.resource().prepare_create(object, arena),
            Strategy::Definition(..) => {
                let empty = normal(&DEFINITION, Value::Map(Map::EMPTY), arena).value;
                let object = with(object, "status", empty.get("status"), arena);
                with_meta(with_storage_version(object, arena), "generation", Some(Value::Int(1)), arena)
            }
            // What is read from the storage has its defaults from `stored`.
            Strategy::BuiltIn(kind) => return Ok(kind.prepare_create(object, assigned, arena)),
            Strategy::Documented(kind) => {
                let object = kind.without_status(object, None, arena);
                if kind.metadata.counts_generations() {
                    with_meta(object, "generation", Some(Value::Int(1)), arena)
                } else {
                    object
                }
            }
        };
        // What is read from the storage has defaults, also those of a status that was dropped.
        Ok(self.decode(prepared, None, arena)?.value)
    }

    /// Prepares a decoded object that is loaded before the first request: its status stays.
    pub(super) fn prepare_load<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        match self {
            Strategy::Definition(..) => with_storage_version(object, arena),
            Strategy::Custom(_) | Strategy::BuiltIn(_) | Strategy::Documented(_) => object,
        }
    }

    /// Whether the server counts the generations of objects.
    pub(super) fn counts(&self) -> bool {
        match self {
            Strategy::Custom(_) | Strategy::Definition(..) => true,
            Strategy::BuiltIn(kind) => kind.metadata().counts_generations(),
            Strategy::Documented(kind) => kind.metadata.counts_generations(),
        }
    }

    /// Whether an update may leave out which version it replaces.
    pub(super) fn allows_unconditional_updates(&self) -> bool {
        matches!(self, Strategy::BuiltIn(kind) if kind.metadata().allows_unconditional_updates())
    }

    /// Prepares a decoded object that replaces another one: `BeforeUpdate` and `PrepareForUpdate`.
    pub(super) fn prepare_update<'a>(
        &'a self,
        object: Value<'a>,
        old: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        match self {
            Strategy::Custom(requests) => requests.resource().prepare_update(object, old, arena),
            Strategy::Definition(..) => {
                let object = with(keep_metadata(object, old, arena), "status", old.get("status"), arena);
                let is_changed = !same("spec", object, old);
                count_generation(with_storage_version(object, arena), old, is_changed, arena)
            }
            Strategy::BuiltIn(kind) => kind.prepare_update(keep_metadata(object, old, arena), old, assigned, arena),
            Strategy::Documented(kind) => {
                let object = kind.without_status(keep_metadata(object, old, arena), old.get("status"), arena);
                count_generation(object, old, kind.metadata.counts_generations() && !same("spec", object, old), arena)
            }
        }
    }

    /// Prepares a decoded object that is sent to the status subresource.
    pub(super) fn prepare_status_update<'a>(
        &'a self,
        object: Value<'a>,
        old: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        match self {
            Strategy::Custom(requests) => requests.resource().prepare_status_update(object, old, arena),
            Strategy::BuiltIn(kind) => {
                kind.prepare_status_update(keep_metadata(object, old, arena), old, assigned, arena)
            }
            // Metadata change, too: `ResetObjectMetaForStatus` resets the new ones to themselves.
            Strategy::Definition(..) => {
                let object = with(keep_metadata(object, old, arena), "spec", old.get("spec"), arena);
                count_generation(object, old, false, arena)
            }
            Strategy::Documented(_) => with_status(object, old, arena),
        }
    }

    /// Validates a new object: `Validate`.
    pub(super) fn validate(&self, object: Value<'_>, stop: Stop<'_>) -> Checked {
        let errors = match self {
            Strategy::Custom(requests) => requests.resource().validate_until(object, stop),
            Strategy::Definition(_, release) => {
                let options = crd::Options::create(*release).until(stop);
                read(object, |definition| crd::validate_with(definition, &options)).unwrap_or_default()
            }
            Strategy::BuiltIn(kind) => return kind.validate(object),
            Strategy::Documented(kind) => kind.metadata.errors(object, kind.namespaced),
        };
        Checked { errors, warnings: Vec::new() }
    }

    /// Returns an object of a file in the version in which it is stored: a definition of v1beta1 becomes one of v1.
    /// `None` if it is in that version already, or is malformed.
    pub(super) fn of_v1beta1<'a>(&self, object: Value<'_>, arena: &'a Bump) -> Option<Value<'a>> {
        let is_beta = matches!(self, Strategy::Definition(..)) && object.gvk().api_version() == V1BETA1;
        is_beta.then(|| read_as(object, Defaults::Set, |one| crd::to_v1(one, &Bump::new()).copy_into(arena))).flatten()
    }

    /// Validates an object that replaces another one: `ValidateUpdate`.
    pub(super) fn validate_update(&self, object: Value<'_>, old: Value<'_>, stop: Stop<'_>) -> Checked {
        let errors = match self {
            Strategy::Custom(requests) => return requests.resource().validate_update_until(object, old, stop),
            Strategy::Definition(_, release) => {
                let validate = |new: &Definition<'_>, old: &Definition<'_>| {
                    let options = crd::Options::update(new, old, *release).until(stop);
                    crd::validate_update_with(new, old, &options)
                };
                read_both(object, old, validate).unwrap_or_default()
            }
            Strategy::BuiltIn(kind) => return kind.validate_update(object, old),
            Strategy::Documented(kind) => metadata_update_errors(object, old, kind.release),
        };
        Checked { errors, warnings: Vec::new() }
    }

    /// Returns a valid object as it is read after it was stored. In definitions, validation decodes the metadata in
    /// defaults.
    pub(super) fn stored<'a>(
        &self,
        object: Value<'a>,
        old: Option<Value<'a>>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        match self {
            Strategy::Definition(..) if mentions(object, "x-kubernetes-embedded-resource") => {
                let coerced = |definition: &Definition<'_>| crd::with_coerced_defaults(object, definition, arena);
                read(object, coerced).unwrap_or(object)
            }
            Strategy::BuiltIn(kind) => kind.stored(object, old, assigned, arena),
            Strategy::Custom(_) | Strategy::Definition(..) | Strategy::Documented(_) => object,
        }
    }

    /// Validates an object that is sent to the status subresource.
    pub(super) fn validate_status_update(&self, object: Value<'_>, old: Value<'_>, stop: Stop<'_>) -> Checked {
        match self {
            Strategy::Custom(requests) => requests.resource().validate_status_update_until(object, old, stop),
            Strategy::BuiltIn(kind) => kind.validate_status_update(object, old),
            Strategy::Definition(_, release) => {
                Checked { errors: metadata_update_errors(object, old, *release), warnings: Vec::new() }
            }
            Strategy::Documented(kind) => {
                Checked { errors: metadata_update_errors(object, old, kind.release), warnings: Vec::new() }
            }
        }
    }

    /// Returns warnings for the client: `WarningsOnCreate`, `WarningsOnUpdate`.
    pub(super) fn warnings(&self, object: Value<'_>, old: Option<Value<'_>>) -> Vec<String> {
        let warnings = match (self, old) {
            (Strategy::Custom(requests), old) => return requests.resource().warnings(object, old),
            // `validate` and `validate_update` return those of built-in kinds.
            (Strategy::BuiltIn(_) | Strategy::Documented(_), _) => return Vec::new(),
            (Strategy::Definition(_, release), None) => read(object, |definition| crd::warnings(definition, *release)),
            (Strategy::Definition(_, release), Some(old)) => {
                read_both(object, old, |new, old| crd::warnings_of_update(new, old, *release))
            }
        };
        warnings.unwrap_or_default().into_iter().map(|warning| warning.text).collect()
    }

    /// Appends an object as compact JSON, as the server prints it.
    pub(super) fn write(&self, object: Value<'_>, out: &mut Vec<u8>) {
        match self {
            Strategy::Custom(_) => object.write_go_json(out),
            Strategy::Definition(..) => write(&DEFINITION, object, out),
            Strategy::BuiltIn(_) | Strategy::Documented(_) => write_typed(object, out),
        }
    }
}

/// Validates a definition that a file has in v1beta1, as one that the server has since it served v1beta1: what v1
/// refuses of new definitions, such as `preserveUnknownFields: true` or a missing schema, may stay.
pub(super) fn validate_kept(object: Value<'_>, release: Release, stop: Stop<'_>) -> Vec<Error> {
    let errors = read(object, |definition| {
        let metadata = ObjectMeta { resource_version: "1", ..definition.metadata };
        let kept = Definition { metadata, ..*definition };
        let options = crd::Options::update(&kept, &kept, release).until(stop);
        let mut errors = crd::validate_update_with(&kept, &kept, &options);
        // An update does not check the name.
        let of_new = crd::validate_with(definition, &options);
        for error in of_new.into_iter().filter(|error| error.path.starts_with("metadata.")) {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        errors
    });
    errors.unwrap_or_default()
}

/// Returns whether any map in a value has a key.
fn mentions(value: Value<'_>, key: &str) -> bool {
    match value {
        Value::Map(map) => map.entries().iter().any(|(name, inner)| *name == key || mentions(*inner, key)),
        Value::List(items) => items.iter().any(|item| mentions(*item, key)),
        _ => false,
    }
}

/// Returns whether a field of two objects is equal.
fn same(key: &str, a: Value<'_>, b: Value<'_>) -> bool {
    match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => deep_equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Reads a definition for its checks. `None` if it cannot be read, which decoding rules out.
fn read<T>(object: Value<'_>, with: impl FnOnce(&Definition<'_>) -> T) -> Option<T> {
    read_as(object, Defaults::Omitted, with)
}

fn read_as<T>(object: Value<'_>, defaults: Defaults, with: impl FnOnce(&Definition<'_>) -> T) -> Option<T> {
    let (mut tape, mut text, arena) = (Tape::new(), Vec::new(), Bump::new());
    object.write_go_json(&mut text);
    value::read(&text, &mut tape).ok()?;
    let node = tape.document(std::str::from_utf8(&text).ok()?).root()?;
    let definition = Definition::read(Manifest { node, implied: None }, defaults, &arena).value?;
    Some(with(&definition))
}

fn read_both<T>(new: Value<'_>, old: Value<'_>, with: impl FnOnce(&Definition<'_>, &Definition<'_>) -> T) -> Option<T> {
    let (arena, mut tapes, mut texts) = (Bump::new(), [Tape::new(), Tape::new()], [Vec::new(), Vec::new()]);
    for ((object, tape), text) in [new, old].into_iter().zip(&mut tapes).zip(&mut texts) {
        object.write_go_json(text);
        value::read(text, tape).ok()?;
    }
    let mut definitions = tapes.iter().zip(&texts).map(|(tape, text)| {
        let node = tape.document(std::str::from_utf8(text).ok()?).root()?;
        Definition::read(Manifest { node, implied: None }, Defaults::Omitted, &arena).value
    });
    let (new, old) = (definitions.next()??, definitions.next()??);
    Some(with(&new, &old))
}

/// Sets defaults as `SetDefaults_CustomResourceDefinition` does.
fn with_defaults<'a>(definition: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let spec = definition.get("spec").unwrap_or(Value::Null);
    let mut names = spec.get("names").unwrap_or(Value::Null);
    let text = |value: Value<'a>, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = text(names, "kind");
    if text(names, "singular").is_empty() && !kind.is_empty() {
        names = with(names, "singular", Some(Value::String(arena.alloc_str(&kind.to_lowercase()))), arena);
    }
    if text(names, "listKind").is_empty() && !kind.is_empty() {
        names = with(names, "listKind", Some(Value::String(arena.alloc_str(&format!("{kind}List")))), arena);
    }
    let mut conversion = spec.get("conversion").unwrap_or(Value::Map(Map::EMPTY));
    if spec.get("conversion").is_none() {
        conversion = with(conversion, "strategy", Some(Value::String("None")), arena);
    }
    let webhook = conversion.get("webhook");
    let client = webhook.and_then(|webhook| webhook.get("clientConfig"));
    if let (Some(webhook), Some(client)) = (webhook, client)
        && let Some(service) = client.get("service")
        && service.get("port").is_none()
    {
        let service = with(service, "port", Some(Value::Int(WEBHOOK_PORT)), arena);
        let webhook = with(webhook, "clientConfig", Some(with(client, "service", Some(service), arena)), arena);
        conversion = with(conversion, "webhook", Some(webhook), arena);
    }
    let spec = with(with(spec, "names", Some(names), arena), "conversion", Some(conversion), arena);
    with(definition, "spec", Some(spec), arena)
}

/// Returns a definition whose status lists the storage version in `storedVersions`.
fn with_storage_version<'a>(definition: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let status = definition.get("status").unwrap_or(Value::Null);
    let versions = definition.get("spec").and_then(|spec| spec.get("versions")).and_then(Value::as_list);
    let is_storage = |version: &&Value<'a>| matches!(version.get("storage"), Some(Value::Bool(true)));
    let storage =
        versions.unwrap_or_default().iter().find(is_storage).and_then(|version| version.get("name")?.as_str());
    let Some(storage) = storage else { return definition };
    let mut stored = status.get("storedVersions").and_then(Value::as_list).unwrap_or_default().to_vec();
    if !stored.iter().any(|name| name.as_str() == Some(storage)) {
        stored.push(Value::String(storage));
    }
    let stored = Value::List(arena.alloc_slice_copy(&stored));
    with(definition, "status", Some(with(status, "storedVersions", Some(stored), arena)), arena)
}
