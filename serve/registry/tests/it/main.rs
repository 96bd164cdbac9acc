//! The registry from outside.

mod agreement;
mod common;
mod inputs;
mod lookup;
mod objects;
mod policies;
mod samples;
mod strategic;
