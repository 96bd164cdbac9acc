//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod body;
mod builtin;
mod builtin_details;
mod builtin_empty;
mod builtin_kinds;
mod builtin_rules;
mod crd;
mod crd_rules;
mod objects;
mod rules;
mod stored;
mod typed;
