//! Parses `Range` like Go's `net/http` (`parseRange`).

use super::conditional::trimmed;

/// The maximum number of ranges in a request. With more, the whole content is sent.
pub const MOST: usize = 32;

/// A range of `length` bytes from `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first byte.
    pub start: usize,
    /// The number of bytes.
    pub length: usize,
}

/// The ranges cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// The header is malformed.
    Invalid,
    /// All ranges begin after the end.
    NoOverlap,
}

impl RangeError {
    /// Returns the text of the response.
    pub fn text(self) -> &'static str {
        match self {
            RangeError::Invalid => "invalid range\n",
            RangeError::NoOverlap => "invalid range: failed to overlap\n",
        }
    }
}

/// Parses the ranges of a content of `size` bytes. Returns none if the whole content is requested, or more than
/// [`MOST`] ranges.
///
/// # Errors
/// The header is malformed, or all ranges begin after the end.
///
/// ```
/// use kubeshape_server::http::range::{Range, parse};
///
/// assert_eq!(parse(b"bytes=0-1,-1", 10), Ok(vec![Range { start: 0, length: 2 }, Range { start: 9, length: 1 }]));
/// ```
pub fn parse(header: &[u8], size: usize) -> Result<Vec<Range>, RangeError> {
    if header.is_empty() {
        return Ok(Vec::new());
    }
    let list = header.strip_prefix(b"bytes=").ok_or(RangeError::Invalid)?;
    let wanted = || list.split(|b| *b == b',').map(trimmed).filter(|range| !range.is_empty());
    // Answering each costs more than requesting it. RFC 9110, 14.2 lets a server ignore them.
    if wanted().nth(MOST).is_some() {
        return Ok(Vec::new());
    }
    let mut ranges = Vec::new();
    let mut behind = false;
    for range in wanted() {
        let dash = range.iter().position(|b| *b == b'-').ok_or(RangeError::Invalid)?;
        let (start, end) = (trimmed(&range[..dash]), trimmed(&range[dash + 1..]));
        if start.is_empty() {
            let length = number(end).ok_or(RangeError::Invalid)?.min(size);
            ranges.push(Range { start: size - length, length });
            continue;
        }
        let start = number(start).ok_or(RangeError::Invalid)?;
        if start >= size {
            behind = true;
            continue;
        }
        let end = if end.is_empty() { size - 1 } else { number(end).ok_or(RangeError::Invalid)?.min(size - 1) };
        let length = (end + 1).checked_sub(start).filter(|length| *length > 0).ok_or(RangeError::Invalid)?;
        ranges.push(Range { start, length });
    }
    if ranges.is_empty() && behind && size > 0 {
        return Err(RangeError::NoOverlap);
    }
    if ranges.iter().map(|range| range.length).fold(0, usize::saturating_add) > size {
        ranges.clear();
    }
    Ok(ranges)
}

/// Parses a number like Go's `ParseInt`, but not a negative one.
fn number(text: &[u8]) -> Option<usize> {
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    if text.starts_with(b"-") { None } else { usize::try_from(number).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_as_in_go() {
        let range = |start, length| Range { start, length };
        for (header, expected) in [
            ("", Ok(vec![])),
            ("bytes=0-9", Ok(vec![range(0, 10)])),
            ("bytes=-10", Ok(vec![range(90, 10)])),
            ("bytes=-1000", Ok(vec![range(0, 100)])),
            ("bytes=0-4, 10-14", Ok(vec![range(0, 5), range(10, 5)])),
            ("bytes= 90 - , ,", Ok(vec![range(90, 10)])),
            ("bytes=95-1000", Ok(vec![range(95, 5)])),
            ("bytes=0-,0-", Ok(vec![])),
            ("bytes=100-", Err(RangeError::NoOverlap)),
            ("bytes=100-,0-0", Ok(vec![range(0, 1)])),
            ("items=0-1", Err(RangeError::Invalid)),
            ("bytes=5-4", Err(RangeError::Invalid)),
            ("bytes=--1", Err(RangeError::Invalid)),
            ("bytes=-", Err(RangeError::Invalid)),
            ("bytes=x-", Err(RangeError::Invalid)),
            ("bytes=5", Err(RangeError::Invalid)),
            ("bytes=99999999999999999999-", Err(RangeError::Invalid)),
        ] {
            assert_eq!(parse(header.as_bytes(), 100), expected, "{header}");
        }
        assert_eq!(parse(b"bytes=0-1", 0), Ok(vec![]));
    }

    #[test]
    fn too_many_ranges_are_ignored() {
        let header = |count| format!("bytes={}", "0-0,,".repeat(count));
        assert_eq!(parse(header(MOST).as_bytes(), 100).map(|ranges| ranges.len()), Ok(MOST));
        assert_eq!(parse(header(MOST + 1).as_bytes(), 100), Ok(vec![]));
    }
}
