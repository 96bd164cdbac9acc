//! What an API server makes of custom resources before it stores them: pruning, defaults, validation, rules in CEL.

use crate::error::Error;
use crate::{Kind, Object, Registry};
use kubeshape_schema::field;
use kubeshape_smd::{Bump, ToValue, Value};
use kubeshape_validate::object::Resource;

/// A request with a custom resource, before the server looks at it.
#[derive(Clone, Copy, Debug)]
pub enum Request<'o> {
    /// The object is created.
    Create(&'o Object),
    /// The object replaces another one.
    Update {
        /// The new object.
        object: &'o Object,
        /// The object that is stored.
        old: &'o Object,
    },
    /// The object is sent to the status subresource.
    UpdateStatus {
        /// The object with the new status.
        object: &'o Object,
        /// The object that is stored.
        old: &'o Object,
    },
}

impl<'o> Request<'o> {
    /// The object that is sent.
    pub fn object(&self) -> &'o Object {
        match self {
            Request::Create(object) | Request::Update { object, .. } | Request::UpdateStatus { object, .. } => object,
        }
    }
}

/// What the server says about a request. It owns everything.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The object as it would be stored: without unknown fields, with defaults.
    pub stored: Object,
    /// The paths of the fields that are dropped because the schema does not know them. With strict field validation a
    /// server refuses the request because of them.
    pub unknown: Vec<String>,
    /// Why the request is refused. Their `at` is 0.
    pub errors: Vec<field::Error>,
}

impl Judgement {
    /// Whether the object is stored.
    pub fn is_accepted(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Registry {
    /// Judges a request with a custom resource as the server's registry does: decoding, pruning, defaults, metadata, schema,
    /// list types, rules in CEL. Admission webhooks and policies, quotas and permissions are no part of it.
    ///
    /// The definition is read anew for each call; its rules are compiled once. Whoever has many objects of one kind uses
    /// [`Kind::with_requests`].
    ///
    /// # Errors
    /// - [`Error::Kind`]: there is no such kind.
    /// - [`Error::Refused`]: the kind is no custom resource, or the metadata of an object does not decode.
    ///
    /// # Example: an admission check
    /// ```
    /// use kubeshape_registry::{Object, Registry, Request};
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
    ///     schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    ///       min: {type: integer, default: 1}, max: {type: integer}},
    ///       x-kubernetes-validations: [{rule: self.min <= self.max, message: min must not exceed max}]}}}}
    /// ", kubeshape_input::Limits::default()));
    ///
    /// let tab = Object::read("tab.yaml", "{apiVersion: example.com/v1, kind: Tab, metadata: {name: t}, spec: {max: 0, mix: 1}}")?;
    /// let judgement = registry.judge(Request::Create(&tab))?;
    /// assert_eq!(judgement.unknown, ["spec.mix"]);
    /// assert_eq!(judgement.stored.value()["spec"]["min"], 1);
    /// assert_eq!(judgement.errors[0].to_string(), "spec: Invalid value: min must not exceed max");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge(&self, request: Request<'_>) -> Result<Judgement, Error> {
        let kind = self.expect(request.object().gvk())?;
        kind.with_requests(|requests| requests.judge(request)).unwrap_or_else(|| {
            let message = format!("{} is no custom resource: its objects cannot be judged", kind.gvk());
            Err(Error::Refused { message, code: 400 })
        })
    }
}

/// A kind, prepared for requests with its objects.
#[derive(Debug)]
pub struct Requests<'a> {
    resource: Resource<'a>,
}

impl<'a> Requests<'a> {
    /// The kind as `kubeshape-validate` knows it, for objects that are borrowed values.
    pub fn resource(&self) -> &Resource<'a> {
        &self.resource
    }

    /// Judges a request, as [`Registry::judge`] does. The object is taken to be of the kind.
    ///
    /// # Errors
    /// [`Error::Refused`]: the metadata of an object does not decode.
    pub fn judge(&self, request: Request<'_>) -> Result<Judgement, Error> {
        let arena = Bump::new();
        self.judge_in(request, &arena)
    }

    fn judge_in<'o>(&'o self, request: Request<'o>, arena: &'o Bump) -> Result<Judgement, Error> {
        let decode = |object: &'o Object| {
            let value = object.to_value(arena);
            self.resource.decode(value, arena).map_err(|message| Error::Refused { message, code: 400 })
        };
        let decoded = decode(request.object())?;
        let (stored, errors): (Value<'_>, _) = match request {
            Request::Create(_) => {
                let stored = self.resource.prepare_create(decoded.value, arena);
                (stored, self.resource.validate(stored))
            }
            Request::Update { old, .. } => {
                let old = with_version(decode(old)?.value, arena);
                let stored = self.resource.prepare_update(decoded.value, old, arena);
                (stored, self.resource.validate_update(stored, old))
            }
            Request::UpdateStatus { old, .. } => {
                let old = with_version(decode(old)?.value, arena);
                let stored = self.resource.prepare_status_update(decoded.value, old, arena);
                (stored, self.resource.validate_status_update(stored, old))
            }
        };
        Ok(Judgement { stored: Object::of(without_version(stored, arena)), unknown: decoded.unknown, errors })
    }
}

/// The resource version of an old object that has none, because it does not come from a cluster.
const NO_VERSION: &str = "0";

fn version_of(object: Value<'_>) -> Option<Value<'_>> {
    object.get("metadata")?.get("resourceVersion")
}

fn set_version<'a>(object: Value<'a>, version: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = object else { return object };
    let metadata = map.get("metadata").and_then(Value::as_map).unwrap_or_default();
    let metadata = metadata.with("resourceVersion", version, arena);
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), arena))
}

/// A stored object as a cluster has it: with a resource version, which updates must name.
fn with_version<'a>(old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    if version_of(old).is_some() { old } else { set_version(old, Some(Value::String(NO_VERSION)), arena) }
}

fn without_version<'a>(stored: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match version_of(stored) {
        Some(Value::String(NO_VERSION)) => set_version(stored, None, arena),
        _ => stored,
    }
}

impl Kind {
    /// Calls a function with what judges requests with objects of the kind, which is prepared for that call. `None` if the
    /// kind does not come from a CustomResourceDefinition.
    pub fn with_requests<T>(&self, with: impl for<'a> FnOnce(&Requests<'a>) -> T) -> Option<T> {
        self.definition().with_resource(self.version_name(), |resource| with(&Requests { resource }))
    }
}
