//! The `kubeshape` command. It is implemented in the library of this crate, which other programs call, too.

use std::process::ExitCode;

/// Gives memory back to the system after large requests (docs/DESIGN.md).
#[cfg(feature = "serve")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(kubeshape_cli::run(std::env::args_os().collect()))
}
