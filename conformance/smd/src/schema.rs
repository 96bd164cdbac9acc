//! Calls of upstream's `schema` package.

use crate::read::{schema_of, schema_of_yaml};
use crate::{Schemas, Verdict};
use kubeshape_smd::schema::{Atom, Schema, TypeDef, print_json};
use serde_json::{Value as Json, json};

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    replay(kind, record, schemas).unwrap_or_else(Verdict::Missing)
}

fn replay(kind: &str, record: &Json, schemas: &Schemas) -> Result<Verdict, String> {
    let found = record["found"].as_bool();
    let name = record["name"].as_str().unwrap_or_default();
    match kind {
        "schema.parse" => Ok(parse(record, schemas)),
        "schema.equals" => {
            let equal = schemas.schema(&record["lhs"])? == schemas.schema(&record["rhs"])?;
            Ok(Verdict::of("equal", &record["equal"].as_bool(), &Some(equal)))
        }
        "schema.findNamedType" => {
            let expected = schema_of(&json!({"types": [record["typeDef"]]}));
            let ty = schemas.schema(&record["schema"])?.find_type(name);
            Ok(Verdict::of("found", &found, &Some(ty.is_some())).and(|| match (ty, expected) {
                (Some(ty), Ok(expected)) => Verdict::of("type", &expected.types().next(), &Some(ty)),
                (Some(_), Err(error)) => Verdict::Missing(error),
                (None, _) => Verdict::Equal,
            }))
        }
        "schema.findField" => {
            let map = |map: &Json| schema_of(&json!({"types": [{"name": "m", "map": map}]}));
            let schema = map(&record["map"])?;
            let field = first(&schema).and_then(Atom::map).and_then(|map| map.field(name));
            Ok(Verdict::of("found", &found, &Some(field.is_some())).and(|| {
                let Some(field) = field else { return Verdict::Equal };
                match map(&json!({"fields": [record["field"]]})) {
                    Ok(expected) => {
                        let expected = first(&expected).and_then(|atom| atom.map()?.field(name));
                        Verdict::of("field", &expected, &Some(field))
                    }
                    Err(error) => Verdict::Missing(error),
                }
            }))
        }
        "schema.resolve" => resolve(record, schemas),
        _ => Err(format!("unknown kind {kind:?}")),
    }
}

/// Returns the atom of a schema's first type.
fn first(schema: &Schema) -> Option<Atom<'_>> {
    schema.types().next().map(TypeDef::atom)
}

fn printed(schema: &Schema) -> String {
    let mut out = Vec::new();
    print_json(schema, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn parse(record: &Json, schemas: &Schemas) -> Verdict {
    let read = schema_of_yaml(record["yaml"].as_str().unwrap_or_default());
    match (read, record["error"].as_str()) {
        (Ok(schema), None) => match schemas.schema(&record["schema"]) {
            Ok(expected) => Verdict::of("schema", &printed(expected), &printed(&schema)),
            Err(error) => Verdict::Missing(error),
        },
        // The YAML reader's messages differ.
        (Err(found), Some(expected)) if expected.starts_with("unable to validate schema: ") => {
            Verdict::of("error", expected, &found)
        }
        (Err(_), Some(_)) => Verdict::Equal,
        (Ok(_), Some(error)) => Verdict::Differing(format!("expected {error}")),
        (Err(error), None) => Verdict::Differing(format!("unexpected error: {error}")),
    }
}

/// Compares the type that a reference resolves to. The reference becomes the item type of an additional type after
/// those of the schema.
fn resolve(record: &Json, schemas: &Schemas) -> Result<Verdict, String> {
    let mut schema: Json =
        serde_json::from_str(&printed(schemas.schema(&record["schema"])?)).map_err(|error| error.to_string())?;
    let probe = json!({"name": "probed by the replay", "list": {"elementType": record["type"]}});
    match &mut schema["types"] {
        Json::Array(types) => types.push(probe),
        types => *types = json!([probe]),
    }
    let schema = schema_of(&schema)?;
    let items = schema.types().next_back().and_then(|ty| ty.atom().list()).ok_or("no list")?.element_type();
    let mut expected = record["atom"].clone();
    expected["name"] = json!("expected");
    let expected = schema_of(&json!({"types": [expected]}))?;
    let (atom, wanted) = (schema.resolve(items), first(&expected).ok_or("no atom")?);
    Ok(Verdict::of("found", &record["found"].as_bool(), &Some(atom.is_some())).and(|| {
        let Some(atom) = atom else { return Verdict::Equal };
        Verdict::of("scalar", &wanted.scalar(), &atom.scalar())
            .and(|| Verdict::of("list", &wanted.list(), &atom.list()))
            .and(|| Verdict::of("map", &wanted.map(), &atom.map()))
    }))
}
