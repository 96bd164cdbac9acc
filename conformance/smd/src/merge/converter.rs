//! The converters of upstream's tests.

use super::{same_object, text};
use crate::{Schemas, Verdict, typed_value_of};
use kubeshape_smd::merge::{ConvertError, Converter};
use kubeshape_smd::typed::{Duplicates, Type, TypedValue, Types};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use serde_json::{Value as Json, json};

/// Finds the type of a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parser<'a> {
    types: &'a Types,
    /// The type of all versions. If absent, each version has a type of the same name.
    one: Option<&'a str>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(json: &'a Json, schemas: &'a Schemas) -> Result<Self, String> {
        let types = schemas.types(&json["schema"])?;
        Ok(Parser { types, one: json["type"]["namedType"].as_str() })
    }

    pub(super) fn ty(self, version: &str) -> Result<Type<'a>, String> {
        let name = self.one.unwrap_or(version);
        self.types.named(name).ok_or_else(|| format!("no type found matching: {name}"))
    }

    /// Returns the name of a type.
    pub(super) fn name(self, ty: Type<'_>) -> Option<&'a str> {
        let mut names = self.types.schema().types().map(kubeshape_smd::schema::TypeDef::name);
        names.find(|name| self.types.named(name).is_some_and(|named| named.is(ty)))
    }
}

/// How objects are converted between versions.
#[derive(Clone, Debug)]
pub(super) enum Conversion<'a> {
    /// Not changed, unless the version is empty.
    Identity,
    /// Keys end in the version.
    Renaming(Parser<'a>),
    /// Below the root's keys, a key is a letter that is repeated according to the version.
    Repeating(Parser<'a>),
    /// Version 1 has another name for a field, and requires it.
    ReliantFields(Parser<'a>),
    /// The recorded answers for objects and versions.
    Recorded(Vec<Recorded<'a>>),
}

/// An answer of a converter.
#[derive(Clone, Debug)]
pub(super) struct Recorded<'a> {
    object: TypedValue<'a>,
    version: &'a str,
    answer: Result<TypedValue<'a>, ConvertError>,
}

impl<'a> Conversion<'a> {
    pub(super) fn named(name: &str, parser: Parser<'a>) -> Result<Self, String> {
        Ok(match name {
            "identity" => Conversion::Identity,
            "merge_test.renamingConverter" => Conversion::Renaming(parser),
            "merge_test.repeatingConverter" => Conversion::Repeating(parser),
            "merge_test.reliantFieldsConverter" => Conversion::ReliantFields(parser),
            other => return Err(format!("unknown converter {other:?}")),
        })
    }

    /// Reads the recorded answers. Without a recording, objects are not changed.
    pub(super) fn recorded(json: &'a Json, schemas: &'a Schemas, arena: &'a Bump) -> Result<Self, String> {
        let Some(answers) = json.as_array() else { return Ok(Conversion::Identity) };
        let answers = answers.iter().map(|json| {
            let object = typed_value_of(&json["object"], schemas, arena)?;
            let answer = match json["error"].as_str() {
                Some(error) if json["missingVersion"] == json!(true) => {
                    Err(ConvertError::MissingVersion(error.to_owned()))
                }
                Some(error) => Err(ConvertError::Failed(error.to_owned())),
                None if json["same"] == json!(true) => Ok(object),
                None => Ok(typed_value_of(&json["result"], schemas, arena)?),
            };
            Ok(Recorded { object, version: text(&json["version"]), answer })
        });
        answers.collect::<Result<_, String>>().map(Conversion::Recorded)
    }

    /// Compares the converter with the recorded answers.
    pub(super) fn agrees(&'a self, recorded: &Conversion<'a>, arena: &'a Bump) -> Verdict {
        let Conversion::Recorded(recorded) = recorded else { return Verdict::Equal };
        recorded.iter().fold(Verdict::Equal, |verdict, recorded| {
            verdict.and(|| match (&recorded.answer, self.convert(recorded.object, recorded.version, arena)) {
                (Ok(expected), Ok(found)) => same_object("conversion", Some(*expected), Some(found)),
                (Err(expected), Err(found)) => Verdict::of("conversion", expected, &found),
                (expected, found) => Verdict::of("conversion succeeds", &expected.is_ok(), &found.is_ok()),
            })
        })
    }
}

impl Converter for Conversion<'_> {
    fn convert<'a>(
        &'a self,
        object: TypedValue<'a>,
        version: &str,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, ConvertError> {
        match self {
            Conversion::Identity if version.is_empty() => {
                Err(ConvertError::Failed("cannot convert to invalid version: \"\"".to_owned()))
            }
            Conversion::Identity => Ok(object),
            Conversion::Renaming(parser) => {
                let from = parser.name(object.ty()).ok_or_else(|| failed(&"a type of another schema"))?;
                let value = object.value().map_or(Value::Null, |value| renamed(value, from, version, arena));
                typed(*parser, version, value)
            }
            Conversion::Repeating(parser) => {
                let times = version.strip_prefix('v').and_then(|digits| digits.parse().ok());
                let times: usize = times
                    .ok_or_else(|| ConvertError::MissingVersion("cannot convert to invalid version".to_owned()))?;
                let value = match object.value() {
                    Some(Value::Map(root)) => Value::Map(Map::from_entries(
                        root.entries().iter().map(|(key, below)| (*key, repeated(*below, times, arena))).collect(),
                        arena,
                    )),
                    _ => Value::Null,
                };
                typed(*parser, version, value)
            }
            Conversion::ReliantFields(parser) => {
                const OLD: &str = "field_foo_rely_on_bar";
                const NEW: &str = "required_field_bar";
                if parser.name(object.ty()) == Some(version) {
                    return Ok(object);
                }
                let value = object.value().unwrap_or(Value::Null);
                let value = match version {
                    "v1" if value.get(NEW).is_none() => {
                        return Err(ConvertError::Failed("missing requried field bar".to_owned()));
                    }
                    "v1" => renamed_field(value, NEW, OLD, arena),
                    "v2" => renamed_field(value, OLD, NEW, arena),
                    _ => return Err(ConvertError::MissingVersion("cannot convert to invalid version".to_owned())),
                };
                typed(*parser, version, value)
            }
            Conversion::Recorded(answers) => {
                let known = answers.iter().find(|known| {
                    known.version == version
                        && known.object.value() == object.value()
                        && known.object.ty().is(object.ty())
                });
                known.map_or_else(|| Err(failed(&"no recorded conversion")), |known| known.answer.clone())
            }
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> ConvertError {
    ConvertError::Failed(error.to_string())
}

fn typed<'a>(parser: Parser<'a>, version: &str, value: Value<'a>) -> Result<TypedValue<'a>, ConvertError> {
    let ty = parser.ty(version).map_err(|error| failed(&error))?;
    ty.validate(value, Duplicates::Refused).map_err(|error| failed(&error))
}

/// Renames the keys that end in one version to the other version.
fn renamed<'a>(value: Value<'a>, from: &str, to: &str, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) => {
            let entries = map.entries().iter().map(|(key, value)| {
                let key = match key.strip_suffix(from) {
                    Some(stem) => &*arena.alloc_str(&format!("{stem}{to}")),
                    None => *key,
                };
                (key, renamed(*value, from, to, arena))
            });
            Value::Map(Map::from_entries(entries.collect(), arena))
        }
        Value::List([]) => Value::Null,
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| renamed(*item, from, to, arena)).collect();
            Value::List(arena.alloc_slice_copy(&items))
        }
        scalar => scalar,
    }
}

fn renamed_field<'a>(value: Value<'a>, from: &str, to: &'a str, arena: &'a Bump) -> Value<'a> {
    match (value, value.get(from)) {
        (Value::Map(map), Some(field)) => {
            let entries = map.entries().iter().filter(|(key, _)| *key != from).copied().chain([(to, field)]);
            Value::Map(Map::from_entries(entries.collect(), arena))
        }
        _ => value,
    }
}

/// Repeats the first letter of every key; the leaves become null.
fn repeated<'a>(value: Value<'a>, times: usize, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) if !map.is_empty() => {
            let entries = map.entries().iter().map(|(key, value)| {
                let letter = key.chars().next().map(String::from).unwrap_or_default();
                (&*arena.alloc_str(&letter.repeat(times)), repeated(*value, times, arena))
            });
            Value::Map(Map::from_entries(entries.collect(), arena))
        }
        _ => Value::Null,
    }
}
