//! Paths of schemas as upstream prints them: `properties[spec].items.type`.

use std::fmt;

/// A path. It is a chain of steps on the stack of the walk, so it costs nothing until it is printed.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    /// The empty path.
    Root,
    /// The text that all paths begin with.
    Base(&'p str),
    Child(&'p Path<'p>, &'static str),
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    #[inline]
    pub(crate) fn child(&'p self, name: &'static str) -> Path<'p> {
        Path::Child(self, name)
    }

    #[inline]
    pub(crate) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path::Key(self, key)
    }

    #[inline]
    pub(crate) fn index(&'p self, index: usize) -> Path<'p> {
        Path::Index(self, index)
    }

    /// The path of a property of the schema at this path.
    #[cold]
    pub(crate) fn property(&self, name: &str) -> String {
        self.child("properties").key(name).to_string()
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
    fn keys_and_positions_stand_in_brackets_and_children_behind_dots() {
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
