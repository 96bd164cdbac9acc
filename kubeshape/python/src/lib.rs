//! kubeshape for Python: the module `kubeshape._native`.
//!
//! It decides nothing. The tasks are those of `kubeshape_cli::rows`, requests on objects those of the crate
//! `kubeshape`, and the command is `kubeshape_cli::run`. `python/kubeshape` has the dataclasses and exceptions of the
//! answers.
#![forbid(unsafe_code)]

mod answer;
mod api;
mod arrow;
mod definition;
mod json;
mod object;
mod source;
mod tasks;

/// As in the command (docs/DESIGN.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pyo3::pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::api::{Api, Results, read_files, upgrade};
    #[pymodule_export]
    use crate::arrow::Batches;
    #[pymodule_export]
    use crate::definition::{Crd, Document};
    #[pymodule_export]
    use crate::object::Object;
    #[pymodule_export]
    use crate::tasks::{check, convert, diff};

    /// Runs the command with these arguments, of which the first is the name of the program. Returns the exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| kubeshape_cli::run(arguments))
    }
}
