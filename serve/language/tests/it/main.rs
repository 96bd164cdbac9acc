//! What an editor asks, without a server.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod files;
mod lines;
