//! `metadata.managedFields`: how the API server tracks owners in apply, update and patch (upstream
//! `apimachinery/pkg/util/managedfields`).
//!
//! [`FieldManager`] does for one version and subresource what the server's field manager does: it reads the live object
//! and a configuration, and returns the new live object with its managed fields. It reads no clock and has no state.
//! Objects are borrowed values, so an operation that fails changes nothing.
//!
//! [`entries`] reads and writes the list itself, [`Ownership`] finds the owners of a field, [`extract`] returns what a
//! manager applied, [`upgrade`] converts from client-side to server-side apply, and [`scale`] maps the owners of
//! `/scale`.

mod cap;
mod conflict;
mod convert;
pub mod entries;
mod error;
mod extract;
mod identifier;
mod ignored;
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

pub use conflict::{Cause, ConflictError, ManagerConflict};
pub use convert::{ChangeApiVersion, Kinds, ObjectConverter, SameObject, TypeConverter};
pub use entries::{DecodeError, EncodeError, Managed};
pub use error::{Conversion, Error, ObjectName, OwnedError, Status, Step};
pub use extract::{ExtractError, extract};
pub use identifier::{Identifier, Operation};
pub use ignored::{Ignored, ignored};
pub use kubeshape_schema::Gvk;
pub use kubeshape_yaml::go::Time;
pub use last_applied::LAST_APPLIED;
pub use noop::keep_times;
pub use ownership::{Owned, Owner, Ownership};
pub use stack::FieldManager;
pub use strip::is_system_field;
