//! Bringing back what an earlier conversion from v3 to v2 could not say and kept as `x-kubeshape-loss`.

use crate::v3;
use kubeshape_schema::Bump;

/// The document with every `x-kubeshape-loss` entry put back to where it was lost.
///
/// Nothing writes such entries yet, so that the document stays as it is.
pub(super) fn restore<'a>(document: v3::Document<'a>, _: &'a Bump) -> v3::Document<'a> {
    document
}
