//! Ending long work early.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag that ends long work early: its client is gone, or its time is over.
///
/// Long work checks it between steps of at most about 100 ms, and returns when it is set. Then the result is
/// meaningless, and the caller that set the flag drops it.
///
/// ```
/// use kubeshape_value::Stop;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let flag = AtomicBool::new(false);
/// let stop = Stop::when(&flag);
/// assert!(!stop.is_set());
/// flag.store(true, Ordering::Relaxed);
/// assert!(stop.is_set() && !Stop::NEVER.is_set());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'s>(Option<&'s AtomicBool>);

impl<'s> Stop<'s> {
    /// A flag that is never set.
    pub const NEVER: Stop<'static> = Stop(None);

    /// Creates a flag that the caller can set.
    pub fn when(flag: &'s AtomicBool) -> Stop<'s> {
        Stop(Some(flag))
    }

    /// Returns whether the work must end.
    #[inline]
    pub fn is_set(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Relaxed))
    }
}
