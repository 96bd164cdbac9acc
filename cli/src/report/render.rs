//! Findings as a person reads them.

use super::finding::Finding;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use kubeshape_schema::NoteKind;

/// A finding with its place, its line of the source, and what to do.
pub(crate) fn full(finding: &Finding, styled: bool) -> String {
    let level = if finding.code.kind() == NoteKind::Error { Level::ERROR } else { Level::WARNING };
    let title = finding.code.title().trim_end_matches('.');
    let mut group: Group<'_> = Group::with_title(level.primary_title(title).id(finding.code.to_string()));
    let detail = clean(&finding.detail);
    let input = clean(&finding.input);
    match &finding.place {
        Some((line, column, excerpt)) if !excerpt.text.is_empty() => {
            let mut snippet = Snippet::source(&excerpt.text)
                .line_start(*line)
                .annotation(AnnotationKind::Primary.span(excerpt.span.clone()).label(detail));
            // The column is counted in the excerpt, which begins later in a long line.
            if excerpt.text[..excerpt.span.start].chars().count() + 1 == *column {
                snippet = snippet.path(input);
            } else {
                group = group.element(Origin::path(input).line(*line).char_column(*column));
            }
            group = group.element(snippet);
        }
        Some((line, column, _)) => {
            group = group
                .element(Origin::path(input).line(*line).char_column(*column))
                .element(Level::NOTE.message(detail));
        }
        None => {
            if !input.is_empty() {
                group = group.element(Origin::path(input));
            }
            group = group.element(Level::NOTE.message(detail));
        }
    }
    let about = about(finding);
    if !about.is_empty() {
        group = group.element(Level::NOTE.message(format!("in {about}")));
    }
    for note in &finding.notes {
        group = group.element(Level::NOTE.message(clean(note)));
    }
    group = group.element(Level::HELP.message(finding.code.help()));
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// A finding on one line.
pub(crate) fn short(finding: &Finding, styled: bool) -> String {
    let (label, bold, reset) = if styled { ("\u{1b}[1;33m", "\u{1b}[1m", "\u{1b}[0m") } else { ("", "", "") };
    let place = match &finding.place {
        Some((line, column, _)) => format!("{}:{line}:{column}: ", clean(&finding.input)),
        None if finding.input.is_empty() => String::new(),
        None => format!("{}: ", clean(&finding.input)),
    };
    let about = about(finding);
    let about = if about.is_empty() { about } else { format!(" (in {about})") };
    let title = finding.code.title().trim_end_matches('.');
    format!("{label}warning[{}]{reset}: {bold}{place}{reset}{title}: {}{about}", finding.code, clean(&finding.detail))
}

fn about(finding: &Finding) -> String {
    match (finding.resource.as_str(), finding.version.as_str()) {
        ("", _) => String::new(),
        (resource, "") => clean(resource),
        (resource, version) => format!("{}, version {}", clean(resource), clean(version)),
    }
}

/// A text from the input without what a terminal would act upon.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => ' ',
            c if c.is_control()
                || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}') =>
            {
                char::REPLACEMENT_CHARACTER
            }
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::finding::Excerpt;
    use kubeshape_schema::Code;

    fn finding(place: Option<(usize, usize, Excerpt)>) -> Finding {
        Finding {
            code: Code::WrongType,
            input: "a.yaml".into(),
            place,
            resource: "widgets.example.com".into(),
            version: "v1".into(),
            detail: "found a list, expected a text\u{1b}[31m".into(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_error_shows_its_place_and_what_to_do() {
        let excerpt = Excerpt { text: "  group: [a]".into(), span: 9..12 };
        let text = full(&finding(Some((3, 10, excerpt))), false);
        assert!(text.starts_with("error[KS1005]: A field holds a value of the wrong type\n"), "{text}");
        for part in [
            "--> a.yaml:3:10",
            "3 |   group: [a]",
            "^^^ found a list, expected a text",
            "widgets.example.com, version v1",
            "help: ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn an_error_without_source_is_shown_as_well() {
        let text = full(&finding(None), false);
        assert!(text.contains("--> a.yaml") && text.contains("found a list"), "{text}");
    }

    #[test]
    fn a_warning_is_one_line() {
        let text = short(&finding(Some((3, 10, Excerpt::default()))), false);
        let expected = "warning[KS1005]: a.yaml:3:10: A field holds a value of the wrong type: found a list, expected a text\u{FFFD}[31m (in widgets.example.com, version v1)";
        assert_eq!(text, expected);
    }
}
