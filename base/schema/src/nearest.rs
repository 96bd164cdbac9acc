//! Suggestions for misspelled names.

use std::fmt::Write;

/// The names that are nearest to one, nearest first, at most three. Those that are too far away are left out.
///
/// # Example: a letter left out
/// ```
/// use kubeshape_schema::nearest;
/// assert_eq!(nearest("protocl", ["port", "protocol"].into_iter()), ["protocol"]);
/// assert_eq!(nearest("widgt", ["Gadget", "Widget"].into_iter()), ["Widget"]);
/// assert!(nearest("kitten", ["sitting"].into_iter()).is_empty());
/// ```
#[cold]
pub fn nearest<'n>(name: &str, declared: impl Iterator<Item = &'n str>) -> Vec<String> {
    /// Longer names are not typed by hand, and would cost too much.
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

/// How many letters must be changed, added or left out; a change of case counts as half of that, rounded down for the
/// whole. None if it is more than `most`.
fn distance(name: &[char], other: &str, most: usize) -> Option<usize> {
    // In halves.
    let mut row: Vec<usize> = (0..=name.len()).map(|at| 2 * at).collect();
    for (line, c) in other.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], 2 * (line + 1));
        for (at, d) in name.iter().enumerate() {
            let change = if c == *d { 0 } else { 2 - usize::from(c.eq_ignore_ascii_case(d)) };
            let best = (diagonal + change).min(row[at] + 2).min(row[at + 1] + 2);
            diagonal = std::mem::replace(&mut row[at + 1], best);
        }
        if row.iter().min().is_none_or(|least| *least > 2 * most + 1) {
            return None;
        }
    }
    let halves = row.last().copied()?;
    (halves / 2 <= most).then_some(halves)
}

/// The end of a message about a name that does not exist: a question that names the nearest ones, or nothing.
///
/// # Example
/// ```
/// use kubeshape_schema::did_you_mean;
/// assert_eq!(did_you_mean(&["port".to_owned(), "ports".to_owned()]), "; did you mean `port` or `ports`?");
/// assert_eq!(did_you_mean(&[]), "");
/// ```
pub fn did_you_mean(nearest: &[String]) -> String {
    let mut out = String::new();
    let Some((first, others)) = nearest.split_first() else { return out };
    let _ = write!(out, "; did you mean `{first}`");
    for other in others {
        let _ = write!(out, " or `{other}`");
    }
    out.push('?');
    out
}
