//! The order in which Kubernetes prints the keys of a map: by UTF-16 code units, as in RFC 8785
//! (`go-json-experiment/json`).

use std::cmp::Ordering;

/// Compares two texts by their UTF-16 code units.
///
/// For texts without characters beyond U+FFFF this is the order of bytes.
///
/// # Example
/// ```
/// use kubeshape_schema::order::utf16;
/// let mut keys = ["\u{fb33}", "a", "\u{1f600}", "Z"];
/// keys.sort_by(|a, b| utf16(a, b));
/// assert_eq!(keys, ["Z", "a", "\u{1f600}", "\u{fb33}"]);
/// ```
#[inline]
pub fn utf16(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let n = a.len().min(b.len());
    for i in 0..n {
        if a[i] != b[i] {
            return first_difference(a[i], b[i]);
        }
    }
    a.len().cmp(&b.len())
}

/// Surrogate pairs (lead byte F0 and up) sort below U+E000 to U+FFFF (lead bytes EE and EF). Two texts
/// that first differ in such a pair of bytes differ in the first byte of a character.
#[inline]
fn first_difference(a: u8, b: u8) -> Ordering {
    match (a, b) {
        (0xF0.., 0xEE..=0xEF) => Ordering::Less,
        (0xEE..=0xEF, 0xF0..) => Ordering::Greater,
        _ => a.cmp(&b),
    }
}

/// In a longer list the numbers of the items are sorted instead of the items, because items can be large.
const FEW: usize = 32;

/// Sorts `items` by name and keeps the last item of each name. Returns how many items are left: they are in front, and the
/// items behind them are to be ignored.
pub fn sort_last_wins<'a, T: Copy>(items: &mut [T], name: impl Fn(&T) -> &'a str) -> usize {
    let ascending = items.windows(2).all(|w| utf16(name(&w[0]), name(&w[1])) == Ordering::Less);
    if ascending {
        return items.len();
    }
    if items.len() > FEW {
        let mut numbers: Vec<usize> = (0..items.len()).collect();
        numbers.sort_by(|x, y| utf16(name(&items[*x]), name(&items[*y])));
        let sorted: Vec<T> = numbers.into_iter().map(|number| items[number]).collect();
        items.copy_from_slice(&sorted);
    } else {
        items.sort_by(|x, y| utf16(name(x), name(y)));
    }
    let mut kept = 0;
    for i in 0..items.len() {
        if i + 1 < items.len() && name(&items[i]) == name(&items[i + 1]) {
            continue;
        }
        if kept < i {
            items[kept] = items[i];
        }
        kept += 1;
    }
    kept
}
