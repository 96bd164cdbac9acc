//! The order in which Kubernetes prints the keys of a map: by UTF-16 code units, as in RFC 8785
//! (`go-json-experiment/json`).

use std::cmp::Ordering;

/// Compares two strings by their UTF-16 code units.
///
/// For strings without characters beyond U+FFFF this is the order of bytes.
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

/// Surrogate pairs (lead byte F0 and up) sort below U+E000 to U+FFFF (lead bytes EE and EF). If two strings first
/// differ in two such bytes, these are the first bytes of characters.
#[inline]
fn first_difference(a: u8, b: u8) -> Ordering {
    match (a, b) {
        (0xF0.., 0xEE..=0xEF) => Ordering::Less,
        (0xEE..=0xEF, 0xF0..) => Ordering::Greater,
        _ => a.cmp(&b),
    }
}

/// Up to this many items are sorted in place, without allocation.
const FEW: usize = 8;

/// Sorts `items` by name and keeps the last item of each name. Returns how many items are left. These are at the front;
/// the items after them must be ignored.
pub fn sort_last_wins<'a, T: Copy>(items: &mut [T], name: impl Fn(&T) -> &'a str) -> usize {
    let ascending = items.windows(2).all(|w| utf16(name(&w[0]), name(&w[1])) == Ordering::Less);
    if ascending {
        return items.len();
    }
    if items.len() <= FEW {
        return insert_few(items, name);
    }
    let mut order: Vec<(&'a str, usize)> = items.iter().enumerate().map(|(at, item)| (name(item), at)).collect();
    last_of_each(&mut order);
    let sorted: Vec<T> = order.iter().map(|(_, at)| items[*at]).collect();
    items[..sorted.len()].copy_from_slice(&sorted);
    sorted.len()
}

/// Does the same as [`sort_last_wins`], by insertion.
fn insert_few<'a, T: Copy>(items: &mut [T], name: impl Fn(&T) -> &'a str) -> usize {
    let mut kept = 0;
    for at in 0..items.len() {
        let item = items[at];
        let mut place = kept;
        while place > 0 && utf16(name(&items[place - 1]), name(&item)) == Ordering::Greater {
            place -= 1;
        }
        if place > 0 && name(&items[place - 1]) == name(&item) {
            items[place - 1] = item;
        } else {
            items.copy_within(place..kept, place + 1);
            items[place] = item;
            kept += 1;
        }
    }
    kept
}

/// Sorts names with their positions and keeps the last position of each name. Sorting the names instead of the items
/// moves large items only once, and the sort is compiled once instead of once for each type of item.
fn last_of_each(order: &mut Vec<(&str, usize)>) {
    order.sort_unstable_by(|(x, x_at), (y, y_at)| utf16(x, y).then(y_at.cmp(x_at)));
    order.dedup_by_key(|(name, _)| *name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_item_of_each_name_is_kept_in_order() {
        const NAMES: [&str; 6] = ["b", "", "é", "a", "\u{FF5E}", "😀"];
        for length in 0..40 {
            let items: Vec<(&str, usize)> =
                (0..length).map(|at| (NAMES[(at * 7 + at / 5) % NAMES.len()], at)).collect();
            let mut expected: Vec<(&str, usize)> = Vec::new();
            for item in &items {
                expected.retain(|other| other.0 != item.0);
                expected.push(*item);
            }
            expected.sort_by(|a, b| utf16(a.0, b.0));
            let mut sorted = items;
            let kept = sort_last_wins(&mut sorted, |item| item.0);
            assert_eq!(sorted[..kept], expected);
        }
    }
}
