//! Integration tests of the documents published for CustomResourceDefinitions.

mod depth;
mod losses;
mod nothing;
mod releases;
mod representations;
