//! Converts custom resources between the stored version and that of a request, as the server's storage codec does
//! (upstream: `crdConversionRESTOptionsGetter` and `crConverter`).
//!
//! If webhooks are not called, only the `apiVersion` changes in their place.

use super::conversion::Converter;
use super::served::Served;
use crate::raw;
use crate::status::Status;
use crate::store::{Draft, Stored};
use crate::value::{self, metadata, with, with_meta};
use kubeshape_conversions::{MAX_BATCH, MAX_BATCH_BYTES};
use kubeshape_schema::Flags;
use kubeshape_schema::field::Path;
use kubeshape_smd::managed::ObjectConverter;
use kubeshape_smd::merge::ConvertError;
use kubeshape_smd::value::Stop;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::object::{Malformed, Resource, Root, coerce, prune, prune_nulls};
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// How many times larger than the stored object a decoded one may be that is kept in memory; and what a webhook
/// converted, which may have some bytes in addition.
const MAX_KEPT_GROWTH: usize = 2;
const MAX_KEPT_CONVERTED: usize = 5;
const MAX_KEPT_ADDED: usize = 32 << 10;

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
        Ok(Cow::Owned(self.kept(stored, read, self.asks_webhook(stored).is_some())))
    }

    /// Keeps the decoded JSON of a stored object with it, and returns it as an object.
    fn kept(&self, stored: &Stored, mut read: Vec<u8>, by_webhook: bool) -> Arc<Stored> {
        read.push(b'\n');
        let read = Arc::new(Stored::new(stored.revision, read.into()));
        read.keep(Arc::clone(self.as_stored()));
        let (before, after) = (stored.as_json().len(), read.as_json().len());
        // The store must not grow by the defaults of a definition that changed later.
        if by_webhook {
            if after <= MAX_KEPT_CONVERTED * before + MAX_KEPT_ADDED {
                stored.keep_converted(self.as_stored().as_other(Arc::clone(&read)));
            }
        } else if after <= MAX_KEPT_GROWTH * before {
            stored.keep(self.as_stored().as_other(Arc::clone(&read)));
        }
        read
    }

    /// Returns the webhook that has to convert a stored object.
    fn asks_webhook(&self, stored: &Stored) -> Option<&Converter> {
        let converter = self.converter()?;
        let written = serde_json::from_slice::<&str>(raw::member(stored.as_json(), "apiVersion")?).ok()?;
        (written != self.api_version).then_some(converter)
    }

    /// Lets the webhook of the definition convert all of these objects that it has to convert, many in one review: then
    /// [`read`](Self::read) does not wait for it. Without a webhook, this does nothing.
    ///
    /// # Errors
    /// The webhook fails, or one is stored in a version that the definition no longer has.
    pub(super) fn convert_all<'s>(
        &self,
        objects: impl IntoIterator<Item = &'s Arc<Stored>>,
        stop: Stop<'_>,
    ) -> Result<(), Status> {
        if self.converter().is_none() {
            return Ok(());
        }
        let (mut batch, mut bytes): (Vec<&Arc<Stored>>, usize) = (Vec::new(), 0);
        for object in objects.into_iter().take_while(|_| !stop.is_set()) {
            if object.reading(self.as_stored()).is_some() || self.asks_webhook(object).is_none() {
                continue;
            }
            batch.push(object);
            bytes += object.as_json().len();
            if batch.len() >= MAX_BATCH || bytes >= MAX_BATCH_BYTES {
                self.convert_batch(&batch)?;
                (batch, bytes) = (Vec::new(), 0);
            }
        }
        self.convert_batch(&batch)
    }

    fn convert_batch(&self, batch: &[&Arc<Stored>]) -> Result<(), Status> {
        let (Some(converter), Some(versions)) = (self.converter(), self.versions()) else { return Ok(()) };
        let arena = Bump::new();
        let mut decoded = Vec::with_capacity(batch.len());
        for stored in batch {
            let (mut tape, memory) = (Tape::new(), Bump::new());
            let object = value::parsed(stored.as_json(), &mut tape, &memory).map_err(Status::internal)?;
            decoded.push(in_stored_version(object.copy_into(&arena), versions, &arena)?.0);
        }
        let converted = converter.convert(&decoded, &self.api_version, &arena)?;
        for (stored, object) in batch.iter().zip(converted) {
            let mut read = Vec::with_capacity(stored.as_json().len() + 1);
            self.pruned_as(&self.api_version, object, &arena).write_go_json(&mut read);
            self.kept(stored, read, true);
        }
        Ok(())
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
        let Some(versions) = self.versions() else { return self.in_version(stored, &self.api_version, arena) };
        let (object, written) = in_stored_version(stored, versions, arena)?;
        if written == self.api_version {
            return Ok(object);
        }
        match &self.webhook {
            // Its schema may have nothing in common with that of the other version.
            Some(webhook) if !webhook.is_called() => self.in_version(stored, &self.api_version, arena),
            _ => self.in_version(object, &self.api_version, arena),
        }
    }

    /// Returns an object in the storage version, without fields unknown to it.
    ///
    /// # Errors
    /// The webhook of the definition fails.
    pub(super) fn in_storage<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        if self.storage == self.api_version {
            return Ok(with(object, "apiVersion", Some(Value::String(&self.storage)), arena));
        }
        self.in_version(object, &self.storage, arena)
    }

    /// Returns the draft of an object, in the storage version. If a webhook converts it, it also has what the webhook
    /// makes of it for readers of this version.
    ///
    /// # Errors
    /// The webhook fails.
    pub(super) fn storable<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<Draft, Status> {
        let stored = self.in_storage(object, arena)?;
        let draft = self.draft(stored, arena);
        if self.converter().is_none() || self.storage == self.api_version {
            return Ok(draft);
        }
        let read = self.draft(self.of_storage(stored, arena)?, arena).read_as_stored(Arc::clone(self.as_stored()));
        Ok(draft.read_as(Arc::clone(self.as_stored()), read))
    }

    /// Returns an object in another version of the definition: as a webhook converts it, or with the other
    /// `apiVersion`. Fields that are unknown there are dropped, if webhooks are called.
    ///
    /// # Errors
    /// The webhook of the definition fails.
    pub(super) fn in_version<'a>(
        &'a self,
        object: Value<'a>,
        api_version: &'a str,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Status> {
        let renamed = with(object, "apiVersion", Some(Value::String(api_version)), arena);
        let Some(webhook) = &self.webhook else { return Ok(self.pruned_as(api_version, renamed, arena)) };
        if !webhook.is_called() {
            return Ok(renamed);
        }
        let converted = webhook.convert(&[object], api_version, arena)?;
        Ok(self.pruned_as(api_version, converted.first().copied().unwrap_or(renamed), arena))
    }

    fn pruned_as<'a>(&'a self, api_version: &str, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let version = self.versions().into_iter().flatten().find(|version| version.api_version == api_version);
        version.map_or(object, |version| pruned(object, version, arena))
    }
}

/// Lets the webhook of a definition convert for server-side apply: managers own fields in their versions.
pub(super) struct FieldConverter<'s>(&'s Served);

impl Served {
    pub(super) fn field_converter(&self) -> FieldConverter<'_> {
        FieldConverter(self)
    }
}

impl ObjectConverter for FieldConverter<'_> {
    fn convert<'a>(&'a self, object: Value<'a>, api_version: &str, arena: &'a Bump) -> Result<Value<'a>, ConvertError> {
        if object.gvk().api_version() == api_version {
            return Ok(object);
        }
        let versions = self.0.versions().into_iter().flatten();
        let Some(known) = versions.map(|version| version.api_version).find(|known| *known == api_version) else {
            let message = format!("request to convert CR to an invalid group/version: {api_version}");
            return Err(ConvertError::Failed(message));
        };
        // Upstream: `isEmptyUnstructuredObject`.
        if object.as_map().is_some_and(|map| map.len() == 2) {
            return Ok(with(object, "apiVersion", Some(Value::String(known)), arena));
        }
        self.0.in_version(object, known, arena).map_err(|status| ConvertError::Failed(status.message))
    }
}

/// Returns a stored object as its own version decodes it, and the `apiVersion`.
///
/// # Errors
/// It is stored in a version that the definition no longer has, or has too many defaults.
fn in_stored_version<'a>(
    stored: Value<'a>,
    versions: &'a [Resource<'_>],
    arena: &'a Bump,
) -> Result<(Value<'a>, &'a str), Status> {
    let written = stored.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let Some(from) = versions.iter().find(|version| version.api_version == written) else {
        return Err(Status::internal(format!("request to convert CR from an invalid group/version: {written}")));
    };
    let object = pruned(stored, from, arena);
    let object = coerce(object, from.schema, Root::Resource, Malformed::Drop, &Path::Root, arena)
        .map_err(|error| Status::internal(error.to_string()))?;
    let generation = metadata(object.value).get("generation");
    let object = match generation {
        None | Some(Value::Int(0)) => with_meta(object.value, "generation", Some(Value::Int(1)), arena),
        _ => object.value,
    };
    let object = from.with_defaults(object, arena).map_err(|error| Status::internal(error.to_string()))?;
    Ok((object, written))
}

fn pruned<'a>(object: Value<'a>, version: &Resource<'_>, arena: &'a Bump) -> Value<'a> {
    if version.preserve_unknown_fields {
        return object;
    }
    prune_nulls(prune(object, version.schema, Root::Resource, arena).value, version.schema, arena)
}
