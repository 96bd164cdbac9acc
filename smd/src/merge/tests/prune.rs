//! Pruning in one walk gives the result of upstream's steps.

use super::super::prune::step_by_step;
use super::generate::{Random, Shape, some_of};
use crate::Bump;
use crate::fieldpath::{ManagedFields, Set, VersionedSet};
use crate::merge::SameVersion;
use crate::typed::{Duplicates, Emptied, TypedValue};

/// How often the two were compared, and how often the walk gave a result.
#[derive(Debug, Default)]
struct Count {
    compared: usize,
    answered: usize,
    changed: usize,
}

fn compare(seed: u64, count: &mut Count) {
    let random = &mut Random::new(seed);
    let (shape, arena) = (Shape::root(random), Bump::new());
    let types = shape.types();
    let ty = types.named("root").expect("it is there");
    let values: Vec<_> = (0..4).map(|_| shape.value(random, &arena)).collect();
    // Duplicates only sometimes: with them, the walk often leaves the result to the steps.
    let duplicates = if random.chance(20) { Duplicates::Allowed } else { Duplicates::Refused };
    let objects: Vec<_> = values.iter().filter_map(|value| ty.validate(*value, duplicates).ok()).collect();
    let [first, others @ ..] = objects.as_slice() else { return };
    let merged = others.iter().fold(*first, |merged, other| {
        if random.chance(60) { merged.merge(*other, &arena).unwrap_or(merged) } else { merged }
    });
    let fields: Vec<Set<'_>> = objects.iter().filter_map(|object| object.to_field_set(&arena).ok()).collect();
    let one = |random: &mut Random| {
        let of = fields[usize::try_from(random.below(fields.len() as u64)).unwrap_or(0)];
        let percent = [100, 80, 40, 15][usize::try_from(random.below(4)).unwrap_or(0)];
        some_of(of, percent, random, &arena)
    };
    let fields_at_v1 = |set| VersionedSet { set, api_version: "v1", applied: true };
    for _ in 0..6 {
        let last = one(random);
        let mut managers = ManagedFields::new();
        for name in ["me", "other", "third"] {
            if name == "me" || random.chance(50) {
                managers.insert(name, fields_at_v1(one(random)));
            }
        }
        let steps = step_by_step(merged, fields_at_v1(last), &managers, &SameVersion, Emptied::Null, &arena)
            .expect("it has a type");
        let walked = merged.prune(last, managers.iter().map(|(_, fields)| fields.set), &arena);
        count.compared += 1;
        if let Some(walked) = walked {
            count.answered += 1;
            count.changed += usize::from(steps.value() != merged.value());
            assert_eq!(
                walked.value().map(|value| value.to_serde().to_string()),
                steps.value().map(|value| value.to_serde().to_string()),
                "seed {seed}\nmerged {}\nlast {last}\nowned {}\n{shape:?}",
                show(merged),
                managers.iter().map(|(name, fields)| format!("{name}: {}", fields.set)).collect::<Vec<_>>().join("\n"),
            );
        }
    }
}

fn show(object: TypedValue<'_>) -> String {
    object.value().map_or("nothing".to_owned(), |value| value.to_serde().to_string())
}

#[test]
fn the_walk_prunes_as_upstreams_steps_do() {
    let mut count = Count::default();
    for seed in (0..4000).step_by(kubeshape_corpus::one_in(4)) {
        compare(seed, &mut count);
    }
    assert!(count.answered * 10 > count.compared * 8, "most are answered by the walk: {count:?}");
    assert!(count.changed * 4 > count.answered, "often something is pruned: {count:?}");
}
