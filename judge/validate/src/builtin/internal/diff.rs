//! Line-by-line differences: the part of `github.com/pmezard/go-difflib` that a server uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The number of lines of context.
const CONTEXT: usize = 3;
/// The maximum number of compared pairs of lines.
const STEPS: usize = 4_000_000;
/// From this many lines on, frequently repeated lines are not searched for.
const MANY: usize = 200;

/// Equal lines of both sides.
#[derive(Clone, Copy)]
struct Match {
    old: usize,
    new: usize,
    size: usize,
}

/// A range of lines that are equal or replaced.
#[derive(Clone, Copy)]
struct Change {
    is_equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

/// Returns a unified difference without file names, or `None` if there is too much to compare.
pub(super) fn unified(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut out = String::new();
    for group in groups(&changes(&matches(&old, &new)?)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (from, to) = (range(first.old.0, last.old.1), range(first.new.0, last.new.1));
        let _ = writeln!(out, "@@ -{from} +{to} @@");
        let mut add = |sign: char, lines: &[&str], (from, to): (usize, usize)| {
            for line in lines.get(from..to).unwrap_or_default() {
                let _ = writeln!(out, "{sign}{line}");
            }
        };
        for change in group {
            if change.is_equal {
                add(' ', &old, change.old);
            } else {
                add('-', &old, change.old);
                add('+', &new, change.new);
            }
        }
    }
    Some(out)
}

/// Upstream: `formatRangeUnified`.
fn range(start: usize, stop: usize) -> String {
    match stop.saturating_sub(start) {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    }
}

/// Returns all blocks of equal lines, in order: `GetMatchingBlocks`.
fn matches(old: &[&str], new: &[&str]) -> Option<Vec<Match>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if new.len() >= MANY {
        let most = new.len() / 100 + 1;
        places.retain(|_, places| places.len() <= most);
    }
    let mut steps = 0;
    let mut open = vec![((0, old.len()), (0, new.len()))];
    let mut found = BTreeSet::new();
    while let Some((in_old, in_new)) = open.pop() {
        let longest = longest(old, new, &places, in_old, in_new, &mut steps)?;
        if longest.size > 0 {
            found.insert((longest.old, longest.new, longest.size));
            if in_old.0 < longest.old && in_new.0 < longest.new {
                open.push(((in_old.0, longest.old), (in_new.0, longest.new)));
            }
            let (old_end, new_end) = (longest.old + longest.size, longest.new + longest.size);
            if old_end < in_old.1 && new_end < in_new.1 {
                open.push(((old_end, in_old.1), (new_end, in_new.1)));
            }
        }
    }
    let mut out: Vec<Match> = Vec::new();
    for (old, new, size) in found {
        match out.last_mut() {
            Some(last) if last.old + last.size == old && last.new + last.size == new => last.size += size,
            _ => out.push(Match { old, new, size }),
        }
    }
    out.push(Match { old: old.len(), new: new.len(), size: 0 });
    Some(out)
}

/// Returns the longest block, the first one if there are several: `findLongestMatch`.
fn longest(
    old: &[&str],
    new: &[&str],
    places: &BTreeMap<&str, Vec<usize>>,
    in_old: (usize, usize),
    in_new: (usize, usize),
    steps: &mut usize,
) -> Option<Match> {
    let mut best = Match { old: in_old.0, new: in_new.0, size: 0 };
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    for at in in_old.0..in_old.1 {
        let mut next = BTreeMap::new();
        let all = old.get(at).and_then(|line| places.get(line)).map(Vec::as_slice).unwrap_or_default();
        let all = all.iter().copied().skip_while(|place| *place < in_new.0).take_while(|place| *place < in_new.1);
        *steps += 1;
        for place in all {
            *steps += 1;
            let length = place.checked_sub(1).and_then(|before| lengths.get(&before)).copied().unwrap_or(0) + 1;
            next.insert(place, length);
            if length > best.size {
                best = Match { old: at + 1 - length, new: place + 1 - length, size: length };
            }
        }
        if *steps > STEPS {
            return None;
        }
        lengths = next;
    }
    let same = |at: usize, place: usize| old.get(at).is_some_and(|line| new.get(place) == Some(line));
    while best.old > in_old.0 && best.new > in_new.0 && same(best.old - 1, best.new - 1) {
        best = Match { old: best.old - 1, new: best.new - 1, size: best.size + 1 };
    }
    while best.old + best.size < in_old.1
        && best.new + best.size < in_new.1
        && same(best.old + best.size, best.new + best.size)
    {
        best.size += 1;
    }
    Some(best)
}

/// Returns the changes from the old lines to the new ones: `GetOpCodes`.
fn changes(matches: &[Match]) -> Vec<Change> {
    let (mut old, mut new) = (0, 0);
    let mut out = Vec::new();
    for found in matches {
        if old < found.old || new < found.new {
            out.push(Change { is_equal: false, old: (old, found.old), new: (new, found.new) });
        }
        (old, new) = (found.old + found.size, found.new + found.size);
        if found.size > 0 {
            out.push(Change { is_equal: true, old: (found.old, old), new: (found.new, new) });
        }
    }
    out
}

/// Groups changes with their context: `GetGroupedOpCodes`.
fn groups(changes: &[Change]) -> Vec<Vec<Change>> {
    let mut groups: Vec<Vec<Change>> = Vec::new();
    let mut group: Vec<Change> = Vec::new();
    let last = changes.len().saturating_sub(1);
    for (index, change) in changes.iter().enumerate() {
        let mut own = *change;
        if own.is_equal && index == 0 {
            own = after(own);
        }
        if own.is_equal && index == last {
            own = before(own);
        }
        if own.is_equal && own.old.1 - own.old.0 > 2 * CONTEXT {
            group.push(before(own));
            groups.push(std::mem::take(&mut group));
            own = after(own);
        }
        group.push(own);
    }
    if !matches!(group.as_slice(), [] | [Change { is_equal: true, .. }]) {
        groups.push(group);
    }
    groups
}

/// Returns the last lines of an equal range.
fn after(Change { is_equal, old, new }: Change) -> Change {
    let from = |(from, to): (usize, usize)| (from.max(to.saturating_sub(CONTEXT)), to);
    Change { is_equal, old: from(old), new: from(new) }
}

/// Returns the first lines of an equal range.
fn before(Change { is_equal, old, new }: Change) -> Change {
    let to = |(from, to): (usize, usize)| (from, to.min(from + CONTEXT));
    Change { is_equal, old: to(old), new: to(new) }
}

#[cfg(test)]
mod tests {
    use super::unified;

    fn lines(numbers: impl Iterator<Item = u32>) -> String {
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn distant_changes_have_their_own_headers() {
        let old = lines(0..30);
        let new = old.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n");
        assert_eq!(
            unified(&old, &new).as_deref(),
            Some(
                "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -23,7 +23,6 @@\n 22\n 23\n 24\n-25\n 26\n 27\n 28\n"
            )
        );
    }

    #[test]
    fn equal_strings_have_no_difference() {
        assert_eq!(unified("a\nb", "a\nb").as_deref(), Some(""));
    }

    #[test]
    fn large_strings_are_not_compared() {
        let pairs = || (0..150).flat_map(|_| 0..2000);
        assert_eq!(unified(&lines(pairs()), &lines(pairs().map(|number| number * 2))), None);
    }
}
