//! Makes definitions smaller without a change for any object: removes descriptions, examples, titles and links.
//!
//! `kubectl apply` keeps a manifest in an annotation. All annotations together have at most 256 KiB, and etcd accepts
//! objects of at most 1.5 MiB. [`plan`] finds the edits after which each definition of a document fits. Only texts for
//! people are removed, the least valuable first, and no more than needed:
//!
//! 1. Descriptions inside copies of Kubernetes' own types, such as a pod template: they are shortened to their first
//!    sentence, then removed.
//! 2. The definition's own descriptions: they are shortened to their first sentence.
//! 3. Examples, titles and links to documents.
//! 4. The definition's own descriptions.
//!
//! In each step, the deepest fields go first. At the same depth, fields of versions that are not stored go first, then
//! the longest texts. [`Options`] remove or shorten more, whatever the size. The edits keep layout and comments.
//!
//! # Example
//! ```
//! use kubeshape_check::trim::{Descriptions, Options, is_made, plan};
//! use kubeshape_yaml::{Limits, Stream, Tape, edit};
//!
//! let text = "
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: tabs.example.com}
//! spec:
//!   versions:
//!   - name: v1 # the only one
//!     storage: true
//!     schema:
//!       openAPIV3Schema:
//!         description: A tab. It has a size.
//!         type: object
//! ";
//! let read = |text: &str| -> Result<Tape, kubeshape_yaml::Error> {
//!     let mut tape = Tape::new();
//!     Stream::new(text.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//!     Ok(tape)
//! };
//! let before = read(text)?;
//! let root = before.document(text).node(0);
//! let plan = plan(root, &Options { descriptions: Descriptions::FirstSentence, ..Options::default() });
//! let trimmed = edit::apply(text, &plan.edits);
//! assert_eq!(trimmed, text.replace(" It has a size.", ""));
//! assert!(is_made(root, read(&trimmed)?.document(&trimmed).node(0), &plan));
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod collect;
mod embedded;
mod sentence;
mod size;
mod work;

use crate::fix;
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::Node;
use kubeshape_yaml::edit::Edit;
use std::collections::BTreeMap;

pub use embedded::{is_known, known};

/// The size that a definition must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// `kubectl apply` accepts it: its annotations with the manifest, as kubectl writes it, have at most 262,144 bytes
    /// (`TotalAnnotationSizeLimitB` of apimachinery).
    Annotation,
    /// etcd accepts it: as JSON and with what a server adds, it has at most 1.5 MiB.
    Etcd,
    /// As JSON, it has at most this number of bytes.
    Bytes(usize),
}

impl Fit {
    /// Returns the largest size, in bytes.
    ///
    /// # Example
    /// ```
    /// assert_eq!(kubeshape_check::trim::Fit::Annotation.limit(), 262_144);
    /// ```
    pub fn limit(self) -> usize {
        match self {
            Fit::Annotation => crate::advice::ANNOTATION,
            Fit::Etcd => crate::advice::OBJECT,
            Fit::Bytes(bytes) => bytes,
        }
    }

    /// Returns the size of a definition, in bytes: what is compared with [`limit`](Self::limit).
    pub fn size(self, definition: Node<'_>) -> usize {
        size::of(definition, self)
    }
}

/// The descriptions that remain, whatever the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptions {
    /// All.
    #[default]
    All,
    /// None.
    None,
    /// The first sentence of each.
    FirstSentence,
    /// Those of fields up to this depth: `spec` is 1 deep, `spec.size` is 2 deep, the schema itself 0.
    Depth(usize),
}

/// What is trimmed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The size that definitions must have; `None` if only the other options decide.
    pub fit: Option<Fit>,
    /// The descriptions that remain.
    pub descriptions: Descriptions,
    /// Longer descriptions are cut, in bytes.
    pub longest: Option<usize>,
    /// Texts of these kinds are removed.
    pub removed: Vec<What>,
    /// If not empty, the options above, without the size, are only about descriptions inside copies of these types:
    /// `PodSpec`, `k8s.io/api/core/v1`, `k8s.io/api/core/v1.PodSpec`.
    pub inside: Vec<String>,
    /// Whether definitions that have the wanted size (of [`Fit::Annotation`], without another one) stay as they are.
    pub only_if_needed: bool,
}

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// `description`
    Description,
    /// `example`
    Example,
    /// `title`
    Title,
    /// `externalDocs`
    Link,
}

/// What was done to texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Saving {
    /// Descriptions inside copies of Kubernetes' types were shortened.
    ShortenedInside,
    /// Descriptions inside copies of Kubernetes' types were removed.
    RemovedInside,
    /// Other descriptions were shortened.
    Shortened,
    /// Other descriptions were removed.
    Removed,
    /// Examples were removed.
    Examples,
    /// Titles were removed.
    Titles,
    /// Links to documents were removed.
    Links,
}

impl Saving {
    /// Returns it in a few words: `descriptions shortened`.
    pub fn words(self) -> &'static str {
        match self {
            Saving::ShortenedInside => "descriptions of Kubernetes' types shortened",
            Saving::RemovedInside => "descriptions of Kubernetes' types removed",
            Saving::Shortened => "descriptions shortened",
            Saving::Removed => "descriptions removed",
            Saving::Examples => "examples removed",
            Saving::Titles => "titles removed",
            Saving::Links => "links removed",
        }
    }
}

/// The number of texts, and the bytes of JSON that are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The number of texts.
    pub texts: usize,
    /// The bytes of JSON.
    pub bytes: usize,
}

/// The result for one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// Its location.
    pub at: u32,
    /// Its `metadata.name`.
    pub name: String,
    /// Its size before, in bytes, as [`Fit::size`] measures it (as JSON if no size is wanted).
    pub before: usize,
    /// Its size afterwards.
    pub after: usize,
    /// The largest size, if one is wanted.
    pub limit: Option<usize>,
    /// What was saved.
    pub saved: BTreeMap<Saving, Saved>,
    /// The number of texts that would have been removed or shortened, but an alias or the layout does not allow it.
    pub stuck: usize,
}

impl Trimmed {
    /// Returns whether it has the wanted size.
    pub fn fits(&self) -> bool {
        self.limit.is_none_or(|limit| self.after <= limit)
    }
}

/// The edits of a document.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Sorted by position. They do not overlap.
    pub edits: Vec<Edit>,
    /// The definitions, in order.
    pub definitions: Vec<Trimmed>,
    changes: fix::Plan,
}

/// Finds the edits of a document: of its definitions and those in lists.
///
/// Definitions are CustomResourceDefinitions, and objects of other kinds that have schemas at the same location and are
/// named `…Definition`, such as Crossplane's CompositeResourceDefinition. Texts that an alias repeats elsewhere stay.
/// Takes time in proportion to the document, and to sort its texts.
pub fn plan(root: Node<'_>, options: &Options) -> Plan {
    let mut plan = Plan::default();
    let definitions = expand_list(root).into_iter().filter(|object| is_definition(*object));
    let definitions: Vec<Node<'_>> = definitions.collect();
    if definitions.is_empty() {
        return plan;
    }
    let mut work = work::Work::new(root);
    for definition in definitions {
        plan.definitions.push(work.trim(definition, options));
    }
    (plan.edits, plan.changes) = work.finish();
    plan
}

/// Returns whether a document after the edits is the one before, except for the texts of the plan.
pub fn is_made(before: Node<'_>, after: Node<'_>, plan: &Plan) -> bool {
    fix::is_made(before, after, &plan.changes)
}

fn is_definition(object: Node<'_>) -> bool {
    let is_named = object.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("Definition"));
    is_named && collect::schemas(object).next().is_some()
}
