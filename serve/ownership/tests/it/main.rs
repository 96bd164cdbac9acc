//! Owners, plans and hand-overs from outside.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, clippy::needless_pass_by_value, missing_docs)]

mod common;
mod csaupgrade;
mod generated;
mod histories;
mod page;
mod plans;
mod upgrades;
