//! The order of inputs: by path component, as bytes.

use std::cmp::Ordering;
use std::path::{Component, Path};

/// Compares two paths by the bytes of their components, so that `a/b` comes before `a.yaml` on every machine.
/// A leading `./` only matters between paths that are otherwise equal.
pub(crate) fn by_component(a: &Path, b: &Path) -> Ordering {
    parts(a).cmp(parts(b)).then_with(|| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()))
}

fn parts(path: &Path) -> impl Iterator<Item = &[u8]> {
    path.components().filter(|c| !matches!(c, Component::CurDir)).map(|c| c.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::by_component;
    use std::path::Path;

    #[test]
    fn a_folder_stands_before_a_longer_name() {
        let mut paths = ["a.yaml", "a/b.yaml", "B", "./a/a.yaml", "a-b/c", "/z", "é", "z"].map(Path::new);
        paths.sort_by(|a, b| by_component(a, b));
        assert_eq!(paths, ["/z", "B", "./a/a.yaml", "a/b.yaml", "a-b/c", "a.yaml", "z", "é"].map(Path::new));
    }
}
