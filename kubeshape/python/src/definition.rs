//! CustomResourceDefinitions and OpenAPI documents.

use crate::answer;
use crate::source::{Source, on_large_stack};
use kubeshape::input::Finding;
use kubeshape::{Cluster, Converted, Findings};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Reads what `read` finds in a source.
fn read<T: Send>(
    source: &Bound<'_, PyAny>,
    name: Option<&str>,
    read: impl FnOnce(&str, &[u8]) -> Result<T, Findings> + Send,
) -> PyResult<T> {
    let (py, source) = (source.py(), Source::of(source, name)?);
    let made = py.detach(|| source.read(read)).and_then(|read| read);
    made.map_err(|mut found| {
        source.correct(&mut found.0);
        answer::error(&found, py)
    })
}

/// All that was read, unless something is wrong.
fn whole<T>((all, found): (Vec<T>, Vec<Finding>)) -> Result<Vec<T>, Findings> {
    if found.iter().any(Finding::is_error) { Err(Findings(found)) } else { Ok(all) }
}

fn convert<'py>(
    py: Python<'py>,
    (resource, version, shape): (&str, &str, &str),
    work: impl FnOnce() -> Result<Converted, Findings> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    match py.detach(|| on_large_stack(work)) {
        Ok(made) => answer::output(resource, version, shape, &made, py),
        Err(found) => Err(answer::error(&found, py)),
    }
}

/// A CustomResourceDefinition. It cannot be changed.
#[pyclass(frozen, module = "kubeshape")]
pub(crate) struct Crd {
    pub(crate) inner: kubeshape::Crd,
}

#[pymethods]
impl Crd {
    /// Reads the only CustomResourceDefinition of an input.
    #[staticmethod]
    #[pyo3(signature = (source, *, name = None))]
    fn read(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Crd> {
        let inner = read(source, name, |name, text| kubeshape::Crd::read(name, text))?;
        Ok(Crd { inner })
    }

    /// Reads all CustomResourceDefinitions of an input.
    #[staticmethod]
    #[pyo3(signature = (source, *, name = None))]
    fn read_all<'py>(source: &Bound<'py, PyAny>, name: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let all = read(source, name, |name, text| whole(kubeshape::Crd::read_all(name, text)))?;
        PyList::new(source.py(), all.into_iter().map(|inner| Crd { inner }))
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn group(&self) -> &str {
        self.inner.group()
    }

    #[getter]
    fn kind(&self) -> &str {
        self.inner.kind()
    }

    /// The names of the versions, served or not.
    #[getter]
    fn versions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.versions())
    }

    /// Warnings about the text.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        answer::findings(self.inner.findings(), py)
    }

    /// The OpenAPI v3 document of a version.
    fn v3<'py>(&self, py: Python<'py>, version: &str) -> PyResult<Bound<'py, PyAny>> {
        convert(py, (self.inner.name(), version, "v3"), || self.inner.v3(version))
    }

    /// The OpenAPI v2 document of a version.
    fn v2<'py>(&self, py: Python<'py>, version: &str) -> PyResult<Bound<'py, PyAny>> {
        convert(py, (self.inner.name(), version, "v2"), || self.inner.v2(version))
    }

    /// The JSON Schema of the objects of a version.
    fn json_schema<'py>(&self, py: Python<'py>, version: &str) -> PyResult<Bound<'py, PyAny>> {
        convert(py, (self.inner.name(), version, "jsonschema"), || self.inner.json_schema(version))
    }

    /// The structural schema of a version.
    fn structural<'py>(&self, py: Python<'py>, version: &str) -> PyResult<Bound<'py, PyAny>> {
        convert(py, (self.inner.name(), version, "structural"), || self.inner.structural(version))
    }

    /// The structured-merge-diff schema of all versions.
    fn smd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert(py, (self.inner.name(), "", "smd"), || self.inner.smd())
    }

    fn __repr__(&self) -> String {
        format!("<kubeshape.Crd {}>", self.inner.name())
    }
}

/// How a cluster gets from one definition to another: the text, whether nothing is lost, and the plan as JSON.
pub(crate) fn upgrade(
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    cluster: &Cluster,
) -> PyResult<(String, bool, serde_json::Value)> {
    let py = old.py();
    let definition = |value: &Bound<'_, PyAny>| match value.cast::<Crd>() {
        Ok(crd) => Ok(crd.get().inner.clone()),
        Err(_) => read(value, None, |name, text| kubeshape::Crd::read(name, text)),
    };
    let (old, new) = (definition(old)?, definition(new)?);
    let plan = py.detach(|| on_large_stack(|| old.upgrade_to(&new, cluster)));
    let plan = plan.map_err(|found| answer::error(&found, py))?;
    let json = serde_json::to_value(&plan).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()));
    Ok((plan.to_string(), plan.is_safe(), json?))
}

/// An OpenAPI document of either dialect. It cannot be changed.
#[pyclass(frozen, module = "kubeshape")]
pub(crate) struct Document {
    inner: kubeshape::Document,
}

#[pymethods]
impl Document {
    /// Reads the only OpenAPI document of an input.
    #[staticmethod]
    #[pyo3(signature = (source, *, name = None))]
    fn read(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Document> {
        let inner = read(source, name, |name, text| kubeshape::Document::read(name, text))?;
        Ok(Document { inner })
    }

    /// `v2` or `v3`.
    #[getter]
    fn dialect(&self) -> &'static str {
        match self.inner.dialect() {
            kubeshape::Dialect::V2 => "v2",
            kubeshape::Dialect::V3 => "v3",
        }
    }

    /// The document in OpenAPI v3.
    fn v3<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert(py, ("", "", "v3"), || self.inner.v3())
    }

    /// The document in OpenAPI v2.
    fn v2<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert(py, ("", "", "v2"), || self.inner.v2())
    }

    /// The structured-merge-diff schema of its kinds.
    fn smd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert(py, ("", "", "smd"), || self.inner.smd())
    }

    /// A JSON Schema per kind.
    fn json_schemas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let made = py.detach(|| on_large_stack(|| self.inner.json_schemas()));
        let made = made.map_err(|found| answer::error(&found, py))?;
        let made = made.iter().map(|(version, kind, made)| answer::output(kind, version, "jsonschema", made, py));
        PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        format!("<kubeshape.Document of OpenAPI {}>", self.dialect())
    }
}
