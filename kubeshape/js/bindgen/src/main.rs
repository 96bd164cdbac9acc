//! Writes the JavaScript around a WebAssembly module: `kubeshape-bindgen MODULE FOLDER NAME`.
//!
//! It is the library of `wasm-bindgen`'s command, in the version that Cargo.lock has, so nobody installs that command.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else { return ExitCode::FAILURE };
    let mut bindgen = Bindgen::new();
    let made = bindgen
        .input_path(module)
        .out_name(name)
        .web(true)
        .and_then(|bindgen| bindgen.typescript(false).remove_name_section(true).remove_producers_section(true).generate(folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("{error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
