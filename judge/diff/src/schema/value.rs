//! Compares the constraints on a value itself: enums, patterns, defaults, rules, logic.

use super::{Judge, Pair, STRICTER, UNKNOWN, WIDER, Walk, missing};
use crate::change::{Class, Consumer};
use crate::combined::checked_format;
use crate::findings::Subject;
use crate::refusal::{Refusal, refusal};
use crate::types::Types;
use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Bump, Code, Flags, Json, Rule, Schema};
use kubeshape_validate::object::{Validator, default as inserted};
use kubeshape_value::Value;
use std::collections::HashSet;

use Class::{Compatible, Cosmetic, Risky};
use Consumer::{Cel, Readers, Storage, Writers};

/// Returns the rules of a schema. In OpenAPI documents, they are an extension.
fn rules_of<'a>(schema: &Schema<'a>) -> Vec<Rule<'a>> {
    let extra = schema.extra();
    let written = extra.extensions.iter().find(|(name, _)| *name == "x-kubernetes-validations");
    let Some((_, Json::Array(rules))) = written else { return extra.validations.to_vec() };
    let text = |rule: &Json<'a>, key: &str| rule.get(key).and_then(Json::as_str).unwrap_or_default();
    let read = |rule: &Json<'a>| Rule { rule: text(rule, "rule"), message: text(rule, "message"), ..Rule::default() };
    rules.iter().map(read).collect()
}

impl<'a> Walk<'_, 'a> {
    /// Compares a value that is the same in every object.
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
                format!("{text:?} is no longer accepted, but every object has it"),
                STRICTER,
            );
        }
        self.rules(pair);
    }

    /// Reports changed descriptions, all in one change.
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
            self.found.part(&changed[..1]);
        }
    }

    /// A server drops null from a field that is not nullable, or sets the default. In a nullable field, null is a
    /// value, and an enum or a rule can reject it (upstream: `PruneNonNullableNullsWithoutDefaults`).
    pub(super) fn null(&mut self, pair: &Pair<'a>) {
        let (old, new) = (&pair.old, &pair.new);
        // Fields that a server decodes itself are never null.
        if pair.also.is_some() {
            return;
        }
        let before = self.found.changes.len();
        match (old.flags.any(Flags::NULLABLE), new.flags.any(Flags::NULLABLE)) {
            (true, false) if pair.path.ends_with("[]") || self.keeps.1 && Types::of(new) != Types::ANY => {
                self.push(pair, Code::DiffNull, "null is now rejected", STRICTER);
            }
            (true, false) => {
                let detail =
                    if new.default.is_some() { "null is now replaced by the default" } else { "null is now dropped" };
                self.push(pair, Code::DiffNull, detail, &[(Storage, Risky), (Writers, Risky), (Readers, Risky)]);
            }
            (false, true) => {
                let extra = new.extra();
                let logic = [extra.all_of, extra.any_of, extra.one_of, not(extra.not)];
                // An enum rejects null even if null is among its values (upstream: `Enum` of kube-openapi's
                // `validate`).
                if !new.enumeration.is_empty()
                    || old.default.is_some()
                    || !extra.validations.is_empty()
                    || logic.iter().any(|schemas| !schemas.is_empty())
                {
                    let detail = "null is now kept and validated, not dropped or replaced by the default";
                    self.push(
                        pair,
                        Code::DiffNullWider,
                        detail,
                        &[(Storage, Risky), (Writers, Risky), (Readers, Risky)],
                    );
                } else {
                    let (detail, class) = judged("null is now kept", pair.judge.as_ref());
                    self.push(pair, Code::DiffNullWider, detail, &[(Writers, class), (Readers, Risky)]);
                }
            }
            _ => {}
        }
        if self.found.changes.len() > before {
            self.found.part(&["nullable"]);
        }
    }

    pub(super) fn enumeration(&mut self, pair: &Pair<'a>) {
        let (old, new) = (pair.old.enumeration, pair.new.enumeration);
        let wider = [(Writers, Compatible), (Readers, Risky)];
        match (old.is_empty(), new.is_empty()) {
            (true, true) => {}
            (false, true) => {
                self.push(pair, Code::DiffEnumWider, "enum removed: any value is accepted", &wider);
                self.found.part(&["enum"]);
            }
            (true, false) => {
                let values = listed(new.iter().map(text).collect());
                self.push(pair, Code::DiffEnum, format!("enum added: only {values} accepted"), STRICTER);
                self.found.part(&["enum"]);
            }
            (false, false) => {
                let texts = |values: &[Json<'_>]| values.iter().map(text).collect::<Vec<_>>();
                let (old, new) = (texts(old), texts(new));
                let gone = missing(&old, &new);
                let at = |all: &[String], first: Option<&String>| {
                    all.iter().position(|value| Some(value) == first).unwrap_or_default().to_string()
                };
                let (first_gone, first_came) = (at(&old, gone.first()), at(&new, missing(&new, &old).first()));
                if !gone.is_empty() {
                    self.push(pair, Code::DiffEnum, format!("no longer accepted: {}", listed(gone)), STRICTER);
                    self.found.removed(&["enum", &first_gone]);
                }
                let came = missing(&new, &old);
                if !came.is_empty() {
                    self.push(pair, Code::DiffEnumWider, format!("now accepted: {}", listed(came)), &wider);
                    self.found.part(&["enum", &first_came]);
                }
            }
        }
    }

    /// Compares patterns and formats. A format is used if a server checks it for one of the types.
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

    /// Compares a keyword, given as written and as checked.
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
            // Other parts of the schema may still imply it.
            if refusal(&pair.accepted_now(), old, keyword, &mut self.memo) == Refusal::Never {
                return;
            }
            self.push(pair, Code::DiffTextWider, described(keyword, old_text, new_text), WIDER);
            self.found.part(&[keyword]);
            return;
        }
        let detail = described(keyword, old_text, new_text);
        let subject = Subject::Keyword(keyword);
        match refusal(&pair.accepted_before(), new, keyword, &mut self.memo) {
            Refusal::Never
                if was.is_empty() || refusal(&pair.accepted_now(), old, keyword, &mut self.memo) == Refusal::Never => {}
            Refusal::Never => {
                self.push(pair, Code::DiffTextWider, format!("{detail}; it accepts more"), WIDER);
                self.found.part(&[keyword]);
            }
            Refusal::Certain => self.push_about(pair, subject, Code::DiffText, detail, STRICTER),
            Refusal::Unknown(why) => {
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
                let detail = format!("default {} added", text(new));
                let (detail, class) = judged(&detail, pair.judge.as_ref());
                let class = if takes_default(&pair.new) { class } else { Risky };
                self.push(pair, Code::DiffDefault, detail, &[(Storage, Risky), (Writers, class), (Readers, Risky)]);
            }
            (Some(old), None) => {
                let detail = format!("default {} removed", text(old));
                self.push(pair, Code::DiffDefault, detail, &[(Writers, Risky), (Readers, Risky)]);
            }
            (Some(old), Some(new)) => {
                let detail = format!("default changed from {} to {}", text(old), text(new));
                self.push(pair, Code::DiffDefault, detail, &[(Storage, Risky), (Writers, Risky), (Readers, Risky)]);
            }
            (None, None) => {}
        }
        self.found.part(&["default"]);
    }

    pub(super) fn rules(&mut self, pair: &Pair<'a>) {
        let key = |rule: &Rule<'_>| (rule.rule.to_owned(), rule.optional_old_self);
        let by_key = |rules: &[Rule<'_>]| rules.iter().map(key).collect::<HashSet<_>>();
        let (old, new) = (rules_of(&pair.old), rules_of(&pair.new));
        let (was, is) = (by_key(&old), by_key(&new));
        let same: HashSet<&Rule<'_>> = old.iter().collect();
        for (index, rule) in new.iter().enumerate() {
            let part = ["x-kubernetes-validations", &index.to_string()];
            if !was.contains(&key(rule)) {
                let why = "unknown whether it rejects accepted values";
                let effects = [(Storage, Risky), (Writers, Risky), (Cel, Risky)];
                self.push(pair, Code::DiffRule, format!("rule {:?} added; {why}", rule.rule), &effects);
                self.found.part(&part);
            } else if !same.contains(rule) {
                let detail = format!("message of rule {:?} changed", rule.rule);
                self.push(pair, Code::DiffDescription, detail, &[(Cel, Cosmetic)]);
                self.found.part(&part);
            }
        }
        for (index, rule) in old.iter().enumerate().filter(|(_, rule)| !is.contains(&key(rule))) {
            let effects = [(Writers, Compatible), (Cel, Compatible)];
            self.push(pair, Code::DiffRuleGone, format!("rule {:?} removed", rule.rule), &effects);
            self.found.removed(&["x-kubernetes-validations", &index.to_string()]);
        }
    }

    /// Compares logic keyword by keyword: whether the new keyword accepts everything that the whole old schema accepts.
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
                (_, true) => format!("{keyword} removed"),
                (true, false) => format!("{keyword} added"),
                (false, false) => branches(keyword, was, is),
            };
            if is.is_empty() {
                if refusal(&pair.accepted_now(), &pair.old, keyword, &mut self.memo) != Refusal::Never {
                    self.push(pair, Code::DiffLogicWider, detail, WIDER);
                    self.found.part(&[keyword]);
                }
                continue;
            }
            let subject = Subject::Keyword(keyword);
            match refusal(&pair.accepted_before(), &pair.new, keyword, &mut self.memo) {
                Refusal::Never if was.is_empty() => {}
                Refusal::Never
                    if refusal(&pair.accepted_now(), &pair.old, keyword, &mut self.memo) == Refusal::Never => {}
                Refusal::Never => {
                    self.push(pair, Code::DiffLogicWider, format!("{detail}; it accepts more"), WIDER);
                    self.found.part(&[keyword]);
                }
                Refusal::Certain => self.push_about(pair, subject, Code::DiffLogicStricter, detail, STRICTER),
                Refusal::Unknown(why) => self.push_about(pair, subject, Code::DiffLogic, open(&detail, &why), UNKNOWN),
            }
        }
    }
}

/// Returns whether a schema accepts its own default. The default of an integer or a string can be an object.
pub(super) fn takes_default(schema: &Schema<'_>) -> bool {
    let Some(default) = schema.default else { return true };
    let arena = Bump::new();
    let schema: &Schema<'_> = arena.alloc(*schema);
    let value = inserted(Value::from_json(default, &arena), Some(schema), &arena);
    value.is_ok_and(|value| Validator::new(schema, &arena).is_valid(value))
}

/// Describes a change of a keyword.
fn described(keyword: &str, was: &str, is: &str) -> String {
    match (was, is) {
        (was, "") => format!("{keyword} {was:?} removed"),
        ("", is) => format!("{keyword} {is:?} added"),
        (was, is) => format!("{keyword} changed from {was:?} to {is:?}"),
    }
}

/// Returns how a change of stored values affects writers: a constraint above may see them.
pub(super) fn judged(detail: &str, judge: Option<&Judge>) -> (String, Class) {
    match judge {
        None => (detail.to_owned(), Compatible),
        Some((path, keyword)) => {
            let at = if path.is_empty() { "the object" } else { path };
            (format!("{detail}; unknown whether {keyword} of {at} now rejects accepted values"), Risky)
        }
    }
}

/// Describes a change whose effect is unknown, and why.
pub(super) fn open(detail: &str, why: &str) -> String {
    format!("{detail}; unknown whether it rejects accepted values: {why}")
}

/// Returns whether two lists have the same branches, in any order.
fn same(a: &[Schema<'_>], b: &[Schema<'_>]) -> bool {
    // In longer lists, the order matters.
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

/// Describes changed branches.
fn branches(keyword: &str, was: &[Schema<'_>], is: &[Schema<'_>]) -> String {
    let count = |all: &[Schema<'_>], of: &[Schema<'_>]| {
        all.iter().filter(|branch| !of.iter().any(|other| other.says_the_same(branch))).count()
    };
    if keyword == "not" || was.len().max(is.len()) > 64 {
        return format!("{keyword} changed");
    }
    let (gone, came) = (count(was, is), count(is, was));
    let s = |count: usize| if count == 1 { "" } else { "es" };
    match (gone, came) {
        (0, came) => format!("{came} branch{} of {keyword} added", s(came)),
        (gone, 0) => format!("{gone} branch{} of {keyword} removed", s(gone)),
        (gone, came) if gone == came => format!("{gone} branch{} of {keyword} changed", s(gone)),
        (gone, came) => format!("{gone} branch{} of {keyword} replaced by {came}", s(gone)),
    }
}

/// Lists the first values and how many more there are.
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
