//! Advice: what a server accepts, and what causes trouble later.

use kubeshape_schema::Note;
use kubeshape_validate::Release;
use kubeshape_validate::crd::Definition;

/// Advice about a definition that is read, in no particular order.
pub fn about(_definition: &Definition<'_>, _release: Release) -> Vec<Note<'static>> {
    Vec::new()
}
