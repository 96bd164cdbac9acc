//! Apply and update (upstream `merge/update.go`).

use super::conflict::Conflicts;
use super::converter::{ConvertError, Converter, Versions};
use super::prune::{PruneError, prune};
use crate::Bump;
use crate::fieldpath::{Filter, ManagedFields, Set, VersionedSet};
use crate::typed::{CompareError, Comparison, Emptied, TypedValue, ValidationErrors};
use crate::value::Value;

/// The fields of each version that an updater ignores, such as the status: they have no owner, and changes to them are
/// ignored.
///
/// Upstream has two members of a struct for the two forms, and setting both is an error.
#[derive(Clone, Debug, Default)]
pub enum Ignored<'a> {
    /// None.
    #[default]
    Nothing,
    /// For each version, the ignored fields, with everything below them (upstream `IgnoredFields`).
    Fields(Vec<(&'a str, Set<'a>)>),
    /// For each version, a filter that keeps the other fields (upstream `IgnoreFilter`).
    Filters(Vec<(&'a str, Filter<'a>)>),
}

impl<'a> Ignored<'a> {
    /// Returns a set without the ignored fields of a version. Versions that are not listed have no ignored fields.
    fn apply(&self, version: &str, set: Set<'a>, arena: &'a Bump) -> Set<'a> {
        match self {
            Ignored::Nothing => set,
            Ignored::Fields(ignored) => {
                of_version(ignored, version).map_or(set, |fields| set.recursive_difference(*fields, arena))
            }
            Ignored::Filters(filters) => of_version(filters, version).map_or(set, |filter| filter.filter(set, arena)),
        }
    }

    /// Returns a comparison without the ignored fields of a version.
    fn compared(&self, version: &str, comparison: Comparison<'a>, arena: &'a Bump) -> Comparison<'a> {
        Comparison {
            removed: self.apply(version, comparison.removed, arena),
            modified: self.apply(version, comparison.modified, arena),
            added: self.apply(version, comparison.added, arena),
        }
    }
}

fn of_version<'i, T>(items: &'i [(&str, T)], version: &str) -> Option<&'i T> {
    items.iter().find(|(name, _)| *name == version).map(|(_, item)| item)
}

/// Applies and updates (upstream `merge.Updater`).
///
/// # Example: apply a change
/// ```
/// use kubeshape_smd::fieldpath::ManagedFields;
/// use kubeshape_smd::merge::{SameVersion, Updater};
/// use kubeshape_smd::typed::{TypedValue, Types};
/// use kubeshape_smd::{Bump, ToValue as _};
/// use serde_json::json;
///
/// let types = Types::deduced();
/// let object = types.named("__untyped_deduced_").unwrap();
/// let updater: Updater<'_, SameVersion> = Updater::default();
/// let arena = Bump::new();
///
/// let live = json!({"spec": {"paused": true, "replicas": 1}});
/// let config = json!({"spec": {"replicas": 3}});
/// let outcome = updater.apply(
///     TypedValue::unvalidated(Some(live.to_value(&arena)), object),
///     TypedValue::unvalidated(Some(config.to_value(&arena)), object),
///     "example.com/v1",
///     ManagedFields::new(),
///     "me",
///     false,
///     &arena,
/// );
/// let outcome = outcome.map_err(|error| error.to_string())?;
///
/// let after = outcome.object.and_then(TypedValue::value).unwrap();
/// assert_eq!(after.to_serde(), json!({"spec": {"paused": true, "replicas": 3}}));
/// // Who owns what now: only what was applied has an owner.
/// let mine = outcome.managers.get("me").unwrap();
/// assert_eq!(mine.set.to_json()?, r#"{"f:spec":{".":{},"f:replicas":{}}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Updater<'a, C> {
    /// Converts objects between versions.
    pub converter: C,
    /// The fields that are not tracked.
    pub ignored: Ignored<'a>,
    /// Whether an apply that changes nothing returns the object.
    pub return_input_on_noop: bool,
    /// What happens to lists and maps that an apply empties.
    pub emptied: Emptied,
}

/// The object and its owners afterwards.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The object. `None` if an apply changed nothing.
    pub object: Option<TypedValue<'a>>,
    /// The owners.
    pub managers: ManagedFields<'a>,
}

/// Why an apply or update failed.
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
    /// The fields that the manager no longer applies cannot be removed.
    #[error("failed to prune fields: {0}")]
    Prune(PruneError),
    /// The fields of a manager cannot be adapted to the schema.
    #[error("errors reconciling field set with schema: {0}")]
    Reconcile(ValidationErrors),
    /// The live object cannot be converted to the version of a manager.
    #[error("{0}")]
    Convert(ConvertError),
    /// The new object cannot be converted to the version of a manager.
    #[error("failed to convert new object: {0}")]
    ConvertNew(ConvertError),
}

impl<'a, C: Converter> Updater<'a, C> {
    /// Merges a configuration into the live object and gives its fields to the manager (upstream `Updater.Apply`).
    ///
    /// Fields that the manager applied before and no longer applies are removed, unless another manager owns them.
    ///
    /// # Errors
    /// [`Error::Conflicts`] unless forced, and any other [`Error`] if the objects cannot be merged, converted or
    /// compared.
    ///
    /// # Example: why does it conflict
    /// ```
    /// use kubeshape_smd::fieldpath::ManagedFields;
    /// use kubeshape_smd::merge::{Error, SameVersion, Updater};
    /// use kubeshape_smd::typed::{TypedValue, Types};
    /// use kubeshape_smd::{Bump, ToValue as _, Value};
    /// use serde_json::json;
    ///
    /// let types = Types::deduced();
    /// let ty = types.named("__untyped_deduced_").unwrap();
    /// let updater = Updater::<SameVersion>::default();
    /// let arena = Bump::new();
    /// let (one, two) = (json!({"replicas": 1}), json!({"replicas": 2}));
    /// let one = TypedValue::unvalidated(Some(one.to_value(&arena)), ty);
    /// let two = TypedValue::unvalidated(Some(two.to_value(&arena)), ty);
    /// let none = TypedValue::unvalidated(Some(Value::Null), ty);
    ///
    /// let first = updater.apply(none, one, "v1", ManagedFields::new(), "deploy", false, &arena).unwrap();
    /// let refused = updater.apply(one, two, "v1", first.managers.clone(), "scale", false, &arena);
    /// let Err(Error::Conflicts(conflicts)) = refused else { panic!() };
    /// assert_eq!(conflicts.to_string(), r#"conflict with "deploy": .replicas"#);
    /// assert_eq!((conflicts.0[0].live, conflicts.0[0].new), (Some(Value::Int(1)), Some(Value::Int(2))));
    ///
    /// // Force takes the field away from its owner.
    /// let forced = updater.apply(one, two, "v1", first.managers, "scale", true, &arena).unwrap();
    /// assert!(forced.managers.get("deploy").is_none());
    /// ```
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
        let mut live = Versions::new(live, &self.converter, arena);
        let mut managers = reconcile(&mut live, managers, arena)?;
        let merged = live.object.merge(config, arena).map_err(Error::Merge)?;
        let last = managers.get(manager).copied();
        let set = config.to_field_set(arena).map_err(Error::FieldSet)?;
        let set = self.ignored.apply(version, set, arena);
        managers.insert(manager, VersionedSet { set, api_version: version, applied: true });
        let new = match last {
            Some(last) if !last.set.is_empty() => {
                prune(merged, last, version, &managers, &self.converter, self.emptied, arena).map_err(Error::Prune)?
            }
            _ => merged,
        };
        let mut new = Versions::new(new, &self.converter, arena);
        let (_, equal) = self.take_over(&mut live, &mut new, version, &mut managers, manager, force, arena)?;
        let unchanged =
            !self.return_input_on_noop && equal.unwrap_or_else(|| live.object.value() == new.object.value());
        Ok(Outcome { object: (!unchanged).then_some(new.object), managers })
    }

    /// Gives the fields that differ between the live object and the new one to the manager (upstream `Updater.Update`).
    ///
    /// # Errors
    /// Any [`Error`] except conflicts, if the objects cannot be converted or compared.
    ///
    /// # Example: who owns this field
    /// ```
    /// use kubeshape_smd::fieldpath::{ManagedFields, PathElement};
    /// use kubeshape_smd::merge::{SameVersion, Updater};
    /// use kubeshape_smd::typed::{TypedValue, Types};
    /// use kubeshape_smd::{Bump, ToValue as _, Value};
    /// use serde_json::json;
    ///
    /// let types = Types::deduced();
    /// let ty = types.named("__untyped_deduced_").unwrap();
    /// let updater = Updater::<SameVersion>::default();
    /// let arena = Bump::new();
    /// let (one, two) = (json!({"image": "a", "replicas": 1}), json!({"image": "a", "replicas": 2}));
    /// let one = TypedValue::unvalidated(Some(one.to_value(&arena)), ty);
    /// let two = TypedValue::unvalidated(Some(two.to_value(&arena)), ty);
    /// let none = TypedValue::unvalidated(Some(Value::Null), ty);
    ///
    /// let created = updater.update(none, one, "v1", ManagedFields::new(), "deploy", &arena).unwrap();
    /// let scaled = updater.update(one, two, "v1", created.managers, "scale", &arena).unwrap();
    /// let owners = |path: &[PathElement<'_>]| -> Vec<&str> {
    ///     scaled.managers.iter().filter(|(_, fields)| fields.set.has(path)).map(|(manager, _)| manager).collect()
    /// };
    /// assert_eq!(owners(&[PathElement::FieldName("image")]), ["deploy"]);
    /// assert_eq!(owners(&[PathElement::FieldName("replicas")]), ["scale"]);
    /// ```
    pub fn update(
        &'a self,
        live: TypedValue<'a>,
        new: TypedValue<'a>,
        version: &'a str,
        managers: ManagedFields<'a>,
        manager: &'a str,
        arena: &'a Bump,
    ) -> Result<Outcome<'a>, Error<'a>> {
        let mut live = Versions::new(live, &self.converter, arena);
        let mut managers = reconcile(&mut live, managers, arena)?;
        let mut new = Versions::new(new, &self.converter, arena);
        let (changes, _) = self.take_over(&mut live, &mut new, version, &mut managers, manager, true, arena)?;
        let before = managers.get(manager).map_or(Set::EMPTY, |fields| fields.set);
        let set = before.difference(changes.removed, arena).union(changes.modified, arena).union(changes.added, arena);
        let set = self.ignored.apply(version, set, arena);
        if set.is_empty() {
            managers.remove(manager);
        } else {
            managers.insert(manager, VersionedSet { set, api_version: version, applied: false });
        }
        Ok(Outcome { object: Some(new.object), managers })
    }

    /// Compares the objects and removes changed and removed fields from the other managers (upstream `Updater.update`).
    /// Managers without any field left are dropped. Returns the comparison at the version of the operation, and whether
    /// the objects are equal if that is known.
    #[expect(clippy::too_many_arguments, reason = "these are the arguments of upstream's method")]
    fn take_over(
        &'a self,
        live: &mut Versions<'a, C>,
        new: &mut Versions<'a, C>,
        version: &'a str,
        managers: &mut ManagedFields<'a>,
        manager: &'a str,
        force: bool,
        arena: &'a Bump,
    ) -> Result<(Comparison<'a>, Option<bool>), Error<'a>> {
        let (whole, equal) = compare(live.object, new.object, arena)?;
        let own = self.ignored.compared(version, whole, arena);
        let mut at_versions = vec![Changes { version, of: own, taken: own.modified.union(own.added, arena) }];
        let mut conflicts = Conflicts(Vec::new());
        let mut failure = None;
        managers.retain(|name, fields| {
            if failure.is_some() {
                return true;
            }
            if name != manager {
                let known = at_versions.iter().position(|changes| changes.version == fields.api_version);
                let changes = match known {
                    Some(at) => at_versions[at],
                    None => match self.changes_at(fields.api_version, live, new, whole, arena) {
                        Ok(Some(changes)) => {
                            at_versions.push(changes);
                            changes
                        }
                        Ok(None) => return false,
                        Err(error) => {
                            failure = Some(error);
                            return true;
                        }
                    },
                };
                let taken = fields.set.intersection(changes.taken, arena);
                if !force && !taken.is_empty() {
                    let same = fields.api_version == version;
                    // For another version, both objects have been converted for the comparison.
                    let there = |object: &mut Versions<'a, C>| match (same, object.object) {
                        (true, object) => object,
                        (false, unconverted) => *object.at(fields.api_version).as_ref().unwrap_or(&unconverted),
                    };
                    conflicts.add(name, taken, there(live), there(new));
                }
                fields.set = fields.set.difference(taken, arena).difference(changes.of.removed, arena);
            }
            !fields.set.is_empty()
        });
        match failure {
            Some(error) => Err(error),
            None if conflicts.0.is_empty() => Ok((own, equal)),
            None => Err(Error::Conflicts(conflicts)),
        }
    }

    /// Returns the changes at another version, or `None` if the version no longer exists.
    fn changes_at(
        &'a self,
        version: &'a str,
        live: &mut Versions<'a, C>,
        new: &mut Versions<'a, C>,
        whole: Comparison<'a>,
        arena: &'a Bump,
    ) -> Result<Option<Changes<'a>>, Error<'a>> {
        let same = is_same(live.object, new.object) && !live.object.can_fail_with_itself();
        let old = match live.at(version) {
            Ok(old) => *old,
            Err(ConvertError::MissingVersion(_)) => return Ok(None),
            Err(error) => return Err(Error::Convert(error.clone())),
        };
        // Equal objects convert to equal objects.
        let comparison = if same {
            Comparison::default()
        } else {
            let converted = match new.at(version) {
                Ok(converted) => *converted,
                Err(ConvertError::MissingVersion(_)) => return Ok(None),
                Err(error) => return Err(Error::ConvertNew(error.clone())),
            };
            if is_same(old, live.object) && is_same(converted, new.object) {
                whole
            } else {
                compare(old, converted, arena)?.0
            }
        };
        let of = self.ignored.compared(version, comparison, arena);
        Ok(Some(Changes { version, of, taken: of.modified.union(of.added, arena) }))
    }
}

/// The changes at one version.
#[derive(Clone, Copy)]
struct Changes<'a> {
    version: &'a str,
    of: Comparison<'a>,
    /// The fields whose values changed. Their owners lose them.
    taken: Set<'a>,
}

/// Returns whether both are the same object in memory, which is cheap to check.
pub(super) fn is_same(a: TypedValue<'_>, b: TypedValue<'_>) -> bool {
    let same = match (a.value(), b.value()) {
        (Some(Value::Map(a)), Some(Value::Map(b))) => std::ptr::eq(a.entries(), b.entries()),
        (Some(Value::List(a)), Some(Value::List(b))) => std::ptr::eq(a, b),
        (Some(Value::Null), Some(Value::Null)) => true,
        _ => false,
    };
    same && a.ty().is(b.ty())
}

/// Returns the comparison, and whether the objects are equal if that is known.
fn compare<'a>(
    live: TypedValue<'a>,
    new: TypedValue<'a>,
    arena: &'a Bump,
) -> Result<(Comparison<'a>, Option<bool>), Error<'a>> {
    let equal = if is_same(live, new) && !live.can_fail_with_itself() { Some(true) } else { live.is_equal(new) };
    let comparison = match equal {
        Some(true) => Comparison::default(),
        _ => live.compare_unequal(new, arena).map_err(Error::Compare)?,
    };
    Ok((comparison, equal))
}

/// Adapts the managers' fields to the current schema and drops managers whose version no longer exists (upstream
/// `reconcileManagedFieldsWithSchemaChanges`).
fn reconcile<'a, C: Converter>(
    live: &mut Versions<'a, C>,
    mut managers: ManagedFields<'a>,
    arena: &'a Bump,
) -> Result<ManagedFields<'a>, Error<'a>> {
    let mut failure = None;
    managers.retain(|_, fields| {
        if failure.is_some() {
            return true;
        }
        match live.at(fields.api_version) {
            Ok(converted) => match converted.reconcile(fields.set, arena) {
                Ok(Some(set)) => fields.set = set,
                Ok(None) => {}
                Err(error) => failure = Some(Error::Reconcile(error)),
            },
            Err(ConvertError::MissingVersion(_)) => return false,
            Err(error) => failure = Some(Error::Convert(error.clone())),
        }
        true
    });
    failure.map_or(Ok(managers), Err)
}
