//! Paths of fields as `field.Path` of `k8s.io/apimachinery` prints them: `properties[spec].items.type`.

use std::fmt;

/// A path. It is a chain of steps on the stack of the walk, so it costs nothing unless it is printed.
#[derive(Clone, Copy, Debug)]
pub enum Path<'p> {
    /// The empty path.
    Root,
    /// The prefix of all paths below it.
    Base(&'p str),
    /// A field of the object at a path.
    Child(&'p Path<'p>, &'p str),
    /// The value of a key of the map at a path.
    Key(&'p Path<'p>, &'p str),
    /// An item of the list at a path.
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    /// A field of the object at this path.
    #[inline]
    #[must_use]
    pub fn child(&'p self, name: &'p str) -> Path<'p> {
        Path::Child(self, name)
    }

    /// The value of a key of the map at this path.
    #[inline]
    #[must_use]
    pub fn key(&'p self, key: &'p str) -> Path<'p> {
        Path::Key(self, key)
    }

    /// An item of the list at this path.
    #[inline]
    #[must_use]
    pub fn index(&'p self, index: usize) -> Path<'p> {
        Path::Index(self, index)
    }

    fn is_empty(&self) -> bool {
        matches!(self, Path::Root | Path::Base(""))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Base(base) => f.write_str(base),
            Path::Child(parent, name) if parent.is_empty() => f.write_str(name),
            Path::Child(parent, name) => write!(f, "{parent}.{name}"),
            Path::Key(parent, key) => write!(f, "{parent}[{key}]"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn keys_and_positions_are_in_brackets_and_children_after_dots() {
        let root = Path::Root;
        let properties = root.child("properties");
        let any_of = properties.key("a.b");
        let any_of = any_of.child("anyOf");
        let member = any_of.index(1);
        assert_eq!(member.child("type").to_string(), "properties[a.b].anyOf[1].type");
        assert_eq!(Path::Base("schema").child("type").to_string(), "schema.type");
        assert_eq!(Path::Root.to_string(), "");
    }
}
