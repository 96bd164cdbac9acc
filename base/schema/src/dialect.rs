//! The two dialects of OpenAPI documents.

use kubeshape_yaml::Node;

/// The dialect of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// OpenAPI v2, also called Swagger.
    V2,
    /// OpenAPI v3.0.
    V3,
}

impl Dialect {
    /// Returns the dialect that a document declares with `swagger` or `openapi`.
    ///
    /// # Example
    /// ```
    /// use kubeshape_schema::Dialect;
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let source = r#"{"openapi": "3.0.0", "paths": {}}"#;
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// assert_eq!(Dialect::of(tape.document(source).root().unwrap()), Some(Dialect::V3));
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn of(root: Node<'_>) -> Option<Dialect> {
        let has = |name| root.get(name).is_some();
        match (has("swagger"), has("openapi")) {
            (true, _) => Some(Dialect::V2),
            (_, true) => Some(Dialect::V3),
            _ => None,
        }
    }
}
