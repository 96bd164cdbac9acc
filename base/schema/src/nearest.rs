//! Suggestions for misspelled names.

use std::fmt::Write;

/// Returns at most three similar names, nearest first. Names that are too different are left out.
///
/// # Example: a letter left out
/// ```
/// use kubeshape_schema::nearest;
/// assert_eq!(nearest("protocl", ["port", "protocol"].into_iter()), ["protocol"]);
/// assert_eq!(nearest("widgt", ["Gadget", "Widget"].into_iter()), ["Widget"]);
/// assert_eq!(nearest("chekc", ["check", "cache"].into_iter()), ["check"]);
/// assert!(nearest("kitten", ["sitting"].into_iter()).is_empty());
/// ```
#[cold]
pub fn nearest<'n>(name: &str, declared: impl Iterator<Item = &'n str>) -> Vec<String> {
    /// Longer names are not typed by hand, and comparing them would cost too much.
    const LONGEST: usize = 64;
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if letters.len() > LONGEST {
        return Vec::new();
    }
    let most = (letters.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = declared
        .filter(|other| other.len().abs_diff(name.len()) <= most * 4)
        .filter_map(|other| Some((distance(&letters, other, most)?, other)))
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, other)| other.to_owned()).collect()
}

/// Returns how many letters must be changed, added, left out or swapped with their neighbours. A change of case is half
/// a change; the sum is rounded down. Returns `None` if it is more than `most`.
fn distance(name: &[char], other: &str, most: usize) -> Option<usize> {
    let is_over = |row: &[usize]| row.iter().min().is_none_or(|least| *least > 2 * most + 1);
    // In half changes.
    let mut row: Vec<usize> = (0..=name.len()).map(|at| 2 * at).collect();
    // The previous row, and its letter.
    let (mut before, mut letter) = (row.clone(), None);
    for (line, c) in other.chars().enumerate() {
        let mut next = vec![2 * (line + 1)];
        for (at, d) in name.iter().enumerate() {
            let change = if c == *d { 0 } else { 2 - usize::from(c.eq_ignore_ascii_case(d)) };
            let mut best = (row[at] + change).min(next[at] + 2).min(row[at + 1] + 2);
            if at > 0 && letter == Some(*d) && name[at - 1] == c {
                best = best.min(before[at - 1] + 2);
            }
            next.push(best);
        }
        if is_over(&next) && is_over(&row) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
        letter = Some(c);
    }
    let halves = row.last().copied()?;
    (halves / 2 <= most).then_some(halves)
}

/// Returns the end of a message about a name that does not exist: a question with the nearest names, or nothing.
///
/// # Example
/// ```
/// use kubeshape_schema::did_you_mean;
/// assert_eq!(did_you_mean(&["port".to_owned(), "ports".to_owned()]), "; did you mean `port` or `ports`?");
/// assert_eq!(did_you_mean(&[]), "");
/// ```
pub fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; d{}", &question(nearest)[1..]) }
}

/// Does the same as a sentence of its own.
///
/// # Example
/// ```
/// use kubeshape_schema::question;
/// assert_eq!(question(&["port".to_owned(), "ports".to_owned()]), "Did you mean `port` or `ports`?");
/// assert_eq!(question(&[]), "");
/// ```
pub fn question(nearest: &[String]) -> String {
    let mut out = String::new();
    let Some((first, others)) = nearest.split_first() else { return out };
    let _ = write!(out, "Did you mean `{first}`");
    for other in others {
        let _ = write!(out, " or `{other}`");
    }
    out.push('?');
    out
}
