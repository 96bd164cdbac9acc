//! Tables of objects, as `kubectl get` shows them.
//!
//! [`Convertor`] works like the server: it creates a row of cells for each object (upstream: apiextensions-apiserver's
//! `tableconvertor`, and `pkg/printers/internalversion` for built-in kinds). [`text`], [`csv`] and [`json`] print rows,
//! the first like kubectl, the last like the server.

mod age;
mod builtin;
mod print;

use crate::jsonpath::{self, Item, Template};
use kubeshape_schema::Release;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::escape::GoQuoted;
use std::borrow::Cow;

pub use age::age;
pub use kubeshape_structural::Column;
pub use print::{Csv, PrintOptions, csv, json, text};

/// The description of `metadata.name`, which the server uses for the first column.
const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// The description of `metadata.creationTimestamp`, which the server uses for the default column.
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// A column of a table (upstream: `metav1.TableColumnDefinition`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The header of the column.
    pub name: String,
    /// The type of its cells.
    pub column_type: String,
    /// Their format; `name` marks the column of the object's name.
    pub format: String,
    /// The description.
    pub description: String,
    /// 0 is always shown, others with `-o wide`.
    pub priority: i32,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The object has no such value, or one of another type.
    Empty,
    /// A string.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A boolean.
    Bool(bool),
}

/// A column with an invalid JSONPath.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unrecognized column definition {}", GoQuoted(.json_path))]
pub struct Unrecognized {
    /// The header of the column.
    pub column: String,
    /// Its path.
    pub json_path: String,
    /// Why it is invalid.
    pub source: jsonpath::ParseError,
}

/// Creates rows for objects.
///
/// # Example
/// ```
/// use kubeshape_show::table::{Column, Convertor, PrintOptions, text};
/// use kubeshape_value::{Bump, ToValue};
/// use kubeshape_yaml::go::Time;
///
/// let convertor = Convertor::new(&[
///     Column { name: "Size", column_type: "integer", json_path: ".spec.size", ..Column::default() },
///     Column { name: "Age", column_type: "date", json_path: ".metadata.creationTimestamp", ..Column::default() },
/// ])?;
/// let arena = Bump::new();
/// let object = serde_json::json!({
///     "metadata": {"name": "a", "creationTimestamp": "2029-12-31T00:00:00Z"}, "spec": {"size": 3},
/// });
/// let now = Time::parse("2030-01-01T00:00:00Z").unwrap();
/// let row = convertor.row(object.to_value(&arena), now);
/// assert_eq!(text(convertor.columns(), &[row], PrintOptions::default()), "\
/// NAME   SIZE   AGE
/// a      3      24h
/// ");
/// # Ok::<(), kubeshape_show::table::Unrecognized>(())
/// ```
#[derive(Clone, Debug)]
pub struct Convertor {
    columns: Vec<ColumnDefinition>,
    /// One per column.
    sources: Vec<Source>,
    /// Whether times are shown unchanged, and not as ages.
    shows_times: bool,
}

/// The source of the cells of a column.
#[derive(Clone, Debug)]
enum Source {
    /// `metadata.name`.
    Name,
    Template(Template),
    BuiltIn(builtin::Source),
}

impl Convertor {
    /// Creates a convertor for a version's columns. If it has none, the age of objects is shown, as by the server.
    ///
    /// # Errors
    /// The path of a column is not a JSONPath. The server then shows only names.
    pub fn new(columns: &[Column<&str>]) -> Result<Convertor, Unrecognized> {
        let age = Column {
            name: "Age",
            column_type: "date",
            description: AGE,
            json_path: ".metadata.creationTimestamp",
            ..Column::default()
        };
        let columns = if columns.is_empty() { std::slice::from_ref(&age) } else { columns };
        let mut out = Convertor::names();
        for column in columns {
            let template = Template::parse(&format!("{{{}}}", column.json_path)).map_err(|source| Unrecognized {
                column: column.name.to_owned(),
                json_path: column.json_path.to_owned(),
                source,
            })?;
            out.sources.push(Source::Template(template));
            out.columns.push(ColumnDefinition {
                name: column.name.to_owned(),
                column_type: column.column_type.to_owned(),
                format: column.format.to_owned(),
                description: match column.description {
                    "" => format!("Custom resource definition column (in JSONPath format): {}", column.json_path),
                    description => description.to_owned(),
                },
                priority: column.priority,
            });
        }
        Ok(out)
    }

    /// Creates a convertor that shows only names.
    pub fn names() -> Convertor {
        let name = ColumnDefinition {
            name: "Name".to_owned(),
            column_type: "string".to_owned(),
            format: "name".to_owned(),
            description: NAME.to_owned(),
            priority: 0,
        };
        Convertor { columns: vec![name], sources: vec![Source::Name], shows_times: false }
    }

    /// Creates a convertor that shows names and creation times, as the server does for kinds without columns of their
    /// own (upstream: `rest.NewDefaultTableConvertor`).
    ///
    /// # Example
    /// ```
    /// use kubeshape_show::table::Convertor;
    /// use kubeshape_smd::{Bump, ToValue, managed::Time};
    ///
    /// let object = serde_json::json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}});
    /// let row = Convertor::created().row(object.to_value(&Bump::new()), Time(0));
    /// assert_eq!(format!("{row:?}"), r#"[Text("a"), Text("2026-01-02T03:04:05Z")]"#);
    /// ```
    pub fn created() -> Convertor {
        let mut out = Convertor::names();
        out.columns.push(ColumnDefinition {
            name: "Created At".to_owned(),
            column_type: "date".to_owned(),
            description: AGE.to_owned(),
            ..ColumnDefinition::default()
        });
        out.sources.extend(Template::parse("{.metadata.creationTimestamp}").map(Source::Template));
        out.shows_times = true;
        out
    }

    /// Creates a convertor for a built-in kind, with the columns of a release (upstream: `AddHandlers` of
    /// `pkg/printers/internalversion`, apiextensions-apiserver's `crdConvertor`). `None` for other kinds.
    ///
    /// # Example
    /// ```
    /// use kubeshape_schema::Release;
    /// use kubeshape_show::table::{Convertor, PrintOptions, text};
    /// use kubeshape_smd::{Bump, ToValue, managed::Time};
    ///
    /// let object = serde_json::json!({
    ///     "metadata": {"name": "web", "creationTimestamp": "1970-01-01T00:00:00Z"},
    ///     "spec": {"replicas": 3},
    ///     "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2},
    /// });
    /// let convertor = Convertor::built_in("apps", "Deployment", Release::DEFAULT).unwrap();
    /// let row = convertor.row(object.to_value(&Bump::new()), Time(60));
    /// assert_eq!(text(convertor.columns(), &[row], PrintOptions::default()), "\
    /// NAME   READY   UP-TO-DATE   AVAILABLE   AGE
    /// web    2/3     3            2           60s
    /// ");
    /// ```
    pub fn built_in(group: &str, kind: &str, release: Release) -> Option<Convertor> {
        let columns = builtin::columns(group, kind, release)?;
        if columns.is_empty() {
            return Some(Convertor::created());
        }
        let (columns, sources) = columns.into_iter().map(|(column, source)| (column, Source::BuiltIn(source))).unzip();
        // Ages are not dates here, so that dates are shown as times.
        Some(Convertor { columns, sources, shows_times: true })
    }

    /// Returns the columns. The name comes first, except for Events.
    pub fn columns(&self) -> &[ColumnDefinition] {
        &self.columns
    }

    /// Returns the cells of an object at a time; as many as there are columns.
    pub fn row(&self, object: Value<'_>, now: Time) -> Vec<Cell> {
        let mut cells = self.values(object);
        for (at, cell) in cells.iter_mut().enumerate() {
            if let Cow::Owned(shown) = self.shown(at, cell, now) {
                *cell = shown;
            }
        }
        cells
    }

    /// Returns the cells of an object, with times in place of ages: they change only with the object.
    ///
    /// # Example
    /// ```
    /// use kubeshape_show::table::Convertor;
    /// use kubeshape_smd::{Bump, ToValue, managed::Time};
    ///
    /// let object = serde_json::json!({"metadata": {"name": "a", "creationTimestamp": "1970-01-01T00:00:00Z"}});
    /// let convertor = Convertor::new(&[]).unwrap();
    /// let values = convertor.values(object.to_value(&Bump::new()));
    /// assert_eq!(format!("{values:?}"), r#"[Text("a"), Text("1970-01-01T00:00:00Z")]"#);
    /// assert_eq!(format!("{:?}", convertor.shown(1, &values[1], Time(5))), r#"Text("5s")"#);
    /// ```
    pub fn values(&self, object: Value<'_>) -> Vec<Cell> {
        self.all_values(object).collect()
    }

    /// Returns the same, as long as the strings have at most `most` bytes together and `is_over` is false; otherwise
    /// `None`. Columns can show the same field many times.
    ///
    /// # Example
    /// ```
    /// use kubeshape_show::table::{Column, Convertor};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let column = Column { name: "Text", column_type: "string", json_path: ".spec.text", ..Column::default() };
    /// let convertor = Convertor::new(&[column, column]).unwrap();
    /// let (arena, object) = (Bump::new(), serde_json::json!({"metadata": {"name": "a"}, "spec": {"text": "long"}}));
    /// let object = object.to_value(&arena);
    /// assert_eq!(convertor.values_within(object, 9, &|| false).map(|cells| cells.len()), Some(3));
    /// assert_eq!(convertor.values_within(object, 8, &|| false), None);
    /// ```
    pub fn values_within(&self, object: Value<'_>, most: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<Cell>> {
        let (mut cells, mut left) = (Vec::new(), most);
        for cell in self.all_values(object) {
            if let Cell::Text(text) = &cell {
                left = left.checked_sub(text.len())?;
            }
            cells.push(cell);
            if is_over() {
                return None;
            }
        }
        Some(cells)
    }

    fn all_values<'s>(&'s self, object: Value<'s>) -> impl Iterator<Item = Cell> + 's {
        self.sources.iter().zip(&self.columns).map(move |(source, column)| match source {
            Source::Name => {
                let metadata = object.get("metadata");
                let name = metadata.and_then(|metadata| metadata.get("name")?.as_str()).unwrap_or_default();
                Cell::Text(name.to_owned())
            }
            Source::Template(template) => {
                let column_type = if self.shows_times { "string" } else { &column.column_type };
                cell_of(template, column_type, object)
            }
            Source::BuiltIn(source) => source.cell(object),
        })
    }

    /// Returns a cell of [`values`](Self::values), by the number of its column, at a time.
    pub fn shown<'c>(&self, column: usize, cell: &'c Cell, now: Time) -> Cow<'c, Cell> {
        let is_age = !self.shows_times && self.columns.get(column).is_some_and(|column| column.column_type == "date");
        match cell {
            Cell::Text(time) if is_age => Cow::Owned(Cell::Text(age(time, now))),
            Cell::Text(text) => match self.sources.get(column) {
                Some(Source::BuiltIn(source)) if source.has_ages() => {
                    builtin::shown(text, now).map_or(Cow::Borrowed(cell), |text| Cow::Owned(Cell::Text(text)))
                }
                _ => Cow::Borrowed(cell),
            },
            cell => Cow::Borrowed(cell),
        }
    }
}

fn cell_of(template: &Template, column_type: &str, object: Value<'_>) -> Cell {
    let options = jsonpath::Options { allow_missing_keys: true, json: false };
    let found = template.find(object, options).unwrap_or_default();
    // Only the first value is used.
    let Some(item) = found.first().and_then(|items| items.first()) else { return Cell::Empty };
    if column_type == "string" {
        let item = if item.is_null() { Item::Nothing } else { *item };
        let mut out = Vec::new();
        return match jsonpath::print(&[item], jsonpath::Options::default(), &mut out) {
            Ok(()) => Cell::Text(String::from_utf8_lossy(&out).into_owned()),
            Err(_) => Cell::Empty,
        };
    }
    match item.value() {
        // A number of the template has Go's type `int`, which no column shows.
        Some(_) if matches!(item, Item::Int(_)) => Cell::Empty,
        Some(value) => value_cell(column_type, value),
        None => Cell::Empty,
    }
}

/// Returns the cell for a value in a column of a type (upstream: `cellForJSONValue`).
pub fn cell(column_type: &str, value: Value<'_>, now: Time) -> Cell {
    match (column_type, value_cell(column_type, value)) {
        ("date", Cell::Text(time)) => Cell::Text(age(&time, now)),
        (_, cell) => cell,
    }
}

/// Returns the same with times in place of ages.
fn value_cell(column_type: &str, value: Value<'_>) -> Cell {
    match (column_type, value) {
        ("integer", Value::Int(n)) => Cell::Int(n),
        ("integer", Value::Float(n)) => Cell::Int(truncated(n)),
        #[expect(clippy::cast_precision_loss, reason = "as upstream converts")]
        ("number", Value::Int(n)) => Cell::Float(n as f64),
        ("number", Value::Float(n)) => Cell::Float(n),
        ("boolean", Value::Bool(yes)) => Cell::Bool(yes),
        ("string" | "date", Value::String(text)) => Cell::Text(text.to_owned()),
        _ => Cell::Empty,
    }
}

/// Converts like Go on amd64: numbers out of range become the smallest integer.
fn truncated(n: f64) -> i64 {
    let whole = n.trunc();
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) { whole as i64 } else { i64::MIN }
}
