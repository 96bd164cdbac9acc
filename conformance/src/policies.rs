//! Requests that upstream's admission plugins evaluated with policies.

use crate::known::Known;
use crate::table::{Table, Verdict};
use kubeshape_input::Limits;
use kubeshape_policy::{
    Access, Authorizer, Conditional, Given, Gvk, Gvr, Kinds, Operation, Policies, Request, Status, User,
    Verdict as Allowed, World, warning_headers,
};
use kubeshape_registry::policy::{Layer, ServedKinds};
use kubeshape_schema::Bump;
use kubeshape_schema::field::BadValue;
use kubeshape_smd::value::Stop;
use kubeshape_smd::{ToValue, Value as Object};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// The files of records.
const FILES: [&str; 3] = ["features", "public", "upstream"];

/// Compares all recorded requests.
pub fn compare(golden: &Path, known: Known) -> Table {
    let mut table = Table::new("policies", known);
    let built_in = match crate::typed::built_in() {
        Ok(registry) => registry,
        Err(error) => {
            table.add("reading", "built-in kinds", Verdict::Missing(error));
            return table;
        }
    };
    let built_in = Layer::new(&built_in);
    for file in FILES {
        let path = golden.join(format!("policies/{file}.ndjson.gz"));
        let lines: Vec<Value> = match crate::golden::lines(&path) {
            Ok(lines) => lines,
            Err(error) => {
                table.add("reading", file, Verdict::Missing(error));
                continue;
            }
        };
        for line in lines {
            one(&line, &built_in, &mut table);
        }
    }
    table
}

/// Compares one request.
fn one(line: &Value, built_in: &Layer, table: &mut Table) {
    let id = line["id"].as_str().unwrap_or_default();
    let theirs = &line["answer"];
    if theirs.get("panic").is_some() {
        return;
    }
    let ours = match answer(&line["input"], built_in) {
        Ok(ours) => ours,
        Err(why) => return table.add("reading", id, Verdict::Missing(why)),
    };
    let theirs = &unnumbered(theirs);
    for part in PARTS {
        let (ours, theirs) = (ours.get(part), theirs.get(part));
        if ours.is_none() && theirs.is_none() && part != "allowed" {
            continue;
        }
        let verdict = match crate::policies::difference(ours, theirs) {
            None => Verdict::Equal,
            Some(text) => Verdict::Differing(text),
        };
        table.add(part, id, verdict);
    }
}

/// Returns the answer without the numbers of types: upstream's are random, and are `N` in the records.
fn unnumbered(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let policies = answer.get_mut("policies").and_then(Value::as_array_mut);
    for policy in policies.into_iter().flatten() {
        let warnings = policy.get_mut("typeWarnings").and_then(Value::as_array_mut);
        for warning in warnings.into_iter().flatten() {
            let Some(text) = warning["warning"].as_str().map(str::to_owned) else { continue };
            warning["warning"] = json!(without_numbers(&text));
        }
    }
    answer
}

/// Removes each capital N between the name of a kind and a dot or the end of a type.
fn without_numbers(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).is_some_and(char::is_ascii_lowercase);
        let behind = chars.get(at + 1).is_none_or(|c| matches!(c, '.' | ',' | ')' | '\''));
        if !(*c == 'N' && before && behind) {
            out.push(*c);
        }
    }
    out
}

/// The parts of an answer.
const PARTS: [&str; 15] = [
    "policies",
    "bindings",
    "webhookConfigurations",
    "allowed",
    "refusedBy",
    "status",
    "object",
    "warnings",
    "warningHeaders",
    "auditAnnotations",
    "mutations",
    "validations",
    "webhooks",
    "matchConditions",
    "plainError",
];

fn difference(ours: Option<&Value>, theirs: Option<&Value>) -> Option<String> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => place(ours, theirs, ""),
        (None, None) => None,
        (ours, theirs) => {
            let shown =
                |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), |value| short(&value.to_string()));
            Some(format!("{}, theirs {}", shown(ours), shown(theirs)))
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(400).collect()
}

/// Returns the first path at which two values differ. Numbers are compared by value.
fn place(ours: &Value, theirs: &Value, at: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.into_iter().find_map(|key| match (ours.get(key), theirs.get(key)) {
                (Some(ours), Some(theirs)) => place(ours, theirs, &format!("{at}/{key}")),
                (ours, theirs) => difference(ours, theirs).map(|text| format!("{at}/{key}: {text}")),
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => ours
            .iter()
            .zip(theirs)
            .enumerate()
            .find_map(|(i, (ours, theirs))| place(ours, theirs, &format!("{at}/{i}"))),
        (Value::Number(ours), Value::Number(theirs)) if ours.as_f64() == theirs.as_f64() => None,
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("{at}: {}, theirs {}", short(&ours.to_string()), short(&theirs.to_string()))),
    }
}

/// The rules of the recorded authorizer.
#[derive(Debug)]
struct Rules(Vec<Value>);

impl Authorizer for Rules {
    fn decide(&self, access: &Access) -> Allowed {
        let field = terms(&access.field_selector, true);
        let label = terms(&access.label_selector, false);
        for rule in &self.0 {
            let is = |key: &str, value: &str| rule.get(key).and_then(Value::as_str).is_none_or(|own| own == value);
            let path = access.path.as_deref();
            let takes_path = match rule.get("path").and_then(Value::as_str) {
                Some(own) => path == Some(own),
                None => true,
            };
            let in_group = rule
                .get("group")
                .and_then(Value::as_str)
                .is_none_or(|own| access.user.groups.iter().any(|group| group == own));
            let takes_resource = path.is_none()
                || ["apiGroups", "resource", "subresource", "namespace", "name"]
                    .iter()
                    .all(|key| rule.get(*key).is_none());
            let groups = rule.get("apiGroups").is_none_or(|own| match own {
                Value::Array(items) => items.iter().any(|item| item == access.group.as_str()),
                own => own == access.group.as_str(),
            });
            if is("user", &access.user.name)
                && in_group
                && is("verb", &access.verb)
                && takes_path
                && takes_resource
                && groups
                && is("resource", &access.resource)
                && is("subresource", &access.subresource)
                && is("namespace", &access.namespace)
                && is("name", &access.name)
                && is("fieldSelector", &field)
                && is("labelSelector", &label)
            {
                return Allowed {
                    allowed: rule["decision"] == "allow",
                    reason: rule["reason"].as_str().unwrap_or_default().to_owned(),
                    error: rule["error"].as_str().filter(|text| !text.is_empty()).map(str::to_owned),
                };
            }
        }
        Allowed::default()
    }
}

/// Returns selectors in a form for comparison.
fn terms(text: &str, _fields: bool) -> String {
    text.split(',').map(|term| term.trim().replace("==", "=").replace(" = ", "=")).collect::<Vec<_>>().join(",")
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn list<'v>(input: &'v Value, key: &str) -> Vec<&'v Value> {
    input[key].as_array().into_iter().flatten().collect()
}

/// Returns our answer for a request.
fn answer(input: &Value, built_in: &Layer) -> Result<Map<String, Value>, String> {
    let arena = Bump::new();
    let mut registry = crate::registry();
    for (at, crd) in list(input, "crds").into_iter().enumerate() {
        let name = format!("crd-{at}");
        registry.set_input(&*name, kubeshape_input::read(&*name, crd.to_string().as_bytes(), Limits::default()));
    }
    let custom = Layer::new(&registry);
    let layers = [&custom, built_in];
    let kinds = ServedKinds::new(&layers);
    let params: Result<Vec<Object<'_>>, String> = list(input, "params")
        .into_iter()
        .map(|value| Ok(kinds.decode(&gvk(value), value.to_value(&arena), &arena)?.value))
        .collect();
    let params = params?;
    let mut namespaces = Vec::new();
    for namespace in list(input, "namespaces") {
        let mut namespace = namespace.clone();
        let name = namespace["metadata"]["name"].clone();
        let labels = &mut namespace["metadata"]["labels"];
        if labels.is_null() {
            *labels = json!({});
        }
        if let Some(labels) = labels.as_object_mut() {
            labels.entry("kubernetes.io/metadata.name").or_insert(name);
        }
        let namespace: &Value = arena.alloc(namespace);
        namespaces.push(namespace.to_value(&arena));
    }
    let authorizer: Arc<dyn Authorizer> = Arc::new(Rules(list(input, "authorizer").into_iter().cloned().collect()));
    let given = Given { namespaces: &namespaces, params: &params };
    let world = World { kinds: &kinds, objects: &given, authorizer: &authorizer, stop: Stop::NEVER };
    let objects: Vec<Object<'_>> = ["policies", "bindings", "webhooks"]
        .into_iter()
        .flat_map(|key| list(input, key))
        .map(|value| value.to_value(&arena))
        .collect();
    let policies = Policies::read(objects, &kinds, crate::RECORDED, &arena);
    let mut configurations = Map::new();
    for (part, key) in [("policies", "policies"), ("bindings", "bindings"), ("webhookConfigurations", "webhooks")] {
        let judged: Vec<Value> =
            list(input, key).into_iter().map(|value| configuration(value, &kinds, &arena)).collect();
        if judged.iter().any(|judged| judged.as_object().is_some_and(|judged| judged.len() > 2)) {
            configurations.insert(part.to_owned(), Value::Array(judged));
        }
    }
    let request = request(&input["request"], &kinds, &arena)?;
    let decision = policies.evaluate(&request, world, &arena);
    let mut out = configurations;
    out.insert("allowed".to_owned(), json!(decision.is_allowed()));
    if let Some(by) = decision.refused_by {
        out.insert("refusedBy".to_owned(), json!(by));
    }
    if let Some(found) = &decision.status {
        out.insert("status".to_owned(), status(found));
    }
    if let Some(object) = decision.object {
        out.insert("object".to_owned(), object.to_serde());
    }
    if !decision.warnings.is_empty() {
        out.insert("warnings".to_owned(), json!(decision.warnings));
        let headers = warning_headers(&decision.warnings);
        let headers = if headers.is_empty() { Value::Null } else { json!(headers) };
        out.insert("warningHeaders".to_owned(), headers);
    }
    if !decision.audit_annotations.is_empty() {
        out.insert("auditAnnotations".to_owned(), json!(decision.audit_annotations));
    }
    if !decision.validations.is_empty() {
        out.insert("validations".to_owned(), decision.validations.iter().map(validated).collect());
    }
    if !decision.mutations.is_empty() {
        out.insert("mutations".to_owned(), decision.mutations.iter().map(mutated).collect());
    }
    let called = policies.webhooks(&request, world, &arena);
    if !called.is_empty() {
        out.insert("webhooks".to_owned(), called.iter().map(webhook).collect());
    }
    Ok(out)
}

/// Returns the messages about a policy, a binding or a webhook configuration.
fn configuration<'a>(value: &'a Value, kinds: &dyn Kinds, arena: &'a Bump) -> Value {
    let mut out = json!({"kind": value["kind"], "name": value["metadata"]["name"]});
    let object = match kinds.decode(&gvk(value), value.to_value(arena), arena) {
        Ok(decoded) => decoded.value,
        Err(error) => {
            out["decodeError"] = json!(error);
            return out;
        }
    };
    let mut errors: Vec<(String, String, String, Value)> = kubeshape_policy::creation_errors(object, crate::RECORDED)
        .into_iter()
        .map(|error| {
            let value = match error.value {
                BadValue::Omitted if error.error_type.name() == "InternalError" => {
                    json!({"Cause": null, "Detail": error.detail, "Type": "InternalError"})
                }
                BadValue::Omitted => json!(""),
                BadValue::Text(text) | BadValue::Printed(text) => json!(text),
                BadValue::Json(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
            };
            (error.path, error.error_type.name().to_owned(), error.detail, value)
        })
        .collect();
    errors.sort_by(|a, b| (&a.0, &a.1, &a.2).cmp(&(&b.0, &b.1, &b.2)));
    let errors: Vec<Value> = errors
        .into_iter()
        .map(|(field, ty, detail, value)| {
            let mut out = json!({"type": ty, "field": field});
            if !detail.is_empty() {
                out["detail"] = json!(detail);
            }
            let length = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            if length <= MAX_VALUE && !value.is_null() {
                out["badValue"] = value;
            }
            out
        })
        .collect();
    if !errors.is_empty() {
        out["errors"] = Value::Array(errors);
    }
    let warnings: Vec<Value> = kubeshape_policy::type_warnings(object, kinds, crate::RECORDED)
        .into_iter()
        .map(|warning| json!({"fieldRef": warning.field, "warning": warning.text}))
        .collect();
    if !warnings.is_empty() {
        out["typeWarnings"] = Value::Array(warnings);
    }
    out
}

/// Longer values are left out of the records.
const MAX_VALUE: usize = 290;

fn gvk(value: &Value) -> Gvk {
    Gvk::of(value["apiVersion"].as_str().unwrap_or_default(), value["kind"].as_str().unwrap_or_default())
}

/// Returns the kind of a subresource that has its own kind.
fn kind_of_subresource(resource: &str, subresource: &str) -> Option<Gvk> {
    Some(match (resource, subresource) {
        (_, "scale") => Gvk::of("autoscaling/v1", "Scale"),
        ("pods", "exec") => Gvk::of("v1", "PodExecOptions"),
        ("pods", "attach") => Gvk::of("v1", "PodAttachOptions"),
        ("pods", "portforward") => Gvk::of("v1", "PodPortForwardOptions"),
        ("pods", "proxy") => Gvk::of("v1", "PodProxyOptions"),
        ("services", "proxy") => Gvk::of("v1", "ServiceProxyOptions"),
        ("nodes", "proxy") => Gvk::of("v1", "NodeProxyOptions"),
        ("pods", "eviction") => Gvk::of("policy/v1", "Eviction"),
        ("pods", "binding") => Gvk::of("v1", "Binding"),
        ("serviceaccounts", "token") => Gvk::of("authentication.k8s.io/v1", "TokenRequest"),
        _ => return None,
    })
}

fn request<'a>(input: &'a Value, kinds: &dyn Kinds, arena: &'a Bump) -> Result<Request<'a>, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = &input["resource"];
    let resource = Gvr::new(&text(&resource["group"]), &text(&resource["version"]), &text(&resource["resource"]));
    let subresource = text(&input["subresource"]);
    let kind = match input.get("kind") {
        Some(kind) => Gvk { group: text(&kind["group"]), version: text(&kind["version"]), kind: text(&kind["kind"]) },
        None => kind_of_subresource(&resource.resource, &subresource)
            .or_else(|| kinds.of_resource(&resource))
            .ok_or_else(|| format!("no kind of {resource:?}"))?,
    };
    let object = |key: &str| -> Result<Option<Object<'a>>, String> {
        match input.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => Ok(Some(kinds.decode(&gvk(value), value.to_value(arena), arena)?.value)),
        }
    };
    let (new, old) = (object("object")?, object("oldObject")?);
    let operation = Operation::named(&text(&input["operation"])).ok_or("no operation")?;
    let given = |key: &str| {
        let own = input.get(key).and_then(Value::as_str).map(str::to_owned);
        own.unwrap_or_else(|| {
            let of = |value: &Value| text(&value["metadata"][key]);
            let new = of(&input["object"]);
            if new.is_empty() { of(&input["oldObject"]) } else { new }
        })
    };
    let name = given("name");
    let is_namespace = resource.group.is_empty() && resource.resource == "namespaces";
    let namespace = if is_namespace { name.clone() } else { given("namespace") };
    let user = &input["user"];
    let extra = user["extra"].as_object().into_iter().flatten().map(|(key, values)| (key.clone(), texts(values)));
    let mut options = input.get("options").cloned();
    let kind_of_options = match operation {
        Operation::Create => Some("CreateOptions"),
        Operation::Update => Some("UpdateOptions"),
        Operation::Delete => Some("DeleteOptions"),
        Operation::Connect => None,
    };
    if let Some(kind) = kind_of_options {
        let options = options.get_or_insert_with(|| json!({}));
        options["kind"] = json!(kind);
        options["apiVersion"] = json!("meta.k8s.io/v1");
    }
    Ok(Request {
        operation,
        resource,
        subresource,
        kind,
        name,
        namespace,
        user: Arc::new(User { name: text(&user["username"]), uid: text(&user["uid"]), groups: texts(&user["groups"]) }),
        extra: extra.collect(),
        is_dry_run: input["dryRun"] == true,
        object: new,
        old_object: old,
        options: options.map(|options| arena.alloc(options).to_value(arena)),
    })
}

fn status(status: &Status) -> Value {
    let mut out = json!({"code": status.code, "message": status.message, "reason": status.reason});
    if let Some(details) = &status.details {
        let mut shown = Map::new();
        for (key, value) in [("name", &details.name), ("group", &details.group), ("kind", &details.kind)] {
            if !value.is_empty() {
                shown.insert(key.to_owned(), json!(value));
            }
        }
        if !details.causes.is_empty() {
            let causes: Value = details.causes.iter().map(|message| json!({"message": message})).collect();
            shown.insert("causes".to_owned(), causes);
        }
        out["details"] = Value::Object(shown);
    }
    out
}

fn conditions(found: &Conditional) -> Value {
    let cost = found.cost.map_or_else(|| json!(OUT_OF_BUDGET), |cost| json!(cost));
    let mut out = json!({"matches": found.matches, "cost": cost});
    if let Some(failed) = &found.failed {
        out["failed"] = json!(failed);
    }
    if let Some(error) = &found.error {
        out["error"] = json!(error);
    }
    out
}

/// The error of a group that costs too much.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Values over 400 bytes are shortened in the records.
fn cut(text: &str) -> String {
    if text.len() <= 400 {
        return text.to_owned();
    }
    let kept = String::from_utf8_lossy(text.as_bytes().get(..100).unwrap_or_default());
    format!("{kept}… ({} bytes)", text.len())
}

fn validated(found: &kubeshape_policy::Validated) -> Value {
    let mut out = json!({"policy": found.policy, "binding": found.binding, "kind": found.kind});
    if let Some(param) = &found.param {
        out["param"] = json!(param);
    }
    if let Some(found) = &found.conditions {
        out["matchConditions"] = conditions(found);
    }
    let decisions: Vec<Value> = found
        .decisions
        .iter()
        .map(|judged| {
            let mut out = json!({"action": if judged.denies { "deny" } else { "admit" }});
            if judged.is_error {
                out["evaluation"] = json!("error");
            }
            if !judged.message.is_empty() {
                out["message"] = json!(judged.message);
            }
            if let Some(reason) = &judged.reason {
                out["reason"] = json!(reason);
            }
            out
        })
        .collect();
    if !decisions.is_empty() {
        out["decisions"] = Value::Array(decisions);
    }
    let annotations: Vec<Value> = found
        .audit_annotations
        .iter()
        .map(|annotation| {
            let action = match (&annotation.value, annotation.denies) {
                (Some(_), _) => "publish",
                (None, true) => "error",
                (None, false) => "exclude",
            };
            let mut out = json!({"key": annotation.key, "action": action});
            if let Some(value) = &annotation.value {
                out["value"] = json!(cut(value));
            }
            if let Some(error) = &annotation.error {
                out["error"] = json!(error);
            }
            out
        })
        .collect();
    if !annotations.is_empty() {
        out["auditAnnotations"] = Value::Array(annotations);
    }
    if !found.costs.is_empty() {
        let cost = |cost: &Result<i64, String>| cost.clone().map_or_else(|text| json!(text), |cost| json!(cost));
        let costs: Map<String, Value> =
            found.costs.iter().map(|(group, found)| ((*group).to_owned(), cost(found))).collect();
        out["cost"] = Value::Object(costs);
    }
    out
}

fn mutated(found: &kubeshape_policy::Mutated) -> Value {
    let mut out = json!({"pass": found.pass, "policy": found.policy, "binding": found.binding});
    if let Some(param) = &found.param {
        out["param"] = json!(param);
    }
    if let Some(found) = &found.conditions {
        out["matchConditions"] = conditions(found);
    }
    if let Some(mutation) = found.mutation {
        out["mutation"] = json!(mutation);
    }
    if let Some(cost) = found.cost {
        out["cost"] = json!(cost);
    }
    if let Some(error) = &found.error {
        out["error"] = json!(error);
    }
    out
}

fn webhook(called: &kubeshape_policy::Called) -> Value {
    let mut out = json!({"configuration": called.configuration, "name": called.name, "call": called.as_kind.is_some()});
    if let Some((resource, kind)) = &called.as_kind {
        let version = Gvk { group: resource.group.clone(), version: resource.version.clone(), kind: String::new() };
        out["resource"] = json!(format!("{} {}", version.api_version(), resource.resource));
        out["kind"] = json!(format!("{} {}", kind.api_version(), kind.kind));
    }
    if let Some(error) = &called.error {
        out["error"] = status(error);
    }
    out
}
