//! Lines and columns of many bytes of one source.

use crate::Position;

/// The position of a byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Milestone {
    /// Offset of the byte.
    at: usize,
    /// Line, from 1.
    line: usize,
    /// Offset at which the line begins.
    start: usize,
    /// Characters from there to the byte.
    characters: usize,
}

impl Default for Milestone {
    fn default() -> Self {
        Milestone { at: 0, line: 1, start: 0, characters: 0 }
    }
}

impl Milestone {
    /// Goes on to a byte of the same source, which is not before this one.
    pub(crate) fn go_on(&mut self, source: &str, to: usize) {
        let bytes = source.as_bytes().get(self.at..to).unwrap_or_default();
        let mut rest = bytes;
        if let Some(last) = memchr::memrchr(b'\n', bytes) {
            self.line += memchr::memchr_iter(b'\n', bytes).count();
            self.start = self.at + last + 1;
            self.characters = 0;
            rest = &bytes[last + 1..];
        }
        // Continuation bytes are no characters.
        self.characters += rest.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.at += bytes.len();
    }
}

/// An index of the positions in a source. A lookup takes constant time: it counts at most 1 KiB.
#[derive(Clone, Debug)]
pub struct Positions(Vec<Milestone>);

impl Positions {
    /// Bytes from one milestone to the next.
    const STEP: usize = 1024;

    /// Makes the index in one pass over a source.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Position, Positions};
    /// let source = "a: é\nb: 1\n";
    /// let positions = Positions::of(source);
    /// assert_eq!(positions.at(source, 9), Position { line: 2, column: 4 });
    /// assert_eq!(positions.line_start(source, 9), 6);
    /// ```
    pub fn of(source: &str) -> Positions {
        Positions::between(source, Milestone::default(), source.len())
    }

    /// Makes the index of a part of a source.
    pub(crate) fn between(source: &str, from: Milestone, to: usize) -> Positions {
        let (mut milestone, mut out) = (from, vec![from]);
        while milestone.at + Self::STEP < to.min(source.len()) {
            milestone.go_on(source, milestone.at + Self::STEP);
            out.push(milestone);
        }
        Positions(out)
    }

    /// Returns whether the index is about a byte.
    pub(crate) fn has(&self, offset: usize) -> bool {
        self.0.first().is_some_and(|first| first.at <= offset)
            && self.0.last().is_some_and(|last| offset <= last.at + Self::STEP)
    }

    fn milestone(&self, source: &str, offset: usize) -> Milestone {
        let offset = offset.min(source.len());
        let first = self.0.first().map_or(0, |first| first.at);
        let nearest = self.0.get(offset.saturating_sub(first) / Self::STEP).or(self.0.last());
        let mut milestone = nearest.copied().unwrap_or_default();
        milestone.go_on(source, offset);
        milestone
    }

    /// Returns line and column of a byte. The source must be the one of the index. An offset after the end is the end.
    pub fn at(&self, source: &str, offset: usize) -> Position {
        let Milestone { line, characters, .. } = self.milestone(source, offset);
        Position { line, column: characters + 1 }
    }

    /// Returns the offset at which the line of a byte begins.
    pub fn line_start(&self, source: &str, offset: usize) -> usize {
        self.milestone(source, offset).start
    }
}

#[cfg(test)]
mod tests {
    use super::{Milestone, Positions};
    use crate::Position;

    #[test]
    fn positions_are_those_of_the_reader() {
        let source = "a: é\nbb: [1,\n2]\r\n\nend".repeat(300) + &"é".repeat(3000) + "\nend";
        let positions = Positions::of(&source);
        let mut from = Milestone::default();
        from.go_on(&source, 2500);
        let part = Positions::between(&source, from, 5000);
        for at in (0..=source.len()).filter(|at| source.is_char_boundary(*at)) {
            let expected = Position::of(&source, at);
            assert_eq!(positions.at(&source, at), expected, "{at}");
            let line = source[..at].rfind('\n').map_or(0, |n| n + 1);
            assert_eq!(positions.line_start(&source, at), line, "{at}");
            if (2500..=5000).contains(&at) {
                assert!(part.has(at));
                assert_eq!(part.at(&source, at), expected, "{at}");
            }
        }
        assert!(!part.has(2499) && !part.has(8000));
        assert_eq!(positions.at(&source, usize::MAX), Position::of(&source, usize::MAX));
    }
}
