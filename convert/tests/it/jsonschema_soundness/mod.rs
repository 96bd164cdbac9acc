//! The JSON Schema has the meaning of the source: it is valid itself, accepts what an evaluator of OpenAPI's rules
//! accepts, and in its strict form rejects an unknown field exactly where pruning removes it.

mod documents;
pub(crate) mod evaluate;
pub(crate) mod instances;
mod prune;
pub(crate) mod sources;

use evaluate::Evaluator;
use instances::{Random, instance};
use jsonschema::Validator;
use kubeshape_convert::jsonschema::{Draft, Options};
use kubeshape_corpus::generate::{Seeded, documents_of, structural_manifests};
use serde_json::{Value, json};
use sources::{Case, each_version};

fn validator(case: &Case<'_>, options: Options<'_>) -> Validator {
    let schema = case.json_schema(options);
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error} in {schema}", case.label));
    jsonschema::options()
        .should_validate_formats(false)
        .build(&schema)
        .unwrap_or_else(|error| panic!("{}: {error} in {schema}", case.label))
}

#[derive(Default)]
struct Counts {
    tried: usize,
    accepted: usize,
    accepted_strictly: usize,
    unknown: usize,
    pruned: usize,
}

/// Checks that both drafts are valid schemas, that the lax form accepts what the source accepts, and that the strict
/// form accepts it only if pruning does not change it.
fn check(case: &Case<'_>, values: u64, counts: &mut Counts) {
    let lax = [Draft::D2020_12, Draft::D7].map(|draft| validator(case, Options { draft, ..Options::default() }));
    let strict = Options { strict: true, ..Options::default() };
    let strict = [Draft::D2020_12, Draft::D7].map(|draft| validator(case, Options { draft, ..strict }));
    let mut evaluator = Evaluator::default();
    for seed in 0..values {
        let mut random = Random::new(seed + 1);
        let mut value = instance(&case.source, &mut random);
        case.make_resource(&mut value);
        counts.tried += 1;
        if !evaluator.accepts(&case.source, &value) {
            // A value that is rejected anyway shows nothing about pruning, but both drafts must agree on it.
            assert_eq!(lax[0].is_valid(&value), lax[1].is_valid(&value), "{}: drafts differ on {value}", case.label);
            continue;
        }
        counts.accepted += 1;
        for lax in &lax {
            let errors: Vec<String> = lax
                .iter_errors(&value)
                .map(|e| format!("{e} at {} by {}", e.instance_path(), e.schema_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {value} is refused: {errors:?}\n{}", case.label, case.source);
        }
        let pruned = prune::pruned(&case.source, &value) != value;
        for strict in &strict {
            let valid = strict.is_valid(&value);
            assert_eq!(
                valid,
                !pruned,
                "{}: strict and {value}\n{}\n{}",
                case.label,
                case.source,
                case.json_schema(Options { strict: true, ..Options::default() })
            );
        }
        if pruned {
            continue;
        }
        counts.accepted_strictly += 1;
        // Adds one unknown field to every object in turn.
        for path in prune::objects(&value) {
            let mut more = value.clone();
            let Some(Value::Object(fields)) = more.pointer_mut(&path) else { continue };
            fields.insert("kubeshapeUnknown".to_owned(), json!(1));
            if path.split('/').any(|step| step == "metadata") || !evaluator.accepts(&case.source, &more) {
                continue;
            }
            counts.unknown += 1;
            let pruned = prune::pruned(&case.source, &more) != more;
            counts.pruned += usize::from(pruned);
            for strict in &strict {
                assert_eq!(strict.is_valid(&more), !pruned, "{}: strict and {more}\n{}", case.label, case.source);
            }
        }
    }
}

fn generated(count: u64, seed: u64, mut each: impl FnMut(&Case<'_>)) {
    let strategy = documents_of(&structural_manifests());
    for n in (0..count).step_by(kubeshape_corpus::one_in(6)) {
        let text = Seeded::new(seed + n).next(&strategy);
        each_version(&format!("seed {}", seed + n), text.as_bytes(), &mut each);
    }
}

impl Counts {
    fn assert_telling(&self) {
        let Counts { tried, accepted, accepted_strictly, unknown, pruned } = *self;
        assert!(accepted * 8 > tried && accepted < tried, "{accepted} of {tried} values are accepted");
        assert!(accepted_strictly * 3 > accepted, "{accepted_strictly} of {accepted} are accepted strictly");
        assert!(pruned > 0 && pruned < unknown, "{pruned} of {unknown} unknown fields are pruned");
    }
}

#[test]
fn generated_schemas_are_sound() {
    let mut counts = Counts::default();
    generated(700, 40_000, |case| check(case, 24, &mut counts));
    counts.assert_telling();
}

#[test]
fn schemas_of_the_own_corpus_are_sound() -> std::io::Result<()> {
    let mut counts = Counts::default();
    for file in kubeshape_corpus::files()? {
        each_version(&file.id, &file.bytes, |case| check(case, 16, &mut counts));
    }
    counts.assert_telling();
    Ok(())
}

/// Every seventh file of a corpus of published definitions, if `KUBESHAPE_CORPUS` names one.
#[test]
fn schemas_of_published_definitions_are_sound() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut counts = Counts::default();
    for file in sources::below(&corpus.join("crds")).iter().step_by(7) {
        let Ok(bytes) = std::fs::read(file) else { continue };
        if bytes.len() < 400_000 {
            each_version(&file.display().to_string(), &bytes, |case| check(case, 3, &mut counts));
        }
    }
    assert!(counts.tried == 0 || counts.accepted > 0);
}
