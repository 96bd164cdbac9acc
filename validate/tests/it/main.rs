//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod crd;
mod objects;
mod rules;
