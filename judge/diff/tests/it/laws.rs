//! Laws that hold for all schemas.

use crate::{crd, with_definitions};
use kubeshape_corpus::generate::Draw;
use kubeshape_diff::{Change, Class, Consumer, Effort, Outcome, Proof, definitions, witnesses};
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_value::ToValue;
use serde_json::{Value, json};

/// The number of schemas generated for each law. `KUBESHAPE_LAWS` sets another number.
const ROUNDS: u64 = 300;

fn rounds() -> u64 {
    std::env::var("KUBESHAPE_LAWS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// Generates a schema of a value. Some of its keywords can be widened.
fn schema(draw: &mut Draw, depth: usize) -> Value {
    match draw.below(if depth == 0 { 6 } else { 9 }) {
        0 => json!({"type": "string", "minLength": 1 + draw.below(3), "maxLength": 4 + draw.below(9)}),
        1 => {
            let patterns = ["^[a-c]+$", "^x{2,4}$", "^(p|q)r?$", "^[a-z]([-a-z0-9]*[a-z0-9])?$"];
            json!({"type": "string", "pattern": *draw.pick(&patterns)})
        }
        2 => json!({"type": "integer", "minimum": draw.below(5), "maximum": 5 + draw.below(9)}),
        3 => json!({"type": "string", "enum": ["p", "q", "r"]}),
        4 => json!({"type": "number", "multipleOf": 2}),
        5 => json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"maxLength": 1 + draw.below(3)}]}),
        6 => json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 2 + draw.below(3),
            "additionalProperties": schema(draw, depth - 1),
        }),
        7 => json!({"type": "array", "minItems": 1, "maxItems": 2 + draw.below(3), "items": schema(draw, depth - 1)}),
        _ => json!({
            "type": "object",
            "required": ["b"],
            "properties": {"b": schema(draw, depth - 1), "c": schema(draw, depth - 1)},
        }),
    }
}

/// Returns the schema with one keyword that accepts strictly more.
fn widened(draw: &mut Draw, schema: &Value) -> Value {
    let mut out = schema.clone();
    let below = |draw: &mut Draw, value: &mut Value| *value = widened(draw, &value.clone());
    match schema["type"].as_str() {
        Some("array") if draw.percent(60) => below(draw, &mut out["items"]),
        Some("object") if schema.get("additionalProperties").is_some() && draw.percent(60) => {
            below(draw, &mut out["additionalProperties"]);
        }
        Some("object") if schema.get("properties").is_some() && draw.percent(70) => {
            let name = draw.text(&["b", "c"]);
            below(draw, &mut out["properties"][name]);
        }
        _ => {
            let keywords: Vec<String> = schema
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| !matches!(key.as_str(), "type" | "items" | "properties" | "additionalProperties"))
                .cloned()
                .collect();
            let keyword = draw.pick(&keywords).clone();
            let old = &schema[&keyword];
            let new = match keyword.as_str() {
                "enum" => json!(["p", "q", "r", "s"]),
                "pattern" => json!(format!("{}|^[0-9]$", old.as_str().unwrap())),
                "required" => json!([]),
                "multipleOf" => json!(1),
                "anyOf" => json!([old[0], old[1], {"pattern": "^[0-9]{5}$"}]),
                keyword if keyword.starts_with("min") => json!(old.as_i64().unwrap() - 1),
                _ => json!(old.as_i64().unwrap() + 1),
            };
            out[&keyword] = new;
        }
    }
    out
}

fn worst(changes: &[Change], consumer: Consumer) -> Option<Class> {
    changes.iter().filter_map(|change| change.class_for(consumer)).max()
}

fn of(schema: &Value) -> String {
    crd("", &schema.to_string())
}

fn between<T>(old: &Value, new: &Value, then: impl FnOnce(&Crd<'_>, &Crd<'_>) -> T) -> T {
    with_definitions(&of(old), &of(new), then)
}

#[test]
fn a_schema_is_equal_to_itself() {
    for seed in 0..rounds() {
        let schema = schema(&mut Draw::new(seed), 2);
        assert_eq!(between(&schema, &schema, definitions), [], "{schema}");
    }
}

#[test]
fn a_wider_schema_breaks_no_writer() {
    for seed in 0..rounds() {
        let mut draw = Draw::new(seed);
        let old = schema(&mut draw, 2);
        let new = widened(&mut draw, &old);
        let changes = between(&old, &new, definitions);
        assert_eq!(worst(&changes, Consumer::Writers), Some(Class::Compatible), "{old}\n{new}\n{changes:#?}");
    }
}

#[test]
fn a_narrower_schema_has_a_witness() {
    for seed in 0..rounds() {
        let mut draw = Draw::new(seed);
        let new = schema(&mut draw, 2);
        let old = widened(&mut draw, &new);
        let (changes, proofs) =
            between(&old, &new, |old, new| (definitions(old, new), witnesses(old, new, &Effort::default())));
        assert_eq!(worst(&changes, Consumer::Writers), Some(Class::Breaking), "{old}\n{new}\n{changes:#?}");
        for (change, proof) in changes.iter().zip(&proofs) {
            assert!(matches!(proof, Proof::Witness(_)), "{old}\n{new}\n{change:?}\n{proof:?}");
        }
    }
}

/// Returns whether a definition refuses an object.
fn refuses(crd: &Crd<'_>, object: &Value) -> bool {
    let arena = Bump::new();
    let mut resource = Resource::new(crd, &crd.versions[0], Release::DEFAULT, &arena);
    resource.status = false;
    match resource.decode(object.to_value(&arena), &arena) {
        Err(_) => true,
        Ok(decoded) => !decoded.unknown.is_empty() || !resource.create(decoded.value, &arena).errors.is_empty(),
    }
}

/// Compares three definitions. A change of the first step is also found between the first and the third definition,
/// unless the second step repairs it: each witness of the first step that the third definition refuses must be reported
/// for both steps together. And two steps that break no consumer break none together.
#[test]
fn verdicts_compose() {
    let (mut told, mut reverted, mut kept) = (0, 0, 0);
    for seed in 0..3 * rounds() {
        let mut draw = Draw::new(seed);
        let first = schema(&mut draw, 2);
        // Wider, narrower, or different.
        let mut step = |from: &Value| match draw.below(3) {
            0 => widened(&mut draw, from),
            1 => schema(&mut draw, 2),
            _ => first.clone(),
        };
        let second = step(&first);
        let third = step(&second);
        let whole = between(&first, &third, definitions);
        let is_told = worst(&whole, Consumer::Writers) >= Some(Class::Risky);
        let proofs = between(&first, &second, |old, new| witnesses(old, new, &Effort::default()));
        for proof in proofs {
            let Proof::Witness(witness) = proof else { continue };
            if witness.outcome == Outcome::StoredOtherwise {
                continue;
            }
            if with_definitions(&of(&third), &of(&third), |crd, _| refuses(crd, &witness.object)) {
                assert!(is_told, "{first}\n{second}\n{third}\n{:?}\n{whole:#?}", witness.object);
                told += 1;
            } else {
                reverted += 1;
            }
        }
        let steps = [between(&first, &second, definitions), between(&second, &third, definitions)];
        if steps.iter().all(|step| worst(step, Consumer::Writers) <= Some(Class::Compatible)) {
            assert!(!is_told, "{first}\n{second}\n{third}\n{whole:#?}");
            kept += 1;
        }
    }
    assert!(told > 50 && reverted > 50 && kept > 50, "{told} {reverted} {kept}");
}
