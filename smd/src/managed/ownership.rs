//! The owners of fields.

use super::{DecodeError, Managed, Operation, Time};
use crate::Bump;
use crate::fieldpath::{Path, PathElement, Set, VersionedSet};
use crate::value::Value;

/// A manager that owns fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Its name.
    pub manager: &'a str,
    /// The operation by which it came to own them.
    pub operation: Operation,
    /// The version at which it wrote. Its fields are paths in this version.
    pub api_version: &'a str,
    /// The subresource through which it wrote. Empty for the object itself.
    pub subresource: &'a str,
    /// When its entry was last changed.
    pub time: Option<Time>,
}

/// The owners of an object's fields.
///
/// # Example: who owns this field
/// ```
/// use kubeshape_smd::{Bump, ToValue, fieldpath::PathElement, managed::Ownership};
/// use serde_json::json;
/// let arena = Bump::new();
/// let entry = |manager, operation, fields| json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1",
///     "time": "2000-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}});
/// let live = json!({
///     "metadata": {"managedFields": [
///         entry("alice", "Apply", json!({"f:paused": {}, "f:replicas": {}})),
///         entry("autoscaler", "Update", json!({"f:replicas": {}})),
///     ]},
///     "spec": {"paused": false, "replicas": 3},
/// });
/// let ownership = Ownership::of(live.to_value(&arena), &arena)?;
/// let replicas = [PathElement::FieldName("spec"), PathElement::FieldName("replicas")];
/// let owners: Vec<_> = ownership.owners(&replicas).map(|owner| owner.manager).collect();
/// assert_eq!(owners, ["alice", "autoscaler"]);
///
/// let mut all = Vec::new();
/// ownership.for_each(&mut |path, owners| all.push((path.last().unwrap().to_string(), owners.len())));
/// assert_eq!(all, [(".paused".to_owned(), 1), (".replicas".to_owned(), 2)]);
/// # Ok::<(), kubeshape_smd::managed::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ownership<'a> {
    owners: Vec<(Owner<'a>, Set<'a>)>,
}

/// The owners of a field of an object and of everything below it.
#[derive(Clone, Debug)]
pub struct Owned<'o, 'a> {
    ownership: &'o Ownership<'a>,
    /// For each owner: whether it owns this field, and what it owns below it.
    at: Vec<(bool, Set<'a>)>,
}

impl<'a> Ownership<'a> {
    /// Reads the owners of an object with managed fields.
    ///
    /// # Errors
    /// The managed fields cannot be read.
    pub fn of(object: Value<'a>, arena: &'a Bump) -> Result<Self, DecodeError> {
        Ok(Ownership::new(&Managed::of(object, arena)?))
    }

    /// Creates it from managed fields. Entries without a known identifier are ignored.
    pub fn new(managed: &Managed<'a>) -> Self {
        let owner = |(text, fields): (&'a str, &VersionedSet<'a>)| {
            let identifier = managed.identifier(text)?;
            let owner = Owner {
                manager: identifier.manager,
                operation: identifier.operation,
                api_version: fields.api_version,
                subresource: identifier.subresource,
                time: managed.time(text),
            };
            Some((owner, fields.set))
        };
        let mut owners: Vec<_> = managed.fields.iter().filter_map(owner).collect();
        owners.sort_by_key(|(owner, _)| {
            let time = owner.time.unwrap_or_default();
            (owner.operation, time, owner.manager, owner.api_version, owner.subresource)
        });
        Ownership { owners }
    }

    /// Returns all owners and their fields, in the order in which the server lists them.
    pub fn all(&self) -> &[(Owner<'a>, Set<'a>)] {
        &self.owners
    }

    /// Returns the owners of one path.
    pub fn owners(&self, path: &Path<'_>) -> impl Iterator<Item = &Owner<'a>> {
        self.owners.iter().filter(|(_, set)| set.has(path)).map(|(owner, _)| owner)
    }

    /// Returns the whole object. [`Owned::child`] returns its fields.
    pub fn root(&self) -> Owned<'_, 'a> {
        Owned { ownership: self, at: self.owners.iter().map(|(_, set)| (false, *set)).collect() }
    }

    /// Calls `tell` for every owned path with its owners. A parent comes before its children.
    pub fn for_each(&self, tell: &mut dyn FnMut(&Path<'a>, &[&Owner<'a>])) {
        let mut path = Vec::new();
        let mut owners = Vec::with_capacity(self.owners.len());
        self.root().walk(&mut path, &mut owners, tell);
    }
}

impl<'o, 'a> Owned<'o, 'a> {
    /// Returns the owners of this field.
    pub fn owners(&self) -> impl Iterator<Item = &'o Owner<'a>> {
        self.ownership.owners.iter().zip(&self.at).filter(|(_, at)| at.0).map(|((owner, _), _)| owner)
    }

    /// Returns whether no manager owns this field or anything below it.
    pub fn is_empty(&self) -> bool {
        self.at.iter().all(|(member, below)| !member && below.is_empty())
    }

    /// Returns whether no manager owns anything below this field.
    pub fn is_leaf(&self) -> bool {
        self.at.iter().all(|(_, below)| below.is_empty())
    }

    /// Returns the elements below this field, in order, each once.
    pub fn elements(&self) -> Vec<PathElement<'a>> {
        let below = self.at.iter().flat_map(|(_, below)| below.entries());
        let mut elements: Vec<_> = below.map(|entry| entry.element).collect();
        elements.sort();
        elements.dedup();
        elements
    }

    /// Returns the field below.
    #[must_use]
    pub fn child(&self, element: PathElement<'_>) -> Owned<'o, 'a> {
        let below = |(_, below): &(bool, Set<'a>)| {
            below.entry(element).map_or((false, Set::EMPTY), |entry| (entry.member, entry.children))
        };
        Owned { ownership: self.ownership, at: self.at.iter().map(below).collect() }
    }

    /// Returns the item of a list, found without a schema: by the keys in the managers' sets (a key that the item lacks
    /// was defaulted), as the item of a set, or by its index. Managers may have used different keys. Then the owners of
    /// all matching keys own the item.
    #[must_use]
    pub fn item(&self, index: usize, item: Value<'_>) -> Owned<'o, 'a> {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let is = |element: &PathElement<'_>| match *element {
            PathElement::FieldName(_) | PathElement::Nameless => false,
            PathElement::Key(keys) => {
                let has = |(name, key): &(&str, Value<'_>)| item.get(name).is_none_or(|value| value == *key);
                // A key whose values are all defaulted would match every item.
                item.as_map().is_some() && keys.iter().all(has) && keys.iter().any(|(name, _)| item.get(name).is_some())
            }
            PathElement::Value(value) => value == item,
            PathElement::Index(at) => at == index,
        };
        let below = |(_, below): &(bool, Set<'a>)| {
            below
                .entries()
                .iter()
                .find(|entry| is(&entry.element))
                .map_or((false, Set::EMPTY), |entry| (entry.member, entry.children))
        };
        Owned { ownership: self.ownership, at: self.at.iter().map(below).collect() }
    }

    fn walk(
        &self,
        path: &mut Vec<PathElement<'a>>,
        owners: &mut Vec<&'o Owner<'a>>,
        tell: &mut dyn FnMut(&Path<'a>, &[&Owner<'a>]),
    ) {
        for element in self.elements() {
            let child = self.child(element);
            path.push(element);
            owners.clear();
            owners.extend(child.owners());
            if !owners.is_empty() {
                tell(path, owners);
            }
            child.walk(path, owners, tell);
            path.pop();
        }
    }
}
