//! What Python gives as an input: a string, bytes, a path, a dict, or an object of this package.

use crate::json;
use crate::object::Object;
use kubeshape::Findings;
use kubeshape::input::Finding;
use kubeshape_cli::rows::{self, Files};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMapping, PyString};
use std::path::PathBuf;
use std::thread;

/// The name of a string or of bytes in findings, as Python has it.
pub(crate) const NAME: &str = "<string>";
/// What is nested this deeply at most needs no stack of its own.
const FLAT: usize = 24;

/// An input. It borrows strings and bytes from Python, and can be read without the interpreter.
pub(crate) struct Source {
    name: String,
    text: Text,
}

enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
    /// The text of a dict, and how deeply it is nested.
    Made {
        json: Vec<u8>,
        depth: usize,
        is_named: bool,
    },
    Path(PathBuf),
}

impl Source {
    /// Takes a value of Python.
    pub(crate) fn of(value: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Source> {
        let named = |text| Source { name: name.unwrap_or(NAME).to_owned(), text };
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(named(Text::Str(PyBackedStr::try_from(text.clone())?)));
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(named(Text::Bytes(PyBackedBytes::from(bytes.clone()))));
        }
        if value.cast::<PyDict>().is_ok() || value.cast::<PyMapping>().is_ok() {
            let (json, depth) = json::from_python(value)?;
            let text = Text::Made { json, depth, is_named: name.is_some() };
            return Ok(Source { name: name.unwrap_or_default().to_owned(), text });
        }
        if let Ok(object) = value.cast::<Object>() {
            let json = object.get().inner.to_json().into_bytes();
            let text = Text::Made { json, depth: usize::MAX, is_named: name.is_some() };
            return Ok(Source { name: name.unwrap_or_default().to_owned(), text });
        }
        if let Ok(bytes) = value.cast::<PyByteArray>() {
            return Ok(named(Text::Bytes(PyBackedBytes::from(bytes.clone()))));
        }
        let path: PathBuf = value.extract().map_err(|_| {
            let found = value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("expected str, bytes, a path, a dict or a kubeshape.Object, found {found}"))
        })?;
        let name = name.map_or_else(|| path.to_string_lossy().into_owned(), str::to_owned);
        Ok(Source { name, text: Text::Path(path) })
    }

    /// The path, if it is one: of schemas, it may be a folder.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match &self.text {
            Text::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Refuses a string that can only be a mistake: the name of a file.
    ///
    /// # Errors
    /// The string has no field.
    pub(crate) fn expect_fields(&self) -> PyResult<()> {
        match &self.text {
            Text::Str(text) if !text.trim().is_empty() && !text.contains(':') => Err(PyValueError::new_err(
                "expected YAML or JSON, found a string without a field; a file is pathlib.Path(\"…\")",
            )),
            _ => Ok(()),
        }
    }

    /// Works on the text, with a stack that is large enough for what it may contain.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read<T: Send>(&self, work: impl FnOnce(&str, &[u8]) -> T + Send) -> Result<T, Findings> {
        match &self.text {
            Text::Made { json, depth, .. } if *depth <= FLAT => Ok(work(&self.name, json)),
            _ => on_large_stack(|| self.read_here(&mut Files::default(), work)),
        }
    }

    /// Works on the text on this thread, which has a large stack.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read_here<T>(&self, files: &mut Files, work: impl FnOnce(&str, &[u8]) -> T) -> Result<T, Findings> {
        let bytes = match &self.text {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
            Text::Made { json, .. } => json,
            Text::Path(path) => files.read(path, &self.name)?,
        };
        Ok(work(&self.name, bytes))
    }

    /// Removes places from findings that are those in the JSON of a dict, which nobody sees.
    pub(crate) fn correct(&self, findings: &mut [Finding]) {
        let Text::Made { is_named, .. } = self.text else { return };
        for finding in findings {
            (finding.place, finding.span, finding.excerpt) = (None, None, None);
            if !is_named {
                finding.input = None;
            }
        }
    }
}

/// Works on a thread whose stack is large enough for any input. The thread is new, because one that waits for work is
/// not there any more after a fork.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let started = thread::Builder::new().stack_size(rows::STACK).spawn_scoped(scope, work);
        match started.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(made)) => made,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => std::panic::panic_any(format!("cannot start a thread: {error}")),
        }
    })
}
