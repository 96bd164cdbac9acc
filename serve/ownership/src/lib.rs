//! Owners of fields in server-side apply: who will conflict, who still owns what, and the smallest patch that hands it
//! over.
//!
//! - [`Ownership`] says who owns the fields of a live object, by tool, and which owners are stale.
//! - [`owners_at`] says who owns one field.
//! - [`Plan`] says what an apply of a set of configurations would do, with conflicts in the words of the [tool](Style).
//! - [`hand_over`] computes the smallest patch of `metadata.managedFields` that gives fields to another manager,
//!   releases them, or does what client-go's `csaupgrade` does; and proves it by simulation.
//! - [`by_applies`] does the same with server-side applies instead of the patch.
//! - [`helm::HelmRelease`] reads the releases that Helm stores.
//! - [`TOOLS`] are the tools behind the names of managers.
//!
//! Everything is a pure function of its inputs.

mod applies;
mod at;
mod engine;
mod fields;
mod hand_over;
pub mod helm;
mod json;
mod migrate;
mod name;
mod patch;
mod plan;
mod proof;
mod report;
mod tools;
mod value;
mod words;

pub use applies::{Apply, by_applies};
pub use at::{FieldOwner, Step, owners_at};
pub use engine::{Change, ChangeKind};
pub use hand_over::{Goal, HandOver, HandOverError, Moved, hand_over};
pub use name::Name;
pub use plan::{Kept, Next, Outcome, Plan, PlanOptions, Planned, Planner};
pub use proof::{Check, CheckResult};
pub use report::{Field, Known, OwnerOf, Ownership, Stale, StaleReason, fields_of};
pub use tools::{OTHER, Role, TOOLS, Tool, tool_of};
pub use words::Style;
