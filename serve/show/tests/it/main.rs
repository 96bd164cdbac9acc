//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod bounds;
mod facts;
mod jsonpath;
