//! Searches for an object that shows a change.

use super::candidates::{Attempt, attempts};
use super::judge::{Judge, Seen};
use super::proof::{Effort, Outcome, Proof, Witness};
use crate::change::Change;
use crate::findings::{Findings, Spot, Subject};
use crate::implication::Memo;
use crate::server_fields::Role;
use kubeshape_sample::{Step, Wanted, sample_with, shrink};
use kubeshape_schema::{Bump, Code, Json, Schema};
use kubeshape_structural::{Crd, Version};
use kubeshape_validate::object::Resource;
use kubeshape_value::Value;
use std::cell::OnceCell;

/// Returns a proof of each wanted change, in the order of the changes.
pub(crate) fn proofs(
    old: &Crd<'_>,
    new: &Crd<'_>,
    found: &Findings<'_>,
    effort: &Effort,
    mut is_wanted: impl FnMut(usize) -> bool,
) -> Vec<Proof> {
    let mut out = Vec::with_capacity(found.changes.len());
    let (mut tried, mut spent) = (0, 0);
    let mut memo = Memo::default();
    let mut at = 0;
    // The changes of a version are consecutive, so its definitions are prepared once.
    while at < found.changes.len() {
        let version = &found.changes[at].version;
        let count = found.changes[at..].iter().take_while(|change| change.version == *version).count();
        let arena = Bump::new();
        let pair = versions(old, new, version);
        let prepared = OnceCell::new();
        for at in at..at + count {
            if !is_wanted(at) {
                out.push(Proof::NotNeeded);
                continue;
            }
            let change = &found.changes[at];
            out.push(match pair {
                Some((was, is)) => {
                    let spot = found.spots[at].or_else(|| of_status(change, was.schema, is.schema));
                    let Some(spot) = spot else {
                        out.push(Proof::NotNeeded);
                        continue;
                    };
                    tried += 1;
                    if tried > effort.changes {
                        Proof::None(format!("limit of {} changes per definition reached", effort.changes))
                    } else if spent > effort.work {
                        Proof::None(format!("earlier changes used up {} MiB of memory", effort.work >> 20))
                    } else {
                        let prepared = prepared.get_or_init(|| Prepared::new((old, was), (new, is), effort, &arena));
                        let memory = Bump::new();
                        let proof = prove((found, change, &spot), prepared, effort, &mut memo, &memory);
                        spent += memory.allocated_bytes();
                        proof
                    }
                }
                None if change.code == Code::DiffVersionGone => of_version(old, version, effort),
                // Objects of another group or kind.
                None if change.code == Code::DiffNames => {
                    of_version(old, old.versions.first().map_or("", |version| version.name), effort)
                }
                None => Proof::NotNeeded,
            });
        }
        at += count;
    }
    out
}

/// Returns the status if a separate request writes it.
fn of_status<'a>(change: &Change, old: Option<&Schema<'a>>, new: Option<&Schema<'a>>) -> Option<Spot<'a>> {
    let (old, new) = (*old?, *new?);
    (change.code == Code::DiffSubresource).then_some(Spot {
        old,
        new,
        also: None,
        own: Role::Root,
        trail: 0,
        subject: Subject::Field("status"),
    })
}

/// Proves that a version is gone.
fn of_version(old: &Crd<'_>, name: &str, effort: &Effort) -> Proof {
    let Some(version) = old.versions.iter().find(|version| version.name == name) else { return Proof::NotNeeded };
    let arena = Bump::new();
    let resource = Resource::new(old, version, effort.release, &arena);
    let made = sample_with(&resource, &Wanted::default(), effort.rounds, &arena);
    if let Some(problem) = made.problems.first() {
        return Proof::None(format!("found no object that the old definition accepts: {}", short(&problem.text)));
    }
    let missing = format!("no matches for kind {:?} in version {:?}", resource.kind, resource.api_version);
    Proof::Witness(Box::new(Witness {
        object: made.value.to_serde(),
        outcome: Outcome::Refused,
        errors: vec![missing],
        is_ratcheted: false,
    }))
}

/// A version on both sides.
struct Prepared<'p> {
    main: (Resource<'p>, Resource<'p>),
    /// The same for requests to the status subresource, or `None` without one.
    status: Option<(Resource<'p>, Resource<'p>)>,
}

impl<'p> Prepared<'p> {
    fn new(
        (old, was): (&Crd<'_>, &Version<'_>),
        (new, is): (&Crd<'_>, &Version<'_>),
        effort: &Effort,
        arena: &'p Bump,
    ) -> Prepared<'p> {
        let resources =
            || (Resource::new(old, was, effort.release, arena), Resource::new(new, is, effort.release, arena));
        let status = (was.status || is.status).then(|| {
            let (mut old, mut new) = resources();
            (old.status, new.status) = (false, false);
            (old, new)
        });
        Prepared { main: resources(), status }
    }
}

fn versions<'c, 'a>(old: &'c Crd<'a>, new: &'c Crd<'a>, name: &str) -> Option<(&'c Version<'a>, &'c Version<'a>)> {
    let named = |crd: &'c Crd<'a>| crd.versions.iter().find(|version| version.name == name);
    Some((named(old)?, named(new)?))
}

fn prove(
    (found, change, spot): (&Findings<'_>, &Change, &Spot<'_>),
    prepared: &Prepared<'_>,
    effort: &Effort,
    memo: &mut Memo,
    arena: &Bump,
) -> Proof {
    let steps = found.steps(spot.trail);
    let is_status = steps.first() == Some(&Step::Property("status"));
    let (old, new) = match &prepared.status {
        Some(status) if is_status => status,
        _ => &prepared.main,
    };
    let judge = Judge::new(old, new, &steps, change.code);
    // Objects with a status, even if requests to the object ignore it.
    let maker = match &prepared.status {
        Some((old, _)) if change.code == Code::DiffSubresource => old,
        _ => old,
    };
    let mut reason = "found no value that the old schema accepts and the new one rejects".to_owned();
    for attempt in attempts(change.code, spot, &steps, effort, memo, arena) {
        if arena.allocated_bytes() > effort.memory {
            return Proof::None(format!("it needs more than {} MiB of memory", effort.memory >> 20));
        }
        match made(&judge, maker, &attempt, effort, arena) {
            Ok(witness) => return Proof::Witness(Box::new(witness)),
            Err(why) => reason = why,
        }
        // The discriminator of a union must name the wanted member.
        for choice in choices(old.schema, &steps) {
            let mut attempt = attempt.clone();
            attempt.wants.extend(choice);
            if let Ok(witness) = made(&judge, maker, &attempt, effort, arena) {
                return Proof::Witness(Box::new(witness));
            }
        }
    }
    Proof::None(reason)
}

/// Returns what strings next to the steps may have to be. For those with an enumeration: first the value named like the
/// next step, then the others one by one.
fn choices<'a>(schema: Option<&'a Schema<'a>>, steps: &[Step<'a>]) -> Vec<Vec<(Vec<Step<'a>>, Option<Value<'a>>)>> {
    const MOST: usize = 24;
    let (mut alike, mut others) = (Vec::new(), Vec::new());
    let mut schema = schema;
    for (at, step) in steps.iter().enumerate() {
        let Some(around) = schema else { break };
        schema = match step {
            Step::Property(name) => around.property(name),
            Step::Item => around.item(),
            Step::Key(_) => around.additional_schema(),
        };
        let Step::Property(next) = step else { continue };
        for property in around.properties.iter().filter(|property| property.name != *next) {
            let mut path = steps[..at].to_vec();
            path.push(Step::Property(property.name));
            for value in property.schema.enumeration {
                let Json::Str(text) = value else { continue };
                let choice = (path.clone(), Some(Value::String(text)));
                if text.eq_ignore_ascii_case(next) {
                    alike.push(choice);
                } else if others.len() < MOST {
                    others.push(vec![choice]);
                }
            }
        }
    }
    let mut out = Vec::new();
    if !alike.is_empty() {
        for other in &mut others {
            other.extend(
                alike
                    .iter()
                    .filter(|(path, _)| other.iter().all(|(known, _)| known != path))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        out.push(alike);
    }
    // The nearest ones first.
    others.reverse();
    out.extend(others);
    out
}

/// Builds an object around a value and tries it.
fn made<'o>(
    judge: &Judge<'o>,
    maker: &Resource<'o>,
    attempt: &Attempt<'o>,
    effort: &Effort,
    arena: &'o Bump,
) -> Result<Witness, String> {
    let mut wanted = Wanted::default();
    for (steps, value) in &attempt.wants {
        wanted.want(steps, *value);
    }
    for steps in &attempt.leave_out {
        wanted.leave_out(steps);
    }
    let made = sample_with(maker, &wanted, effort.rounds, arena);
    if let Some(problem) = made.problems.first() {
        let at = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        return Err(format!(
            "the old definition rejects the objects tried: {}",
            short(&format!("{at}{}", problem.text))
        ));
    }
    let Some(seen) = judge.see(made.value, arena) else {
        return Err("the new definition accepts the objects tried".to_owned());
    };
    let outcome = seen.outcome;
    let is_seen = |smaller| judge.see(smaller, arena).is_some_and(|seen| seen.outcome == outcome);
    let value = shrink(made.value, effort.shrinking, arena, is_seen);
    let seen = judge.see(value, arena).unwrap_or(seen);
    witness(judge, value, seen, effort, arena)
}

fn witness<'o>(
    judge: &Judge<'o>,
    value: Value<'o>,
    seen: Seen,
    effort: &Effort,
    arena: &'o Bump,
) -> Result<Witness, String> {
    let mut json = Vec::new();
    value.write_go_json(&mut json);
    if json.len() > effort.bytes {
        return Err(format!("the object exceeds {} KiB", effort.bytes >> 10));
    }
    let is_ratcheted = seen.outcome == Outcome::Refused && judge.keeps(value, arena);
    Ok(Witness { object: value.to_serde(), outcome: seen.outcome, errors: seen.errors, is_ratcheted })
}

/// Returns the beginning of a long string.
fn short(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
