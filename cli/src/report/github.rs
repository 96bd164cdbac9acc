//! Annotations of GitHub Actions.

use super::clean::clean;
use super::render;
use kubeshape_input::Finding;
use kubeshape_schema::Level;
use std::fmt::Write;

/// Returns a finding as a workflow command: `::error file=F,line=L,col=C,title=T::MESSAGE`.
pub(crate) fn annotation(finding: &Finding, how: Level) -> String {
    let command = match how {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note | Level::Off => "notice",
    };
    let mut out = format!("::{command} ");
    if let Some(input) = finding.input.as_deref().filter(|input| *input != "-") {
        let _ = write!(out, "file={},", property(input));
        if let Some(place) = finding.place {
            let _ = write!(out, "line={},col={},", place.line, place.column);
        }
    }
    let mut message = render::with_about(finding.message(), finding);
    for note in &finding.notes {
        message.push('\n');
        message.push_str(note);
    }
    message.push('\n');
    message.push_str(&finding.help());
    let _ = write!(out, "title={}::{}", property(&format!("{} {}", finding.code, finding.title())), data(&message));
    out
}

/// Escapes a message as `@actions/core` does. Other control characters are replaced, because they would reach the
/// terminals of people who read the log.
fn data(text: &str) -> String {
    let escaped = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    clean(&escaped)
}

/// Escapes the value of a property as `@actions/core` does.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::{Code, Place};

    #[test]
    fn characters_with_a_meaning_to_github_are_escaped() {
        let mut finding = Finding::new(Code::WrongType, "100%\r\nfound: a, b::c").in_input("a,b:c%.yaml");
        finding.place = Some(Place { line: 3, column: 7 });
        let expected = "::error file=a%2Cb%3Ac%25.yaml,line=3,col=7,title=KS1005 A field has a value of the wrong \
                        type::A field has a value of the wrong type: 100%25%0D%0Afound: a, b::c%0A";
        let text = annotation(&finding, Level::Error);
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains('\n') && !text.contains('\r'));
        let text = annotation(&Finding::new(Code::WrongType, "\u{1b}[2J").in_input("\u{1b}]0;x\u{7}"), Level::Error);
        assert!(!text.contains(char::is_control), "{text}");
    }

    #[test]
    fn a_finding_without_a_file_names_none() {
        let text = annotation(&Finding::new(Code::ResolvedKey, "x").in_input("-"), Level::Warning);
        assert!(text.starts_with("::warning title=KS1004 An unquoted key"), "{text}");
        assert!(annotation(&Finding::new(Code::V2Default, "x"), Level::Note).starts_with("::notice title=KS2008 "));
    }
}
