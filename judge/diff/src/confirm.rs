//! Confirms that values reported as rejected were accepted before.
//!
//! Schemas are compared value by value. But the object around a value may never be accepted: because of a rule above
//! it, or because no value fits a required field next to it. If only types and bounds are involved, the report needs no
//! proof. Otherwise an object must show the change; without one, the change is only risky.

use crate::change::{Change, Class, Consumer};
use crate::combined::checked_format;
use crate::definition::find;
use crate::findings::{Findings, Spot, Subject};
use crate::satisfiable::{self, Satisfiability};
use crate::types::Types;
use crate::witness::proof::{Effort, Proof};
use crate::witness::prove::proofs;
use kubeshape_schema::{Bump, Code, Flags, Json, Schema, Type};
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Validator;
use kubeshape_value::Value;
use std::collections::HashMap;

/// Limits of the search for objects.
const EFFORT: Effort = Effort {
    changes: 1_000,
    values: 12,
    rounds: 32,
    shrinking: 0,
    bytes: 1 << 20,
    memory: 8 << 20,
    work: 32 << 20,
    release: Release::DEFAULT,
};

/// Values of an enumeration to try.
const VALUES: usize = 64;

/// Returns the changes from one definition to another: those of the definition, then those of each version in the old
/// order. The result is deterministic.
pub fn definitions(old: &Crd<'_>, new: &Crd<'_>) -> Vec<Change> {
    definitions_in(old, new, Release::DEFAULT)
}

/// Like [`definitions`], for a server of a release.
pub fn definitions_in(old: &Crd<'_>, new: &Crd<'_>, release: Release) -> Vec<Change> {
    confirmed(old, new, release).changes
}

/// Compares two definitions. A breaking change for writers or stored objects is confirmed by an object, or lowered to
/// risky.
pub(crate) fn confirmed<'a>(old: &Crd<'a>, new: &Crd<'a>, release: Release) -> Findings<'a> {
    let mut found = find(old, new);
    let mut plain = Satisfiability::default();
    // Cached per object: otherwise an object is inspected once per required field.
    let mut objects: HashMap<(&str, usize), bool> = HashMap::new();
    let proofs = proofs(old, new, &found, &Effort { release, ..EFFORT }, |at| {
        let change = &found.changes[at];
        if !is_claim(change) {
            return false;
        }
        let root =
            old.versions.iter().find(|version| version.name == change.version).and_then(|version| version.schema);
        !root.zip(found.spots[at].as_ref()).is_some_and(|(root, spot)| {
            let steps = found.steps(spot.trail);
            let is_plain = match (change.code, spot.subject) {
                // A field that was already required needs a proof.
                (Code::DiffRequired, Subject::Field(name)) => {
                    spot.also.is_none()
                        && !plain.requires(&spot.old, name)
                        && *objects.entry((&change.version, spot.trail)).or_insert_with(|| plain.has_value(&spot.old))
                }
                _ => is_plain(change.code, spot, steps.is_empty(), &mut plain),
            };
            is_plain && plain.leads(root, &steps)
        })
    });
    for (change, proof) in found.changes.iter_mut().zip(proofs) {
        let Proof::None(why) = proof else { continue };
        change.detail.push_str("; not confirmed that this was accepted before: ");
        change.detail.push_str(&why);
        for (consumer, class) in &mut change.effects {
            if matches!(consumer, Consumer::Storage | Consumer::Writers | Consumer::Readers) {
                *class = (*class).min(Class::Risky);
            }
        }
    }
    found
}

/// Returns whether a change reports that accepted objects are now rejected.
fn is_claim(change: &Change) -> bool {
    let is_breaking = |consumer| change.class_for(consumer) == Some(Class::Breaking);
    is_breaking(Consumer::Writers) || is_breaking(Consumer::Storage)
}

/// Returns whether the old schema of a place certainly accepts a value that is now rejected.
fn is_plain(code: Code, spot: &Spot<'_>, is_root: bool, plain: &mut Satisfiability) -> bool {
    let (old, new) = (&spot.old, &spot.new);
    if spot.also.is_some() {
        return false;
    }
    let extra = old.extra();
    match (code, spot.subject) {
        (Code::DiffFieldGone | Code::DiffRenamed, Subject::Value) => plain.has_value(old),
        (Code::DiffKept, Subject::Field(key)) => plain.takes(old, key, is_root),
        (Code::DiffType, Subject::Value) => {
            let gone = Types::of(old).without(Types::of(new));
            let flags = old.flags.without(Flags::INT_OR_STRING);
            let types = [
                (Type::String, gone.has_strings()),
                (Type::Boolean, gone.has_booleans()),
                (Type::Array, gone.has_arrays()),
                (Type::Object, gone.has_objects()),
                (Type::Integer, gone.has_integers()),
            ];
            let mut gone =
                types.into_iter().filter(|(_, is_gone)| *is_gone).map(|(ty, _)| Schema { ty, flags, ..*old });
            // Formats restrict types, too.
            new.format.is_empty() && gone.any(|old| plain.has_value(&old))
        }
        (Code::DiffEnum, Subject::Value) if old.enumeration.is_empty() => {
            // More strings exist than any list contains.
            old.ty == Type::String && extra.max_length.is_none() && plain.has_value(old)
        }
        (Code::DiffEnum, Subject::Value) => {
            let is_gone = |value: &&Json<'_>| matches!(value, Json::Str(_)) && !new.enumeration.contains(value);
            let arena = Bump::new();
            let old: &Schema<'_> = arena.alloc(*old);
            let accepts = Validator::new(old, &arena);
            let mut gone = old.enumeration.iter().filter(is_gone).take(VALUES);
            !has_rules(old) && gone.any(|value| accepts.is_valid(Value::from_json(value, &arena)))
        }
        (Code::DiffNull, Subject::Value) => satisfiable::is_node(old),
        (Code::DiffBound | Code::DiffText, Subject::Keyword(keyword)) => match keyword {
            "minLength" | "maxLength" | "pattern" | "format" => !has_rules(old),
            "minimum" | "maximum" => checked_format(old).is_empty() && !has_rules(old) && satisfiable::is_exact(new),
            "maxItems" => new.extra().max_items.is_some_and(|most| plain.has_longer_list(old, most)),
            "minItems" => extra.min_items.unwrap_or_default() <= 0 && satisfiable::is_node(old),
            "minProperties" => old.required.is_empty() && plain.has_value(old),
            _ => false,
        },
        // The value has been found.
        (Code::DiffLogicStricter, Subject::Keyword(_)) => {
            let other = Flags::DEFAULT.with(Flags::EMBEDDED_RESOURCE);
            !has_rules(old) && !old.subtree.any(other) && !Types::of(old).has_objects()
        }
        _ => false,
    }
}

/// Returns whether CEL rules apply to a value or to parts of it.
fn has_rules(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::VALIDATIONS)
}
