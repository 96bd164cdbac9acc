//! The released modules, if they are available.

use kubeshape_builtin::BuiltInDocuments;
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Returns the folder `api/` of the module `k8s.io/kubernetes` of a release. `cargo xtask builtin` sets the folder of
/// the modules. Without it, the tests that need them print a message and pass.
pub(crate) fn api(release: BuiltInDocuments) -> Option<PathBuf> {
    let Some(modules) = std::env::var_os("KUBESHAPE_KUBERNETES") else {
        let _ =
            writeln!(io::stderr(), "not checked: the released module of {release} is not here (cargo xtask builtin)");
        return None;
    };
    Some(PathBuf::from(modules).join(format!("kubernetes@v{}", release.version())).join("api"))
}

/// Reads a document of the module.
pub(crate) fn read(api: &std::path::Path, name: &str) -> (String, Value) {
    let path = api.join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (text, value)
}

/// Returns the file name of an OpenAPI v3 document.
pub(crate) fn file_of(path: &str) -> String {
    format!("openapi-spec/v3/{}_openapi.json", path.replace('/', "__"))
}
