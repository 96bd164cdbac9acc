//! Rows for people: `Table`, `TabularOutput`, comma-separated values.

use super::partial::{partial, partial_head};
use super::{ListMeta, META_V1, Room, join, join_within};
use crate::status::Status;
use crate::store::Stored;
use crate::value;
use kubeshape_show::table::{self, Cell, ColumnDefinition, Convertor};
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use kubeshape_yaml::go::escape::{Escape, string};
use std::sync::Arc;

/// What a row contains in addition to its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

/// The columns that a client wants.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnOptions {
    /// Whether to include columns of priority above 0; `None` depends on the kind of the response.
    pub(crate) wide: Option<bool>,
    /// Labels shown as columns.
    pub(crate) labels: Vec<String>,
    /// Whether to show all labels in one column.
    pub(crate) all_labels: bool,
}

/// The columns of a table, and the cells of objects in them.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    convertor: Arc<Convertor>,
    columns: Vec<ColumnDefinition>,
    /// Whether each column of the convertor is shown; `None` if all are.
    kept: Option<Vec<bool>>,
    labels: Vec<String>,
    all_labels: bool,
}

impl Rows {
    /// Returns the requested columns of a convertor. Clients of a `Table` choose by priority; others get the columns of
    /// priority 0.
    pub(crate) fn new(convertor: Arc<Convertor>, options: ColumnOptions, is_wide: bool) -> Rows {
        let mut columns = convertor.columns().to_vec();
        let mut kept = None;
        if !options.wide.unwrap_or(is_wide) && columns.iter().any(|column| column.priority > 0) {
            kept = Some(columns.iter().map(|column| column.priority <= 0).collect());
            columns.retain(|column| column.priority <= 0);
        }
        let mut add = |name: String, description: String| {
            columns.push(ColumnDefinition {
                name,
                column_type: "string".to_owned(),
                description,
                ..ColumnDefinition::default()
            });
        };
        for label in &options.labels {
            // kubectl's header.
            let name = label.rsplit('/').next().unwrap_or_default().to_uppercase();
            add(name, format!("The value of the label {label}"));
        }
        if options.all_labels {
            add("Labels".to_owned(), "All labels of the object".to_owned());
        }
        Rows { convertor, columns, kept, labels: options.labels, all_labels: options.all_labels }
    }

    pub(crate) fn columns(&self) -> &[ColumnDefinition] {
        &self.columns
    }

    /// Calls a function with one cell of an object after the other.
    fn each_cell(
        &self,
        object: &Stored,
        now: Time,
        room: Room<'_>,
        mut with: impl FnMut(&Cell) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let cells = object.cells(&self.convertor, room)?;
        let is_kept = |at: usize| self.kept.as_ref().is_none_or(|kept| kept.get(at).copied().unwrap_or(true));
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| is_kept(*at)) {
            with(&self.convertor.shown(at, cell, now))?;
        }
        if self.labels.is_empty() && !self.all_labels { Ok(()) } else { self.each_label(object, with) }
    }

    /// Appends the cells of an object as JSON.
    fn write(&self, object: &Stored, now: Time, room: Room<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        let mut first = true;
        self.each_cell(object, now, room, |cell| {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            self::cell(cell, out);
            room.holds(out.len())
        })
    }

    fn each_label(&self, object: &Stored, mut with: impl FnMut(&Cell) -> Result<(), Status>) -> Result<(), Status> {
        let (text, mut tape, arena) = (object.metadata(), Tape::new(), Bump::new());
        let metadata = value::parsed(&text, &mut tape, &arena).unwrap_or(Value::Null);
        let labels = metadata.get("labels").and_then(Value::as_map).unwrap_or(Map::EMPTY);
        let of = |label: &str| labels.get(label).and_then(Value::as_str).unwrap_or_default();
        self.labels.iter().try_for_each(|label| with(&Cell::Text(of(label).to_owned())))?;
        if self.all_labels {
            let pairs = labels.entries().iter();
            let pairs: Vec<String> =
                pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
            // kubectl's format.
            let text = if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") };
            with(&Cell::Text(text))?;
        }
        Ok(())
    }
}

/// Prints a `Table` as compact JSON.
#[derive(Debug)]
pub(crate) struct Table<'t> {
    pub(crate) api_version: &'t str,
    pub(crate) rows: &'t Rows,
    /// Whether to include the column definitions.
    pub(crate) columns: bool,
    pub(crate) include: IncludeObject,
    pub(crate) now: Time,
}

impl Table<'_> {
    /// Prints the table of these objects.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn json<'o>(
        &self,
        objects: impl Iterator<Item = &'o Stored>,
        meta: &ListMeta,
        room: Room<'_>,
    ) -> Result<Vec<u8>, Status> {
        let mut out = format!(r#"{{"kind":"Table","apiVersion":"{}","metadata":"#, self.api_version).into_bytes();
        meta.typed(&mut out);
        out.extend_from_slice(b",\"columnDefinitions\":");
        if self.columns {
            out.push(b'[');
            join(self.rows.columns().iter(), &mut out, definition);
            out.push(b']');
        } else {
            out.extend_from_slice(b"null");
        }
        out.extend_from_slice(b",\"rows\":[");
        let head = partial_head(self.api_version);
        join_within(objects, &mut out, room, |object, out| {
            out.extend_from_slice(b"{\"cells\":[");
            self.rows.write(object, self.now, room, out)?;
            out.extend_from_slice(b"],\"object\":");
            match self.include {
                IncludeObject::None => out.extend_from_slice(b"null"),
                IncludeObject::Metadata => partial(&head, object, out),
                IncludeObject::Object => out.extend_from_slice(object.as_json()),
            }
            out.push(b'}');
            Ok(())
        })?;
        out.extend_from_slice(b"]}");
        Ok(out)
    }
}

/// Prints a `TabularOutput`, the table of the proposal, as compact JSON. Includes the columns if `columns` is set.
///
/// # Errors
/// There is no room for it.
pub(crate) fn tabular<'o>(
    rows: &Rows,
    columns: bool,
    objects: impl Iterator<Item = &'o Stored>,
    now: Time,
    meta: &ListMeta,
    room: Room<'_>,
) -> Result<Vec<u8>, Status> {
    let mut out = format!(r#"{{"kind":"TabularOutput","apiVersion":"{META_V1}","metadata":"#).into_bytes();
    meta.typed(&mut out);
    if columns {
        out.extend_from_slice(b",\"columns\":[");
        join(rows.columns().iter(), &mut out, |column, out| {
            out.extend_from_slice(b"{\"name\":");
            string(out, &column.name, Escape::Html);
            out.extend_from_slice(b",\"description\":");
            string(out, &column.description, Escape::Html);
            out.push(b'}');
        });
        out.push(b']');
    }
    out.extend_from_slice(b",\"items\":[");
    join_within(objects, &mut out, room, |object, out| {
        out.extend_from_slice(b"{\"columns\":[");
        rows.write(object, now, room, out)?;
        out.extend_from_slice(b"]}");
        Ok(())
    })?;
    out.extend_from_slice(b"]}");
    Ok(out)
}

/// Prints the rows as comma-separated values, after a header line. Control characters are escaped.
///
/// # Errors
/// There is no room for them.
pub(crate) fn csv<'o>(
    rows: &Rows,
    objects: impl Iterator<Item = &'o Stored>,
    now: Time,
    room: Room<'_>,
) -> Result<Vec<u8>, Status> {
    let mut csv = table::Csv::default();
    csv.heads(rows.columns());
    for object in objects {
        rows.each_cell(object, now, room, |cell| {
            csv.cell(cell);
            room.holds(csv.text().len())
        })?;
        csv.end_line();
    }
    Ok(csv.into_text().into_bytes())
}

fn definition(column: &ColumnDefinition, out: &mut Vec<u8>) {
    let texts = [
        ("{\"name\":", &column.name),
        (",\"type\":", &column.column_type),
        (",\"format\":", &column.format),
        (",\"description\":", &column.description),
    ];
    for (key, text) in texts {
        out.extend_from_slice(key.as_bytes());
        string(out, text, Escape::Html);
    }
    out.extend_from_slice(format!(",\"priority\":{}}}", column.priority).as_bytes());
}

fn cell(cell: &Cell, out: &mut Vec<u8>) {
    match cell {
        Cell::Empty => out.extend_from_slice(b"null"),
        Cell::Text(text) => string(out, text, Escape::Html),
        Cell::Int(n) => Value::Int(*n).write_go_json(out),
        Cell::Float(n) => Value::Float(*n).write_go_json(out),
        Cell::Bool(yes) => Value::Bool(*yes).write_go_json(out),
    }
}
