//! `metadata.managedFields`: what the API server makes of apply, update and patch (spec: smd, "apimachinery
//! managedfields").
//!
//! [`FieldManager`] does for one version and subresource what the server's stack does: it takes the live object and
//! a configuration and gives back the live object afterwards, its owners written down. It reads no clock and holds no
//! state; objects are borrowed values, so after an error nothing has changed.
//!
//! [`entries`] reads and writes the list itself, [`Ownership`] answers who owns a field, [`extract`] gives back what a
//! manager applied, [`upgrade`] turns client-side into server-side apply, and [`scale`] maps owners of `/scale`.

mod cap;
mod conflict;
mod convert;
pub mod entries;
mod error;
mod extract;
mod identifier;
mod last_applied;
mod noop;
mod object;
mod ownership;
pub mod scale;
mod skip_non_applied;
mod spell;
mod stack;
mod strip;
mod structured;
#[cfg(test)]
mod tests;
pub mod upgrade;

pub use conflict::{ConflictError, ManagerConflict};
pub use convert::{ChangeApiVersion, Kinds, ObjectConverter, SameObject, TypeConverter};
pub use entries::{DecodeError, EncodeError, Managed};
pub use error::{Cause, Conversion, Error, ObjectName, Status, Step};
pub use extract::{ExtractError, extract};
pub use identifier::{Identifier, Operation};
pub use kubeshape_schema::Gvk;
pub use kubeshape_yaml::go::Time;
pub use last_applied::LAST_APPLIED;
pub use noop::keep_times;
pub use ownership::{Owned, Owner, Ownership};
pub use stack::FieldManager;
