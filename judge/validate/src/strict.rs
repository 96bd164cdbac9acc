//! The server's messages about fields that strict field validation refuses.

use kubeshape_yaml::go::escape::GoQuoted;

/// How a server finds unknown fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// By pruning with the schema of a custom resource. The path is printed as it is.
    Pruned,
    /// By decoding the object of a built-in kind into a Go type. The path is quoted like in Go.
    Decoded,
}

/// Returns the message for an unknown field.
///
/// # Example
/// ```
/// use kubeshape_validate::strict::{Fields, unknown_field};
/// assert_eq!(unknown_field("spec.\u{a0}\"", Fields::Pruned), "unknown field \"spec.\u{a0}\"\"");
/// assert_eq!(unknown_field("spec.\u{a0}\"", Fields::Decoded), r#"unknown field "spec.\u00a0\"""#);
/// ```
pub fn unknown_field(path: &str, fields: Fields) -> String {
    match fields {
        Fields::Pruned => format!("unknown field \"{path}\""),
        Fields::Decoded => format!("unknown field {}", GoQuoted(path)),
    }
}

/// Returns the message for a duplicate key of JSON.
///
/// # Example
/// ```
/// assert_eq!(kubeshape_validate::strict::duplicate_field("spec.é\u{a0}"), r#"duplicate field "spec.é\u00a0""#);
/// ```
pub fn duplicate_field(path: &str) -> String {
    format!("duplicate field {}", GoQuoted(path))
}
