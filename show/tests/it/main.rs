//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod jsonpath;
mod samples;
