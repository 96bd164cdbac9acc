//! Custom resources between the version in which they are stored and that of a request, as the server's storage codec converts
//! them (upstream: `crdConversionRESTOptionsGetter` and `crConverter`).
//!
//! A webhook is not called: in its place, only the `apiVersion` changes.

use super::served::Served;
use crate::status::Status;
use crate::value::with;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::object::{Resource, Root, default, prune, prune_nulls};

impl Served {
    /// A stored object in the version of the request. It is pruned as the version says in which it is stored, gets the defaults of
    /// that version, and is pruned again as the version of the request says.
    ///
    /// # Errors
    /// It is stored in a version that the definition does not have any more.
    pub(super) fn of_storage<'a>(&'a self, stored: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        let renamed = |object| with(object, "apiVersion", Some(Value::String(&self.api_version)), arena);
        let Some(versions) = self.versions() else { return Ok(renamed(stored)) };
        let version = |name: &str| versions.iter().find(|version| version.api_version == name);
        let written = stored.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let Some(from) = version(written) else {
            return Err(Status::internal(format!("request to convert CR from an invalid group/version: {written}")));
        };
        if self.by_webhook && written != self.api_version {
            return Ok(renamed(stored));
        }
        let object = renamed(default(pruned(stored, from, arena), from.schema, arena));
        match version(&self.api_version) {
            Some(to) if written != self.api_version => Ok(pruned(object, to, arena)),
            _ => Ok(object),
        }
    }

    /// An object in the version of storage: what that version does not know is dropped.
    pub(super) fn in_storage<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let object = with(object, "apiVersion", Some(Value::String(&self.storage)), arena);
        if self.storage == self.api_version || self.by_webhook {
            return object;
        }
        let version = self.versions().into_iter().flatten().find(|version| version.api_version == self.storage);
        version.map_or(object, |version| pruned(object, version, arena))
    }
}

fn pruned<'a>(object: Value<'a>, version: &Resource<'_>, arena: &'a Bump) -> Value<'a> {
    if version.preserve_unknown_fields {
        return object;
    }
    prune_nulls(prune(object, version.schema, Root::Resource, arena).value, version.schema, arena)
}
