//! The reference graph of documents, and the operations on it.

mod aggregating;
mod generated;
mod golden;
mod inlining;
mod references;
mod renaming;
mod splitting;
mod support;
