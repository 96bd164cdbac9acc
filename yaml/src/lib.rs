//! YAML and JSON as Kubernetes reads them, with a place for every node.
mod chars;
mod compose;
pub mod emit;
mod error;
mod fast;
pub mod json;
mod json_read;
mod limits;
pub mod number;
mod parse;
mod resolve;
mod scalars;
mod scan;
mod stream;
mod tape;

pub use error::{Error, Position};
pub use limits::Limits;
pub use number::Number;
pub use stream::{Path, Stream};
pub use tape::{Document, Entry, Flags, Items, Kind, Node, Pairs, Tape};
