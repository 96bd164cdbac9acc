//! Merges the printed parts of resources, or of another server, into the OpenAPI v2 document of a server, as
//! `MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters` of kube-openapi's `pkg/aggregator` does.
//!
//! The parts are an [`Overlay`], the document is a [`Destination`]. Both share printed strings, so the parts of many
//! resources are not copied.

mod destination;
mod overlay;
mod references;
pub(crate) mod section;

pub use destination::{Destination, SharedParts};
pub use overlay::{Members, Overlay};
pub use section::Section;

use bytes::Bytes;
use kubeshape_schema::escape;
use kubeshape_yaml::{Kind, Node, number};

/// The merged document and what happened to the overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The document's bytes.
    pub document: Vec<u8>,
    /// Paths of the overlay that the document already has.
    pub dropped_paths: Vec<String>,
    /// Definitions of the overlay that have another name in the document: old and new name.
    pub renamed: Vec<(String, String)>,
}

/// Why nothing can be merged into a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The document cannot be read.
    #[error("{0}")]
    Unreadable(#[from] kubeshape_yaml::Error),
    /// The document is not an OpenAPI v2 document.
    #[error("found no `swagger: \"2.0\"` at the root; give an OpenAPI v2 document")]
    NotSwagger,
    /// Upstream keeps paths by prefix and then finds one twice. This happens only if upstream's faults are kept.
    #[error(
        "unable to merge: duplicated path {0}; the server's document would not change until it is gone (use --profile faithful to merge all the same)"
    )]
    DuplicatePath(String),
}

/// Merges `overlay` into `document`. The document's own parts stay: its paths win, equal definitions are shared and
/// their group-version-kinds united, and other definitions with the same name get a new name.
///
/// With `keep_faults`, paths that are kept also keep every path of which they are a prefix, as upstream does.
///
/// # Errors
/// The document cannot be read or is not an OpenAPI v2 document, or upstream could not merge it: see [`MergeError`].
///
/// # Example
/// ```
/// use kubeshape_convert::aggregate::merge::{Overlay, merge};
/// let mut overlay = Overlay::default();
/// overlay.paths.insert("/b".into(), br##"{"get":{"schema":{"$ref":"#/definitions/A"}}}"##.to_vec().into());
/// overlay.definitions.insert("A".into(), br#"{"type":"string"}"#.to_vec().into());
/// let document = br#"{"swagger":"2.0","paths":{"/a":{}},"definitions":{"A":{"type":"object"}}}"#;
/// let merged = merge(document, overlay, true).unwrap();
/// assert_eq!(
///     String::from_utf8(merged.document).unwrap(),
///     r##"{"swagger":"2.0","paths":{"/a":{},"/b":{"get":{"schema":{"$ref":"#/definitions/A_v2"}}}},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"##
/// );
/// ```
pub fn merge(document: &[u8], overlay: Overlay, keep_faults: bool) -> Result<Merged, MergeError> {
    Destination::read(document)?.merge(overlay, keep_faults)
}

/// Returns the members of an object, each printed compactly in source order.
fn members(node: Option<Node<'_>>) -> Members {
    let mut out = Members::new();
    for (key, value) in node.into_iter().flat_map(Node::pairs) {
        let mut json = Vec::new();
        compact(value, &mut json);
        out.insert(key.text().to_owned(), Bytes::from(json.into_boxed_slice()));
    }
    out
}

/// Prints a node without blanks and with its members in source order.
fn compact(node: Node<'_>, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::Int | Kind::Float => match node.as_number() {
            Some(kubeshape_yaml::Number::Int(n)) => number::write_int(n, out),
            Some(n) => number::write_json(n.as_f64(), out),
            None => out.extend_from_slice(b"null"),
        },
        Kind::Str => escape::string(out, node.text(), escape::Escape::Plain),
        Kind::Seq => {
            out.push(b'[');
            for (i, item) in node.items().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                compact(item, out);
            }
            out.push(b']');
        }
        Kind::Map => {
            out.push(b'{');
            for (i, (key, value)) in node.pairs().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                escape::string(out, key.text(), escape::Escape::Plain);
                out.push(b':');
                compact(value, out);
            }
            out.push(b'}');
        }
    }
}
