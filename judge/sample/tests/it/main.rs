//! Integration tests, a module per subject.
#![allow(clippy::unwrap_used)]

mod bounds;
mod json_schema;
mod kubeconform;
mod mutate;
mod readers;
mod releases;
mod samples;
