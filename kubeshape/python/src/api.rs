//! The kinds of many inputs.

use crate::object::{Object, nothing};
use crate::source::{NAME, Source, on_large_stack};
use crate::tasks::{self, parse};
use crate::{answer, json};
use kubeshape::input::Finding;
use kubeshape::schema::{Bump, did_you_mean};
use kubeshape::{Error, Findings, Kind, Release, WriteOptions};
use kubeshape_cli::rows::{self, Answer, FieldValidation, Files, MissingSchemas, Task, ValidateOptions};
use kubeshape_show::explain;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyList, PyMapping, PyString, PyTuple};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime};

/// Inputs of [`Results`] that are in memory.
const WINDOW: usize = 1024;

/// The kinds of Kubernetes and of CustomResourceDefinitions and OpenAPI documents.
#[pyclass(frozen, module = "kubeshape")]
pub(crate) struct Api {
    pub(crate) task: Task,
    release: Option<Release>,
    paths: Vec<PathBuf>,
    texts: Vec<(String, Vec<u8>)>,
    /// `field_validation` and `missing_schemas`.
    words: [String; 2],
    /// What is needed by requests only.
    registry: OnceLock<Result<kubeshape::Api, Findings>>,
}

/// The inputs of an argument: one, or several.
fn sources(value: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Source>> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(Vec::new()) };
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        value.try_iter()?.map(|one| named_source(&one?)).collect()
    } else {
        Ok(vec![Source::of(value, None)?])
    }
}

/// One of the words that stand for values.
fn word<T: Copy>(argument: &str, found: &str, words: [(&str, T); 3]) -> PyResult<T> {
    let known = words.iter().find(|(word, _)| *word == found);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let [a, b, c] = words.map(|(word, _)| word);
        PyValueError::new_err(format!("{argument}: expected {a}, {b} or {c}, found {found:?}"))
    })
}

#[pymethods]
impl Api {
    #[new]
    #[pyo3(signature = (
        schemas = None, *, kubernetes = None, field_validation = "strict", missing_schemas = "error",
    ))]
    fn new(
        py: Python<'_>,
        schemas: Option<&Bound<'_, PyAny>>,
        kubernetes: Option<&str>,
        field_validation: &str,
        missing_schemas: &str,
    ) -> PyResult<Api> {
        let mut options = ValidateOptions::default();
        options.kubernetes = kubernetes.map(parse).transpose()?;
        options.field_validation = word(
            "field_validation",
            field_validation,
            [("strict", FieldValidation::Strict), ("warn", FieldValidation::Warn), ("ignore", FieldValidation::Ignore)],
        )?;
        options.missing_schemas = word(
            "missing_schemas",
            missing_schemas,
            [("error", MissingSchemas::Error), ("warn", MissingSchemas::Warn), ("skip", MissingSchemas::Skip)],
        )?;
        for (at, source) in sources(schemas)?.into_iter().enumerate() {
            if let Some(path) = source.path() {
                options.schemas.push(path.clone());
                continue;
            }
            source.expect_fields()?;
            let text = source.read_here(&mut Files::default(), |name, text| {
                // Inputs are told apart by their names.
                let is_known = name != NAME && options.texts.iter().all(|(known, _)| known != name);
                (if is_known { name.to_owned() } else { format!("{name}#{}", at + 1) }, text.to_vec())
            });
            options.texts.push(text.map_err(|found| answer::error(&found, py))?);
        }
        let task = py.detach(|| on_large_stack(|| Task::validate(&options)));
        let task = task.map_err(|found| answer::error(&found, py))?;
        let ValidateOptions { schemas: paths, texts, kubernetes: release, .. } = options;
        let words = [field_validation.to_owned(), missing_schemas.to_owned()];
        Ok(Api { task, release, paths, texts, words, registry: OnceLock::new() })
    }

    /// What makes it again, for `pickle`. The texts of files are part of it: it may be read on another machine.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Bound<'py, PyList>,), Bound<'py, PyDict>)> {
        let files = py.detach(|| rows::read_files(&self.paths)).map_err(|found| answer::error(&found, py))?;
        let texts = files.iter().chain(&self.texts).map(|(name, text)| (name, PyBytes::new(py, text)));
        let (schemas, options) = (PyList::new(py, texts.collect::<Vec<_>>())?, PyDict::new(py));
        options.set_item("kubernetes", self.release.map(|release| release.to_string()))?;
        for (name, word) in ["field_validation", "missing_schemas"].into_iter().zip(&self.words) {
            options.set_item(name, word)?;
        }
        Ok(((schemas,), options))
    }

    /// What a server says of the objects of an input.
    #[pyo3(signature = (source, *, name = None))]
    fn validate<'py>(&self, source: &Bound<'py, PyAny>, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let (py, source) = (source.py(), Source::of(source, name)?);
        answer::result(&tasks::one(&self.task, &source, py)?, py)
    }

    /// The same of many inputs, with several threads. The answers come in the order of the inputs.
    #[pyo3(signature = (sources, *, threads = None))]
    fn validate_many(slf: Py<Api>, sources: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<Results> {
        expect_several(sources)?;
        let threads = threads.filter(|threads| *threads > 0);
        let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        Ok(Results { api: slf, sources: sources.try_iter()?.unbind(), answers: VecDeque::new(), threads })
    }

    /// The kinds as tuples of `apiVersion` and `kind`.
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let registry = self.registry(py)?;
        PyList::new(py, registry.kinds().map(|kind| (kind.api_version().to_owned(), kind.kind().to_owned())))
    }

    /// Server-side apply.
    #[pyo3(signature = (live, config, *, manager, force = false, subresource = "", now = None))]
    fn apply(
        &self,
        live: Option<&Bound<'_, PyAny>>,
        config: &Bound<'_, PyAny>,
        manager: &str,
        force: bool,
        subresource: &str,
        now: Option<f64>,
    ) -> PyResult<Object> {
        let live = live.filter(|live| !live.is_none()).map(Object::of).transpose()?;
        let options = WriteOptions::new(manager, time(now)?).force(force).subresource(subresource);
        let config = Object::of(config)?;
        self.request(|api| api.apply(live.as_ref(), &config, &options))
    }

    /// Create: the object as it is stored.
    #[pyo3(signature = (new, *, manager, now = None))]
    fn create(&self, new: &Bound<'_, PyAny>, manager: &str, now: Option<f64>) -> PyResult<Object> {
        let (new, options) = (Object::of(new)?, WriteOptions::new(manager, time(now)?));
        self.request(|api| api.create(&new, &options))
    }

    /// Update: the object afterwards.
    #[pyo3(signature = (live, new, *, manager, subresource = "", now = None))]
    fn update(
        &self,
        live: &Bound<'_, PyAny>,
        new: &Bound<'_, PyAny>,
        manager: &str,
        subresource: &str,
        now: Option<f64>,
    ) -> PyResult<Object> {
        let options = WriteOptions::new(manager, time(now)?).subresource(subresource);
        let (live, new) = (Object::of(live)?, Object::of(new)?);
        self.request(|api| api.update(&live, &new, &options))
    }

    /// One object merged into another, without owners.
    fn merge(&self, live: &Bound<'_, PyAny>, config: &Bound<'_, PyAny>) -> PyResult<Object> {
        let (live, config) = (Object::of(live)?, Object::of(config)?);
        self.request(|api| api.merge(&live, &config))
    }

    /// What a manager applied, as far as the object still has it.
    #[pyo3(signature = (object, manager, *, subresource = ""))]
    fn extract(&self, object: &Bound<'_, PyAny>, manager: &str, subresource: &str) -> PyResult<Option<Object>> {
        let (py, object) = (object.py(), Object::of(object)?);
        let made = self.run(py, |api| api.extract(&object, manager, subresource))?;
        let made = made.map_err(|error| answer::request_error(&error, py))?;
        Ok(made.map(|inner| Object { inner }))
    }

    /// A sample of a kind.
    #[pyo3(signature = (kind, *, api_version = None, maximal = false))]
    fn sample(&self, py: Python<'_>, kind: &str, api_version: Option<&str>, maximal: bool) -> PyResult<Object> {
        let made = self.run(py, |api| {
            let found = named(api, kind, api_version)?;
            let kind = found.first().ok_or_else(|| unknown(api, kind, api_version))?;
            let sampled = kind.sample(maximal, self.release.unwrap_or_default());
            let sampled = sampled.ok_or_else(|| format!("{} has no schema that samples are made of", kind.gvk()))?;
            Ok(kubeshape::Object::from(sampled.object))
        })?;
        made.map(|inner| Object { inner }).map_err(|detail| nothing(detail, py))
    }

    /// What `kubectl explain` says of a kind or a field.
    #[pyo3(signature = (field, *, api_version = None, recursive = false))]
    fn explain(&self, py: Python<'_>, field: &str, api_version: Option<&str>, recursive: bool) -> PyResult<String> {
        let made = self.run(py, |api| page(api, field, api_version, recursive))?;
        made.map_err(|detail| nothing(detail, py))
    }

    fn __repr__(&self) -> String {
        format!("<kubeshape.Api of {} inputs>", self.paths.len() + self.texts.len())
    }
}

impl Api {
    fn registry(&self, py: Python<'_>) -> PyResult<&kubeshape::Api> {
        let made = py.detach(|| self.registry.get_or_init(|| on_large_stack(|| self.read())));
        made.as_ref().map_err(|found| answer::error(found, py))
    }

    fn read(&self) -> Result<kubeshape::Api, Findings> {
        let release = self.release.unwrap_or_default();
        let built_in = kubeshape::builtin::BuiltInDocuments::try_from(release);
        let mut api = match built_in {
            Ok(documents) => kubeshape::Api::read_release(documents)?,
            Err(_) => kubeshape::Api::default(),
        };
        let files = rows::read_files(&self.paths)?;
        let found: Vec<Finding> =
            files.iter().chain(&self.texts).flat_map(|(name, text)| api.set(name, text)).collect();
        if found.iter().any(Finding::is_error) { Err(Findings(found)) } else { Ok(api) }
    }

    fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&kubeshape::Api) -> T + Send) -> PyResult<T> {
        let api = self.registry(py)?;
        Ok(py.detach(|| on_large_stack(|| work(api))))
    }

    fn request(
        &self,
        work: impl FnOnce(&kubeshape::Api) -> Result<kubeshape::Object, Error> + Send,
    ) -> PyResult<Object> {
        Python::attach(|py| {
            let made = self.run(py, work)?;
            made.map(|inner| Object { inner }).map_err(|error| answer::request_error(&error, py))
        })
    }
}

/// The time of a request, in seconds since 1970.
fn time(seconds: Option<f64>) -> PyResult<SystemTime> {
    let Some(seconds) = seconds else { return Ok(SystemTime::now()) };
    let since = Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
    SystemTime::UNIX_EPOCH.checked_add(since).ok_or_else(|| PyValueError::new_err("the time is too late"))
}

fn named<'a>(api: &'a kubeshape::Api, name: &str, api_version: Option<&str>) -> Result<Vec<&'a Kind>, String> {
    let mut found = api.by_name(name);
    found.retain(|kind| api_version.is_none_or(|version| kind.api_version() == version));
    if found.is_empty() { Err(unknown(api, name, api_version)) } else { Ok(found) }
}

fn unknown(api: &kubeshape::Api, name: &str, api_version: Option<&str>) -> String {
    let near = did_you_mean(&api.registry().names_near(name));
    let version = api_version.map(|version| format!(" in {version}")).unwrap_or_default();
    format!("no schema has the kind {name:?}{version}{near}")
}

fn page(api: &kubeshape::Api, field: &str, api_version: Option<&str>, recursive: bool) -> Result<String, String> {
    let request = explain::Request::parse(field).map_err(|error| error.to_string())?;
    let kinds = named(api, request.resource(), api_version)?;
    let names: Vec<String> = kinds.iter().map(|kind| kind.resource_name()).collect();
    let candidates: Vec<explain::Candidate<'_>> =
        kinds.iter().zip(&names).map(|(kind, resource)| explain::Candidate { resource, group: kind.group() }).collect();
    let (chosen, path) = request.choose(&candidates).map_err(|error| error.to_string())?;
    let chosen = chosen.and_then(|at| Some((*kinds.get(at)?, names.get(at)?)));
    let (kind, resource) = chosen.ok_or_else(|| unknown(api, field, api_version))?;
    let arena = Bump::new();
    let document = kind.openapi(&arena).ok_or_else(|| format!("{} has no OpenAPI document", kind.gvk()))?;
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let (mut out, options) = (String::new(), explain::Options { recursive, more: None });
    explain::plaintext(document, kind.gvr(resource), &path, options, &mut out).map_err(|error| {
        let error = error.to_string();
        error.strip_prefix("error: ").unwrap_or(&error).to_owned()
    })?;
    Ok(out)
}

/// Answers, as an iterator. A bounded number of inputs and answers is in memory.
#[pyclass(module = "kubeshape")]
pub(crate) struct Results {
    api: Py<Api>,
    sources: Py<PyIterator>,
    answers: VecDeque<Answer>,
    threads: usize,
}

#[pymethods]
impl Results {
    fn __iter__(slf: PyRef<'_, Results>) -> PyRef<'_, Results> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.answers.is_empty() {
            let mut sources = Vec::new();
            for source in self.sources.bind(py).clone().take(WINDOW) {
                sources.push(named_source(&source?)?);
            }
            let (api, threads) = (self.api.get(), self.threads);
            self.answers = py.detach(|| tasks::many(&api.task, &sources, threads)).into();
        }
        self.answers.pop_front().map(|answer| answer::result(&answer, py)).transpose()
    }
}

/// Refuses one input where several are expected: strings and dicts can be iterated over, too.
fn expect_several(sources: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_one = sources.cast::<PyString>().is_ok()
        || sources.cast::<PyBytes>().is_ok()
        || sources.cast::<PyByteArray>().is_ok()
        || sources.cast::<PyMapping>().is_ok();
    if is_one {
        let found = sources.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected several inputs, such as a list, found one: {found}")));
    }
    Ok(())
}

/// An input, or a tuple of its name and the input.
fn named_source(value: &Bound<'_, PyAny>) -> PyResult<Source> {
    let Ok(pair) = value.cast::<PyTuple>() else { return Source::of(value, None) };
    let [name, source] = &pair.iter().collect::<Vec<_>>()[..] else {
        return Err(PyTypeError::new_err("expected an input, or a tuple of a name and an input"));
    };
    Source::of(source, Some(name.cast::<PyString>()?.to_str()?))
}

/// The texts of schemas, with their names.
#[pyfunction]
pub(crate) fn read_files(py: Python<'_>, schemas: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, Py<PyBytes>)>> {
    let mut out = Vec::new();
    for source in sources(schemas)? {
        source.expect_fields()?;
        let read = py.detach(|| match source.path() {
            Some(path) => rows::read_files(std::slice::from_ref(path)),
            None => source.read_here(&mut Files::default(), |name, text| vec![(name.to_owned(), text.to_vec())]),
        });
        let read = read.map_err(|found| answer::error(&found, py))?;
        out.extend(read.into_iter().map(|(name, text)| (name, PyBytes::new(py, &text).unbind())));
    }
    Ok(out)
}

/// How a cluster gets from one definition to another.
#[pyfunction]
#[pyo3(signature = (old, new, *, stored = Vec::new(), objects = Vec::new(), kubernetes = None))]
pub(crate) fn upgrade<'py>(
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    stored: Vec<String>,
    objects: Vec<Bound<'py, PyAny>>,
    kubernetes: Option<&str>,
) -> PyResult<(String, bool, Py<PyAny>)> {
    let objects = objects.into_iter().map(|object| Ok(Object::of(&object)?.into_value())).collect::<PyResult<_>>()?;
    let release = kubernetes.map(parse).transpose()?.unwrap_or_default();
    let cluster = kubeshape::Cluster { stored, objects, release, ..kubeshape::Cluster::default() };
    let (text, is_safe, plan) = crate::definition::upgrade(old, new, &cluster)?;
    Ok((text, is_safe, json::to_python(&plan, old.py())?))
}
