//! Go's sorting. Its results are visible if the comparison is not an order: upstream says "less" for items that it does
//! not find, and for equal ones.

/// The length of runs that are sorted by insertion before they are merged (Go: `sort.Stable`).
const RUN: usize = 20;

/// Sorts like Go's `sort.SliceStable`.
pub(super) fn stable<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    let len = items.len();
    for run in items.chunks_mut(RUN) {
        insertion(run, less);
    }
    let mut size = RUN;
    while size < len {
        let mut at = 0;
        while at + size < len {
            let end = (at + 2 * size).min(len);
            merge(items, at, at + size, end, less);
            at += 2 * size;
        }
        size *= 2;
    }
}

fn insertion<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    for at in 1..items.len() {
        let mut place = at;
        while place > 0 && less(&items[place], &items[place - 1]) {
            items.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Merges two sorted neighbours in place (Go: `symMerge`).
fn merge<T>(items: &mut [T], start: usize, middle: usize, end: usize, less: impl Fn(&T, &T) -> bool + Copy) {
    if start >= middle || middle >= end {
        return;
    }
    if middle - start == 1 {
        let (mut low, mut high) = (middle, end);
        while low < high {
            let at = usize::midpoint(low, high);
            if less(&items[at], &items[start]) { low = at + 1 } else { high = at }
        }
        items[start..low].rotate_left(1);
        return;
    }
    if end - middle == 1 {
        let (mut low, mut high) = (start, middle);
        while low < high {
            let at = usize::midpoint(low, high);
            if less(&items[middle], &items[at]) { high = at } else { low = at + 1 }
        }
        items[low..=middle].rotate_right(1);
        return;
    }
    let half = usize::midpoint(start, end);
    let sum = half + middle;
    let (mut low, mut high) = if middle > half { (sum - end, half) } else { (start, middle) };
    let last = sum - 1;
    while low < high {
        let at = usize::midpoint(low, high);
        if less(&items[last - at], &items[at]) { high = at } else { low = at + 1 }
    }
    let stop = sum - low;
    if low < middle && middle < stop {
        items[low..stop].rotate_left(middle - low);
    }
    merge(items, start, low, half, less);
    merge(items, half, stop, end, less);
}

/// The length up to which Go sorts by insertion (Go: `pdqsort`).
const SHORT: usize = 12;
/// The length from which on the pivot is the median of medians.
const LONG: usize = 50;
/// The number of swaps that means that the medians are in descending order.
const ALL_SWAPPED: usize = 12;

/// Sorts like Go's `sort.Sort`.
pub(super) fn unstable<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    let limit = usize::BITS - items.len().leading_zeros();
    let len = items.len();
    Quick { items, less }.range(0, len, limit);
}

/// A part of a list that is being sorted. The item before the part, if any, is not greater than its items.
struct Quick<'i, T, L> {
    items: &'i mut [T],
    less: L,
}

/// The order detected while choosing a pivot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Ascending,
    Descending,
}

impl<T, L: Fn(&T, &T) -> bool + Copy> Quick<'_, T, L> {
    fn less(&self, a: usize, b: usize) -> bool {
        (self.less)(&self.items[a], &self.items[b])
    }

    fn range(&mut self, mut start: usize, mut end: usize, mut limit: u32) {
        let (mut is_balanced, mut is_partitioned) = (true, true);
        while end - start > SHORT {
            if limit == 0 {
                return self.heap(start, end);
            }
            if !is_balanced {
                self.scatter(start, end);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.pivot(start, end);
            if hint == Hint::Descending {
                self.items[start..end].reverse();
                pivot = (end - 1) - (pivot - start);
                hint = Hint::Ascending;
            }
            if is_balanced && is_partitioned && hint == Hint::Ascending && self.finish(start, end) {
                return;
            }
            if start > 0 && !self.less(start - 1, pivot) {
                start = self.split_equal(start, end, pivot);
                continue;
            }
            let (middle, was_partitioned) = self.split(start, end, pivot);
            is_partitioned = was_partitioned;
            let (left, right, least) = (middle - start, end - middle, (end - start) / 8);
            if left < right {
                is_balanced = left >= least;
                self.range(start, middle, limit);
                start = middle + 1;
            } else {
                is_balanced = right >= least;
                self.range(middle + 1, end, limit);
                end = middle;
            }
        }
        insertion(&mut self.items[start..end], self.less);
    }

    /// Moves items that are less than the pivot before it. Returns its position, and whether nothing had to be moved.
    fn split(&mut self, start: usize, end: usize, pivot: usize) -> (usize, bool) {
        self.items.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        let mut is_first = true;
        loop {
            while low <= high && self.less(low, start) {
                low += 1;
            }
            while low <= high && !self.less(high, start) {
                high -= 1;
            }
            if low > high {
                self.items.swap(high, start);
                return (high, is_first);
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
            is_first = false;
        }
    }

    /// Moves items that are equal to the pivot to the front. Returns the position after them.
    fn split_equal(&mut self, start: usize, end: usize, pivot: usize) -> usize {
        self.items.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        loop {
            while low <= high && !self.less(start, low) {
                low += 1;
            }
            while low <= high && self.less(start, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Sorts a part that is almost in order. Returns whether it is sorted.
    fn finish(&mut self, start: usize, end: usize) -> bool {
        const STEPS: usize = 5;
        let mut at = start + 1;
        for _ in 0..STEPS {
            while at < end && !self.less(at, at - 1) {
                at += 1;
            }
            if at == end {
                return true;
            }
            if end - start < LONG {
                return false;
            }
            self.items.swap(at, at - 1);
            if at - start >= 2 {
                let mut place = at - 1;
                while place >= 1 && self.less(place, place - 1) {
                    self.items.swap(place, place - 1);
                    place -= 1;
                }
            }
            if end - at >= 2 {
                let mut place = at + 1;
                while place < end && self.less(place, place - 1) {
                    self.items.swap(place, place - 1);
                    place += 1;
                }
            }
        }
        false
    }

    /// Moves some items, to break a pattern that leads to bad pivots.
    fn scatter(&mut self, start: usize, end: usize) {
        let len = end - start;
        if len < 8 {
            return;
        }
        let mut random = len as u64;
        let mask = (1u64 << (usize::BITS - len.leading_zeros())) - 1;
        let middle = start + len / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = usize::try_from(random & mask).unwrap_or_default();
            self.items.swap(at, start + if other >= len { other - len } else { other });
        }
    }

    fn pivot(&self, start: usize, end: usize) -> (usize, Hint) {
        let len = end - start;
        let (mut a, mut b, mut c) = (start + len / 4, start + len / 4 * 2, start + len / 4 * 3);
        let mut swaps = 0;
        if len >= LONG {
            a = self.median(a - 1, a, a + 1, &mut swaps);
            b = self.median(b - 1, b, b + 1, &mut swaps);
            c = self.median(c - 1, c, c + 1, &mut swaps);
        }
        b = self.median(a, b, c, &mut swaps);
        match swaps {
            0 => (b, Hint::Ascending),
            ALL_SWAPPED => (b, Hint::Descending),
            _ => (b, Hint::Unknown),
        }
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut usize) -> usize {
        let mut in_order = |a: usize, b: usize| {
            let is_swapped = self.less(b, a);
            *swaps += usize::from(is_swapped);
            if is_swapped { (b, a) } else { (a, b) }
        };
        let (a, b) = in_order(a, b);
        let (b, _) = in_order(b, c);
        in_order(a, b).1
    }

    fn heap(&mut self, start: usize, end: usize) {
        let len = end - start;
        for root in (0..=(len - 1) / 2).rev() {
            self.sift(root, len, start);
        }
        for at in (0..len).rev() {
            self.items.swap(start, start + at);
            self.sift(0, at, start);
        }
    }

    fn sift(&mut self, mut root: usize, end: usize, start: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(start + child, start + child + 1) {
                child += 1;
            }
            if !self.less(start + root, start + child) {
                return;
            }
            self.items.swap(start + root, start + child);
            root = child;
        }
    }
}
