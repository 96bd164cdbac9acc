//! Whether what is said to be refused was accepted before.
//!
//! Schemas are compared value by value. But an object around a value may never be accepted: because of a rule above, or because of a
//! required field beside it that nothing fits. Where nothing of that kind is there, a claim is plain. Anything else needs an object
//! that shows it, and is risky without one.

use crate::change::{Change, Class, Consumer};
use crate::definition::find;
use crate::findings::{Found, Spot, Subject};
use crate::implication::checked_format;
use crate::satisfiable::{self, Plain};
use crate::types::Types;
use crate::witness::proof::{Effort, Proof};
use crate::witness::prove::proofs;
use kubeshape_schema::{Bump, Code, Flags, Json, Schema, Type};
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Validator;
use kubeshape_value::Value;
use std::collections::HashMap;

/// What is tried for claims that are not plain.
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

/// Values of an enumeration that are tried.
const VALUES: usize = 64;

/// The changes from one definition to another: first those of the definition, then those of each version in the old order.
/// The same definitions give the same list.
pub fn definitions(old: &Crd<'_>, new: &Crd<'_>) -> Vec<Change> {
    settled(old, new).changes
}

/// The changes of two definitions. What is breaking for writers or for stored objects is so for an object that is there.
pub(crate) fn settled<'a>(old: &Crd<'a>, new: &Crd<'a>) -> Found<'a> {
    let mut found = find(old, new);
    let mut plain = Plain::default();
    // Objects of places at which fields are required: asked for each field, they would be looked at as often as they have fields.
    let mut objects: HashMap<(&str, usize), bool> = HashMap::new();
    let proofs = proofs(old, new, &found, &EFFORT, |at| {
        let change = &found.changes[at];
        if !is_claim(change) {
            return false;
        }
        let root =
            old.versions.iter().find(|version| version.name == change.version).and_then(|version| version.schema);
        !root.zip(found.spots[at].as_ref()).is_some_and(|(root, spot)| {
            let steps = found.steps(spot.trail);
            let is_plain = match (change.code, spot.subject) {
                // What is required already is no plain claim.
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
        change.detail.push_str("; whether that was ever accepted cannot be told, because ");
        change.detail.push_str(&why);
        for (consumer, class) in &mut change.effects {
            if matches!(consumer, Consumer::Storage | Consumer::Writers | Consumer::Readers) {
                *class = (*class).min(Class::Risky);
            }
        }
    }
    found
}

/// Whether a change says that objects break which were accepted.
fn is_claim(change: &Change) -> bool {
    let is_breaking = |consumer| change.class_for(consumer) == Some(Class::Breaking);
    is_breaking(Consumer::Writers) || is_breaking(Consumer::Storage)
}

/// Whether the old schema of a place surely accepts a value that is refused now.
fn is_plain(code: Code, spot: &Spot<'_>, is_root: bool, plain: &mut Plain) -> bool {
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
            // Formats decide about types, too.
            new.format.is_empty() && gone.any(|old| plain.has_value(&old))
        }
        (Code::DiffEnum, Subject::Value) if old.enumeration.is_empty() => {
            // There are more texts than any list holds.
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
        // The value was found.
        (Code::DiffLogicStricter, Subject::Keyword(_)) => {
            let other = Flags::DEFAULT.with(Flags::EMBEDDED_RESOURCE);
            !has_rules(old) && !old.subtree.any(other) && !Types::of(old).has_objects()
        }
        _ => false,
    }
}

/// Whether there are rules about a value, or about parts of it.
fn has_rules(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::VALIDATIONS)
}
