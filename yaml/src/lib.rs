//! YAML and JSON as Kubernetes reads them, with a place for every node.
mod error;
mod limits;
pub mod number;
mod stream;
mod tape;

pub use error::{Error, Position};
pub use limits::Limits;
pub use number::Number;
pub use stream::{Path, Stream};
pub use tape::{Document, Entry, Flags, Items, Kind, Node, Pairs, Tape};
