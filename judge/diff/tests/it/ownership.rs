//! Claims about server-side apply, checked with the engine: for each claim there is an object that the old definition
//! accepts and whose apply has another result under the new one. Either other fields are owned, or one of the two
//! refuses it.

use kubeshape_diff::{Class, Consumer, definitions};
use kubeshape_input::Limits;
use kubeshape_registry::{Object, Registry, Settings, WriteOptions};
use kubeshape_sample::{Step, Wanted, sample_with, values};
use kubeshape_schema::{Bump, Schema};
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_value::Value;
use std::time::SystemTime;

/// The number of values tried for a claim.
const VALUES: usize = 24;

/// Returns the steps of a path of a change in old objects, and the schema of the value there: the old one, or else the
/// new one.
fn steps<'a>(old: &'a Schema<'a>, new: &'a Schema<'a>, path: &'a str) -> (Vec<Step<'a>>, Option<&'a Schema<'a>>) {
    let (mut old, mut new, mut steps) = (Some(old), Some(new), Vec::new());
    let below = |schema: Option<&'a Schema<'a>>, name: &str| {
        schema.and_then(|schema| schema.property(name).or_else(|| schema.additional_schema()))
    };
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches("[]");
        let is_property = old.is_some_and(|old| old.property(name).is_some());
        steps.push(if is_property { Step::Property(name) } else { Step::Key(name) });
        (old, new) = (below(old, name), below(new, name));
        for _ in 0..(part.len() - name.len()) / 2 {
            steps.push(Step::Item);
            (old, new) = (old.and_then(Schema::item), new.and_then(Schema::item));
        }
    }
    (steps, old.or(new))
}

/// Returns the result of an apply: the owned fields, or the error.
fn applied(registry: &Registry, object: &Object) -> String {
    let options = WriteOptions::new("somebody", SystemTime::UNIX_EPOCH);
    match registry.apply(None, object, &options) {
        Ok(object) => {
            object.owners().unwrap().iter().flat_map(|owner| owner.fields.paths()).cloned().collect::<String>()
        }
        Err(error) => format!("refused: {error}"),
    }
}

fn registry(text: &str) -> Registry {
    let mut registry = Registry::new(Settings::default());
    registry.set_input("definition.yaml", kubeshape_input::read("definition.yaml", text.as_bytes(), Limits::default()));
    registry
}

/// Returns whether an object shows that apply has another result.
fn is_held(old: &Crd<'_>, new: &Crd<'_>, version: &str, path: &str, registries: (&Registry, &Registry)) -> bool {
    let named = |crd: &Crd<'_>| crd.versions.iter().position(|found| found.name == version);
    let (Some(was), Some(is)) = (named(old), named(new)) else { return false };
    let arena = Bump::new();
    let mut resource = Resource::new(old, &old.versions[was], Release::DEFAULT, &arena);
    // So that the status is applied, too.
    resource.status = false;
    let (Some(schema), Some(other)) = (resource.schema, new.versions[is].schema) else { return false };
    let (steps, schema) = steps(schema, other, path);
    let list = [Value::String("text")];
    let any = [Value::String("text"), Value::Int(1), Value::List(&list), Value::Bool(true)];
    let given = schema.map(|schema| values(schema, VALUES, &arena)).unwrap_or_default();
    let inside = [steps.as_slice(), &[Step::Key("any")]].concat();
    let here = [None].into_iter().chain(given.into_iter().chain(any).map(Some)).map(|value| (&steps, value));
    here.chain(any.map(|value| (&inside, Some(value)))).any(|(steps, value)| {
        let mut wanted = Wanted::default();
        wanted.want(steps, value);
        let made = sample_with(&resource, &wanted, 16, &arena);
        let object = Object::of(made.value);
        made.problems.is_empty() && applied(registries.0, &object) != applied(registries.1, &object)
    })
}

/// Checks all claims of a pair. Returns their number.
fn check(name: &str, texts: (&str, &str), old: &Crd<'_>, new: &Crd<'_>, wrong: &mut Vec<String>) -> usize {
    let changes = definitions(old, new);
    let claims: Vec<_> =
        changes.iter().filter(|change| change.class_for(Consumer::Apply) >= Some(Class::Risky)).collect();
    if claims.is_empty() {
        return 0;
    }
    let (before, after) = (registry(texts.0), registry(texts.1));
    for change in &claims {
        if !is_held(old, new, &change.version, &change.path, (&before, &after)) {
            wrong.push(format!("{name}: {} {} {}: {}", change.code, change.version, change.path, change.detail));
        }
    }
    claims.len()
}

#[test]
fn claims_about_apply_are_confirmed_by_the_engine() {
    let (mut claims, mut wrong) = (0, Vec::new());
    for (name, old, new, _) in crate::pairs() {
        crate::with_definitions(&old, &new, |was, is| claims += check(&name, (&old, &new), was, is, &mut wrong));
    }
    assert!(wrong.is_empty(), "{} of {claims}: {wrong:#?}", wrong.len());
    assert!(claims >= 20, "{claims}");
}

#[test]
fn claims_about_real_changes_are_confirmed_by_the_engine() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let (mut claims, mut wrong) = (0, Vec::new());
    crate::upgrades::pairs_with_texts(&folder, |name, texts, old, new| {
        claims += check(name, texts, old, new, &mut wrong);
    });
    assert!(wrong.is_empty(), "{} of {claims}: {wrong:#?}", wrong.len());
    assert!(claims > 15 / kubeshape_corpus::one_in(4), "{claims}");
}
