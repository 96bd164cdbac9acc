//! The examples of the pages of codes.

use crate::report;
use kubeshape_check::Problem;
use kubeshape_schema::Code;
use kubeshape_validate::Release;

/// Returns the codes of this crate: errors and warnings of servers, and advice.
fn codes() -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(|code| (3100..3400).contains(&code.number()))
}

/// Returns the first example of a page.
fn example(code: Code) -> Option<&'static str> {
    let (_, rest) = code.page().split_once("```yaml\n")?;
    rest.split_once("```").map(|(example, _)| example)
}

#[test]
fn the_example_of_a_page_has_its_code_and_no_other() {
    let mut wrong = Vec::new();
    for code in codes() {
        let Some(text) = example(code) else { continue };
        let report = report(text, code.number() / 100 == 33);
        let is_said = report.problems.iter().any(|problem| problem.note.code == code);
        // Older releases may report something else: they drop a field, or lack a function.
        let is_old = |problem: &&Problem| !problem.is_of(Release::DEFAULT);
        let others = report.problems.iter().filter(|problem| problem.note.code != code && !is_old(problem));
        wrong.extend(others.map(|problem| format!("{code}: {}", problem.note)));
        if !is_said {
            wrong.push(format!("{code} is not said"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_page_except_that_about_size_has_an_example() {
    let without: Vec<Code> = codes().filter(|code| example(*code).is_none()).collect();
    assert_eq!(without, [Code::AdviceSize]);
}
