//! Area `written`: results that must be as good as their source. OpenAPI 3.0 comes back from OpenAPI 3.1 with the same
//! bytes, and a definition that was too large for `kubectl apply` fits after trimming and is the same for every object.
//! Needs no folder; with one, its documents and definitions are checked, too.

use crate::golden;
use crate::known::Known;
use crate::table::{Table, Verdict};
use crate::verdict::bytes;
use kubeshape_check::trim::{Fit, Options, Trimmed, plan};
use kubeshape_convert::v3::{self, later};
use kubeshape_diff::{Class, definitions};
use kubeshape_schema::{Bump, Dialect, Profile};
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape, edit};
use rayon::prelude::*;
use std::path::Path;

/// The most bytes of a document in OpenAPI 3.1.
const MOST: usize = 1 << 28;
/// Smaller files have no definition that is too large for an annotation.
const SMALL: usize = 100_000;

/// Compares the documents and the definitions of the project's own corpus, and those of a folder.
///
/// # Errors
/// The corpus cannot be read.
pub fn compare(corpus: Option<&Path>, known: Known) -> std::io::Result<Table> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let own = kubeshape_corpus::files()?.into_iter().chain(kubeshape_corpus::openapi_files()?);
    files.extend(own.map(|file| (file.id, file.bytes)));
    for folder in ["openapi", "crds"] {
        for path in corpus.map(|corpus| golden::files(&corpus.join(folder))).unwrap_or_default() {
            let name = corpus.and_then(|corpus| path.strip_prefix(corpus).ok()).unwrap_or(&path).display().to_string();
            files.push((name, golden::read(&path)?));
        }
    }
    let tables: Vec<Table> = files
        .par_iter()
        .map(|(name, bytes)| {
            let mut table = Table::new("written", known.clone());
            file(name, bytes, &mut table);
            table
        })
        .collect();
    let mut table = Table::new("written", known);
    for one in tables {
        table.take(one);
    }
    Ok(table)
}

fn file(name: &str, bytes: &[u8], table: &mut Table) {
    let Ok(mut stream) = Stream::new(bytes, Limits::default()) else { return };
    let source = stream.source();
    let (mut tape, mut number) = (Tape::new(), 0);
    while let Some(Ok(())) = stream.next(&mut tape) {
        number += 1;
        let label = if number == 1 { name.to_owned() } else { format!("{name} {number}") };
        let Some(root) = tape.document(source).root() else { continue };
        if Dialect::of(root) == Some(Dialect::V3) {
            // A document with errors has no form at all.
            if let Some(before) = printed(root) {
                table.add("3.0 to 3.1 and back", &label, there_and_back(&before));
            }
        } else if bytes.len() > SMALL {
            trimmed(&label, source, root, table);
        }
    }
}

/// Returns a document as OpenAPI 3.0; `None` if it has errors.
fn printed(root: kubeshape_yaml::Node<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    v3::read(root, &Bump::new(), Profile::Faithful).value?.print(&mut out, Profile::Faithful);
    Some(out)
}

fn there_and_back(before: &[u8]) -> Verdict {
    let later = match later::raise_text(before, Profile::Faithful, MOST) {
        Ok(later) => later,
        Err(note) => return Verdict::Missing(note.to_string()),
    };
    let mut tape = Tape::new();
    let read = Stream::new(&later, Limits::default())
        .map(|mut stream| stream.next(&mut tape).is_some_and(|read| read.is_ok()));
    let text = String::from_utf8_lossy(&later);
    let after = read.unwrap_or_default().then(|| tape.document(&text).root().and_then(printed)).flatten();
    after.map_or_else(|| Verdict::Missing("it cannot be read".to_owned()), |after| bytes(&after, before))
}

/// Trims the definitions of a document.
fn trimmed(label: &str, text: &str, root: kubeshape_yaml::Node<'_>, table: &mut Table) {
    let made = plan(root, &Options { fit: Some(Fit::Annotation), ..Options::default() });
    if made.edits.is_empty() && made.definitions.iter().all(Trimmed::fits) {
        return;
    }
    let after = edit::apply(text, &made.edits);
    let mut tape = Tape::new();
    let is_read = Stream::new(after.as_bytes(), Limits::default())
        .is_ok_and(|mut stream| stream.next(&mut tape).is_some_and(|read| read.is_ok()));
    let Some(new) = tape.document(&after).root().filter(|_| is_read) else {
        return table.add("trimmed: the manifest fits", label, Verdict::Missing("it cannot be read".to_owned()));
    };
    for (old, new) in manifests(root).0.into_iter().zip(manifests(new).0) {
        let before = Fit::Annotation.size(old.node);
        if before <= Fit::Annotation.limit() {
            continue;
        }
        let arena = Bump::new();
        let (Some(was), Some(now)) = (old.read(&arena).value, new.read(&arena).value) else { continue };
        let record = format!("{label} {}", was.name);
        let size = Fit::Annotation.size(new.node);
        let fits = if size <= Fit::Annotation.limit() {
            Verdict::Equal
        } else {
            Verdict::Differing(format!("{size} bytes of {before}"))
        };
        table.add("trimmed: the manifest fits", &record, fits);
        let change = definitions(&was, &now).into_iter().find(|change| change.class() > Class::Cosmetic);
        let same =
            change.map_or(Verdict::Equal, |change| Verdict::Differing(format!("{}: {}", change.path, change.detail)));
        table.add("trimmed: every object is treated alike", &record, same);
    }
}
