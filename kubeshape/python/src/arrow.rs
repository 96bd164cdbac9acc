//! Columns of Arrow: strings are read where they are, and answers are written as columns.

use crate::api::Api;
use crate::source::on_large_stack;
use crate::tasks::parse;
use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};
use kubeshape::input::Finding;
use kubeshape_check::Releases;
use kubeshape_cli::rows::{self, Answer, Made, Row, Shapes, Task};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError, PyValueError};
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

/// A column of texts, as bytes: not every engine checks that its strings are UTF-8.
enum Column {
    Narrow(BinaryArray),
    Wide(LargeBinaryArray),
    View(BinaryViewArray),
    /// The rows have positions in other texts.
    Dictionary {
        rows: ArrayRef,
        positions: Vec<usize>,
        texts: Box<Column>,
    },
    /// Every row is null.
    Null,
}

impl Column {
    fn of(batch: &RecordBatch, name: &str) -> PyResult<Column> {
        let Some(array) = batch.column_by_name(name) else {
            let known: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
            let known = if known.is_empty() { "the batch has none".to_owned() } else { known.join(", ") };
            return Err(PyKeyError::new_err(format!("there is no column {name:?}, but {known}")));
        };
        Column::of_array(array).ok_or_else(|| {
            let found = array.data_type();
            PyTypeError::new_err(format!("column {name:?}: expected strings or bytes, found {found}"))
        })
    }

    fn of_array(array: &ArrayRef) -> Option<Column> {
        Some(match array.data_type() {
            DataType::Utf8 => Column::Narrow(array.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Column::Wide(array.as_string::<i64>().clone().into()),
            DataType::Utf8View => Column::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Column::Narrow(array.as_binary().clone()),
            DataType::LargeBinary => Column::Wide(array.as_binary().clone()),
            DataType::BinaryView => Column::View(array.as_binary_view().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let texts = Box::new(Column::of_array(dictionary.values())?);
                if dictionary.values().is_empty() {
                    return Some(Column::Null);
                }
                Column::Dictionary { rows: Arc::clone(array), positions: dictionary.normalized_keys(), texts }
            }
            DataType::Null => Column::Null,
            _ => return None,
        })
    }

    /// The bytes of a row; none if it is null.
    fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Column::Narrow(array) => array.is_valid(at).then(|| array.value(at)),
            Column::Wide(array) => array.is_valid(at).then(|| array.value(at)),
            Column::View(array) => array.is_valid(at).then(|| array.value(at)),
            Column::Dictionary { rows, positions, texts } => {
                positions.get(at).filter(|_| rows.is_valid(at)).and_then(|position| texts.get(*position))
            }
            Column::Null => None,
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

    /// The batch with a column of answers behind its own. No column of strings in it has more than `most` bytes: Arrow
    /// counts them with 31 bits.
    #[pyo3(signature = (batch, result, most = i32::MAX as usize))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        batch: PyRecordBatch,
        result: &str,
        most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let most = most.min(i32::MAX as usize);
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
        let answers = py.detach(|| columns(rows.answers(task, self.threads), most));
        let answers = answers.map_err(|TooLarge| {
            let message = "the answers about these rows are too large for one batch; give fewer rows at once";
            PyOverflowError::new_err(message)
        })?;
        let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(result, DataType::Struct(answer_fields()), true)));
        let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
        let columns = batch.columns().iter().cloned().chain([answers]).collect();
        let made = RecordBatch::try_new(Arc::new(schema), columns);
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyRecordBatch::new(made).into_pyarrow(py)
    }
}

struct Rows {
    texts: Column,
    old: Option<Column>,
    names: Option<Column>,
    count: usize,
}

impl Rows {
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

/// The offsets of a column end here.
struct TooLarge;

/// The column of answers. None of its columns has more than `most` bytes.
fn columns(answers: Vec<Option<Answer>>, most: usize) -> Result<ArrayRef, TooLarge> {
    let mut verdicts = StringBuilder::with_capacity(answers.len(), answers.len() * 8);
    let mut findings = ListBuilder::new(StructBuilder::from_fields(fields(&FINDING), 0));
    let mut outputs = ListBuilder::new(StructBuilder::from_fields(fields(&OUTPUT), 0));
    for answer in answers {
        verdicts.append_option(answer.as_ref().map(|answer| answer.verdict));
        for finding in answer.iter().flat_map(|answer| &answer.findings) {
            append_finding(finding, findings.values(), most)?;
        }
        findings.append(true);
        for made in answer.iter().flat_map(|answer| &answer.results) {
            append_output(made, outputs.values(), most)?;
        }
        outputs.append(true);
    }
    let columns: Vec<ArrayRef> =
        vec![Arc::new(verdicts.finish()), Arc::new(findings.finish()), Arc::new(outputs.finish())];
    Ok(Arc::new(StructArray::new(answer_fields(), columns, None)))
}

/// Appends a string, or null, to one member of a struct.
fn append_string(at: usize, text: Option<&str>, to: &mut StructBuilder, most: usize) -> Result<(), TooLarge> {
    if let Some(builder) = to.field_builder::<StringBuilder>(at) {
        if builder.values_slice().len() + text.map_or(0, str::len) > most {
            return Err(TooLarge);
        }
        builder.append_option(text);
    }
    Ok(())
}

fn append_finding(finding: &Finding, to: &mut StructBuilder, most: usize) -> Result<(), TooLarge> {
    let place = finding.place;
    let number = |number: Option<usize>| number.and_then(|number| i32::try_from(number).ok());
    let mut string = |at: usize, text: Option<&str>| append_string(at, text.filter(|text| !text.is_empty()), to, most);
    string(0, Some(&finding.code.to_string()))?;
    string(1, Some(finding.kind().name()))?;
    string(2, Some(&finding.message()))?;
    string(3, finding.input.as_deref())?;
    string(6, finding.pointer.as_deref())?;
    string(7, finding.resource.as_deref())?;
    string(8, finding.version.as_deref())?;
    string(9, Some(&finding.help()))?;
    for (at, value) in [(4, place.map(|place| place.line)), (5, place.map(|place| place.column))] {
        if let Some(builder) = to.field_builder::<Int32Builder>(at) {
            builder.append_option(number(value));
        }
    }
    to.append(true);
    Ok(())
}

fn append_output(made: &Made, to: &mut StructBuilder, most: usize) -> Result<(), TooLarge> {
    for (at, text) in [&made.resource, &made.version, made.shape, &made.text].into_iter().map(AsRef::as_ref).enumerate()
    {
        append_string(at, Some(text), to, most)?;
    }
    to.append(true);
    Ok(())
}
