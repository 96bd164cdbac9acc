//! Integration tests of the API of Kubernetes' releases.

mod documents;
mod modules;
mod recorded;
mod released;
mod types;
