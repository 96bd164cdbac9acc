//! Records in the result what a conversion loses, and restores the original from it.
//!
//! An entry is an extension `x-kubeshape-loss` of the object that lost something: the document, a path item, an
//! operation, a parameter, a response, a header, a security scheme or a schema. Its form is
//!
//! ```json
//! {"was": {"/oneOf": [{"type": "string"}, {"type": "integer"}]}, "new": ["/format"]}
//! ```
//!
//! `was` has values of the original by their location in the object's OpenAPI v3 form, a JSON pointer; `new` has the
//! locations of values that the plain way back adds, but that the original did not have. An object without an entry is
//! the result of the plain way back, which only undoes the table of [`from_v3`](super).
//!
//! Forms and bodies are parts of their operation. An entry of a body parameter belongs to the request body; for a form,
//! the operation's entry has what its parameters do not express.

mod attach;
mod back;
mod back_document;
mod json;
mod patch;

pub use json::Scratch;

use crate::{v2, v3};
use attach::{Attach, Step};
use back::Back;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Converted, Note, Profile};

/// The name of the extension with the recorded losses.
pub const LOSS: &str = "x-kubeshape-loss";

/// Adds entries with what the source had to the result of a conversion.
///
/// # Errors
/// A printed document is too large to be read.
pub(super) fn keep<'a>(
    source: &v3::Document<'a>,
    result: &v2::Document<'a>,
    profile: Profile,
    arena: &'a Bump,
) -> Result<v2::Document<'a>, kubeshape_yaml::Error> {
    let values = Bump::new();
    let (mut from, mut to) = (Scratch::default(), Scratch::default());
    source.print(&mut from.text, Profile::Faithful);
    result.print(&mut to.text, Style::V2, profile);
    let (Some(original), Some(root)) = (from.read()?, to.read()?) else { return Ok(*result) };
    let original = json::from_node(original, &values);
    let root = json::from_node(root, &values);
    let mut back = Back { arena: &values, keeps: true, root, failed: false };
    let pair = back.document(Some(&original));
    let step = Step { before: Some(&root), after: Some(&pair.v2) };
    Ok(Attach { arena }.document(result, step))
}

/// Returns the original of a document that was converted with [`keep_losses`](super::Options::keep_losses). With
/// [`Profile::Faithful`], it prints as the original did.
///
/// The document may have been printed and read in between, and must have been if it was converted for
/// [`Profile::Kube`], whose printer omits empty members. Its locations are those of the string in `scratch`. The value
/// is `None` if an entry was changed so that it is no longer valid, or if the result is not a document; the notes
/// report this.
///
/// # Example
/// ```
/// use kubeshape_convert::v2::from_v3::{Options, Scratch, convert, restore};
/// use kubeshape_convert::v3;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"openapi":"3.0.3","info":{"title":"a"},"components":{"schemas":{"A":{"not":{"type":"string"}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let document = v3::read(tape.document(source).root().unwrap(), &arena, Profile::Faithful).value.unwrap();
/// let options = Options { keep_losses: true, ..Options::default() };
/// let converted = convert(&document, &arena, &options).value.unwrap();
///
/// let mut scratch = Scratch::default();
/// let restored = restore(&converted, &mut scratch, &arena).value.unwrap();
/// let mut out = Vec::new();
/// restored.print(&mut out, Profile::Faithful);
/// assert_eq!(String::from_utf8_lossy(&out), source);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn restore<'a>(
    document: &v2::Document<'_>,
    scratch: &'a mut Scratch,
    arena: &'a Bump,
) -> Converted<'a, Option<v3::Document<'a>>> {
    match original(document, scratch) {
        Ok(()) => {}
        Err(reason) => {
            return Converted { value: None, notes: vec![Note::new(Code::DownRestore, document.at, reason)] };
        }
    }
    match scratch.read() {
        Ok(Some(root)) => v3::read(root, arena, Profile::Faithful),
        Ok(None) => Converted { value: None, notes: Vec::new() },
        Err(error) => {
            let note = Note::new(Code::DownRestore, document.at, error.to_string());
            Converted { value: None, notes: vec![note] }
        }
    }
}

/// Prints the original into `scratch`.
fn original(document: &v2::Document<'_>, scratch: &mut Scratch) -> Result<(), String> {
    let values = Bump::new();
    let mut printed = Scratch::default();
    document.print(&mut printed.text, Style::V2, Profile::Faithful);
    let root = printed.read().map_err(|error| error.to_string())?.ok_or("the document is empty")?;
    let root = json::from_node(root, &values);
    let mut back = Back { arena: &values, keeps: false, root, failed: false };
    let pair = back.document(None);
    if back.failed {
        return Err(format!("{LOSS} is not as it was written"));
    }
    scratch.text.clear();
    pair.v3.print(&mut scratch.text, kubeshape_schema::escape::Escape::Plain);
    Ok(())
}

/// Returns whether a document contains recorded losses, so that [`restore`] returns its original.
pub fn has_losses(document: &v2::Document<'_>) -> bool {
    let mut printed = Vec::new();
    document.print(&mut printed, Style::V2, Profile::Faithful);
    // Only keys are followed by a colon; quotes within strings are escaped.
    let key = format!("\"{LOSS}\":");
    printed.windows(key.len()).any(|window| window == key.as_bytes())
}
