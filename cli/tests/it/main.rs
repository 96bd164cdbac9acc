//! Integration tests of the command: each runs the binary in a folder of its own.

mod apply;
mod bad_input;
mod broken_documents;
mod common;
mod convert;
mod documents;
mod fields;
mod folders;
mod kinds;
mod layouts;
mod other;
mod output;
mod scenario;
mod serve;
