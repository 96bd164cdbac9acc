//! What a response may take.

use crate::status::Status;
use kubeshape_smd::value::Stop;

/// The most bytes that a form may add to objects, besides four times their size.
pub const MAX_FORM_GROWTH: usize = 64 << 20;
/// How many times larger than its objects a response may be in addition to that.
pub(crate) const TIMES: usize = 4;

/// The bytes and the time that a response may take. What nests deeply has far more indentation than content, and columns can
/// show the same field many times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'s> {
    /// The most bytes.
    pub(crate) most: usize,
    /// Ends the work early. What is made then means nothing.
    pub(crate) stop: Stop<'s>,
}

impl<'s> Room<'s> {
    /// The room for a response with objects of so many bytes.
    pub(crate) fn of(bytes: usize, stop: Stop<'s>) -> Room<'s> {
        Room { most: bytes.saturating_mul(TIMES).saturating_add(MAX_FORM_GROWTH), stop }
    }

    /// Checks that there is room for so many bytes, and time.
    ///
    /// # Errors
    /// There is not.
    pub(crate) fn holds(self, bytes: usize) -> Result<(), Status> {
        if bytes <= self.most && !self.stop.is_set() {
            return Ok(());
        }
        Err(Status::internal(format!(
            "the response would have more than {} bytes in this form, {TIMES} times its objects and {MAX_FORM_GROWTH}; \
             request application/json without pretty, or fewer objects with the parameter limit",
            self.most
        )))
    }
}
