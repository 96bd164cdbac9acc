//! Restrictions by alternatives: schemas below `allOf`, `anyOf`, `oneOf` and `not`, which declare nothing.

use super::Converter;
use super::facts::{Facts, Group, Types, Union};
use super::spine::{Build, any, is_empty, property};
use kubeshape_schema::{Code, Extra, Flags, Items, Schema, Type};

/// More properties are not listed in a restriction.
const MOST_NAMES: usize = 200;

/// An alternative.
#[derive(Clone, Copy, Debug)]
struct Branch<'a> {
    schema: Schema<'a>,
    /// Whether it says exactly what the source says. Otherwise it accepts more.
    exact: bool,
    /// Whether no value satisfies it, because it has another type.
    never: bool,
}

/// Returns the types that a spine accepts.
fn types_of(spine: &Schema<'_>) -> Types {
    match spine.ty {
        Type::String => Types::STRING,
        Type::Integer => Types::INTEGER,
        Type::Number => Types::NUMBER,
        Type::Boolean => Types::BOOLEAN,
        Type::Object => Types::OBJECT,
        Type::Array => Types::ARRAY,
        _ if spine.flags.any(Flags::INT_OR_STRING) => Types::INT_OR_STRING,
        _ => Types::ALL,
    }
}

impl<'a> Converter<'a> {
    fn schema_of(&self, extra: &Extra<'a>) -> Schema<'a> {
        Schema { extra: Some(self.arena.alloc(*extra)), ..Schema::default() }
    }

    fn any_of(&self, branches: &[Schema<'a>]) -> Schema<'a> {
        self.schema_of(&Extra { any_of: self.arena.alloc_slice_copy(branches), ..Extra::default() })
    }

    fn not(&self, schema: Schema<'a>) -> Schema<'a> {
        self.schema_of(&Extra { not: Some(self.arena.alloc(schema)), ..Extra::default() })
    }

    fn requires(&self, names: &[&'a str]) -> Schema<'a> {
        Schema { required: self.arena.alloc_slice_copy(names), ..Schema::default() }
    }

    /// Returns what schemas restrict, without what the spine says.
    fn branch(&mut self, facts: &Facts<'a>, spine: &Schema<'a>, ignore_type: bool) -> Branch<'a> {
        self.spent += 24;
        let mut build = Build { schema: Schema { at: facts.at, ..Schema::default() }, ..Build::default() };
        let (own, known) = (facts.types, types_of(spine));
        if facts.all_types().and(known) == Types::NONE && !facts.is_nullable() {
            return Branch { schema: Schema::default(), exact: true, never: true };
        }
        let mut exact = !facts.lost;
        if !known.is_in(own) && !ignore_type {
            if own == Types::INTEGER && known.is_in(Types::NUMBER) {
                let multiple = Extra { multiple_of: Some(1.0), ..Extra::default() };
                build.all_of.push(self.schema_of(&multiple));
            } else {
                exact = false;
                self.lose(Code::ToCrdValidation, facts.at, format!("type {} of an alternative", own.words()));
            }
        }
        if spine.flags.any(Flags::NULLABLE) && !facts.nulls && !ignore_type {
            exact = false;
            self.lose(Code::ToCrdValidation, facts.at, "null, which an alternative rejects");
        }
        let texts = [
            (facts.description.filter(|node| node.text() != spine.description), "description"),
            (facts.title.filter(|node| node.text() != spine.extra().title), "title"),
            (facts.default, "default"),
            (facts.example, "example"),
            (facts.docs, "externalDocs"),
        ];
        for (node, name) in texts {
            if let Some(node) = node {
                self.lose(Code::ToCrdDropped, node.index(), format!("{name} of an alternative"));
            }
        }
        let patterns = self.notes.len();
        self.values(facts, &mut build);
        exact &= !self.notes[patterns..].iter().any(|note| note.code == Code::ToCrdPattern);
        let has_null =
            facts.null_branch && facts.is_nullable() || facts.values.iter().flatten().any(|value| value.is_null());
        if facts.values.is_some() && has_null && spine.flags.any(Flags::NULLABLE) {
            // A server accepts null for no enum.
            build.schema.enumeration = &[];
            exact = false;
            self.lose(Code::ToCrdValidation, facts.at, "enum with null of an alternative");
        }
        exact &= self.branch_fields(facts, spine, &mut build);
        exact &= self.branch_items(facts, spine, &mut build);
        exact &= self.unsaid(facts, spine);
        exact &= self.junctors(facts, spine, &mut build);
        Branch { schema: build.finish(self.arena), exact, never: false }
    }

    /// Reports what only a spine can say. Returns whether there is nothing.
    fn unsaid(&mut self, facts: &Facts<'a>, spine: &Schema<'a>) -> bool {
        let found = [
            (facts.pattern_properties.first().map(|(_, schema)| schema.node.index()), "patternProperties"),
            (facts.names.first().map(|node| node.index()), "propertyNames"),
            (facts.unique.filter(|_| spine.extra().list_type != Some("set")), "uniqueItems"),
            (facts.contains.first().map(|contains| contains.schema.node.index()), "contains"),
            (facts.rules.first().map(|node| node.index()), "x-kubernetes-validations"),
        ];
        let mut exact = true;
        for (at, name) in found {
            if let Some(at) = at {
                exact = false;
                self.lose(Code::ToCrdValidation, at, format!("{name} of an alternative"));
            }
        }
        if let Some(name) = facts.list_type.or(facts.map_type) {
            self.lose(Code::ToCrdDropped, facts.at, format!("list or map type {name} of an alternative"));
        }
        exact
    }

    fn branch_fields(&mut self, facts: &Facts<'a>, spine: &Schema<'a>, build: &mut Build<'a>) -> bool {
        let mut exact = true;
        let mut properties = Vec::new();
        for (name, schemas) in &facts.properties {
            let at = schemas.first().map_or(facts.at, |schema| schema.node.index());
            let inner = self.facts(&super::Spec { all: schemas.clone(), loose: Vec::new() });
            let Some(declared) = spine.property(name) else {
                // The value may be no object at all.
                exact = false;
                self.lose(Code::ToCrdValidation, at, format!("property {name} of an alternative"));
                continue;
            };
            let branch = self.branch(&inner, declared, false);
            exact &= branch.exact;
            if branch.never {
                let absent = self.not(self.requires(&[name]));
                build.all_of.push(absent);
            } else if !is_empty(&branch.schema) {
                if *name == "metadata" {
                    exact = false;
                    self.lose(Code::ToCrdValidation, at, "metadata of an alternative");
                } else {
                    properties.push(property(name, at, branch.schema));
                }
            }
        }
        properties.sort_by(|a, b| kubeshape_schema::order::utf16(a.name, b.name));
        build.schema.properties = self.arena.alloc_slice_copy(&properties);
        if let Some(schema) = facts.additional.first() {
            let at = schema.node.index();
            let inner = self.facts(&super::Spec { all: facts.additional.clone(), loose: Vec::new() });
            let said = spine.additional_schema().copied().unwrap_or_else(|| any(at));
            let branch = self.branch(&inner, &said, false);
            if branch.never || !branch.exact || !is_empty(&branch.schema) {
                exact = false;
                self.lose(Code::ToCrdValidation, at, "additionalProperties of an alternative");
            }
        }
        let Some(at) = facts.closed else { return exact };
        let others: Vec<&'a str> =
            spine.properties.iter().map(|p| p.name).filter(|name| !facts.properties.contains_key(name)).collect();
        if spine.flags.any(Flags::PRESERVE_UNKNOWN) || spine.additional.is_some() || others.len() > MOST_NAMES {
            self.lose(Code::ToCrdValidation, at, "additionalProperties of an alternative");
            return false;
        }
        if !others.is_empty() {
            self.spent += others.iter().map(|name| name.len() + 16).sum::<usize>();
            let present: Vec<Schema<'a>> = others.iter().map(|name| self.requires(&[name])).collect();
            let absent = self.not(self.any_of(&present));
            build.all_of.push(absent);
        }
        // Fields that nobody declares are dropped before the alternatives see them.
        self.lose(Code::ToCrdClosed, at, "of an alternative");
        false
    }

    fn branch_items(&mut self, facts: &Facts<'a>, spine: &Schema<'a>, build: &mut Build<'a>) -> bool {
        let Some(schema) = facts.items.first() else { return true };
        let at = schema.node.index();
        let Some(declared) = spine.item().filter(|_| !facts.tuple) else {
            self.lose(Code::ToCrdValidation, at, "items of an alternative");
            return false;
        };
        let inner = self.facts(&super::Spec { all: facts.items.clone(), loose: Vec::new() });
        let branch = self.branch(&inner, declared, false);
        if branch.never {
            // Only the empty list is left.
            build.extra.max_items = Some(0);
        } else if !is_empty(&branch.schema) {
            build.schema.items = Some(Items::One(self.arena.alloc(branch.schema)));
        }
        branch.exact
    }

    /// Adds alternatives, negations and dependencies. Returns whether they are exact.
    pub(super) fn junctors(&mut self, facts: &Facts<'a>, spine: &Schema<'a>, build: &mut Build<'a>) -> bool {
        let mut exact = true;
        for union in &facts.unions {
            exact &= match union.group {
                Group::Loose => true,
                Group::Any | Group::One => self.union(union, spine, build),
                Group::If => self.condition(union, spine, build),
                Group::Dependent => {
                    let Some(facts) = union.branches.first() else { continue };
                    let branch = self.branch(facts, spine, false);
                    let absent = self.not(self.requires(&[union.name]));
                    if branch.never {
                        build.all_of.push(absent);
                    } else if !is_empty(&branch.schema) {
                        build.all_of.push(self.any_of(&[absent, branch.schema]));
                    }
                    branch.exact
                }
            };
        }
        for (not, at) in &facts.nots {
            let branch = self.branch(not, spine, false);
            if branch.never {
                continue;
            }
            if branch.exact {
                let not = self.not(branch.schema);
                add_not(build, not);
            } else {
                exact = false;
                self.lose(Code::ToCrdValidation, *at, "not");
            }
        }
        for (name, names) in &facts.dependents {
            self.spent += 40;
            let absent = self.not(self.requires(&[name]));
            build.all_of.push(self.any_of(&[absent, self.requires(names)]));
        }
        exact
    }

    /// Adds `if`, `then` and `else`.
    fn condition(&mut self, union: &Union<'a>, spine: &Schema<'a>, build: &mut Build<'a>) -> bool {
        let [condition, then, other] = union.branches.as_slice() else { return true };
        let condition = self.branch(condition, spine, false);
        if !condition.exact {
            self.lose(Code::ToCrdValidation, union.at, "if");
            return false;
        }
        let (then, other) = (self.branch(then, spine, false), self.branch(other, spine, false));
        let not = self.not(condition.schema);
        if !condition.never {
            if then.never {
                build.all_of.push(not);
            } else if !is_empty(&then.schema) {
                build.all_of.push(self.any_of(&[not, then.schema]));
            }
        }
        if other.never && !condition.never {
            build.all_of.push(condition.schema);
        } else if !is_empty(&other.schema) {
            let either = if condition.never { other.schema } else { self.any_of(&[condition.schema, other.schema]) };
            build.all_of.push(either);
        }
        then.exact && other.exact
    }

    /// Adds `anyOf` or `oneOf`.
    fn union(&mut self, union: &Union<'a>, spine: &Schema<'a>, build: &mut Build<'a>) -> bool {
        let known = types_of(spine);
        if are_apart(&union.branches) {
            // Keywords restrict values of their own type only, so all alternatives can apply at once.
            let mut exact = true;
            let mut sum = Types::NONE;
            for facts in &union.branches {
                sum = sum.or(facts.types);
                let branch = self.branch(facts, spine, true);
                exact &= branch.exact;
                if !branch.never && !is_empty(&branch.schema) {
                    build.all_of.push(branch.schema);
                }
            }
            if !known.is_in(sum) {
                exact = false;
                self.lose(Code::ToCrdValidation, union.at, "the types of alternatives");
            }
            return exact;
        }
        let branches: Vec<Branch<'a>> = union.branches.iter().map(|facts| self.branch(facts, spine, false)).collect();
        let kept: Vec<Branch<'a>> = branches.into_iter().filter(|branch| !branch.never).collect();
        let exact = kept.iter().all(|branch| branch.exact);
        let schemas: Vec<Schema<'a>> = kept.iter().map(|branch| branch.schema).collect();
        let is_one = union.group == Group::One && exact;
        if union.group == Group::One && !exact {
            self.lose(Code::ToCrdOneOf, union.at, "");
        }
        match schemas.as_slice() {
            [] => {
                self.lose(Code::ToCrdValidation, union.at, "no alternative fits the type");
                return false;
            }
            [only] if is_empty(only) => {}
            [only] => build.all_of.push(*only),
            _ if !is_one && schemas.iter().any(is_empty) => {
                // One of the alternatives accepts everything.
                if !exact {
                    self.lose(Code::ToCrdValidation, union.at, "alternatives, because one of them accepts any value");
                }
            }
            several => {
                let list = self.arena.alloc_slice_copy(several);
                let extra = if is_one {
                    Extra { one_of: list, ..Extra::default() }
                } else {
                    Extra { any_of: list, ..Extra::default() }
                };
                self.add_alternatives(build, &extra);
            }
        }
        exact
    }

    /// Adds `anyOf` or `oneOf` where there is room.
    fn add_alternatives(&mut self, build: &mut Build<'a>, extra: &Extra<'a>) {
        if extra.any_of.is_empty() && build.extra.one_of.is_empty() {
            build.extra.one_of = extra.one_of;
        } else if extra.one_of.is_empty() && build.extra.any_of.is_empty() {
            build.extra.any_of = extra.any_of;
        } else {
            build.all_of.push(self.schema_of(extra));
        }
    }
}

/// Adds a negation where there is room.
fn add_not<'a>(build: &mut Build<'a>, not: Schema<'a>) {
    if build.extra.not.is_none() {
        build.extra.not = not.extra().not;
    } else {
        build.all_of.push(not);
    }
}

/// Returns whether alternatives have different types, and only keywords that restrict values of one type.
fn are_apart(branches: &[Facts<'_>]) -> bool {
    let mut seen = Types::NONE;
    for branch in branches {
        let is_plain = branch.values.is_none()
            && branch.unions.iter().all(|union| union.group == Group::Loose)
            && branch.nots.is_empty()
            && branch.rules.is_empty()
            && branch.dependents.is_empty();
        if !is_plain || branch.types == Types::NONE || seen.and(branch.types) != Types::NONE {
            return false;
        }
        seen = seen.or(branch.types);
    }
    true
}
