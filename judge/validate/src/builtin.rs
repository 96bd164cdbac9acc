//! The metadata of built-in kinds. Upstream has Go code for each kind (`pkg/apis/*/validation` of `k8s.io/kubernetes`);
//! here, the kinds are a table (`kinds`).
//!
//! # Example: the names of two kinds
//! ```
//! use kubeshape_schema::Bump;
//! use kubeshape_validate::{Release, builtin::BuiltInKind};
//! use kubeshape_value::ToValue;
//!
//! let arena = Bump::new();
//! let object = serde_json::json!({"metadata": {"name": "system:node"}});
//! let created = |group: &str, kind: &str| {
//!     let kind = BuiltInKind::new(group, kind, Release::DEFAULT)?;
//!     Some(kind.create(object.to_value(&arena), Some(false), &arena).errors.len())
//! };
//! assert_eq!(created("rbac.authorization.k8s.io", "ClusterRole"), Some(0));
//! assert_eq!(created("", "Node"), Some(1));
//! assert_eq!(created("authentication.k8s.io", "TokenReview"), None, "it is not stored");
//! ```

mod address;
mod assigned;
mod declared;
mod internal;
mod kinds;
mod overlay;
mod reset;
mod resize;
mod rules;
mod shares;
mod strategy;

use crate::names::{self, Messages};
use crate::object::{
    Judged, created_as, keep_metadata, metadata_errors_with, metadata_update_errors, version_on_creation, with_version,
};
use crate::{AskedRelease, Change, Release};
pub use assigned::{Assigned, User};
pub(crate) use kinds::has_group;
use kinds::{Row, find};
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_value::{Bump, Value};
pub use overlay::{Constraints, MAX_ANNOTATION_EXPRESSION, Published, Unsaid, admission_errors};
pub use reset::reset_fields;
pub use resize::{resize_errors, resized};
pub use shares::Share;
pub use strategy::{Expressions, Strategy, repeated_owners, without_repeated_owners};

/// The annotation of a Pod that a kubelet runs from a file.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The form of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// Labels of RFC 1123 between dots: `NameIsDNSSubdomain`.
    #[default]
    Subdomain,
    /// A label of RFC 1123: `NameIsDNSLabel`.
    Label,
    /// A label of RFC 1035 before 1.36, then one of RFC 1123: `ValidateServiceName`, and KEP-5311.
    ServiceLabel,
    /// A part of a path, for example `system:node`: `IsValidPathSegmentName`.
    PathSegment,
    /// An address in its canonical form: `ValidateIPAddressName`. The messages are those of 1.33 and later.
    Address,
    /// A group and a resource, with a dot between them: `ValidateStorageVersionName`.
    GroupResource,
}

impl Naming {
    /// Returns the errors of a name, or of a prefix of a name.
    pub(crate) fn check(self, name: &str, is_prefix: bool, release: &AskedRelease) -> Messages {
        let masked = if is_prefix { names::mask_trailing_dash(name) } else { name.into() };
        match self {
            Naming::Subdomain => names::dns1123_subdomain(&masked),
            Naming::Label => names::dns1123_label(&masked),
            Naming::ServiceLabel => {
                let (older, newer) = (names::dns1035_label(&masked), names::dns1123_label(&masked));
                if older == newer || release.has(Change::LabelsOfServices) { newer } else { older }
            }
            Naming::PathSegment => names::path_segment(name, is_prefix),
            Naming::Address => address::canonical(name),
            Naming::GroupResource => rules::group_resource(name),
        }
    }
}

/// A built-in kind whose objects are stored.
#[derive(Clone, Debug)]
pub struct BuiltInKind {
    row: Row,
    release: AskedRelease,
}

impl BuiltInKind {
    /// Returns a built-in kind; `None` if it does not exist, or if its objects are not stored, like those of
    /// `TokenReview`.
    pub fn new(group: &str, kind: &str, release: Release) -> Option<BuiltInKind> {
        Some(BuiltInKind { row: find(group, kind)?, release: release.into() })
    }

    /// Returns a kind known only from a document, such as one of an aggregated server: all names that a path can
    /// contain are valid.
    pub fn other(release: Release) -> BuiltInKind {
        BuiltInKind { row: Row::OTHER, release: release.into() }
    }

    /// Returns the same kind with another record of questions about the release.
    pub(crate) fn asking(&self, release: &AskedRelease) -> BuiltInKind {
        BuiltInKind { row: self.row, release: release.clone() }
    }

    /// Returns the error of an update (PUT) without the version that it replaces, if the kind requires one:
    /// [`missing_version`](crate::body::missing_version).
    pub fn missing_version(&self, object: Value<'_>) -> Option<Error> {
        if self.row.needs_version { crate::body::missing_version(object, &self.release) } else { None }
    }

    /// Returns whether objects have a generation.
    pub fn counts_generations(&self) -> bool {
        self.row.counts && self.counts_now()
    }

    /// Returns whether updates increase the generation.
    pub(crate) fn counts_changes(&self) -> bool {
        self.row.counts_changes && self.counts_now()
    }

    fn counts_now(&self) -> bool {
        self.row.counts_since.is_none_or(|change| self.release.has(change))
    }

    /// Returns whether metadata is checked only if there are no other errors.
    pub(crate) fn is_checked_last(&self) -> bool {
        matches!(self.row.rule, Some(rules::Rule::Last))
    }

    /// Returns whether an update may omit the version that it replaces: `AllowUnconditionalUpdate`.
    pub fn allows_unconditional_updates(&self) -> bool {
        !self.row.needs_version
    }

    /// Returns the errors of the metadata of a new object: those of the strategy's `Validate`, and those of
    /// `BeforeCreate`.
    pub fn errors(&self, object: Value<'_>, namespaced: bool) -> Vec<Error> {
        let check = |name: &str, is_prefix: bool| {
            let checked = self.row.rule.and_then(|rule| rule.check(name, is_prefix, object));
            checked.unwrap_or_else(|| self.row.naming.check(name, is_prefix, &self.release))
        };
        let mut errors = Errors::from(metadata_errors_with(object, namespaced, &check, &self.release));
        if self.row.checks_finalizers {
            rules::finalizers(object, &Path::Base("metadata"), &mut errors);
        }
        if let Some(rule) = self.row.rule {
            rule.errors(object, &self.release, &mut errors);
        }
        errors.into_vec()
    }

    /// Validates the metadata of a new object, like [`Resource::create`](crate::object::Resource::create) does for
    /// custom resources. If `namespaced` is unknown, it depends on whether the object has a namespace. Only the
    /// metadata of the result is as the server stores it.
    pub fn create<'a>(&self, object: Value<'a>, namespaced: Option<bool>, arena: &'a Bump) -> Judged<'a> {
        let namespaced = namespaced.unwrap_or_else(|| has_namespace(object));
        let (stored, named) = created_as(object, namespaced, self.counts_generations(), arena);
        let errors = self.errors(named, namespaced);
        Judged { stored, errors, warnings: Vec::new(), refusal: version_on_creation(object) }
    }

    /// Returns the errors of metadata from a strategy's `ValidateUpdate`: `ValidateObjectMetaUpdate`.
    pub(crate) fn errors_of_update(&self, object: Value<'_>, old: Value<'_>) -> Vec<Error> {
        let mut errors = Errors::from(metadata_update_errors(object, old, &self.release));
        if self.row.checks_finalizers {
            rules::finalizers(object, &Path::Base("metadata"), &mut errors);
        }
        errors.into_vec()
    }

    /// Returns the errors of the metadata of an object that replaces another one. Without versions, the update is
    /// unconditional.
    pub fn update<'a>(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Vec<Error> {
        let old = with_version(old, arena);
        metadata_update_errors(keep_metadata(object, old, arena), old, &self.release)
    }
}

fn has_namespace(object: Value<'_>) -> bool {
    object.get("metadata").and_then(|metadata| metadata.get("namespace")).is_some()
}
