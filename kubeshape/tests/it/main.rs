//! Integration tests of the crate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod controller;
mod inputs;
mod server;
mod upgrades;
