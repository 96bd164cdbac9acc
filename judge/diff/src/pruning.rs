//! `spec.preserveUnknownFields`: whether a server drops fields without a schema, in all objects of a definition.
//!
//! It is true in definitions of `apiextensions.k8s.io/v1beta1` unless they say `false`. Definitions of `v1` must not
//! set it, but a stored one keeps it (upstream: `ValidateCustomResourceDefinitionUpdate`).

use crate::change::{Change, Class, Consumer, MarkedIn};
use crate::findings::{Findings, Spot, Subject};
use crate::server_fields::Role;
use kubeshape_sample::Step;
use kubeshape_schema::{Additional, Code, Flags, Schema, Type};

use Class::{Breaking, Compatible, Risky};
use Consumer::{Apply, Readers, Storage, V2, Writers};

/// The name of an unknown field in witnesses.
const KEY: &str = "anything";
/// Most schemas to search.
const MOST: usize = 100_000;

/// Reports that unknown fields are now dropped, or now kept.
pub(crate) fn report<'a>(version: &str, old: &Schema<'a>, new: &Schema<'a>, keeps: bool, found: &mut Findings<'a>) {
    let refused = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky), (V2, Risky)];
    let risky = refused.map(|(consumer, _)| (consumer, Risky));
    let (code, place) = if keeps { (Code::DiffPruningEnds, judged(new)) } else { (Code::DiffPruning, pruned(new)) };
    let (detail, effects): (&str, &[(Consumer, Class)]) = match (keeps, place.is_some()) {
        (true, true) => (
            "spec.preserveUnknownFields is now true: fields are no longer dropped, and null is rejected where it was \
             dropped",
            &[(Storage, Risky), (Writers, Breaking), (Readers, Risky), (Apply, Risky), (V2, Risky)],
        ),
        (true, false) => (
            "spec.preserveUnknownFields is now true: fields are no longer dropped",
            &[(Writers, Compatible), (Readers, Risky), (Apply, Risky), (V2, Risky)],
        ),
        (false, true) => {
            ("spec.preserveUnknownFields is no longer true: fields without a schema are now dropped", &refused)
        }
        (false, false) => {
            ("spec.preserveUnknownFields is no longer true: null is now dropped where a field is not nullable", &risky)
        }
    };
    let spot = place.map(|(steps, schema, subject)| {
        let trail = steps.into_iter().fold(0, |trail, step| found.step(trail, step));
        Spot { old: *schema, new: *schema, also: None, own: Role::Nothing, trail, subject }
    });
    let change = Change {
        code,
        version: version.to_owned(),
        path: String::new(),
        old: old.at,
        new: new.at,
        part: Vec::new(),
        marked_in: MarkedIn::Both,
        detail: detail.to_owned(),
        effects: effects.to_vec(),
    };
    found.push(change, spot.as_ref());
}

/// Finds an object that loses fields without a property.
fn pruned<'s, 'a>(root: &'s Schema<'a>) -> Option<Place<'s, 'a>> {
    let (steps, schema) = find(root, |schema, _| {
        let keeps = schema.additional.is_some_and(|additional| additional != Additional::Allowed(false))
            || schema.flags.any(Flags::PRESERVE_UNKNOWN);
        schema.ty == Type::Object && !keeps
    })?;
    Some((steps, schema, Subject::Field(KEY)))
}

/// Finds a field in which null is rejected if it is not dropped.
fn judged<'s, 'a>(root: &'s Schema<'a>) -> Option<Place<'s, 'a>> {
    let (steps, schema) =
        find(root, |schema, is_root| !is_root && schema.ty != Type::Absent && !schema.flags.any(Flags::NULLABLE))?;
    Some((steps, schema, Subject::Value))
}

/// The steps to a schema, the schema, and the part that the change is about.
type Place<'s, 'a> = (Vec<Step<'a>>, &'s Schema<'a>, Subject<'a>);

/// Finds the nearest schema that satisfies a condition, except type and metadata.
fn find<'s, 'a>(
    root: &'s Schema<'a>,
    is_one: impl Fn(&Schema<'a>, bool) -> bool,
) -> Option<(Vec<Step<'a>>, &'s Schema<'a>)> {
    let mut places: Vec<(usize, Option<Step<'a>>, &'s Schema<'a>)> = vec![(0, None, root)];
    let mut at = 0;
    while let Some((_, own, schema)) = places.get(at).copied() {
        if is_one(schema, own.is_none()) {
            let (mut steps, mut place) = (Vec::new(), at);
            while let Some((above, Some(step), _)) = places.get(place) {
                steps.push(*step);
                place = *above;
            }
            steps.reverse();
            return Some((steps, schema));
        }
        let is_own = |name: &str| at == 0 && matches!(name, "apiVersion" | "kind" | "metadata");
        let fields = schema.properties.iter().filter(|property| !is_own(property.name));
        let fields = fields.map(|property| (at, Some(Step::Property(property.name)), &property.schema));
        let item = schema.item().map(|item| (at, Some(Step::Item), item));
        let values = schema.additional_schema().map(|schema| (at, Some(Step::Key(KEY)), schema));
        let room = MOST.saturating_sub(places.len());
        places.extend(fields.chain(item).chain(values).take(room));
        at += 1;
    }
    None
}
