//! The versions of a CustomResourceDefinition, prepared for requests.

use kubeshape_smd::Bump;
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use self_cell::{MutBorrow, self_cell};
use std::fmt;

type Resources<'a> = Vec<Resource<'a>>;

self_cell!(
    /// The versions of a definition, prepared for requests, with their arena.
    pub(crate) struct Prepared {
        owner: MutBorrow<Bump>,
        #[covariant]
        dependent: Resources,
    }
);

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prepared").field(self.borrow_dependent()).finish()
    }
}

impl Prepared {
    /// Prepares a definition. The result borrows nothing from it.
    pub(crate) fn of(crd: &Crd<'_>, release: Release) -> Prepared {
        Prepared::new(MutBorrow::new(Bump::new()), |arena| Resource::of_versions(crd, release, arena.borrow_mut()))
    }
}
