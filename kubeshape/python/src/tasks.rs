//! The tasks of `kubeshape stream`: an input in, an answer out.

use crate::answer;
use crate::source::{Source, on_large_stack};
use kubeshape_check::Releases;
use kubeshape_cli::rows::{Answer, Files, Row, Shapes, Task, Worker};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Inputs that a thread takes at once.
const PORTION: usize = 16;

/// Reads a word such as a release.
pub(crate) fn parse<T: std::str::FromStr>(text: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| PyValueError::new_err(error.to_string()))
}

/// Works on an input.
fn row(worker: &mut Worker<'_>, source: &Source, name: &str, text: &[u8], old: &[u8]) -> Answer {
    let mut answer = worker.answer(Row { name, text, old });
    source.correct(&mut answer.findings);
    answer
}

/// Works on an input. A file that cannot be read is an error.
pub(crate) fn one(task: &Task, source: &Source, py: Python<'_>) -> PyResult<Answer> {
    source.expect_fields()?;
    let made = py.detach(|| source.read(|name, text| row(&mut task.worker(), source, name, text, b"")));
    made.map_err(|found| answer::error(&found, py))
}

/// Works on inputs with several threads. A file that cannot be read has an answer, too.
pub(crate) fn many(task: &Task, sources: &[Source], threads: usize) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(sources.len()));
    let work = || {
        let (mut worker, mut files) = (task.worker(), Files::default());
        loop {
            let start = next.fetch_add(PORTION, Ordering::Relaxed);
            let Some(portion) = sources.get(start..sources.len().min(start + PORTION)).filter(|some| !some.is_empty())
            else {
                return;
            };
            let made: Vec<Answer> = portion
                .iter()
                .map(|source| {
                    let read = source.read_here(&mut files, |name, text| row(&mut worker, source, name, text, b""));
                    read.unwrap_or_else(|found| {
                        let mut answer = Answer::refused("", "");
                        answer.findings = found.0;
                        answer
                    })
                })
                .collect();
            all.lock().unwrap_or_else(PoisonError::into_inner).push((start, made));
        }
    };
    on_large_stack(|| {
        thread::scope(|scope| {
            for _ in 1..threads.min(sources.len().div_ceil(PORTION)) {
                // With fewer threads the others do the work.
                let _ = thread::Builder::new().stack_size(kubeshape_cli::rows::STACK).spawn_scoped(scope, work);
            }
            work();
        });
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(start, _)| *start);
    all.into_iter().flat_map(|(_, made)| made).collect()
}

/// Says on which releases definitions install.
#[pyfunction]
#[pyo3(signature = (source, *, kubernetes = None, advice = false, name = None))]
pub(crate) fn check<'py>(
    source: &Bound<'py, PyAny>,
    kubernetes: Option<&str>,
    advice: bool,
    name: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let releases: Releases = kubernetes.map(parse).transpose()?.unwrap_or_default();
    let answer = one(&Task::check(releases, advice), &Source::of(source, name)?, source.py())?;
    answer::result(&answer, source.py())
}

/// Converts definitions and documents.
#[pyfunction]
#[pyo3(signature = (source, to, *, name = None))]
pub(crate) fn convert<'py>(source: &Bound<'py, PyAny>, to: &str, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let shapes: Shapes = parse(to)?;
    let answer = one(&Task::convert(shapes), &Source::of(source, name)?, source.py())?;
    answer::result(&answer, source.py())
}

/// Compares definitions.
#[pyfunction]
#[pyo3(signature = (old, new, *, name = None))]
pub(crate) fn diff<'py>(
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    name: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, task) = (old.py(), Task::diff());
    let (was, is) = (Source::of(old, name)?, Source::of(new, name)?);
    let made = py.detach(|| {
        let work = |name: &str, text: &[u8]| was.read(|_, old| row(&mut task.worker(), &is, name, text, old));
        is.read(work).and_then(|made| made)
    });
    let made = made.map_err(|found| answer::error(&found, py))?;
    answer::result(&made, py)
}
