//! A limit on the memory of all compiled expressions that the process keeps.

use super::compiled_size;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The maximum total size of kept expressions in bytes, as [`compiled_size`] estimates it.
pub const MAX_KEPT: usize = 512 << 20;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A reservation of memory for a compiled expression, valid as long as it exists. All reservations of the process have
/// 512 MiB together. Without a reservation, an expression is compiled each time it is used: this takes time, but does
/// not change any result.
///
/// # Example
/// ```
/// use kubeshape_structural::regex::{Room, compile};
/// let kept = Room::of("^a+$").map(|room| (compile("^a+$"), room));
/// assert!(kept.is_some());
/// ```
#[derive(Debug)]
pub struct Room(usize);

impl Room {
    /// Reserves memory for an expression, if the limit allows it.
    pub fn of(pattern: &str) -> Option<Room> {
        let size = compiled_size(pattern);
        let more = |taken: usize| taken.checked_add(size).filter(|taken| *taken <= MAX_KEPT);
        TAKEN.fetch_update(Relaxed, Relaxed, more).is_ok().then(|| Room(size))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_and_given_back() {
        let take = || std::iter::from_fn(|| Room::of(r"\pL{1000}")).take(1_000).collect::<Vec<Room>>();
        let rooms = take();
        assert!((40..60).contains(&rooms.len()), "{}", rooms.len());
        drop(rooms);
        assert!((40..60).contains(&take().len()));
    }
}
