//! Objects that show a change: accepted by the old definition, and refused, pruned or stored otherwise by the new one.

mod candidates;
mod judge;
mod shrink;

use crate::definition::find;
use crate::found::{Found, Spot, Subject};
use crate::{Change, Class, Consumer};
use candidates::{Attempt, attempts};
use judge::{Judge, Seen};
use kubeshape_schema::{Bump, Code, Json, Schema};
use kubeshape_show::sample::{Step, Wanted, sample_with};
use kubeshape_smd::Value;
use kubeshape_structural::{Crd, Version};
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use std::fmt;

/// How much is tried for witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Changes of a definition that get a witness.
    pub changes: usize,
    /// Values that are tried for a change.
    pub values: usize,
    /// How often an object is made anew for a value, because the old definition refuses it.
    pub rounds: usize,
    /// How often an object is judged while it is made smaller.
    pub shrinking: usize,
    /// Bytes of a witness as JSON.
    pub bytes: usize,
    /// Bytes that are used for one change before nothing more is tried.
    pub memory: usize,
    /// The release of Kubernetes whose server judges.
    pub release: Release,
}

impl Default for Effort {
    /// 1,000 changes, 12 values, 16 rounds, 64 steps, 1 MiB per witness, 64 MiB per change.
    fn default() -> Effort {
        Effort {
            changes: 1_000,
            values: 12,
            rounds: 16,
            shrinking: 64,
            bytes: 1 << 20,
            memory: 64 << 20,
            release: Release::DEFAULT,
        }
    }
}

/// What the new definition makes of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server refuses the object.
    Refused,
    /// The server drops fields of it, and refuses it if field validation is strict.
    Dropped,
    /// The server stores something else.
    StoredOtherwise,
}

impl Outcome {
    /// The name: `refused`, `dropped`, `stored otherwise`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
            Outcome::StoredOtherwise => "stored otherwise",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An object that the old definition accepts, and what the new one makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The object, as a user would write it.
    pub object: serde_json::Value,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The server's words: errors, or the fields that it drops.
    pub errors: Vec<String>,
    /// Whether the object can be updated where it is stored already and keeps what is shown: the server does not complain about
    /// what did not change (KEP-4008).
    pub is_ratcheted: bool,
}

/// What stands for a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Objects do not show it: it is compatible for writers and for storage, or not about values.
    NotNeeded,
    /// An object shows it.
    Witness(Box<Witness>),
    /// No object was found; the reason.
    None(String),
}

/// A witness for each change that is breaking or risky for writers, or breaking for storage, in the order of
/// [`definitions`](crate::definitions). Each is proven by validation: the old definition accepts it, the new one does not.
///
/// Values are made from the old schema such that the new one refuses them at the place of the change. The object around a value
/// is the smallest that the old definition accepts, as far as one is found. The work is bounded by `effort`.
///
/// # Example
/// ```
/// use kubeshape_diff::{Effort, Proof, witnesses};
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::read;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let text = |size: &str| format!("
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {{name: tabs.example.com}}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {{plural: tabs, kind: Tab}}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema: {{openAPIV3Schema: {{type: object, properties: {{size: {size}}}}}}}
/// ");
/// let (old, new) = (text("{type: integer}"), text("{type: integer, maximum: 3}"));
/// let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
/// Stream::new(old.as_bytes(), Limits::default())?.next(&mut old_tape).transpose()?;
/// Stream::new(new.as_bytes(), Limits::default())?.next(&mut new_tape).transpose()?;
/// let arena = Bump::new();
/// let old = read::read(old_tape.document(&old).root().unwrap(), &arena).value.unwrap();
/// let new = read::read(new_tape.document(&new).root().unwrap(), &arena).value.unwrap();
/// let proofs = witnesses(&old, &new, &Effort::default());
/// let Proof::Witness(witness) = &proofs[0] else { panic!("{proofs:?}") };
/// assert_eq!(witness.object["size"], 4);
/// assert_eq!(witness.errors, ["size: Invalid value: 4: size in body should be less than or equal to 3"]);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn witnesses(old: &Crd<'_>, new: &Crd<'_>, effort: &Effort) -> Vec<Proof> {
    let found = find(old, new);
    let mut out = Vec::with_capacity(found.changes.len());
    let mut tried = 0;
    let mut sides: Option<(String, Bump)> = None;
    let mut at = 0;
    // The changes of a version follow each other, so that its definitions are prepared once.
    while at < found.changes.len() {
        let version = found.changes[at].version.clone();
        let count = found.changes[at..].iter().take_while(|change| change.version == version).count();
        let arena = Bump::new();
        let prepared = versions(old, new, &version).map(|(was, is)| Prepared {
            main: resources(old, was, new, is, effort, &arena),
            status: (was.status || is.status).then(|| with_status(resources(old, was, new, is, effort, &arena))),
            schemas: (was.schema.copied(), is.schema.copied()),
        });
        for at in at..at + count {
            let change = &found.changes[at];
            let spot = found.spots.get(at).copied().flatten().or_else(|| of_status(change, prepared.as_ref()?));
            let proof = match (&prepared, spot) {
                _ if !is_about_objects(change) => Proof::NotNeeded,
                (Some(prepared), Some(spot)) => {
                    tried += 1;
                    if tried > effort.changes {
                        Proof::None(format!("only {} changes of a definition get one", effort.changes))
                    } else {
                        prove(&found, change, &spot, prepared, effort)
                    }
                }
                (None, _) if change.code == Code::DiffVersionGone => of_version(old, &version, effort),
                // Of another group or kind.
                (None, _) if change.code == Code::DiffNames => {
                    of_version(old, old.versions.first().map_or("", |version| version.name), effort)
                }
                _ => Proof::NotNeeded,
            };
            out.push(proof);
        }
        at += count;
        sides = Some((version, arena));
    }
    drop(sides);
    out
}

fn is_about_objects(change: &Change) -> bool {
    change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky)
        || change.class_for(Consumer::Storage) == Some(Class::Breaking)
        || change.code == Code::DiffVersionGone && change.class() == Class::Breaking
}

/// The status, if requests with it go to another place.
fn of_status<'a>(change: &Change, prepared: &Prepared<'a>) -> Option<Spot<'a>> {
    let (Some(old), Some(new)) = prepared.schemas else { return None };
    let is_asked = change.code == Code::DiffSubresource && change.class_for(Consumer::Writers).is_some();
    is_asked.then_some(Spot { old, new, also: None, trail: 0, subject: Subject::Field("status") })
}

/// An object of a version that is gone.
fn of_version(old: &Crd<'_>, name: &str, effort: &Effort) -> Proof {
    let Some(version) = old.versions.iter().find(|version| version.name == name) else { return Proof::NotNeeded };
    let arena = Bump::new();
    let resource = Resource::new(old, version, effort.release, &arena);
    let made = sample_with(&resource, &Wanted::default(), effort.rounds, &arena);
    if let Some(problem) = made.problems.first() {
        return Proof::None(format!("no object was found that the old definition accepts: {}", short(&problem.text)));
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
struct Prepared<'a> {
    main: (Resource<'a>, Resource<'a>),
    /// The same as requests to the status subresource see it; none without one.
    status: Option<(Resource<'a>, Resource<'a>)>,
    schemas: (Option<Schema<'a>>, Option<Schema<'a>>),
}

fn versions<'c, 'a>(old: &'c Crd<'a>, new: &'c Crd<'a>, name: &str) -> Option<(&'c Version<'a>, &'c Version<'a>)> {
    let named = |crd: &'c Crd<'a>| crd.versions.iter().find(|version| version.name == name);
    Some((named(old)?, named(new)?))
}

fn resources<'a>(
    old: &Crd<'_>,
    was: &Version<'_>,
    new: &Crd<'_>,
    is: &Version<'_>,
    effort: &Effort,
    arena: &'a Bump,
) -> (Resource<'a>, Resource<'a>) {
    (Resource::new(old, was, effort.release, arena), Resource::new(new, is, effort.release, arena))
}

/// The status is a part of the object that is judged.
fn with_status<'a>((mut old, mut new): (Resource<'a>, Resource<'a>)) -> (Resource<'a>, Resource<'a>) {
    (old.status, new.status) = (false, false);
    (old, new)
}

fn prove(found: &Found<'_>, change: &Change, spot: &Spot<'_>, prepared: &Prepared<'_>, effort: &Effort) -> Proof {
    let arena = Bump::new();
    let steps = found.steps(spot.trail);
    let is_status = steps.first() == Some(&Step::Property("status"));
    let (old, new) = match &prepared.status {
        Some(status) if is_status => status,
        _ => &prepared.main,
    };
    let judge = Judge::new(old, new, &steps, change.code);
    // Objects with a status, also where requests to the object ignore it.
    let maker = match &prepared.status {
        Some((old, _)) if change.code == Code::DiffSubresource => old,
        _ => old,
    };
    let mut reason = "no value was found that the old schema accepts and the new one refuses".to_owned();
    for attempt in attempts(change.code, spot, &steps, effort, &arena) {
        if arena.allocated_bytes() > effort.memory {
            return Proof::None(format!("it needs more than {} MiB of memory", effort.memory >> 20));
        }
        match made(&judge, maker, &attempt, effort, &arena) {
            Ok(witness) => return Proof::Witness(Box::new(witness)),
            Err(why) => reason = why,
        }
        // Of a union, the member that is wanted must be the one that is named.
        for choice in choices(old.schema, &steps) {
            let mut attempt = attempt.clone();
            attempt.wants.extend(choice);
            if let Ok(witness) = made(&judge, maker, &attempt, effort, &arena) {
                return Proof::Witness(Box::new(witness));
            }
        }
    }
    Proof::None(reason)
}

/// What texts beside the steps may have to be: of those that have an enumeration, the value that is named like the next step, then
/// the others, one by one.
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

/// Makes an object around a value and tries it.
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
        return Err(format!("the old definition refuses what was tried: {}", short(&format!("{at}{}", problem.text))));
    }
    let Some(seen) = judge.see(made.value, arena) else {
        return Err("the new definition accepts what was tried".to_owned());
    };
    let value = shrink::shrink(judge, made.value, seen.outcome, effort.shrinking, arena);
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
        return Err(format!("it would have more than {} KiB", effort.bytes >> 10));
    }
    let is_ratcheted = seen.outcome == Outcome::Refused && judge.keeps(value, arena);
    Ok(Witness { object: value.to_serde(), outcome: seen.outcome, errors: seen.errors, is_ratcheted })
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether only another stored object shows the change.
fn is_about_stored(code: Code) -> bool {
    matches!(code, Code::DiffNull | Code::DiffNullWider | Code::DiffDefault | Code::DiffSubresource)
}
