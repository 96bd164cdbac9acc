//! Integration tests of reading inputs.

mod agree;
mod content;
mod derived;
mod refusals;
