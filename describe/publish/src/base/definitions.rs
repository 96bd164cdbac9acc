//! Reads and prints the definitions that documents share.

use kubeshape_schema::print::{self, Style};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Additional, Bump, Items, Profile, Property, Schema, order};
use kubeshape_yaml::{Limits, Stream, Tape};

/// A definition as each kind of document contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) name: String,
    pub(crate) v3: Vec<u8>,
    pub(crate) v2: Vec<u8>,
    pub(crate) v2_served: Vec<u8>,
}

/// Prints definitions, sorted by name as documents are.
pub(crate) fn print(definitions: &[(&str, Schema<'_>)], arena: &Bump) -> Vec<Printed> {
    let printed = |schema: &Schema<'_>, style| {
        let mut out = Vec::new();
        print::schema(&mut out, schema, style);
        out
    };
    let one = |(name, schema): &(&str, Schema<'_>)| {
        let v2 = to_v2(schema, arena);
        Printed {
            name: (*name).to_owned(),
            v3: printed(schema, Style::V3),
            v2: printed(&v2, Style::V2),
            v2_served: printed(&v2, Style::V2_SERVED),
        }
    };
    let mut all: Vec<Printed> = definitions.iter().map(one).collect();
    all.sort_by(|a, b| order::utf16(&a.name, &b.name));
    all
}

/// Returns the members of a JSON object of definitions. `json` is printed by this crate, so it can be read.
pub(crate) fn read<'a>(json: &'a str, tape: &'a mut Tape, arena: &'a Bump) -> Vec<(&'a str, Schema<'a>)> {
    let read = Stream::new(json.as_bytes(), Limits::default()).and_then(|mut stream| stream.next(tape).transpose());
    debug_assert!(matches!(read, Ok(Some(()))), "{read:?}");
    let Some(root) = tape.document(json).root() else { return Vec::new() };
    let mut reader = Reader::new(arena, Rules::Document(Profile::Kube));
    root.pairs().map(|(key, value)| (key.text(), reader.schema(value))).collect()
}

/// Converts a definition of a v3 document to v2: an `allOf` with one reference becomes that reference with siblings.
fn to_v2<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let mut out = *schema;
    let properties =
        schema.properties.iter().map(|p| Property { schema: to_v2(&p.schema, arena), ..*p }).collect::<Vec<_>>();
    out.properties = arena.alloc_slice_copy(&properties);
    out.items = match schema.items {
        Some(Items::One(item)) => Some(Items::One(arena.alloc(to_v2(item, arena)))),
        other => other,
    };
    out.additional = match schema.additional {
        Some(Additional::Schema(inner)) => Some(Additional::Schema(arena.alloc(to_v2(inner, arena)))),
        other => other,
    };
    let mut extra = *schema.extra();
    if let [only] = extra.all_of
        && !only.reference.is_empty()
    {
        out.reference = only.reference;
        extra.all_of = &[];
    }
    if let Some(name) = out.reference.strip_prefix("#/components/schemas/") {
        out.reference = arena.alloc_str(&format!("#/definitions/{name}"));
    }
    if schema.extra.is_some() {
        out.extra = Some(arena.alloc(extra));
    }
    out
}
