//! Integration tests of the corpus.

mod files;
mod openapi;
