//! The constraints that schemas of built-in kinds get, compared with recorded answers. This is a small validator of
//! its own: it knows the keywords of the constraints only.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_cel::{Env, Program, Type, Value as CelValue};
use kubeshape_input::Limits;
use kubeshape_schema::Bump;
use kubeshape_smd::ToValue;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::Constraints;
use regex::Regex;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The maximum cost of a rule.
const LIMIT: u64 = 10_000_000;

/// The definitions of a release with their constraints.
pub(crate) struct Published {
    definitions: Map<String, Value>,
    /// By group, version and kind.
    kinds: BTreeMap<(String, String, String), String>,
    patterns: RefCell<BTreeMap<String, Option<Rc<Regex>>>>,
    rules: RefCell<BTreeMap<String, Option<Rc<Program>>>>,
}

/// Errors: the path, and the keyword or the rule.
type Errors = BTreeSet<(String, String)>;

impl Published {
    pub(crate) fn new(release: Release) -> Published {
        let constraints = Constraints::new(release);
        let mut definitions = Map::new();
        let documents = BuiltInDocuments::try_from(release).map(BuiltInDocuments::api);
        for (path, text) in documents.iter().flat_map(|api| api.openapi_v3_of(|path| path.starts_with("api"))) {
            let read = kubeshape_input::read(path, text.as_bytes(), Limits::default());
            let published = read.documents.first().and_then(|document| constraints.add(document.root()));
            let document: Option<Value> =
                published.and_then(|published| serde_json::from_str(&published.document).ok());
            let schemas =
                document.and_then(|mut document| document.pointer_mut("/components/schemas").map(Value::take));
            if let Some(Value::Object(schemas)) = schemas {
                definitions.extend(schemas);
            }
        }
        let mut kinds = BTreeMap::new();
        for (name, schema) in &definitions {
            let Some([only]) = schema["x-kubernetes-group-version-kind"].as_array().map(Vec::as_slice) else {
                continue;
            };
            let text = |key: &str| only[key].as_str().unwrap_or_default().to_owned();
            kinds.insert((text("group"), text("version"), text("kind")), name.clone());
        }
        Published { definitions, kinds, patterns: RefCell::default(), rules: RefCell::default() }
    }

    /// Returns the errors of an object, without those at paths where the old object has errors, too.
    pub(crate) fn errors(
        &self,
        (group, version, kind): (&str, &str, &str),
        object: &Value,
        old: Option<&Value>,
    ) -> Errors {
        let key = (group.to_owned(), version.to_owned(), kind.to_owned());
        let Some(schema) = self.kinds.get(&key).and_then(|name| self.definitions.get(name)) else {
            return Errors::new();
        };
        let mut errors = Errors::new();
        self.check(schema, object, old, "", &mut errors);
        if let Some(old) = old {
            let mut before = Errors::new();
            self.check(schema, old, None, "", &mut before);
            errors.retain(|(path, _)| !before.iter().any(|(other, _)| other == path));
        }
        errors
    }

    fn check(&self, schema: &Value, value: &Value, old: Option<&Value>, path: &str, out: &mut Errors) {
        self.keywords(schema, value, path, out);
        let only = schema["allOf"].as_array().and_then(|all| all.first());
        let target = schema["$ref"].as_str().or_else(|| only?["$ref"].as_str());
        let target = target.and_then(|target| self.definitions.get(target.rsplit('/').next()?));
        if let Some(target) = target {
            return self.check(target, value, old, path, out);
        }
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            let source = rule["rule"].as_str().unwrap_or_default();
            if self.holds(source, value, old) == Some(false) {
                out.insert((path.to_owned(), source.to_owned()));
            }
        }
        match value {
            Value::Object(members) => {
                for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !members.contains_key(name) {
                        out.insert((format!("{path}.{name}"), "required".to_owned()));
                    }
                }
                for (name, member) in members {
                    let inner = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                    if let Some(inner) = inner {
                        let old = old.and_then(|old| old.get(name));
                        self.check(inner, member, old, &format!("{path}.{name}"), out);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check(&schema["items"], item, None, &format!("{path}[{index}]"), out);
                }
            }
            _ => {}
        }
    }

    /// Checks the keywords of a schema that do not need its type.
    fn keywords(&self, schema: &Value, value: &Value, path: &str, out: &mut Errors) {
        let limit = |key: &str| schema[key].as_i64();
        let size = |size: usize, least: &str, most: &str| {
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            limit(least).is_some_and(|least| size < least) || limit(most).is_some_and(|most| size > most)
        };
        let mut fails = |keyword: &str, is_wrong: bool| {
            if is_wrong {
                out.insert((path.to_owned(), keyword.to_owned()));
            }
        };
        let is_other = schema["enum"].as_array().is_some_and(|all| !all.contains(value));
        fails("enum", is_other);
        match value {
            Value::String(text) => {
                fails("length", size(text.chars().count(), "minLength", "maxLength"));
                let pattern = schema["pattern"].as_str().and_then(|pattern| self.pattern(pattern));
                fails("pattern", pattern.is_some_and(|pattern| !pattern.is_match(text)));
            }
            Value::Array(items) => fails("items", size(items.len(), "minItems", "maxItems")),
            Value::Object(members) => fails("properties", size(members.len(), "minProperties", "maxProperties")),
            Value::Number(number) => {
                let number = number.as_i64();
                let is_below = number.zip(limit("minimum")).is_some_and(|(number, least)| number < least);
                let is_above = number.zip(limit("maximum")).is_some_and(|(number, most)| number > most);
                fails("bounds", is_below || is_above);
            }
            _ => {}
        }
    }

    fn pattern(&self, source: &str) -> Option<Rc<Regex>> {
        let mut patterns = self.patterns.borrow_mut();
        patterns.entry(source.to_owned()).or_insert_with(|| Regex::new(source).ok().map(Rc::new)).clone()
    }

    /// Evaluates a rule. `None` if it needs an old value, and there is none.
    fn holds(&self, source: &str, value: &Value, old: Option<&Value>) -> Option<bool> {
        if source.contains("oldSelf") && old.is_none() {
            return None;
        }
        let program = {
            let mut rules = self.rules.borrow_mut();
            let compile = || {
                let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn);
                Some(Rc::new(env.with_variable("oldSelf", Type::Dyn).compile(source).ok()?.program().ok()?))
            };
            rules.entry(source.to_owned()).or_insert_with(compile).clone()
        };
        let arena = Bump::new();
        let variables = [
            ("self", CelValue::from(value.to_value(&arena))),
            ("oldSelf", CelValue::from(old.unwrap_or(&Value::Null).to_value(&arena))),
        ];
        // An error of the rule counts as a refusal: a server refuses then.
        let program = program?;
        let outcome = program.evaluate(variables, LIMIT);
        Some(matches!(outcome.result, Ok(CelValue::Bool(true))))
    }
}
