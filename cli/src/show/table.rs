//! `kubeshape table`.

use crate::args::{TableArgs, TableFormat};
use crate::error::Fatal;
use crate::input::check_once;
use crate::report;
use crate::session::object::{Object, Objects, read_objects};
use crate::session::types::{self, BuiltIn};
use crate::session::{Command, Common, Session};
use kubeshape_input::Code;
use kubeshape_registry::{Kind, Now, Registry, Time};
use kubeshape_show::jsonpath::{Options, Template};
use kubeshape_show::table::{Cell, ColumnDefinition, Convertor, PrintOptions, csv, json, text};
use kubeshape_smd::Value;
use kubeshape_smd::managed::ObjectName;
use kubeshape_smd::value::Map;
use std::time::SystemTime;

/// The objects of a kind.
struct Group<'a> {
    kind: &'a Kind,
    convertor: Convertor,
    objects: Vec<Object<'a>>,
}

/// `kubeshape table`
///
/// # Errors
/// The command line is wrong, or standard output is closed.
pub(crate) fn table<'a>(args: &TableArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let now = match args.now.as_deref() {
        None => Now::from(SystemTime::now()).0,
        Some(text) => Time::parse(text).ok_or_else(|| {
            Fatal::Usage(format!("--now takes a time such as 2030-01-31T12:00:00Z (RFC 3339), found {text:?}"))
        })?,
    };
    let inputs = args.filenames.and(&args.objects);
    check_once(args.types.schemas.iter().chain(&inputs))?;
    if let TableFormat::JsonPath(template) = &args.format {
        let template = Template::parse(template)
            .map_err(|error| Fatal::Usage(format!("error parsing jsonpath {template}, {error}")))?;
        let mut objects = read_objects(&inputs, session);
        if !args.types.schemas.is_empty() {
            let registry: &'a Registry = session.arena.alloc(types::read(&args.types, session)?);
            for object in &mut objects.all {
                if let Some(kind) = registry.kind(object.gvk()) {
                    *object = with_defaults(*object, kind, session);
                }
            }
        }
        return apply(&template, &objects, session);
    }
    let mut registry = types::read(&args.types, session)?;
    let objects = read_objects(&inputs, session);
    if let Some(built_in) = BuiltIn::of(&args.types) {
        let gvks: Vec<_> = objects.all.iter().map(Object::gvk).collect();
        built_in.add_for(&gvks, &mut registry, session);
    }
    let registry: &'a Registry = session.arena.alloc(registry);
    let groups = groups(&objects.all, registry, session);
    let options = PrintOptions { wide: args.wide || args.format == TableFormat::Wide, no_headers: args.no_headers };
    let mut out = String::new();
    for (at, group) in groups.iter().enumerate() {
        let rows: Vec<Vec<Cell>> = group.objects.iter().map(|object| group.convertor.row(object.value, now)).collect();
        if args.format == TableFormat::Json {
            let objects: Vec<Value<'_>> = group.objects.iter().map(|object| object.value).collect();
            out.push_str(&json(group.convertor.columns(), &rows, &objects));
            continue;
        }
        if at > 0 {
            out.push('\n');
        }
        let (columns, rows) = decorated(group, rows, groups.len() > 1, args.all_namespaces);
        let print = if args.format == TableFormat::Csv { csv } else { text };
        out.push_str(&print(&columns, &rows, options));
    }
    report::print(out.as_bytes())?;
    Ok(true)
}

/// Groups the objects by kind, in the order in which the kinds appear. Reports kinds without columns.
fn groups<'a>(objects: &[Object<'a>], registry: &'a Registry, session: &mut Session<'a>) -> Vec<Group<'a>> {
    let mut out: Vec<Group<'a>> = Vec::new();
    for object in objects {
        let Some(kind) = types::kind(object, registry, session) else { continue };
        let object = with_defaults(*object, kind, session);
        if let Some(group) = out.iter_mut().find(|group| std::ptr::eq(group.kind, kind)) {
            group.objects.push(object);
            continue;
        }
        let convertor = kind.convertor().unwrap_or_else(|error| {
            let definition = kind.definition().location();
            let mut finding = definition.finding(Code::InvalidValue, error.to_string());
            finding.notes.push(format!("column {:?}: {}", error.column, error.source));
            session.report(&finding);
            Convertor::names()
        });
        out.push(Group { kind, convertor, objects: vec![object] });
    }
    out
}

/// Returns the object as a server reads it, with the defaults of its schema. The schemas of built-in kinds have no
/// defaults.
fn with_defaults<'a>(object: Object<'a>, kind: &'a Kind, session: &mut Session<'a>) -> Object<'a> {
    let resources = kind.resources().unwrap_or_default();
    let Some(resource) = resources.iter().find(|resource| resource.api_version == kind.api_version()) else {
        return object;
    };
    match resource.with_defaults(object.value, session.arena) {
        Ok(value) => Object { value, ..object },
        Err(error) => {
            session.report(&object.location.finding(Code::Limit, error.to_string()));
            object
        }
    }
}

/// Returns a table with namespaces, and with the kind before the name if there are several tables, as kubectl prints
/// them.
fn decorated(
    group: &Group<'_>,
    mut rows: Vec<Vec<Cell>>,
    with_kind: bool,
    with_namespace: bool,
) -> (Vec<ColumnDefinition>, Vec<Vec<Cell>>) {
    let mut columns = group.convertor.columns().to_vec();
    if with_kind {
        let (kind, of_group) = (group.kind.kind(), group.kind.group());
        let kind = if of_group.is_empty() { kind.to_owned() } else { format!("{kind}.{of_group}") };
        let at = columns.iter().position(|column| column.column_type == "string" && column.format == "name");
        for name in rows.iter_mut().filter_map(|row| row.get_mut(at?)) {
            if let Cell::Text(text) = name {
                *text = format!("{}/{text}", kind.to_lowercase());
            }
        }
    }
    if with_namespace {
        let name = "Namespace".to_owned();
        columns.insert(0, ColumnDefinition { name, column_type: "string".to_owned(), ..ColumnDefinition::default() });
        for (row, object) in rows.iter_mut().zip(&group.objects) {
            row.insert(0, Cell::Text(ObjectName::of(object.value).namespace.to_owned()));
        }
    }
    (columns, rows)
}

/// Prints the output of a template for the object, or for a list of the objects.
fn apply<'a>(template: &Template, objects: &Objects<'a>, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let value = match objects.all.as_slice() {
        [] => return Ok(false),
        [one] if objects.is_one => one.value,
        all => {
            let items = session.arena.alloc_slice_fill_iter(all.iter().map(|object| object.value));
            let members = vec![
                ("apiVersion", Value::String("v1")),
                ("items", Value::List(items)),
                ("kind", Value::String("List")),
            ];
            Value::Map(Map::from_entries(members, session.arena))
        }
    };
    let mut out = Vec::new();
    let applied = template.execute(value, Options { allow_missing_keys: true, json: false }, &mut out);
    report::print(&out)?;
    if let Err(error) = applied {
        session.report(&crate::session::text::nowhere(
            Code::NotAnObject,
            "",
            format!("error executing jsonpath: {error}"),
        ));
        return Ok(false);
    }
    Ok(true)
}

impl Command for TableArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.types.walk, quiet: self.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        table(self, session)
    }
}
