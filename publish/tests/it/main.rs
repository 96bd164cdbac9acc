//! Integration tests of what is published for CustomResourceDefinitions.

mod depth;
mod discovery;
mod losses;
mod nothing;
