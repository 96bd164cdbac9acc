//! Two texts, line by line.

use serde_json::{Value, json};

/// Longer texts are not compared line by line: all lines of the one are gone, all of the other new.
const MOST_LINES: usize = 2_000;

/// The lines of both texts in order, each with `-` if only the first has it, `+` if only the second, else a blank.
pub(crate) fn marked(first: &str, second: &str) -> Value {
    let (a, b): (Vec<&str>, Vec<&str>) = (first.lines().collect(), second.lines().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    let mut out: Vec<(char, &str)> = a[..start].iter().map(|line| (' ', *line)).collect();
    if inner_a.len() > MOST_LINES || inner_b.len() > MOST_LINES {
        out.extend(inner_a.iter().map(|line| ('-', *line)));
        out.extend(inner_b.iter().map(|line| ('+', *line)));
    } else {
        out.extend(common(inner_a, inner_b));
    }
    out.extend(a[a.len() - end..].iter().map(|line| (' ', *line)));
    out.into_iter().map(|(mark, line)| json!([mark.to_string(), line])).collect()
}

/// The longest common subsequence.
fn common<'l>(a: &[&'l str], b: &[&'l str]) -> Vec<(char, &'l str)> {
    let width = b.len() + 1;
    let mut length = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i * width + j] = if a[i] == b[j] {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            out.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            out.push(('-', a[i]));
            i += 1;
        } else {
            out.push(('+', b[j]));
            j += 1;
        }
    }
    out.extend(a[i..].iter().map(|line| ('-', *line)));
    out.extend(b[j..].iter().map(|line| ('+', *line)));
    out
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn lines_of_one_text_alone_are_marked() {
        let lines = marked("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n");
        assert_eq!(lines.to_string(), r#"[[" ","a"],["-","b"],["+","x"],[" ","c"],["+","y"],[" ","d"]]"#);
    }
}
