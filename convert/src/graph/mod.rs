//! The reference graph of a document and what stands on it.
