//! HTML: one file that loads nothing and runs nothing. Filters are style rules.

use super::document::{Block, Document, Entry, severity};
use super::markup::html as escaped;
use super::{matrix, render};
use base64::prelude::{BASE64_STANDARD, Engine};
use kubeshape_diff::Class;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// Kinds in the filter. Findings of further ones are shown with all others only.
const MOST_KINDS: usize = 200;

/// Prints a document.
pub(crate) fn print(document: &Document) -> String {
    let kinds = kinds(document);
    let mut style = STYLE.to_owned();
    for at in 0..kinds.len() {
        let _ = writeln!(
            style,
            "body:has(#kind option[value=\"k{at}\"]:checked) [data-kind]:not([data-kind=\"k{at}\"]) {{ display: none }}"
        );
    }
    let (outcome, is_good) = document.outcome();
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>kubeshape: {}</title>\n<style>{style}</style>\n\
         </head>\n<body>\n<header>\n<h1>kubeshape</h1>\n<p class=\"verdict {}\">{}</p>\n",
        BASE64_STANDARD.encode(Sha256::digest(&style)),
        escaped(&outcome),
        if is_good { "good" } else { "bad" },
        escaped(&outcome),
    );
    if !document.verdicts.is_empty() {
        let items = document.verdicts.iter().map(|text| format!("<li>{}</li>\n", escaped(text)));
        let _ = writeln!(out, "<ul>\n{}</ul>", items.collect::<String>());
    }
    out.push_str("</header>\n");
    out.push_str("<main>\n");
    filters(document, &kinds, &mut out);
    matrix::to_html(document, &mut out);
    changes(document, &mut out);
    if document.entries.iter().any(|entry| entry.is_finding) {
        out.push_str("<section>\n<h2>Findings</h2>\n");
        for (at, entry) in document.entries.iter().enumerate().filter(|(_, entry)| entry.is_finding) {
            finding(at, entry, &kinds, &mut out);
        }
        out.push_str("</section>\n");
    }
    plans(document, &mut out);
    out.push_str("</main>\n</body>\n</html>");
    out
}

/// Returns the kind of what a finding is about: `Widget` of the object `Widget first`, a definition by its name.
fn kind_of(entry: &Entry) -> &str {
    let about = entry.finding.resource.as_deref().unwrap_or_default();
    about.split([' ', '/']).next().unwrap_or_default()
}

/// Returns the kinds in the filter, with their numbers.
fn kinds(document: &Document) -> BTreeMap<&str, usize> {
    let names: std::collections::BTreeSet<&str> = document.entries.iter().map(kind_of).collect();
    let names = names.into_iter().filter(|name| !name.is_empty()).take(MOST_KINDS);
    names.enumerate().map(|(at, name)| (name, at)).collect()
}

/// Returns the attribute by which the filter knows the kind of a finding.
fn mark(entry: &Entry, kinds: &BTreeMap<&str, usize>) -> String {
    kinds.get(kind_of(entry)).map_or_else(|| "data-kind=\"\"".to_owned(), |at| format!("data-kind=\"k{at}\""))
}

fn filters(document: &Document, kinds: &BTreeMap<&str, usize>, out: &mut String) {
    if document.entries.iter().filter(|entry| entry.is_finding).count() < 2 {
        return;
    }
    out.push_str("<fieldset class=\"filters\">\n<legend>Show</legend>\n");
    for (count, name) in document.counts.iter().zip(["error", "warning", "note"]).filter(|(count, _)| **count > 0) {
        let _ = writeln!(
            out,
            "<label><input type=\"checkbox\" id=\"show-{name}\" checked> {}</label>",
            super::losses::count(*count as u64, name)
        );
    }
    if kinds.len() > 1 {
        out.push_str("<label>Kind <select id=\"kind\">\n<option value=\"\">all</option>\n");
        for (name, at) in kinds {
            let _ = writeln!(out, "<option value=\"k{at}\">{}</option>", escaped(name));
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("</fieldset>\n");
}

/// A field in the tree of changes.
#[derive(Debug, Default)]
struct Field<'d> {
    own: Vec<(usize, &'d Entry)>,
    below: BTreeMap<&'d str, Field<'d>>,
}

/// Deeper fields are shown at this depth, with the rest of their path.
const DEEPEST: usize = 64;

/// Prints the tree of changes: definitions with their versions and fields.
fn changes(document: &Document, out: &mut String) {
    let mut tree: BTreeMap<String, Field<'_>> = BTreeMap::new();
    for (at, entry) in document.entries.iter().enumerate() {
        let Some(change) = &entry.change else { continue };
        let mut field = tree.entry(render::about(&entry.finding)).or_default();
        for name in change.path.splitn(DEEPEST, '.').filter(|name| !name.is_empty()) {
            field = field.below.entry(name).or_default();
        }
        field.own.push((at, entry));
    }
    if tree.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Changes</h2>\n<ul class=\"tree\">\n");
    for (name, field) in &tree {
        branch(name, field, out);
    }
    out.push_str("</ul>\n</section>\n");
}

fn branch(name: &str, field: &Field<'_>, out: &mut String) {
    let name = format!("<code>{}</code>", escaped(name));
    if field.below.is_empty() {
        let _ = write!(out, "<li>{name}");
        leaves(field, out);
        out.push_str("</li>\n");
        return;
    }
    let _ = write!(out, "<li><details open><summary>{name}</summary>");
    leaves(field, out);
    out.push_str("\n<ul>\n");
    for (name, field) in &field.below {
        branch(name, field, out);
    }
    out.push_str("</ul>\n</details></li>\n");
}

/// Prints the changes of one field.
fn leaves(field: &Field<'_>, out: &mut String) {
    if field.own.is_empty() {
        return;
    }
    out.push_str("\n<ul>\n");
    let mut own = field.own.clone();
    own.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.change.as_ref().map(|change| change.class)));
    for (at, entry) in own {
        let class = entry.change.as_ref().map_or(Class::Cosmetic, |change| change.class);
        let text = if entry.finding.detail.is_empty() { entry.finding.title() } else { &entry.finding.detail };
        let text = escaped(text);
        let text = if entry.is_finding { format!("<a href=\"#f{at}\">{text}</a>") } else { text };
        let _ = writeln!(
            out,
            "<li><span class=\"badge {class}\">{class}</span> {text} <code>{}</code></li>",
            entry.finding.code
        );
    }
    out.push_str("</ul>\n");
}

fn finding(at: usize, entry: &Entry, kinds: &BTreeMap<&str, usize>, out: &mut String) {
    let finding = &entry.finding;
    let level = severity(entry.level);
    let _ = writeln!(
        out,
        "<article id=\"f{at}\" class=\"{level}\" {}>\n<h3><span class=\"badge {level}\">{level}</span> {} \
         <code>{}</code></h3>",
        mark(entry, kinds),
        escaped(finding.title()),
        finding.code,
    );
    let about = render::about(finding);
    let place = if finding.input.is_some() { render::where_it_is(finding) } else { String::new() };
    let place: Vec<String> = [place, about]
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| format!("<code>{}</code>", escaped(text)))
        .collect();
    if !place.is_empty() {
        let _ = writeln!(out, "<p class=\"place\">{}</p>", place.join(" "));
    }
    if !finding.detail.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escaped(&finding.detail));
    }
    excerpt(entry, out);
    let notes = finding.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note)));
    let _ = writeln!(
        out,
        "<details>\n<summary>Details</summary>\n<ul>\n{}<li>Help: {}</li>\n</ul>\n</details>",
        notes.collect::<String>(),
        escaped(&finding.help())
    );
    for Block { title, text, .. } in &entry.blocks {
        let (title, text) = (escaped(title), escaped(text.trim_end()));
        let _ = writeln!(out, "<details>\n<summary>{title}</summary>\n<pre><code>{text}</code></pre>\n</details>");
    }
    out.push_str("</article>\n");
}

/// Prints the line of the source, with the part that the finding is about.
fn excerpt(entry: &Entry, out: &mut String) {
    let Some(excerpt) = entry.finding.excerpt.as_ref().filter(|excerpt| !excerpt.text.trim().is_empty()) else {
        return;
    };
    let (text, span) = (&excerpt.text, &excerpt.span);
    let [before, marked, after] = [text.get(..span.start), text.get(span.clone()), text.get(span.end..)]
        .map(|part| escaped(part.unwrap_or_default()));
    let line =
        entry.finding.place.map_or_else(String::new, |place| format!("<span class=\"line\">{}</span> ", place.line));
    let marked = if marked.is_empty() { String::new() } else { format!("<mark>{marked}</mark>") };
    let _ = writeln!(out, "<pre><code>{line}{before}{marked}{after}</code></pre>");
}

fn plans(document: &Document, out: &mut String) {
    for plan in &document.plans {
        let _ = writeln!(out, "<section>\n<h2>{}</h2>\n<p>{}</p>", escaped(&plan.name), escaped(&plan.summary));
        if !plan.steps.is_empty() {
            out.push_str("<ol>\n");
            for step in &plan.steps {
                let _ = writeln!(out, "<li><strong>{}.</strong> {}", escaped(&step.title), escaped(&step.why));
                if !step.commands.is_empty() {
                    let _ = writeln!(out, "<pre><code>{}</code></pre>", escaped(&step.commands.join("\n")));
                }
                out.push_str("</li>\n");
            }
            out.push_str("</ol>\n");
        }
        if !plan.remarks.is_empty() {
            let remarks = plan.remarks.iter().map(|remark| format!("<li>{}</li>\n", escaped(remark)));
            let _ = writeln!(out, "<ul>\n{}</ul>", remarks.collect::<String>());
        }
        out.push_str("</section>\n");
    }
}
