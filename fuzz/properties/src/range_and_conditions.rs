//! Ranges and conditions of requests have the results of a simple model. Whatever the headers are, ranges are within
//! the content, and together they are at most as long.

use kubeshape_server::http::conditional::{Conditions, Outcome, Validators, evaluate};
use kubeshape_server::http::range::{MOST, Range, RangeError, parse};
use arbitrary::Arbitrary;
use std::time::{Duration, SystemTime};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Wanted {
    Between(u16, u16),
    From(u16),
    Last(u16),
    Nothing,
}

impl Wanted {
    fn text(self) -> String {
        match self {
            Wanted::Between(start, end) => format!(" {start} - {end} "),
            Wanted::From(start) => format!("{start}-"),
            Wanted::Last(length) => format!("-{length}"),
            Wanted::Nothing => " ".to_owned(),
        }
    }
}

/// Returns the result of Go's `parseRange`, with the limit on the number of ranges.
fn model(wanted: &[Wanted], size: usize) -> Result<Vec<Range>, RangeError> {
    let wanted: Vec<&Wanted> = wanted.iter().filter(|wanted| !matches!(wanted, Wanted::Nothing)).collect();
    if wanted.len() > MOST {
        return Ok(Vec::new());
    }
    let (mut ranges, mut behind) = (Vec::new(), false);
    for wanted in wanted {
        let (start, end) = match *wanted {
            Wanted::Between(start, end) => (usize::from(start), usize::from(end) + 1),
            Wanted::From(start) => (usize::from(start), size),
            Wanted::Last(length) => (size - size.min(usize::from(length)), size),
            Wanted::Nothing => continue,
        };
        if start >= size && !matches!(wanted, Wanted::Last(_)) {
            behind = true;
        } else if start >= end && !matches!(wanted, Wanted::Last(_)) {
            return Err(RangeError::Invalid);
        } else {
            ranges.push(Range { start, length: end.min(size) - start });
        }
    }
    if ranges.is_empty() && behind && size > 0 {
        return Err(RangeError::NoOverlap);
    }
    let sum: usize = ranges.iter().map(|range| range.length).sum();
    Ok(if sum > size { Vec::new() } else { ranges })
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Tag {
    weak: bool,
    name: bool,
}

impl Tag {
    fn text(self) -> String {
        format!("{}\"{}\"", if self.weak { "W/" } else { "" }, u8::from(self.name))
    }
}

#[derive(Arbitrary, Debug)]
enum Tags {
    Missing,
    Any,
    List(Vec<Tag>),
}

impl Tags {
    fn text(&self) -> String {
        match self {
            Tags::Missing => String::new(),
            Tags::Any => "*".to_owned(),
            Tags::List(tags) if tags.is_empty() => ",".to_owned(),
            Tags::List(tags) => tags.iter().map(|tag| tag.text()).collect::<Vec<_>>().join(" , "),
        }
    }

    fn match_(&self, is_same: impl Fn(&Tag) -> bool) -> Option<bool> {
        match self {
            Tags::Missing => None,
            Tags::Any => Some(true),
            Tags::List(tags) => Some(tags.iter().any(is_same)),
        }
    }
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    size: u16,
    wanted: Vec<Wanted>,
    raw: &'a [u8],
    reads: bool,
    if_match: Tags,
    if_none_match: Tags,
    if_range: Option<Tag>,
    now: Tag,
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(input) = crate::input::<Input<'_>>(data) else { return };
    let size = usize::from(input.size);
    let texts: Vec<String> = input.wanted.iter().map(|wanted| wanted.text()).collect();
    let header = format!("bytes={}", texts.join(","));
    assert_eq!(parse(header.as_bytes(), size), model(&input.wanted, size), "{header} of {size}");
    for header in [input.raw.to_vec(), [b"bytes=", input.raw].concat()] {
        if let Ok(ranges) = parse(&header, size) {
            assert!(ranges.len() <= MOST);
            assert!(ranges.iter().all(|range| range.start + range.length <= size));
            assert!(ranges.iter().map(|range| range.length).sum::<usize>() <= size);
        }
    }

    let (if_match, if_none_match) = (input.if_match.text(), input.if_none_match.text());
    let (if_range, now) = (input.if_range.map(Tag::text).unwrap_or_default(), input.now.text());
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let conditions = Conditions {
        reads: input.reads,
        if_match: if_match.as_bytes(),
        if_none_match: if_none_match.as_bytes(),
        range: b"bytes=0-1",
        if_range: if_range.as_bytes(),
        ..Conditions::default()
    };
    let strong = |tag: &Tag| !tag.weak && !input.now.weak && tag.name == input.now.name;
    let weak = |tag: &Tag| tag.name == input.now.name;
    let expected = if input.if_match.match_(strong) == Some(false) {
        Outcome::PreconditionFailed
    } else if input.if_none_match.match_(weak) == Some(true) {
        if input.reads { Outcome::NotModified } else { Outcome::PreconditionFailed }
    } else if input.reads && input.if_range.is_some_and(|tag| !strong(&tag)) {
        Outcome::Send(b"")
    } else {
        Outcome::Send(b"bytes=0-1")
    };
    let validators = Validators { etag: now.as_bytes(), modified };
    assert_eq!(evaluate(&conditions, &validators), expected, "{conditions:?} {validators:?}");
    let raw = Conditions {
        reads: true,
        if_match: input.raw,
        if_unmodified_since: input.raw,
        if_none_match: input.raw,
        if_modified_since: input.raw,
        range: input.raw,
        if_range: input.raw,
    };
    let _ = evaluate(&raw, &validators);
}
