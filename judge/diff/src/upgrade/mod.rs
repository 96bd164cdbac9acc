//! How a cluster gets from one definition to another: which steps there are, in which order, and what they cost.
//!
//! A server refuses a definition without a version in which objects may be stored (`status.storedVersions`). So the versions
//! that are to go stay in an intermediate definition until every object was written once in the version of storage. What a
//! server makes of a stored object follows upstream's storage codec: it is pruned as the version says in which it is stored,
//! converted, and pruned as the other version says (`crdConversionRESTOptionsGetter` of `k8s.io/apiextensions-apiserver`).

mod carry;
mod commands;
mod kept;
mod objects;
mod plan;
mod side;
mod steps;
mod text;

pub use carry::{Answer, Failure, Request};
pub use objects::{ObjectReport, Seen};
pub use plan::{Action, Cluster, Conversion, Loss, Migration, Obstacle, Plan, Step, Unreadable, VersionPlan, When};
pub use steps::plan;
