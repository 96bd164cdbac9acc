//! Tests of admission policies.

mod common;
mod mutating;
mod validating;
