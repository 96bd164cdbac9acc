//! The examples of the pages of codes.

use crate::report;
use kubeshape_schema::Code;

/// The codes of this crate: errors and warnings of servers, and advice.
fn codes() -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(|code| (3100..3400).contains(&code.number()))
}

/// The first example of a page.
fn example(code: Code) -> Option<&'static str> {
    let (_, rest) = code.page().split_once("```yaml\n")?;
    rest.split_once("```").map(|(example, _)| example)
}

#[test]
fn the_example_of_a_page_gives_its_code_and_no_other() {
    for code in codes() {
        let Some(text) = example(code) else { continue };
        let advice = code.number() / 100 == 33;
        let report = report(text, advice);
        let found: Vec<Code> = report.problems.iter().map(|problem| problem.note.code).collect();
        assert!(!found.is_empty() && found.iter().all(|other| *other == code), "{code}: {:#?}", report.problems);
    }
}

#[test]
fn every_page_but_that_about_size_has_an_example() {
    let without: Vec<Code> = codes().filter(|code| example(*code).is_none()).collect();
    assert_eq!(without, [Code::AdviceSize]);
}
