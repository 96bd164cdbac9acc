//! Shorter texts.

/// Words with a period that do not end a sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx"];
/// What ends a text that is cut.
const MORE: &str = "…";

/// Returns the first sentence of a text, or its first paragraph, without white space around it. A first
/// sentence is returned unchanged.
pub(super) fn first(text: &str) -> &str {
    let text = text.trim();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['.', '!', '?', '\n'])) {
        let end = at + found + 1;
        let rest = text.get(end..).unwrap_or_default();
        if text.get(end - 1..end) == Some("\n") {
            if rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                return text.get(..end).unwrap_or_default().trim_end();
            }
        } else if ends(text.get(..end - 1).unwrap_or_default(), rest) {
            return text.get(..end).unwrap_or_default();
        }
        at = end;
    }
    text
}

/// Returns whether a mark between these two parts ends a sentence.
fn ends(before: &str, rest: &str) -> bool {
    if !rest.starts_with(char::is_whitespace) {
        return rest.is_empty();
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_short = ABBREVIATIONS.iter().any(|short| word.eq_ignore_ascii_case(short));
    !is_short && !rest.trim_start().starts_with(char::is_lowercase)
}

/// Returns a text of at most `longest` bytes: its first words, and an ellipsis.
pub(super) fn cut(text: &str, longest: usize) -> Option<String> {
    if text.len() <= longest {
        return None;
    }
    let mut end = longest.saturating_sub(MORE.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (begin, rest) = text.split_at(end);
    let is_word = !rest.starts_with(char::is_whitespace);
    let begin = begin.rfind(char::is_whitespace).filter(|_| is_word).and_then(|at| begin.get(..at)).unwrap_or(begin);
    Some(format!("{}{MORE}", begin.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::{cut, first};

    #[test]
    fn the_first_sentence_ends_at_a_period_before_a_new_sentence() {
        for (text, expected) in [
            ("A tab. It has a size.", "A tab."),
            ("A tab, e.g. Wide. More", "A tab, e.g. Wide."),
            ("The v1.2 form (i.e. the old one). See", "The v1.2 form (i.e. the old one)."),
            ("It is on. it stays", "It is on. it stays"),
            ("One\ntwo\n\nthree", "One\ntwo"),
            ("One\n \t\nthree.", "One"),
            (" Is it?\nYes", "Is it?"),
            ("Wow! `x`", "Wow!"),
            ("no end", "no end"),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(first(text), expected, "{text}");
            assert_eq!(first(expected), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        assert_eq!(cut("one two three", 13), None);
        assert_eq!(cut("one two three", 12).as_deref(), Some("one two…"));
        assert_eq!(cut("one two three", 10).as_deref(), Some("one two…"));
        assert_eq!(cut("ééééééé", 8).as_deref(), Some("éé…"));
        for longest in 4..20 {
            let short = cut("a bc déf ghij klmnö", longest).unwrap_or_default();
            assert!(short.len() <= longest, "{short}");
        }
    }
}
