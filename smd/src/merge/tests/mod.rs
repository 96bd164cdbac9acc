//! The rules of apply and update, one test each.

mod generate;
mod laws;
mod ownership;
mod prune;
mod versions;

use super::*;
use crate::fieldpath::ManagedFields;
use crate::schema;
use crate::typed::{Duplicates, Emptied, Type, TypedValue, Types};
use crate::{Bump, ToValue as _, Value};
use kubeshape_yaml::{Limits, Stream, Tape};

/// A struct, a set, a keyed list with a default, a map, and an atomic map.
const SCHEMA: &str = "
types:
- name: root
  map:
    fields:
    - {name: s, type: {namedType: s}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: ports, type: {list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, protocol]}}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: atom, type: {map: {elementType: {scalar: string}, elementRelationship: atomic}}}
- name: s
  map:
    fields:
    - {name: x, type: {scalar: numeric}}
    - {name: 'y', type: {scalar: numeric}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}, default: TCP}
    - {name: name, type: {scalar: string}}
";

fn types(source: &str) -> Types {
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("it is text");
    stream.next(&mut tape).transpose().expect("it is YAML");
    Types::new(schema::read(tape.document(source).root().expect("it is not empty")).expect("it is a schema"))
}

/// An object with its managers.
struct Live<'a, C> {
    updater: &'a Updater<'a, C>,
    arena: &'a Bump,
    ty: Type<'a>,
    object: TypedValue<'a>,
    managers: ManagedFields<'a>,
}

impl<'a, C: Converter> Live<'a, C> {
    fn new(types: &'a Types, updater: &'a Updater<'a, C>, arena: &'a Bump) -> Self {
        let ty = types.named("root").expect("there is a root");
        let object = TypedValue::unvalidated(Some(Value::Null), ty);
        Live { updater, arena, ty, object, managers: ManagedFields::new() }
    }

    fn typed(&self, json: &str, duplicates: Duplicates) -> TypedValue<'a> {
        let json: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
        let scratch = Bump::new();
        let value = json.to_value(&scratch).copy_into(self.arena);
        self.ty.validate(value, duplicates).expect("it is of the type")
    }

    fn call(&mut self, manager: &'a str, version: &'a str, json: &str, force: Option<bool>) -> Result<bool, String> {
        let (live, managers, arena) = (self.object, self.managers.clone(), self.arena);
        let outcome = if let Some(force) = force {
            let config = self.typed(json, Duplicates::Refused);
            self.updater.apply(live, config, version, managers, manager, force, arena)
        } else {
            let new = self.typed(json, Duplicates::Allowed);
            self.updater.update(live, new, version, managers, manager, arena)
        };
        let outcome = outcome.map_err(|error| error.to_string())?;
        self.managers = outcome.managers;
        self.object = outcome.object.unwrap_or(self.object);
        Ok(outcome.object.is_some())
    }

    /// Returns whether an object was returned, or the error.
    fn apply(&mut self, manager: &'a str, json: &str) -> Result<bool, String> {
        self.call(manager, "v1", json, Some(false))
    }

    fn force(&mut self, manager: &'a str, json: &str) -> Result<bool, String> {
        self.call(manager, "v1", json, Some(true))
    }

    fn update(&mut self, manager: &'a str, json: &str) -> Result<bool, String> {
        self.call(manager, "v1", json, None)
    }

    fn object(&self) -> String {
        self.object.value().map_or("absent".to_owned(), |value| value.to_serde().to_string())
    }

    /// Returns every manager with its fields, and its version if that is not `v1`.
    fn owners(&self) -> Vec<String> {
        let owner = |(name, fields): (&str, &crate::fieldpath::VersionedSet<'_>)| {
            let set = fields.set.to_json().expect("all numbers are finite");
            let how = if fields.applied { "applied" } else { "updated" };
            let version = if fields.api_version == "v1" { "" } else { fields.api_version };
            format!("{name} {how}{version} {set}")
        };
        self.managers.iter().map(owner).collect()
    }
}

/// Runs a test on an empty object of [`SCHEMA`].
fn with_live(test: impl FnOnce(&mut Live<'_, SameVersion>)) {
    let (types, arena, updater) = (types(SCHEMA), Bump::new(), Updater::default());
    test(&mut Live::new(&types, &updater, &arena));
}
