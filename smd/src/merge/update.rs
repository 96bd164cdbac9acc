//! Apply and update.

use super::conflict::Conflicts;
use super::converter::{ConvertError, Converter};
use crate::Bump;
use crate::fieldpath::{Filter, ManagedFields};
use crate::typed::{CompareError, TypedValue, ValidationErrors};

/// The fields of a version that nobody owns and whose changes nobody sees, such as the status.
#[derive(Clone, Debug, Default)]
pub enum Ignored<'a> {
    /// None.
    #[default]
    Nothing,
    /// Per version what is left; a version that is not named ignores nothing.
    Filters(Vec<(&'a str, Filter<'a>)>),
}

/// Applies and updates (upstream `merge.Updater`).
#[derive(Clone, Debug)]
pub struct Updater<'a, C> {
    /// How objects get from version to version.
    pub converter: C,
    /// What is not tracked.
    pub ignored: Ignored<'a>,
    /// Whether an apply that changes nothing returns the object all the same.
    pub return_input_on_noop: bool,
}

/// The object and its owners afterwards.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The object; none if an apply changed nothing.
    pub object: Option<TypedValue<'a>>,
    /// Who owns what.
    pub managers: ManagedFields<'a>,
}

/// Why nothing was applied or updated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error<'a> {
    /// Other managers own fields that would change.
    #[error("{0}")]
    Conflicts(Conflicts<'a>),
    /// The objects cannot be compared.
    #[error("failed to compare objects: {0}")]
    Compare(CompareError),
    /// The configuration cannot be merged.
    #[error("failed to merge config: {0}")]
    Merge(CompareError),
    /// A type is missing.
    #[error("failed to get field set: {0}")]
    FieldSet(ValidationErrors),
    /// Fields that are not applied any more cannot be removed.
    #[error("failed to prune fields: {0}")]
    Prune(String),
    /// Fields of managers cannot be brought into the terms of the schema.
    #[error("{0}")]
    Reconcile(ValidationErrors),
    /// An object has no form in a version.
    #[error("{0}")]
    Convert(ConvertError),
}

impl<'a, C: Converter> Updater<'a, C> {
    /// Puts a configuration over the live object and gives its fields to the manager.
    ///
    /// # Errors
    /// Conflicts unless forced, and everything that keeps the objects from being merged.
    #[expect(clippy::too_many_arguments, reason = "these are the arguments of upstream's method")]
    pub fn apply(
        &'a self,
        live: TypedValue<'a>,
        config: TypedValue<'a>,
        version: &'a str,
        managers: ManagedFields<'a>,
        manager: &'a str,
        force: bool,
        arena: &'a Bump,
    ) -> Result<Outcome<'a>, Error<'a>> {
        let _ = (live, config, version, managers, manager, force, arena);
        todo!()
    }

    /// Gives the manager what changed from the live object to the new one.
    ///
    /// # Errors
    /// Everything that keeps the objects from being compared.
    pub fn update(
        &'a self,
        live: TypedValue<'a>,
        new: TypedValue<'a>,
        version: &'a str,
        managers: ManagedFields<'a>,
        manager: &'a str,
        arena: &'a Bump,
    ) -> Result<Outcome<'a>, Error<'a>> {
        let _ = (live, new, version, managers, manager, arena);
        todo!()
    }
}
