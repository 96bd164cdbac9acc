//! The context of evaluations.

use crate::answer::Status;
use crate::kinds::Gvk;
use crate::request::{Request, World};
use kubeshape_cel::Value;
use kubeshape_value::{Bump, Value as Object};

/// The context of all evaluations of a request.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'e, 'a> {
    pub(crate) request: &'e Request<'a>,
    pub(crate) world: World<'e, 'a>,
    pub(crate) arena: &'a Bump,
}

impl<'a> Evaluator<'_, 'a> {
    /// Returns the variables `object` and `oldObject`.
    pub(crate) fn objects(&self, kind: &Gvk) -> [(&'static str, Value<'a>); 2] {
        let value = |object| self.request.in_version(object, kind, self.arena).map_or(Value::Null, Value::from);
        [("object", value(self.request.object)), ("oldObject", value(self.request.old_object))]
    }

    /// Returns the namespace of the request.
    ///
    /// # Errors
    /// The namespace does not exist.
    pub(crate) fn namespace(&self) -> Result<Option<Object<'a>>, Status> {
        let name = &self.request.namespace;
        if name.is_empty() || self.request.kind.is_core_namespace() {
            return Ok(None);
        }
        self.world.objects.namespace(name).map(Some).ok_or_else(|| Status::no_namespace(name))
    }
}
