//! Reads records and their contents.

use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::typed::{Type, TypedValue, Types};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// Returns the records of a gzipped file, one per line, or none if the file does not exist.
///
/// # Errors
/// The file cannot be read.
pub fn lines(file: &Path) -> Result<Vec<Json>, String> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let say = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let packed = std::fs::read(file).map_err(|error| say(&error))?;
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&*packed).read_to_string(&mut text).map_err(|error| say(&error))?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| say(&error))).collect()
}

/// The schemas of a folder by their ids.
#[derive(Debug, Default)]
pub struct Schemas {
    types: BTreeMap<String, Types>,
    /// Why the others could not be read.
    unread: BTreeMap<String, String>,
    /// The release of structured-merge-diff that answered.
    pub compat: Compat,
}

impl Schemas {
    /// Returns no schemas, of a release of structured-merge-diff.
    pub fn of(compat: Compat) -> Schemas {
        Schemas { compat, ..Schemas::default() }
    }

    /// Reads the schemas of a folder.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(folder: &Path) -> Result<Schemas, String> {
        let mut schemas = Schemas::default();
        for file in ["upstream-schemas", "generated-schemas", "sequences-schemas"] {
            for record in lines(&folder.join(format!("{file}.ndjson.gz")))? {
                schemas.add(&record);
            }
        }
        Ok(schemas)
    }

    /// Adds the schema of a record, or why it cannot be read.
    pub fn add(&mut self, record: &Json) {
        let id = record["id"].as_str().unwrap_or_default().to_owned();
        let read = schema_of(&record["schema"]).or_else(|_| {
            let mut schema = record["schema"].clone();
            name_the_nameless(&mut schema);
            schema_of(&schema)
        });
        match read {
            Ok(schema) => drop(self.types.insert(id, Types::new(schema))),
            Err(error) => drop(self.unread.insert(id, error)),
        }
    }

    /// Returns the types of a schema.
    ///
    /// # Errors
    /// There is no schema with this id.
    pub fn types(&self, id: &Json) -> Result<&Types, String> {
        let id = id.as_str().unwrap_or_default();
        self.types.get(id).ok_or_else(|| {
            let why = self.unread.get(id).map_or("it is unknown", String::as_str);
            format!("no schema {id:?}: {why}")
        })
    }

    /// Returns a schema as it was read.
    ///
    /// # Errors
    /// There is no schema with this id.
    pub fn schema(&self, id: &Json) -> Result<&schema::Schema, String> {
        self.types(id).map(Types::schema)
    }

    /// Returns a named type of a schema. Inlined types have no name.
    ///
    /// # Errors
    /// There is no such schema or type.
    pub fn named(&self, id: &Json, type_ref: &Json) -> Result<Type<'_>, String> {
        let name = type_ref["namedType"].as_str().or(type_ref.as_str());
        let name = name.ok_or_else(|| format!("an inlined type: {type_ref}"))?;
        self.types(id)?.named(name).ok_or_else(|| format!("no type {name:?}"))
    }
}

/// Adds missing names. Upstream omits empty names when it writes a schema as JSON. Such types get a name from their
/// position, because a schema with two types of the same name cannot be read.
fn name_the_nameless(schema: &mut Json) {
    fn name(items: &mut Json) {
        for (at, item) in items.as_array_mut().into_iter().flatten().enumerate() {
            if let Some(item) = item.as_object_mut() {
                item.entry("name").or_insert_with(|| format!("without name {at}").into());
            }
        }
    }
    match schema {
        Json::Array(items) => items.iter_mut().for_each(name_the_nameless),
        Json::Object(members) => {
            members.get_mut("types").map(name);
            members.get_mut("map").and_then(|map| map.get_mut("fields")).map(name);
            members.values_mut().for_each(name_the_nameless);
        }
        _ => {}
    }
}

/// Reads a schema from its JSON form.
///
/// # Errors
/// It is not a schema.
pub(crate) fn schema_of(json: &Json) -> Result<schema::Schema, String> {
    schema_of_yaml(&json.to_string())
}

/// Reads a schema from its YAML form.
///
/// # Errors
/// It is not a schema.
pub(crate) fn schema_of_yaml(text: &str) -> Result<schema::Schema, String> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).map_err(|error| error.to_string())?;
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    let root = tape.document(text).root().ok_or("an empty document")?;
    schema::read(root).map_err(|error| error.to_string())
}

/// Reads a set from its JSON form.
///
/// # Errors
/// It is not a set.
pub fn set_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<Set<'a>, String> {
    match json {
        Json::String(text) => Set::read_json(text.as_bytes(), arena),
        json => Set::read_json(arena.alloc_str(&json.to_string()).as_bytes(), arena),
    }
    .map_err(|error| error.to_string())
}

/// Reads a typed value, unchecked.
///
/// # Errors
/// There is no such schema or type.
pub fn typed_value_of<'a>(json: &'a Json, schemas: &'a Schemas, arena: &'a Bump) -> Result<TypedValue<'a>, String> {
    let ty = schemas.named(&json["schema"], &json["type"])?;
    Ok(TypedValue::unvalidated(json.get("value").map(|value| value.to_value(arena)), ty))
}
