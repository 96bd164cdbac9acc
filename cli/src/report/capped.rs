//! Limits how many findings of one input are shown, because every document of an input can have some.

use kubeshape_input::{Code, Finding};
use std::collections::BTreeMap;

/// The maximum number of findings of one code that are shown for an input.
pub(crate) const MOST_OF_A_CODE: usize = 1000;

/// Counts the findings of an input by code, and holds back those above the maximum.
#[derive(Debug, Default)]
pub(crate) struct Capped(BTreeMap<Code, OfCode>);

#[derive(Debug, Default)]
struct OfCode {
    shown: usize,
    /// The first finding that is not shown, and the number of findings that are not shown.
    rest: Option<(Box<Finding>, usize)>,
}

impl Capped {
    /// Returns the finding if it is to be shown. Otherwise counts it.
    pub(crate) fn admit(&mut self, finding: Box<Finding>) -> Option<Box<Finding>> {
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

    /// Returns one finding for each code with findings that were held back. It has their number, and the position of
    /// the first one.
    pub(crate) fn rest(self) -> impl Iterator<Item = Box<Finding>> {
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
