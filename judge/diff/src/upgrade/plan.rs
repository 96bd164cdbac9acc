//! The plan and its parts.

use super::objects::ObjectReport;
use kubeshape_schema::Note;
use kubeshape_validate::Release;
use serde::Serialize;
use std::fmt;

/// The known state of the cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// `status.storedVersions`. If empty, that of the old definition is used, and without a status its storage version.
    pub stored: Vec<String>,
    /// Objects from a cluster or a repository. Other kinds are ignored.
    pub objects: Vec<serde_json::Value>,
    /// The folder of the plan's files, for its commands. Empty for the current folder.
    pub folder: String,
    /// The file of the new definition, for the command that applies it. If empty, a file of the plan is used.
    pub new_file: String,
    /// The release of the server.
    pub release: Release,
}

impl Default for Cluster {
    /// Returns an unknown state with the default release.
    fn default() -> Cluster {
        Cluster {
            stored: Vec::new(),
            objects: Vec::new(),
            folder: String::new(),
            new_file: String::new(),
            release: Release::DEFAULT,
        }
    }
}

/// The steps from an old definition to a new one.
///
/// Its `Display` form is for people. Its serialized form has everything that programs need to carry it out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The name of the definition: `tabs.example.com`.
    #[serde(rename = "resource")]
    pub name: String,
    /// The versions in which objects may be stored at the beginning.
    pub stored: Vec<String>,
    /// Whether this is an assumption: the old definition has several versions, and neither the caller nor its status
    /// names the stored ones.
    pub is_assumed: bool,
    /// The version in which objects are stored at the end.
    pub storage: String,
    /// The server's errors if the new definition is applied directly. Empty if it is accepted.
    pub refused: Vec<String>,
    /// Why there is no plan.
    pub obstacle: Option<Obstacle>,
    /// The steps, in order. Empty if there is nothing to do or no plan.
    pub steps: Vec<Step>,
    /// Each version: those of the old definition, then new ones.
    pub versions: Vec<VersionPlan>,
    /// How objects are converted between versions while the plan is carried out.
    pub conversion: Conversion,
    /// Fields that may be lost because the new definition lacks them.
    pub losses: Vec<Loss>,
    /// Changes because of which the new definition may reject stored objects. Empty if objects are given: then
    /// `objects` says which of them it rejects.
    pub stricter: Vec<Stricter>,
    /// The effect on the given objects. Unaffected objects are left out.
    pub objects: Vec<ObjectReport>,
}

/// A change because of which stored objects may be rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stricter {
    /// The version whose schema changed.
    pub version: String,
    /// The field, with `[]` for list items and `.*` for fields of any name: `spec.ports[].name`.
    pub field: String,
    /// The old and the new state.
    pub detail: String,
    /// The place in the new definition: a node of its document.
    #[serde(skip)]
    pub at: u32,
}

impl fmt::Display for Stricter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "the object" } else { &self.field };
        write!(f, "{field}: {}", self.detail)
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Obstacle {
    /// An immutable field changed: the definition must be deleted and created again.
    Recreate {
        /// What changed.
        because: Vec<String>,
        /// What is lost when the old definition is deleted.
        lost: Vec<String>,
    },
    /// A server rejects the new definition in any case.
    Refused {
        /// The server's errors.
        errors: Vec<String>,
    },
    /// Objects may be stored in versions that the old definition does not have.
    Stored {
        /// The versions.
        versions: Vec<String>,
    },
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The reason, in a sentence.
    pub why: String,
    /// Shell commands that do it.
    pub commands: Vec<String>,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "action")]
pub enum Action {
    /// Let a webhook convert between these versions.
    #[serde(rename_all = "camelCase")]
    Webhook {
        /// The versions.
        versions: Vec<String>,
    },
    /// Change objects so that the new definition accepts them.
    #[serde(rename_all = "camelCase")]
    Change {
        /// Their indices in [`Cluster::objects`].
        objects: Vec<usize>,
    },
    /// Apply a definition.
    #[serde(rename_all = "camelCase")]
    Apply {
        /// Its file.
        file: String,
        /// The definition: the new one or an intermediate one.
        definition: serde_json::Value,
        /// Whether it is the new one.
        is_new: bool,
    },
    /// Read every object in a version and write it back, so that it is stored in the storage version.
    #[serde(rename_all = "camelCase")]
    Migrate {
        /// The version.
        version: String,
        /// The group of the objects.
        group: String,
        /// The resource.
        resource: String,
        /// A StorageVersionMigration, with which the cluster does the same. `None` if the cluster would use another,
        /// preferred version.
        migration: Option<Migration>,
    },
    /// Set the stored versions in the status of the definition.
    #[serde(rename_all = "camelCase")]
    Prune {
        /// The versions.
        stored: Vec<String>,
    },
}

/// A StorageVersionMigration of `storagemigration.k8s.io/v1beta1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// Its file.
    pub file: String,
    /// The object.
    pub object: serde_json::Value,
}

/// The effect on a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionPlan {
    /// The name.
    pub name: String,
    /// Whether the old definition serves it.
    pub was_served: bool,
    /// Whether the new one does.
    pub is_served: bool,
    /// Whether objects may be stored in it at the beginning.
    pub is_stored: bool,
    /// The number of the step, from 1, that starts or stops serving it. `None` if that does not change.
    pub changes_with: Option<usize>,
}

/// How objects are converted between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Conversion {
    /// The strategy `None` changes only the `apiVersion`.
    None,
    /// A webhook. What it does is unknown.
    Webhook,
}

/// Fields that are lost from one version to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// The version in which objects were stored, or in which clients write them.
    pub from: String,
    /// The version in which they are stored then.
    pub to: String,
    /// When it happens.
    pub when: When,
    /// The fields, with `[]` for list items and `.*` for fields of any name: `spec.ports[].name`.
    pub fields: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// When fields are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// When stored objects are read under the new definition, and for good when they are written.
    Stored,
    /// Whenever a client writes an object in this version: the storage version lacks the fields.
    Written,
}

impl Plan {
    /// Returns whether there is a plan, nothing can be lost, and every given object survives.
    pub fn is_safe(&self) -> bool {
        self.obstacle.is_none()
            && self.losses.iter().all(|loss| loss.when != When::Stored)
            && self.objects.iter().all(|object| !object.breaks())
    }

    /// Returns the names and contents of the plan's files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &serde_json::Value)> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Apply { file, definition, .. } => Some((file.as_str(), definition)),
            Action::Migrate { migration, .. } => {
                migration.as_ref().map(|migration| (migration.file.as_str(), &migration.object))
            }
            Action::Webhook { .. } | Action::Change { .. } | Action::Prune { .. } => None,
        })
    }
}

/// A definition that a server cannot decode.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// The old definition, and the errors.
    Old(Vec<Note<'static>>),
    /// The new definition, and the errors.
    New(Vec<Note<'static>>),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (which, notes) = match self {
            Unreadable::Old(notes) => ("old", notes),
            Unreadable::New(notes) => ("new", notes),
        };
        write!(f, "the {which} definition cannot be read")?;
        notes.first().map_or(Ok(()), |note| write!(f, ": {}", note.detail))
    }
}

impl std::error::Error for Unreadable {}
