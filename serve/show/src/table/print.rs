//! Prints tables.

use super::{Cell, ColumnDefinition};
use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};
use kubeshape_yaml::go::number::{self, General};
use std::borrow::Cow;

/// The minimum width of a column, and the blanks after its widest cell (upstream: cli-runtime's `GetNewTabWriter`).
const LEAST: usize = 6;
const PADDING: usize = 3;
/// Wider cells do not widen the other rows, unlike upstream: one string would add blanks to each row.
const WIDEST: usize = 1024;

/// Options for printing a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// Shows columns of every priority.
    pub wide: bool,
    /// Omits the header.
    pub no_headers: bool,
}

/// Returns the indices of the printed columns.
fn shown(columns: &[ColumnDefinition], options: PrintOptions) -> impl Iterator<Item = usize> + Clone + '_ {
    (0..columns.len()).filter(move |at| options.wide || columns.get(*at).is_some_and(|column| column.priority == 0))
}

/// Prints the rows like kubectl. Without rows, nothing is printed. Control characters are escaped; kubectl escapes only
/// some of them.
pub fn text(columns: &[ColumnDefinition], rows: &[Vec<Cell>], options: PrintOptions) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = shown(columns, options);
    let mut lines: Vec<Vec<String>> = Vec::with_capacity(rows.len() + 1);
    if !options.no_headers {
        let head = |at: usize| columns.get(at).map_or_else(String::new, |column| escaped(&column.name.to_uppercase()));
        lines.push(shown.clone().map(head).collect());
    }
    lines.extend(rows.iter().map(|row| shown.clone().map(|at| row.get(at).map_or_else(String::new, line)).collect()));
    let mut widths: Vec<usize> = Vec::new();
    for line in &lines {
        widths.resize(line.len().max(widths.len()), LEAST);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count().min(WIDEST) + PADDING);
        }
    }
    let mut out = String::new();
    for line in &lines {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            out.push_str(cell);
            if at + 1 < line.len() {
                out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()).max(PADDING)));
            }
        }
        out.push('\n');
    }
    out
}

/// Returns a cell on one line: the part after a line break is left out.
fn line(cell: &Cell) -> String {
    let text = plain(cell);
    match text.find(['\n', '\r', '\x0c']) {
        Some(end) => format!("{}...", escaped(&text[..end])),
        None => escaped(&text),
    }
}

/// Escapes the escape character as `^[`, like kubectl, and other control characters like Rust.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\x1b' => out.push_str("^["),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Prints a cell like kubectl, which has read it from JSON.
fn plain(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Text(text) => Cow::Borrowed(text),
        Cell::Int(n) => n.to_string().into(),
        Cell::Bool(yes) => Cow::Borrowed(if *yes { "true" } else { "false" }),
        Cell::Float(n) => {
            let mut json = Vec::new();
            number::write_json(*n, &mut json);
            let json = String::from_utf8_lossy(&json);
            json.parse::<i64>().map_or_else(|_| General(*n).to_string(), |n| n.to_string()).into()
        }
    }
}

/// Prints the rows as comma-separated values (RFC 4180), with whole cells. Control characters other than line breaks
/// are escaped.
pub fn csv(columns: &[ColumnDefinition], rows: &[Vec<Cell>], options: PrintOptions) -> String {
    let shown = shown(columns, options);
    let mut csv = Csv::default();
    if !options.no_headers {
        csv.heads(shown.clone().filter_map(|at| columns.get(at)));
    }
    for row in rows {
        shown.clone().for_each(|at| csv.cell(row.get(at).unwrap_or(&Cell::Empty)));
        csv.end_line();
    }
    csv.text
}

/// Comma-separated values (RFC 4180), written cell by cell. Control characters other than line breaks are escaped.
#[derive(Clone, Debug, Default)]
pub struct Csv {
    text: String,
    /// Whether the line has a cell.
    in_line: bool,
}

impl Csv {
    /// Appends a line with the names of columns.
    pub fn heads<'c>(&mut self, columns: impl IntoIterator<Item = &'c ColumnDefinition>) {
        columns.into_iter().for_each(|column| self.value(&column.name));
        self.end_line();
    }

    /// Appends a cell to the line.
    pub fn cell(&mut self, cell: &Cell) {
        self.value(&plain(cell));
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        self.text.push_str("\r\n");
        self.in_line = false;
    }

    /// Returns the lines so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the lines so far.
    pub fn into_text(self) -> String {
        self.text
    }

    fn value(&mut self, value: &str) {
        if std::mem::replace(&mut self.in_line, true) {
            self.text.push(',');
        }
        // Bytes above ASCII may belong to control characters.
        if value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'"')) {
            return self.text.push_str(value);
        }
        let value = value.split('\n').map(escaped).collect::<Vec<_>>().join("\n");
        if value.contains([',', '"', '\n']) {
            self.text.push('"');
            self.text.push_str(&value.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(&value);
        }
    }
}

/// Prints the server's `Table` of `meta.k8s.io`, indented, with a line break. Each row has the metadata of its object.
pub fn json(columns: &[ColumnDefinition], rows: &[Vec<Cell>], objects: &[Value<'_>]) -> String {
    let arena = Bump::new();
    let text = Value::String;
    let columns = columns.iter().map(|column| {
        let members = vec![
            ("description", text(&column.description)),
            ("format", text(&column.format)),
            ("name", text(&column.name)),
            ("priority", Value::Int(i64::from(column.priority))),
            ("type", text(&column.column_type)),
        ];
        Value::Map(Map::from_entries(members, &arena))
    });
    let columns = Value::List(arena.alloc_slice_fill_iter(columns.collect::<Vec<_>>()));
    let cell = |cell: &'_ Cell| match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => Value::String(arena.alloc_str(text)),
        Cell::Int(n) => Value::Int(*n),
        Cell::Float(n) => Value::Float(*n),
        Cell::Bool(yes) => Value::Bool(*yes),
    };
    let rows = rows.iter().zip(objects).map(|(row, object)| {
        let cells = Value::List(arena.alloc_slice_fill_iter(row.iter().map(cell)));
        let metadata = object.get("metadata").unwrap_or(Value::Map(Map::EMPTY));
        let partial = vec![
            ("apiVersion", text("meta.k8s.io/v1")),
            ("kind", text("PartialObjectMetadata")),
            ("metadata", metadata),
        ];
        let members = vec![("cells", cells), ("object", Value::Map(Map::from_entries(partial, &arena)))];
        Value::Map(Map::from_entries(members, &arena))
    });
    let rows = Value::List(arena.alloc_slice_fill_iter(rows.collect::<Vec<_>>()));
    let table = vec![
        ("apiVersion", text("meta.k8s.io/v1")),
        ("columnDefinitions", columns),
        ("kind", text("Table")),
        ("metadata", Value::Map(Map::EMPTY)),
        ("rows", rows),
    ];
    let mut compact = Vec::new();
    Value::Map(Map::from_entries(table, &arena)).write_go_json(&mut compact);
    let mut out = Vec::new();
    kubeshape_yaml::json::indent(&compact, &mut out);
    out.push(b'\n');
    String::from_utf8_lossy(&out).into_owned()
}
