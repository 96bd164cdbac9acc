//! How large the results of conversions may be.

use kubeshape_schema::{Code, Note};

/// Memory that the parts of a converted document may have, in bytes. What shared parts of a document become is written
/// wherever they are used, so this may be more than the document by any factor.
pub(crate) const MOST_MEMORY: usize = 1 << 30;

/// The note that the result of the part at that place would be larger than allowed.
pub(crate) fn too_large(at: u32, most_bytes: usize) -> Note<'static> {
    Note::new(Code::OutputBudget, at, format!("here there are more than {most_bytes} bytes"))
}
