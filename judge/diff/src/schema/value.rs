//! What is said of a value itself: enums, patterns, defaults, rules, logic.

use super::{Judge, Pair, STRICTER, UNKNOWN, WIDER, Walk, missing};
use crate::change::{Class, Consumer};
use crate::findings::Subject;
use crate::implication::checked_format;
use crate::refusal::{Reach, reach};
use crate::types::Types;
use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Bump, Code, Flags, Json, Rule, Schema};
use kubeshape_validate::object::{Validator, default as inserted};
use kubeshape_value::Value;
use std::collections::HashSet;

use Class::{Compatible, Cosmetic, Risky};
use Consumer::{Cel, Readers, Storage, Writers};

impl<'a> Walk<'_, 'a> {
    /// A value that every object has alike.
    pub(super) fn only(&mut self, pair: &Pair<'a>, text: &str) {
        let arena = Bump::new();
        let accepts = |schema: &Schema<'_>| {
            let schema: &Schema<'_> = arena.alloc(*schema);
            Validator::new(schema, &arena).is_valid(Value::String(arena.alloc_str(text)))
        };
        if accepts(&pair.old) && !accepts(&pair.new) {
            self.push(
                pair,
                Code::DiffEnum,
                format!("{text:?} is no longer accepted, and every object has it"),
                STRICTER,
            );
        }
        self.rules(pair);
    }

    /// Texts for people, one change for all of them.
    pub(super) fn description(&mut self, pair: &Pair<'a>) {
        let (old, new) = (&pair.old, &pair.new);
        let changed: Vec<&str> = [
            ("description", old.description != new.description),
            ("title", old.extra().title != new.extra().title),
            ("externalDocs", old.extra().external_docs != new.extra().external_docs),
            ("example", old.extra().example != new.extra().example),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect();
        if !changed.is_empty() {
            self.push(pair, Code::DiffDescription, changed.join(", "), &[(Readers, Cosmetic)]);
        }
    }

    /// A server drops null from a field that is not nullable, or gives the field its default. Where the field is nullable,
    /// null is a value, and an enum or a rule can refuse it (upstream: `PruneNonNullableNullsWithoutDefaults`).
    pub(super) fn null(&mut self, pair: &Pair<'a>) {
        let (old, new) = (&pair.old, &pair.new);
        // What a server decodes itself is never null.
        if pair.also.is_some() {
            return;
        }
        match (old.flags.any(Flags::NULLABLE), new.flags.any(Flags::NULLABLE)) {
            (true, false) if pair.path.ends_with("[]") || self.keeps.1 && Types::of(new) != Types::ANY => {
                self.push(pair, Code::DiffNull, "null is refused", STRICTER);
            }
            (true, false) => {
                let detail = if new.default.is_some() { "null becomes the default" } else { "null is dropped" };
                self.push(pair, Code::DiffNull, detail, &[(Storage, Risky), (Writers, Risky), (Readers, Risky)]);
            }
            (false, true) => {
                let extra = new.extra();
                let logic = [extra.all_of, extra.any_of, extra.one_of, not(extra.not)];
                // An enum refuses null even if null is among its values (upstream: `Enum` of kube-openapi's `validate`).
                if !new.enumeration.is_empty()
                    || old.default.is_some()
                    || !extra.validations.is_empty()
                    || logic.iter().any(|schemas| !schemas.is_empty())
                {
                    let detail = "null is kept and judged, and was dropped or became the default";
                    self.push(
                        pair,
                        Code::DiffNullWider,
                        detail,
                        &[(Storage, Risky), (Writers, Risky), (Readers, Risky)],
                    );
                } else {
                    let (detail, class) = judged("null is kept", pair.judge.as_ref());
                    self.push(pair, Code::DiffNullWider, detail, &[(Writers, class), (Readers, Risky)]);
                }
            }
            _ => {}
        }
    }

    pub(super) fn enumeration(&mut self, pair: &Pair<'a>) {
        let (old, new) = (pair.old.enumeration, pair.new.enumeration);
        let wider = [(Writers, Compatible), (Readers, Risky)];
        match (old.is_empty(), new.is_empty()) {
            (true, true) => {}
            (false, true) => {
                self.push(pair, Code::DiffEnumWider, "any value is accepted, and there was an enum", &wider);
            }
            (true, false) => {
                let values = listed(new.iter().map(text).collect());
                self.push(pair, Code::DiffEnum, format!("only {values} are accepted, and there was no enum"), STRICTER);
            }
            (false, false) => {
                let texts = |values: &[Json<'_>]| values.iter().map(text).collect::<Vec<_>>();
                let (old, new) = (texts(old), texts(new));
                let gone = missing(&old, &new);
                if !gone.is_empty() {
                    self.push(pair, Code::DiffEnum, format!("no longer accepted: {}", listed(gone)), STRICTER);
                }
                let came = missing(&new, &old);
                if !came.is_empty() {
                    self.push(pair, Code::DiffEnumWider, format!("newly accepted: {}", listed(came)), &wider);
                }
            }
        }
    }

    /// Patterns and formats. A format counts if a server checks it for one of the types.
    pub(super) fn texts(&mut self, pair: &Pair<'a>, both: Types) {
        let (old, new) = (&pair.old, &pair.new);
        if both.has_strings() {
            let (was, is) = (old.extra().pattern, new.extra().pattern);
            self.text(pair, "pattern", (was, was), (is, is));
        }
        if both.has_strings() || both.has_numbers() {
            self.text(pair, "format", (old.format, checked_format(old)), (new.format, checked_format(new)));
        }
    }

    /// A keyword as it is written, and as it counts.
    fn text(
        &mut self,
        pair: &Pair<'a>,
        keyword: &'static str,
        (old_text, was): (&str, &str),
        (new_text, is): (&str, &str),
    ) {
        let (old, new) = (&pair.old, &pair.new);
        if was == is {
            return;
        }
        if is.is_empty() {
            // It may be said elsewhere in the schema.
            if reach(&pair.taken_now(), old, keyword, &mut self.memo) == Reach::None {
                return;
            }
            self.push(pair, Code::DiffTextWider, described(keyword, old_text, new_text), WIDER);
            return;
        }
        let detail = described(keyword, old_text, new_text);
        let subject = Subject::Keyword(keyword);
        match reach(&pair.taken_before(), new, keyword, &mut self.memo) {
            Reach::None if was.is_empty() || reach(&pair.taken_now(), old, keyword, &mut self.memo) == Reach::None => {}
            Reach::None => self.push(pair, Code::DiffTextWider, format!("{detail}, which accepts more"), WIDER),
            Reach::Refuses => self.push_about(pair, subject, Code::DiffText, detail, STRICTER),
            Reach::Open(why) => {
                self.push_about(pair, subject, Code::DiffTextUnknown, open(&detail, &why), UNKNOWN);
            }
        }
    }

    pub(super) fn default(&mut self, pair: &Pair<'a>) {
        let (old, new) = (pair.old.default, pair.new.default);
        if old == new {
            return;
        }
        match (old, new) {
            (None, Some(new)) => {
                let detail = format!("the default is {}, and there was none", text(new));
                let (detail, class) = judged(&detail, pair.judge.as_ref());
                let class = if takes_default(&pair.new) { class } else { Risky };
                self.push(pair, Code::DiffDefault, detail, &[(Storage, Risky), (Writers, class), (Readers, Risky)]);
            }
            (Some(old), None) => {
                let detail = format!("the default was {}, and there is none", text(old));
                self.push(pair, Code::DiffDefault, detail, &[(Writers, Risky), (Readers, Risky)]);
            }
            (Some(old), Some(new)) => {
                let detail = format!("the default was {}, and is {}", text(old), text(new));
                self.push(pair, Code::DiffDefault, detail, &[(Storage, Risky), (Writers, Risky), (Readers, Risky)]);
            }
            (None, None) => {}
        }
    }

    pub(super) fn rules(&mut self, pair: &Pair<'a>) {
        let key = |rule: &Rule<'_>| (rule.rule.to_owned(), rule.optional_old_self);
        let by_key = |rules: &[Rule<'_>]| rules.iter().map(key).collect::<HashSet<_>>();
        let (old, new) = (pair.old.extra().validations, pair.new.extra().validations);
        let (was, is) = (by_key(old), by_key(new));
        let same: HashSet<&Rule<'_>> = old.iter().collect();
        for rule in new {
            if !was.contains(&key(rule)) {
                let why = "whether it refuses what was accepted cannot be told";
                let effects = [(Storage, Risky), (Writers, Risky), (Cel, Risky)];
                self.push(pair, Code::DiffRule, format!("{:?} is new; {why}", rule.rule), &effects);
            } else if !same.contains(rule) {
                let detail = format!("the message of {:?} is another one", rule.rule);
                self.push(pair, Code::DiffDescription, detail, &[(Cel, Cosmetic)]);
            }
        }
        for rule in old.iter().filter(|rule| !is.contains(&key(rule))) {
            let effects = [(Writers, Compatible), (Cel, Compatible)];
            self.push(pair, Code::DiffRuleGone, format!("{:?} is gone", rule.rule), &effects);
        }
    }

    /// What is put together by logic is compared keyword by keyword: whether the new one accepts all that the whole old schema
    /// accepts.
    pub(super) fn logic(&mut self, pair: &Pair<'a>) {
        let (old, new) = (pair.old.extra(), pair.new.extra());
        for (keyword, was, is) in [
            ("allOf", old.all_of, new.all_of),
            ("anyOf", old.any_of, new.any_of),
            ("oneOf", old.one_of, new.one_of),
            ("not", not(old.not), not(new.not)),
        ] {
            if same(was, is) {
                continue;
            }
            let detail = match (was.is_empty(), is.is_empty()) {
                (_, true) => format!("there is no {keyword} any more"),
                (true, false) => format!("{keyword} is new"),
                (false, false) => branches(keyword, was, is),
            };
            if is.is_empty() {
                if reach(&pair.taken_now(), &pair.old, keyword, &mut self.memo) != Reach::None {
                    self.push(pair, Code::DiffLogicWider, detail, WIDER);
                }
                continue;
            }
            let subject = Subject::Keyword(keyword);
            match reach(&pair.taken_before(), &pair.new, keyword, &mut self.memo) {
                Reach::None if was.is_empty() => {}
                Reach::None if reach(&pair.taken_now(), &pair.old, keyword, &mut self.memo) == Reach::None => {}
                Reach::None => self.push(pair, Code::DiffLogicWider, format!("{detail}; it accepts more"), WIDER),
                Reach::Refuses => self.push_about(pair, subject, Code::DiffLogicStricter, detail, STRICTER),
                Reach::Open(why) => self.push_about(pair, subject, Code::DiffLogic, open(&detail, &why), UNKNOWN),
            }
        }
    }
}

/// Whether a schema accepts its own default: that of an integer or a text can be an object.
pub(super) fn takes_default(schema: &Schema<'_>) -> bool {
    let Some(default) = schema.default else { return true };
    let arena = Bump::new();
    let schema: &Schema<'_> = arena.alloc(*schema);
    let value = inserted(Value::from_json(default, &arena), Some(schema), &arena);
    Validator::new(schema, &arena).is_valid(value)
}

/// What a text was and is.
fn described(keyword: &str, was: &str, is: &str) -> String {
    match (was, is) {
        (was, "") => format!("{keyword} was {was:?}, and there is none"),
        ("", is) => format!("{keyword} is {is:?}, and there was none"),
        (was, is) => format!("{keyword} was {was:?}, and is {is:?}"),
    }
}

/// What a change of stored values is for writers: something above may look at them.
pub(super) fn judged(detail: &str, judge: Option<&Judge>) -> (String, Class) {
    match judge {
        None => (detail.to_owned(), Compatible),
        Some((path, keyword)) => {
            let at = if path.is_empty() { "the object" } else { path };
            (format!("{detail}; whether {keyword} of {at} then refuses what was accepted cannot be told"), Risky)
        }
    }
}

/// A change of which it is not known what it refuses, and why.
pub(super) fn open(detail: &str, why: &str) -> String {
    format!("{detail}; whether it refuses what was accepted cannot be told, because {why}")
}

/// Whether two lists of branches have the same branches, in any order.
fn same(a: &[Schema<'_>], b: &[Schema<'_>]) -> bool {
    // In longer lists, the order counts.
    const SORTED: usize = 64;
    if a.len() != b.len() {
        return false;
    }
    if a.iter().zip(b).all(|(a, b)| a.says_the_same(b)) {
        return true;
    }
    if a.len() > SORTED {
        return false;
    }
    let mut left: Vec<&Schema<'_>> = b.iter().collect();
    a.iter().all(|branch| match left.iter().position(|other| other.says_the_same(branch)) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    })
}

/// What happened to branches.
fn branches(keyword: &str, was: &[Schema<'_>], is: &[Schema<'_>]) -> String {
    let count = |all: &[Schema<'_>], of: &[Schema<'_>]| {
        all.iter().filter(|branch| !of.iter().any(|other| other.says_the_same(branch))).count()
    };
    if keyword == "not" || was.len().max(is.len()) > 64 {
        return format!("{keyword} is another one");
    }
    let (gone, came) = (count(was, is), count(is, was));
    let s = |count: usize| if count == 1 { "" } else { "es" };
    match (gone, came) {
        (0, came) => format!("{keyword} has {came} more branch{}", s(came)),
        (gone, 0) => format!("{keyword} has {gone} branch{} less", s(gone)),
        (gone, came) if gone == came => format!("{gone} branch{} of {keyword} changed", s(gone)),
        (gone, came) => format!("{keyword} lost {gone} and got {came} other branch{}", s(came)),
    }
}

/// Values that are named, and how many more there are.
fn listed(mut values: Vec<String>) -> String {
    const NAMED: usize = 8;
    let more = values.len().saturating_sub(NAMED);
    values.truncate(NAMED);
    let names = values.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

pub(super) fn text(value: &Json<'_>) -> String {
    let mut out = Vec::new();
    value.print(&mut out, Escape::Html);
    String::from_utf8_lossy(&out).into_owned()
}

fn not<'a>(schema: Option<&'a Schema<'a>>) -> &'a [Schema<'a>] {
    schema.map_or(&[], std::slice::from_ref)
}
