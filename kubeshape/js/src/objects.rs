//! What a server does with objects.

use crate::Session;
use crate::lines::marked;
use crate::session::findings;
use kubeshape::input::Finding;
use kubeshape::registry::{Settings, locate};
use kubeshape::validate::Release;
use kubeshape::validate::strict::{Fields, unknown_field};
use kubeshape::{Api, Code, Error, Object, Request, WriteOptions};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Errors that are shown of one object.
const MOST: usize = 50;

impl Session {
    /// Returns what a release makes of the objects of a text: findings at their places, and what it would store, line by
    /// line, compared with what was sent.
    pub fn judge(&mut self, name: &str, text: &str, release: &str) -> Value {
        let release = match release.parse::<Release>() {
            Ok(release) => release,
            Err(error) => return json!({ "error": error.to_string() }),
        };
        let api = self.api_of(release);
        let (objects, mut found) = Object::read_all(name, text);
        let results: Vec<Value> = objects.iter().map(|object| judged(&api, object, &mut found)).collect();
        json!({ "objects": results, "findings": findings(&found) })
    }

    /// Returns a sample of a kind as YAML, with what a server says against it.
    pub fn sample(&self, api_version: &str, kind: &str, maximal: bool) -> Value {
        let sampled = self.api.kind(api_version, kind).and_then(|kind| kind.sample(maximal, Release::NEWEST));
        let Some(sampled) = sampled else { return json!({ "error": crate::session::unknown(api_version, kind) }) };
        let arena = kubeshape::schema::Bump::new();
        let value = kubeshape::smd::ToValue::to_value(&sampled.object, &arena);
        let problems: Vec<String> = sampled.problems.iter().map(|problem| problem.text.clone()).collect();
        json!({ "text": kubeshape::registry::print::yaml(value), "problems": problems })
    }

    /// Applies the configurations of two managers, one after the other. Returns the object, who owns what of it, and the
    /// conflicts of the second one; with `force` it takes over what it is in conflict about.
    pub fn apply(&self, first: [&str; 2], second: [&str; 2], force: bool) -> Value {
        let now = SystemTime::UNIX_EPOCH;
        let apply = |live: Option<&Object>, [manager, text]: [&str; 2], force| -> Result<Object, Value> {
            let config = Object::read(format!("{manager}.yaml"), text).map_err(|error| refused(manager, &[*error]))?;
            let options = WriteOptions::new(manager, now).force(force);
            self.api.apply(live, &config, &options).map_err(|error| of_error(manager, &error))
        };
        let live = match apply(None, first, false) {
            Ok(live) => live,
            Err(error) => return error,
        };
        match apply(Some(&live), second, force) {
            Ok(after) => owned(&after, &[]),
            Err(error) => {
                let mut out = owned(&live, &[]);
                if let (Some(out), Value::Object(error)) = (out.as_object_mut(), error) {
                    out.extend(error);
                }
                out
            }
        }
    }

    /// The same inputs, judged by a release.
    fn api_of(&mut self, release: Release) -> Api {
        if let Some((of, api)) = &self.judging
            && *of == release
        {
            return api.clone();
        }
        let mut api = Api::new(Settings { release, ..Settings::default() });
        for (name, text) in &self.texts {
            api.set(name, text);
        }
        self.judging = Some((release, api.clone()));
        api
    }
}

fn refused(manager: &str, found: &[Finding]) -> Value {
    json!({ "manager": manager, "error": found.first().map(ToString::to_string), "findings": findings(found) })
}

fn of_error(manager: &str, error: &Error) -> Value {
    let conflicts = error.conflicts().iter().map(|conflict| {
        json!({
            "manager": conflict.manager,
            "path": conflict.path,
            "message": conflict.message,
            "live": conflict.live,
            "new": conflict.new,
            "line": conflict.location.as_ref().and_then(kubeshape::Location::place).map(|place| place.line),
        })
    });
    json!({ "manager": manager, "error": error.to_string(), "conflicts": conflicts.collect::<Value>() })
}

fn owned(object: &Object, conflicts: &[Value]) -> Value {
    let owners: Vec<Value> = object
        .owners()
        .unwrap_or_default()
        .iter()
        .map(|owner| {
            json!({
                "manager": owner.manager,
                "operation": owner.operation.as_str(),
                "paths": owner.fields.paths(),
            })
        })
        .collect();
    let mut value = object.value().clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let arena = kubeshape::schema::Bump::new();
    let text = kubeshape::registry::print::yaml(kubeshape::smd::ToValue::to_value(&value, &arena));
    json!({ "text": text, "owners": owners, "conflicts": conflicts })
}

fn judged(api: &Api, object: &Object, found: &mut Vec<Finding>) -> Value {
    let name = format!("{} {}", object.kind(), object.name());
    let label = || json!({ "name": name, "apiVersion": object.api_version(), "kind": object.kind() });
    let judgement = match api.judge(Request::Create(object)) {
        Ok(judgement) => judgement,
        Err(error) => {
            let code = if matches!(error, Error::Kind(_)) { Code::UnknownKind } else { Code::ObjectNotJudged };
            let at = object.location().map(|at| at.finding(code, error.to_string()));
            found.push(at.unwrap_or_else(|| Finding::new(code, error.to_string())).of_resource(name.as_str()));
            let mut out = label();
            out["judged"] = json!(false);
            return out;
        }
    };
    let own = |code: Code, path: &str, is_key: bool, detail: String| {
        let Some(at) = object.location() else { return Finding::new(code, detail) };
        let place = locate::at_field(at.node(), path);
        let node = if is_key { place.key.unwrap_or(place.value) } else { place.shown() };
        at.at(node).finding(code, detail).of_resource(name.as_str())
    };
    let unknown = judgement.unknown.iter().take(MOST);
    found.extend(unknown.map(|path| own(Code::ObjectField, path, true, unknown_field(path, Fields::Pruned))));
    let errors = judgement.errors.iter().take(MOST);
    found.extend(errors.map(|error| own(Code::ObjectRefused, &error.path, false, error.to_string())));
    found.extend(
        judgement.refusal.map(|text| own(Code::ObjectRefused, "metadata.resourceVersion", false, text.to_owned())),
    );
    let mut out = label();
    out["judged"] = json!(true);
    out["accepted"] = json!(judgement.is_accepted());
    out["strict"] = json!(judgement.is_accepted() && judgement.unknown.is_empty());
    out["stored"] = json!(judgement.stored.to_yaml());
    out["lines"] = marked(&object.to_yaml(), &judgement.stored.to_yaml());
    out
}
