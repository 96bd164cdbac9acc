//! The paths of values.

/// Returns the path of a field.
pub(super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
