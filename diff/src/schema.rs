//! Changes of the schema of one version.

use crate::document::Definitions;
use crate::found::{Found, Spot, Subject};
use crate::moves::{self, Field};
use crate::own::Own;
use crate::reach::{Reach, Taken, reach};
use crate::types::{self, Types};
use crate::within::{Memo, checked_format};
use crate::{Change, Class, Consumer, bounds};
use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Additional, Bump, Code, Flags, Json, Property, Rule, Schema, Type};
use kubeshape_show::sample::Step;
use kubeshape_smd::Value;
use kubeshape_validate::object::{Validator, default as inserted};
use std::collections::HashSet;
use std::hash::Hash;
use std::rc::Rc;

use Class::{Breaking, Compatible, Cosmetic, Risky};
use Consumer::{Apply, Cel, Readers, Storage, V2, Writers};

/// What refuses values that were accepted: whoever writes them is refused, and stored objects can be updated as long as they
/// do not change there.
const STRICTER: &[(Consumer, Class)] = &[(Storage, Risky), (Writers, Breaking)];
/// A key of a map in witnesses.
const KEY: &str = "anything";
/// What becomes of owners where there is no schema any more, and where there is one now.
const UNKNOWN_NOW: &str =
    "parts were owned as the schema said, and there is none: objects field by field, lists as a whole";
const KNOWN_NOW: &str =
    "parts are owned as the schema says, and there was none: objects field by field, lists as a whole";
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

/// What the schemas are of.
pub(crate) enum Of<'s, 'a> {
    /// A definition.
    Definition {
        /// What all its objects have.
        api_version: &'s str,
        kind: &'s str,
        /// Whether the old and the new definition have `spec.preserveUnknownFields`: a server then drops no field and no null.
        keeps: (bool, bool),
    },
    /// OpenAPI documents, which say all that they mean.
    Documents(Sides<'s, 'a>),
}

/// Compares the schemas of one version, from the root of objects.
pub(crate) fn compare<'a>(version: &str, old: &Schema<'a>, new: &Schema<'a>, of: Of<'_, 'a>, found: &mut Found<'a>) {
    let (own, texts, keeps, sides) = match of {
        Of::Definition { api_version, kind, keeps } => (Own::Root, (api_version, kind), keeps, None),
        Of::Documents(sides) => (Own::Nothing, ("", ""), (false, false), Some(sides)),
    };
    let mut walk =
        Walk { version, found, texts, sides, keeps, memo: Memo::default(), gone: Vec::new(), came: Vec::new() };
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
    /// What it is to the old server, and to the new one.
    own: (Own, Own),
    /// What the old server demands beside the schema.
    also: Option<&'static Schema<'static>>,
    /// What around it looks at the value as it is after defaults, if something does.
    judge: Option<Judge>,
    /// Whether there is a rule above it.
    is_ruled: bool,
    /// Whether it is a part of an atomic list or map, before and after: whoever owns that owns it.
    is_whole: bool,
    /// The keys of the list whose item it is.
    keys: &'a [&'a str],
}

/// What looks at a whole value: its path, and a keyword of its new schema.
type Judge = (Rc<str>, &'static str);

impl<'a> Pair<'a> {
    /// A value inside this one.
    fn below(&self, old: Schema<'a>, new: Schema<'a>, path: String, trail: usize, name: &str) -> Pair<'a> {
        let own = |own: Own, schema: &Schema<'a>| own.below(name, schema.flags.any(Flags::EMBEDDED_RESOURCE));
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

    /// What the old server takes.
    fn taken_before(&self) -> Taken<'a> {
        Taken { schema: self.old, also: self.also, own: self.own.0 }
    }

    /// What the new server takes.
    fn taken_now(&self) -> Taken<'a> {
        Taken { schema: self.new, also: self.also, own: self.own.1 }
    }

    /// Whether rules see the values inside this one.
    fn rules_below(&self) -> bool {
        self.is_ruled || !self.new.extra().validations.is_empty()
    }

    /// What looks at a value inside this one.
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
    found: &'w mut Found<'a>,
    /// The `apiVersion` and the `kind` of objects.
    texts: (&'w str, &'w str),
    sides: Option<Sides<'w, 'a>>,
    /// Whether nothing is dropped, whatever the schema says: before, and now.
    keeps: (bool, bool),
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
        self.found.push(Change { code, version, path, old, new, detail, effects: effects.to_vec() }, Some(spot));
    }

    /// What became of fields without a property.
    fn rest_before(&self, schema: &Schema<'a>, own: Own) -> Rest<'a> {
        if self.keeps.0 { rest(schema, own).kept() } else { rest(schema, own) }
    }

    /// What becomes of them now.
    fn rest_now(&self, schema: &Schema<'a>, own: Own) -> Rest<'a> {
        if self.keeps.1 { rest(schema, own).kept() } else { rest(schema, own) }
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

    /// Whether there is nothing to tell. What references lead to may differ.
    fn is_same(&self, old: &Schema<'a>, new: &Schema<'a>) -> bool {
        self.sides.is_none() && old.says_the_same(new)
    }

    /// Goes on with a value inside another one, if there is something to tell of it.
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
            Own::ApiVersion => Some(self.texts.0),
            Own::Kind => Some(self.texts.1),
            _ => None,
        };
        if let Some(text) = only {
            self.only(pair, text);
            return;
        }
        self.null(pair);
        let (was, is) = (Types::of(old), Types::of(new));
        let (gone, came) = (was.without(is), is.without(was));
        let names = || format!("the type was {}, and is {}", types::name(old), types::name(new));
        if !gone.is_empty() {
            let mut effects = vec![(Storage, Breaking), (Writers, Breaking), (Readers, Risky)];
            // The types of metadata are the server's, whatever a definition says.
            if pair.also.is_none() && !was.owned().without(is.owned()).is_empty() {
                effects.push((Apply, Risky));
            }
            effects.push((V2, Breaking));
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
                if reach(&pair.taken_now(), old, change.keyword, &mut self.memo) == Reach::None {
                    continue;
                }
                self.push_about(pair, subject, Code::DiffBoundWider, change.detail, WIDER);
                continue;
            }
            match reach(&pair.taken_before(), new, change.keyword, &mut self.memo) {
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

    /// A value that every object has alike.
    fn only(&mut self, pair: &Pair<'a>, text: &str) {
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

    fn default(&mut self, pair: &Pair<'a>) {
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
            // Rules compare lists, sets and maps each in their own way.
            let mut effects = vec![(Writers, Risky), (Apply, class), (Cel, Risky)];
            effects.retain(|(consumer, _)| match consumer {
                Apply => !pair.is_whole,
                _ => pair.rules_below(),
            });
            if !effects.is_empty() {
                self.push(pair, Code::DiffOwnership, &*detail, &effects);
            }
            if is_unique_newly(pair, (was, old_keys), (is, new_keys)) {
                self.push(pair, Code::DiffUnique, detail, STRICTER);
            }
        }
        // Without a schema, items are anything.
        if let Some(new) = pair.new.item() {
            let old = pair.old.item().copied().unwrap_or_else(anything);
            self.descend(pair, (old, *new), Step::Item, || format!("{}[]", pair.path), todo);
        }
    }

    fn fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        let is_atomic = |schema: &Schema<'a>| schema.extra().map_type == Some("atomic");
        match (is_atomic(old), is_atomic(new)) {
            _ if pair.is_whole => {}
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
        self.own_fields(pair, todo);
        for property in old.properties {
            match new.property(property.name) {
                None if pair.own.1.field(property.name).is_some() => {}
                Some(schema) => {
                    let step = Step::Property(property.name);
                    self.descend(pair, (property.schema, *schema), step, || below(pair, property.name), todo);
                }
                None => self.gone(pair, property, todo),
            }
        }
        for property in new.properties.iter().filter(|property| old.property(property.name).is_none()) {
            if pair.own.0.field(property.name).is_none() {
                self.came(pair, property, todo);
            }
        }
        for name in missing(new.required, old.required) {
            // A server gives a field without value its default.
            if pair.own.0.always().contains(&name) || new.property(name).is_some_and(|schema| schema.default.is_some())
            {
                continue;
            }
            self.push_about(pair, Subject::Field(name), Code::DiffRequired, format!("{name} is required"), STRICTER);
        }
        for name in missing(old.required, new.required) {
            let effects = [(Writers, Compatible), (Readers, Risky)];
            self.push(pair, Code::DiffRequiredGone, format!("{name} is no longer required"), &effects);
        }
    }

    /// Fields that a server knows of itself on one side, and that one of the schemas does not name.
    fn own_fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (was, is) = pair.own;
        let mut dropped = Vec::new();
        for &name in was.fields() {
            let Some(own) = was.field(name) else { continue };
            let at = |schema: &Schema<'a>, at: u32| Schema { at, ..*schema };
            let (before, after) = match (pair.old.property(name), pair.new.property(name), is.field(name)) {
                // These are compared, or told, as other fields are; or nobody says anything of them.
                (Some(_), Some(_), _) | (Some(_), None, None) | (None, None, Some(_)) => continue,
                (Some(old), None, Some(own)) => (*old, at(own, pair.new.at)),
                (None, Some(new), _) => (at(own, pair.old.at), *new),
                (None, None, None) => match self.rest_now(&pair.new, is) {
                    Rest::Schema(schema) => (at(own, pair.old.at), *schema),
                    Rest::Kept => continue,
                    Rest::Dropped => {
                        dropped.push(name);
                        continue;
                    }
                },
            };
            self.descend(pair, (before, after), Step::Property(name), || below(pair, name), todo);
        }
        if !dropped.is_empty() {
            let detail = format!("it is no embedded resource any more, and its {} are dropped", dropped.join(", "));
            let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky)];
            self.push(pair, Code::DiffFieldGone, detail, &effects);
        }
    }

    /// Whether fields without a property are kept.
    fn unknown_fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        match (self.rest_before(old, pair.own.0), self.rest_now(new, pair.own.1)) {
            (Rest::Dropped, Rest::Dropped) | (Rest::Kept, Rest::Kept) => {}
            // It is told once.
            (Rest::Dropped, Rest::Kept) | (Rest::Kept, Rest::Dropped) if self.keeps.0 != self.keeps.1 => {}
            (Rest::Schema(old), Rest::Schema(new)) => {
                self.descend(pair, (*old, *new), Step::Key(KEY), || format!("{}.*", pair.path), todo);
            }
            (Rest::Dropped, _) => self.push(pair, Code::DiffKeptWider, "fields without a schema are kept", WIDER),
            (Rest::Schema(schema), Rest::Kept) => {
                self.push(pair, Code::DiffKeptWider, "values of fields can be anything", WIDER);
                if !is_owned_as_unknown(schema) {
                    self.push_about(pair, Subject::Field(KEY), Code::DiffOwnership, UNKNOWN_NOW, &[(Apply, Risky)]);
                }
            }
            (_, Rest::Dropped) => {
                let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky)];
                let detail = "fields without a schema are dropped, and were kept";
                self.push_about(pair, Subject::Field(KEY), Code::DiffKept, detail, &effects);
            }
            (Rest::Kept, Rest::Schema(schema)) if Types::of(schema) == Types::ANY => {
                self.descend(pair, (anything(), *schema), Step::Key(KEY), || format!("{}.*", pair.path), todo);
            }
            (Rest::Kept, Rest::Schema(schema)) => {
                let detail =
                    format!("the values of fields must be of type {}, and could be anything", types::name(schema));
                self.push_about(pair, Subject::Field(KEY), Code::DiffType, detail, STRICTER);
                if !is_owned_as_unknown(schema) {
                    self.push_about(pair, Subject::Field(KEY), Code::DiffOwnership, KNOWN_NOW, &[(Apply, Risky)]);
                }
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
        let path = below(pair, property.name);
        let places = (property.at, pair.new.at);
        let trail = self.found.step(pair.trail, Step::Property(property.name));
        let (old, new) = (property.schema, Schema::of_type(Type::Absent));
        let spot = Spot { old, new, also: None, own: Own::Nothing, trail, subject: Subject::Value };
        match self.rest_now(&pair.new, pair.own.1) {
            Rest::Schema(schema) => todo.push(pair.below(property.schema, *schema, path, trail, property.name)),
            Rest::Kept => {
                let detail = "the field has no schema any more, and its values are kept".to_owned();
                let mut effects = vec![(Writers, Compatible), (Readers, Risky)];
                if !is_owned_as_unknown(&property.schema) {
                    effects.push((Apply, Risky));
                }
                effects.push((V2, Risky));
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
        let path = below(pair, property.name);
        let places = (pair.old.at, property.at);
        let trail = self.found.step(pair.trail, Step::Key(property.name));
        let (old, new) = (Schema::of_type(Type::Absent), property.schema);
        let spot = Spot { old, new, also: None, own: Own::Nothing, trail, subject: Subject::Value };
        match self.rest_before(&pair.old, pair.own.0) {
            Rest::Schema(schema) => todo.push(pair.below(*schema, property.schema, path, trail, property.name)),
            Rest::Kept if Types::of(&property.schema) == Types::ANY => {
                todo.push(pair.below(anything(), property.schema, path, trail, property.name));
            }
            Rest::Kept => {
                let detail =
                    format!("its values must be of type {}, and could be anything", types::name(&property.schema));
                self.at(&spot, path.clone(), places, Code::DiffType, detail, STRICTER);
                if !is_owned_as_unknown(&property.schema) {
                    let effects = [(Apply, Risky)];
                    self.at(&spot, path.clone(), places, Code::DiffOwnership, KNOWN_NOW.to_owned(), &effects);
                }
                self.first_default(pair, property, &spot, path, places);
            }
            Rest::Dropped => {
                let effects = [(Writers, Compatible), (Readers, Compatible), (V2, Compatible)];
                self.came.push(self.field(pair, property, &path));
                self.at(&spot, path.clone(), places, Code::DiffFieldNew, "the field is new".to_owned(), &effects);
                self.first_default(pair, property, &spot, path, places);
            }
        }
    }

    /// The default of a field that had no schema.
    fn first_default(
        &mut self,
        pair: &Pair<'a>,
        property: &Property<'a>,
        spot: &Spot<'a>,
        path: String,
        places: (u32, u32),
    ) {
        let Some(default) = property.schema.default else { return };
        let detail = format!("the default is {}, and there was none", text(default));
        let (detail, class) = judged(&detail, pair.judge_of(property.name).as_ref());
        let class = if takes_default(&property.schema) { class } else { Risky };
        let effects = [(Storage, Risky), (Writers, class), (Readers, Risky)];
        self.at(spot, path, places, Code::DiffDefault, detail, &effects);
    }
}

/// Whether a schema accepts its own default: that of an integer or a text can be an object.
fn takes_default(schema: &Schema<'_>) -> bool {
    let Some(default) = schema.default else { return true };
    let arena = Bump::new();
    let schema: &Schema<'_> = arena.alloc(*schema);
    let value = inserted(Value::from_json(default, &arena), Some(schema), &arena);
    Validator::new(schema, &arena).is_valid(value)
}

/// Whether server-side apply owns a list or a map as a whole.
fn is_atomic(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    schema.ty == Type::Array && !matches!(extra.list_type, Some("set" | "map")) || extra.map_type == Some("atomic")
}

/// Whether server-side apply owns the parts of a value as it would without a schema: fields of objects one by one, lists as a whole.
fn is_owned_as_unknown(schema: &Schema<'_>) -> bool {
    let mut todo = vec![schema];
    while let Some(schema) = todo.pop() {
        let extra = schema.extra();
        if matches!(extra.list_type, Some("set" | "map")) || extra.map_type == Some("atomic") {
            return false;
        }
        todo.extend(schema.properties.iter().map(|property| &property.schema));
        todo.extend(schema.additional_schema());
    }
    true
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

/// What a change of stored values is for writers: something above may look at them.
fn judged(detail: &str, judge: Option<&Judge>) -> (String, Class) {
    match judge {
        None => (detail.to_owned(), Compatible),
        Some((path, keyword)) => {
            let at = if path.is_empty() { "the object" } else { path };
            (format!("{detail}; whether {keyword} of {at} then refuses what was accepted cannot be told"), Risky)
        }
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

impl Rest<'_> {
    /// The same where a server drops nothing.
    fn kept(self) -> Self {
        if matches!(self, Rest::Dropped) { Rest::Kept } else { self }
    }
}

fn rest<'a>(schema: &Schema<'a>, own: Own) -> Rest<'a> {
    match schema.additional {
        _ if own.is_metadata() => Rest::Kept,
        Some(Additional::Schema(schema)) => Rest::Schema(schema),
        Some(Additional::Allowed(true)) => Rest::Kept,
        _ if schema.flags.any(Flags::PRESERVE_UNKNOWN) => Rest::Kept,
        _ => Rest::Dropped,
    }
}

/// The path of a property. Of a long name, the beginning: it would stand in every path below.
fn below(pair: &Pair<'_>, name: &str) -> String {
    const LONGEST: usize = 253;
    let name = match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
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
