//! Tests of admission policies.

mod common;
mod costs;
mod mutating;
mod validating;
