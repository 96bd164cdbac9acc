//! Integration tests of what is published for CustomResourceDefinitions.

mod depth;
mod losses;
mod nothing;
mod releases;
mod representations;
