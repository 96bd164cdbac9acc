//! The report file: one line per finding and loss, in the order of the inputs, or a SARIF document of them.

use super::line::is_finding;
use super::sarif;
use crate::error::Fatal;
use crate::output::{Stage, Staged};
use kubeshape_schema::{Code, Level, Levels};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A report that is being written.
#[derive(Debug)]
pub(crate) struct Report {
    to: Target,
    /// Its length so far, in bytes.
    length: u64,
    /// Lines of CustomResourceDefinitions that were replaced by a later one. Their losses are left out.
    void: Vec<Range<u64>>,
    /// The levels of findings, if the report becomes a SARIF document.
    sarif: Option<Levels>,
}

#[derive(Debug)]
enum Target {
    File(BufWriter<File>, Staged),
    Stdout(BufWriter<io::Stdout>),
    /// Kept until the end, when it is known which lines go to standard output.
    Memory(Vec<u8>),
    /// Standard output, whose reader has seen enough.
    Closed,
}

/// An error of standard output, unless its reader closed it. The results go elsewhere, and are written all the same.
fn closed(error: io::Error) -> Result<(), Fatal> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(Fatal::Stdout(error)) }
}

impl Report {
    /// Begins a report; `-` is standard output. [`Report::void`] needs `revised`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn new(path: &Path, revised: bool, levels: &Levels, stage: &Stage) -> Result<Report, Fatal> {
        let is_sarif = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("sarif"));
        let to = if path.as_os_str() == "-" {
            if revised { Target::Memory(Vec::new()) } else { Target::Stdout(BufWriter::new(io::stdout())) }
        } else {
            let (file, staged) = stage.open(path.to_owned())?;
            Target::File(BufWriter::with_capacity(1 << 16, file), staged)
        };
        Ok(Report { to, length: 0, void: Vec::new(), sarif: is_sarif.then(|| levels.clone()) })
    }

    /// Appends lines, and returns their range.
    ///
    /// # Errors
    /// The file or standard output cannot be written.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<Range<u64>, Fatal> {
        match &mut self.to {
            Target::File(file, staged) => file.write_all(lines).map_err(|error| Fatal::write(&staged.target, error))?,
            Target::Stdout(out) => {
                if let Err(error) = out.write_all(lines) {
                    closed(error)?;
                    self.to = Target::Closed;
                }
            }
            Target::Closed => {}
            Target::Memory(text) => text.extend_from_slice(lines),
        }
        let start = self.length;
        self.length += lines.len() as u64;
        Ok(start..self.length)
    }

    /// Leaves out the losses in this range.
    pub(crate) fn void(&mut self, lines: Range<u64>) {
        self.void.push(lines);
    }

    /// Ends the report.
    ///
    /// # Errors
    /// The file or standard output cannot be written.
    pub(crate) fn finish(mut self, stage: &Stage) -> Result<(), Fatal> {
        self.void.sort_by_key(|range| range.start);
        match self.to {
            Target::Stdout(mut out) => out.flush().or_else(closed),
            Target::Closed => Ok(()),
            Target::Memory(text) => {
                let mut out = io::stdout().lock();
                copy(text.as_slice(), &self.void, &mut out).and_then(|()| out.flush()).or_else(closed)
            }
            Target::File(file, staged) => {
                let target: PathBuf = staged.target.clone();
                let failed = |error: io::Error| Fatal::write(&target, error);
                let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                if self.void.is_empty() && self.sarif.is_none() {
                    return stage.finish(staged);
                }
                file.rewind().map_err(failed)?;
                let (to, counted) = stage.open(target.clone())?;
                let mut to = BufWriter::new(to);
                let from = BufReader::new(file);
                match &self.sarif {
                    None => copy(from, &self.void, &mut to),
                    Some(levels) => {
                        let mut lines = Vec::new();
                        copy(from, &self.void, &mut lines).and_then(|()| write_sarif(&lines, levels, &mut to))
                    }
                }
                .and_then(|()| to.flush())
                .map_err(failed)?;
                stage.discard(staged);
                stage.finish(counted)
            }
        }
    }
}

/// Writes the SARIF document of these lines.
fn write_sarif(lines: &[u8], levels: &Levels, to: &mut impl Write) -> io::Result<()> {
    let lines = lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let result = |line: Value| {
        let code = line["code"].as_str().and_then(Code::parse);
        sarif::of_line(&line, code.map_or(Level::Note, |code| levels.of(code)))
    };
    serde_json::to_writer_pretty(&mut *to, &sarif::document(lines.map(result).collect()))?;
    to.write_all(b"\n")
}

/// Copies all lines except for losses in void ranges.
fn copy(mut from: impl BufRead, void: &[Range<u64>], to: &mut impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    let mut at = 0u64;
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let is_void =
            void.partition_point(|range| range.start <= at).checked_sub(1).is_some_and(|n| void[n].contains(&at));
        if !is_void || is_finding(&line) {
            to.write_all(&line)?;
        }
        at += line.len() as u64;
    }
}
