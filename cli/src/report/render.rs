//! Rendering of findings for people.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use kubeshape_input::{Finding, Place};

/// A finding with its place, its line of the source, and advice.
pub(crate) fn full(finding: &Finding, styled: bool) -> String {
    let level = if finding.is_error() { Level::ERROR } else { Level::WARNING };
    let mut group: Group<'_> = Group::with_title(level.primary_title(finding.title()).id(finding.code.to_string()));
    let detail = clean(&finding.detail);
    let input = clean(finding.input.as_deref().unwrap_or_default());
    match (finding.place, finding.excerpt.as_ref().filter(|excerpt| !excerpt.text.is_empty())) {
        (Some(Place { line, column }), Some(excerpt)) => {
            let mut snippet = Snippet::source(&excerpt.text)
                .line_start(line)
                .annotation(AnnotationKind::Primary.span(excerpt.span.clone()).label(detail));
            // The renderer counts columns in the excerpt, which is only a part of a long line.
            if excerpt.text[..excerpt.span.start].chars().count() + 1 == column {
                snippet = snippet.path(input);
            } else {
                group = group.element(Origin::path(input).line(line).char_column(column));
            }
            group = group.element(snippet);
        }
        (Some(Place { line, column }), None) => {
            group =
                group.element(Origin::path(input).line(line).char_column(column)).element(Level::NOTE.message(detail));
        }
        (None, _) => {
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
    group = group.element(Level::HELP.message(finding.help()));
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// A finding on one line.
pub(crate) fn short(finding: &Finding, styled: bool) -> String {
    let (label, bold, reset) = if styled { ("\u{1b}[1;33m", "\u{1b}[1m", "\u{1b}[0m") } else { ("", "", "") };
    let place = if finding.input.is_some() { format!("{}: ", clean(&finding.location())) } else { String::new() };
    let about = about(finding);
    let about = if about.is_empty() { about } else { format!(" (in {about})") };
    let (code, title) = (finding.code, finding.title());
    format!("{label}warning[{code}]{reset}: {bold}{place}{reset}{title}: {}{about}", clean(&finding.detail))
}

fn about(finding: &Finding) -> String {
    match (finding.resource.as_deref().unwrap_or_default(), finding.version.as_deref().unwrap_or_default()) {
        ("", _) => String::new(),
        (resource, "") => clean(resource),
        (resource, version) => format!("{}, version {}", clean(resource), clean(version)),
    }
}

/// A text from the input without control characters, which a terminal would interpret.
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
    use kubeshape_input::{Code, Excerpt};

    fn finding(place: Option<Place>, excerpt: Option<Excerpt>) -> Finding {
        let detail = "found a list, expected a text\u{1b}[31m";
        let mut finding = Finding::new(Code::WrongType, detail).in_input("a.yaml").of_resource("widgets.example.com");
        finding.version = Some("v1".to_owned());
        (finding.place, finding.excerpt) = (place, excerpt);
        finding
    }

    const PLACE: Option<Place> = Some(Place { line: 3, column: 10 });

    #[test]
    fn an_error_shows_its_place_and_what_to_do() {
        let excerpt = Excerpt { text: "  group: [a]".into(), span: 9..12 };
        let text = full(&finding(PLACE, Some(excerpt)), false);
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
        let text = full(&finding(None, None), false);
        assert!(text.contains("--> a.yaml") && text.contains("found a list"), "{text}");
    }

    #[test]
    fn a_warning_is_one_line() {
        let text = short(&finding(PLACE, None), false);
        let expected = "warning[KS1005]: a.yaml:3:10: A field holds a value of the wrong type: found a list, expected a text\u{FFFD}[31m (in widgets.example.com, version v1)";
        assert_eq!(text, expected);
    }
}
