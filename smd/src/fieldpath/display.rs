//! Elements, paths and sets as strings (upstream `PathElement.String`).

use super::element::{Path, PathElement};
use super::set::Set;
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for PathElement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            PathElement::FieldName(name) => write!(f, ".{name}"),
            PathElement::Key(fields) => {
                f.write_char('[')?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{name}={value}")?;
                }
                f.write_char(']')
            }
            PathElement::Value(value) => write!(f, "[={value}]"),
            PathElement::Index(index) => write!(f, "[{index}]"),
            PathElement::Nameless => f.write_str("{{invalid path element}}"),
        }
    }
}

/// Prints a path: its elements one after the other, `.spec.ports[port=80]`.
#[derive(Clone, Copy, Debug)]
pub struct DisplayPath<'p, 'a>(pub &'p Path<'a>);

impl Display for DisplayPath<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}

impl Display for Set<'_> {
    /// Prints the paths in the order of [`Set::iter`], one per line.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut paths = self.iter();
        let mut first = true;
        while let Some(path) = paths.advance() {
            if !std::mem::take(&mut first) {
                f.write_char('\n')?;
            }
            DisplayPath(path).fmt(f)?;
        }
        Ok(())
    }
}
