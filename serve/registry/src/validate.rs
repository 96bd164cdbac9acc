//! Validates custom resources as an API server does before it stores them: pruning, defaults, validation, CEL rules.

use crate::error::Error;
use crate::kind::Kind;
use crate::object::Object;
use crate::prepared::Prepared;
use crate::registry::Registry;
use kubeshape_schema::field;
use kubeshape_smd::{Bump, ToValue};
use kubeshape_validate::object::{Judged, Resource};
use std::sync::Arc;

/// A request with a custom resource.
#[derive(Clone, Copy, Debug)]
pub enum Request<'o> {
    /// Create the object.
    Create(&'o Object),
    /// Replace a stored object.
    Update {
        /// The new object.
        object: &'o Object,
        /// The stored object.
        old: &'o Object,
    },
    /// Send the object to the status subresource.
    UpdateStatus {
        /// The object with the new status.
        object: &'o Object,
        /// The stored object.
        old: &'o Object,
    },
}

impl<'o> Request<'o> {
    /// Returns the object of the request.
    pub fn object(&self) -> &'o Object {
        match self {
            Request::Create(object) | Request::Update { object, .. } | Request::UpdateStatus { object, .. } => object,
        }
    }
}

/// The server's result for a request.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The object as it would be stored: without unknown fields, with defaults.
    pub stored: Object,
    /// The paths of the dropped fields, unknown to the schema. Under strict field validation, a server rejects the
    /// request because of them.
    pub unknown: Vec<String>,
    /// The errors. Their `at` is 0.
    pub errors: Vec<field::Error>,
    /// The message with which the storage refuses an object without errors: one that has a `resourceVersion` cannot be
    /// created.
    pub refusal: Option<&'static str>,
}

impl Judgement {
    /// Returns whether the request is accepted.
    pub fn is_accepted(&self) -> bool {
        self.errors.is_empty() && self.refusal.is_none()
    }
}

impl Registry {
    /// Validates a request with a custom resource as the server's registry does: decoding, pruning, defaults, metadata,
    /// schema, list types, CEL rules. A namespaced object without a namespace is sent to `default`. Admission webhooks,
    /// policies, quotas and permissions are not included.
    ///
    /// A kind is prepared at its first object; see [`Kind::requests`].
    ///
    /// # Errors
    /// - [`Error::Kind`]: there is no such kind.
    /// - [`Error::Refused`]: the kind is not a custom resource, or the metadata of an object does not decode.
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
        let Some(requests) = kind.requests() else {
            let message = format!("{} is not a custom resource: its objects cannot be validated", kind.gvk());
            return Err(Error::Refused { message, code: 400 });
        };
        requests.judge(request)
    }
}

/// A kind in one version, prepared for requests. It is independent of the registry and its inputs. A clone is another
/// handle to the same data.
#[derive(Clone, Debug)]
pub struct Requests {
    prepared: Arc<Prepared>,
    version: usize,
}

impl Requests {
    /// Returns the kind as `kubeshape-validate` represents it, for objects that are borrowed values.
    pub fn resource(&self) -> &Resource<'_> {
        &self.prepared.borrow_dependent()[self.version]
    }

    /// Validates a request, as [`Registry::judge`] does. The kind of the object is not checked.
    ///
    /// # Errors
    /// [`Error::Refused`]: the metadata of an object does not decode.
    pub fn judge(&self, request: Request<'_>) -> Result<Judgement, Error> {
        let arena = Bump::new();
        self.judge_in(request, &arena)
    }

    fn judge_in<'o>(&'o self, request: Request<'o>, arena: &'o Bump) -> Result<Judgement, Error> {
        let resource = self.resource();
        let decode = |object: &'o Object| {
            let value = object.to_value(arena);
            resource.decode(value, arena).map_err(|message| Error::Refused { message, code: 400 })
        };
        let decoded = decode(request.object())?;
        let Judged { stored, errors, refusal, .. } = match request {
            Request::Create(_) => resource.create(decoded.value, arena),
            Request::Update { old, .. } => resource.update(decoded.value, decode(old)?.value, arena),
            Request::UpdateStatus { old, .. } => resource.update_status(decoded.value, decode(old)?.value, arena),
        };
        Ok(Judgement { stored: Object::of(stored), unknown: decoded.unknown, errors, refusal })
    }
}

impl Kind {
    /// Returns all versions of the CustomResourceDefinition that defines the kind, as `kubeshape-validate` represents
    /// them. `None` for other kinds. They are prepared as by [`requests`](Self::requests).
    pub fn resources(&self) -> Option<&[Resource<'_>]> {
        Some(self.definition().prepared()?.borrow_dependent())
    }

    /// Returns the validator of requests with objects of the kind. `None` if the kind does not come from a
    /// CustomResourceDefinition.
    ///
    /// All versions of the definition are prepared at the first call. Schemas are copied without descriptions; patterns
    /// and rules are compiled when they are first needed.
    pub fn requests(&self) -> Option<Requests> {
        let prepared = self.definition().prepared()?;
        let mut versions = prepared.borrow_dependent().iter();
        let version = versions.position(|resource| resource.api_version == self.api_version())?;
        Some(Requests { prepared: Arc::clone(prepared), version })
    }
}
