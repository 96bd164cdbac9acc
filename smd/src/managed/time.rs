//! When an entry was last changed.

use std::fmt;

/// A point in time in seconds since 1970-01-01T00:00:00Z; managed fields know no fractions.
///
/// # Example: reading and printing
/// ```
/// use kubeshape_smd::managed::Time;
/// let time = Time::parse("2000-01-01T01:00:00.5+01:00").unwrap();
/// assert_eq!(time, Time(946_684_800));
/// assert_eq!(time.to_string(), "2000-01-01T00:00:00Z");
/// assert_eq!(Time::parse("2000-02-30T00:00:00Z"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Reads an RFC 3339 time; a fraction of a second is dropped. None if it is no such time.
    pub fn parse(text: &str) -> Option<Time> {
        let _ = text;
        todo!()
    }
}

impl fmt::Display for Time {
    /// In universal time: `2000-01-01T00:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}
