//! Compares the schemas of one version.

mod definitions;
mod members;
mod value;

use crate::bounds;
use crate::change::{Change, Class, Consumer, MarkedIn};
use crate::findings::{Findings, Spot, Subject};
use crate::implication::Memo;
use crate::moves::{self, Field};
use crate::refusal::{Accepted, Refusal, refusal};
use crate::server_fields::Role;
use crate::types::{self, Types};
pub(crate) use definitions::Definitions;
use kubeshape_sample::Step;
use kubeshape_schema::{Additional, Code, Flags, Schema, Type};
use std::collections::HashSet;
use std::hash::Hash;
use std::rc::Rc;
use value::open;

use Class::{Breaking, Compatible, Risky};
use Consumer::{Apply, Readers, Storage, V2, Writers};

/// The new definition rejects values that were accepted: writers are affected, and stored objects can be updated as
/// long as the value stays unchanged.
const STRICTER: &[(Consumer, Class)] = &[(Storage, Risky), (Writers, Breaking)];
/// The new definition may reject them.
const UNKNOWN: &[(Consumer, Class)] = &[(Storage, Risky), (Writers, Risky)];
/// The new definition accepts everything that was accepted.
const WIDER: &[(Consumer, Class)] = &[(Writers, Compatible)];

/// The definitions that references lead to.
pub(crate) struct Sides<'s, 'a> {
    pub(crate) old: &'s Definitions<'a>,
    pub(crate) new: &'s Definitions<'a>,
    /// Pairs of definitions that were compared.
    pub(crate) seen: &'s mut HashSet<(&'a str, &'a str)>,
}

/// The source of the schemas.
pub(crate) enum Of<'s, 'a> {
    /// A definition.
    Definition {
        /// The `apiVersion` and `kind` of all its objects.
        api_version: &'s str,
        kind: &'s str,
        /// Whether the old and the new definition have `spec.preserveUnknownFields`: then a server drops no field and
        /// no null.
        keeps: (bool, bool),
    },
    /// OpenAPI documents, which have no implicit rules.
    Documents(Sides<'s, 'a>),
}

/// Compares the schemas of one version, from the root of objects. All versions share what comparing patterns may take.
pub(crate) fn compare<'a>(
    version: &str,
    old: &Schema<'a>,
    new: &Schema<'a>,
    of: Of<'_, 'a>,
    memo: &mut Memo,
    found: &mut Findings<'a>,
) {
    let (own, texts, keeps, sides) = match of {
        Of::Definition { api_version, kind, keeps } => (Role::Root, (api_version, kind), keeps, None),
        Of::Documents(sides) => (Role::Nothing, ("", ""), (false, false), Some(sides)),
    };
    let mut walk =
        Walk { version, found, texts, sides, keeps, memo: std::mem::take(memo), gone: Vec::new(), came: Vec::new() };
    let root = Pair {
        old: *old,
        new: *new,
        path: String::new(),
        trail: 0,
        own: (own, own),
        also: None,
        judge: None,
        is_ruled: false,
        is_whole: false,
        keys: &[],
    };
    let mut todo = if walk.is_same(old, new) { Vec::new() } else { vec![root] };
    while let Some(pair) = todo.pop() {
        let before = todo.len();
        let Some(pair) = walk.resolved(pair) else { continue };
        walk.pair(&pair, &mut todo);
        // Reversed, so that the first child is visited first.
        todo[before..].reverse();
    }
    let Walk { gone, came, found, memo: left, .. } = walk;
    *memo = left;
    moves::report(&gone, &came, found);
}

/// A value that both schemas describe.
struct Pair<'a> {
    old: Schema<'a>,
    new: Schema<'a>,
    path: String,
    /// How to reach it.
    trail: usize,
    /// Its role for the old server and for the new one.
    own: (Role, Role),
    /// Requirements of the old server in addition to the schema.
    also: Option<&'static Schema<'static>>,
    /// The constraint above it that sees the value after defaults, if any.
    judge: Option<Judge>,
    /// Whether a rule is above it.
    is_ruled: bool,
    /// Whether it is part of an atomic list or map, before and after: the owner of that owns it.
    is_whole: bool,
    /// The keys of the list that it is an item of.
    keys: &'a [&'a str],
}

/// A constraint on a whole value: its path, and a keyword of its new schema.
type Judge = (Rc<str>, &'static str);

impl<'a> Pair<'a> {
    /// Returns the pair of a value inside this one.
    fn below(&self, old: Schema<'a>, new: Schema<'a>, path: String, trail: usize, name: &str) -> Pair<'a> {
        let own = |own: Role, schema: &Schema<'a>| own.below(name, schema.flags.any(Flags::EMBEDDED_RESOURCE));
        let (was, is) = self.own;
        Pair {
            old,
            new,
            path,
            trail,
            own: (own(was, &old), own(is, &new)),
            also: was.field(name),
            judge: self.judge_of(name),
            is_ruled: self.rules_below(),
            is_whole: self.is_whole || is_atomic(&self.old) && is_atomic(&self.new),
            keys: if self.new.extra().list_type == Some("map") { self.new.extra().list_map_keys } else { &[] },
        }
    }

    /// Returns the values that the old server accepts.
    fn accepted_before(&self) -> Accepted<'a> {
        Accepted { schema: self.old, also: self.also, own: self.own.0 }
    }

    /// Returns the values that the new server accepts.
    fn accepted_now(&self) -> Accepted<'a> {
        Accepted { schema: self.new, also: self.also, own: self.own.1 }
    }

    /// Returns whether rules see the values inside this one.
    fn rules_below(&self) -> bool {
        self.is_ruled || !self.new.extra().validations.is_empty()
    }

    /// Returns the constraint that sees a value inside this one.
    fn judge_of(&self, name: &str) -> Option<Judge> {
        let (schema, extra) = (&self.new, self.new.extra());
        let keyword = [
            ("the keys of the list", self.keys.contains(&name)),
            ("a rule", !extra.validations.is_empty()),
            ("allOf", !extra.all_of.is_empty()),
            ("anyOf", !extra.any_of.is_empty()),
            ("oneOf", !extra.one_of.is_empty()),
            ("not", extra.not.is_some()),
            ("an enum", !schema.enumeration.is_empty()),
            ("maxProperties", extra.max_properties.is_some()),
            ("minProperties", extra.min_properties.is_some()),
            ("the uniqueness of items", extra.list_type == Some("set")),
        ];
        let found = keyword.into_iter().find(|(_, is_there)| *is_there);
        found.map(|(keyword, _)| (Rc::from(self.path.as_str()), keyword)).or_else(|| self.judge.clone())
    }
}

struct Walk<'w, 'a> {
    version: &'w str,
    found: &'w mut Findings<'a>,
    /// The `apiVersion` and the `kind` of objects.
    texts: (&'w str, &'w str),
    sides: Option<Sides<'w, 'a>>,
    /// Whether nothing is dropped, whatever the schema says: before, and now.
    keeps: (bool, bool),
    memo: Memo,
    /// Fields that are now dropped.
    gone: Vec<Field<'a>>,
    /// Fields that used to be dropped.
    came: Vec<Field<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn push(&mut self, pair: &Pair<'a>, code: Code, detail: impl Into<String>, effects: &[(Consumer, Class)]) {
        self.push_about(pair, Subject::Value, code, detail, effects);
    }

    fn push_about(
        &mut self,
        pair: &Pair<'a>,
        subject: Subject<'a>,
        code: Code,
        detail: impl Into<String>,
        effects: &[(Consumer, Class)],
    ) {
        let spot = Spot { old: pair.old, new: pair.new, also: pair.also, own: pair.own.0, trail: pair.trail, subject };
        self.at(&spot, pair.path.clone(), (pair.old.at, pair.new.at), code, detail.into(), effects);
    }

    fn at(
        &mut self,
        spot: &Spot<'a>,
        path: String,
        (old, new): (u32, u32),
        code: Code,
        detail: String,
        effects: &[(Consumer, Class)],
    ) {
        let version = self.version.to_owned();
        self.found.push(
            Change {
                code,
                version,
                path,
                old,
                new,
                part: Vec::new(),
                marked_in: MarkedIn::Both,
                detail,
                effects: effects.to_vec(),
            },
            Some(spot),
        );
        if let Subject::Keyword(keyword) = spot.subject {
            self.found.part(&[if keyword == "embedded" { "x-kubernetes-embedded-resource" } else { keyword }]);
        }
    }

    /// Returns what happened to fields without a property.
    fn rest_before(&self, schema: &Schema<'a>, own: Role) -> Rest<'a> {
        if self.keeps.0 { rest(schema, own).kept() } else { rest(schema, own) }
    }

    /// Returns what happens to them now.
    fn rest_now(&self, schema: &Schema<'a>, own: Role) -> Rest<'a> {
        if self.keeps.1 { rest(schema, own).kept() } else { rest(schema, own) }
    }

    /// Returns whether a stricter bound on properties rejects nothing that was accepted. A server drops unknown fields
    /// before it counts, so no object has more properties than its schema.
    fn never_counts(&self, pair: &Pair<'a>, keyword: &str) -> bool {
        let most = |schema: &Schema<'a>, own: Role, rest: Rest<'a>| {
            let is_closed = matches!(rest, Rest::Dropped) && own.fields().is_empty();
            is_closed.then(|| i64::try_from(schema.properties.len()).unwrap_or(i64::MAX))
        };
        match keyword {
            "maxProperties" => most(&pair.new, pair.own.1, self.rest_now(&pair.new, pair.own.1))
                .zip(pair.new.extra().max_properties)
                .is_some_and(|(most, bound)| most <= bound),
            "minProperties" => most(&pair.old, pair.own.0, self.rest_before(&pair.old, pair.own.0))
                .zip(pair.old.extra().min_properties)
                .is_some_and(|(most, bound)| most < bound),
            _ => false,
        }
    }

    /// Resolves references. Returns `None` if both lead to definitions that were already compared.
    fn resolved(&mut self, mut pair: Pair<'a>) -> Option<Pair<'a>> {
        let Some(sides) = &mut self.sides else { return Some(pair) };
        let ((old, was), (new, is)) = (sides.old.resolve(pair.old), sides.new.resolve(pair.new));
        if let (Some(was), Some(is)) = (was, is)
            && !sides.seen.insert((was, is))
        {
            return None;
        }
        (pair.old, pair.new) = (old, new);
        Some(pair)
    }

    /// Returns whether two schemas are the same, without what references lead to.
    fn is_same(&self, old: &Schema<'a>, new: &Schema<'a>) -> bool {
        self.sides.is_none() && old.says_the_same(new)
    }

    /// Queues a value inside this one, if something changed in it.
    fn descend(
        &mut self,
        pair: &Pair<'a>,
        (old, new): (Schema<'a>, Schema<'a>),
        step: Step<'a>,
        path: impl FnOnce() -> String,
        todo: &mut Vec<Pair<'a>>,
    ) {
        let name = match step {
            Step::Property(name) => name,
            Step::Item | Step::Key(_) => "",
        };
        if pair.own.0.is_alike(pair.own.1, name) && self.is_same(&old, &new) {
            return;
        }
        let trail = self.found.step(pair.trail, step);
        todo.push(pair.below(old, new, path(), trail, name));
    }

    fn pair(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        self.description(pair);
        let only = match pair.own.0 {
            Role::ApiVersion => Some(self.texts.0),
            Role::Kind => Some(self.texts.1),
            _ => None,
        };
        if let Some(text) = only {
            self.only(pair, text);
            return;
        }
        self.null(pair);
        let (was, is) = (Types::of(old), Types::of(new));
        let (gone, came) = (was.without(is), is.without(was));
        let names = || format!("type changed from {} to {}", types::name(old), types::name(new));
        if !gone.is_empty() {
            let mut effects = vec![(Storage, Breaking), (Writers, Breaking), (Readers, Risky)];
            // A server decides the types of metadata, whatever a definition says.
            if pair.also.is_none() && !was.owned().without(is.owned()).is_empty() {
                effects.push((Apply, Risky));
            }
            effects.push((V2, Breaking));
            self.push(pair, Code::DiffType, names(), &effects);
            self.found.part(&[keyword_of_type(old, new)]);
        } else if !came.is_empty() {
            self.push(pair, Code::DiffTypeWider, names(), &[(Writers, Compatible), (Readers, Risky), (V2, Risky)]);
            self.found.part(&[keyword_of_type(old, new)]);
        }
        let both = was.both(is);
        if both.is_empty() {
            return;
        }
        self.enumeration(pair);
        for change in bounds::changes(old, new, both) {
            let subject = Subject::Keyword(change.keyword);
            let mark = change.mark;
            if !change.is_stricter {
                // Other parts of the schema may still imply it.
                if refusal(&pair.accepted_now(), old, change.keyword, &mut self.memo) == Refusal::Never {
                    continue;
                }
                self.push_about(pair, subject, Code::DiffBoundWider, change.detail, WIDER);
                self.found.part(&[mark]);
                continue;
            }
            if self.never_counts(pair, change.keyword) {
                continue;
            }
            match refusal(&pair.accepted_before(), new, change.keyword, &mut self.memo) {
                Refusal::Never => {}
                Refusal::Certain => {
                    self.push_about(pair, subject, Code::DiffBound, change.detail, STRICTER);
                    self.found.part(&[mark]);
                }
                Refusal::Unknown(why) => {
                    self.push_about(pair, subject, Code::DiffLogic, open(&change.detail, &why), UNKNOWN);
                    self.found.part(&[mark]);
                }
            }
        }
        self.texts(pair, both);
        self.default(pair);
        self.rules(pair);
        self.logic(pair);
        if !old.flags.any(Flags::EMBEDDED_RESOURCE) && new.flags.any(Flags::EMBEDDED_RESOURCE) {
            self.push_about(
                pair,
                Subject::Keyword("embedded"),
                Code::DiffRequired,
                "now an embedded resource: apiVersion and kind are required",
                STRICTER,
            );
        }
        if both.has_arrays() {
            self.list(pair, todo);
        }
        if both.has_objects() {
            self.fields(pair, todo);
        }
    }
}

/// Returns the keyword that changes the types of a schema.
fn keyword_of_type(old: &Schema<'_>, new: &Schema<'_>) -> &'static str {
    let is_either = |schema: &Schema<'_>| schema.flags.any(Flags::INT_OR_STRING);
    let is_new = is_either(new) && !is_either(old);
    let is_gone = is_either(old) && !is_either(new) && old.ty == new.ty;
    if is_new || is_gone { "x-kubernetes-int-or-string" } else { "type" }
}

/// Returns whether server-side apply owns a list or a map as a whole.
fn is_atomic(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    schema.ty == Type::Array && !matches!(extra.list_type, Some("set" | "map")) || extra.map_type == Some("atomic")
}

/// What happens to fields that have no property.
enum Rest<'a> {
    Dropped,
    Kept,
    Schema(&'a Schema<'a>),
}

impl Rest<'_> {
    /// The same if a server drops nothing.
    fn kept(self) -> Self {
        if matches!(self, Rest::Dropped) { Rest::Kept } else { self }
    }
}

fn rest<'a>(schema: &Schema<'a>, own: Role) -> Rest<'a> {
    match schema.additional {
        _ if own.is_metadata() => Rest::Kept,
        Some(Additional::Schema(schema)) => Rest::Schema(schema),
        Some(Additional::Allowed(true)) => Rest::Kept,
        _ if schema.flags.any(Flags::PRESERVE_UNKNOWN) => Rest::Kept,
        _ => Rest::Dropped,
    }
}

/// Returns the items that the other list lacks.
fn missing<T: Clone + Eq + Hash>(all: &[T], of: &[T]) -> Vec<T> {
    let of: HashSet<&T> = of.iter().collect();
    all.iter().filter(|value| !of.contains(value)).cloned().collect()
}
