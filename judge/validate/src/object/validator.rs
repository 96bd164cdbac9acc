//! Checks values with a prepared schema.

use super::check;
use super::correlate::{Correlation, NodeOf};
use super::name::Name;
use super::outcome::{Base, Outcome};
use super::prepare::Validator;
use kubeshape_schema::field::{Error, Path};
use kubeshape_value::{Stop, Value};
use std::collections::HashSet;

impl<'a> Validator<'a> {
    /// Returns the errors of a new value: `ValidateCustomResource`. `base` is the path of the value.
    pub fn check(&self, value: Value<'_>, base: &Path<'_>) -> Vec<Error> {
        self.check_until(value, base, Stop::NEVER)
    }

    /// Like [`check`](Self::check), until the flag is set.
    pub(crate) fn check_until(&self, value: Value<'_>, base: &Path<'_>, stop: Stop<'_>) -> Vec<Error> {
        if self.is_valid_until(value, stop) {
            return Vec::new();
        }
        self.errors(self.root, value, None, base, stop)
    }

    /// Returns the errors of a value that replaces another one: `ValidateCustomResourceUpdate`. Errors of unchanged
    /// fields are left out (ratcheting).
    pub fn check_update<'v>(&self, value: Value<'v>, old: Value<'v>, base: &Path<'_>) -> Vec<Error> {
        self.check_update_until(value, old, base, Stop::NEVER)
    }

    /// Like [`check_update`](Self::check_update), until the flag is set.
    pub(super) fn check_update_until<'v>(
        &self,
        value: Value<'v>,
        old: Value<'v>,
        base: &Path<'_>,
        stop: Stop<'_>,
    ) -> Vec<Error> {
        if self.is_valid_until(value, stop) {
            return Vec::new();
        }
        self.errors(self.root, value, Some(Correlation::new(value, old, NodeOf::new(self, self.root))), base, stop)
    }

    /// Returns the errors of a field of an object that is new or replaces another value. Empty if the schema does not
    /// know the field. `base` is the path of the field.
    pub(super) fn check_field_update<'v>(
        &self,
        field: &str,
        value: Value<'v>,
        old: Option<Value<'v>>,
        base: &Path<'_>,
        stop: Stop<'_>,
    ) -> Vec<Error> {
        let Some(root) = self.node(self.root).property(field) else { return Vec::new() };
        let mut out = Outcome::quick(stop);
        check::value(self, root, value, &Name::Root, None, &mut out);
        if out.is_valid() {
            return Vec::new();
        }
        let correlation = old.map(|old| Correlation::new(value, old, NodeOf::new(self, root)));
        self.errors(root, value, correlation, base, stop)
    }

    /// Returns whether a value has no errors. Does not allocate.
    pub fn is_valid(&self, value: Value<'_>) -> bool {
        self.is_valid_until(value, Stop::NEVER)
    }

    fn is_valid_until(&self, value: Value<'_>, stop: Stop<'_>) -> bool {
        let mut out = Outcome::quick(stop);
        check::value(self, self.root, value, &Name::Root, None, &mut out);
        out.is_valid()
    }

    fn errors<'v, 's>(
        &'s self,
        root: u32,
        value: Value<'v>,
        correlation: Option<Correlation<'v, NodeOf<'s, 'a>>>,
        base: &Path<'_>,
        stop: Stop<'_>,
    ) -> Vec<Error> {
        let mut out = Outcome::full(Base { path: base, printing: self.printing() }, stop);
        check::value(self, root, value, &Name::Root, correlation, &mut out);
        let mut seen = HashSet::new();
        let (mut errors, dropped) = out.into_failures();
        // Upstream drops errors with equal messages.
        errors.retain(|failure| {
            seen.insert((failure.error.error_type, failure.name.clone(), failure.error.detail.clone()))
        });
        errors.into_iter().map(|failure| failure.error).chain(Error::dropped(dropped)).collect()
    }
}
