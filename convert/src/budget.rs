//! Limits on the size of the results of conversions.

use kubeshape_schema::{Code, Note};

/// The maximum memory of the parts of a converted document, in bytes. Shared parts of a document are written at each
/// use, so the result may be larger than the document by any factor.
pub(crate) const MOST_MEMORY: usize = 1 << 30;

/// Returns the note that the result of the part at that location would be larger than allowed.
pub(crate) fn too_large(at: u32, most_bytes: usize) -> Note<'static> {
    Note::new(Code::OutputBudget, at, format!("here there are more than {most_bytes} bytes"))
}
