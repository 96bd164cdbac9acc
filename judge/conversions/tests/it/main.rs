//! Conversions that are right, and conversions with faults.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod losses;
mod reviews;
mod webhook;
