//! Lines of a limited width.

/// Wraps lines at blanks (upstream: `mitchellh/go-wordwrap`). A word longer than a line is not split.
pub(super) fn wrap(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let (mut word, mut space) = (Pending::default(), Pending::default());
    let mut current = 0;
    for c in text.chars() {
        if c == '\n' {
            if word.length == 0 {
                if current + space.length <= limit {
                    space.flush(&mut out);
                }
                space.clear();
            } else {
                space.flush(&mut out);
                word.flush(&mut out);
            }
            out.push(c);
            current = 0;
        } else if c.is_whitespace() && c != '\u{a0}' {
            if space.length == 0 || word.length > 0 {
                current += space.length + word.length;
                space.flush(&mut out);
                word.flush(&mut out);
            }
            space.push(c);
        } else {
            word.push(c);
            if current + word.length + space.length > limit && word.length < limit {
                out.push('\n');
                current = 0;
                space.clear();
            }
        }
    }
    if word.length > 0 || current + space.length <= limit {
        space.flush(&mut out);
        word.flush(&mut out);
    }
    out
}

/// A word, or the blanks before it, and its number of characters.
#[derive(Default)]
struct Pending {
    text: String,
    length: usize,
}

impl Pending {
    fn push(&mut self, c: char) {
        self.text.push(c);
        self.length += 1;
    }

    fn clear(&mut self) {
        self.text.clear();
        self.length = 0;
    }

    fn flush(&mut self, out: &mut String) {
        out.push_str(&self.text);
        self.clear();
    }
}

/// Indents each line with blanks.
pub(super) fn indent(text: &str, amount: usize) -> String {
    let pad = " ".repeat(amount);
    format!("{pad}{}", text.replace('\n', &format!("\n{pad}")))
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_at_blanks() {
        for (text, expected) in [
            ("aaa bbb ccc", "aaa bbb\nccc"),
            ("aaa  bbb ccc", "aaa\nbbb ccc"),
            ("aaaaaaaaaaaa b", "aaaaaaaaaaaa\nb"),
            ("a\n\nb", "a\n\nb"),
            ("a \n b", "a \n b"),
            ("", ""),
        ] {
            assert_eq!(wrap(text, 7), expected, "{text:?}");
        }
    }
}
