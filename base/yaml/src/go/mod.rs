//! Strings, numbers, times, addresses and URLs as Go reads and writes them.
//!
//! Kubernetes is written in Go, so its documents, field sets and messages have strings, numbers, times and URLs in the
//! form of Go's libraries. Every crate that prints or compares them uses this module.

pub mod address;
pub mod base64;
pub mod escape;
pub mod number;
pub mod syntax;
pub mod time;
pub mod url;
pub mod varint;
pub mod warning;

pub use time::Time;
pub use url::Url;
