//! JUnit XML, the format in which CI servers read test results.

use super::render;
use kubeshape_input::Finding;
use kubeshape_schema::Level;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The test cases and their results, as one document.
#[derive(Debug, Default)]
pub(crate) struct Junit {
    suites: Vec<Suite>,
    by_name: BTreeMap<String, usize>,
    /// The input and the name of the current case that compares.
    current: Option<(String, String)>,
}

#[derive(Debug, Default)]
struct Suite {
    name: String,
    cases: Vec<Case>,
    by_name: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
struct Case {
    name: String,
    failures: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Junit {
    /// Adds a case of an input. It passes unless a finding says otherwise.
    pub(crate) fn case(&mut self, input: &str, name: &str) {
        self.at(input, name);
    }

    /// Adds a case that compares two inputs. Findings in the second input belong to it, too.
    pub(crate) fn compared(&mut self, input: &str, name: &str) {
        self.at(input, name);
        self.current = Some((input.to_owned(), name.to_owned()));
    }

    /// Adds a case that has ended. Findings in its input since the last case belong to it, unless they name another
    /// case.
    pub(crate) fn ended(&mut self, input: &str, name: &str) {
        let suite = self.by_name.get(input).and_then(|at| self.suites.get_mut(*at));
        let Some((suite, at)) = suite.and_then(|suite| suite.by_name.remove(input).map(|at| (suite, at))) else {
            return self.case(input, name);
        };
        match suite.by_name.get(name).copied() {
            None => {
                name.clone_into(&mut suite.cases[at].name);
                suite.by_name.insert(name.to_owned(), at);
            }
            Some(known) => {
                let loose = std::mem::take(&mut suite.cases[at]);
                suite.cases[known].failures.extend(loose.failures);
                suite.cases[known].notes.extend(loose.notes);
            }
        }
    }

    /// Adds a finding. An error makes its case fail; anything else becomes part of its output.
    pub(crate) fn finding(&mut self, finding: &Finding, how: Level) {
        let input = finding.input.as_deref().unwrap_or("kubeshape");
        let name = finding.resource.as_deref().unwrap_or(input);
        // A change may be marked in the second of two inputs.
        let current = self.current.clone().filter(|(_, current)| current == name);
        let suite = current.map_or_else(|| input.to_owned(), |(input, _)| input);
        let case = self.at(&suite, name);
        let text = render::short(finding, how);
        if how == Level::Error {
            let mut text = text;
            for note in &finding.notes {
                text.push('\n');
                text.push_str(note);
            }
            case.failures.push((format!("{}: {}", finding.code, finding.message()), text));
        } else {
            case.notes.push(text);
        }
    }

    fn at(&mut self, input: &str, name: &str) -> &mut Case {
        let suites = &mut self.suites;
        let at = *self.by_name.entry(input.to_owned()).or_insert_with(|| {
            suites.push(Suite { name: input.to_owned(), ..Suite::default() });
            suites.len() - 1
        });
        let Suite { cases, by_name, .. } = &mut self.suites[at];
        let at = *by_name.entry(name.to_owned()).or_insert_with(|| {
            cases.push(Case { name: name.to_owned(), ..Case::default() });
            cases.len() - 1
        });
        &mut cases[at]
    }

    /// Returns the document.
    pub(crate) fn document(&self) -> String {
        // A case whose findings were moved to another case has no name.
        let named = |case: &&Case| !case.name.is_empty();
        let count = |cases: &[Case]| {
            (cases.iter().filter(named).count(), cases.iter().filter(|case| !case.failures.is_empty()).count())
        };
        let all = self.suites.iter().map(|suite| count(&suite.cases));
        let (tests, failures) = all.fold((0, 0), |sum, (tests, failed)| (sum.0 + tests, sum.1 + failed));
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(out, "<testsuites name=\"kubeshape\" tests=\"{tests}\" failures=\"{failures}\">");
        for suite in &self.suites {
            let (tests, failures) = count(&suite.cases);
            let name = escaped(&suite.name);
            let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">");
            for case in suite.cases.iter().filter(named) {
                let _ = write!(out, "    <testcase classname=\"{name}\" name=\"{}\"", escaped(&case.name));
                if case.failures.is_empty() && case.notes.is_empty() {
                    out.push_str("/>\n");
                    continue;
                }
                out.push_str(">\n");
                for (message, text) in &case.failures {
                    let (message, text) = (escaped(message), escaped(text));
                    let _ = writeln!(out, "      <failure message=\"{message}\">{text}</failure>");
                }
                if !case.notes.is_empty() {
                    let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(&case.notes.join("\n")));
                }
                out.push_str("    </testcase>\n");
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>");
        out
    }
}

/// Escapes a text for XML 1.0. Characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Junit;
    use kubeshape_input::{Code, Finding};
    use kubeshape_schema::Level;

    #[test]
    fn a_failed_case_is_not_also_reported_as_passed() {
        let finding = |input: &str| Finding::new(Code::Scenario, "x").in_input(input);
        // The end of a scenario comes after its findings, which name no resource.
        let mut junit = Junit::default();
        junit.ended("s.yaml", "first");
        junit.finding(&finding("s.yaml"), Level::Error);
        junit.ended("s.yaml", "second");
        junit.finding(&finding("s.yaml"), Level::Error);
        junit.ended("s.yaml", "second");
        let text = junit.document();
        assert!(text.contains(r#"<testsuite name="s.yaml" tests="2" failures="1">"#), "{text}");
        assert_eq!(text.matches("<failure").count(), 2, "{text}");
        // A removal is marked in the old file.
        let mut junit = Junit::default();
        junit.compared("new.yaml", "widgets.example.com");
        junit.finding(&finding("old.yaml").of_resource("widgets.example.com"), Level::Error);
        let text = junit.document();
        assert!(text.contains(r#"<testsuites name="kubeshape" tests="1" failures="1">"#), "{text}");
        assert!(!text.contains(r#"classname="old.yaml""#), "{text}");
        // A broken file is a case of its own.
        junit.finding(&finding("broken.yaml"), Level::Error);
        assert!(junit.document().contains(r#"tests="2" failures="2""#), "{}", junit.document());
    }

    #[test]
    fn only_an_error_makes_a_case_fail() {
        let mut junit = Junit::default();
        junit.case("a.yaml", "Widget a");
        junit.case("a.yaml", "Widget <b>");
        let finding = Finding::new(Code::ObjectRefused, "x & \"y\"\u{1b}").in_input("a.yaml").of_resource("Widget <b>");
        junit.finding(&finding, Level::Error);
        let text = junit.document();
        assert!(text.contains(r#"<testsuite name="a.yaml" tests="2" failures="1">"#), "{text}");
        assert!(text.contains(r#"<testcase classname="a.yaml" name="Widget a"/>"#), "{text}");
        let failure = "name=\"Widget &lt;b&gt;\">\n      <failure message=\"KS8101: The API server refuses the object: \
                       x &amp; &quot;y&quot;\u{fffd}\">";
        assert!(text.contains(failure), "{text}");
    }
}
