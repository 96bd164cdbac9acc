//! Columns of Arrow: strings are read where they are, and answers are written as columns.

use crate::api::Api;
use crate::source::on_large_stack;
use crate::tasks::parse;
use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};
use kubeshape::input::Finding;
use kubeshape_check::Releases;
use kubeshape_cli::rows::{self, Answer, Made, Row, Shapes, Task};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Rows that a thread takes at once.
const PORTION: usize = 64;

/// The members of a finding: as in the dataclass.
const FINDING: [(&str, DataType); 10] = [
    ("code", DataType::Utf8),
    ("severity", DataType::Utf8),
    ("message", DataType::Utf8),
    ("file", DataType::Utf8),
    ("line", DataType::Int32),
    ("column", DataType::Int32),
    ("path", DataType::Utf8),
    ("resource", DataType::Utf8),
    ("version", DataType::Utf8),
    ("help", DataType::Utf8),
];
/// The members of a result.
const OUTPUT: [(&str, DataType); 4] =
    [("resource", DataType::Utf8), ("version", DataType::Utf8), ("shape", DataType::Utf8), ("text", DataType::Utf8)];

fn fields(members: &[(&str, DataType)]) -> Fields {
    members.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect()
}

fn list(members: &[(&str, DataType)]) -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Struct(fields(members)), true)))
}

/// The members of the answer about a row.
fn answer_fields() -> Fields {
    Fields::from(vec![
        Field::new("verdict", DataType::Utf8, true),
        Field::new("findings", list(&FINDING), true),
        Field::new("outputs", list(&OUTPUT), true),
    ])
}

/// A column of strings or bytes, of whatever width.
enum Column<'a> {
    Utf8(&'a arrow_array::StringArray),
    LargeUtf8(&'a arrow_array::LargeStringArray),
    Utf8View(&'a arrow_array::StringViewArray),
    Binary(&'a arrow_array::BinaryArray),
    LargeBinary(&'a arrow_array::LargeBinaryArray),
    BinaryView(&'a arrow_array::BinaryViewArray),
}

impl<'a> Column<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> PyResult<Column<'a>> {
        let Some(array) = batch.column_by_name(name) else {
            let known: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
            return Err(PyKeyError::new_err(format!("there is no column {name:?}, but {}", known.join(", "))));
        };
        Ok(match array.data_type() {
            DataType::Utf8 => Column::Utf8(array.as_string()),
            DataType::LargeUtf8 => Column::LargeUtf8(array.as_string()),
            DataType::Utf8View => Column::Utf8View(array.as_string_view()),
            DataType::Binary => Column::Binary(array.as_binary()),
            DataType::LargeBinary => Column::LargeBinary(array.as_binary()),
            DataType::BinaryView => Column::BinaryView(array.as_binary_view()),
            other => {
                let message = format!("column {name:?}: expected strings or bytes, found {other}");
                return Err(PyTypeError::new_err(message));
            }
        })
    }

    /// The bytes of a row; none if it is null.
    fn get(&self, at: usize) -> Option<&'a [u8]> {
        match self {
            Column::Utf8(array) => array.is_valid(at).then(|| array.value(at).as_bytes()),
            Column::LargeUtf8(array) => array.is_valid(at).then(|| array.value(at).as_bytes()),
            Column::Utf8View(array) => array.is_valid(at).then(|| array.value(at).as_bytes()),
            Column::Binary(array) => array.is_valid(at).then(|| array.value(at)),
            Column::LargeBinary(array) => array.is_valid(at).then(|| array.value(at)),
            Column::BinaryView(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

/// What is done with the rows of batches.
#[pyclass(frozen, module = "kubeshape")]
pub(crate) struct Batches {
    work: Work,
    /// The column of the texts.
    column: String,
    /// The column of what the texts replace.
    old: Option<String>,
    /// The column of the names in findings.
    name: Option<String>,
    threads: usize,
}

enum Work {
    Api(Py<Api>),
    Task(Task),
}

#[pymethods]
impl Batches {
    /// Exactly one of `api`, `check`, `convert` and `old` says what is done.
    #[new]
    #[pyo3(signature = (column, *, name = None, api = None, check = None, convert = None, old = None, threads = 0))]
    fn new(
        column: String,
        name: Option<String>,
        api: Option<Py<Api>>,
        check: Option<(Option<String>, bool)>,
        convert: Option<&str>,
        old: Option<String>,
        threads: usize,
    ) -> PyResult<Batches> {
        let work = match (api, check, convert, &old) {
            (Some(api), None, None, None) => Work::Api(api),
            (None, Some((releases, advice)), None, None) => {
                let releases: Releases = releases.as_deref().map(parse).transpose()?.unwrap_or_default();
                Work::Task(Task::check(releases, advice))
            }
            (None, None, Some(shapes), None) => Work::Task(Task::convert(parse::<Shapes>(shapes)?)),
            (None, None, None, Some(_)) => Work::Task(Task::diff()),
            _ => return Err(PyValueError::new_err("expected one of api, check, convert and old")),
        };
        let threads = if threads == 0 { thread::available_parallelism().map_or(1, usize::from) } else { threads };
        Ok(Batches { work, column, old, name, threads })
    }

    /// The type of an answer.
    #[staticmethod]
    fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        PySchema::new(Arc::new(Schema::new(answer_fields()))).into_pyarrow(py)
    }

    /// The batch with a column of answers behind its own.
    fn answer<'py>(&self, py: Python<'py>, batch: PyRecordBatch, result: &str) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        if batch.column_by_name(result).is_some() {
            return Err(PyValueError::new_err(format!("there is a column {result:?} already")));
        }
        let texts = Column::of(&batch, &self.column)?;
        let old = self.old.as_deref().map(|name| Column::of(&batch, name)).transpose()?;
        let names = self.name.as_deref().map(|name| Column::of(&batch, name)).transpose()?;
        let task = match &self.work {
            Work::Api(api) => &api.get().task,
            Work::Task(task) => task,
        };
        let rows = Rows { texts, old, names, count: batch.num_rows() };
        let answers = py.detach(|| columns(&rows.answers(task, self.threads)));
        let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(result, DataType::Struct(answer_fields()), true)));
        let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
        let columns = batch.columns().iter().cloned().chain([answers]).collect();
        let made = RecordBatch::try_new(Arc::new(schema), columns);
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyRecordBatch::new(made).into_pyarrow(py)
    }
}

struct Rows<'a> {
    texts: Column<'a>,
    old: Option<Column<'a>>,
    names: Option<Column<'a>>,
    count: usize,
}

impl Rows<'_> {
    /// The answers, in order; none for a row without a text.
    fn answers(&self, task: &Task, threads: usize) -> Vec<Option<Answer>> {
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Vec::new());
        let work = || {
            let mut worker = task.worker();
            loop {
                let start = next.fetch_add(PORTION, Ordering::Relaxed);
                if start >= self.count {
                    return;
                }
                let rows = start..self.count.min(start + PORTION);
                let made: Vec<Option<Answer>> = rows
                    .map(|at| {
                        let text = self.texts.get(at)?;
                        let name = self.names.as_ref().and_then(|names| names.get(at)).unwrap_or_default();
                        let old = self.old.as_ref().and_then(|old| old.get(at)).unwrap_or_default();
                        Some(worker.answer(Row { name: &String::from_utf8_lossy(name), text, old }))
                    })
                    .collect();
                all.lock().unwrap_or_else(PoisonError::into_inner).push((start, made));
            }
        };
        on_large_stack(|| {
            thread::scope(|scope| {
                for _ in 1..threads.min(self.count.div_ceil(PORTION)) {
                    // With fewer threads the others do the work.
                    let _ = thread::Builder::new().stack_size(rows::STACK).spawn_scoped(scope, work);
                }
                work();
            });
        });
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(start, _)| *start);
        all.into_iter().flat_map(|(_, made)| made).collect()
    }
}

/// The column of answers.
fn columns(answers: &[Option<Answer>]) -> ArrayRef {
    let mut verdicts = StringBuilder::with_capacity(answers.len(), answers.len() * 8);
    let mut findings = ListBuilder::new(StructBuilder::from_fields(fields(&FINDING), 0));
    let mut outputs = ListBuilder::new(StructBuilder::from_fields(fields(&OUTPUT), 0));
    for answer in answers {
        verdicts.append_option(answer.as_ref().map(|answer| answer.verdict));
        for finding in answer.iter().flat_map(|answer| &answer.findings) {
            append_finding(finding, findings.values());
        }
        findings.append(true);
        for made in answer.iter().flat_map(|answer| &answer.results) {
            append_output(made, outputs.values());
        }
        outputs.append(true);
    }
    let columns: Vec<ArrayRef> =
        vec![Arc::new(verdicts.finish()), Arc::new(findings.finish()), Arc::new(outputs.finish())];
    Arc::new(StructArray::new(answer_fields(), columns, None))
}

fn append_finding(finding: &Finding, to: &mut StructBuilder) {
    let place = finding.place;
    let number = |number: Option<usize>| number.and_then(|number| i32::try_from(number).ok());
    let string = |at: usize, text: Option<&str>, to: &mut StructBuilder| {
        if let Some(builder) = to.field_builder::<StringBuilder>(at) {
            builder.append_option(text.filter(|text| !text.is_empty()));
        }
    };
    string(0, Some(&finding.code.to_string()), to);
    string(1, Some(finding.kind().name()), to);
    string(2, Some(&finding.message()), to);
    string(3, finding.input.as_deref(), to);
    for (at, value) in [(4, place.map(|place| place.line)), (5, place.map(|place| place.column))] {
        if let Some(builder) = to.field_builder::<Int32Builder>(at) {
            builder.append_option(number(value));
        }
    }
    string(6, finding.pointer.as_deref(), to);
    string(7, finding.resource.as_deref(), to);
    string(8, finding.version.as_deref(), to);
    string(9, Some(&finding.help()), to);
    to.append(true);
}

fn append_output(made: &Made, to: &mut StructBuilder) {
    for (at, text) in [&made.resource, &made.version, made.shape, &made.text].into_iter().map(AsRef::as_ref).enumerate()
    {
        let text: &str = text;
        if let Some(builder) = to.field_builder::<StringBuilder>(at) {
            builder.append_value(text);
        }
    }
    to.append(true);
}
