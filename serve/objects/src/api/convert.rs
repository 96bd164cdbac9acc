//! Converts custom resources between the stored version and that of a request, as the server's storage codec does
//! (upstream: `crdConversionRESTOptionsGetter` and `crConverter`).
//!
//! A webhook is not called: in its place, only the `apiVersion` changes.

use super::served::Served;
use crate::status::Status;
use crate::store::{Draft, Stored};
use crate::value::{self, metadata, with, with_meta};
use kubeshape_schema::Flags;
use kubeshape_schema::field::Path;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::object::{Malformed, Resource, Root, coerce, prune, prune_nulls};
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// How many times larger than the stored object a decoded one may be that is kept in memory.
const MAX_KEPT_GROWTH: usize = 2;

/// A stored object as decoded; usually equal to the stored one.
pub(super) type Read<'s> = Cow<'s, Arc<Stored>>;

impl Served {
    /// Decodes a stored object in this version. The stored object does not change when the definition does: a field
    /// that is added again has its old value.
    ///
    /// # Errors
    /// It is stored in a version that the definition no longer has, or has too many defaults.
    pub(super) fn read<'s>(&self, stored: &'s Arc<Stored>) -> Result<Read<'s>, Status> {
        if self.is_built_in() || stored.is_read_as_stored(self.as_stored()) {
            return Ok(Cow::Borrowed(stored));
        }
        if let Some(reading) = stored.reading(self.as_stored()) {
            return Ok(reading.other.as_ref().map_or(Cow::Borrowed(stored), |other| Cow::Owned(Arc::clone(other))));
        }
        let (text, mut tape, arena) = (stored.as_json(), Tape::new(), Bump::new());
        let object = value::parsed(text, &mut tape, &arena).map_err(Status::internal)?;
        let mut read = Vec::with_capacity(text.len() + 1);
        self.of_storage(object, &arena)?.write_go_json(&mut read);
        if *read == *text {
            stored.keep(Arc::clone(self.as_stored()));
            return Ok(Cow::Borrowed(stored));
        }
        read.push(b'\n');
        let read = Arc::new(Stored::new(stored.revision, read.into()));
        read.keep(Arc::clone(self.as_stored()));
        // The store must not grow by the defaults of a definition that changed later.
        if read.json().len() <= MAX_KEPT_GROWTH * text.len() {
            stored.keep(self.as_stored().as_other(Arc::clone(&read)));
        }
        Ok(Cow::Owned(read))
    }

    /// Returns the draft of an object decoded in this version. It is read as stored if nothing is converted.
    pub(super) fn decoded(&self, draft: Draft) -> Draft {
        let is_stored_as_is = |version: &Resource<'_>| {
            version.api_version == self.storage
                // Their metadata is brought into its form when they are read, and defaults are not.
                && !version.schema.is_some_and(|schema| schema.subtree.any(Flags::EMBEDDED_RESOURCE))
        };
        let versions = self.versions().filter(|_| self.storage == self.api_version).unwrap_or_default();
        if versions.iter().any(is_stored_as_is) { draft.read_as_stored(Arc::clone(self.as_stored())) } else { draft }
    }

    /// Returns a stored object in the version of the request. It is pruned and defaulted by its stored version, then
    /// pruned by the version of the request. Malformed metadata is dropped, and a generation is at least 1.
    ///
    /// # Errors
    /// It is stored in a version that the definition no longer has, or has too many defaults.
    fn of_storage<'a>(&'a self, stored: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
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
        let object = pruned(stored, from, arena);
        let object = coerce(object, from.schema, Root::Resource, Malformed::Drop, &Path::Root, arena)
            .map_err(|error| Status::internal(error.to_string()))?;
        let generation = metadata(object.value).get("generation");
        let object = match generation {
            None | Some(Value::Int(0)) => with_meta(object.value, "generation", Some(Value::Int(1)), arena),
            _ => object.value,
        };
        let object = from.with_defaults(object, arena).map_err(|error| Status::internal(error.to_string()))?;
        let object = renamed(object);
        match version(&self.api_version) {
            Some(to) if written != self.api_version => Ok(pruned(object, to, arena)),
            _ => Ok(object),
        }
    }

    /// Returns an object in the storage version, without fields unknown to it.
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
