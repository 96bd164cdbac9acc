//! The request for which steps and rules run.

use crate::builtin::Assigned;
use kubeshape_value::{Bump, Value};

/// What a rule gets in addition to the value.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct Request<'a> {
    pub(in crate::builtin) assigned: Assigned<'a>,
    /// The stored object that the value replaces.
    pub(in crate::builtin) old: Option<Value<'a>>,
    pub(in crate::builtin) arena: &'a Bump,
}
