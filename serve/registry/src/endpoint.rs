//! Handles requests to one endpoint: a kind in one version, or one of its subresources.
//!
//! This is the fast path. Objects are borrowed [`Value`]s, and results are allocated in the caller's arena. The
//! functions of [`Registry`] that use [`Object`](crate::Object)s are a thin layer on it.

use crate::error::{EndpointError, SubresourceError};
use crate::kind::Kind;
use crate::options::WriteOptions;
use crate::registry::Registry;
use kubeshape_schema::Schema;
use kubeshape_schema::field::Path;
use kubeshape_smd::fieldpath::{Filter, PathElement, Set, SetBuilder};
use kubeshape_smd::managed::{self, FieldManager, Gvk, ObjectConverter};
use kubeshape_smd::merge::ConvertError;
use kubeshape_smd::value::{Compat, Map};
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::object::{Malformed, Resource, Root, coerce, prune};

/// A kind in one version, or one of its subresources.
///
/// Upstream, a request goes through the field manager of the endpoint and then through the strategy of the resource,
/// which resets the fields that the endpoint must not change. Both are here.
///
/// # Example: the status does not change through the object
/// ```
/// use kubeshape_registry::{Registry, WriteOptions};
/// use kubeshape_smd::{Bump, ToValue, managed::{Gvk, Time}};
/// use serde_json::json;
///
/// let mut registry = Registry::default();
/// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Cluster
///   names: {plural: tabs, kind: Tab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     subresources: {status: {}}
///     schema: {openAPIV3Schema: {type: object, properties: {
///       spec: {type: object, properties: {size: {type: integer}}},
///       status: {type: object, properties: {ready: {type: boolean}}}}}}
/// ", kubeshape_input::Limits::default()));
///
/// let arena = Bump::new();
/// let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"},
///     "spec": {"size": 3}, "status": {"ready": true}});
/// let options = WriteOptions::new("ci", Time(0));
/// let gvk = Gvk::new("example.com/v1", "Tab");
/// let tabs = registry.endpoint(gvk, "", &arena)?;
/// let live = tabs.apply(None, tab.to_value(&arena), &options, &arena).map_err(|error| error.to_string())?;
/// assert!(live.get("status").is_none());
///
/// let status = registry.endpoint(gvk, "status", &arena)?;
/// let live = status.apply(Some(live), tab.to_value(&arena), &options, &arena).map_err(|error| error.to_string())?;
/// assert_eq!(live.to_serde()["status"], json!({"ready": true}));
/// assert!(registry.endpoint(gvk, "scale", &arena).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Endpoint<'r> {
    kind: &'r Kind,
    manager: FieldManager<'r>,
    /// The release of structured-merge-diff that reads and writes managed fields.
    pub(crate) compat: Compat,
    version: &'r str,
    /// The top-level fields that are reset.
    kept: &'static [&'static str],
}

impl Registry {
    /// Returns the endpoint of a kind, or of one of its subresources; `""` is the object itself.
    ///
    /// # Errors
    /// There is no such kind, or its definition does not have the subresource.
    pub fn endpoint<'r>(
        &'r self,
        gvk: Gvk<'r>,
        subresource: &'r str,
        arena: &'r Bump,
    ) -> Result<Endpoint<'r>, EndpointError> {
        self.endpoint_with(gvk, subresource, None, arena)
    }

    /// Works like [`endpoint`](Self::endpoint), but lets something else convert between the versions of the kind: a
    /// webhook, for example.
    ///
    /// # Errors
    /// There is no such kind, or its definition does not have the subresource.
    pub fn endpoint_with<'r>(
        &'r self,
        gvk: Gvk<'r>,
        subresource: &'r str,
        objects: Option<&'r dyn ObjectConverter>,
        arena: &'r Bump,
    ) -> Result<Endpoint<'r>, EndpointError> {
        let kind = self.expect(gvk)?;
        if let Some(known) = kind.subresources()
            && !subresource.is_empty()
            && !known.iter().any(|name| **name == *subresource)
        {
            return Err(SubresourceError {
                api_version: gvk.api_version().to_owned(),
                kind: gvk.kind().to_owned(),
                subresource: subresource.to_owned(),
                subresources: known.iter().map(ToString::to_string).collect(),
                definition: kind.definition().location().clone(),
            }
            .into());
        }
        let versions: &'r Versions<'r> = arena.alloc(Versions { registry: self, gvk });
        let manager = FieldManager::new(gvk, self, objects.unwrap_or(versions)).subresource(subresource);
        let compat = self.settings().compat;
        let manager = manager.compat(compat).emptied(self.settings().emptied);
        let kept = kind.reset_fields(subresource);
        let endpoint = Endpoint { kind, manager, compat, version: gvk.api_version(), kept };
        let also = kind.also_reset(subresource, self.settings().release);
        let mut builder = SetBuilder::new(arena);
        for path in kept.iter().map(std::slice::from_ref).chain(also.iter().copied()) {
            let path: Vec<PathElement<'_>> = path.iter().map(|name| PathElement::FieldName(name)).collect();
            builder.insert(&path);
        }
        Ok(if kept.is_empty() && also.is_empty() { endpoint } else { endpoint.reset(builder.finish()) })
    }
}

/// The kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Server-side apply.
    Apply,
    /// Create, update, or the result of a patch.
    Update,
}

/// A live object as a server reads it.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// The object, in the version of the request.
    pub value: Value<'a>,
    /// The paths of fields that the definition does not have (any more).
    pub dropped: Vec<String>,
}

impl<'r> Endpoint<'r> {
    /// Returns a live object as a server reads it from its storage: a custom resource loses the fields that its version
    /// does not have, then those that the version of the request does not have; metadata is decoded. Defaults are not
    /// added. Objects of other kinds are unchanged.
    pub fn read<'a>(&'a self, live: Value<'a>, arena: &'a Bump) -> Read<'a> {
        let mut read = Read { value: live, dropped: Vec::new() };
        let Some(versions) = self.kind.resources() else { return read };
        let find = |version: &str| versions.iter().find(|resource| resource.api_version == version);
        let stored = live.gvk().api_version();
        if let Some(resource) = find(stored) {
            read = stored_as(resource, read, arena);
        }
        if let (Some(resource), Value::Map(map)) = (find(self.version).filter(|_| stored != self.version), read.value) {
            let version = arena.alloc_str(self.version);
            let value = Value::Map(map.with("apiVersion", Some(Value::String(version)), arena));
            read = stored_as(resource, Read { value, ..read }, arena);
        }
        read
    }

    /// Runs a request like a server with the live object in storage: see [`apply`](Self::apply) and
    /// [`update`](Self::update). `before` is the live object as it was [read](Self::read). Metadata of a custom
    /// resource, and an object of a built-in kind, are encoded like by a server, without nulls, empty values and zeros.
    ///
    /// # Errors
    /// See [`apply`](Self::apply).
    pub fn write<'a>(
        &'a self,
        verb: Verb,
        before: Option<Value<'a>>,
        new: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Value<'a>, managed::Error<'a>> {
        let after = match verb {
            Verb::Apply => self.apply(before, new, options, arena)?,
            Verb::Update => self.update(before, self.stored(new, arena), options, arena)?,
        };
        Ok(self.stored(after, arena))
    }

    /// Decodes the metadata of a custom resource, or an object of a built-in kind, into Go types and encodes it again.
    /// Invalid values are unchanged.
    fn stored<'a>(&self, after: Value<'a>, arena: &'a Bump) -> Value<'a> {
        if let Some(strategy) = self.kind.strategy() {
            let decoded = strategy.round_trip(after, arena);
            return decoded.map_or(after, |decoded| without_added(decoded.value, after, arena));
        }
        if !self.kind.definition().is_custom_resource() {
            return after;
        }
        let schema = self.kind.resources().and_then(|versions| {
            versions.iter().find(|resource| resource.api_version == after.gvk().api_version())?.schema
        });
        with_metadata(after, schema, arena)
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'r Kind {
        self.kind
    }

    /// Sets the fields that cannot be owned through this endpoint, instead of those of the definition. Then no fields
    /// are reset: the strategy of such a resource is unknown.
    #[must_use]
    pub fn with_reset_fields(self, fields: Set<'r>) -> Self {
        Endpoint { kept: &[], ..self.reset(fields) }
    }

    fn reset(self, fields: Set<'r>) -> Self {
        let manager = self.manager.reset_fields(vec![(self.version, Filter::Exclude(fields))]);
        Endpoint { manager, ..self }
    }

    /// Server-side apply. Returns the live object afterwards, with its managed fields. Without a live object, it is
    /// created.
    ///
    /// # Errors
    /// See [`managed::Error`]; [`Registry::explain`] converts it to an owned error with places.
    pub fn apply<'a>(
        &'a self,
        live: Option<Value<'a>>,
        config: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Value<'a>, managed::Error<'a>> {
        let after = self.manager.apply(live, config, &options.manager, options.force, options.now, arena)?;
        Ok(keep(after, live, self.kept, arena))
    }

    /// Create, update or patch. Returns the live object afterwards, with its managed fields. Without a live object, it
    /// is created.
    ///
    /// # Errors
    /// See [`apply`](Self::apply).
    pub fn update<'a>(
        &'a self,
        live: Option<Value<'a>>,
        new: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Value<'a>, managed::Error<'a>> {
        let after = self.manager.update(live, new, &options.manager, options.now, arena)?;
        Ok(keep(after, live, self.kept, arena))
    }

    /// Like [`update`](Self::update), but an object whose owners cannot be tracked, because it does not fit the schema,
    /// gets no managed fields (upstream: `FieldManager.UpdateNoErrors`). A server does this, and rejects the object in
    /// validation.
    pub fn update_no_errors<'a>(
        &'a self,
        live: Option<Value<'a>>,
        new: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Value<'a> {
        let after = self.manager.update_no_errors(live, new, &options.manager, options.now, arena);
        keep(after, live, self.kept, arena)
    }
}

/// Removes the fields that a version does not have.
fn stored_as<'a>(resource: &'a Resource<'_>, mut read: Read<'a>, arena: &'a Bump) -> Read<'a> {
    if !resource.preserve_unknown_fields && resource.schema.is_some() {
        let pruned = prune(read.value, resource.schema, Root::Resource, arena);
        read.dropped.extend(pruned.unknown);
        read.value = pruned.value;
    }
    Read { value: with_metadata(read.value, resource.schema, arena), ..read }
}

/// Returns a value without the members of maps that another one lacks: the zero values that Go prints. A server adds
/// defaults instead of most of them.
fn without_added<'a>(value: Value<'a>, source: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match (value, source) {
        (Value::Map(map), Value::Map(source)) => {
            let known = map.entries().iter().filter_map(|(key, value)| Some((*key, *value, source.get(key)?)));
            let kept = known.map(|(key, value, source)| (key, without_added(value, source, arena))).collect();
            Value::Map(Map::from_entries(kept, arena))
        }
        (Value::List(items), Value::List(sources)) if items.len() == sources.len() => {
            let items = items.iter().zip(sources).map(|(item, source)| without_added(*item, *source, arena));
            Value::List(arena.alloc_slice_fill_iter(items.collect::<Vec<_>>()))
        }
        (value, _) => value,
    }
}

/// Decodes the metadata of an object, and that of embedded resources.
fn with_metadata<'a>(object: Value<'a>, schema: Option<&Schema<'_>>, arena: &'a Bump) -> Value<'a> {
    let coerced = coerce(object, schema, Root::Resource, Malformed::Refuse, &Path::Root, arena);
    coerced.map_or(object, |coerced| coerced.value)
}

/// Resets the fields that the endpoint must not change (upstream: `PrepareForCreate` and `PrepareForUpdate` of a
/// resource's strategy).
fn keep<'a>(after: Value<'a>, before: Option<Value<'a>>, names: &[&'static str], arena: &'a Bump) -> Value<'a> {
    let Value::Map(mut object) = after else { return after };
    for name in names {
        let old = before.and_then(|before| before.get(name));
        let old = match (*name, old, object.get(name)) {
            // Managed fields are always the new ones, and what the object must be is what the request says.
            ("metadata", old, Some(new)) => {
                let old = old.and_then(Value::as_map).or_else(|| new.as_map());
                old.map(|old| {
                    let old = old.with("managedFields", new.get("managedFields"), arena);
                    let said = |key: &str| new.get(key).filter(|value| !value.is_null());
                    let asked = ["resourceVersion", "uid"].into_iter().filter_map(|key| Some((key, said(key)?)));
                    Value::Map(asked.fold(old, |old, (key, value)| old.with(key, Some(value), arena)))
                })
            }
            (_, old, _) => old,
        };
        object = object.with(name, old, arena);
    }
    Value::Map(object)
}

/// Converts between the versions of a kind by changing only the `apiVersion`, as the conversion strategy `None` does.
struct Versions<'r> {
    registry: &'r Registry,
    gvk: Gvk<'r>,
}

impl Versions<'_> {
    fn known(&self, api_version: &str) -> Option<&str> {
        let mut versions = self.registry.versions(self.gvk.group(), self.gvk.kind()).map(Kind::api_version);
        // If all objects have the same type, no definition has to know the kind.
        let own = || Some(self.gvk.api_version()).filter(|own| self.registry.has_one_type() && *own == api_version);
        versions.find(|known| *known == api_version).or_else(own)
    }
}

impl ObjectConverter for Versions<'_> {
    fn convert<'a>(&'a self, object: Value<'a>, api_version: &str, arena: &'a Bump) -> Result<Value<'a>, ConvertError> {
        let gvk = object.gvk();
        if gvk.api_version() == api_version {
            return Ok(object);
        }
        let Some(known) = self.known(api_version) else {
            // Upstream: `crConverter.ConvertToVersion`, whose error does not say that the version is missing.
            if self.registry.kind(self.gvk).is_some_and(|kind| kind.definition().is_custom_resource()) {
                let message = format!("request to convert CR to an invalid group/version: {api_version}");
                return Err(ConvertError::Failed(message));
            }
            return Err(ConvertError::MissingVersion(format!(
                "no kind {:?} is registered for version {api_version:?}",
                gvk.kind()
            )));
        };
        Ok(match object {
            Value::Map(map) => Value::Map(map.with("apiVersion", Some(Value::String(known)), arena)),
            other => other,
        })
    }
}
