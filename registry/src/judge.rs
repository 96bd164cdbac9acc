//! What an API server makes of custom resources before it stores them: pruning, defaults, validation, rules in CEL.

use crate::error::Error;
use crate::{Kind, Object, Registry};
use kubeshape_schema::field;
use kubeshape_smd::{Bump, ToValue};
use kubeshape_validate::object::{Judged, Resource};

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
    /// list types, rules in CEL. An object of a namespace that names none is sent to `default`. Admission webhooks and policies, quotas and permissions are no part of it.
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
        let Judged { stored, errors } = match request {
            Request::Create(_) => self.resource.create(decoded.value, arena),
            Request::Update { old, .. } => self.resource.update(decoded.value, decode(old)?.value, arena),
            Request::UpdateStatus { old, .. } => self.resource.update_status(decoded.value, decode(old)?.value, arena),
        };
        Ok(Judgement { stored: Object::of(stored), unknown: decoded.unknown, errors })
    }
}

impl Kind {
    /// Calls a function with what judges requests with objects of the kind, which is prepared for that call. `None` if the
    /// kind does not come from a CustomResourceDefinition.
    pub fn with_requests<T>(&self, with: impl for<'a> FnOnce(&Requests<'a>) -> T) -> Option<T> {
        self.definition().with_resource(self.version_name(), |resource| with(&Requests { resource }))
    }
}
