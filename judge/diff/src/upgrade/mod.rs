//! Plans how a cluster gets from one definition to another: the steps, their order, and what is lost.
//!
//! A server rejects a definition that lacks a version in which objects may be stored (`status.storedVersions`). So
//! removed versions stay in an intermediate definition until every object has been written once in the storage version.
//! Reading a stored object follows upstream's storage codec: it is pruned by the version in which it is stored,
//! converted, and pruned by the other version (`crdConversionRESTOptionsGetter` of `k8s.io/apiextensions-apiserver`).

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
pub use plan::{
    Action, Cluster, Conversion, Loss, Migration, Obstacle, Plan, Step, Stricter, Unreadable, VersionPlan, When,
};
pub use steps::plan;
