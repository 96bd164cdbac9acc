//! Proves that a schema accepts every value that all of some other schemas accept.
//!
//! A proof goes keyword by keyword, and by cases: a value that `anyOf` accepts matches a branch, and a value of several
//! types has one of them. Patterns and lengths are compared as languages. A proof is certain. Without a proof, the
//! implication may still hold; the reason for the gap is kept. The number of steps is limited.

use crate::bounds::is_number_of_go;
use crate::combined::{
    Language, MOST, VALUES, bounds_of, cases, checked_format, has, implies_format, is_only_pattern, lists_less,
    no_list, no_number, number, required, spread, takes_null, types, values_of, without_not,
};
use crate::types::Types;
use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_structural::regex::Texts;
use kubeshape_validate::object::Validator;
use kubeshape_value::Value;
use std::collections::HashMap;
use std::rc::Rc;

/// Most schemas to visit for one proof.
const STEPS: usize = 4_000;
/// Most nested cases and nested values.
const DEPTH: usize = 12;

/// Most comparisons of languages for the schemas of one version, and most that may exceed a limit.
const COMPARED: usize = 20_000;
const LIMITED: usize = 24;
/// Most steps of all comparisons together: some seconds.
const SEARCHED: u64 = 20_000_000;

/// The patterns that strings match, the patterns they do not match, and their lengths.
type Compared = (Vec<String>, Vec<String>, u64, Option<u64>);

/// Results of comparing languages, by patterns and lengths.
pub(crate) struct Memo {
    texts: HashMap<Compared, Shortest>,
    /// Comparisons that exceeded a limit. They are the most expensive ones.
    limited: usize,
    /// The steps that all comparisons can still take.
    left: u64,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo { texts: HashMap::new(), limited: 0, left: SEARCHED }
    }
}

/// A shortest string of a language, `None` if the language is empty, or why it is unknown.
type Shortest = Result<Option<Rc<str>>, String>;

impl Memo {
    /// Returns a shortest string that matches some patterns and none of others.
    pub(crate) fn shortest(&mut self, texts: &Texts<'_>) -> Shortest {
        let owned = |patterns: &[&str]| {
            let mut owned: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            owned.sort_unstable();
            owned.dedup();
            owned
        };
        let key = (owned(texts.matched), owned(texts.unmatched), texts.least, texts.most);
        if let Some(known) = self.texts.get(&key) {
            return known.clone();
        }
        if self.limited >= LIMITED || self.texts.len() >= COMPARED || self.left == 0 {
            return Err("too many patterns to compare".to_owned());
        }
        let (matched, unmatched): (Vec<&str>, Vec<&str>) =
            (key.0.iter().map(String::as_str).collect(), key.1.iter().map(String::as_str).collect());
        let texts = Texts { matched: &matched, unmatched: &unmatched, ..*texts };
        let found = texts.shortest_within(&mut self.left).map(|text| text.map(Rc::from)).map_err(|why| why.to_string());
        self.limited += usize::from(found.is_err());
        self.texts.insert(key, found.clone());
        found
    }
}

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Implication {
    /// All values are accepted.
    Proven,
    /// Not proven; the first missing step.
    Open(String),
    /// A limit was exceeded; which one.
    Limited(String),
}

/// Decides whether a schema accepts everything that all the others accept, except null.
pub(crate) fn implication<'s>(
    all: &[&'s Schema<'s>],
    of: &'s Schema<'s>,
    arena: &'s Bump,
    memo: &mut Memo,
) -> Implication {
    let mut prover = Prover { arena, memo, steps: STEPS, why: None, limit: None };
    if prover.implies(all, of, 0) {
        return Implication::Proven;
    }
    match (prover.limit, prover.why) {
        (Some(limit), _) => Implication::Limited(limit),
        (None, why) => Implication::Open(why.unwrap_or_else(|| "it does not follow from the old schema".to_owned())),
    }
}

struct Prover<'s, 'm> {
    arena: &'s Bump,
    memo: &'m mut Memo,
    steps: usize,
    /// Why the first unproven step failed.
    why: Option<String>,
    /// The limit that was exceeded.
    limit: Option<String>,
}

impl<'s> Prover<'s, '_> {
    fn fail(&mut self, why: impl FnOnce() -> String) -> bool {
        if self.why.is_none() {
            self.why = Some(why());
        }
        false
    }

    /// Tries something whose failure explains nothing.
    fn quietly<T>(&mut self, attempt: impl FnOnce(&mut Self) -> T) -> T {
        let why = self.why.take();
        let out = attempt(self);
        self.why = why;
        out
    }

    /// Uses a step. Returns `false` if none is left.
    fn step(&mut self, depth: usize) -> bool {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 || depth > DEPTH {
            return self.exceeds(|| "there are too many cases".to_owned());
        }
        true
    }

    fn exceeds(&mut self, limit: impl FnOnce() -> String) -> bool {
        if self.limit.is_none() {
            self.limit = Some(limit());
        }
        false
    }

    fn implies(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        if !self.step(depth) {
            return false;
        }
        if !of.reference.is_empty() {
            return self.fail(|| "references are not followed".to_owned());
        }
        let Some(all) = spread(all) else { return self.fail(|| "too many schemas apply together".to_owned()) };
        if all.iter().any(|schema| schema.says_the_same(of)) || self.quietly(|me| me.is_empty(&all, depth + 1)) {
            return true;
        }
        if let Some(values) = self.values(&all) {
            let accepts = Validator::new(of, self.arena);
            return values.into_iter().all(|value| accepts.is_valid(value))
                || self.fail(|| "a value of the enum is rejected".to_owned());
        }
        let before = self.why.take();
        if self.keywords(&all, of, depth) {
            self.why = before;
            return true;
        }
        let own = self.why.take();
        if let Some(cases) = self.cases(&all, of)
            && cases.iter().all(|case| self.implies(case, of, depth + 1))
        {
            self.why = before;
            return true;
        }
        self.why = before.or(self.why.take()).or(own);
        false
    }

    /// Returns the cases of [`cases`], and uses a step per schema.
    fn cases(&mut self, all: &[&'s Schema<'s>], of: &Schema<'s>) -> Option<Vec<Vec<&'s Schema<'s>>>> {
        let cases = cases(all, of, self.arena)?;
        self.steps = self.steps.saturating_sub(cases.iter().map(Vec::len).sum());
        Some(cases)
    }

    /// Returns the values that the schemas accept, if one of them enumerates them.
    fn values(&mut self, all: &[&'s Schema<'s>]) -> Option<Vec<Value<'s>>> {
        let named = all.iter().find(|schema| !schema.enumeration.is_empty())?;
        // Enumerations of numbers also match other values: those that become equal when Go converts them.
        if types(all).has_numbers() {
            return None;
        }
        if named.enumeration.len() > VALUES {
            self.exceeds(|| format!("an enum has more than {VALUES} values"));
            return None;
        }
        self.steps = self.steps.saturating_sub(named.enumeration.len() / 16);
        let validators: Vec<Validator<'s>> = all.iter().map(|schema| Validator::new(schema, self.arena)).collect();
        let values = named.enumeration.iter().map(|value| Value::from_json(value, self.arena));
        Some(values.filter(|value| validators.iter().all(|validator| validator.is_valid(*value))).collect())
    }

    /// Returns whether each keyword of a schema is implied.
    fn keywords(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        let taken = types(all);
        let known_type = !matches!(of.ty, Type::Other | Type::Several);
        if !known_type || !taken.without(Types::of(of)).is_empty() {
            return self.fail(|| "the types differ".to_owned());
        }
        if !of.enumeration.is_empty() && !all.iter().any(|schema| lists_less(schema, of)) {
            return self.fail(|| "an enum is not implied".to_owned());
        }
        let extra = of.extra();
        if of.flags.any(Flags::EMBEDDED_RESOURCE) && !has(all, Flags::EMBEDDED_RESOURCE)
            || of.flags.any(Flags::UNIQUE_ITEMS) && !has(all, Flags::UNIQUE_ITEMS)
        {
            return self.fail(|| "a keyword on the whole value is not implied".to_owned());
        }
        let rules = |schema: &Schema<'s>| schema.extra().validations;
        if rules(of).iter().any(|rule| !all.iter().any(|schema| rules(schema).contains(rule))) {
            return self.fail(|| "a rule is not implied".to_owned());
        }
        if matches!(extra.list_type, Some("set" | "map"))
            && !all.iter().any(|schema| {
                schema.extra().list_type == extra.list_type && schema.extra().list_map_keys == extra.list_map_keys
            })
        {
            return self.fail(|| "the list type is not implied".to_owned());
        }
        self.numbers(all, of)
            && (!taken.has_strings() || self.texts(all, of))
            && self.formats(all, of, taken)
            && (!taken.has_arrays() || self.lists(all, of, depth))
            && (!taken.has_objects() || self.objects(all, of, depth))
            && extra.all_of.iter().all(|branch| self.implies(all, branch, depth + 1))
            && self.any_of(all, extra.any_of, depth)
            && self.one_of(all, extra.one_of, depth)
            && extra.not.is_none_or(|not| self.excludes(all, not, depth))
    }

    fn numbers(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>) -> bool {
        if !types(all).has_numbers() {
            return true;
        }
        let extra = of.extra();
        // An integer ignores the fraction of its bound.
        let is_exact = |bound: f64, other: f64| {
            let is_number = is_number_of_go(bound) && is_number_of_go(other);
            other.to_bits() == bound.to_bits() || is_number && bound.fract() == 0.0
        };
        let (above, below) = (Flags::EXCLUSIVE_MINIMUM, Flags::EXCLUSIVE_MAXIMUM);
        let least = |bound: f64| {
            all.iter().any(|schema| {
                schema.extra().minimum.is_some_and(|own| {
                    let is_open = schema.flags.any(above) || !of.flags.any(above);
                    is_exact(bound, own) && (own > bound || own >= bound && is_open)
                })
            })
        };
        let most = |bound: f64| {
            all.iter().any(|schema| {
                schema.extra().maximum.is_some_and(|own| {
                    let is_open = schema.flags.any(below) || !of.flags.any(below);
                    is_exact(bound, own) && (own < bound || own <= bound && is_open)
                })
            })
        };
        let is_multiple =
            |own: f64, factor: f64| is_number_of_go(own) && is_number_of_go(factor) && own % factor == 0.0;
        let factor = |factor: f64| {
            all.iter().any(|schema| schema.extra().multiple_of.is_some_and(|own| is_multiple(own, factor)))
        };
        let follows =
            extra.minimum.is_none_or(least) && extra.maximum.is_none_or(most) && extra.multiple_of.is_none_or(factor);
        follows || self.fail(|| "a number bound is not implied".to_owned())
    }

    /// Checks lengths and patterns.
    fn texts(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>) -> bool {
        let extra = of.extra();
        let language = Language::of(all);
        if let Some(least) = extra.min_length.filter(|least| *least > 0)
            && language.least < least.unsigned_abs()
        {
            let shorter = least.unsigned_abs() - 1;
            let texts =
                Texts { most: Some(language.most.map_or(shorter, |most| most.min(shorter))), ..language.texts() };
            if !self.has_none(&texts) {
                return self.fail(|| format!("minLength {least} is not implied"));
            }
        }
        if let Some(most) = extra.max_length {
            let longer = u64::try_from(most).map_or(0, |most| most.saturating_add(1));
            let texts = Texts { least: language.least.max(longer), ..language.texts() };
            if language.most.is_none_or(|most| most >= longer) && !self.has_none(&texts) {
                return self.fail(|| format!("maxLength {most} is not implied"));
            }
        }
        if !extra.pattern.is_empty() && !language.patterns.contains(&extra.pattern) {
            let texts = Texts { unmatched: &[extra.pattern], ..language.texts() };
            if !self.has_none(&texts) {
                return self.fail(|| format!("the pattern {:?} is not implied", extra.pattern));
            }
        }
        true
    }

    /// Returns whether a language is certainly empty.
    fn has_none(&mut self, texts: &Texts<'_>) -> bool {
        match self.memo.shortest(texts) {
            Ok(found) => found.is_none(),
            Err(limit) => self.exceeds(|| limit),
        }
    }

    fn formats(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, taken: Types) -> bool {
        let format = checked_format(of);
        if format.is_empty() || !taken.has_numbers() && !taken.has_strings() {
            return true;
        }
        all.iter().any(|schema| implies_format(checked_format(schema), format))
            || self.numbers_fit(all, of)
            || self.fail(|| format!("the format {format:?} is not implied"))
    }

    /// Returns whether all numbers that some schemas accept fit the format of another schema, and its own bounds do.
    /// The numbers of a format are a range, so the least and the greatest number decide.
    fn numbers_fit(&self, all: &[&'s Schema<'s>], of: &'s Schema<'s>) -> bool {
        if !matches!(of.ty, Type::Integer | Type::Number) {
            return false;
        }
        let bare: &'s Schema<'s> =
            self.arena.alloc(Schema { format: of.format, flags: Flags::FORMAT, ..Schema::of_type(of.ty) });
        let format = Validator::new(bare, self.arena);
        let fits = |bound: f64| format.is_valid(number(if of.ty == Type::Integer { bound.trunc() } else { bound }));
        // A server refuses every number if a bound does not fit.
        if !bounds_of(of).all(fits) {
            return false;
        }
        let bounded = |bound: fn(&Extra<'s>) -> Option<f64>| {
            all.iter().any(|schema| bound(schema.extra()).is_some_and(|bound| is_number_of_go(bound) && fits(bound)))
        };
        let listed = |schema: &&&Schema<'s>| !schema.enumeration.is_empty() && schema.enumeration.len() <= VALUES;
        bounded(|extra| extra.minimum) && bounded(|extra| extra.maximum)
            || all.iter().find(listed).is_some_and(|schema| {
                schema.enumeration.iter().all(|value| format.is_valid(Value::from_json(value, self.arena)))
            })
    }

    fn lists(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        let extra = of.extra();
        let least = all.iter().filter_map(|schema| schema.extra().min_items).max().unwrap_or_default();
        let most = all.iter().filter_map(|schema| schema.extra().max_items).min();
        if extra.min_items.is_some_and(|bound| bound > least)
            || extra.max_items.is_some_and(|bound| most.is_none_or(|most| most > bound))
        {
            return self.fail(|| "a bound on the number of items is not implied".to_owned());
        }
        let Some(item) = of.item() else { return true };
        let items: Vec<&'s Schema<'s>> = all.iter().filter_map(|schema| schema.item()).collect();
        most == Some(0) || self.below(&items, item, depth)
    }

    fn objects(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        let extra = of.extra();
        let required = required(all);
        let least = all.iter().filter_map(|schema| schema.extra().min_properties).max().unwrap_or_default();
        let least = least.max(i64::try_from(required.len()).unwrap_or_default());
        let most = all.iter().filter_map(|schema| schema.extra().max_properties).min();
        if extra.min_properties.is_some_and(|bound| bound > least)
            || extra.max_properties.is_some_and(|bound| most.is_none_or(|most| most > bound))
        {
            return self.fail(|| "a bound on the number of properties is not implied".to_owned());
        }
        if let Some(name) = of.required.iter().find(|name| !required.contains(name)) {
            return self.fail(|| format!("{name:?} may be missing"));
        }
        for property in of.properties {
            let values = values_of(all, property.name);
            if !self.below(&values, &property.schema, depth) {
                return false;
            }
        }
        // Other fields.
        let Some(rest) = of.additional_schema() else { return true };
        let mut names: Vec<&'s str> =
            all.iter().flat_map(|schema| schema.properties).map(|property| property.name).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| of.property(name).is_none());
        if names.len() > MOST {
            return self.fail(|| "there are too many fields".to_owned());
        }
        let others: Vec<&'s Schema<'s>> = all.iter().filter_map(|schema| schema.additional_schema()).collect();
        self.below(&others, rest, depth)
            && names.iter().all(|name| {
                let values = values_of(all, name);
                self.below(&values, rest, depth)
            })
    }

    /// Like [`Prover::implies`], for values of fields and items, which can be null.
    fn below(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        if !takes_null(of) && all.iter().all(|schema| takes_null(schema)) {
            return self.fail(|| "a field can be null".to_owned());
        }
        self.implies(all, of, depth + 1)
    }

    fn any_of(&mut self, all: &[&'s Schema<'s>], branches: &'s [Schema<'s>], depth: usize) -> bool {
        if branches.is_empty()
            || branches.len() <= MOST
                && branches.iter().any(|branch| self.quietly(|me| me.implies(all, branch, depth + 1)))
        {
            return true;
        }
        self.fail(|| "no branch of anyOf accepts everything".to_owned())
    }

    fn one_of(&mut self, all: &[&'s Schema<'s>], branches: &'s [Schema<'s>], depth: usize) -> bool {
        if branches.is_empty() {
            return true;
        }
        if branches.len() > MOST {
            return self.fail(|| "there are too many branches".to_owned());
        }
        for (at, branch) in branches.iter().enumerate() {
            let others = branches.iter().enumerate().filter(|(other, _)| *other != at);
            if self.quietly(|me| me.implies(all, branch, depth + 1))
                && others.map(|(_, other)| other).all(|other| self.quietly(|me| me.excludes(all, other, depth)))
            {
                return true;
            }
        }
        self.fail(|| "no branch of oneOf alone accepts everything".to_owned())
    }

    /// Returns whether a schema certainly accepts none of the values.
    fn excludes(&mut self, all: &[&'s Schema<'s>], of: &'s Schema<'s>, depth: usize) -> bool {
        let mut both = all.to_vec();
        both.push(of);
        self.is_empty(&both, depth + 1) || self.fail(|| "a value may match `not`".to_owned())
    }

    /// Returns whether certainly no value satisfies all schemas, except null.
    fn is_empty(&mut self, all: &[&'s Schema<'s>], depth: usize) -> bool {
        if !self.step(depth) {
            return false;
        }
        let Some(all) = spread(all) else { return false };
        let all = &all;
        let taken = types(all);
        if taken.is_empty() {
            return true;
        }
        if let Some(values) = self.values(all) {
            return values.is_empty();
        }
        // If no type is possible, no value is.
        let is_possible = taken.has_booleans()
            || taken.has_numbers() && !no_number(all)
            || taken.has_strings() && !self.no_text(all)
            || taken.has_arrays() && !no_list(all)
            || taken.has_objects() && !self.no_object(all, depth);
        if !is_possible {
            return true;
        }
        for (at, schema) in all.iter().enumerate() {
            let Some(not) = schema.extra().not else { continue };
            let mut rest = all.clone();
            rest[at] = self.arena.alloc(without_not(schema, self.arena));
            if self.quietly(|me| me.implies(&rest, not, depth + 1)) {
                return true;
            }
        }
        match self.cases(all, &Schema::of_type(Type::Absent)) {
            Some(cases) => cases.iter().all(|case| self.is_empty(case, depth + 1)),
            None => false,
        }
    }

    fn no_text(&mut self, all: &[&'s Schema<'s>]) -> bool {
        let language = Language::of(all);
        if language.most.is_some_and(|most| most < language.least) {
            return true;
        }
        // A single pattern nearly always matches something.
        let unmatched: Vec<&str> = all
            .iter()
            .filter_map(|schema| schema.extra().not)
            .filter(|not| is_only_pattern(not))
            .map(|not| not.extra().pattern)
            .collect();
        if language.patterns.len() + unmatched.len() < 2 && language.least == 0 && language.most.is_none() {
            return false;
        }
        let texts = Texts { unmatched: &unmatched, ..language.texts() };
        matches!(self.memo.shortest(&texts), Ok(None))
    }

    fn no_object(&mut self, all: &[&'s Schema<'s>], depth: usize) -> bool {
        let required = required(all);
        let least = all.iter().filter_map(|schema| schema.extra().min_properties).max().unwrap_or_default();
        let least = least.max(i64::try_from(required.len()).unwrap_or_default());
        if all.iter().filter_map(|schema| schema.extra().max_properties).any(|most| most < least) {
            return true;
        }
        required.iter().any(|name| {
            let values = values_of(all, name);
            !values.is_empty() && !values.iter().all(|schema| takes_null(schema)) && self.is_empty(&values, depth + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns of which each takes far more steps than there are.
    #[test]
    fn comparing_patterns_ends_when_its_steps_are_used_up() {
        let mut memo = Memo { left: 100_000, ..Memo::default() };
        let mut after = Vec::new();
        for n in 0..8 {
            let [old, new] = [60, 61].map(|length| format!(r"^(\pL{{{length}}}|x{n})+$"));
            let texts = Texts { matched: &[&old], unmatched: &[&new], least: 3, most: None };
            assert!(memo.shortest(&texts).is_err());
            after.push(memo.left);
        }
        // The first one uses all of them, and the others are not looked at.
        assert_eq!((&after[..], memo.limited), (&[0; 8][..], 1));
    }
}
