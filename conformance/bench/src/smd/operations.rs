//! Apply and update, and the operations on typed values that they use.

use super::inputs::{self, Inputs, LARGE, OBJECTS, Object};
use super::measure::Bench;
use kubeshape_smd::fieldpath::ManagedFields;
use kubeshape_smd::merge::{SameVersion, Updater};
use kubeshape_smd::typed::{Duplicates, KeyFields, Type, TypedValue, Types};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::hint::black_box;

/// A call of the updater.
#[derive(Clone, Copy, Debug)]
struct Step {
    apply: bool,
    manager: &'static str,
    version: &'static str,
}

const fn apply(manager: &'static str) -> Step {
    Step { apply: true, manager, version: "v1" }
}

const fn update(manager: &'static str, version: &'static str) -> Step {
    Step { apply: false, manager, version }
}

const FIRST: &str = "controller";
const OTHER: &str = "other-controller";

/// Upstream's benchmarks for every object: the name, whether a no-op returns the object, and the calls.
const SEQUENCES: [(&str, bool, &[Step]); 6] = [
    ("Create", false, &[update(FIRST, "v1")]),
    ("Apply", false, &[apply(FIRST)]),
    ("ApplyTwice", false, &[apply(FIRST), apply(OTHER)]),
    ("ApplyTwiceNoCompare", true, &[apply(FIRST), apply(OTHER)]),
    ("Update", false, &[update(FIRST, "v1"), update(OTHER, "v1")]),
    ("UpdateVersion", false, &[update(FIRST, "v1"), update(OTHER, "v2")]),
];

/// Runs these benchmarks.
pub(super) fn all(inputs: &Inputs, bench: &mut Bench) {
    for object in &OBJECTS {
        let Some((source, types)) = open(inputs, object) else { continue };
        let (Some(ty), arena) = (types.named(object.ty), Bump::new()) else { continue };
        for (name, return_input_on_noop, steps) in SEQUENCES {
            sequence(&format!("{}/{name}", object.name), ty, &source, return_input_on_noop, steps, bench);
        }
        if !object.name.ends_with("override") {
            typed(object.name, ty, &source, &arena, bench);
        }
    }
    for name in ["k8s-schema", "k8s-schema-100pct-fieldoverride", "apiresourceimport"] {
        let Some(source) = inputs.read(&format!("{name}.yaml")) else { continue };
        bench.run(&format!("Schema/{name}"), |_| {
            black_box(inputs::types(&source));
        });
    }
    for object in &LARGE {
        if bench.wants(object.name) {
            large(inputs, object, bench);
        }
    }
}

fn open(inputs: &Inputs, object: &Object) -> Option<(String, Types)> {
    Some((inputs.read(object.file)?, inputs.types(object.schema)?))
}

fn sequence(name: &str, ty: Type<'_>, source: &str, return_input_on_noop: bool, steps: &[Step], bench: &mut Bench) {
    let objects = Bump::new();
    let Some(value) = inputs::value(source, &objects) else { return };
    let object = |step: &Step| {
        let duplicates = if step.apply { Duplicates::Refused } else { Duplicates::Allowed };
        // Every call has its own object, as in upstream's benchmark.
        ty.validate(value.copy_into(&objects), duplicates).ok()
    };
    let Some(objects) = steps.iter().map(object).collect::<Option<Vec<_>>>() else { return };
    let mut arena = Bump::new();
    bench.run(name, |_| {
        arena.reset();
        let updater = Updater { return_input_on_noop, ..Updater::<SameVersion>::default() };
        if let Ok(nothing) = ty.validate(Value::Null, Duplicates::Refused) {
            black_box(run(&updater, nothing, ManagedFields::new(), steps, &objects, &arena));
        }
    });
}

fn run<'a>(
    updater: &'a Updater<'a, SameVersion>,
    mut live: TypedValue<'a>,
    mut managers: ManagedFields<'a>,
    steps: &[Step],
    objects: &[TypedValue<'a>],
    arena: &'a Bump,
) -> Option<(TypedValue<'a>, ManagedFields<'a>)> {
    for (step, object) in steps.iter().zip(objects) {
        let outcome = if step.apply {
            updater.apply(live, *object, step.version, managers, step.manager, false, arena)
        } else {
            updater.update(live, *object, step.version, managers, step.manager, arena)
        }
        .ok()?;
        managers = outcome.managers;
        live = outcome.object.unwrap_or(live);
    }
    Some((live, managers))
}

fn typed(name: &str, ty: Type<'_>, source: &str, objects: &Bump, bench: &mut Bench) {
    let (Some(value), mut arena, mut tape) = (inputs::value(source, objects), Bump::new(), Tape::new()) else { return };
    let (Ok(a), Ok(b)) =
        (ty.validate(value, Duplicates::Refused), ty.validate(value.copy_into(objects), Duplicates::Refused))
    else {
        return;
    };
    bench.run(&format!("FromYAML/{name}"), |_| {
        arena.reset();
        let read = || {
            Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
            let value = Value::from_node(tape.document(source).root()?, &arena);
            black_box(ty.validate(value, Duplicates::Refused)).ok().map(|_| ())
        };
        let mut read = read;
        black_box(read());
    });
    bench.run(&format!("Validate/{name}"), |_| {
        let _ = black_box(ty.validate(value, Duplicates::Refused));
    });
    bench.run(&format!("ToFieldSet/{name}"), |_| {
        arena.reset();
        let _ = black_box(a.to_field_set(&arena));
    });
    bench.run(&format!("Compare/{name}"), |_| {
        arena.reset();
        let _ = black_box(a.compare(b, &arena));
    });
    bench.run(&format!("Merge/{name}"), |_| {
        arena.reset();
        let _ = black_box(a.merge(b, &arena));
    });
    let Ok(leaves) = a.to_field_set(objects).map(|set| set.leaves(objects)) else { return };
    bench.run(&format!("Extract/{name}"), |_| {
        arena.reset();
        black_box(a.extract_items(leaves, KeyFields::AsOwned, &arena));
    });
    bench.run(&format!("Remove/{name}"), |_| {
        arena.reset();
        black_box(a.remove_items(leaves, &arena));
    });
}

fn large(inputs: &Inputs, object: &Object, bench: &mut Bench) {
    let Some((source, types)) = open(inputs, object) else { return };
    let (Some(ty), objects) = (types.named(object.ty), Bump::new()) else { return };
    for (name, return_input_on_noop, steps) in SEQUENCES {
        if !matches!(name, "ApplyTwiceNoCompare" | "UpdateVersion") {
            sequence(&format!("{}/{name}", object.name), ty, &source, return_input_on_noop, steps, bench);
        }
    }
    let Some(value) = inputs::value(&source, &objects) else { return };
    let (Ok(live), Ok(object_again)) =
        (ty.validate(value, Duplicates::Refused), ty.validate(value.copy_into(&objects), Duplicates::Refused))
    else {
        return;
    };
    let updater = Updater::<SameVersion>::default();
    let nothing = TypedValue::unvalidated(Some(Value::Null), ty);
    for (name, step) in [("ApplyAgain", apply(FIRST)), ("UpdateAgain", update(FIRST, "v1"))] {
        let Some((live, managers)) = run(&updater, nothing, ManagedFields::new(), &[step], &[live], &objects) else {
            continue;
        };
        let mut arena = Bump::new();
        bench.run(&format!("{}/{name}", object.name), |_| {
            arena.reset();
            black_box(run(&updater, live, managers.clone(), &[step], &[object_again], &arena));
        });
    }
    let mut arena = Bump::new();
    bench.run(&format!("{}/Validate", object.name), |_| {
        let _ = black_box(ty.validate(value, Duplicates::Refused));
    });
    bench.run(&format!("{}/ToFieldSet", object.name), |_| {
        arena.reset();
        let _ = black_box(live.to_field_set(&arena));
    });
}
