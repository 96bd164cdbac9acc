//! The layers of the server's field manager, outermost first.

use super::convert::{ObjectConverter, TypeConverter};
use super::{Error, Gvk, Time};
use crate::Bump;
use crate::fieldpath::Filter;
use crate::value::Value;

/// What the API server does with managed fields at one endpoint: one kind, version and subresource (upstream
/// `managedfields.NewDefaultFieldManager`).
#[derive(Clone)]
pub struct FieldManager<'m> {
    kind: Gvk<'m>,
    types: &'m dyn TypeConverter,
    objects: &'m dyn ObjectConverter,
}

impl<'m> FieldManager<'m> {
    /// For the objects of a kind. The version of storage is the kind's own, there are no subresource and no reset
    /// fields, at most ten entries of updates are kept, and objects are tracked from their creation.
    pub fn new(kind: Gvk<'m>, types: &'m dyn TypeConverter, objects: &'m dyn ObjectConverter) -> Self {
        FieldManager { kind, types, objects }
    }

    /// The version through which objects are converted, such as `apps/v1`; results are in it.
    #[must_use]
    pub fn hub(self, api_version: &'m str) -> Self {
        let _ = api_version;
        todo!()
    }

    /// The subresource of the endpoint, such as `status`.
    #[must_use]
    pub fn subresource(self, subresource: &'m str) -> Self {
        let _ = subresource;
        todo!()
    }

    /// What is left of the fields of a version; what is not left, nobody can own through this endpoint.
    #[must_use]
    pub fn reset_fields(self, filters: Vec<(&'m str, Filter<'m>)>) -> Self {
        let _ = filters;
        todo!()
    }

    /// How many entries of updates are kept before the oldest ones are put together; none: any number.
    #[must_use]
    pub fn max_update_managers(self, max: Option<usize>) -> Self {
        let _ = max;
        todo!()
    }

    /// Whether objects are tracked from their creation, or from the first apply on.
    #[must_use]
    pub fn track_from_creation(self, yes: bool) -> Self {
        let _ = yes;
        todo!()
    }

    /// Server-side apply: the live object afterwards, with its managed fields. Without a live object one is created.
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
        let _ = (live, patch, manager, force, now, arena, self.kind, self.types, self.objects);
        todo!()
    }

    /// Any other write: the new object with its managed fields. Without a live object it is created.
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
        let _ = (live, new, manager, now, arena);
        todo!()
    }

    /// As [`update`](Self::update), but what cannot be tracked is written all the same, without managed fields. The
    /// server does this for every write but apply.
    pub fn update_no_errors<'a>(
        &'a self,
        live: Option<Value<'a>>,
        new: Value<'a>,
        manager: &str,
        now: Time,
        arena: &'a Bump,
    ) -> Value<'a> {
        let _ = (live, new, manager, now, arena);
        todo!()
    }
}
