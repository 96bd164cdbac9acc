//! `kubeshape lifecycle table` and `kubeshape lifecycle diff`: lists of fields and kinds.

use super::{Session, sources};
use crate::args::{LifecycleDiffArgs, LifecycleFormat, LifecycleTableArgs};
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::{self, clean};
use kubeshape_lifecycle::diff::{self, Side};
use kubeshape_lifecycle::{KUBERNETES, Options, Stage, Version, fields, kinds};
use kubeshape_show::table::{self, Cell, ColumnDefinition, PrintOptions};
use serde_json::{Map, Value};

/// `kubeshape lifecycle table`
///
/// # Errors
/// Standard output is closed.
pub(super) fn table(args: &LifecycleTableArgs, mut session: Session) -> Result<bool, Fatal> {
    if args.kinds {
        return kinds_table(args, session);
    }
    if args.sources.types.is_empty() {
        return Err(Fatal::Usage("give the Go types: --types PATH".to_owned()));
    }
    check_once(args.sources.types.iter().chain(&args.sources.features))?;
    let (types, features) = sources::read(&args.sources.types, &args.sources.features, &mut session);
    let mut fields = fields::fields(&types, &features, &Options { release: args.sources.release });
    fields.retain(|field| field.property().is_some());
    let order = |stage: Option<Stage>| match stage {
        Some(Stage::Alpha) => 0,
        Some(Stage::Beta) => 1,
        Some(Stage::Deprecated) => 2,
        Some(Stage::Ga) => 3,
        None => 4,
    };
    fields.sort_by_key(|field| order(field.state.stage));
    let heads = ["package", "type", "field", "property", "stage", "minVersion", "featureGate", "place"];
    let rows: Vec<Vec<Option<String>>> = fields
        .iter()
        .map(|field| {
            let entry = field.state.projects.get(KUBERNETES);
            let gates = field.tags.gate_names().join(",");
            vec![
                Some(field.place.package.folder.clone()),
                Some(field.place.of.name.clone()),
                Some(field.field.name.clone()),
                field.property().map(str::to_owned),
                field.state.stage.map(|stage| stage.name().to_owned()),
                entry.and_then(|entry| entry.min_version.clone()),
                entry.and_then(|entry| entry.feature_gate.clone()).or(Some(gates).filter(|gates| !gates.is_empty())),
                Some(field.location()),
            ]
        })
        .collect();
    report::print(print(&heads, &rows, args.format).as_bytes())?;
    session.end()
}

/// `kubeshape lifecycle table --kinds`
fn kinds_table(args: &LifecycleTableArgs, mut session: Session) -> Result<bool, Fatal> {
    let heads = ["apiVersion", "kind", "introduced", "deprecated", "removed", "state", "replacement", "place"];
    let now = args.sources.release.unwrap_or(kinds::NEWEST);
    let state = |introduced: Version, deprecated: Option<Version>, removed: Option<Version>| {
        let is_past = |release: Option<Version>| release.is_some_and(|release| release <= now);
        let state = if is_past(removed) {
            "removed"
        } else if is_past(deprecated) {
            "deprecated"
        } else if introduced > now {
            "planned"
        } else {
            "served"
        };
        Some(state.to_owned())
    };
    let release = |release: Option<Version>| release.map(|release| release.to_string());
    let rows: Vec<Vec<Option<String>>> = if args.sources.types.is_empty() {
        let row = |kind: kinds::KindLifecycle<'_>| {
            vec![
                Some(kind.api_version.to_owned()),
                Some(kind.kind.to_owned()),
                release(Some(kind.introduced)),
                release(Some(kind.deprecated)),
                release(kind.removed),
                state(kind.introduced, Some(kind.deprecated), kind.removed),
                kind.replacement.map(str::to_owned),
                None,
            ]
        };
        kinds::built_in().map(row).collect()
    } else {
        let (types, _) = sources::read(&args.sources.types, &[], &mut session);
        let declared = kinds::declared(&types);
        let row = |kind: &kinds::Declared<'_>| {
            vec![
                Some(kind.api_version.clone()),
                Some(kind.kind().to_owned()),
                release(Some(kind.introduced)),
                release(kind.deprecated),
                release(kind.removed),
                state(kind.introduced, kind.deprecated, kind.removed),
                kind.replacement.clone(),
                Some(kind.location()),
            ]
        };
        declared.iter().filter(|kind| !kind.is_list()).map(row).collect()
    };
    report::print(print(&heads, &rows, args.format).as_bytes())?;
    session.end()
}

/// `kubeshape lifecycle diff`
///
/// # Errors
/// Standard output is closed.
pub(super) fn diff(args: &LifecycleDiffArgs, mut session: Session) -> Result<bool, Fatal> {
    check_once([&args.old, &args.new])?;
    let mut side = |path: &std::path::PathBuf| {
        let paths = std::slice::from_ref(path);
        let (types, features) = sources::read(paths, paths, &mut session);
        (types, features, path.to_string_lossy().replace('\\', "/"))
    };
    let (old, new) = (side(&args.old), side(&args.new));
    let old = Side { types: &old.0, features: &old.1, root: &old.2, release: args.old_release };
    let new = Side { types: &new.0, features: &new.1, root: &new.2, release: args.new_release };
    let heads = ["change", "package", "type", "property", "old", "new", "featureGate", "place"];
    let stage = |stage: Option<Stage>| stage.map(|stage| stage.name().to_owned());
    let mut changes = diff::diff(old, new);
    changes.sort_by_key(|change| change.kind);
    let mut rows: Vec<Vec<Option<String>>> = changes
        .into_iter()
        .map(|change| {
            vec![
                Some(change.kind.name().to_owned()),
                Some(change.package),
                Some(change.type_name),
                Some(change.property),
                stage(change.old),
                stage(change.new),
                Some(change.gates).filter(|gates| !gates.is_empty()),
                Some(change.place),
            ]
        })
        .collect();
    let mut changes = diff::kinds(old, new);
    changes.sort_by_key(|change| change.kind);
    // A kind has no property; the column of stages has its releases.
    rows.extend(changes.into_iter().map(|change| {
        let word = Some(change.kind.name().to_owned());
        vec![word, Some(change.package), Some(change.name), None, change.old, change.new, None, Some(change.place)]
    }));
    report::print(print(&heads, &rows, args.format).as_bytes())?;
    session.end()
}

fn print(heads: &[&str], rows: &[Vec<Option<String>>], format: LifecycleFormat) -> String {
    match format {
        LifecycleFormat::Json => json(heads, rows),
        LifecycleFormat::Csv => of_table(table::csv, heads, rows),
        LifecycleFormat::Md => markdown(heads, rows),
        LifecycleFormat::Text => of_table(table::text, heads, rows),
    }
}

fn of_table(
    print: fn(&[ColumnDefinition], &[Vec<Cell>], PrintOptions) -> String,
    heads: &[&str],
    rows: &[Vec<Option<String>>],
) -> String {
    let column = |head: &&str| ColumnDefinition {
        name: (*head).to_owned(),
        column_type: "string".to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
    };
    let cell = |value: &Option<String>| value.as_deref().map_or(Cell::Empty, |text| Cell::Text(clean::clean(text)));
    let columns: Vec<ColumnDefinition> = heads.iter().map(column).collect();
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    print(&columns, &rows, PrintOptions::default())
}

fn json(heads: &[&str], rows: &[Vec<Option<String>>]) -> String {
    let object = |row: &Vec<Option<String>>| {
        let members = heads.iter().zip(row).map(|(head, value)| ((*head).to_owned(), value.clone().into()));
        Value::Object(members.collect::<Map<String, Value>>())
    };
    let array = Value::Array(rows.iter().map(object).collect());
    let text = serde_json::to_string_pretty(&array).unwrap_or_default();
    format!("{}\n", clean::json(&text))
}

fn markdown(heads: &[&str], rows: &[Vec<Option<String>>]) -> String {
    let mut out = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let text = |value: &Option<String>| clean::clean(value.as_deref().unwrap_or_default()).replace('|', "\\|");
        let cells: Vec<String> = row.iter().map(text).collect();
        out.push_str("| ");
        out.push_str(&cells.join(" | "));
        out.push_str(" |\n");
    }
    out
}
