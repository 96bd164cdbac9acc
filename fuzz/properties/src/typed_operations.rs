//! The input is a stream of a schema and two values. Every typed operation ends, does not change its inputs, and obeys
//! its laws, whatever the schema is and whether or not the values match it.

use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::schema::{Atom, Relationship, TypeRef};
use kubeshape_smd::typed::{Duplicates, KeyFields, Type, TypedValue, Types};
use kubeshape_smd::{Bump, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 10_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tapes = [Tape::new(), Tape::new(), Tape::new()];
    for tape in &mut tapes {
        if !matches!(stream.next(tape), Some(Ok(()))) {
            return;
        }
    }
    let [schema, left, right] = tapes.each_ref().map(|tape| tape.document(source).root());
    let (Some(schema), Some(left), Some(right)) = (schema, left, right) else { return };
    let Ok(schema) = schema::read(schema) else { return };
    let types = Types::new(schema);
    let Some(first) = types.schema().types().next() else { return };
    let ty = types.named(first.name()).expect("a type of the schema");
    let arena = Bump::new();
    let (left, right) = (Value::from_node(left, &arena), Value::from_node(right, &arena));
    let (copy, of_right) = (Bump::new(), Bump::new());
    let before = (left.copy_into(&copy), right.copy_into(&of_right));

    let mut seen: Option<String> = None;
    for left in forms(ty, left) {
        for right in forms(ty, right) {
            let found = operations(left, right, &arena);
            // Known properties of a value save work and change no result.
            assert_eq!(seen.get_or_insert_with(|| found.clone()), &found);
        }
    }
    if types.schema().types().all(|def| has_known_lists(def.atom())) {
        laws(ty, left, right, &arena);
    }
    assert_eq!((left, right), before);
}

/// Returns whether every list is atomic or associative. Items of others pass the check of their type, and upstream
/// loses them in merges.
fn has_known_lists(atom: Atom<'_>) -> bool {
    let known =
        |relationship: Relationship<'_>| matches!(relationship, Relationship::Atomic | Relationship::Associative);
    let reference =
        |reference: TypeRef<'_>| reference.relationship().is_none_or(known) && has_known_lists(reference.inlined());
    let list = atom.list();
    list.is_none_or(|list| list.relationship().is_some_and(known) && reference(list.element_type()))
        && atom
            .map()
            .is_none_or(|map| reference(map.element_type()) && map.fields().all(|field| reference(field.type_ref())))
}

/// Returns the value unchecked, and checked as far as it matches its type.
fn forms<'a>(ty: Type<'a>, value: Value<'a>) -> Vec<TypedValue<'a>> {
    let checked = [Duplicates::Allowed, Duplicates::Refused].map(|duplicates| ty.validate(value, duplicates).ok());
    [TypedValue::unvalidated(Some(value), ty)].into_iter().chain(checked.into_iter().flatten()).collect()
}

fn operations<'a>(left: TypedValue<'a>, right: TypedValue<'a>, arena: &'a Bump) -> String {
    let set = right.to_field_set(arena).unwrap_or(Set::EMPTY);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        left.to_field_set(arena).map_err(|errors| errors.to_string()),
        left.compare(right, arena).map_err(|error| error.to_string()),
        left.merge(right, arena).map(TypedValue::value).map_err(|error| error.to_string()),
        left.remove_items(set, arena).value(),
        left.extract_items(set, KeyFields::AsOwned, arena).value(),
        left.extract_items(set.leaves(arena), KeyFields::Append, arena).value(),
        left.reconcile(set, arena).map_err(|errors| errors.to_string()),
        set.ensure_named_fields_are_members(left.ty(), arena),
    )
}

fn laws<'a>(ty: Type<'a>, live: Value<'a>, config: Value<'a>, arena: &'a Bump) {
    let live = ty.validate(live, Duplicates::Allowed);
    let config = ty.validate(config, Duplicates::Refused);
    let (Ok(live), Ok(config)) = (live, config) else { return };
    let Ok(merged) = live.merge(config, arena) else { return };
    let again = merged.merge(config, arena).expect("what could be merged once");
    assert_eq!(again.value(), merged.value());
    let same = config.merge(config, arena).expect("what could be merged once");
    assert_eq!(same.value(), config.value());
    if let Ok(changes) = merged.compare(again, arena) {
        assert!(changes.is_same());
    }
}
