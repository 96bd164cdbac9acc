//! The layers of the server's field manager, outermost first.

use super::convert::{ObjectConverter, TypeConverter};
use super::entries::RawEntry;
use super::structured::{Structured, VersionConverter};
use super::{
    ConflictError, DecodeError, Error, Gvk, Identifier, Managed, Operation, Time, cap, entries, last_applied, object,
    skip_non_applied, strip,
};
use crate::Bump;
use crate::fieldpath::{Filter, VersionedSet};
use crate::merge::{self, Ignored, Updater};
use crate::typed::Emptied;
use crate::value::{Compat, Value};
use std::fmt;

/// The manager name of an update until its changes are known (upstream `current-operation`).
const CURRENT_OPERATION: &str = "current-operation";

/// The name used for a manager without a name.
const UNKNOWN: &str = "unknown";

/// The maximum number of entries of updates.
const MAX_UPDATE_MANAGERS: usize = 10;

/// The field manager of one endpoint: one kind, version and subresource (upstream
/// `managedfields.NewDefaultFieldManager`).
///
/// # Example: apply with managed fields, and a conflict
/// ```
/// use kubeshape_smd::{Bump, ToValue, managed::{FieldManager, Gvk, SameObject, Time}, typed::Types};
/// use serde_json::json;
///
/// // Without a schema: maps are merged, lists are replaced.
/// let types = Types::deduced();
/// let ty = types.named("__untyped_deduced_").unwrap();
/// let deployments = FieldManager::new(Gvk::new("apps/v1", "Deployment"), &ty, &SameObject);
///
/// let arena = Bump::new();
/// let two = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 2}});
/// let five = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 5}});
/// let now = Time::parse("2000-01-01T00:00:00Z").unwrap();
/// let live = deployments.apply(None, two.to_value(&arena), "alice", false, now, &arena);
/// let live = live.map_err(|error| error.to_string())?;
/// assert_eq!(live.to_serde()["metadata"]["managedFields"], json!([{
///     "manager": "alice", "operation": "Apply", "apiVersion": "apps/v1", "time": "2000-01-01T00:00:00Z",
///     "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {".": {}, "f:replicas": {}}},
/// }]));
///
/// let refused = deployments.apply(Some(live), five.to_value(&arena), "bob", false, now, &arena).unwrap_err();
/// assert_eq!(refused.to_string(), r#"Apply failed with 1 conflict: conflict with "alice": .spec.replicas"#);
/// assert_eq!(refused.status().code, 409);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct FieldManager<'m> {
    kind: Gvk<'m>,
    subresource: &'m str,
    track_from_creation: bool,
    max_update_managers: Option<usize>,
    compat: Compat,
    updater: Updater<'m, VersionConverter<'m>>,
}

impl<'m> FieldManager<'m> {
    /// Creates a field manager for the objects of a kind. The hub version is the kind's own, there are no subresource
    /// and no reset fields, at most ten entries of updates are kept, and objects are tracked from their creation.
    pub fn new(kind: Gvk<'m>, types: &'m dyn TypeConverter, objects: &'m dyn ObjectConverter) -> Self {
        let converter = VersionConverter { types, objects, hub: kind.api_version() };
        FieldManager {
            kind,
            subresource: "",
            track_from_creation: true,
            max_update_managers: Some(MAX_UPDATE_MANAGERS),
            compat: Compat::default(),
            updater: Updater {
                converter,
                ignored: Ignored::Nothing,
                return_input_on_noop: false,
                emptied: Emptied::Null,
            },
        }
    }

    /// Sets the version through which objects are converted, such as `apps/v1`. Results are in this version.
    #[must_use]
    pub fn hub(mut self, api_version: &'m str) -> Self {
        self.updater.converter.hub = api_version;
        self
    }

    /// Sets the subresource of the endpoint, such as `status`.
    #[must_use]
    pub fn subresource(mut self, subresource: &'m str) -> Self {
        self.subresource = subresource;
        self
    }

    /// Sets for each version a filter of the fields that can be owned through this endpoint. The filter of a version
    /// also applies to entries of other managers at that version.
    ///
    /// For a custom resource, the API server gives only the filter of the endpoint's own version. Then changes by this
    /// endpoint are compared in full with entries at other versions.
    #[must_use]
    pub fn reset_fields(mut self, filters: Vec<(&'m str, Filter<'m>)>) -> Self {
        self.updater.ignored = Ignored::Filters(filters);
        self
    }

    /// Sets the number of entries of updates above which the oldest ones are merged. `None` is no limit.
    #[must_use]
    pub fn max_update_managers(mut self, max: Option<usize>) -> Self {
        self.max_update_managers = max;
        self
    }

    /// Sets whether objects are tracked from their creation on, or from the first apply on.
    #[must_use]
    pub fn track_from_creation(mut self, yes: bool) -> Self {
        self.track_from_creation = yes;
        self
    }

    /// Sets the version of structured merge diff by whose rules field sets are read and written. The API server 1.36
    /// uses [`Compat::V63`].
    #[must_use]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Sets what happens to lists and maps that an apply empties.
    #[must_use]
    pub fn emptied(mut self, emptied: Emptied) -> Self {
        self.updater.emptied = emptied;
        self
    }

    /// Does a server-side apply. Returns the new live object with its managed fields. Without a live object, it creates
    /// one.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn apply<'a>(
        &'a self,
        live: Option<Value<'a>>,
        patch: Value<'a>,
        manager: &str,
        force: bool,
        now: Time,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Error<'a>> {
        let live = self.live(live, arena)?;
        let managed = self.managed_of(live, arena).map_err(Error::Decode)?;
        let gvk = patch.gvk();
        if gvk != self.kind {
            return Err(Error::InvalidObjectType(gvk));
        }
        let call = Call { manager: self, structured: self.structured(arena), now, arena };
        let applied = call.apply_as(live, patch, managed, manager, force);
        let (object, managed) = applied.map_err(|error| match error {
            Error::Apply(merge::Error::Conflicts(conflicts)) => Error::Conflicts(ConflictError::new(conflicts)),
            other => other,
        })?;
        self.written(object, &managed, arena)
    }

    /// Does any other write. Returns the new object with its managed fields. Without a live object, it creates one.
    ///
    /// If the managed fields of the new object are an empty list or a list of one empty entry, they are reset.
    /// Otherwise its own managed fields are used, or those of the live object if the new object has none that can be
    /// read. Through a subresource, those of the live object are always used.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn update<'a>(
        &'a self,
        live: Option<Value<'a>>,
        new: Value<'a>,
        manager: &str,
        now: Time,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Error<'a>> {
        let live = self.live(live, arena)?;
        if new.as_map().is_none() {
            return Err(Error::NoMap);
        }
        let managed = self.managed_of_update(live, new, arena);
        let new = object::without_managed_fields(new, arena);
        let managed = if skip_non_applied::skips(&managed, live, self.track_from_creation) {
            managed
        } else {
            let call = Call { manager: self, structured: self.structured(arena), now, arena };
            call.update_as(live, new, managed, manager)?
        };
        self.written(new, &managed, arena)
    }

    /// Does the same as [`update`](Self::update), but if the owners cannot be tracked, returns the new object without
    /// managed fields (upstream `UpdateNoErrors`). The server does this for every write except apply.
    pub fn update_no_errors<'a>(
        &'a self,
        live: Option<Value<'a>>,
        new: Value<'a>,
        manager: &str,
        now: Time,
        arena: &'a Bump,
    ) -> Value<'a> {
        let updated = self.update(live, new, manager, now, arena);
        updated.unwrap_or_else(|_| object::without_managed_fields(new, arena))
    }

    fn live<'a>(&'a self, live: Option<Value<'a>>, arena: &'a Bump) -> Result<Value<'a>, Error<'a>> {
        match live {
            None | Some(Value::Null) => Ok(object::empty(self.kind.api_version(), self.kind.kind(), arena)),
            Some(live @ Value::Map(_)) => Ok(live),
            Some(_) => Err(Error::NoMap),
        }
    }

    fn structured<'a>(&'a self, arena: &'a Bump) -> Structured<'a> {
        Structured { updater: &self.updater, kind: self.kind, arena }
    }

    fn managed_of<'a>(&self, live: Value<'a>, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
        entries::decode_as(object::managed_fields(live), self.compat, arena)
    }

    fn written<'a>(&self, object: Value<'a>, managed: &Managed<'a>, arena: &'a Bump) -> Result<Value<'a>, Error<'a>> {
        let list = entries::encode_as(managed, self.compat, arena).map_err(Error::Encode)?;
        Ok(object::with_managed_fields(object, list, arena))
    }

    /// Returns the owners from which an update starts (upstream `decodeLiveOrNew`).
    fn managed_of_update<'a>(&self, live: Value<'a>, new: Value<'a>, arena: &'a Bump) -> Managed<'a> {
        if self.subresource.is_empty()
            && let Some(new) = RawEntry::read_list(object::managed_fields(new))
        {
            if new.is_empty() || new == [RawEntry::EMPTY] {
                return Managed::default();
            }
            if let Ok(managed) = Managed::from_entries(&new, self.compat, arena) {
                return managed;
            }
        }
        self.managed_of(live, arena).unwrap_or_default()
    }
}

impl fmt::Debug for FieldManager<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldManager")
            .field("kind", &self.kind)
            .field("subresource", &self.subresource)
            .field("hub", &self.updater.converter.hub)
            .finish_non_exhaustive()
    }
}

/// One call to the inner layers.
struct Call<'a> {
    manager: &'a FieldManager<'a>,
    structured: Structured<'a>,
    now: Time,
    arena: &'a Bump,
}

impl<'a> Call<'a> {
    /// The layers of the last-applied annotation.
    fn apply_as(
        &self,
        live: Value<'a>,
        patch: Value<'a>,
        managed: Managed<'a>,
        manager: &str,
        force: bool,
    ) -> Result<(Value<'a>, Managed<'a>), Error<'a>> {
        if manager != last_applied::KUBECTL {
            return self.apply_tracked(live, patch, managed, manager, force);
        }
        let applied = self.apply_tracked(live, patch, managed.clone(), manager, force);
        let (object, managed) = match applied {
            Err(Error::Apply(merge::Error::Conflicts(conflicts))) => {
                let remaining = last_applied::remaining(conflicts, live, &self.structured);
                if !remaining.0.is_empty() {
                    return Err(Error::Apply(merge::Error::Conflicts(remaining)));
                }
                self.apply_tracked(live, patch, managed, manager, true)?
            }
            other => other?,
        };
        Ok((last_applied::update(object, patch, self.arena), managed))
    }

    /// The layer that gives all fields of an object without owners to one manager before the first apply.
    fn apply_tracked(
        &self,
        mut live: Value<'a>,
        patch: Value<'a>,
        mut managed: Managed<'a>,
        manager: &str,
        force: bool,
    ) -> Result<(Value<'a>, Managed<'a>), Error<'a>> {
        if managed.fields.is_empty() {
            let gvk = patch.gvk();
            let nothing = object::empty(gvk.api_version(), gvk.kind(), self.arena);
            managed = self
                .update_as(nothing, live, managed, skip_non_applied::BEFORE_FIRST_APPLY)
                .map_err(|error| Error::BeforeFirstApply(Box::new(error)))?;
        }
        let identifier = self.identifier(manager, Operation::Apply);
        let text = identifier.text(self.arena);
        let fields = std::mem::take(&mut managed.fields);
        let (object, mut fields) = self.structured.apply(live, patch, fields, text, force)?;
        strip::strip(&mut fields, text, self.arena);
        managed.fields = fields;
        if let Some(object) = object {
            managed.set_time(text, identifier, Some(self.now));
            live = object;
        } else {
            managed.know(text, identifier);
        }
        Ok((live, managed))
    }

    /// An update has a manager name of its own. If it changed anything, its fields are added to those of the manager,
    /// and the time of the entry is set.
    fn update_as(
        &self,
        live: Value<'a>,
        new: Value<'a>,
        mut managed: Managed<'a>,
        manager: &str,
    ) -> Result<Managed<'a>, Error<'a>> {
        let identifier = self.identifier(manager, Operation::Update);
        let fields = std::mem::take(&mut managed.fields);
        let mut fields = self.structured.update(live, new, fields, CURRENT_OPERATION)?;
        strip::strip(&mut fields, CURRENT_OPERATION, self.arena);
        if let Some(changed) = fields.remove(CURRENT_OPERATION) {
            let text = identifier.text(self.arena);
            let set = match fields.get(text) {
                Some(previous) => changed.set.union(previous.set, self.arena),
                None => changed.set,
            };
            fields.insert(text, VersionedSet { set, ..changed });
            managed.set_time(text, identifier, Some(self.now));
        }
        managed.fields = fields;
        if let Some(max) = self.manager.max_update_managers {
            cap::cap(&mut managed, max, self.arena);
        }
        Ok(managed)
    }

    fn identifier(&self, manager: &str, operation: Operation) -> Identifier<'a> {
        Identifier {
            manager: if manager.is_empty() { UNKNOWN } else { self.arena.alloc_str(manager) },
            operation,
            api_version: self.manager.kind.api_version(),
            subresource: self.manager.subresource,
        }
    }
}
