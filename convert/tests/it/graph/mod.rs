//! The reference graph of documents, and what stands on it.

mod aggregating;
mod generated;
mod golden;
mod inlining;
mod references;
mod renaming;
mod splitting;
mod support;
