//! Which share of a server's refusals is reproduced, by kind.

const TABLE: &str = include_str!("shares.txt");

/// What was recorded of requests with objects of a kind, and what is reproduced of it.
///
/// The numbers are of requests that were recorded from kube-apiserver 1.36: realistic objects, and objects with
/// changes. The conformance area `builtins` counts them, and fails if they are out of date; with `UPDATE_EXPECT=1`, it
/// writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// How many requests the server accepts. None of them is refused here.
    pub accepted: u32,
    /// How many it refuses.
    pub refused: u32,
    /// How many of these are refused here.
    pub refused_here: u32,
    /// How many of these have the same errors, word for word.
    pub same_errors: u32,
    /// How many of the refused requests have objects that the constraints of the schema refuse
    /// ([`Constraints`](super::Constraints)).
    pub refused_by_schema: u32,
}

impl Share {
    /// The numbers of all kinds, by group and kind.
    pub fn all() -> impl Iterator<Item = Share> {
        TABLE.lines().filter_map(Share::read)
    }

    /// The numbers of a kind. `None` if nothing was recorded of it.
    ///
    /// # Example
    /// ```
    /// use kubeshape_validate::builtin::Share;
    ///
    /// let share = Share::of("apps", "Deployment").unwrap();
    /// assert!(share.refused_here <= share.refused && share.same_errors <= share.refused_here);
    /// assert!(Share::of("example.com", "Deployment").is_none());
    /// ```
    pub fn of(group: &str, kind: &str) -> Option<Share> {
        Share::all().find(|share| share.group == group && share.kind == kind)
    }

    /// A line: `GROUP KIND ACCEPTED REFUSED REFUSED_HERE SAME_ERRORS REFUSED_BY_SCHEMA`, with `core` for the core group.
    fn read(line: &'static str) -> Option<Share> {
        let mut parts = line.split(' ');
        let (group, kind) = (parts.next()?, parts.next()?);
        let mut number = || parts.next()?.parse().ok();
        Some(Share {
            group: if group == "core" { "" } else { group },
            kind,
            accepted: number()?,
            refused: number()?,
            refused_here: number()?,
            same_errors: number()?,
            refused_by_schema: number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, TABLE};

    #[test]
    fn every_line_is_read_and_no_share_is_more_than_the_whole() {
        assert_eq!(Share::all().count(), TABLE.lines().count());
        for share in Share::all() {
            assert!(share.refused_here <= share.refused && share.same_errors <= share.refused_here, "{share:?}");
            assert!(share.refused_by_schema <= share.refused, "{share:?}");
        }
    }
}
