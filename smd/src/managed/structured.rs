//! The innermost layer: objects become typed values and go through the updater (upstream
//! `NewStructuredMergeManager`, `newVersionConverter`).

use super::convert::{ObjectConverter, TypeConverter};
use super::error::{Conversion, Error, ObjectName, Step};
use super::{Gvk, object};
use crate::Bump;
use crate::fieldpath::ManagedFields;
use crate::merge::{ConvertError, Converter, Updater};
use crate::typed::{Duplicates, TypedValue};
use crate::value::Value;
use kubeshape_schema::parse_group_version;

/// Converts typed values through objects in the hub version.
#[derive(Clone, Copy)]
pub(super) struct VersionConverter<'m> {
    pub(super) types: &'m dyn TypeConverter,
    pub(super) objects: &'m dyn ObjectConverter,
    pub(super) hub: &'m str,
}

impl Converter for VersionConverter<'_> {
    fn convert<'a>(
        &'a self,
        object: TypedValue<'a>,
        version: &str,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, ConvertError> {
        let value = to_object(object.value()).map_err(ConvertError::Failed)?;
        let target = Gvk::new(version, "");
        parse_group_version(version).map_err(ConvertError::Failed)?;
        if value.gvk().api_version() == target.api_version() {
            return Ok(object);
        }
        let hub = self.objects.convert(value, self.hub, arena)?;
        let converted = self.objects.convert(hub, target.api_version(), arena)?;
        let gvk = converted.gvk();
        let ty = self.types.type_of(gvk);
        let ty = ty.ok_or_else(|| ConvertError::MissingVersion(format!("no corresponding type for {gvk}")))?;
        // Upstream does not allow duplicates here, not even in the stored object.
        ty.validate(converted, Duplicates::Refused).map_err(|errors| ConvertError::Failed(errors.to_string()))
    }
}

/// Returns the object of a typed value, which must be a map.
fn to_object(value: Option<Value<'_>>) -> Result<Value<'_>, String> {
    match value {
        Some(value @ Value::Map(_)) => Ok(value),
        other => {
            Err(format!("failed to convert value to unstructured for type {}", other.unwrap_or(Value::Null).go_type()))
        }
    }
}

/// Objects and updater of one endpoint.
pub(super) struct Structured<'a> {
    pub(super) updater: &'a Updater<'a, VersionConverter<'a>>,
    /// The endpoint's kind.
    pub(super) kind: Gvk<'a>,
    pub(super) arena: &'a Bump,
}

/// The new object, or `None` if an apply changed nothing; and its owners.
type Outcome<'a> = (Option<Value<'a>>, ManagedFields<'a>);

impl<'a> Structured<'a> {
    /// Gives the changed fields to the manager. The object is not changed.
    pub(super) fn update(
        &self,
        live: Value<'a>,
        new: Value<'a>,
        fields: ManagedFields<'a>,
        manager: &'a str,
    ) -> Result<ManagedFields<'a>, Error<'a>> {
        let new_object = self.versioned(Conversion::New, new)?;
        let live = self.versioned(Conversion::Live, live)?;

        let new = self.typed(Step::New, new_object, Duplicates::Allowed)?;
        let live =
            self.typed(Step::LiveOfUpdate, object::with_empty_managed_fields(live, self.arena), Duplicates::Allowed)?;
        let version = self.kind.api_version();
        let outcome = self.updater.update(live, new, version, fields, manager, self.arena);
        Ok(outcome.map_err(|error| Error::Update { object: Box::new(ObjectName::of(new_object)), error })?.managers)
    }

    /// Merges the configuration into the live object.
    pub(super) fn apply(
        &self,
        live: Value<'a>,
        patch: Value<'a>,
        fields: ManagedFields<'a>,
        manager: &'a str,
        force: bool,
    ) -> Result<Outcome<'a>, Error<'a>> {
        let version = self.kind.api_version();
        let patch_version = patch.gvk().api_version();
        if patch_version != version {
            return Err(Error::WrongVersion { patch: patch_version, expected: version });
        }
        if super::entries::RawEntry::read_list(object::managed_fields(patch)).is_some() {
            return Err(Error::ManagedFieldsNotNil);
        }
        let live = self.versioned(Conversion::Live, live)?;
        let config = self.typed(Step::Patch, patch, Duplicates::Refused)?;
        let live =
            self.typed(Step::LiveOfApply, object::with_empty_managed_fields(live, self.arena), Duplicates::Allowed)?;
        let outcome = self.updater.apply(live, config, version, fields, manager, force, self.arena);
        let outcome = outcome.map_err(Error::Apply)?;
        let Some(new) = outcome.object else { return Ok((None, outcome.managers)) };
        let new = to_object(new.value())
            .map_err(|error| Error::NotAnObject { object: Box::new(ObjectName::of(patch)), error })?;
        let objects = self.updater.converter.objects;
        let convert = |what, value, version: &'a str| {
            let failed = |error| Error::Convert { what, object: Box::new(ObjectName::of(patch)), version, error };
            objects.convert(value, version, self.arena).map_err(failed)
        };
        let new = objects.set_defaults(convert(Conversion::Applied, new, version)?, self.arena);
        let new = convert(Conversion::ToHub, new, self.updater.converter.hub)?;
        Ok((Some(new), outcome.managers))
    }

    /// Returns the object in the endpoint's version.
    fn versioned(&self, what: Conversion, value: Value<'a>) -> Result<Value<'a>, Error<'a>> {
        let version = self.kind.api_version();
        let converted = self.updater.converter.objects.convert(value, version, self.arena);
        converted.map_err(|error| Error::Convert { what, object: Box::new(ObjectName::of(value)), version, error })
    }

    /// Returns the typed value of an object.
    pub(super) fn typed(
        &self,
        step: Step,
        value: Value<'a>,
        duplicates: Duplicates,
    ) -> Result<TypedValue<'a>, Error<'a>> {
        let gvk = value.gvk();
        let Some(ty) = self.updater.converter.types.type_of(gvk) else {
            return Err(Error::NoType { step, object: Box::new(ObjectName::of(value)), gvk });
        };
        ty.validate(value, duplicates).map_err(|errors| Error::Invalid {
            step,
            object: Box::new(ObjectName::of(value)),
            errors,
        })
    }
}
