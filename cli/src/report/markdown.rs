//! Markdown, for a comment on a pull request.

use super::clean::clean;
use super::losses::count;
use super::markup::{cell_code, code, fenced, markdown as escaped};
use super::render;
use kubeshape_diff::Class;
use kubeshape_diff::upgrade::Plan;
use kubeshape_input::{Code, Finding};
use kubeshape_schema::Level;
use std::fmt::Write;

/// Findings as one document.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    counts: [usize; 3],
    verdicts: Vec<String>,
    /// Table rows of changes, and those of cosmetic ones.
    changes: [String; 2],
    cosmetic: usize,
    /// The code and the detail of the last change.
    last: Option<(Code, String)>,
    body: String,
    plans: String,
}

/// The header of a table of changes.
const HEAD: &str = "| class | change | where |\n|---|---|---|";

/// The maximum length of the document. A comment on GitHub can have 65,536 characters.
const MOST: usize = 60_000;

impl Markdown {
    /// Adds an item to the list.
    pub(crate) fn finding(&mut self, finding: &Finding, how: Level) {
        let (at, sign) = match how {
            Level::Error => (0, "❌"),
            Level::Warning => (1, "⚠️"),
            Level::Note | Level::Off => (2, "ℹ️"),
        };
        self.counts[at] += 1;
        // A change is a table row instead.
        let is_row =
            self.last.as_ref().is_some_and(|(code, detail)| (*code, detail) == (finding.code, &finding.detail));
        if self.is_full() || is_row {
            return;
        }
        let place = if finding.input.is_some() {
            format!(" at {}", code(&render::where_it_is(finding)))
        } else {
            String::new()
        };
        let about = render::about(finding);
        let about = if about.is_empty() { String::new() } else { format!(" in {}", code(&about)) };
        let detail = if finding.detail.is_empty() { String::new() } else { format!(": {}", escaped(&finding.detail)) };
        let code = finding.code;
        let _ = writeln!(self.body, "- {sign} **{}** (`{code}`){detail}{about}{place}", escaped(finding.title()));
        for note in &finding.notes {
            let _ = writeln!(self.body, "  - {}", escaped(note));
        }
        if let Some(advice) = &finding.advice {
            let _ = writeln!(self.body, "  - help: {}", escaped(advice));
        }
    }

    /// Adds the verdict on one definition, which comes first.
    pub(crate) fn verdict(&mut self, text: &str) {
        self.verdicts.push(format!("- {}", escaped(text)));
    }

    /// Adds a change, as a row of the table.
    pub(crate) fn change(&mut self, class: Class, finding: &Finding) {
        self.last = Some((finding.code, finding.detail.clone()));
        if self.is_full() {
            return;
        }
        let sign = match class {
            Class::Breaking => "❌",
            Class::Risky => "⚠️",
            Class::Compatible => "✅",
            Class::Cosmetic => "",
        };
        let is_cosmetic = class == Class::Cosmetic;
        self.cosmetic += usize::from(is_cosmetic);
        let about = render::about(finding);
        let place = render::where_it_is(finding);
        let place: Vec<String> = [about, place].iter().filter(|text| !text.is_empty()).map(|text| cell_code(text)).collect();
        let notes: Vec<String> = finding.notes.iter().map(|note| format!("<br>{}", escaped(note))).collect();
        let _ = writeln!(
            self.changes[usize::from(is_cosmetic)],
            "| {sign} {class} | {} (`{}`){} | {} |",
            escaped(&finding.detail),
            finding.code,
            notes.concat(),
            place.join("<br>"),
        );
    }

    /// Adds a block of code below the last item.
    pub(crate) fn block(&mut self, title: &str, language: &str, text: &str) {
        if self.is_full() {
            return;
        }
        let _ = writeln!(self.body, "  <details><summary>{}</summary>\n", escaped(title));
        fenced(&mut self.body, "  ", language, text);
        let _ = writeln!(self.body, "  </details>");
    }

    /// Adds a plan below the findings.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        if self.is_full() {
            return;
        }
        let _ = writeln!(self.plans, "#### {}\n\n{}\n", escaped(&plan.name), escaped(&plan.summary()));
        for (at, step) in plan.steps.iter().enumerate().filter(|_| !plan.is_plain()) {
            let _ = writeln!(self.plans, "{}. **{}.** {}\n", at + 1, escaped(&step.action.title()), escaped(&step.why));
            if !step.commands.is_empty() {
                let commands: Vec<String> = step.commands.iter().map(|command| clean(command)).collect();
                fenced(&mut self.plans, "   ", "sh", &commands.join("\n"));
            }
        }
        let lines: Vec<String> = plan.remarks().iter().map(|line| format!("- {}", escaped(line))).collect();
        if !lines.is_empty() {
            let _ = writeln!(self.plans, "{}\n", lines.join("\n"));
        }
    }

    fn is_full(&self) -> bool {
        self.body.len() + self.plans.len() + self.changes.iter().map(String::len).sum::<usize>() > MOST
    }

    /// Returns the document.
    pub(crate) fn document(&self) -> String {
        let [errors, warnings, notes] = self.counts;
        let mut out = String::from("### kubeshape\n\n");
        if errors + warnings + notes > 0 {
            let [errors, warnings, notes] =
                [(errors, "error"), (warnings, "warning"), (notes, "note")].map(|(n, what)| count(n as u64, what));
            let _ = writeln!(out, "{errors}, {warnings}, {notes}.");
        } else if self.verdicts.is_empty() {
            out.push_str("✅ Nothing was found.");
        } else {
            out.push_str("✅ Nothing breaks.\n");
        }
        if !self.verdicts.is_empty() {
            let _ = writeln!(out, "\n{}", self.verdicts.join("\n"));
        }
        let [changes, cosmetic] = &self.changes;
        if !changes.is_empty() {
            let _ = writeln!(out, "\n{HEAD}\n{}", changes.trim_end());
        }
        if !cosmetic.is_empty() {
            let summary = count(self.cosmetic as u64, "cosmetic change");
            let rows = cosmetic.trim_end();
            let _ = writeln!(out, "\n<details><summary>{summary}</summary>\n\n{HEAD}\n{rows}\n\n</details>");
        }
        if !self.body.is_empty() {
            let _ = writeln!(out, "\n{}", self.body.trim_end());
        }
        if !self.plans.is_empty() {
            let _ = write!(out, "\n\n{}", self.plans);
        }
        if self.is_full() {
            out.push_str("\nThere are more. Run the command to see all of them.");
        }
        out.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Markdown;
    use kubeshape_input::{Code, Finding};
    use kubeshape_schema::Level;

    #[test]
    fn texts_do_not_act_as_markup() {
        let mut markdown = Markdown::default();
        assert!(markdown.document().ends_with("Nothing was found."));
        let finding = Finding::new(Code::DiffBound, "a*b* <img> @all").in_input("a`.yaml").of_resource("x.example.com");
        markdown.finding(&finding, Level::Error);
        markdown.block("it", "yaml", "a: ```\nb: 1");
        let text = markdown.document();
        assert!(text.contains("1 error, 0 warnings"), "{text}");
        assert!(text.contains(r"a\*b\* \<img\> \@all in `x.example.com` at `` a`.yaml ``"), "{text}");
        assert!(text.contains("  ````yaml\n  a: ```\n  b: 1\n  ````"), "{text}");
    }
}
