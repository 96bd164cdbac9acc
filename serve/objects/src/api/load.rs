//! Loads objects before the first request.

use super::served::Served;
use super::strategy::{V1BETA1, validate_kept};
use super::{Api, Moment};
use crate::status::Status;
use crate::store::{Change, Key, Store, Then};
use crate::value::{self, meta_text, with_meta};
use kubeshape_registry::Object;
use kubeshape_smd::{Bump, ToValue, Value};
use std::sync::Arc;

/// The namespace of objects without one, as clients set it.
const DEFAULT_NAMESPACE: &str = "default";

impl Api {
    /// Stores an object with its status and its managed fields. It must be valid. Missing metadata is filled in.
    /// Unknown fields are dropped.
    ///
    /// # Errors
    /// No resource of its kind is served, the object is invalid, or it already exists.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::{Api, Moment, store::Store};
    /// use kubeshape_registry::Object;
    ///
    /// let pod = Object::read("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: web}}")?;
    /// let error = Api::default().load(&mut Store::default(), &pod, &Moment::default()).unwrap_err();
    /// assert_eq!(error.message, "no resource of kind Pod in version v1 is served");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self, store: &mut Store, object: &Object, moment: &Moment<'_>) -> Result<(), Status> {
        let (api_version, kind) = (object.api_version(), object.kind());
        let served = self.of_file(object);
        let found = served.and_then(|served| Some((served, served.strategy()?)));
        let Some((served, strategy)) = found else {
            let message = format!("no resource of kind {kind} in version {api_version} is served");
            return Err(Status::bad_request(message));
        };
        let arena = Bump::new();
        let written = object.to_value(&arena);
        let converted = strategy.of_v1beta1(written, &arena);
        let decoded = strategy.decode(converted.unwrap_or(written), None, &arena).map_err(Status::bad_request)?;
        let mut value = decoded.value;
        let text = |value, key| arena.alloc_str(meta_text(value, key)) as &str;
        let namespace = arena.alloc_str(namespace_of(served, text(value, "namespace"))) as &str;
        let named = (!namespace.is_empty()).then_some(Value::String(namespace));
        value = with_meta(value, "namespace", named, &arena);
        let now = moment.now.to_string();
        for (key, missing) in [("uid", moment.uid), ("creationTimestamp", now.as_str())] {
            if meta_text(value, key).is_empty() {
                value = with_meta(value, key, Some(Value::String(arena.alloc_str(missing))), &arena);
            }
        }
        if strategy.counts() && value::metadata(value).get("generation").is_none() {
            value = with_meta(value, "generation", Some(Value::Int(1)), &arena);
        }
        value = strategy.prepare_load(value, &arena);
        let name = text(value, "name");
        let errors = match converted {
            Some(_) => validate_kept(value, self.registry.settings().release, moment.stop),
            None => strategy.validate(value, moment.stop).errors,
        };
        if !errors.is_empty() {
            return Err(Status::invalid(&served.group, &served.kind, name, &errors));
        }
        let key = Key::new(&served.id, namespace, name);
        let value = strategy.stored(value, None, moment.assigned(store.revision(), &arena), &arena);
        // What a webhook would convert stays in its version: it is converted when it is read.
        let draft = match served.converter() {
            Some(_) => served.draft(value, &arena),
            None => served.decoded(served.draft(served.in_storage(value, &arena)?, &arena)),
        };
        let change = Change { key, expected: None, then: Then::Stored(draft) };
        store.has_room(&change).map_err(|full| Status::internal(full.to_string()))?;
        let exists = |_| Status::already_exists(served.group_resource(), name);
        store.commit(&[change]).map(|_| ()).map_err(exists)
    }

    /// Returns the resource of an object in a file: that of its version, or for definitions of v1beta1 that of v1.
    pub(super) fn of_file(&self, object: &Object) -> Option<&Arc<Served>> {
        let api_version = match (object.api_version(), object.kind()) {
            (V1BETA1, "CustomResourceDefinition") => "apiextensions.k8s.io/v1",
            (api_version, _) => api_version,
        };
        self.of_kind(api_version, object.kind())
    }

    /// Where an object is stored. `None` if no resource of its kind is served.
    pub fn key_of(&self, object: &Object) -> Option<Key> {
        let served = self.of_file(object)?;
        Some(Key::new(&served.id, namespace_of(served, object.namespace()), object.name()))
    }
}

/// Returns the namespace of an object, given the one in its metadata.
fn namespace_of<'n>(served: &Served, named: &'n str) -> &'n str {
    match named {
        _ if !served.namespaced => "",
        "" => DEFAULT_NAMESPACE,
        namespace => namespace,
    }
}
