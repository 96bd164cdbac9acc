//! The bytes of an input, bounded.

use super::{Input, Source};
use crate::error::describe;
use kubeshape_input::{Code, Finding, Limits, UnpackError, unpack};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads inputs one after the other and keeps its buffer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
}

impl Reader {
    /// The bytes of an input, compressed or not.
    ///
    /// # Errors
    /// The input cannot be read, or it is larger than `limits.bytes`.
    pub(crate) fn read(&mut self, input: &Input, limits: &Limits) -> Result<&[u8], Box<Finding>> {
        match &input.source {
            Source::Stdin => {
                self.bytes.clear();
                self.bounded(io::stdin().lock(), limits)
            }
            Source::File(path) => self.open(path, limits),
        }
        .map_err(|(code, detail)| Box::new(Finding::new(code, detail).in_input(input.name())))?;
        Ok(&self.bytes)
    }

    /// The bytes of a file, uncompressed.
    ///
    /// # Errors
    /// The file cannot be read or uncompressed, or it is larger than the limit.
    pub(crate) fn read_plain(&mut self, path: &Path, limits: &Limits) -> Result<Vec<u8>, String> {
        self.open(path, limits).map_err(|(_, detail)| detail)?;
        let mut buffer = Vec::new();
        let plain = unpack(&path.to_string_lossy(), &self.bytes, *limits, &mut buffer);
        Ok(plain.map_err(|error| error.to_string())?.to_vec())
    }

    fn open(&mut self, path: &Path, limits: &Limits) -> Result<(), (Code, String)> {
        let unreadable = |error: io::Error| (Code::Unreadable, describe(&error));
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        // A file whose size is known to be too large is not read at all.
        if metadata.is_file() && metadata.len() > limits.bytes as u64 {
            return Err(too_large("it has", metadata.len(), limits));
        }
        self.bytes.clear();
        self.bytes.reserve(metadata.len() as usize + 1);
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

fn too_large(what: &'static str, bytes: u64, limits: &Limits) -> (Code, String) {
    (Code::Limit, UnpackError::TooLarge { what, bytes, limit: limits.bytes }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit_allows() {
        let limits = Limits { bytes: 1000, ..Limits::default() };
        let mut reader = Reader::default();
        assert_eq!(reader.bounded(&[b' '; 1000][..], &limits), Ok(()));
        reader.bytes.clear();
        let (code, detail) = reader.bounded(io::repeat(b' '), &limits).expect_err("it has no end");
        assert_eq!((code, reader.bytes.len()), (Code::Limit, 1001));
        assert_eq!(detail, "it has more than 1000 bytes; the limit is 1000; split it into several files");
    }
}
