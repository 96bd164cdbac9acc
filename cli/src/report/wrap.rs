//! Wraps text into lines that fit.

use std::io;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The width of messages without a terminal.
const USUAL: usize = 80;
/// The minimum and maximum line width.
const NARROW: usize = 40;
const WIDE: usize = 100;

/// Returns the width of messages on standard error.
pub(crate) fn width_of_messages() -> usize {
    of(terminal_size::terminal_size_of(io::stderr()))
}

/// Returns the width of texts on standard output.
pub(crate) fn width_of_output() -> usize {
    of(terminal_size::terminal_size_of(io::stdout()))
}

fn of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(USUAL, |(width, _)| usize::from(width.0).clamp(NARROW, WIDE))
}

/// Wraps the text between words into lines of at most `width` columns. Longer words are not split. The first line has
/// `first` columns less, and the others begin with `indent`.
pub(crate) fn wrap(text: &str, width: usize, first: usize, indent: &str) -> String {
    let text = &glued(text);
    let pad = " ".repeat(first);
    let options = Options::new(width)
        .initial_indent(&pad)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let wrapped = textwrap::fill(text, options);
    wrapped.get(first..).unwrap_or_default().replace(GLUE, " ")
}

/// A private-use character that stands for spaces where no line may be broken.
const GLUE: char = '\u{E000}';
/// Longer pieces of code may be broken.
const LONG: usize = 40;

/// Glues the spaces in short pieces of code, so that `nullable: true` stays on one line.
fn glued(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        // Every second piece is code.
        if at % 2 == 1 && piece.len() <= LONG {
            out.extend(piece.chars().map(|c| if c == ' ' { GLUE } else { c }));
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// Returns the width of a text on a terminal, in columns.
pub(crate) fn columns(text: &str) -> usize {
    display_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_only_between_words() {
        let text = "x-kubernetes-preserve-unknown-fields is a long-ish word, \u{1b}[1mbold\u{1b}[0m is not";
        let expected = "x-kubernetes-preserve-unknown-fields\n  is a long-ish word,\n  \u{1b}[1mbold\u{1b}[0m is not";
        assert_eq!(wrap(text, 22, 0, "  "), expected);
        assert_eq!(wrap("one two", 9, 4, "  "), "one\n  two");
        assert_eq!(wrap("", 9, 4, "  "), "");
        assert_eq!(wrap("set `nullable: true` there", 16, 0, ""), "set\n`nullable: true`\nthere");
    }
}
