//! The context of evaluations.

use crate::answer::Status;
use crate::environment::{Bindings, authorizer_values, namespace_value, request_value};
use crate::kinds::{Gvk, Gvr};
use crate::request::{Request, World};
use kubeshape_cel::Value;
use kubeshape_value::{Bump, Value as Object};
use std::cell::{OnceCell, RefCell};

/// The context of all evaluations of a request.
pub(crate) struct Evaluator<'e, 'a> {
    pub(crate) request: &'e Request<'a>,
    pub(crate) world: World<'e, 'a>,
    pub(crate) arena: &'a Bump,
    /// The values of `request`, by resource and kind. Most policies see the same.
    requests: RefCell<Vec<(Gvr, Gvk, Object<'a>)>>,
    authorizer: OnceCell<Bindings<'a>>,
    namespace: OnceCell<Option<Object<'a>>>,
    shown_namespace: OnceCell<Option<Object<'a>>>,
}

impl<'e, 'a> Evaluator<'e, 'a> {
    pub(crate) fn new(request: &'e Request<'a>, world: World<'e, 'a>, arena: &'a Bump) -> Evaluator<'e, 'a> {
        Evaluator {
            request,
            world,
            arena,
            requests: RefCell::default(),
            authorizer: OnceCell::new(),
            namespace: OnceCell::new(),
            shown_namespace: OnceCell::new(),
        }
    }

    /// Returns the variables `object` and `oldObject`.
    pub(crate) fn objects(&self, kind: &Gvk) -> [(&'static str, Value<'a>); 2] {
        let value = |object| self.request.in_version(object, kind, self.arena).map_or(Value::Null, Value::from);
        [("object", value(self.request.object)), ("oldObject", value(self.request.old_object))]
    }

    /// Returns the variable `request`.
    pub(crate) fn request_value(&self, resource: &Gvr, kind: &Gvk) -> Value<'a> {
        let mut known = self.requests.borrow_mut();
        let is_this = |(of, as_kind, _): &&(Gvr, Gvk, Object<'a>)| of == resource && as_kind == kind;
        if let Some((_, _, value)) = known.iter().find(is_this) {
            return Value::from(*value);
        }
        let value = request_value(self.request, resource, kind, self.arena);
        known.push((resource.clone(), kind.clone(), value));
        Value::from(value)
    }

    /// Returns the variables `authorizer` and `authorizer.requestResource`.
    pub(crate) fn authorizer(&self) -> Bindings<'a> {
        self.authorizer.get_or_init(|| authorizer_values(self.request, self.world.authorizer)).clone()
    }

    /// Returns the namespace of the request.
    ///
    /// # Errors
    /// The namespace does not exist.
    pub(crate) fn namespace(&self) -> Result<Option<Object<'a>>, Status> {
        if let Some(known) = self.namespace.get() {
            return Ok(*known);
        }
        let name = &self.request.namespace;
        let found = if name.is_empty() || self.request.kind.is_core_namespace() {
            None
        } else {
            Some(self.world.objects.namespace(name).ok_or_else(|| Status::no_namespace(name))?)
        };
        Ok(*self.namespace.get_or_init(|| found))
    }

    /// Returns the variable `namespaceObject` of most expressions: a namespace with the members that its type has.
    pub(crate) fn shown_namespace(&self, namespace: Option<Object<'a>>) -> Option<Object<'a>> {
        *self.shown_namespace.get_or_init(|| namespace.map(|namespace| namespace_value(namespace, self.arena)))
    }
}
