//! The report file. It has one line per finding and loss, in the order of the inputs, or is a SARIF document of them.
//!
//! A regular file is replaced at the end. If the path is a link, the file that it points to is replaced. Standard
//! output, devices and pipes are written to directly. If no line can be left out later, lines are written at once.

use super::line::is_finding;
use super::sarif;
use crate::args::OutputFormat;
use crate::error::Fatal;
use crate::output::{Named, Stage, Staged, named, open_other};
use kubeshape_schema::{Code, Level, Levels};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A report that is currently written.
#[derive(Debug)]
pub(crate) struct Report {
    to: Target,
    /// Its length so far, in bytes.
    length: u64,
    /// Lines of CustomResourceDefinitions that a later one replaced. Their losses are left out.
    void: Vec<Range<u64>>,
    /// The levels of findings, if the report becomes a SARIF document.
    sarif: Option<Levels>,
}

#[derive(Debug)]
enum Target {
    File(BufWriter<File>, Staged),
    Stream(BufWriter<Stream>),
    /// Kept until the end, when it is known which lines are valid.
    Memory(Vec<u8>, Stream),
    /// A stream whose reader closed it.
    Closed,
}

/// The stream that lines are written to as they come.
#[derive(Debug)]
enum Stream {
    Stdout(io::Stdout),
    Other(File, PathBuf),
}

impl Stream {
    /// Returns an error of writing, unless the reader closed the stream. The results go elsewhere, so they are written
    /// in any case.
    fn failed(&self, error: io::Error) -> Result<(), Fatal> {
        match self {
            _ if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Stream::Stdout(_) => Err(Fatal::Stdout(error)),
            Stream::Other(_, path) => Err(Fatal::write(path, error)),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Stdout(to) => to.write(bytes),
            Stream::Other(to, _) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Stdout(to) => to.flush(),
            Stream::Other(to, _) => to.flush(),
        }
    }
}

impl Report {
    /// Returns whether this file is used for reports in this format.
    pub(crate) fn writes(format: OutputFormat) -> bool {
        matches!(format, OutputFormat::Json | OutputFormat::Sarif)
    }

    /// Begins a report; `-` is standard output. [`Report::void`] needs `revised`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn new(
        path: &Path,
        format: OutputFormat,
        revised: bool,
        levels: &Levels,
        stage: &Stage,
    ) -> Result<Report, Fatal> {
        let is_sarif = format == OutputFormat::Sarif;
        let failed = |error| Fatal::write(path, error);
        let stream = if path.as_os_str() == "-" {
            Ok(Stream::Stdout(io::stdout()))
        } else {
            match named(path).map_err(failed)? {
                Named::File(target) => Err(target),
                Named::Other => Ok(Stream::Other(open_other(path).map_err(failed)?, path.to_owned())),
            }
        };
        let to = match stream {
            Ok(stream) if revised || is_sarif => Target::Memory(Vec::new(), stream),
            Ok(stream) => Target::Stream(BufWriter::new(stream)),
            Err(target) => {
                let (file, staged) = stage.open(target)?;
                Target::File(BufWriter::with_capacity(1 << 16, file), staged)
            }
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
            Target::Stream(out) => {
                if let Err(error) = out.write_all(lines) {
                    out.get_ref().failed(error)?;
                    self.to = Target::Closed;
                }
            }
            Target::Closed => {}
            Target::Memory(text, _) => text.extend_from_slice(lines),
        }
        let start = self.length;
        self.length += lines.len() as u64;
        Ok(start..self.length)
    }

    /// Leaves out the losses in this range of lines.
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
            Target::Stream(mut out) => out.flush().or_else(|error| out.get_ref().failed(error)),
            Target::Closed => Ok(()),
            Target::Memory(text, stream) => {
                let mut out = BufWriter::new(stream);
                let written = write(text.as_slice(), &self.void, self.sarif.as_ref(), &mut out);
                written.and_then(|()| out.flush()).or_else(|error| out.get_ref().failed(error))
            }
            Target::File(file, staged) => {
                let target: PathBuf = staged.target.clone();
                let failed = |error: io::Error| Fatal::write(&target, error);
                let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                if self.void.is_empty() && self.sarif.is_none() {
                    stage.sync(&file).map_err(failed)?;
                    return stage.finish(staged);
                }
                file.rewind().map_err(failed)?;
                let (to, counted) = stage.open(target.clone())?;
                let mut to = BufWriter::new(to);
                write(BufReader::new(file), &self.void, self.sarif.as_ref(), &mut to)
                    .and_then(|()| to.flush())
                    .and_then(|()| stage.sync(to.get_ref()))
                    .map_err(failed)?;
                stage.discard(staged);
                stage.finish(counted)
            }
        }
    }
}

/// Writes the valid lines, or the SARIF document of them.
fn write(from: impl BufRead, void: &[Range<u64>], sarif: Option<&Levels>, to: &mut impl Write) -> io::Result<()> {
    let Some(levels) = sarif else { return copy(from, void, to) };
    let mut lines = Vec::new();
    copy(from, void, &mut lines)?;
    write_sarif(&lines, levels, to)
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

/// Copies all lines, except for losses in void ranges.
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
