//! Objects.

use crate::source::{Source, on_large_stack};
use crate::{answer, json};
use kubeshape::Findings;
use kubeshape::input::{Code, Finding};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// An object of Kubernetes. It cannot be changed.
#[pyclass(frozen, module = "kubeshape")]
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) inner: kubeshape::Object,
}

impl Object {
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<kubeshape::Object> {
        match value.cast::<Object>() {
            Ok(object) => Ok(object.get().inner.clone()),
            Err(_) => read(value, None),
        }
    }
}

fn read(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<kubeshape::Object> {
    let (py, source) = (source.py(), Source::of(source, name)?);
    let made = py.detach(|| source.read(|name, text| kubeshape::Object::read(name, text)));
    let made = made.and_then(|read| {
        read.map_err(|mut finding| {
            source.correct(std::slice::from_mut(&mut *finding));
            Findings(vec![*finding])
        })
    });
    made.map_err(|found| answer::error(&found, py))
}

#[pymethods]
impl Object {
    /// Reads the only object of an input.
    #[staticmethod]
    #[pyo3(signature = (source, *, name = None))]
    fn read(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Object> {
        Ok(Object { inner: read(source, name)? })
    }

    /// Reads all objects of an input, those of lists included.
    #[staticmethod]
    #[pyo3(signature = (source, *, name = None))]
    fn read_all<'py>(source: &Bound<'py, PyAny>, name: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let (py, source) = (source.py(), Source::of(source, name)?);
        let read = py.detach(|| source.read(|name, text| kubeshape::Object::read_all(name, text)));
        let (objects, mut found) = read.map_err(|found| answer::error(&found, py))?;
        if found.iter().any(Finding::is_error) {
            source.correct(&mut found);
            return Err(answer::error(&Findings(found), py));
        }
        PyList::new(py, objects.into_iter().map(|inner| Object { inner }))
    }

    #[getter]
    fn api_version(&self) -> &str {
        self.inner.api_version()
    }

    #[getter]
    fn kind(&self) -> &str {
        self.inner.kind()
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn namespace(&self) -> &str {
        self.inner.namespace()
    }

    /// The object as a dict.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::to_python(self.inner.value(), py)
    }

    /// The object as JSON.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.to_json())
    }

    /// The object as YAML.
    fn to_yaml(&self, py: Python<'_>) -> String {
        py.detach(|| on_large_stack(|| self.inner.to_yaml()))
    }

    /// Who owns which fields: tuples of manager, operation and paths.
    fn owners<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let owners = py.detach(|| self.inner.owners());
        let owners = owners.map_err(|error| answer::request_error(&error, py))?;
        let made = owners.iter().map(|owner| {
            let paths = PyTuple::new(py, owner.fields.paths())?;
            answer::owner(&owner.manager, owner.operation.as_str(), &owner.subresource, paths)
        });
        PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        format!("<kubeshape.Object {} {} {:?}>", self.inner.api_version(), self.inner.kind(), self.inner.name())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Object>().is_ok_and(|other| other.get().inner.value() == self.inner.value())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hash = DefaultHasher::new();
        (self.inner.api_version(), self.inner.kind(), self.inner.namespace(), self.inner.name()).hash(&mut hash);
        hash.finish()
    }
}

/// What says that an object is none.
pub(crate) fn nothing(detail: String, py: Python<'_>) -> PyErr {
    answer::error(&Finding::new(Code::UnknownKind, detail).into(), py)
}
