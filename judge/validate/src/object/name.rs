//! Paths in the format of kube-openapi's messages: `spec.list[0].key`.

use kubeshape_schema::field::{self, Error};
use std::fmt;

/// A path. It is a chain of steps on the stack of the walk, so it costs nothing until it is printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'p> {
    Root,
    Property(&'p Name<'p>, &'p str),
    /// Also used for a required property: at the root it begins with a dot.
    Additional(&'p Name<'p>, &'p str),
    Index(&'p Name<'p>, usize),
}

impl Name<'_> {
    /// Returns the path of a field error: `base` and this, without a leading dot.
    pub(super) fn below(&self, base: &field::Path<'_>) -> String {
        let name = self.to_string();
        match name.as_str() {
            "" | "." => base.to_string(),
            name => base.child(name.strip_prefix('.').unwrap_or(name)).to_string(),
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Root => Ok(()),
            Name::Property(Name::Root, key) => f.write_str(key),
            Name::Property(parent, key) | Name::Additional(parent, key) => write!(f, "{parent}.{key}"),
            Name::Index(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

/// An error with its identity: upstream drops errors with equal messages.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) name: String,
}

impl Failure {
    /// Returns the bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.error.size() + self.name.len()
    }
}
