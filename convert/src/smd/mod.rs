//! Structured-merge-diff schemas of documents.
