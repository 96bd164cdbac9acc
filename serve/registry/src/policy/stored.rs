//! Policies with the memory that they borrow from.

use crate::Object;
use kubeshape_policy::{Kinds, Policies, Release};
use kubeshape_smd::{Bump, ToValue};
use self_cell::{MutBorrow, self_cell};
use std::fmt;

self_cell!(
    struct Cell {
        owner: MutBorrow<Bump>,
        #[covariant]
        dependent: Policies,
    }
);

/// Policies that are compiled once and shared by threads.
pub struct StoredPolicies(Cell);

impl fmt::Debug for StoredPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredPolicies").field(self.get()).finish()
    }
}

impl StoredPolicies {
    /// Reads policies, bindings and webhook configurations from JSON. Strings that are not objects are skipped.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t [u8]>, kinds: &dyn Kinds, release: Release) -> StoredPolicies {
        StoredPolicies(Cell::new(MutBorrow::new(Bump::new()), |arena| {
            let arena: &Bump = arena.borrow_mut();
            let read = |text: &[u8]| Some(Object::read("policy", text).ok()?.to_value(arena).copy_into(arena));
            Policies::read(texts.into_iter().filter_map(read), kinds, release, arena)
        }))
    }

    /// Returns the policies.
    pub fn get(&self) -> &Policies<'_> {
        self.0.borrow_dependent()
    }
}
