//! Manifests of Kubernetes in an editor.
//!
//! A [`Workspace`] holds the open files, as a client of the Language Server Protocol sends them, and the names in the
//! other files. A [`File`] is split into [`parts`], its documents; an edit makes only its own part new. What servers say
//! about manifests comes from a [`Knowledge`], which the `kubeshape` command implements with the libraries of its other
//! commands; so diagnostics are the findings of `kubeshape validate` and `kubeshape check`.
//!
//! The functions return the types of the protocol: [`hover`], [`complete`], [`actions`], [`hints`], [`symbols`], and
//! [`Workspace::definition`], [`Workspace::references`] and [`Workspace::rename`]. Nothing here reads a file.
//!
//! # Example: an edit
//! ```
//! use kubeshape_input::{Code, Finding};
//! use kubeshape_language::{Encoding, File, Judged, Knowledge};
//! use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
//! use std::sync::Arc;
//!
//! /// Counts the parts that are judged.
//! struct Counting(usize);
//! impl Knowledge for Counting {
//!     fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged {
//!         self.0 += 1;
//!         let found = Finding::new(Code::ObjectField, text.to_owned()).in_input(Arc::clone(name));
//!         Judged { objects: vec![found], ..Judged::default() }
//!     }
//! }
//!
//! let mut knowledge = Counting(0);
//! let mut file = File::new("a.yaml", 1, "apiVersion: v1\n---\na: 1\n".to_owned(), false);
//! assert_eq!(file.findings(&mut knowledge).len(), 2);
//! let range = Some(Range::new(Position::new(2, 3), Position::new(2, 4)));
//! let change = TextDocumentContentChangeEvent { range, range_length: None, text: "2".to_owned() };
//! file.change(2, &[change], Encoding::Utf16);
//! assert_eq!(file.findings(&mut knowledge)[1].detail, "---\na: 2\n");
//! assert_eq!(knowledge.0, 3);
//! ```

mod actions;
mod complete;
mod diagnostics;
mod fields;
mod file;
mod hints;
mod hover;
mod index;
mod judged;
mod modeline;
mod outline;
mod parts;
mod place;
mod symbols;
mod template;
mod text;
mod workspace;

pub use actions::{EXPLAIN, actions};
pub use complete::{complete, resolve};
pub use diagnostics::diagnostic;
pub use fields::{Declared, Fields};
pub use file::File;
pub use hints::hints;
pub use hover::{add_owners, hover};
pub use index::Named;
pub use judged::Judged;
pub use modeline::modeline;
pub use outline::{Outline, Step, outline};
pub use parts::parts;
pub use symbols::symbols;
pub use template::{Masked, mask};
pub use text::{Encoding, Text};
pub use workspace::{Live, Workspace};

pub use kubeshape_yaml::edit::Edit;

use kubeshape_input::Finding;
use place::place;
use std::rc::Rc;
use std::sync::Arc;

/// What is known of manifests and kinds. Only [`judge`](Self::judge) is needed; the others know nothing by default.
pub trait Knowledge {
    /// Judges a part of a file, as commands judge the file.
    fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged;

    /// Checks the admission policies of a file, if it has some.
    fn policies(&mut self, _name: &Arc<str>, _text: &str) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns the fields of a kind.
    fn fields(&mut self, _api_version: &str, _kind: &str) -> Option<Rc<Fields>> {
        None
    }

    /// Returns everything that is known of a field, by its number in [`Fields`].
    fn describe(&mut self, _api_version: &str, _kind: &str, _number: usize) -> Option<serde_json::Value> {
        None
    }

    /// Returns all kinds, each with its API version.
    fn kinds(&mut self) -> Rc<[(String, String)]> {
        Rc::from([])
    }

    /// Returns the smallest object of a kind that a server accepts, as YAML.
    fn sample(&mut self, _api_version: &str, _kind: &str) -> Option<String> {
        None
    }

    /// Returns the API version that replaces an old one.
    fn replacement(&mut self, _api_version: &str, _kind: &str) -> Option<String> {
        None
    }

    /// Returns the edits of `kubeshape check --fix` in a part.
    fn fixes(&mut self, _name: &Arc<str>, _text: &str) -> Vec<Edit> {
        Vec::new()
    }

    /// Returns the objects of a part as they are stored; an empty string for an object that is refused.
    fn stored(&mut self, _name: &Arc<str>, _text: &str) -> Vec<String> {
        Vec::new()
    }
}
