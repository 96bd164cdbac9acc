//! Integration tests of field sets, typed values and managed fields.

mod conflict_values;
mod managed_owners;
mod managed_stack;
mod meta;
mod set_algebra;
mod typed_laws;
