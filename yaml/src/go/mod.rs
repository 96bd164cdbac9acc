//! Texts, numbers and times as Go writes them.
//!
//! Kubernetes is written in Go, so its documents, field sets and messages hold strings, numbers and times in the form of
//! Go's libraries. Every crate that prints or compares such a text calls the functions of this module.

pub mod escape;
pub mod number;
pub mod time;

pub use time::Time;
