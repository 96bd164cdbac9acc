//! The expression as a whole: groups, alternatives, repetition.

use super::class;
use super::escape::escape;
use super::limits::{Group, MAX_REPEAT, Part};
use super::{Mistake, RegexErrorKind};

/// The largest count of a repetition.
const MAX_COUNT: u32 = 1000;

/// An open group, or the whole expression.
struct Frame {
    capture: bool,
    alternatives: Group,
    sequence: Group,
    /// The last part of the sequence, which an operator may still repeat.
    top: Option<Part>,
}

impl Frame {
    const fn new(capture: bool) -> Frame {
        Frame { capture, alternatives: Group::ALTERNATIVES, sequence: Group::SEQUENCE, top: None }
    }

    #[inline]
    fn push(&mut self, part: Part) {
        if let Some(top) = self.top.replace(part) {
            self.sequence.add(top);
        }
    }

    /// Ends an alternative.
    fn bar(&mut self) -> Result<(), RegexErrorKind> {
        if let Some(top) = self.top.take() {
            self.sequence.add(top);
        }
        let sequence = std::mem::replace(&mut self.sequence, Group::SEQUENCE);
        self.alternatives.add(sequence.finish().check()?);
        Ok(())
    }

    /// Ends the group.
    fn close(mut self) -> Result<Part, RegexErrorKind> {
        self.bar()?;
        let part = self.alternatives.finish().check()?;
        if self.capture { part.captured().check() } else { Ok(part) }
    }
}

pub(super) fn check(pattern: &str) -> Result<(), Mistake<'_>> {
    let whole = |kind| (kind, pattern);
    // The groups around the innermost one.
    let mut outer: Vec<Frame> = Vec::new();
    let mut frame = Frame::new(false);
    let mut at = pattern;
    // The start of the repetition operator that was just read: two in a row are refused.
    let mut last_repeat: Option<&str> = None;
    while let Some(byte) = at.bytes().next() {
        let mut repeat = None;
        match byte {
            b'(' => {
                let group = if at.starts_with("(?") { perl_group(at)? } else { (Some(true), &at[1..]) };
                at = group.1;
                // Setting flags, as in `(?i)`, does not change the checks.
                if let Some(capture) = group.0 {
                    outer.push(std::mem::replace(&mut frame, Frame::new(capture)));
                }
            }
            b'|' => {
                frame.bar().map_err(whole)?;
                at = &at[1..];
            }
            b')' => {
                let part = std::mem::replace(&mut frame, Frame::new(false)).close().map_err(whole)?;
                frame = outer.pop().ok_or_else(|| whole(RegexErrorKind::UnexpectedParen))?;
                frame.push(part);
                at = &at[1..];
            }
            b'*' | b'+' | b'?' => {
                repeat = Some(at);
                let operator = char::from(byte);
                at = repeated(&mut frame, at, &at[1..], last_repeat, |part| part.starred(operator), pattern)?;
            }
            b'{' => match counts(at) {
                None => {
                    frame.push(Part::LITERAL);
                    at = &at[1..];
                }
                Some((counts, rest)) => {
                    repeat = Some(at);
                    let refused = |rest: &str| (RegexErrorKind::RepeatSize, &at[..at.len() - rest.len()]);
                    let (min, max) = counts.ok_or_else(|| refused(rest))?;
                    at = repeated(&mut frame, at, rest, last_repeat, |part| part.repeated(min, max), pattern)?;
                }
            },
            b'[' => {
                at = class::bracket(at)?;
                frame.push(Part::SINGLE);
            }
            b'\\' => at = backslash(&mut frame, at)?,
            b'^' | b'$' | b'.' => {
                frame.push(Part::SINGLE);
                at = &at[1..];
            }
            _ => {
                frame.push(Part::LITERAL);
                let mut chars = at.chars();
                chars.next();
                at = chars.as_str();
            }
        }
        last_repeat = repeat;
    }
    frame.close().map_err(whole)?;
    if outer.is_empty() { Ok(()) } else { Err(whole(RegexErrorKind::MissingParen)) }
}

/// Repeats the last part of the sequence. `operator` is the string from the operator on, and `rest` the string after
/// it. Returns the rest after a `?` that makes the operator lazy.
fn repeated<'p>(
    frame: &mut Frame,
    operator: &'p str,
    rest: &'p str,
    last_repeat: Option<&'p str>,
    repeat: impl FnOnce(Part) -> Part,
    pattern: &'p str,
) -> Result<&'p str, Mistake<'p>> {
    let rest = rest.strip_prefix('?').unwrap_or(rest);
    let up_to_rest = |from: &'p str| &from[..from.len() - rest.len()];
    if let Some(last) = last_repeat {
        return Err((RegexErrorKind::NestedRepeat, up_to_rest(last)));
    }
    let Some(top) = frame.top else {
        return Err((RegexErrorKind::MissingArgument, up_to_rest(operator)));
    };
    let part = repeat(top).check().map_err(|kind| (kind, pattern))?;
    if part.repeat_product() > MAX_REPEAT {
        return Err((RegexErrorKind::RepeatSize, up_to_rest(operator)));
    }
    frame.top = Some(part);
    Ok(rest)
}

/// The minimum and maximum count; without a maximum, there is no upper limit. `None` if a count is too large or the
/// counts are in the wrong order.
type Counts = Option<(u32, Option<u32>)>;

/// Reads `{2}`, `{2,}` or `{2,3}`. Anything else is literal.
fn counts(text: &str) -> Option<(Counts, &str)> {
    let (min, rest) = count(&text[1..])?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (max, rest) = count(rest)?;
            (Some(max), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    let right = min <= MAX_COUNT && max.is_none_or(|max| (min..=MAX_COUNT).contains(&max));
    Some((right.then_some((min, max)), rest))
}

/// Reads a number without leading zeros.
fn count(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    // A number of this length is too large in any case.
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}

/// Reads an escape outside of a class.
fn backslash<'p>(frame: &mut Frame, text: &'p str) -> Result<&'p str, Mistake<'p>> {
    match text.as_bytes().get(1) {
        Some(b'A' | b'b' | b'B' | b'z') => {
            frame.push(Part::SINGLE);
            return Ok(&text[2..]);
        }
        Some(b'C') => return Err((RegexErrorKind::Escape, &text[..2])),
        Some(b'Q') => {
            let quoted = &text[2..];
            let end = quoted.find("\\E").unwrap_or(quoted.len());
            quoted[..end].chars().for_each(|_| frame.push(Part::LITERAL));
            return Ok(quoted.get(end + 2..).unwrap_or(""));
        }
        _ => {}
    }
    let class = match class::unicode(text)? {
        Some(rest) => Some(rest),
        None => class::perl(text),
    };
    if let Some(rest) = class {
        frame.push(Part::SINGLE);
        return Ok(rest);
    }
    let (_, rest) = escape(text)?;
    frame.push(Part::LITERAL);
    Ok(rest)
}

/// Reads what follows `(?`. Returns whether the group captures, or `None` for flags alone; and the rest.
fn perl_group(text: &str) -> Result<(Option<bool>, &str), Mistake<'_>> {
    let name = match text.strip_prefix("(?P<") {
        Some(name) if !name.is_empty() => Some(name),
        _ => text.strip_prefix("(?<").filter(|name| !name.is_empty()),
    };
    if let Some(name) = name {
        let Some(end) = name.find('>') else { return Err((RegexErrorKind::NamedCapture, text)) };
        let rest = &name[end + 1..];
        let right = end > 0 && name[..end].bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
        return if right {
            Ok((Some(true), rest))
        } else {
            Err((RegexErrorKind::NamedCapture, &text[..text.len() - rest.len()]))
        };
    }
    let mut chars = text[2..].chars();
    let (mut negated, mut flag) = (false, false);
    while let Some(c) = chars.next() {
        match c {
            'i' | 'm' | 's' | 'U' => flag = true,
            '-' if !negated => (negated, flag) = (true, false),
            ':' | ')' if flag || !negated => return Ok(((c == ':').then_some(false), chars.as_str())),
            _ => break,
        }
    }
    Err((RegexErrorKind::PerlOperator, &text[..text.len() - chars.as_str().len()]))
}

#[cfg(test)]
mod tests {
    use crate::regex;

    fn error(pattern: &str) -> String {
        regex::check(pattern).map_or_else(|error| error.to_string(), |()| "right".to_owned())
    }

    #[test]
    fn every_construct_of_re2_is_accepted() {
        let right = [
            "",
            "a|b|",
            "()|(a)",
            "^*$+",
            "a{,2}{x}{1",
            "a{0,1000}b{2,}?",
            r"\Qa**(\E\Q",
            r"[]!-\]\d\pL[:^alpha:]-][^]]",
            r"\012\07\x7f\x{10FFFF}\_\-\a\z",
            "(?i)(?-s:a)(?ms-iU:b)(?P<n_1>c)(?<n_1>d)",
            r"\p{Greek}\p{^Lu}\PN\p{ascii}\p{uppercase letter}",
            "a(?i)*",
        ];
        for pattern in right {
            assert_eq!(error(pattern), "right", "{pattern}");
        }
    }

    #[test]
    fn mistakes_have_the_messages_of_go() {
        let wrong = [
            ("a**", "invalid nested repetition operator: `**`"),
            ("a+??+", "invalid nested repetition operator: `+??`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a|{2}?b", "missing argument to repetition operator: `{2}?`"),
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("x[a-", "missing closing ]: `[a-`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:word]:]]", "invalid character class range: `[:word]:]`"),
            (r"\p{Old_Italic}", r"invalid character class range: `\p{Old_Italic}`"),
            (r"a\p", r"invalid character class range: `\p`"),
            (r"\pé", r"invalid character class range: `\pé`"),
            (r"a\", "trailing backslash at end of expression: ``"),
            (r"\Zb", r"invalid escape sequence: `\Z`"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            (r"\xg0", r"invalid escape sequence: `\xg0`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
            ("(?<=a)>", "invalid named capture: `(?<=a)>`"),
            ("(?P<>a)", "invalid named capture: `(?P<>`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("((a{10}){10}){11}", "invalid repeat count: `{11}`"),
        ];
        for (pattern, text) in wrong {
            assert_eq!(error(pattern), format!("error parsing regexp: {text}"), "{pattern}");
        }
    }

    #[test]
    fn repetition_of_nothing_bounds_nothing_below_it() {
        assert_eq!(error("((a{1000}){0}){1000}"), "right");
        assert_eq!(error("((a{500}){0,}){2}"), "right");
        assert_ne!(error("((a{500}){0,1}){3}"), "right");
    }

    #[test]
    fn a_thousand_groups_nest_and_no_more() {
        let nested = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(error(&nested(999)), "right");
        assert!(error(&nested(1000)).starts_with("error parsing regexp: expression nests too deeply"));
        // Groups that do not capture add no level.
        let plain = format!("{}a{}", "(?:".repeat(100_000), ")".repeat(100_000));
        assert_eq!(error(&plain), "right");
    }
}
