//! Owners, plans and hand-overs from outside.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, missing_docs)]

mod common;
mod generated;
mod histories;
mod page;
mod plans;
mod upgrades;
