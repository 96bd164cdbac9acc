//! The unit tests of private modules. They are in the modules, which are compiled into this program, because otherwise
//! the whole library would have to be compiled once more for them.

// The tests do not use everything in the modules, and the library uses it from elsewhere.
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/graph/inline/feedback.rs"]
mod feedback;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/jsonschema/pattern/mod.rs"]
mod pattern;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/proto/refusal.rs"]
mod refusal;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/proto/resolve.rs"]
mod resolve;
#[allow(dead_code, unreachable_pub)]
#[path = "../../src/proto/source.rs"]
mod source;

use std::path::Path;

/// Lists files below a folder that have unit tests.
fn with_tests(folder: &Path, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            with_tests(&path, found)?;
        } else if std::fs::read_to_string(&path)?.contains("cfg(test)") {
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

#[test]
fn no_unit_test_is_left_out() -> std::io::Result<()> {
    let mut found = Vec::new();
    with_tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found)?;
    let here = include_str!("inner.rs");
    for file in &found {
        let name = file.rsplit_once("/src/").map_or("", |(_, name)| name);
        assert!(here.contains(&format!("\"../../src/{name}\"")), "the tests of {name} do not run");
    }
    assert!(found.len() > 3, "{found:?}");
    Ok(())
}
