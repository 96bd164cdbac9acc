//! Limits of a response.

use crate::status::Status;
use kubeshape_smd::value::Stop;

/// The maximum bytes that a form may add to objects, in addition to four times their size.
pub const MAX_FORM_GROWTH: usize = 64 << 20;
/// The maximum factor between a response and its objects, in addition to that.
pub(crate) const TIMES: usize = 4;

/// The remaining bytes and the time for a response. Deeply nested values have far more indentation than content, and
/// columns can show the same field many times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'s> {
    /// The maximum bytes.
    pub(crate) most: usize,
    /// Stops the work early. The result is then incomplete.
    pub(crate) stop: Stop<'s>,
}

impl<'s> Room<'s> {
    /// Returns the room for a response with objects of this many bytes.
    pub(crate) fn of(bytes: usize, stop: Stop<'s>) -> Room<'s> {
        Room { most: bytes.saturating_mul(TIMES).saturating_add(MAX_FORM_GROWTH), stop }
    }

    /// Checks that there is room for `bytes` bytes, and time.
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
