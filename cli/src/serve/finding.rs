//! What there is to say about files, for people and for logs.

use crate::report::{Finding as Shown, Lines};
use kubeshape_server::{Change, Finding};

/// `FILE:LINE:COLUMN: CODE detail`
pub(super) fn line(finding: &Finding) -> String {
    let place = finding.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    format!("{}{place}: {} {}", finding.file, finding.code, finding.detail)
}

/// Logs a finding with its place.
pub(super) fn log(finding: &Finding) {
    let (line, column) = finding.place.unwrap_or_default();
    let (file, resource, detail) = (&*finding.file, finding.resource.as_str(), finding.detail.as_str());
    let title = finding.code.title().trim_end_matches('.');
    if finding.is_error() {
        tracing::error!(code = %finding.code, file, line, column, resource, detail, "{title}");
    } else {
        tracing::warn!(code = %finding.code, file, line, column, resource, detail, "{title}");
    }
}

/// The form in which `convert` shows findings, with the line of the source.
pub(super) fn shown(finding: &Finding, changes: &[Change]) -> Shown {
    let content = changes.iter().find(|change| change.name == finding.file).and_then(|change| change.content.as_ref());
    let source = content.and_then(|content| std::str::from_utf8(content).ok()).unwrap_or_default();
    let place = finding.place.map(|(line, column)| {
        let mut lines = Lines::default();
        lines.clear();
        let excerpt = offset(source, line, column).map(|at| {
            let end = source[at..].find([',', '\n', '}', ']']).map_or(source.len(), |end| at + end.max(1));
            lines.excerpt(source, at..end)
        });
        (line, column, excerpt.unwrap_or_default())
    });
    Shown {
        code: finding.code,
        input: finding.file.to_string(),
        place,
        resource: finding.resource.clone(),
        version: String::new(),
        detail: finding.detail.clone(),
        notes: Vec::new(),
    }
}

/// Where a line and a column are, both from 1.
fn offset(source: &str, line: usize, column: usize) -> Option<usize> {
    let start = match line.checked_sub(2) {
        None => 0,
        Some(n) => source.match_indices('\n').nth(n)?.0 + 1,
    };
    let within = source[start..].split('\n').next()?;
    within.char_indices().map(|(at, _)| at).nth(column.checked_sub(1)?).map(|at| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_schema::Code;

    #[test]
    fn places_are_found_again() {
        let source = "a: é\nbb: [1,\n2]\n";
        for (line, column, rest) in [(1, 1, "a: é"), (1, 4, "é"), (2, 5, "[1"), (3, 2, "]")] {
            let at = offset(source, line, column).expect("a place");
            assert!(source[at..].starts_with(rest), "{line}:{column}");
        }
        for (line, column) in [(0, 0), (1, 0), (1, 9), (9, 1)] {
            assert_eq!(offset(source, line, column), None);
        }
    }

    #[test]
    fn a_finding_has_its_line() {
        let finding = Finding {
            code: Code::WrongType,
            file: "a.yaml".into(),
            place: Some((2, 5)),
            resource: String::new(),
            detail: "found a list".to_owned(),
        };
        assert_eq!(line(&finding), "a.yaml:2:5: KS1005 found a list");
        let change = Change { name: "a.yaml".into(), content: Some("a: b\nbb: [1]\n".into()) };
        let shown = shown(&finding, &[change]);
        let (_, _, excerpt) = shown.place.expect("a place");
        assert_eq!((excerpt.text.as_str(), excerpt.span), ("bb: [1]", 4..6));
    }
}
