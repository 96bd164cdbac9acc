//! Requests about objects, and the laws that hold for all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod accounts;
mod built_in_selectors;
mod collected;
mod common;
mod conversions;
mod created_by_update;
mod definitions;
mod hooks;
mod laws;
mod nodes;
mod plugins;
mod pod_security;
mod policies;
mod protobuf;
mod quotas;
mod released;
mod representations;
mod requests;
mod selectors;
mod stored;
mod subresources;
mod watches;
mod writes;
