//! Laws for every object and configuration.

use super::generate::{Random, Shape};
use super::*;
use crate::fieldpath::Set;

/// Returns whether a value contains null or an empty list or map, which upstream does not treat consistently.
fn is_hollow(value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.is_empty() || items.iter().any(|item| is_hollow(*item)),
        Value::Map(map) => map.is_empty() || map.entries().iter().any(|(_, value)| is_hollow(*value)),
        _ => false,
    }
}

/// Runs a law on a live object and configurations of one type.
fn holds(law: impl Fn(u64, &Updater<'_, SameVersion>, &Bump, TypedValue<'_>, &[TypedValue<'_>])) {
    let mut met = 0;
    for seed in 0..1500 {
        let random = &mut Random::new(seed);
        let (shape, arena) = (Shape::root(random), Bump::new());
        let types = shape.types();
        let ty = types.named("root").expect("there is a root");
        let nothing = TypedValue::unvalidated(Some(Value::Null), ty);
        let objects: Vec<_> = (0..4)
            .filter_map(|_| ty.validate(shape.value(random, &arena), Duplicates::Refused).ok())
            .filter(|object| !object.value().is_none_or(is_hollow))
            .collect();
        met += usize::from(!objects.is_empty());
        law(seed, &Updater::default(), &arena, nothing, &objects);
    }
    assert!(met > 200, "the law was hardly tried: {met}");
}

#[test]
fn the_same_configuration_again_changes_nothing() {
    holds(|seed, updater, arena, live, configs| {
        // What is borrowed for one lifetime here is copied into one arena.
        let updater = &updater.clone();
        let (mut live, mut managers) = (live, ManagedFields::new());
        for (config, name) in configs.iter().zip(["a", "b", "a", "b"]) {
            let first = updater.apply(live, *config, "v1", managers, name, true, arena);
            let first = first.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            live = first.object.unwrap_or(live);
            let again = updater.apply(live, *config, "v1", first.managers.clone(), name, false, arena);
            let again = again.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(again.object.map(TypedValue::value), None, "seed {seed}");
            assert_eq!(again.managers, first.managers, "seed {seed}");
            managers = again.managers;
        }
    });
}

#[test]
fn an_update_to_the_same_object_moves_no_ownership() {
    holds(|seed, updater, arena, live, objects| {
        let updater = &updater.clone();
        let (mut live, mut managers) = (live, ManagedFields::new());
        for (object, name) in objects.iter().zip(["a", "b", "c", "d"]) {
            let first = updater.update(live, *object, "v1", managers, name, arena);
            let first = first.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let same = object.value().map(|value| value.copy_into(arena));
            let same = TypedValue::unvalidated(same, object.ty());
            let again = updater.update(*object, same, "v1", first.managers.clone(), "z", arena);
            let again = again.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(again.managers, first.managers, "seed {seed}");
            (live, managers) = (*object, first.managers);
        }
    });
}

#[test]
fn a_forced_apply_leaves_every_applied_field_to_its_manager() {
    holds(|seed, updater, arena, live, configs| {
        let updater = &updater.clone();
        let (mut live, mut managers) = (live, ManagedFields::new());
        for (config, name) in configs.iter().zip(["a", "b", "c", "d"]) {
            let outcome = updater.apply(live, *config, "v1", managers, name, true, arena);
            let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            live = outcome.object.unwrap_or(live);
            let fields = config.to_field_set(arena).expect("it has a type");
            let owned = outcome.managers.get(name).map_or(Set::EMPTY, |owned| owned.set);
            assert_eq!(owned, fields, "seed {seed}");
            assert!(outcome.managers.iter().all(|(_, owned)| !owned.set.is_empty()), "seed {seed}");
            managers = outcome.managers;
        }
    });
}
