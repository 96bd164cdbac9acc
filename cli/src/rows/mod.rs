//! Runs the work of commands on texts in memory, one row at a time, for `kubeshape stream` and for other programs.
//!
//! A [`Task`] is prepared once and shared by threads. Each thread has its own [`Worker`]. A row never fails: errors are
//! part of its [`Answer`].
//!
//! # Example: two objects
//! ```
//! use kubeshape_cli::rows::{Row, Task, ValidateOptions};
//!
//! let mut options = ValidateOptions::default();
//! options.kubernetes = Some("1.37".parse()?);
//! let task = Task::validate(&options)?;
//! let mut worker = task.worker();
//! let good = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
//! assert_eq!(worker.answer(Row::new("a.yaml", good)).verdict, "accepted");
//! let answer = worker.answer(Row::new("b.yaml", b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}"));
//! assert_eq!((answer.verdict, answer.findings[0].code.to_string().as_str()), ("refused", "KS8102"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod convert;
pub(crate) mod json;
pub(crate) mod row;

use crate::validate::texts;
use crate::{check, diff};
use kubeshape::Findings;
use kubeshape_check::Releases;
use kubeshape_input::{Code, Finding};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use crate::args::{FieldValidation, MissingSchemas};
pub use convert::{SHAPES, Shapes};
pub use row::{Answer, Made, Row};
pub(crate) use row::{fatal, shared};
pub use texts::ValidateOptions;

/// The stack size that a thread needs for any row. Limits on depth bound the recursion.
pub const STACK: usize = crate::convert::STACK;

/// What is done with every row.
#[derive(Debug)]
pub struct Task {
    work: Work,
}

#[derive(Debug)]
enum Work {
    Validate(Box<texts::Texts>),
    Check(Box<check::Context>),
    Convert(Shapes),
    Diff,
}

impl Task {
    /// Validates objects as an API server does: `kubeshape validate`. Verdicts are `accepted`, `refused`, and `not
    /// judged` for kinds that are not known and for CustomResourceDefinitions.
    ///
    /// # Errors
    /// A schema cannot be read, or defines nothing.
    pub fn validate(options: &ValidateOptions) -> Result<Task, Findings> {
        Ok(Task { work: Work::Validate(Box::new(texts::Texts::new(options)?)) })
    }

    /// Reports on which releases CustomResourceDefinitions install: `kubeshape check`. Verdicts are `accepted`,
    /// `refused`, and `nothing` if the row has no definition. With `advice`, findings include what can cause trouble
    /// later.
    pub fn check(releases: Releases, advice: bool) -> Task {
        Task { work: Work::Check(Box::new(check::Context::of_rows(releases, advice))) }
    }

    /// Converts CustomResourceDefinitions and OpenAPI documents. Verdicts are `converted`, `refused`, and `nothing` if
    /// the row has nothing to convert.
    pub fn convert(shapes: Shapes) -> Task {
        Task { work: Work::Convert(shapes) }
    }

    /// Compares the definitions in [`Row::old`] with those in the text: `kubeshape diff`. The verdict is the worst
    /// class of all changes (`breaking`, `risky`, `compatible`, `cosmetic`), `same`, or `refused` if a text cannot be
    /// read.
    pub fn diff() -> Task {
        Task { work: Work::Diff }
    }

    /// Creates a worker for one thread. The stack of the thread must have [`STACK`] bytes, unless all rows are known to
    /// be flat.
    pub fn worker(&self) -> Worker<'_> {
        let work = match &self.work {
            Work::Validate(texts) => Working::Validate(Box::new(texts.worker())),
            Work::Check(context) => Working::Check(Box::new(check::Worker::new(context))),
            Work::Convert(shapes) => Working::Convert(*shapes),
            Work::Diff => Working::Diff,
        };
        Worker { task: self, work }
    }
}

/// Works on rows one at a time, and reuses its buffers.
pub struct Worker<'t> {
    task: &'t Task,
    work: Working<'t>,
}

enum Working<'t> {
    Validate(Box<texts::Worker<'t, 'static>>),
    Check(Box<check::Worker<'t>>),
    Convert(Shapes),
    Diff,
}

impl Worker<'_> {
    /// Works on a row.
    pub fn answer(&mut self, row: Row<'_>) -> Answer {
        let name = row.name;
        let answered = catch_unwind(AssertUnwindSafe(|| match &mut self.work {
            Working::Validate(worker) => texts::answer(worker, row),
            Working::Check(worker) => check::answer(worker, row),
            Working::Convert(shapes) => convert::answer(*shapes, row),
            Working::Diff => diff::answer(row),
        }));
        // After a panic, the state of a worker is unknown.
        answered.unwrap_or_else(|_| {
            self.work = self.task.worker().work;
            Answer::refused("internal error while working on the row; please report it with the row", name)
        })
    }
}

/// Reads files one after the other, and keeps its buffer.
#[derive(Default)]
pub struct Files {
    reader: crate::input::Reader,
}

impl Files {
    /// Reads a file, compressed or not. It has this name in the finding.
    ///
    /// # Errors
    /// It cannot be read, is no file, or is larger than inputs may be.
    pub fn read(&mut self, path: &Path, name: &str) -> Result<&[u8], Findings> {
        match self.reader.read_file(path, &kubeshape_input::Limits::default()) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(Finding::new(Code::Unreadable, "it is not a file").in_input(name).into()),
            Err(finding) => Err(finding.in_input(name).into()),
        }
    }
}

/// Reads the files and folders at these paths as commands do. Returns the files with their names.
///
/// # Errors
/// Something cannot be read.
pub fn read_files(paths: &[PathBuf]) -> Result<Vec<(String, Vec<u8>)>, Findings> {
    let filter = crate::input::Filter::new(&crate::args::WalkArgs::default()).map_err(|error| fatal(&error))?;
    let gathered = crate::input::gather(paths, None, &filter);
    let mut findings = Vec::new();
    gathered.tell(|finding| findings.push(finding.clone()));
    let mut reader = crate::input::Reader::default();
    let mut out = Vec::new();
    for input in &gathered.inputs {
        match reader.read(input, &kubeshape_input::Limits::default()) {
            Ok(bytes) => out.push((input.name(), bytes.to_vec())),
            Err(finding) => findings.push(*finding),
        }
    }
    if findings.iter().any(Finding::is_error) { Err(Findings(findings)) } else { Ok(out) }
}
