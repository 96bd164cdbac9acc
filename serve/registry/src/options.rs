//! Options of a write request.

use crate::error::ManagerError;
use kubeshape_smd::managed::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest name of a field manager (upstream `FieldManagerMaxLength`).
const LONGEST: usize = 128;

/// The manager, the time and the options of a write.
///
/// # Example: apply the status, and take over what others own
/// ```
/// use kubeshape_registry::WriteOptions;
/// use std::time::SystemTime;
///
/// let options = WriteOptions::new("ci", SystemTime::UNIX_EPOCH).subresource("status").force(true);
/// assert_eq!(options.now.to_string(), "1970-01-01T00:00:00Z");
/// assert!(options.check().is_ok());
/// assert!(WriteOptions::new("", SystemTime::UNIX_EPOCH).check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The name of the field manager.
    pub manager: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// Whether an apply takes over fields that other managers own.
    pub force: bool,
    /// The time for managed fields.
    pub now: Time,
}

impl WriteOptions {
    /// Returns the options of a manager at a time. This crate never reads a clock.
    pub fn new(manager: impl Into<String>, now: impl Into<Now>) -> WriteOptions {
        WriteOptions { manager: manager.into(), subresource: String::new(), force: false, now: now.into().0 }
    }

    /// Sets the subresource, such as `status`.
    #[must_use]
    pub fn subresource(self, subresource: impl Into<String>) -> WriteOptions {
        WriteOptions { subresource: subresource.into(), ..self }
    }

    /// Sets whether an apply takes over fields that other managers own.
    #[must_use]
    pub fn force(self, force: bool) -> WriteOptions {
        WriteOptions { force, ..self }
    }

    /// Performs the server's checks that do not depend on the object.
    ///
    /// # Errors
    /// The name of the manager is empty, longer than 128 bytes, or contains control characters (422).
    pub fn check(&self) -> Result<(), ManagerError> {
        let name = self.manager.as_str();
        if name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
            return Err(ManagerError { name: name.to_owned() });
        }
        Ok(())
    }
}

/// The time of a request: a [`SystemTime`], or a [`Time`] of managed fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now(pub Time);

impl From<Time> for Now {
    fn from(time: Time) -> Now {
        Now(time)
    }
}

impl From<SystemTime> for Now {
    fn from(time: SystemTime) -> Now {
        let seconds = |length: std::time::Duration| i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
        Now(Time(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => seconds(since),
            Err(before) => -seconds(before.duration()),
        }))
    }
}
