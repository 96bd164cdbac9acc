//! Answers as dataclasses, and errors as exceptions.

use crate::json;
use kubeshape::input::{Code, Finding};
use kubeshape::{Conflict, Error, FieldError, FieldErrorKind, Findings, Location};
use kubeshape_cli::rows::{Answer, Made};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// Where the dataclasses are.
const MODULE: &str = "kubeshape._types";

macro_rules! class {
    ($name:ident, $class:literal) => {
        fn $name(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            CLASS.import(py, MODULE, $class)
        }
    };
}

class!(finding_class, "Finding");
class!(result_class, "Result");
class!(output_class, "Output");
class!(conflict_class, "Conflict");
class!(error_class, "KubeshapeError");
class!(request_error_class, "RequestError");

pub(crate) fn finding<'py>(finding: &Finding, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    finding_class(py)?.call1((
        finding.code.to_string(),
        finding.kind().name(),
        finding.message(),
        finding.input.as_deref(),
        finding.place.map(|place| place.line),
        finding.place.map(|place| place.column),
        finding.pointer.as_deref(),
        finding.resource.as_deref(),
        finding.version.as_deref().filter(|version| !version.is_empty()),
        PyTuple::new(py, &finding.releases)?,
        PyTuple::new(py, &finding.notes)?,
        finding.help(),
    ))
}

pub(crate) fn findings<'py>(all: &[Finding], py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
    let all: Vec<_> = all.iter().map(|one| finding(one, py)).collect::<PyResult<_>>()?;
    PyTuple::new(py, all)
}

/// What came of an input.
pub(crate) fn result<'py>(answer: &Answer, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let outputs: Vec<_> = answer.results.iter().map(|made| made_output(made, py)).collect::<PyResult<_>>()?;
    result_class(py)?.call1((answer.verdict, findings(&answer.findings, py)?, PyTuple::new(py, outputs)?))
}

fn made_output<'py>(made: &Made, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let none = PyTuple::empty(py);
    output_class(py)?.call1((made.resource.as_str(), made.version.as_str(), made.shape, made.text.as_str(), none))
}

/// One result of a conversion.
pub(crate) fn output<'py>(
    resource: &str,
    version: &str,
    shape: &str,
    converted: &kubeshape::Converted,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = findings(converted.findings(), py)?;
    output_class(py)?.call1((resource, version, shape, converted.text(), found))
}

/// The exception of findings.
pub(crate) fn error(found: &Findings, py: Python<'_>) -> PyErr {
    let made = || error_class(py)?.call1((found.to_string(), findings(&found.0, py)?));
    made().map_or_else(|error| error, PyErr::from_value)
}

/// The exception of a request that is refused.
pub(crate) fn request_error(refused: &Error, py: Python<'_>) -> PyErr {
    let made = || {
        let status = refused.status();
        let conflicts: Vec<_> =
            refused.conflicts().iter().map(|one| conflict(one, py)).collect::<PyResult<Vec<_>>>()?;
        let found: Vec<Finding> = match refused {
            Error::Invalid(invalid) => invalid.errors.iter().filter_map(field_error).collect(),
            _ => Vec::new(),
        };
        let conflicts = PyTuple::new(py, conflicts)?;
        let arguments = (refused.to_string(), findings(&found, py)?, status.code, status.reason, conflicts);
        request_error_class(py)?.call1(arguments)
    };
    made().map_or_else(|error: PyErr| error, PyErr::from_value)
}

fn field_error(error: &FieldError) -> Option<Finding> {
    let code = match error.kind {
        FieldErrorKind::Undeclared { .. } => Code::UndeclaredField,
        FieldErrorKind::Duplicate => Code::DuplicateItem,
        _ => Code::InvalidValue,
    };
    Some(error.location.as_ref()?.finding(code, error.to_string()))
}

fn conflict<'py>(conflict: &Conflict, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let place = conflict.location.as_ref().and_then(Location::place);
    let value = |value: &Option<serde_json::Value>| match value {
        Some(value) => json::to_python(value, py),
        None => Ok(py.None()),
    };
    conflict_class(py)?.call1((
        conflict.manager.as_str(),
        conflict.path.as_str(),
        conflict.message.as_str(),
        value(&conflict.live)?,
        value(&conflict.new)?,
        conflict.location.as_ref().map(|at| at.input().to_string()).filter(|name| !name.is_empty()),
        place.map(|place| place.line),
        place.map(|place| place.column),
    ))
}

class!(owner_class, "Owner");

/// Who owns which fields.
pub(crate) fn owner<'py>(
    manager: &str,
    operation: &str,
    subresource: &str,
    paths: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    owner_class(paths.py())?.call1((manager, operation, subresource, paths))
}
