//! Integration tests of the YAML reader and the printers.

mod fast;
mod limits;
mod origin;
mod print;
mod recorded;
mod stream;
mod third;
