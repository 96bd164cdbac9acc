//! The reference graph of documents, and what stands on it.

mod aggregating;
mod golden;
mod references;
mod splitting;
mod support;
