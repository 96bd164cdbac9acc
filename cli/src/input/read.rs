//! The bytes of an input, within a limit.

use super::{Input, Source};
use crate::error::describe;
use crate::report;
use kubeshape_input::{Code, Finding, Limits, UnpackError, unpack};
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// The message before a terminal is read.
#[cfg(not(windows))]
const WAITING: &str = "reading from the terminal; name files or folders, or end the input with Ctrl-D";
#[cfg(windows)]
const WAITING: &str = "reading from the terminal; name files or folders, or end the input with Ctrl-Z";
/// With less room than this after the bytes read so far, the end of a file is detected by a separate read.
const PROBE: usize = 32;
/// The maximum size of a kept buffer, in bytes.
const KEPT: usize = 1 << 20;

/// Reads inputs one after the other and keeps its buffer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
}

impl Reader {
    /// Returns the bytes of an input, compressed or not.
    ///
    /// # Errors
    /// The input cannot be read, or it is larger than `limits.bytes`.
    pub(crate) fn read(&mut self, input: &Input, limits: &Limits) -> Result<&[u8], Box<Finding>> {
        self.load(input, limits)
            .map_err(|(code, detail)| Box::new(Finding::new(code, detail).in_input(input.name())))?;
        Ok(&self.bytes)
    }

    fn load(&mut self, input: &Input, limits: &Limits) -> Result<(), (Code, String)> {
        match &input.source {
            Source::Stdin => {
                self.bytes.clear();
                let input = io::stdin().lock();
                waits_for(&input);
                self.bounded(input, limits)
            }
            Source::Memory(_, bytes) => {
                self.bytes.clear();
                self.bounded(&bytes[..], limits)
            }
            // A pipe on the command line, such as `<(command)`, is waited for.
            Source::File(path) if input.named => {
                let file = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
                let (metadata, file) = file.map_err(|error| unreadable(&error))?;
                waits_for(&file);
                self.take(file, &metadata, limits)
            }
            Source::File(path) => match open_file(path).map_err(|error| unreadable(&error))? {
                Some((file, metadata)) => self.take(file, &metadata, limits),
                None => Err((Code::Unreadable, "it was a file when the folder was listed, and is none now".to_owned())),
            },
        }
    }

    /// Returns the bytes of a file, compressed or not; `None` if it is something else, such as a pipe. Does not wait
    /// for writers.
    ///
    /// # Errors
    /// The file cannot be read, or it is larger than `limits.bytes`.
    pub(crate) fn read_file(&mut self, path: &Path, limits: &Limits) -> Result<Option<&[u8]>, Box<Finding>> {
        let file = open_file(path).map_err(|error| unreadable(&error));
        let read = file.and_then(|file| file.map(|(file, metadata)| self.take(file, &metadata, limits)).transpose());
        let found = read.map_err(|(code, detail)| Box::new(Finding::new(code, detail)))?;
        Ok(found.map(|()| &*self.bytes))
    }

    /// Frees most of a large buffer, for long-lived readers.
    pub(crate) fn shrink(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }

    /// Returns the bytes of an input, decompressed.
    ///
    /// # Errors
    /// The input cannot be read or decompressed, or it is larger than the limit.
    pub(crate) fn read_plain(&mut self, input: &Input, limits: &Limits) -> Result<Vec<u8>, String> {
        self.load(input, limits).map_err(|(_, detail)| detail)?;
        let mut buffer = Vec::new();
        let plain = unpack(&input.name(), &self.bytes, *limits, &mut buffer);
        Ok(plain.map_err(|error| error.to_string())?.to_vec())
    }

    fn take(&mut self, file: File, metadata: &Metadata, limits: &Limits) -> Result<(), (Code, String)> {
        // A file whose size is known to exceed the limit is not read at all.
        if metadata.is_file() && metadata.len() > limits.bytes as u64 {
            return Err(too_large("it has", metadata.len(), limits));
        }
        self.bytes.clear();
        self.bytes.reserve(metadata.len() as usize + PROBE);
        self.bounded(file, limits)
    }

    /// Reads to the end, or to one byte more than the limit.
    fn bounded(&mut self, source: impl Read, limits: &Limits) -> Result<(), (Code, String)> {
        let read = source.take(limits.bytes as u64 + 1).read_to_end(&mut self.bytes);
        read.map_err(|error| (Code::Unreadable, describe(&error)))?;
        if self.bytes.len() > limits.bytes {
            return Err(too_large("it has more than", limits.bytes as u64, limits));
        }
        Ok(())
    }
}

/// Opens a file, and returns it with its metadata; `None` if it is something else. Opening a pipe would wait for its
/// writer, and a file may be replaced by one between a check and this.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open_file(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

/// Prints that a terminal is read, because the command would wait in silence.
fn waits_for(input: &impl IsTerminal) {
    if input.is_terminal() {
        report::say_aside(WAITING);
    }
}

fn unreadable(error: &io::Error) -> (Code, String) {
    (Code::Unreadable, describe(error))
}

fn too_large(what: &'static str, bytes: u64, limits: &Limits) -> (Code, String) {
    (Code::Limit, UnpackError::TooLarge { what, bytes, limit: limits.bytes }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_writer_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|made| made.success()));
        assert!(open_file(&pipe).expect("it is there").is_none());
        let file = folder.path().join("file");
        std::fs::write(&file, "kind: A").expect("written");
        let mut reader = Reader::default();
        assert_eq!(reader.read_file(&file, &Limits::default()).expect("a file"), Some(&b"kind: A"[..]));
        assert_eq!(reader.read_file(&pipe, &Limits::default()).expect("no file"), None);
        assert!(reader.read_file(&folder.path().join("none"), &Limits::default()).is_err());
        let found = Input { source: Source::File(pipe.clone()), canonical: pipe, named: false, in_chart: false };
        assert!(reader.read(&found, &Limits::default()).is_err());
        assert!(reader.read_plain(&found, &Limits::default()).is_err());
        reader.bytes.reserve(100 << 20);
        reader.shrink();
        assert!(reader.bytes.capacity() < 2 * KEPT);
    }

    #[test]
    fn at_most_the_limit_is_read() {
        let limits = Limits { bytes: 1000, ..Limits::default() };
        let mut reader = Reader::default();
        assert_eq!(reader.bounded(&[b' '; 1000][..], &limits), Ok(()));
        reader.bytes.clear();
        let (code, detail) = reader.bounded(io::repeat(b' '), &limits).expect_err("it has no end");
        assert_eq!((code, reader.bytes.len()), (Code::Limit, 1001));
        assert_eq!(detail, "it has more than 1000 bytes; the limit is 1000; split it into several files");
    }
}
