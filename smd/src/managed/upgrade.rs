//! From client-side to server-side apply (client-go `util/csaupgrade`).

use super::Operation;
use crate::Bump;
use crate::fieldpath::{Set, SetError};
use crate::value::Value;

/// The entries of an operation that own all of these fields; entries that cannot be read own none.
pub fn find_owners<'a>(
    list: Option<Value<'a>>,
    operation: Operation,
    fields: Set<'a>,
    arena: &'a Bump,
) -> Vec<Value<'a>> {
    let _ = (list, operation, fields, arena);
    todo!()
}

/// The object, with what the managers of client-side apply own given to a manager of server-side apply.
///
/// # Errors
/// The fields of an entry that is to be changed are no set.
pub fn upgrade<'a>(
    object: Value<'a>,
    from: &[&str],
    to: &'a str,
    subresource: &str,
    arena: &'a Bump,
) -> Result<Value<'a>, SetError> {
    let _ = (object, from, to, subresource, arena);
    todo!()
}

/// The same as a JSON patch, which fails if the object has changed meanwhile. None if there is nothing to do.
///
/// # Errors
/// As for [`upgrade`].
pub fn upgrade_patch<'a>(
    object: Value<'a>,
    from: &[&str],
    to: &'a str,
    subresource: &str,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, SetError> {
    let _ = (object, from, to, subresource, arena);
    todo!()
}
