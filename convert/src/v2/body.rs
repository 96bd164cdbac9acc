//! OpenAPI v2 documents as servers send them.

use crate::graph::split::split;
use crate::{v2, v3};
use kubeshape_schema::{Bump, NoteKind, Profile};
use kubeshape_yaml::{Document, Limits, Node, Stream, Tape};

/// Converts a v2 document to the v3 documents of the group versions whose paths `takes` accepts: their paths
/// (`apis/apps/v1`) and JSON, in the order of [`split`].
///
/// Upstream publishes the whole document for each group version (kube-aggregator
/// `pkg/controllers/openapiv3/aggregator`). Here, each document has only what it refers to.
///
/// # Errors
/// The body is not an OpenAPI v2 document, or it cannot be converted.
///
/// # Example
/// ```
/// use kubeshape_convert::v2;
/// use kubeshape_schema::Profile;
/// let body = br#"{"swagger":"2.0","paths":{"/apis/a.io/v1/things":{"get":{"responses":{}}},"/version":{}}}"#;
/// let documents = v2::body::to_v3(body, Profile::Kube, |path| path.starts_with("apis/"))?;
/// assert_eq!(documents.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["apis/a.io/v1"]);
/// # Ok::<(), String>(())
/// ```
pub fn to_v3(body: &[u8], profile: Profile, takes: impl Fn(&str) -> bool) -> Result<Vec<(String, Vec<u8>)>, String> {
    read(body, |document| {
        let Some(root) = document.root() else { return Err("it is empty".to_owned()) };
        let arena = Bump::new();
        let read = v2::read(root, &arena, profile);
        let fault = |notes: &[kubeshape_schema::Note<'_>]| {
            let error = notes.iter().find(|note| note.code.kind() == NoteKind::Error);
            error.map_or_else(
                || "it cannot be converted".to_owned(),
                |note| format!("{}: {}", document.pointer(note.at), note.detail),
            )
        };
        let Some(value) = read.value else { return Err(fault(&read.notes)) };
        let converted = v3::from_v2::convert(&value, &arena, profile);
        let Some(value) = converted.value else { return Err(fault(&converted.notes)) };
        let printed = split(&value, &arena).value.into_iter().filter(|slice| takes(slice.name)).map(|slice| {
            let mut json = Vec::new();
            slice.document.print(&mut json, profile);
            (slice.name.to_owned(), json)
        });
        Ok(printed.collect())
    })
}

/// Reads the body of a server's response, and calls `f` with the document.
///
/// # Errors
/// The body is not an OpenAPI v2 document, or `f` has an error.
pub fn read<T>(body: &[u8], f: impl FnOnce(Document<'_>) -> Result<T, String>) -> Result<T, String> {
    // A node takes 20 bytes of the tape. A body of the maximum size has fewer nodes.
    let limits = Limits { nodes: 8_000_000, alias_nodes: 0, ..Limits::default() };
    let mut stream = Stream::new(body, limits).map_err(|error| error.to_string())?;
    let source = stream.source();
    let mut tape = Tape::new();
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    let document = tape.document(source);
    if document.root().and_then(|root| root.get("swagger")).and_then(Node::as_str) != Some("2.0") {
        return Err("it is no OpenAPI v2 document".to_owned());
    }
    f(document)
}
