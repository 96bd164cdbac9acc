//! Changes of the schema of one version.

use crate::document::Definitions;
use crate::found::{Found, Spot, Subject};
use crate::moves::{self, Field};
use crate::reach::{Reach, reach};
use crate::types::{self, Types};
use crate::within::{Memo, checked_format};
use crate::{Change, Class, Consumer, bounds};
use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Additional, Code, Flags, Json, Property, Rule, Schema, Type};
use kubeshape_show::sample::Step;
use std::collections::HashSet;
use std::hash::Hash;

use Class::{Breaking, Compatible, Cosmetic, Risky};
use Consumer::{Apply, Cel, Readers, Storage, V2, Writers};

/// What refuses values that were accepted: whoever writes them is refused, and stored objects can be updated as long as they
/// do not change there.
const STRICTER: &[(Consumer, Class)] = &[(Storage, Risky), (Writers, Breaking)];
/// A key of a map in witnesses.
const KEY: &str = "anything";
/// What may refuse them.
const UNKNOWN: &[(Consumer, Class)] = &[(Storage, Risky), (Writers, Risky)];
/// What refuses nothing that was accepted.
const WIDER: &[(Consumer, Class)] = &[(Writers, Compatible)];

/// The definitions that references lead to.
pub(crate) struct Sides<'s, 'a> {
    pub(crate) old: &'s Definitions<'a>,
    pub(crate) new: &'s Definitions<'a>,
    /// Definitions that were compared.
    pub(crate) seen: &'s mut HashSet<(&'a str, &'a str)>,
}

/// Compares the schemas of one version, from the root of objects.
pub(crate) fn compare<'a>(
    version: &str,
    old: &Schema<'a>,
    new: &Schema<'a>,
    sides: Option<Sides<'_, 'a>>,
    found: &mut Found<'a>,
) {
    let mut walk = Walk { version, found, sides, memo: Memo::default(), gone: Vec::new(), came: Vec::new() };
    let mut todo = vec![Pair { old: *old, new: *new, path: String::new(), trail: 0 }];
    while let Some(pair) = todo.pop() {
        let before = todo.len();
        let Some(pair) = walk.resolved(pair) else { continue };
        walk.pair(&pair, &mut todo);
        // The first below comes first.
        todo[before..].reverse();
    }
    let Walk { gone, came, found, .. } = walk;
    moves::tell(&gone, &came, found);
}

/// A value that both schemas describe.
struct Pair<'a> {
    old: Schema<'a>,
    new: Schema<'a>,
    path: String,
    /// How it is reached.
    trail: usize,
}

struct Walk<'w, 'a> {
    version: &'w str,
    found: &'w mut Found<'a>,
    sides: Option<Sides<'w, 'a>>,
    memo: Memo,
    /// Fields that are dropped now.
    gone: Vec<Field<'a>>,
    /// Fields that were dropped before.
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
        let spot = Spot { old: pair.old, new: pair.new, trail: pair.trail, subject };
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
        self.found.push(Change { code, version, path, old, new, detail, effects: effects.to_vec() }, Some(spot));
    }

    /// The schemas that references lead to. None if both lead to definitions that were compared.
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

    fn pair(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        // What references lead to may differ.
        if self.sides.is_none() && old.says_the_same(new) {
            return;
        }
        self.description(pair);
        self.null(pair);
        let (was, is) = (Types::of(old), Types::of(new));
        let (gone, came) = (was.without(is), is.without(was));
        let names = || format!("the type was {}, and is {}", types::name(old), types::name(new));
        if !gone.is_empty() {
            let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Risky), (Apply, Risky), (V2, Breaking)];
            self.push(pair, Code::DiffType, names(), &effects);
        } else if !came.is_empty() {
            self.push(pair, Code::DiffTypeWider, names(), &[(Writers, Compatible), (Readers, Risky), (V2, Risky)]);
        }
        let both = was.both(is);
        if both.is_empty() {
            return;
        }
        self.enumeration(pair);
        for change in bounds::changes(old, new, both) {
            let subject = Subject::Keyword(change.keyword);
            if !change.is_stricter {
                // It may be said elsewhere in the schema.
                if reach(new, old, change.keyword, &mut self.memo) == Reach::None {
                    continue;
                }
                self.push_about(pair, subject, Code::DiffBoundWider, change.detail, WIDER);
                continue;
            }
            match reach(old, new, change.keyword, &mut self.memo) {
                Reach::None => {}
                Reach::Refuses => self.push_about(pair, subject, Code::DiffBound, change.detail, STRICTER),
                Reach::Open(why) => {
                    self.push_about(pair, subject, Code::DiffLogic, open(&change.detail, &why), UNKNOWN);
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
                "apiVersion and kind are required: it is an embedded resource",
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

    /// Texts for people, one change for all of them.
    fn description(&mut self, pair: &Pair<'a>) {
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
    fn null(&mut self, pair: &Pair<'a>) {
        let (old, new) = (&pair.old, &pair.new);
        match (old.flags.any(Flags::NULLABLE), new.flags.any(Flags::NULLABLE)) {
            (true, false) if pair.path.ends_with("[]") => {
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
                    let effects = [(Writers, Compatible), (Readers, Risky)];
                    self.push(pair, Code::DiffNullWider, "null is kept", &effects);
                }
            }
            _ => {}
        }
    }

    fn enumeration(&mut self, pair: &Pair<'a>) {
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
    fn texts(&mut self, pair: &Pair<'a>, both: Types) {
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
            if reach(new, old, keyword, &mut self.memo) == Reach::None {
                return;
            }
            self.push(pair, Code::DiffTextWider, described(keyword, old_text, new_text), WIDER);
            return;
        }
        let detail = described(keyword, old_text, new_text);
        let subject = Subject::Keyword(keyword);
        match reach(old, new, keyword, &mut self.memo) {
            Reach::None if was.is_empty() || reach(new, old, keyword, &mut self.memo) == Reach::None => {}
            Reach::None => self.push(pair, Code::DiffTextWider, format!("{detail}, which accepts more"), WIDER),
            Reach::Refuses => self.push_about(pair, subject, Code::DiffText, detail, STRICTER),
            Reach::Open(why) => {
                self.push_about(pair, subject, Code::DiffTextUnknown, open(&detail, &why), UNKNOWN);
            }
        }
    }

    fn default(&mut self, pair: &Pair<'a>) {
        let (old, new) = (pair.old.default, pair.new.default);
        if old == new {
            return;
        }
        match (old, new) {
            (None, Some(new)) => {
                let detail = format!("the default is {}, and there was none", text(new));
                self.push(
                    pair,
                    Code::DiffDefault,
                    detail,
                    &[(Storage, Risky), (Writers, Compatible), (Readers, Risky)],
                );
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

    fn rules(&mut self, pair: &Pair<'a>) {
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
    fn logic(&mut self, pair: &Pair<'a>) {
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
                if reach(&pair.new, &pair.old, keyword, &mut self.memo) != Reach::None {
                    self.push(pair, Code::DiffLogicWider, detail, WIDER);
                }
                continue;
            }
            let subject = Subject::Keyword(keyword);
            match reach(&pair.old, &pair.new, keyword, &mut self.memo) {
                Reach::None if was.is_empty() => {}
                Reach::None if reach(&pair.new, &pair.old, keyword, &mut self.memo) == Reach::None => {}
                Reach::None => self.push(pair, Code::DiffLogicWider, format!("{detail}; it accepts more"), WIDER),
                Reach::Refuses => self.push_about(pair, subject, Code::DiffLogicStricter, detail, STRICTER),
                Reach::Open(why) => self.push_about(pair, subject, Code::DiffLogic, open(&detail, &why), UNKNOWN),
            }
        }
    }

    fn list(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let kind = |schema: &Schema<'a>| schema.extra().list_type.unwrap_or("atomic");
        let (was, is) = (kind(&pair.old), kind(&pair.new));
        let (old_keys, new_keys) = (pair.old.extra().list_map_keys, pair.new.extra().list_map_keys);
        if was != is || (is == "map" && old_keys != new_keys) {
            let named = |kind: &str, keys: &[&str]| match keys {
                [] => kind.to_owned(),
                keys => format!("{kind} by {}", keys.join(", ")),
            };
            let detail = format!("the list was {}, and is {}", named(was, old_keys), named(is, new_keys));
            let class = if was == "atomic" { Risky } else { Breaking };
            self.push(pair, Code::DiffOwnership, &*detail, &[(Apply, class)]);
            if is_unique_newly(pair, (was, old_keys), (is, new_keys)) {
                self.push(pair, Code::DiffUnique, detail, STRICTER);
            }
        }
        if let (Some(old), Some(new)) = (pair.old.item(), pair.new.item()) {
            let trail = self.found.step(pair.trail, Step::Item);
            todo.push(Pair { old: *old, new: *new, path: format!("{}[]", pair.path), trail });
        }
    }

    fn fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        let is_atomic = |schema: &Schema<'a>| schema.extra().map_type == Some("atomic");
        match (is_atomic(old), is_atomic(new)) {
            (false, true) => self.push(
                pair,
                Code::DiffOwnership,
                "fields were owned one by one, and are owned together",
                &[(Apply, Breaking)],
            ),
            (true, false) => self.push(
                pair,
                Code::DiffOwnership,
                "fields were owned together, and are owned one by one",
                &[(Apply, Risky)],
            ),
            _ => {}
        }
        self.unknown_fields(pair, todo);
        for property in old.properties {
            match new.property(property.name) {
                Some(schema) => {
                    let trail = self.found.step(pair.trail, Step::Property(property.name));
                    todo.push(Pair { old: property.schema, new: *schema, path: below(pair, property), trail });
                }
                None => self.gone(pair, property, todo),
            }
        }
        for property in new.properties.iter().filter(|property| old.property(property.name).is_none()) {
            self.came(pair, property, todo);
        }
        for name in missing(new.required, old.required) {
            // A server gives a field without value its default.
            if new.property(name).is_some_and(|schema| schema.default.is_some()) {
                continue;
            }
            self.push_about(pair, Subject::Field(name), Code::DiffRequired, format!("{name} is required"), STRICTER);
        }
        for name in missing(old.required, new.required) {
            let effects = [(Writers, Compatible), (Readers, Risky)];
            self.push(pair, Code::DiffRequiredGone, format!("{name} is no longer required"), &effects);
        }
    }

    /// Whether fields without a property are kept.
    fn unknown_fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        match (rest(old), rest(new)) {
            (Rest::Dropped, Rest::Dropped) | (Rest::Kept, Rest::Kept) => {}
            (Rest::Schema(old), Rest::Schema(new)) => {
                let trail = self.found.step(pair.trail, Step::Key(KEY));
                todo.push(Pair { old: *old, new: *new, path: format!("{}.*", pair.path), trail });
            }
            (Rest::Dropped, _) => self.push(pair, Code::DiffKeptWider, "fields without a schema are kept", WIDER),
            (Rest::Schema(_), Rest::Kept) => {
                self.push(pair, Code::DiffKeptWider, "values of fields can be anything", WIDER);
            }
            (_, Rest::Dropped) => {
                let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking)];
                let detail = "fields without a schema are dropped, and were kept";
                self.push_about(pair, Subject::Field(KEY), Code::DiffKept, detail, &effects);
            }
            (Rest::Kept, Rest::Schema(schema)) if Types::of(schema) == Types::ANY => {
                let trail = self.found.step(pair.trail, Step::Key(KEY));
                todo.push(Pair { old: anything(), new: *schema, path: format!("{}.*", pair.path), trail });
            }
            (Rest::Kept, Rest::Schema(schema)) => {
                let detail =
                    format!("the values of fields must be of type {}, and could be anything", types::name(schema));
                self.push_about(pair, Subject::Field(KEY), Code::DiffType, detail, STRICTER);
            }
        }
    }

    /// The field of the change that is told next.
    fn field(&self, pair: &Pair<'a>, property: &Property<'a>, path: &str) -> Field<'a> {
        Field {
            at: self.found.changes.len(),
            name: property.name,
            parent: pair.path.clone(),
            path: path.to_owned(),
            schema: property.schema,
        }
    }

    fn gone(&mut self, pair: &Pair<'a>, property: &Property<'a>, todo: &mut Vec<Pair<'a>>) {
        let path = below(pair, property);
        let places = (property.at, pair.new.at);
        let trail = self.found.step(pair.trail, Step::Property(property.name));
        let spot = Spot { old: property.schema, new: Schema::of_type(Type::Absent), trail, subject: Subject::Value };
        match rest(&pair.new) {
            Rest::Schema(schema) => todo.push(Pair { old: property.schema, new: *schema, path, trail }),
            Rest::Kept => {
                let detail = "the field has no schema any more, and its values are kept".to_owned();
                let effects = [(Writers, Compatible), (Readers, Risky), (Apply, Risky), (V2, Risky)];
                self.at(&spot, path, places, Code::DiffTypeWider, detail, &effects);
            }
            Rest::Dropped => {
                let detail = "its values are dropped, and strict requests that name it are refused".to_owned();
                let effects =
                    [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky), (V2, Breaking)];
                self.gone.push(self.field(pair, property, &path));
                self.at(&spot, path, places, Code::DiffFieldGone, detail, &effects);
            }
        }
    }

    fn came(&mut self, pair: &Pair<'a>, property: &Property<'a>, todo: &mut Vec<Pair<'a>>) {
        let path = below(pair, property);
        let places = (pair.old.at, property.at);
        let trail = self.found.step(pair.trail, Step::Key(property.name));
        let spot = Spot { old: Schema::of_type(Type::Absent), new: property.schema, trail, subject: Subject::Value };
        match rest(&pair.old) {
            Rest::Schema(schema) => todo.push(Pair { old: *schema, new: property.schema, path, trail }),
            Rest::Kept if Types::of(&property.schema) == Types::ANY => {
                todo.push(Pair { old: anything(), new: property.schema, path, trail });
            }
            Rest::Kept => {
                let detail =
                    format!("its values must be of type {}, and could be anything", types::name(&property.schema));
                self.at(&spot, path, places, Code::DiffType, detail, STRICTER);
            }
            Rest::Dropped => {
                let effects = [(Writers, Compatible), (Readers, Compatible), (V2, Compatible)];
                self.came.push(self.field(pair, property, &path));
                self.at(&spot, path.clone(), places, Code::DiffFieldNew, "the field is new".to_owned(), &effects);
                if let Some(default) = property.schema.default {
                    let detail = format!("the default is {}, and there was none", text(default));
                    let effects = [(Storage, Risky), (Writers, Compatible), (Readers, Risky)];
                    self.at(&spot, path, places, Code::DiffDefault, detail, &effects);
                }
            }
        }
    }
}

/// Whether a list can hold items that the old type tells apart and the new one does not.
fn is_unique_newly(pair: &Pair<'_>, (was, old_keys): (&str, &[&str]), (is, new_keys): (&str, &[&str])) -> bool {
    if let (Some(old), Some(new)) = (pair.old.item(), pair.new.item())
        && Types::of(old).both(Types::of(new)).is_empty()
    {
        return false;
    }
    match (was, is) {
        // Equal items have equal keys.
        (_, "atomic") | ("map", "set") => false,
        // What differs in some of the keys differs in all of them.
        ("map", "map") => old_keys.iter().any(|key| !new_keys.contains(key)),
        _ => true,
    }
}

/// What a text was and is.
fn described(keyword: &str, was: &str, is: &str) -> String {
    match (was, is) {
        (was, "") => format!("{keyword} was {was:?}, and there is none"),
        ("", is) => format!("{keyword} is {is:?}, and there was none"),
        (was, is) => format!("{keyword} was {was:?}, and is {is:?}"),
    }
}

/// A change of which it is not known what it refuses, and why.
fn open(detail: &str, why: &str) -> String {
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

/// The schema of values that could be anything.
fn anything<'a>() -> Schema<'a> {
    let any = Schema::of_type(Type::Absent);
    Schema { flags: any.flags.with(Flags::PRESERVE_UNKNOWN), subtree: any.subtree.with(Flags::PRESERVE_UNKNOWN), ..any }
}

/// What becomes of fields that have no property.
enum Rest<'a> {
    Dropped,
    Kept,
    Schema(&'a Schema<'a>),
}

fn rest<'a>(schema: &Schema<'a>) -> Rest<'a> {
    match schema.additional {
        Some(Additional::Schema(schema)) => Rest::Schema(schema),
        Some(Additional::Allowed(true)) => Rest::Kept,
        _ if schema.flags.any(Flags::PRESERVE_UNKNOWN) => Rest::Kept,
        _ => Rest::Dropped,
    }
}

/// The path of a property. Of a long name, the beginning: it would stand in every path below.
fn below(pair: &Pair<'_>, property: &Property<'_>) -> String {
    const LONGEST: usize = 253;
    let name = match property.name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &property.name[..end]),
        None => property.name.to_owned(),
    };
    if pair.path.is_empty() { name } else { format!("{}.{name}", pair.path) }
}

/// What the other list lacks.
fn missing<T: Clone + Eq + Hash>(all: &[T], of: &[T]) -> Vec<T> {
    let of: HashSet<&T> = of.iter().collect();
    all.iter().filter(|value| !of.contains(value)).cloned().collect()
}

fn not<'a>(schema: Option<&'a Schema<'a>>) -> &'a [Schema<'a>] {
    schema.map_or(&[], std::slice::from_ref)
}

/// Values that are named, and how many more there are.
fn listed(mut values: Vec<String>) -> String {
    const NAMED: usize = 8;
    let more = values.len().saturating_sub(NAMED);
    values.truncate(NAMED);
    let names = values.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

fn text(value: &Json<'_>) -> String {
    let mut out = Vec::new();
    value.print(&mut out, Escape::Html);
    String::from_utf8_lossy(&out).into_owned()
}
