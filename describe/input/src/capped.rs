//! Limits how many findings of one input are shown, because every document of an input can have some.

use crate::{Code, Finding};
use std::collections::BTreeMap;

/// The maximum number of findings of one code that are shown for an input.
pub const MOST_OF_A_CODE: usize = 1000;

/// Counts the findings of an input by code, and holds back those above the maximum.
///
/// # Example
/// ```
/// use kubeshape_input::{Capped, Code, Finding, MOST_OF_A_CODE};
///
/// let mut capped = Capped::default();
/// let all = (0..MOST_OF_A_CODE + 2).filter_map(|_| capped.admit(Box::new(Finding::new(Code::NotAnObject, ""))));
/// assert_eq!(all.count(), MOST_OF_A_CODE);
/// let rest: Vec<String> = capped.rest().map(|finding| finding.detail).collect();
/// assert_eq!(rest, ["2 more findings of this kind are not shown"]);
/// ```
#[derive(Debug, Default)]
pub struct Capped(BTreeMap<Code, OfCode>);

#[derive(Debug, Default)]
struct OfCode {
    shown: usize,
    /// The first finding that is not shown, and the number of findings that are not shown.
    rest: Option<(Box<Finding>, usize)>,
}

impl Capped {
    /// Returns the finding if it is to be shown. Otherwise counts it.
    pub fn admit(&mut self, finding: Box<Finding>) -> Option<Box<Finding>> {
        let of_code = self.0.entry(finding.code).or_default();
        if of_code.shown < MOST_OF_A_CODE {
            of_code.shown += 1;
            return Some(finding);
        }
        match &mut of_code.rest {
            Some((_, count)) => *count += 1,
            rest @ None => *rest = Some((finding, 1)),
        }
        None
    }

    /// Counts findings that another value held back, of which this is the first.
    pub fn hold(&mut self, first: Box<Finding>, count: usize) {
        match &mut self.0.entry(first.code).or_default().rest {
            Some((_, counted)) => *counted += count,
            rest @ None => *rest = Some((first, count)),
        }
    }

    /// Returns the first of the findings of each code that were held back, and their number.
    pub fn held(self) -> impl Iterator<Item = (Box<Finding>, usize)> {
        self.0.into_values().filter_map(|of_code| of_code.rest)
    }

    /// Returns one finding for each code with findings that were held back. It has their number, and the position of
    /// the first one.
    pub fn rest(self) -> impl Iterator<Item = Box<Finding>> {
        self.0.into_values().filter_map(|of_code| {
            let (mut first, count) = of_code.rest?;
            let s = if count == 1 { " of this kind is" } else { "s of this kind are" };
            first.detail = format!("{count} more finding{s} not shown");
            (first.resource, first.advice) = (None, None);
            first.notes.clear();
            Some(first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_counted_separately() {
        let mut capped = Capped::default();
        let mut admit = |code, count: usize| {
            let find = |n| Box::new(Finding::new(code, format!("finding {n}")));
            (0..count).filter_map(|n| capped.admit(find(n))).count()
        };
        assert_eq!(admit(Code::UnknownKind, MOST_OF_A_CODE), MOST_OF_A_CODE);
        assert_eq!(admit(Code::NotAnObject, MOST_OF_A_CODE + 1), MOST_OF_A_CODE);
        assert_eq!(admit(Code::UnknownKind, 2), 0);
        assert_eq!(admit(Code::ObjectField, 3), 3);
        let rest: Vec<(Code, String)> = capped.rest().map(|finding| (finding.code, finding.detail)).collect();
        let expected = [
            (Code::UnknownKind, "2 more findings of this kind are not shown".to_owned()),
            (Code::NotAnObject, "1 more finding of this kind is not shown".to_owned()),
        ];
        assert!(rest.len() == 2 && expected.iter().all(|one| rest.contains(one)), "{rest:?}");
    }
}
