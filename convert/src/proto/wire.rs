//! The wire format of protobuf, as far as documents need it.

use kubeshape_yaml::go::varint;
use std::fmt;

/// The maximum nesting of messages, as in prost and in Go's protobuf.
pub(super) const MAX_DEPTH: usize = 100;

/// The value of a field, of a type that documents have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    /// A string or a message.
    Bytes(&'a [u8]),
    /// A type that no field of a document has. Its content is skipped.
    Other,
}

/// Why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The path of the field from the document, such as `Document.info.title`.
    path: String,
    /// The number of the field whose value cannot be read.
    pub(super) number: Option<u32>,
    problem: &'static str,
}

impl WireError {
    pub(super) fn new(problem: &'static str) -> Self {
        WireError { path: String::new(), number: None, problem }
    }

    /// Returns the error for a field with this name.
    pub(super) fn below(mut self, name: &str) -> Self {
        self.path = if self.path.is_empty() { name.to_owned() } else { format!("{name}.{}", self.path) };
        self
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the protobuf form of a document: {}: {}", self.path, self.problem)
    }
}

impl std::error::Error for WireError {}

/// The fields of a message, in the order of the bytes.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Fields { rest: message }
    }

    fn field(&mut self) -> Result<(u32, Wire<'a>), WireError> {
        let (number, kind) = self.key()?;
        match self.value(number, kind) {
            Ok(value) => Ok((number, value)),
            Err(error) => Err(WireError { number: Some(number), ..error }),
        }
    }

    fn value(&mut self, number: u32, kind: u64) -> Result<Wire<'a>, WireError> {
        Ok(match kind {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                let (bytes, rest) =
                    self.rest.split_at_checked(length).ok_or(WireError::new("the message ends early"))?;
                self.rest = rest;
                Wire::Bytes(bytes)
            }
            3 => {
                self.skip_group(number)?;
                Wire::Other
            }
            4 => return Err(WireError::new("found the end of a group that did not start")),
            5 => {
                self.array::<4>()?;
                Wire::Other
            }
            _ => return Err(WireError::new("unknown wire type")),
        })
    }

    /// Skips the fields up to the end of a group, and the groups in it.
    fn skip_group(&mut self, number: u32) -> Result<(), WireError> {
        let mut open = vec![number];
        while let Some(innermost) = open.last() {
            match self.key()? {
                (_, 0) => _ = self.varint()?,
                (_, 1) => _ = self.array::<8>()?,
                (_, 2) => {
                    let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                    self.rest = self.rest.get(length..).ok_or(WireError::new("the message ends early"))?;
                }
                (_, 3) if open.len() == MAX_DEPTH => return Err(WireError::new("nested too deep")),
                (inner, 3) => open.push(inner),
                (end, 4) if end == *innermost => _ = open.pop(),
                (_, 4) => return Err(WireError::new("found the end of another group")),
                (_, 5) => _ = self.array::<4>()?,
                _ => return Err(WireError::new("unknown wire type")),
            }
        }
        Ok(())
    }

    fn key(&mut self) -> Result<(u32, u64), WireError> {
        let key = u32::try_from(self.varint()?).map_err(|_| WireError::new("the key of a field is too large"))?;
        if key >> 3 == 0 {
            return Err(WireError::new("fields have no number 0"));
        }
        Ok((key >> 3, u64::from(key & 7)))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(WireError::new("the message ends early"))?;
        self.rest = rest;
        Ok(*array)
    }

    fn varint(&mut self) -> Result<u64, WireError> {
        let error = "an integer is longer than 64 bits, or ends early";
        varint::read(&mut self.rest).ok_or(WireError::new(error))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.field())
    }
}
