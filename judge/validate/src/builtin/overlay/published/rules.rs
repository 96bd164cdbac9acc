//! Rules of the overlay as keywords and as rules in CEL.

use super::super::check::{Guard, Rule, Rules, Test};
use super::Work;
use super::edit::set;
use kubeshape_cel::escape;
use kubeshape_schema::Code;
use kubeshape_value::{Map, Value};

/// Where the rules of a schema are.
const RULES: &str = "x-kubernetes-validations";

impl<'a> Work<'a> {
    /// Adds rules of the overlay.
    pub(super) fn rules(&mut self, definition: &'a str, rules: &Rules) {
        for rule in rules.always.iter().chain(&rules.create) {
            self.rule_of_overlay(definition, rule);
        }
        for rule in rules.update.iter().flatten().filter(|rule| matches!(rule.test, Test::Immutable)) {
            self.immutable(definition, rule);
        }
        let natives = rules.always.iter().chain(&rules.create).chain(rules.update.iter().flatten());
        let names: Vec<String> = natives.filter_map(|rule| rule.native.clone()).collect();
        for name in names.iter().filter(|name| !name.starts_with("metadata") && !name.contains("warnings")) {
            self.unsaid(definition, Code::RuleUnsaid, format!("the rule \"{name}\" is Go code"));
        }
    }

    fn rule_of_overlay(&mut self, definition: &'a str, rule: &Rule) {
        let arena = self.arena;
        let place = self.schemas.owner(definition, &rule.path);
        let place = place.map(|(owner, field)| (owner, [field.to_owned()]));
        let is_plain = rule.guards.is_empty();
        match (&rule.test, place) {
            (Test::Group(rules), _) if is_plain => rules.iter().for_each(|rule| self.rule_of_overlay(definition, rule)),
            (Test::Range(min, max), Some((owner, field))) if is_plain => {
                let bounds = [("minimum", *min), ("maximum", *max)];
                self.schemas.edit(owner, &field, |schema| {
                    let bounds = bounds.iter().filter_map(|(key, bound)| Some((*key, (*bound)?)));
                    bounds.fold(schema, |schema, (key, bound)| set(schema, key, Value::Int(bound), arena))
                });
            }
            (Test::Enum(of), Some((owner, field))) if is_plain => {
                let of: Vec<Value<'a>> = of.iter().map(|text| Value::String(arena.alloc_str(text))).collect();
                let of = Value::List(arena.alloc_slice_copy(&of));
                self.schemas.edit(owner, &field, |schema| set(schema, "enum", of, arena));
            }
            (Test::Required, Some((owner, [field]))) if is_plain => self.schemas.require(owner, &field),
            (Test::Invalid, _) => {
                let conditions: Vec<String> = rule.guards.iter().map(condition).collect();
                let path = format!(".{}", rule.path.join("."));
                let detail = rule.detail.as_deref().unwrap_or("is invalid");
                self.rule(definition, &format!("!({})", conditions.join(" && ")), detail, "", &path);
            }
            (Test::Native(_) | Test::In | Test::Skip | Test::Always | Test::Warn(_), _) => {}
            _ => {
                let path = rule.path.join(".");
                self.unsaid(definition, Code::RuleUnsaid, format!("a rule about `{path}` depends on other fields"));
            }
        }
    }

    fn immutable(&mut self, definition: &'a str, rule: &Rule) {
        let path = rule.path.join(".");
        let Some((owner, field)) = self.schemas.owner(definition, &rule.path) else {
            return self.unsaid(definition, Code::RuleUnsaid, format!("`{path}` may not change here"));
        };
        if !self.schemas.is_typed(owner, field) {
            return self.unsaid(definition, Code::RuleUnsaid, format!("`{path}` may not change"));
        }
        let detail = rule.detail.as_deref().unwrap_or("field is immutable");
        let name = escape::escape(field).unwrap_or_default();
        let (new, old) = (format!("self.{name}"), format!("oldSelf.{name}"));
        let source = format!("has({new}) == has({old}) && (!has({new}) || {new} == {old})");
        self.rule(owner, &source, detail, "", &format!(".{field}"));
    }

    /// Adds a rule about the number of members that are set. Fields that the release does not have are left out.
    pub(super) fn one_of(&mut self, definition: &'a str, members: &[&str], may_be_none: bool) {
        let known: Vec<&str> = members.iter().copied().filter(|name| self.schemas.has(definition, name)).collect();
        let set: Vec<String> =
            known.iter().filter_map(|name| Some(format!("has(self.{})", escape::escape(name)?))).collect();
        let (test, words) = if may_be_none { ("<=", "may not specify more than") } else { ("==", "must specify") };
        let source = format!("[{}].filter(is_set, is_set).size() {test} 1", set.join(", "));
        self.rule(definition, &source, &format!("{words} one of: {}", known.join(", ")), "", "");
    }

    /// Adds a rule in CEL to a definition. Texts may be empty.
    pub(super) fn rule(&mut self, definition: &str, source: &str, message: &str, reason: &str, field: &str) {
        let arena = self.arena;
        let members = [("fieldPath", field), ("message", message), ("reason", reason), ("rule", source)];
        let members = members.into_iter().filter(|(_, text)| !text.is_empty());
        let rule = members.map(|(key, text)| (key, Value::String(arena.alloc_str(text)))).collect();
        let mut rules = self.schemas.list(definition, RULES);
        rules.push(Value::Map(Map::from_entries(rule, arena)));
        self.schemas.put(definition, RULES, Value::List(arena.alloc_slice_copy(&rules)));
    }
}

/// Returns a condition in CEL. Reading a missing field makes it false.
fn condition(guard: &Guard) -> String {
    match guard {
        Guard::If(path) => present(path),
        Guard::Unless(path) => format!("!({})", present(path)),
        Guard::Is(path, texts) => {
            let texts: Vec<String> = texts.iter().map(|text| format!("'{text}'")).collect();
            format!("{} && self.{} in [{}]", present(path), path.join("."), texts.join(", "))
        }
        Guard::When(condition) => format!("({})", condition.source),
    }
}

fn present(path: &[String]) -> String {
    let parts = (1..=path.len()).filter_map(|end| Some(format!("has(self.{})", path.get(..end)?.join("."))));
    parts.collect::<Vec<_>>().join(" && ")
}
