//! Area `mutated`: changed objects of built-in kinds, and the answers of the strategies of kube-apiserver's own code in
//! the same run. Before a difference is shown, its request is reduced.

use crate::builtins::{self, Answered, Case, Subject};
use crate::golden;
use crate::judged::each;
use crate::known::Known;
use crate::oracle::{self, Oracle, Other};
use crate::plan::Plan;
use crate::structural::records;
use crate::table::Table;
use crate::typed::built_in_of;
use kubeshape_corpus::generate::Draw;
use kubeshape_validate::Release;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The maximum number of values per place.
const MOST_VALUES: usize = 50;
/// Fields that clients never set, that handlers set before strategies run, and that depend on chance or on other
/// objects (names of `generateName`, the parameters of policies).
const LEFT_ALONE: [&str; 13] = [
    "apiVersion",
    "kind",
    "managedFields",
    "ownerReferences",
    "uid",
    "resourceVersion",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "generateName",
    "namespace",
    "paramRef",
];
/// Fields that are allocated for Services after the strategy.
const ALLOCATED: [&str; 5] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"];
const TEXTS: [&str; 29] = [
    "",
    "a",
    "UPPER",
    "a.b",
    "a_b",
    "-a",
    "a/b",
    "../a",
    "/abs",
    "10.0.0.1",
    "::1",
    "10.0.0.0/8",
    "1.2.3",
    "a.example.com",
    "100Mi",
    "1.5",
    "0",
    "-1",
    "50%",
    "150%",
    "TCP",
    "Always",
    "None",
    "true",
    "*",
    "a b",
    "http",
    "2020-01-01T00:00:00Z",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];
const NUMBERS: [i64; 12] = [-1, 0, 1, 2, 80, 100, 65_535, 65_536, i32::MAX as i64, i32::MIN as i64, 30_000, 1_000_000];

/// Compares all of a plan.
///
/// # Errors
/// Go is not installed, the Go program fails, or there are no recordings of built-in kinds.
pub fn compare(plan: &Plan, other: Option<&Other>, golden: &Path, known: Known) -> Result<Table, String> {
    let mut table = Table::new("mutated", known);
    let (program, release) = match other {
        Some(other) => (other.program.clone(), other.release),
        None => (oracle::build_server()?, crate::RECORDED),
    };
    let inputs = Inputs::read(golden, release, &mut table)?;
    let oracle = &mut Oracle::start(&program, &["requests"])?;
    let judge = |id: &str, request: &Value, answer: &Value, table: &mut Table| {
        inputs.compare(id, request, answer, table);
    };
    each(plan, plan.count, oracle, |draw| inputs.request(draw), &judge, &mut table)?;
    Ok(table)
}

/// A request that a server accepted.
struct Accepted {
    /// The object of the request, or the replaced object.
    object: Value,
    /// The stored object before an update of the status.
    old: Option<Value>,
}

/// The parts from which requests are built.
struct Inputs {
    kinds: Vec<(Value, Subject, Vec<Accepted>)>,
    /// Values by their place.
    values: BTreeMap<String, Vec<Value>>,
    /// The members of objects by their place.
    members: BTreeMap<String, BTreeSet<String>>,
}

impl Inputs {
    fn read(golden: &Path, release: Release, table: &mut Table) -> Result<Inputs, String> {
        let registry = built_in_of(release)?;
        let mut inputs = Inputs { kinds: Vec::new(), values: BTreeMap::new(), members: BTreeMap::new() };
        for file in golden::files(&golden.join(builtins::FOLDER)) {
            let mut of_file: Option<(Value, Subject, Vec<Accepted>)> = None;
            for case in records::<Case>(&file, table) {
                if of_file.is_none() {
                    let name = json!({ "group": case.group, "version": case.version, "kind": case.kind });
                    of_file = builtins::subject(&registry, &case, release).map(|subject| (name, subject, Vec::new()));
                }
                let (Some((_, subject, all)), Some(mut accepted)) = (&mut of_file, accepted(&case)) else { continue };
                if let (false, Some(metadata)) = (subject.is_namespaced(), accepted.object["metadata"].as_object_mut())
                {
                    metadata.remove("namespace");
                }
                inputs.note(&case.kind, &accepted.object, &mut Vec::new());
                all.push(accepted);
            }
            inputs.kinds.extend(of_file.filter(|(_, _, accepted)| !accepted.is_empty()));
        }
        if inputs.kinds.is_empty() { Err("no recorded answers about built-in kinds".to_owned()) } else { Ok(inputs) }
    }

    /// Stores the values of an object.
    fn note(&mut self, kind: &str, value: &Value, path: &mut Vec<Step>) {
        let place = place(kind, path);
        if let (Some(Step::Member(name)), Some((_, outer))) = (path.last(), path.split_last()) {
            self.members.entry(crate::mutated::place(kind, outer)).or_default().insert(name.clone());
        }
        let known = self.values.entry(place).or_default();
        if !value.is_null() && known.len() < MOST_VALUES && !known.contains(value) {
            known.push(value.clone());
        }
        for step in steps(value) {
            let Some(inner) = step.of(value) else { continue };
            path.push(step);
            self.note(kind, inner, path);
            path.pop();
        }
    }

    fn values_at(&self, place: &str) -> Option<&Vec<Value>> {
        self.values.get(place).filter(|values| !values.is_empty())
    }

    /// Returns a random request.
    fn request(&self, draw: &mut Draw) -> Value {
        let (name, _, all) = draw.pick(&self.kinds);
        let kind = name["kind"].as_str().unwrap_or_default();
        let base = draw.pick(all);
        let mut request = name.clone();
        let mut object = base.object.clone();
        for _ in 0..*draw.pick(&[1, 1, 1, 2, 3]) {
            self.change(kind, &mut object, base.old.is_some(), draw);
        }
        let old = match &base.old {
            Some(old) => {
                request["subresource"] = "status".into();
                Some(old.clone())
            }
            None => draw.percent(40).then(|| base.object.clone()),
        };
        identify(&mut object, &base.object, old.is_some());
        if let Some(mut old) = old {
            old["metadata"]["generation"] = 1.into();
            object["metadata"]["generation"] = 1.into();
            request["old"] = old;
        }
        request["object"] = object;
        request
    }

    /// Changes a value in an object, or in its status.
    fn change(&self, kind: &str, object: &mut Value, in_status: bool, draw: &mut Draw) {
        let mut all = Vec::new();
        paths(object, &mut Vec::new(), &mut all);
        all.retain(|path| !in_status || path.first().is_some_and(|step| step.is("status")));
        if all.is_empty() {
            return;
        }
        let path = draw.pick(&all);
        let Some((last, outer)) = path.split_last() else { return };
        let place = place(kind, path);
        let Some(parent) = outer.iter().try_fold(object, |value, step| step.of_mut(value)) else { return };
        let how = draw.below(100);
        if how < 20 {
            last.remove(parent);
            return;
        }
        let Some(value) = last.of_mut(parent) else { return };
        match value {
            Value::Object(members) if how < 45 => {
                let names = self.members.get(&place).into_iter().flatten();
                let names: Vec<&String> =
                    names.filter(|name| !members.contains_key(*name) && !is_left_alone(name)).collect();
                if !names.is_empty() {
                    let name = (*draw.pick(&names)).clone();
                    if let Some(values) = self.values_at(&format!("{place}.{name}")) {
                        members.insert(name, draw.pick(values).clone());
                    }
                }
            }
            value if how < 60 => {
                if let Some(values) = self.values_at(&place) {
                    *value = draw.pick(values).clone();
                }
            }
            Value::Array(items) if how < 70 && !items.is_empty() => {
                let again = draw.pick(items).clone();
                items.push(again);
            }
            Value::Bool(flag) => *flag = !*flag,
            Value::String(text) => draw.text(&TEXTS).clone_into(text),
            Value::Number(_) => *value = (*draw.pick(&NUMBERS)).into(),
            Value::Array(items) => items.clear(),
            Value::Object(members) => members.clear(),
            Value::Null => {}
        }
    }

    /// Compares an answer.
    fn compare(&self, id: &str, request: &Value, answer: &Value, table: &mut Table) {
        // Code 400 is an object that cannot be decoded, 599 an old object that cannot be decoded: handlers use other
        // messages for them. A panic is not an answer.
        if matches!(answer["code"].as_u64(), None | Some(0 | 400 | 599)) || answer["panic"].is_string() {
            return;
        }
        let mut case = request.clone();
        case["id"] = format!("{} {id}", request["kind"].as_str().unwrap_or_default()).into();
        case["answer"] = answer.clone();
        let Ok(mut case) = serde_json::from_str::<Case>(&case.to_string()) else { return };
        let is_of_case = |name: &Value| {
            (&*case.group, &*case.version, &*case.kind)
                == ["group", "version", "kind"].map(|key| name[key].as_str().unwrap_or_default()).into()
        };
        let Some((_, subject, _)) = self.kinds.iter().find(|(name, ..)| is_of_case(name)) else { return };
        let is_allocated = |field: &str| {
            case.kind == "Service" && ALLOCATED.iter().any(|key| field.starts_with(&format!("spec.{key}")))
        };
        if case.answer.errors.iter().any(|error| is_allocated(&error.field)) {
            return;
        }
        // A handler gives this error.
        if case.kind == "Endpoints" {
            case.answer
                .warnings
                .insert(0, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
        }
        case.answer.result =
            case.answer.result.take().map(|result| now_is_fixed(builtins::without_system_fields(result)));
        builtins::judge(subject, &case, Answered::Strategies, table);
    }
}

/// Returns the object of a request that was accepted without errors of strict decoding.
fn accepted(case: &Case) -> Option<Accepted> {
    let parsed =
        |raw: &Option<Box<serde_json::value::RawValue>>| serde_json::from_str::<Value>(raw.as_ref()?.get()).ok();
    if !matches!(case.answer.code, 200 | 201) || case.answer.strict.is_some() {
        return None;
    }
    let old = parsed(&case.old);
    let object = match (&old, &case.subresource) {
        (None, None) if case.kind != "Service" => parsed(&case.object)?,
        (_, Some(_)) => parsed(&case.object)?,
        // A Service with its allocated fields.
        (_, None) => case.answer.result.clone()?,
    };
    let object = without_assigned(object);
    let old = old.map(without_assigned);
    let is_named = object["metadata"]["name"].is_string() && object["metadata"].get("generateName").is_none();
    let has_parameters = object["spec"].get("paramRef").is_some();
    (is_named && !has_parameters).then_some(Accepted { object, old: old.filter(|_| case.subresource.is_some()) })
}

/// Returns an object without the fields that a server assigns, and without owners: handlers warn of duplicate ones.
fn without_assigned(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in LEFT_ALONE.iter().filter(|key| !matches!(**key, "namespace" | "generateName")) {
            metadata.remove(*key);
        }
        metadata.remove("creationTimestamp");
    }
    object
}

fn is_left_alone(member: &str) -> bool {
    LEFT_ALONE.contains(&member) || ALLOCATED.contains(&member)
}

/// Gives an object the name and namespace of its base, and an update the version that it replaces.
fn identify(object: &mut Value, base: &Value, is_update: bool) {
    let Some(members) = object.as_object_mut() else { return };
    let metadata = members.entry("metadata").or_insert_with(|| json!({}));
    if !metadata.is_object() {
        *metadata = json!({});
    }
    let Some(metadata) = metadata.as_object_mut() else { return };
    for key in ["name", "namespace"] {
        match base["metadata"].get(key) {
            Some(text) => metadata.insert(key.to_owned(), text.clone()),
            None => metadata.remove(key),
        };
    }
    for key in LEFT_ALONE.iter().filter(|key| **key != "namespace") {
        metadata.remove(*key);
    }
    if is_update {
        metadata.insert("resourceVersion".to_owned(), "1".into());
    }
}

/// Replaces the time of the request, which differs in each run.
fn now_is_fixed(value: Value) -> Value {
    let is_now = |text: &str| text.len() == 20 && text.ends_with('Z') && text > "2026-06-01T" && text < "2100";
    match value {
        Value::String(text) if is_now(&text) => "2020-01-01T00:00:00Z".into(),
        Value::Array(items) => items.into_iter().map(now_is_fixed).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, now_is_fixed(value))).collect(),
        other => other,
    }
}

/// A step to a value.
#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Item(usize),
}

impl Step {
    fn is(&self, member: &str) -> bool {
        matches!(self, Step::Member(name) if name == member)
    }

    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Step::Member(name) => value.get(name),
            Step::Item(at) => value.get(at),
        }
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        match self {
            Step::Member(name) => value.get_mut(name),
            Step::Item(at) => value.get_mut(at),
        }
    }

    fn remove(&self, parent: &mut Value) {
        match (self, parent) {
            (Step::Member(name), Value::Object(members)) => {
                members.remove(name);
            }
            (Step::Item(at), Value::Array(items)) if *at < items.len() => {
                items.remove(*at);
            }
            _ => {}
        }
    }
}

fn steps(value: &Value) -> Vec<Step> {
    match value {
        Value::Object(members) => members.keys().map(|name| Step::Member(name.clone())).collect(),
        Value::Array(items) => (0..items.len()).map(Step::Item).collect(),
        _ => Vec::new(),
    }
}

/// Collects the paths of all values that may be changed.
fn paths(value: &Value, path: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    for step in steps(value) {
        let Some(inner) = step.of(value).filter(|_| !matches!(&step, Step::Member(name) if is_left_alone(name))) else {
            continue;
        };
        path.push(step);
        all.push(path.clone());
        paths(inner, path, all);
        path.pop();
    }
}

/// Returns the place of a value: the same for the specs of all pods, whatever contains them.
fn place(kind: &str, path: &[Step]) -> String {
    let pod = match path {
        [first, rest @ ..] if kind == "Pod" && first.is("spec") => Some(rest),
        path => {
            let at = path.windows(2).position(|pair| matches!(pair, [a, b] if a.is("template") && b.is("spec")));
            at.and_then(|at| path.get(at + 2..))
        }
    };
    let names = pod.unwrap_or(path).iter().map(|step| match step {
        Step::Member(name) => name.as_str(),
        Step::Item(_) => "[]",
    });
    let head = if pod.is_some() { "pod" } else { kind };
    [head].into_iter().chain(names).collect::<Vec<_>>().join(".")
}
