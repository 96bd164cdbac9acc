//! Runs clippy with every set of features that is used.

use crate::run::{Result, cargo, run};

/// The arguments of each run: what to lint, with which features.
const RUNS: [&[&str]; 3] = [
    &["--workspace", "--all-targets"],
    // The engine of server-side apply without `serde_json`.
    &["-p", "kubeshape-smd", "--no-default-features", "--features", "simd-json"],
    // The command without the server and without clusters.
    &["-p", "kubeshape-cli", "--no-default-features"],
];

/// Lints everything. A warning is an error.
pub(crate) fn everything() -> Result {
    for arguments in RUNS {
        run(cargo("clippy").args(arguments).args(["--quiet", "--", "-D", "warnings"]))?;
    }
    Ok(())
}
