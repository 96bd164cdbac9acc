//! Markdown, for a comment on a pull request: the verdict, a table, and details that are folded.

use super::clean::clean;
use super::document::{Document, Entry};
use super::losses::count;
use super::markup::{cell_code, code, fenced, markdown as escaped};
use super::{matrix, render};
use kubeshape_diff::Class;
use kubeshape_schema::Level;
use std::fmt::Write;

/// The headers of the tables of changes and of other findings.
const CHANGES: &str = "| class | change | where |\n| --- | --- | --- |";
const FINDINGS: &str = "| | finding | where |\n| --- | --- | --- |";

/// The maximum length of the document. A comment on GitHub can have 65,536 characters.
const MOST: usize = 60_000;

/// Prints a document.
pub(crate) fn print(document: &Document) -> String {
    let mut out = String::from("### kubeshape\n\n");
    let (outcome, is_good) = document.outcome();
    let is_empty = document.counts == [0; 3];
    let _ = writeln!(out, "{}{outcome}", if is_good && is_empty { "✅ " } else { "" });
    if !document.verdicts.is_empty() {
        out.push('\n');
    }
    let (mut changes, mut cosmetic, mut findings, mut details) =
        (String::new(), String::new(), String::new(), String::new());
    let mut cosmetics = 0;
    let mut is_cut = false;
    for verdict in &document.verdicts {
        is_cut |= out.len() > MOST / 2;
        if !is_cut {
            let _ = writeln!(out, "- {}", escaped(verdict));
        }
    }
    let matrix = matrix::to_markdown(document);
    if out.len() + matrix.len() <= MOST / 2 {
        out.push_str(&matrix);
    } else {
        is_cut |= !matrix.is_empty();
    }
    for entry in &document.entries {
        let is_cosmetic = entry.change.as_ref().is_some_and(|change| change.class == Class::Cosmetic);
        cosmetics += u64::from(is_cosmetic);
        if out.len() + changes.len() + cosmetic.len() + findings.len() + details.len() > MOST {
            is_cut = true;
            continue;
        }
        match &entry.change {
            Some(change) => row(entry, class(change.class), if is_cosmetic { &mut cosmetic } else { &mut changes }),
            None => row(entry, sign(entry.level), &mut findings),
        }
        detail(entry, &mut details);
    }
    let plans = plans(document, MOST.saturating_sub(out.len() + changes.len() + findings.len() + details.len()));
    is_cut |= plans.is_none();
    for (header, rows) in [(CHANGES, &changes), (FINDINGS, &findings)] {
        if !rows.is_empty() {
            let _ = writeln!(out, "\n{header}\n{}", rows.trim_end());
        }
    }
    if !cosmetic.is_empty() {
        let summary = count(cosmetics, "cosmetic change");
        let rows = cosmetic.trim_end();
        let _ = writeln!(out, "\n<details><summary>{summary}</summary>\n\n{CHANGES}\n{rows}\n\n</details>");
    }
    if !details.is_empty() {
        let _ = writeln!(out, "\n<details><summary>Details</summary>\n\n{}\n\n</details>", details.trim_end());
    }
    if let Some(plans) = plans.filter(|plans| !plans.is_empty()) {
        let _ = write!(out, "\n{plans}");
    }
    if is_cut {
        out.push_str("\nThere are more. Run the command to see all of them.");
    }
    out.trim_end().to_owned()
}

fn sign(level: Level) -> &'static str {
    match level {
        Level::Error => "❌ error",
        Level::Warning => "⚠️ warning",
        Level::Note | Level::Off => "ℹ️ note",
    }
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Breaking => "❌ breaking",
        Class::Risky => "⚠️ risky",
        Class::Compatible => "✅ compatible",
        Class::Cosmetic => "cosmetic",
    }
}

/// Adds a row to a table.
fn row(entry: &Entry, sign: &str, out: &mut String) {
    let finding = &entry.finding;
    let about = render::about(finding);
    let place = if finding.input.is_some() { render::where_it_is(finding) } else { String::new() };
    let place: Vec<String> =
        [about, place].iter().filter(|text| !text.is_empty()).map(|text| cell_code(text)).collect();
    let text = match (&entry.change, finding.detail.as_str()) {
        // The detail of a change says what changed.
        (Some(_), detail) if !detail.is_empty() => escaped(detail),
        (_, "") => escaped(finding.title()),
        (_, detail) => format!("{}: {}", escaped(finding.title()), escaped(detail)),
    };
    let _ = writeln!(out, "| {sign} | {text} (`{}`) | {} |", finding.code, place.join("<br>"));
}

/// Adds what does not fit into a row.
fn detail(entry: &Entry, out: &mut String) {
    let finding = &entry.finding;
    let help = finding.advice.as_deref().filter(|_| entry.is_finding);
    if finding.notes.is_empty() && help.is_none() && entry.blocks.is_empty() {
        return;
    }
    let text = if finding.detail.is_empty() { finding.title() } else { &finding.detail };
    let place =
        if finding.input.is_some() { code(&render::where_it_is(finding)) } else { code(&render::about(finding)) };
    let _ = writeln!(out, "- `{}` {place}: {}", finding.code, escaped(text));
    for note in &finding.notes {
        let _ = writeln!(out, "  - {}", escaped(note));
    }
    if let Some(help) = help {
        let _ = writeln!(out, "  - help: {}", escaped(help));
    }
    for block in &entry.blocks {
        let _ = writeln!(out, "\n  {}:\n", escaped(&block.title));
        fenced(out, "  ", &block.language, &block.text);
    }
}

/// Prints the plans. `None` if they are longer than that.
fn plans(document: &Document, most: usize) -> Option<String> {
    let mut out = String::new();
    for plan in &document.plans {
        let _ = writeln!(out, "#### {}\n\n{}\n", escaped(&plan.name), escaped(&plan.summary));
        for (at, step) in plan.steps.iter().enumerate() {
            let _ = writeln!(out, "{}. **{}.** {}\n", at + 1, escaped(&step.title), escaped(&step.why));
            if !step.commands.is_empty() {
                let commands: Vec<String> = step.commands.iter().map(|command| clean(command)).collect();
                fenced(&mut out, "   ", "sh", &commands.join("\n"));
            }
        }
        let lines: Vec<String> = plan.remarks.iter().map(|line| format!("- {}", escaped(line))).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "{}\n", lines.join("\n"));
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::print;
    use crate::report::document::Document;
    use kubeshape_input::{Code, Finding};
    use kubeshape_schema::Level;

    #[test]
    fn texts_do_not_act_as_markup() {
        let mut document = Document::default();
        assert!(print(&document).ends_with("✅ Nothing was found."));
        let finding = Finding::new(Code::DiffBound, "a*b* <img> @all").in_input("a`.yaml").of_resource("x.example.com");
        document.finding(&finding, Level::Error);
        document.block("it", "yaml", "a: ```\nb: 1");
        let text = print(&document);
        assert!(text.contains("1 error, 0 warnings"), "{text}");
        let row = r"a\*b\* \<img\> \@all (`KS8409`) | `x.example.com`<br>`` a`.yaml `` |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("  ````yaml\n  a: ```\n  b: 1\n  ````"), "{text}");
        let order = ["1 error", "| ❌ error |", "<details><summary>Details</summary>"].map(|part| text.find(part));
        assert!(order.is_sorted() && order[0].is_some(), "{text}");
    }

    #[test]
    fn a_document_fits_into_a_comment() {
        let mut document = Document::default();
        for n in 0..5_000 {
            let finding = Finding::new(Code::DiffBound, format!("field{n} has another bound")).in_input("a.yaml");
            document.finding(&finding, Level::Warning);
        }
        let text = print(&document);
        assert!(text.len() < 65_536 && text.ends_with("Run the command to see all of them."), "{}", text.len());
        assert!(text.contains("0 errors, 5,000 warnings, 0 notes."), "{}", &text[..200]);
    }
}
