//! Schemas that are known to be structural, and which schemas of a CustomResourceDefinition the server uses.

use crate::{convert, validate};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Additional, Code, Converted, Dependency, Flags, Items, Note, Property, Schema, Type};

/// A schema that an API server uses: it has only the six types, converts, and is structural.
///
/// This is a reference to the schema; nothing is copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Structural<'a>(&'a Schema<'a>);

impl<'a> Structural<'a> {
    /// Returns `None` if the schema is not structural; [`usable`] reports why.
    pub fn new(schema: &'a Schema<'a>) -> Option<Self> {
        usable(Some(schema), schema.at).value
    }

    /// Returns the schema.
    #[inline]
    pub fn schema(self) -> &'a Schema<'a> {
        self.0
    }
}

/// Further reasons are counted, but not listed.
const MAX_REASONS: usize = 100;

/// Decides whether the schema of a version is used. If not, the server publishes the version as an object of any
/// content.
///
/// `schema` is the schema of the version. `at` is the location of the version in the tape, for the note that there is
/// no schema. The value is `None` if there is no schema or it is not structural. The notes have the reasons:
/// [`Code::NoSchema`], [`Code::UnknownType`], [`Code::NotConvertible`], [`Code::NotStructural`]. Each detail begins
/// with the path of the keyword in the schema. All problems are reported together: an unknown type does not hide the
/// others.
///
/// # Example: a misspelt type
/// ```
/// use kubeshape_schema::{Bump, Code, read};
/// use kubeshape_structural::usable;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"type": "object", "properties": {"a": {"type": "strin"}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let mut reader = read::Reader::new(&arena, read::Rules::Crd);
/// let schema = reader.schema(tape.document(source).root().unwrap());
/// let decision = usable(Some(&schema), 0);
/// assert!(decision.value.is_none());
/// assert_eq!(decision.notes[0].code, Code::UnknownType);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn usable<'a>(schema: Option<&'a Schema<'a>>, at: u32) -> Converted<'a, Option<Structural<'a>>> {
    let Some(schema) = schema else {
        return Converted { value: None, notes: vec![Note::new(Code::NoSchema, at, "found no openAPIV3Schema")] };
    };
    let mut reasons = Reasons { notes: Vec::new(), more: 0 };
    unknown_types(schema, &Path::Root, &mut reasons);
    match convert(schema) {
        Err(error) => {
            let colon = if error.path.is_empty() { "" } else { ": " };
            reasons.add(Code::NotConvertible, error.at, || format!("{}{colon}{error}", error.path));
        }
        Ok(()) => {
            for error in validate(schema, "") {
                let at = error.at;
                reasons.add(Code::NotStructural, at, || error.to_string());
            }
        }
    }
    let notes = reasons.into_notes(schema.at);
    Converted { value: notes.is_empty().then_some(Structural(schema)), notes }
}

struct Reasons<'a> {
    notes: Vec<Note<'a>>,
    more: usize,
}

impl<'a> Reasons<'a> {
    fn add(&mut self, code: Code, at: u32, detail: impl FnOnce() -> String) {
        if self.notes.len() < MAX_REASONS {
            self.notes.push(Note::new(code, at, detail()));
        } else {
            self.more += 1;
        }
    }

    fn into_notes(mut self, at: u32) -> Vec<Note<'a>> {
        if let (Some(last), 1..) = (self.notes.last(), self.more) {
            let code = last.code;
            self.notes.push(Note::new(code, at, format!("and {} more errors", self.more)));
        }
        self.notes
    }
}

/// Notes every `type` in the schema that is not one of the six, as upstream's `validation.SchemaHasInvalidTypes` does.
fn unknown_types<'a>(schema: &Schema<'a>, path: &Path<'_>, reasons: &mut Reasons<'a>) {
    if !schema.subtree.any(Flags::OTHER_TYPE) {
        return;
    }
    if schema.ty == Type::Other {
        reasons.add(Code::UnknownType, schema.at, || {
            let path = path.child("type");
            format!(
                "{path}: found {:?}, expected array, boolean, integer, number, object or string",
                schema.type_name()
            )
        });
    }
    let extra = schema.extra();
    match schema.items {
        Some(Items::One(item)) => unknown_types(item, &path.child("items"), reasons),
        Some(Items::Many(items)) => unknown_types_in(items, "items", path, reasons),
        None => {}
    }
    let additional = [("additionalProperties", schema.additional), ("additionalItems", extra.additional_items)];
    for (name, additional) in additional {
        if let Some(Additional::Schema(inner)) = additional {
            unknown_types(inner, &path.child(name), reasons);
        }
    }
    let named: [(&'static str, &[Property<'a>]); 3] = [
        ("properties", schema.properties),
        ("patternProperties", extra.pattern_properties),
        ("definitions", extra.definitions),
    ];
    for (name, properties) in named {
        let path = path.child(name);
        for property in properties {
            unknown_types(&property.schema, &path.key(property.name), reasons);
        }
    }
    for (name, branches) in [("allOf", extra.all_of), ("anyOf", extra.any_of), ("oneOf", extra.one_of)] {
        unknown_types_in(branches, name, path, reasons);
    }
    if let Some(not) = extra.not {
        unknown_types(not, &path.child("not"), reasons);
    }
    let dependencies = path.child("dependencies");
    for (name, dependency) in extra.dependencies {
        if let Dependency::Schema(inner) = dependency {
            unknown_types(inner, &dependencies.key(name), reasons);
        }
    }
}

fn unknown_types_in<'a>(list: &[Schema<'a>], name: &'static str, path: &Path<'_>, reasons: &mut Reasons<'a>) {
    let path = path.child(name);
    for (i, schema) in list.iter().enumerate() {
        unknown_types(schema, &path.index(i), reasons);
    }
}
