//! Conditional requests, like in Go's `net/http.ServeContent` (`checkPreconditions`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The conditions of a request. A missing header is the same as an empty one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'h> {
    /// Whether the method is GET or HEAD.
    pub reads: bool,
    /// `If-Match`
    pub if_match: &'h [u8],
    /// `If-Unmodified-Since`
    pub if_unmodified_since: &'h [u8],
    /// `If-None-Match`
    pub if_none_match: &'h [u8],
    /// `If-Modified-Since`
    pub if_modified_since: &'h [u8],
    /// `Range`
    pub range: &'h [u8],
    /// `If-Range`
    pub if_range: &'h [u8],
}

/// The validators of the current content.
#[derive(Clone, Copy, Debug)]
pub struct Validators<'v> {
    /// The entity tag with its quotation marks; empty if there is none.
    pub etag: &'v [u8],
    /// The time of the last change.
    pub modified: SystemTime,
}

/// How to respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'h> {
    /// Send the content, or these ranges of it if there are any.
    Send(&'h [u8]),
    /// 304
    NotModified,
    /// 412
    PreconditionFailed,
}

/// Evaluates the conditions of a request.
///
/// ```
/// use kubeshape_server::http::conditional::{Conditions, Outcome, Validators, evaluate};
/// use std::time::SystemTime;
///
/// let now = Validators { etag: b"\"A\"", modified: SystemTime::UNIX_EPOCH };
/// let request = Conditions { reads: true, if_none_match: b"\"B\", W/\"A\"", ..Conditions::default() };
/// assert_eq!(evaluate(&request, &now), Outcome::NotModified);
/// ```
pub fn evaluate<'h>(conditions: &Conditions<'h>, now: &Validators<'_>) -> Outcome<'h> {
    let met = matches(conditions.if_match, now.etag, strong)
        .or_else(|| date(conditions.if_unmodified_since).map(|since| seconds(now.modified) <= seconds(since)));
    if met == Some(false) {
        return Outcome::PreconditionFailed;
    }
    let known = matches(conditions.if_none_match, now.etag, weak);
    if known == Some(true) {
        return if conditions.reads { Outcome::NotModified } else { Outcome::PreconditionFailed };
    }
    let since = date(conditions.if_modified_since).filter(|_| known.is_none() && conditions.reads);
    if since.is_some_and(|since| seconds(now.modified) <= seconds(since)) {
        return Outcome::NotModified;
    }
    if !conditions.range.is_empty() && conditions.reads && !conditions.if_range.is_empty() {
        let current = match tag(trimmed(conditions.if_range)) {
            Some((etag, _)) => strong(etag, now.etag),
            None => date(conditions.if_range).is_some_and(|date| seconds(date) == seconds(now.modified)),
        };
        if !current {
            return Outcome::Send(b"");
        }
    }
    Outcome::Send(conditions.range)
}

/// Returns whether a list contains the current tag; `None` if there is no list. Parsing ends at the first error.
fn matches(mut list: &[u8], now: &[u8], same: fn(&[u8], &[u8]) -> bool) -> Option<bool> {
    if list.is_empty() {
        return None;
    }
    loop {
        list = trimmed(list);
        match list.first() {
            None => return Some(false),
            Some(b',') => list = &list[1..],
            Some(b'*') => return Some(true),
            Some(_) => match tag(list) {
                Some((etag, _)) if same(etag, now) => return Some(true),
                Some((_, rest)) => list = rest,
                None => return Some(false),
            },
        }
    }
}

/// Returns the entity tag at the beginning, and the rest.
fn tag(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = if text.starts_with(b"W/") { 2 } else { 0 };
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let inside = &text[start + 1..];
    let length = inside.iter().position(|b| !matches!(b, 0x21 | 0x23..=0x7e | 0x80..))?;
    (inside[length] == b'"').then(|| text.split_at(start + length + 2))
}

fn strong(theirs: &[u8], now: &[u8]) -> bool {
    theirs == now && theirs.starts_with(b"\"")
}

fn weak(theirs: &[u8], now: &[u8]) -> bool {
    theirs.strip_prefix(b"W/").unwrap_or(theirs) == now.strip_prefix(b"W/").unwrap_or(now)
}

/// Trims white space, like Go's `textproto.TrimString`.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let is_space = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let start = text.iter().position(|b| !is_space(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !is_space(b)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Parses a date in one of the three formats of HTTP.
fn date(text: &[u8]) -> Option<SystemTime> {
    if text.is_empty() {
        return None;
    }
    httpdate::parse_http_date(std::str::from_utf8(text).ok()?).ok()
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[u8] = b"Mon, 01 Jan 2001 00:00:00 GMT";

    fn outcome(change: impl FnOnce(&mut Conditions<'static>)) -> Outcome<'static> {
        let mut conditions = Conditions { reads: true, ..Conditions::default() };
        change(&mut conditions);
        let modified = UNIX_EPOCH + Duration::from_millis(1_700_000_000_900);
        evaluate(&conditions, &Validators { etag: b"\"AB\"", modified })
    }

    #[test]
    fn tags_are_compared_as_in_go() {
        for (list, expected) in [
            (&b"\"AB\""[..], Outcome::NotModified),
            (b"W/\"AB\"", Outcome::NotModified),
            (b"\"nope\" , \"AB\"", Outcome::NotModified),
            (b"*", Outcome::NotModified),
            (b"AB", Outcome::Send(b"")),
            (b"\"ab\"", Outcome::Send(b"")),
            (b"AB, \"AB\"", Outcome::Send(b"")),
            (b"\"A B\", \"AB\"", Outcome::Send(b"")),
            (b",,\"AB\"", Outcome::NotModified),
            (b"\"AB", Outcome::Send(b"")),
            (b"W/", Outcome::Send(b"")),
        ] {
            assert_eq!(outcome(|c| c.if_none_match = list), expected, "{}", String::from_utf8_lossy(list));
        }
        assert_eq!(outcome(|c| c.if_match = b"\"AB\""), Outcome::Send(b""));
        assert_eq!(outcome(|c| c.if_match = b"W/\"AB\""), Outcome::PreconditionFailed);
        assert_eq!(outcome(|c| c.if_match = b"\"nope\""), Outcome::PreconditionFailed);
        assert_eq!(outcome(|c| (c.reads, c.if_none_match) = (false, b"*")), Outcome::PreconditionFailed);
    }

    #[test]
    fn dates_are_used_only_without_tags() {
        const SAME: &[u8] = b"Tue, 14 Nov 2023 22:13:20 GMT";
        assert_eq!(outcome(|c| c.if_modified_since = SAME), Outcome::NotModified);
        assert_eq!(outcome(|c| c.if_modified_since = OLD), Outcome::Send(b""));
        assert_eq!(outcome(|c| c.if_modified_since = b"yesterday"), Outcome::Send(b""));
        assert_eq!(outcome(|c| c.if_unmodified_since = OLD), Outcome::PreconditionFailed);
        assert_eq!(outcome(|c| (c.if_match, c.if_unmodified_since) = (b"*", OLD)), Outcome::Send(b""));
        assert_eq!(outcome(|c| (c.if_none_match, c.if_modified_since) = (b"\"x\"", SAME)), Outcome::Send(b""));
    }

    #[test]
    fn ranges_of_another_version_are_not_sent() {
        assert_eq!(outcome(|c| (c.range, c.if_range) = (b"bytes=0-1", b"\"AB\"")), Outcome::Send(b"bytes=0-1"));
        assert_eq!(outcome(|c| (c.range, c.if_range) = (b"bytes=0-1", b"W/\"AB\"")), Outcome::Send(b""));
        assert_eq!(outcome(|c| (c.range, c.if_range) = (b"bytes=0-1", OLD)), Outcome::Send(b""));
        assert_eq!(
            outcome(|c| (c.range, c.if_range) = (b"bytes=0-1", b"Tue, 14 Nov 2023 22:13:20 GMT")),
            Outcome::Send(b"bytes=0-1")
        );
    }
}
