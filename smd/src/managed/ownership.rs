//! Who owns which field.

use super::{DecodeError, Managed, Operation, Time};
use crate::Bump;
use crate::fieldpath::{Path, PathElement, Set};
use crate::value::Value;

/// A manager that owns fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Its name.
    pub manager: &'a str,
    /// How it came to own them.
    pub operation: Operation,
    /// The version at which it wrote, in whose spelling its fields are.
    pub api_version: &'a str,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: &'a str,
    /// When its entry was last changed.
    pub time: Option<Time>,
}

/// The owners of an object's fields.
#[derive(Clone, Debug, Default)]
pub struct Ownership<'a> {
    owners: Vec<(Owner<'a>, Set<'a>)>,
}

/// The owners of one place of an object and of all below it.
#[derive(Clone, Debug)]
pub struct Owned<'o, 'a> {
    ownership: &'o Ownership<'a>,
    /// Per owner: whether it owns this place, and what it owns below.
    at: Vec<(bool, Set<'a>)>,
}

impl<'a> Ownership<'a> {
    /// Of an object with managed fields.
    ///
    /// # Errors
    /// The managed fields cannot be read.
    pub fn of(object: Value<'a>, arena: &'a Bump) -> Result<Self, DecodeError> {
        let _ = (object, arena);
        todo!()
    }

    /// Of managed fields.
    pub fn new(managed: &Managed<'a>, arena: &'a Bump) -> Self {
        let _ = (managed, arena);
        todo!()
    }

    /// All owners and their fields, in the order in which the server lists them.
    pub fn all(&self) -> &[(Owner<'a>, Set<'a>)] {
        &self.owners
    }

    /// The owners of one path.
    pub fn owners(&self, path: &Path<'_>) -> impl Iterator<Item = &Owner<'a>> {
        self.owners.iter().filter(|(_, set)| set.has(path)).map(|(owner, _)| owner)
    }

    /// The whole object, from where [`Owned::child`] goes down.
    pub fn root(&self) -> Owned<'_, 'a> {
        Owned { ownership: self, at: self.owners.iter().map(|(_, set)| (false, *set)).collect() }
    }

    /// Calls this for every owned path, a parent before what is below it, with the owners of the path.
    pub fn for_each(&self, tell: &mut dyn FnMut(&Path<'a>, &[&Owner<'a>])) {
        let _ = tell;
        todo!()
    }
}

impl<'o, 'a> Owned<'o, 'a> {
    /// The owners of this place.
    pub fn owners(&self) -> impl Iterator<Item = &'o Owner<'a>> {
        self.ownership.owners.iter().zip(&self.at).filter(|(_, at)| at.0).map(|((owner, _), _)| owner)
    }

    /// Whether nobody owns this place and nothing below it.
    pub fn is_empty(&self) -> bool {
        self.at.iter().all(|(member, below)| !member && below.is_empty())
    }

    /// Whether nobody owns anything below this place.
    pub fn is_leaf(&self) -> bool {
        self.at.iter().all(|(_, below)| below.is_empty())
    }

    /// The elements below this place, in order, each once.
    pub fn elements(&self) -> Vec<PathElement<'a>> {
        todo!()
    }

    /// The place below.
    #[must_use]
    pub fn child(&self, element: PathElement<'_>) -> Owned<'o, 'a> {
        let _ = element;
        todo!()
    }

    /// The item of a list, found without a schema: by the keys that managers wrote down and that the item has (a key
    /// that the item lacks was defaulted), as the item of a set, or by its index.
    #[must_use]
    pub fn item(&self, index: usize, item: Value<'_>) -> Owned<'o, 'a> {
        let _ = (index, item);
        todo!()
    }
}
