//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod bounds;
mod builtin;
mod facts;
mod jsonpath;
