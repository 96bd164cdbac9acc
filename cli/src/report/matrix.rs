//! Which release says what: a row for each definition and for each finding that only some releases have.

use super::document::{Document, Entry};
use super::markup::{cell_code, html, markdown};
use super::render;
use kubeshape_schema::Level;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows of a page. Further definitions are counted.
const MOST_ROWS: usize = 1_000;
/// Rows of a comment.
const MOST_ROWS_OF_MARKDOWN: usize = 50;
/// What the signs mean.
const LEGEND: &str = "✓ accepts it; ⚠ accepts it with warnings; ✗ refuses it. A number counts warnings or errors.";

/// What a release says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// It has nothing to do with the finding.
    Empty,
    Accepted,
    Warned(usize),
    Refused(usize),
    /// It has the finding.
    Has(Level),
}

impl Cell {
    fn class(self) -> &'static str {
        match self {
            Cell::Empty => "none",
            Cell::Accepted => "good",
            Cell::Warned(_) | Cell::Has(Level::Warning) => "warn",
            Cell::Refused(_) | Cell::Has(Level::Error) => "bad",
            Cell::Has(Level::Note | Level::Off) => "note",
        }
    }

    fn sign(self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Accepted => "✓".to_owned(),
            Cell::Warned(count) => format!("⚠ {count}"),
            Cell::Refused(count) => format!("✗ {count}"),
            Cell::Has(Level::Error) => "✗".to_owned(),
            Cell::Has(Level::Warning) => "⚠".to_owned(),
            Cell::Has(Level::Note | Level::Off) => "ℹ".to_owned(),
        }
    }
}

/// A row: a definition, or a finding of the definition above it.
struct Row<'d> {
    name: &'d str,
    finding: Option<(usize, &'d Entry)>,
    cells: Vec<Cell>,
}

/// The releases, and the rows. `left` definitions have none.
struct Matrix<'d> {
    releases: Vec<&'d str>,
    rows: Vec<Row<'d>>,
    left: usize,
}

impl<'d> Matrix<'d> {
    /// Returns the matrix of a document; `None` if it is about one release, or about no definition.
    fn of(document: &'d Document, most: usize) -> Option<Matrix<'d>> {
        let first = document.answers.first().filter(|answers| answers.releases.len() > 1)?;
        let releases: Vec<&str> = first.releases.iter().map(|(release, _)| release.as_str()).collect();
        let mut findings: BTreeMap<&str, Vec<(usize, &Entry)>> = BTreeMap::new();
        for (at, entry) in document.entries.iter().enumerate().filter(|(_, entry)| !entry.finding.releases.is_empty()) {
            findings.entry(entry.finding.resource.as_deref().unwrap_or_default()).or_default().push((at, entry));
        }
        let (mut rows, mut left) = (Vec::new(), 0);
        for answers in &document.answers {
            if rows.len() >= most {
                left += 1;
                continue;
            }
            let cells = answers.releases.iter().map(|(_, count)| match count {
                [0, 0] => Cell::Accepted,
                [0, warnings] => Cell::Warned(*warnings),
                [errors, _] => Cell::Refused(*errors),
            });
            rows.push(Row { name: &answers.name, finding: None, cells: cells.collect() });
            let own = findings.remove(answers.name.as_str()).unwrap_or_default();
            for (at, entry) in own.into_iter().take(most.saturating_sub(rows.len())) {
                let has = |release: &&str| entry.finding.releases.iter().any(|own| own == release);
                let cell = |release| if has(release) { Cell::Has(entry.level) } else { Cell::Empty };
                let cells = releases.iter().map(cell).collect();
                rows.push(Row { name: &answers.name, finding: Some((at, entry)), cells });
            }
        }
        Some(Matrix { releases, rows, left })
    }

    fn more(&self) -> String {
        let s = if self.left == 1 { "" } else { "s" };
        format!("{} more definition{s}", self.left)
    }
}

/// Appends the matrix as a section of a page.
pub(super) fn to_html(document: &Document, out: &mut String) {
    let Some(matrix) = Matrix::of(document, MOST_ROWS) else { return };
    out.push_str(
        "<section>\n<h2>Releases</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Releases\">\n\
         <table class=\"matrix\">\n<thead>\n<tr><td></td>",
    );
    for release in &matrix.releases {
        let _ = write!(out, "<th scope=\"col\">{}</th>", html(release));
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &matrix.rows {
        match row.finding {
            None => {
                let _ = write!(out, "<tr><th scope=\"row\"><code>{}</code></th>", html(row.name));
            }
            Some((at, entry)) => {
                let place = html(&place(entry));
                let title = html(entry.finding.title());
                let code = entry.finding.code;
                let label = format!("{title} <code>{code}</code> <code>{place}</code>");
                let label = if entry.is_finding { format!("<a href=\"#f{at}\">{label}</a>") } else { label };
                let _ = write!(out, "<tr class=\"of\"><th scope=\"row\">{label}</th>");
            }
        }
        for cell in &row.cells {
            let _ = write!(out, "<td class=\"{}\">{}</td>", cell.class(), cell.sign());
        }
        out.push_str("</tr>\n");
    }
    let _ = writeln!(out, "</tbody>\n</table>\n</div>\n<p>{LEGEND}</p>");
    if matrix.left > 0 {
        let _ = writeln!(out, "<p>{}</p>", matrix.more());
    }
    out.push_str("</section>\n");
}

/// Returns the matrix as a table of Markdown, with an empty line in front.
pub(super) fn to_markdown(document: &Document) -> String {
    let mut out = String::new();
    let Some(matrix) = Matrix::of(document, MOST_ROWS_OF_MARKDOWN) else { return out };
    let _ = writeln!(out, "\n| | {} |\n| --- |{}", matrix.releases.join(" | "), " :-: |".repeat(matrix.releases.len()));
    for row in &matrix.rows {
        let name = match row.finding {
            None => cell_code(row.name),
            Some((_, entry)) => {
                format!("{} (`{}`) {}", markdown(entry.finding.title()), entry.finding.code, cell_code(&place(entry)))
            }
        };
        let _ = write!(out, "| {name} |");
        for sign in row.cells.iter().map(|cell| cell.sign()) {
            let blank = if sign.is_empty() { "" } else { " " };
            let _ = write!(out, "{blank}{sign} |");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "\n{LEGEND}");
    if matrix.left > 0 {
        let _ = writeln!(out, "{}.", matrix.more());
    }
    out
}

fn place(entry: &Entry) -> String {
    if entry.finding.input.is_some() { render::where_it_is(&entry.finding) } else { String::new() }
}
