//! Renders findings for people.

use super::clean::{self, clean};
use super::wrap::{columns, wrap};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use kubeshape_input::{Code, Finding};
use kubeshape_schema::Level as How;

/// How messages look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appearance {
    /// Whether messages are coloured.
    pub(crate) styled: bool,
    /// The number of columns.
    pub(crate) width: usize,
}

/// Renders a finding with its position, its source line and advice.
pub(crate) fn full(finding: &Finding, how: How, look: Appearance) -> String {
    let level = match how {
        How::Error => Level::ERROR,
        How::Warning => Level::WARNING,
        How::Note | How::Off => Level::NOTE,
    };
    let label = how.name().len() + "[KS0000]: ".len();
    let title = wrap(finding.title(), look.width - label, 0, "");
    let mut group: Group<'_> = Group::with_title(level.primary_title(title).id(finding.code.to_string()));
    let gutter = finding.place.map_or(1, |place| place.line.to_string().len());
    // ` = note: `
    let message = |text: &str| wrap(&clean::lines(text), look.width.saturating_sub(gutter + 9), 0, "");
    let detail = clean(&finding.detail);
    let input = clean(finding.input.as_deref().unwrap_or_default());
    let mut is_said = false;
    let excerpt = finding.excerpt.as_ref().filter(|excerpt| !excerpt.text.is_empty()).map(clean::excerpt);
    match (finding.place, excerpt.as_ref()) {
        (Some(place), excerpt) => {
            let is_whole =
                excerpt.is_none_or(|excerpt| excerpt.text[..excerpt.span.start].chars().count() + 1 == place.column);
            match path_in_document(finding) {
                Some(path) => group = group.element(Origin::path(format!("{input}, at {}", clean(path)))),
                // The renderer counts columns in the excerpt, which is only part of a long line.
                None if !is_whole || excerpt.is_none() => {
                    group = group.element(Origin::path(input.clone()).line(place.line).char_column(place.column));
                }
                None => {}
            }
            if let Some(excerpt) = excerpt {
                // After the underlined text and a space.
                let end = columns(&excerpt.text[..excerpt.span.end]);
                is_said = gutter + 3 + end + 1 + columns(&detail) <= look.width;
                let mut annotation = AnnotationKind::Primary.span(excerpt.span.clone());
                if is_said {
                    annotation = annotation.label(detail.clone());
                }
                let mut snippet = Snippet::source(&excerpt.text).line_start(place.line).annotation(annotation);
                if is_whole && path_in_document(finding).is_none() {
                    snippet = snippet.path(input);
                }
                group = group.element(snippet);
            }
        }
        (None, _) if !input.is_empty() => group = group.element(Origin::path(input)),
        (None, _) => {}
    }
    if !is_said && !detail.is_empty() {
        group = group.element(Level::NOTE.message(message(&detail)));
    }
    let about = about(finding);
    if !about.is_empty() {
        group = group.element(Level::NOTE.message(message(&format!("in {about}"))));
    }
    for note in &finding.notes {
        group = group.element(Level::NOTE.message(message(&clean(note))));
    }
    group = group.element(Level::HELP.message(message(&finding.help())));
    let renderer = if look.styled { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(look.width).render(&[group])
}

/// Renders a finding in a few lines, without its source.
pub(crate) fn brief(finding: &Finding, how: How, look: Appearance) -> String {
    let (label, bold, reset) = match (look.styled, how) {
        (false, _) => ("", "", ""),
        (true, How::Error) => ("\u{1b}[1;31m", "\u{1b}[1m", "\u{1b}[0m"),
        (true, How::Warning) => ("\u{1b}[1;33m", "\u{1b}[1m", "\u{1b}[0m"),
        (true, _) => ("\u{1b}[1;32m", "\u{1b}[1m", "\u{1b}[0m"),
    };
    let place = if finding.input.is_some() { format!("{}: ", where_it_is(finding)) } else { String::new() };
    let text = format!(
        "{label}{}[{}]{reset}: {bold}{place}{reset}{}",
        how.name(),
        finding.code,
        with_about(clean(&finding.message()), finding)
    );
    wrap(&text, look.width, 0, "    ")
}

/// Codes whose advice proposes a bound or a name.
const PROPOSES: [Code; 3] = [Code::CrdCelCost, Code::ObjectField, Code::ObjectFieldDropped];

/// Renders a finding on one line, in the style of compilers.
pub(crate) fn short(finding: &Finding, how: How) -> String {
    let place = if finding.input.is_some() { format!("{}: ", clean(&finding.location())) } else { String::new() };
    let message = with_about(clean(&finding.message()), finding);
    // The advice of other codes repeats the message.
    let advice = finding.advice.as_deref().filter(|_| PROPOSES.contains(&finding.code));
    let help = advice.map(|advice| format!("; help: {}", clean(advice))).unwrap_or_default();
    format!("{place}{}[{}]: {message}{help}", how.name(), finding.code)
}

/// Returns `INPUT:LINE:COLUMN`, or the path in the document if it is one long line.
pub(crate) fn where_it_is(finding: &Finding) -> String {
    match (path_in_document(finding), &finding.input) {
        (Some(path), Some(input)) => clean(&format!("{input} at {path}")),
        _ => clean(&finding.location()),
    }
}

/// Returns the JSON pointer of a position in a long line.
fn path_in_document(finding: &Finding) -> Option<&str> {
    let place = finding.place?;
    finding.pointer.as_deref().filter(|pointer| place.is_far() && !pointer.is_empty())
}

pub(super) fn with_about(message: String, finding: &Finding) -> String {
    let about = about(finding);
    if about.is_empty() { message } else { format!("{message} (in {about})") }
}

pub(super) fn about(finding: &Finding) -> String {
    match (finding.resource.as_deref().unwrap_or_default(), finding.version.as_deref().unwrap_or_default()) {
        ("", _) => String::new(),
        (resource, "") => clean(resource),
        (resource, version) => format!("{}, version {}", clean(resource), clean(version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::{Excerpt, Place};

    const LOOK: Appearance = Appearance { styled: false, width: 80 };

    fn finding(place: Option<Place>, excerpt: Option<Excerpt>) -> Finding {
        let detail = "found a list, expected a text\u{1b}[31m";
        let mut finding = Finding::new(Code::WrongType, detail).in_input("a.yaml").of_resource("widgets.example.com");
        finding.version = Some("v1".to_owned());
        (finding.place, finding.excerpt) = (place, excerpt);
        finding
    }

    const PLACE: Option<Place> = Some(Place { line: 3, column: 10 });

    #[test]
    fn an_error_shows_its_position_and_advice() {
        let excerpt = Excerpt { text: "  group: [a]".into(), span: 9..12 };
        let text = full(&finding(PLACE, Some(excerpt)), How::Error, LOOK);
        let expected = "\
error[KS1005]: A field has a value of the wrong type
 --> a.yaml:3:10
  |
3 |   group: [a]
  |          ^^^ found a list, expected a text\u{FFFD}[31m
  |
  = note: in widgets.example.com, version v1
  = help: Write a value of the type that is expected; texts that look like
          numbers or booleans need quotes.";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_message_that_does_not_fit_after_the_source_goes_below_it() {
        let excerpt = Excerpt { text: "  group: [a]".into(), span: 9..12 };
        let mut finding = finding(PLACE, Some(excerpt));
        finding.detail =
            "found a list, expected a text, as in the example of the documentation of this field".to_owned();
        finding.notes = vec!["one more note that is as long as it can be, to see that it is wrapped, too".to_owned()];
        let text = full(&finding, How::Warning, LOOK);
        assert!(text.starts_with("warning[KS1005]: "), "{text}");
        assert!(text.contains("  = note: found a list, expected a text, as in the example of the documentation\n          of this field\n"), "{text}");
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    }

    #[test]
    fn a_position_can_be_a_character_of_several_bytes() {
        for c in ['\u{9b}', 'é', '\u{202e}'] {
            let excerpt = Excerpt { text: format!("a: {c}"), span: 3..3 };
            let text = full(&finding(PLACE, Some(excerpt)), How::Error, LOOK);
            assert!(text.contains("   ^ found a list") && (c == 'é' || !text.contains(c)), "{text}");
        }
    }

    #[test]
    fn an_error_without_source_is_shown_too() {
        let text = full(&finding(None, None), How::Error, LOOK);
        assert!(text.contains("--> a.yaml\n") && text.contains("note: found a list"), "{text}");
    }

    #[test]
    fn a_position_in_a_long_line_is_a_path() {
        let mut finding = finding(Some(Place { line: 1, column: 486_436 }), None);
        finding.pointer = Some("/paths/~1a/get".to_owned());
        let text = full(&finding, How::Error, LOOK);
        assert!(text.contains("--> a.yaml, at /paths/~1a/get\n") && !text.contains("486436"), "{text}");
        assert!(brief(&finding, How::Warning, LOOK).starts_with("warning[KS1005]: a.yaml at /paths/~1a/get: A field"));
        assert!(short(&finding, How::Warning).starts_with("a.yaml:1:486436: warning[KS1005]: A field"));
    }

    #[test]
    fn a_warning_is_short() {
        let text = brief(&finding(PLACE, None), How::Warning, LOOK);
        let expected = "\
warning[KS1005]: a.yaml:3:10: A field has a value of the wrong type: found a
    list, expected a text\u{FFFD}[31m (in widgets.example.com, version v1)";
        assert_eq!(text, expected);
    }
}
