//! OpenAPI v3 documents in OpenAPI v2.

mod accepts;
mod corpus;
pub(crate) mod generate;
mod losses;
mod rules;

use kubeshape_convert::v2::from_v3::{Options, Scratch, convert, restore};
use kubeshape_convert::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Dialect, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};

pub(crate) type Error = Box<dyn std::error::Error>;

/// Returns the v2 document and the notes, as `KS2201 detail (/its/place)`.
pub(crate) fn down(text: &str, options: Options) -> Result<(String, Vec<String>), Error> {
    let arena = Bump::new();
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let source = tape.document(text);
    let read = v3::read(source.root().ok_or("empty")?, &arena, Profile::Faithful);
    let document = read.value.ok_or_else(|| format!("{:?}", read.notes))?;
    let converted = convert(&document, &arena, &options);
    let mut out = Vec::new();
    converted.value.ok_or("no document")?.print(&mut out, Style::V2, options.profile);
    let note =
        |note: &kubeshape_schema::Note<'_>| format!("{} {} ({})", note.code, note.detail, source.pointer(note.at));
    Ok((String::from_utf8(out)?, converted.notes.iter().map(note).collect()))
}

/// Converts a document to v2 and back. Returns the result and the document, or `None` if it is not a v3 document.
pub(crate) fn there_and_back(text: &str, profile: Profile) -> Result<Option<(String, String)>, Error> {
    let arena = Bump::new();
    let (mut tape, mut second) = (Tape::new(), Tape::new());
    if !Stream::new(text.as_bytes(), Limits::default())
        .and_then(|mut stream| stream.next(&mut tape).transpose())
        .is_ok_and(|read| read.is_some())
    {
        return Ok(None);
    }
    let Some(root) = tape.document(text).root() else { return Ok(None) };
    if Dialect::of(root) != Some(Dialect::V3) {
        return Ok(None);
    }
    let Some(document) = v3::read(root, &arena, Profile::Faithful).value else { return Ok(None) };
    let mut before = Vec::new();
    document.print(&mut before, Profile::Faithful);
    let options = Options { profile, keep_losses: true, ..Options::default() };
    let converted = convert(&document, &arena, &options).value.ok_or("no document")?;
    let mut printed = Vec::new();
    converted.print(&mut printed, Style::V2, profile);
    let printed = String::from_utf8(printed)?;
    Stream::new(printed.as_bytes(), Limits::default())?.next(&mut second).transpose()?;
    // Readers of Kubernetes accept the document with recorded losses.
    let root = second.document(&printed).root().ok_or("empty")?;
    let again = v2::read(root, &arena, profile);
    let again = again.value.ok_or_else(|| format!("{:?}", again.notes))?;
    let mut after = [Vec::new(), Vec::new()];
    for (document, out) in [converted, again].iter().zip(&mut after) {
        let mut scratch = Scratch::default();
        let restored = restore(document, &mut scratch, &arena);
        restored.value.ok_or_else(|| format!("{:?}", restored.notes))?.print(out, Profile::Faithful);
    }
    let [direct, after] = after;
    // For Kubernetes, empty members are absent once they were printed.
    if direct != after && profile == Profile::Faithful {
        let message = "it makes a difference whether the document was printed and read in between";
        let [direct, after] = [direct, after].map(|text| String::from_utf8_lossy(&text).into_owned());
        return Err(format!("{message}\n{direct}\n{after}\n{printed}").into());
    }
    Ok(Some((String::from_utf8(before)?, String::from_utf8(after)?)))
}
