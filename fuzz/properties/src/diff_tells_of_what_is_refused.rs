//! A definition has no changes from itself. If a changed definition rejects an object that was accepted, there is a
//! change that is risky or breaking for writers. This is also true for two unrelated definitions. Each witness is an
//! object that the old definition accepts and the new one does not.

use kubeshape_check::{Check, Releases};
use kubeshape_diff::{Class, Consumer, Effort, Outcome, Proof, definitions, witnesses};
use kubeshape_schema::field::Error;
use kubeshape_schema::{Bump, Code, Extra, Flags, Items, Json, Property, Schema, Type};
use kubeshape_sample::sample;
use kubeshape_smd::{ToValue, Value};
use kubeshape_structural::read::manifests;
use kubeshape_structural::{Crd, Version};
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::json;
use std::collections::BTreeSet;

/// The number of fields of a schema that get values.
const FIELDS: usize = 12;
/// The depth of the schema that changes.
const DEPTH: usize = 6;
/// The number of changes that are tried.
const ROUNDS: u32 = 8;
/// The number of documents that are compared with the previous one.
const DOCUMENTS: usize = 3;

/// Checks the property. The bytes also decide what changes.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 5_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tapes = Vec::new();
    while tapes.len() < DOCUMENTS {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            Some(Ok(())) => tapes.push(tape),
            _ => break,
        }
    }
    pairs(source, &tapes);
    let Some(root) = tapes.first().and_then(|tape| tape.document(source).root()) else { return };
    let seed = data.iter().fold(7_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    for manifest in manifests(root).0 {
        let arena = Bump::new();
        let Some(old) = manifest.read(&arena).value else { continue };
        assert_eq!(definitions(&old, &old), []);
        // A server rejects a definition with several versions of the same name.
        let names: BTreeSet<_> = old.versions.iter().map(|version| version.name).collect();
        if names.len() < old.versions.len() {
            continue;
        }
        for round in 0..ROUNDS {
            let mut choice = Choice(seed.wrapping_add(round.wrapping_mul(0x9e37_79b9)));
            let mut versions = old.versions.to_vec();
            for version in &mut versions {
                version.schema = version.schema.map(|schema| &*arena.alloc(changed(schema, DEPTH, &mut choice, &arena)));
            }
            let new = Crd { versions: arena.alloc_slice_copy(&versions), ..old };
            let is_told = definitions(&old, &new)
                .iter()
                .any(|change| change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky));
            if !is_told {
                refuses_nothing(&old, &new, &arena);
            }
        }
    }
}

/// Compares each definition with the previous and the next one.
fn pairs(source: &str, tapes: &[Tape]) {
    let arena = Bump::new();
    let roots = tapes.iter().filter_map(|tape| tape.document(source).root());
    // A definition that a server rejects has no objects.
    let accepted = |root| {
        let manifest = manifests(root).0.first().copied()?;
        let is_accepted = Check::new(Releases::ALL).definition(manifest, &arena).is_accepted();
        manifest.read(&arena).value.filter(|_| is_accepted)
    };
    let crds: Vec<Crd<'_>> = roots.filter_map(accepted).collect();
    for pair in crds.windows(2) {
        for (old, new) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            let changes = definitions(old, new);
            assert_eq!(changes, definitions(old, new));
            let proofs = witnesses(old, new, &Effort { changes: 3, values: 4, rounds: 4, shrinking: 8, ..Effort::default() });
            assert_eq!(changes.len(), proofs.len());
            let is_told = |change: &kubeshape_diff::Change| {
                change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky)
            };
            for was in old.versions {
                let Some(is) = new.versions.iter().find(|is| is.name == was.name) else { continue };
                let (before, after) = (only(old, was), only(new, is));
                let (before, after) = (&before, &after);
                // Another group or kind is another resource.
                if (old.group, old.names.kind) == (new.group, new.names.kind)
                    && !changes.iter().any(|change| change.version == was.name && is_told(change))
                {
                    refuses_nothing(before, after, &arena);
                }
                for (change, proof) in changes.iter().zip(&proofs).filter(|(change, _)| change.version == was.name) {
                    let Proof::Witness(witness) = proof else { continue };
                    if witness.outcome == Outcome::Refused && change.code != Code::DiffSubresource {
                        let resource = Resource::new(before, was, Release::DEFAULT, &arena);
                        let memory = Bump::new();
                        let errors = errors(&resource, witness.object.to_value(&memory), &memory);
                        assert!(errors.is_empty(), "{change:?}: {:?} was not accepted: {errors:?}", witness.object);
                    }
                }
            }
        }
    }
}

/// Returns the definition with one version.
fn only<'a>(crd: &Crd<'a>, version: &'a Version<'a>) -> Crd<'a> {
    Crd { versions: std::slice::from_ref(version), ..*crd }
}

/// Panics if the new definition rejects an object that the old one accepts.
fn refuses_nothing<'a>(old: &Crd<'a>, new: &Crd<'a>, arena: &'a Bump) {
    let values =
        [json!(1), json!(1.5), json!("a"), json!("text"), json!(true), json!({}), json!([]), json!([1, 1]), json!(null)];
    for (was, is) in old.versions.iter().zip(new.versions) {
        let Some(schema) = was.schema else { continue };
        let resources =
            (Resource::new(old, was, Release::DEFAULT, arena), Resource::new(new, is, Release::DEFAULT, arena));
        for maximal in [false, true] {
            compare(&resources, sample(&resources.0, maximal, arena).value, arena);
        }
        for property in schema.properties.iter().take(FIELDS) {
            for value in &values {
                // Upstream does not check the type of a list if a string has a format. No one relies on that, so it is
                // not reported.
                if value.is_array() && !property.schema.format.is_empty() {
                    continue;
                }
                let object = json!({
                    "apiVersion": format!("{}/{}", old.group, was.name), "kind": old.names.kind, "metadata": {"name": "a"},
                    property.name: value,
                });
                let arena = Bump::new();
                compare(&resources, object.to_value(&arena), &arena);
            }
        }
    }
}

fn compare<'o>((old, new): &'o (Resource<'_>, Resource<'_>), object: Value<'o>, arena: &'o Bump) {
    if errors(old, object, arena).is_empty() {
        let errors = errors(new, object, arena);
        assert!(errors.is_empty(), "no change is reported, and {object:?} is refused: {errors:?}");
    }
}

/// Returns why a server refuses to create an object.
fn errors<'o>(resource: &'o Resource<'_>, object: Value<'o>, arena: &'o Bump) -> Vec<Error> {
    match resource.decode(object, arena) {
        Ok(decoded) => resource.create(decoded.value, arena).errors,
        Err(_) => Vec::new(),
    }
}

/// Numbers that follow from the first one.
struct Choice(u32);

impl Choice {
    fn of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % count.max(1)
    }
}

/// Returns a schema with one change.
fn changed<'a>(schema: &Schema<'a>, depth: usize, choice: &mut Choice, arena: &'a Bump) -> Schema<'a> {
    let mut new = *schema;
    if depth > 0 && choice.of(4) > 0 {
        if !schema.properties.is_empty() {
            let at = choice.of(schema.properties.len());
            let mut properties: Vec<Property<'a>> = schema.properties.to_vec();
            properties[at].schema = changed(&properties[at].schema, depth - 1, choice, arena);
            new.properties = arena.alloc_slice_copy(&properties);
            return new;
        }
        if let Some(Items::One(items)) = schema.items {
            new.items = Some(Items::One(arena.alloc(changed(items, depth - 1, choice, arena))));
            return new;
        }
    }
    let mut extra: Extra<'a> = *schema.extra();
    match choice.of(14) {
        0 => new.ty = [Type::String, Type::Integer, Type::Number, Type::Boolean][choice.of(4)],
        1 => new.flags.set(Flags::NULLABLE, !schema.flags.any(Flags::NULLABLE)),
        2 => new.enumeration = arena.alloc_slice_copy(&[Json::Str("a"), Json::Int(1)]),
        3 => new.enumeration = &[],
        4 => extra.max_length = Some(2),
        5 => extra.min_length = Some(5),
        6 => extra.minimum = Some(3.0),
        7 => extra.maximum = Some(0.0),
        8 => extra.min_items = Some(1),
        9 => extra.max_items = Some(1),
        10 => new.required = &[],
        11 => {
            let names: Vec<&str> = schema.properties.iter().map(|property| property.name).take(1).collect();
            new.required = arena.alloc_slice_copy(&names);
        }
        12 if !schema.properties.is_empty() => {
            let mut properties: Vec<Property<'a>> = schema.properties.to_vec();
            properties.remove(choice.of(schema.properties.len()));
            new.properties = arena.alloc_slice_copy(&properties);
        }
        _ => extra.max_properties = Some(0),
    }
    new.extra = Some(arena.alloc(extra));
    new
}
