//! The plan: what callers get.

use super::objects::ObjectReport;
use kubeshape_schema::Note;
use kubeshape_validate::Release;
use serde::Serialize;
use std::fmt;

/// What is known of the cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// `status.storedVersions`. If it is empty, it is the one of the old definition, and without a status the version of
    /// storage.
    pub stored: Vec<String>,
    /// Objects, as a cluster or a repository has them. Those of other kinds are passed over.
    pub objects: Vec<serde_json::Value>,
    /// The folder of the files of the plan, for its commands. Empty for the current one.
    pub folder: String,
    /// The file of the new definition, for the command that applies it. If it is empty, it is one of the files of the plan.
    pub new_file: String,
    /// The release of the server.
    pub release: Release,
}

impl Default for Cluster {
    /// Nothing is known, and the release is the default one.
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

/// How a cluster gets from an old definition to a new one. It owns everything.
///
/// Printed with `{}`, it is a text for people. Serialized, it has all that programs need to carry it out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The name of the definition: `tabs.example.com`.
    #[serde(rename = "resource")]
    pub name: String,
    /// The versions in which objects may be stored at the beginning.
    pub stored: Vec<String>,
    /// Whether that is only assumed, because the old definition has several versions, and neither the caller nor its status says
    /// more.
    pub is_assumed: bool,
    /// The version in which objects are stored at the end.
    pub storage: String,
    /// Why a server refuses the new definition as it stands, in its words. Empty if it takes it.
    pub refused: Vec<String>,
    /// Why there is no plan.
    pub obstacle: Option<Obstacle>,
    /// What to do, in this order. Empty if nothing is to be done, or if there is no plan.
    pub steps: Vec<Step>,
    /// What becomes of each version: those of the old definition, then new ones.
    pub versions: Vec<VersionPlan>,
    /// Who converts objects between versions while the plan is carried out.
    pub conversion: Conversion,
    /// Fields that may be lost, because the definition in which objects end does not have them.
    pub losses: Vec<Loss>,
    /// What becomes of the given objects, without those of which nothing is to be told.
    pub objects: Vec<ObjectReport>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Obstacle {
    /// What changed never changes on a server: only deleting the definition and creating it again leads to the new one.
    Recreate {
        /// What changed.
        because: Vec<String>,
        /// What is lost with the old definition.
        lost: Vec<String>,
    },
    /// A server refuses the new definition in any case.
    Refused {
        /// Its words.
        errors: Vec<String>,
    },
    /// Objects may be stored in versions that the old definition does not have.
    Stored {
        /// These versions.
        versions: Vec<String>,
    },
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What is done.
    #[serde(flatten)]
    pub action: Action,
    /// Why, in a sentence.
    pub why: String,
    /// Commands that do it, for a shell.
    pub commands: Vec<String>,
}

/// What a step does.
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
        /// Their numbers in [`Cluster::objects`].
        objects: Vec<usize>,
    },
    /// Apply a definition.
    #[serde(rename_all = "camelCase")]
    Apply {
        /// The file of it.
        file: String,
        /// The definition: the new one, or one that is needed on the way.
        definition: serde_json::Value,
        /// Whether it is the new one.
        is_new: bool,
    },
    /// Read every object in a version and write it back, so that it is stored in the version of storage.
    #[serde(rename_all = "camelCase")]
    Migrate {
        /// The version.
        version: String,
        /// The group of the objects.
        group: String,
        /// The resource.
        resource: String,
        /// A StorageVersionMigration, which lets the cluster do the same. None if the cluster would go through another version,
        /// because it prefers that one.
        migration: Option<Migration>,
    },
    /// Say in the status of the definition that objects are stored in these versions only.
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
    /// The file of it.
    pub file: String,
    /// The object.
    pub object: serde_json::Value,
}

/// What becomes of a version.
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
    /// The number of the step, from 1, that ends serving it, or begins to. None if it stays as it is.
    pub changes_with: Option<usize>,
}

/// Who converts objects between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Conversion {
    /// Nobody: the strategy `None` changes the `apiVersion` alone.
    None,
    /// A webhook. What it does is not known.
    Webhook,
}

/// Fields that are lost on the way from one version to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// The version in which objects are stored before, or in which clients write them.
    pub from: String,
    /// The version in which they are stored afterwards.
    pub to: String,
    /// When it happens.
    pub when: When,
    /// The fields, with `[]` for the items of a list and `.*` for fields of any name: `spec.ports[].name`.
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
    /// Whenever a client writes an object in this version from now on: the version of storage lacks the fields.
    Written,
}

impl Plan {
    /// Whether the new definition is reached, nothing can be lost, and every given object survives.
    pub fn is_safe(&self) -> bool {
        self.obstacle.is_none()
            && self.losses.iter().all(|loss| loss.when != When::Stored)
            && self.objects.iter().all(|object| !object.breaks())
    }

    /// The files of the plan: their names, and what stands in them.
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

/// A definition that a server could not decode.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// The old one, and why.
    Old(Vec<Note<'static>>),
    /// The new one, and why.
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
