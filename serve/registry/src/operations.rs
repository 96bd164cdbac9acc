//! Operations on owned objects: a thin layer on [`Endpoint`](crate::Endpoint) and on the typed operations of
//! `kubeshape-smd`.

use crate::endpoint::Verb;
use crate::error::Error;
use crate::explain::{Locations, managed_fields_error};
use crate::extract::extract_applied;
use crate::kind::Kind;
use crate::object::managed;
use crate::object::{FieldSet, Object};
use crate::options::WriteOptions;
use crate::registry::Registry;
use kubeshape_smd::managed::{ExtractError, Gvk};
use kubeshape_smd::typed::{CompareError, Duplicates, Type, TypedValue};
use kubeshape_smd::{Bump, ToValue, Value};

/// The differences between two objects.
///
/// Its [`Default`] has no differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields that only the second object has.
    pub added: FieldSet,
    /// Fields with different values.
    pub modified: FieldSet,
    /// Fields that only the first object has.
    pub removed: FieldSet,
}

impl Comparison {
    /// Returns whether there are no differences.
    pub fn is_same(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }
}

impl Registry {
    /// Server-side apply. Returns the live object afterwards, with its managed fields. Without a live object, it is
    /// created. Fields of the live object that the definition of a custom resource does not have are dropped first.
    ///
    /// # Errors
    /// - [`Error::Kind`], [`Error::Subresource`], [`Error::Manager`]: the request is invalid.
    /// - [`Error::Conflicts`]: other managers own fields that would change.
    /// - [`Error::Invalid`]: the configuration, or the live object, does not fit its type.
    /// - [`Error::ManagedFields`], [`Error::ManagedFieldsGiven`], [`Error::Refused`]: see there.
    pub fn apply(&self, live: Option<&Object>, config: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.write(live, config, options, Verb::Apply)
    }

    /// Update, or the result of a patch. Returns the live object afterwards, with its managed fields.
    ///
    /// # Errors
    /// Like [`apply`](Self::apply), without conflicts.
    pub fn update(&self, live: &Object, new: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.write(Some(live), new, options, Verb::Update)
    }

    /// Create. Returns the stored object, with its managed fields.
    ///
    /// # Errors
    /// Like [`update`](Self::update).
    pub fn create(&self, new: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.write(None, new, options, Verb::Update)
    }

    fn write(&self, live: Option<&Object>, new: &Object, options: &WriteOptions, verb: Verb) -> Result<Object, Error> {
        options.check()?;
        let arena = Bump::new();
        let endpoint = self.endpoint(new.gvk(), &options.subresource, &arena)?;
        let before = live.map(|live| endpoint.read(live.to_value(&arena), &arena).value);
        let after = endpoint.write(verb, before, new.to_value(&arena), options, &arena);
        let objects = Locations { config: new.location(), live: live.and_then(Object::location) };
        after.map(Object::of).map_err(|error| self.explain(&error, new.gvk(), objects))
    }

    /// Returns the configuration that a manager applied, as far as the object still has it, as the `Extract` functions
    /// of client-go do: with the kind, name and namespace. `None` if it applied nothing.
    ///
    /// # Errors
    /// - [`Error::Kind`]: there is no such kind.
    /// - [`Error::Invalid`]: the object does not fit its type.
    /// - [`Error::ManagedFields`]: its managed fields cannot be read.
    /// - [`Error::Refused`]: the manager owns nothing that the object has.
    pub fn extract(&self, object: &Object, manager: &str, subresource: &str) -> Result<Option<Object>, Error> {
        let (kind, arena) = (self.expect(object.gvk())?, Bump::new());
        let value = object.to_value(&arena);
        managed(value, self.settings().compat, &arena)
            .map_err(|error| managed_fields_error(&error, object.location()))?;
        let extracted =
            extract_applied(value, self.type_of_kind(kind)?, manager, subresource, self.settings().compat, &arena);
        match extracted {
            Ok(extracted) => Ok(extracted.map(Object::of)),
            Err(ExtractError::Invalid(errors)) => {
                Err(self.invalid(&errors, Some(kind), object.gvk(), object.location(), true).into())
            }
            Err(error) => Err(Error::Refused { message: error.to_string(), code: 500 }),
        }
    }

    /// Compares two objects of one kind.
    ///
    /// # Errors
    /// - [`Error::Kind`]: there is no such kind.
    /// - [`Error::Invalid`]: an object does not fit its type.
    /// - [`Error::DifferentKinds`]: they are of different kinds or versions.
    pub fn compare(&self, a: &Object, b: &Object) -> Result<Comparison, Error> {
        let arena = Bump::new();
        let left = self.typed(a, Duplicates::Allowed, &arena)?;
        let right = self.typed(b, Duplicates::Allowed, &arena)?;
        let found = left.compare(right, &arena).map_err(|error| self.incomparable(&error, a, b))?;
        let fields = |set| FieldSet::of(set, self.settings().compat);
        Ok(Comparison { added: fields(found.added), modified: fields(found.modified), removed: fields(found.removed) })
    }

    /// Merges one object into another, without owners.
    ///
    /// # Errors
    /// Like [`compare`](Self::compare).
    pub fn merge(&self, live: &Object, config: &Object) -> Result<Object, Error> {
        let arena = Bump::new();
        let left = self.typed(live, Duplicates::Allowed, &arena)?;
        let right = self.typed(config, Duplicates::Refused, &arena)?;
        let merged = left.merge(right, &arena).map_err(|error| self.incomparable(&error, live, config))?;
        Ok(Object::of(merged.value().unwrap_or(Value::Null)))
    }

    /// Returns all fields of an object. Managed fields have the same, except for fields without an owner, such as
    /// `.metadata.name`.
    ///
    /// # Errors
    /// - [`Error::Kind`]: there is no such kind.
    /// - [`Error::Invalid`]: the object does not fit its type.
    pub fn field_set(&self, object: &Object) -> Result<FieldSet, Error> {
        let arena = Bump::new();
        let typed = self.typed(object, Duplicates::Refused, &arena)?;
        let set = typed
            .to_field_set(&arena)
            .map_err(|errors| self.invalid(&errors, self.kind(object.gvk()), object.gvk(), object.location(), false))?;
        Ok(FieldSet::of(set, self.settings().compat))
    }

    fn type_of_kind<'r>(&self, kind: &'r Kind) -> Result<Type<'r>, Error> {
        kind.merge_type().ok_or_else(|| self.unknown(kind.gvk()).into())
    }

    fn typed<'a>(
        &'a self,
        object: &'a Object,
        duplicates: Duplicates,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, Error> {
        let kind = self.expect(object.gvk())?;
        let typed = self.type_of_kind(kind)?.validate(object.to_value(arena), duplicates);
        typed.map_err(|errors| self.invalid(&errors, Some(kind), object.gvk(), object.location(), false).into())
    }

    fn incomparable(&self, error: &CompareError, a: &Object, b: &Object) -> Error {
        match error {
            CompareError::Invalid(errors) => {
                self.invalid(errors, self.kind(b.gvk()), b.gvk(), b.location(), false).into()
            }
            CompareError::OtherSchema | CompareError::OtherType(..) => different(a.gvk(), b.gvk()),
        }
    }
}

fn different(a: Gvk<'_>, b: Gvk<'_>) -> Error {
    Error::DifferentKinds(a.to_string(), b.to_string())
}
