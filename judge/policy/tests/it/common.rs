//! Kinds for tests, and the evaluation of requests.

use kubeshape_policy::{
    Access, Authorizer, DeclType, Decoded, Given, Gvk, Gvr, Kinds, Known, MergeError, Operation, Policies, Release,
    Request, User, Verdict, World,
};
use kubeshape_value::{Bump, Map, Stop, ToValue, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Serves only ConfigMaps; decoding does not change objects.
pub(crate) struct ConfigMaps;

impl Kinds for ConfigMaps {
    fn kind(&self, gvk: &Gvk) -> Option<Known> {
        let known = Known { resource: "configmaps".to_owned(), is_namespaced: true, is_built_in: true };
        (*gvk == Gvk::of("v1", "ConfigMap")).then_some(known)
    }

    fn of_resource(&self, resource: &Gvr) -> Option<Gvk> {
        (resource.resource == "configmaps").then(|| Gvk::of("v1", "ConfigMap"))
    }

    fn of_any_group(&self, version: &str, resource: &str) -> Vec<Gvk> {
        self.of_resource(&Gvr::new("", version, resource)).into_iter().collect()
    }

    fn equivalents(&self, _: &Gvr) -> Vec<Gvr> {
        Vec::new()
    }

    fn decode<'a>(&self, _: &Gvk, object: Value<'a>, _: &'a Bump) -> Result<Decoded<'a>, String> {
        Ok(Decoded { value: object, unknown: Vec::new() })
    }

    fn merge<'a>(&self, _: &Gvk, live: Value<'a>, patch: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, MergeError> {
        Ok(merged(live, patch, arena))
    }

    fn declared(&self, _: &Gvk) -> Option<Arc<DeclType>> {
        None
    }
}

fn merged<'a>(live: Value<'a>, patch: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (Value::Map(live), Value::Map(patch)) = (live, patch) else { return patch };
    let mut out: Vec<(&str, Value<'a>)> = live.entries().to_vec();
    for (key, value) in patch.entries() {
        let old = live.get(key).unwrap_or(Value::Null);
        out.retain(|(own, _)| own != key);
        out.push((key, merged(old, *value, arena)));
    }
    Value::Map(Map::from_entries(out, arena))
}

/// Alice may do everything.
#[derive(Debug)]
pub(crate) struct Alice;

impl Authorizer for Alice {
    fn decide(&self, access: &Access) -> Verdict {
        Verdict { allowed: access.user.name == "alice", ..Verdict::default() }
    }
}

/// A request and its policies.
pub(crate) struct Asked {
    pub(crate) policies: Vec<Json>,
    pub(crate) object: Json,
    pub(crate) user: &'static str,
    pub(crate) params: Vec<Json>,
}

/// The parts of a response that tests check.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) message: Option<String>,
    pub(crate) code: u16,
    pub(crate) object: Option<Json>,
    pub(crate) warnings: Vec<String>,
    pub(crate) annotations: Vec<(String, String)>,
}

/// Returns a policy about created ConfigMaps, and its binding.
pub(crate) fn policy(kind: &str, name: &str, spec: Json) -> Vec<Json> {
    let mut spec = spec;
    let actions = spec.as_object_mut().and_then(|spec| spec.remove("actions")).unwrap_or(json!(["Deny"]));
    let param_ref = spec.as_object_mut().and_then(|spec| spec.remove("paramRef"));
    spec["matchConstraints"] = json!({"resourceRules": [{
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]});
    let api_version = "admissionregistration.k8s.io/v1";
    let mut binding = json!({"policyName": name, "validationActions": actions});
    if let Some(param_ref) = param_ref {
        binding["paramRef"] = param_ref;
    }
    vec![
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}),
        json!({"apiVersion": api_version, "kind": format!("{kind}Binding"),
            "metadata": {"name": format!("{name}-binding")}, "spec": binding}),
    ]
}

/// Evaluates the creation of a ConfigMap in the namespace `default`.
pub(crate) fn judged(asked: &Asked) -> Answer {
    let arena = Bump::new();
    let objects = asked.policies.iter().map(|policy| policy.to_value(&arena));
    let policies = Policies::read(objects, &ConfigMaps, Release::DEFAULT, &arena);
    let namespace = json!({"metadata": {"name": "default", "labels": {"env": "prod"}}});
    let namespaces = [namespace.to_value(&arena)];
    let params: Vec<Value<'_>> = asked.params.iter().map(|param| param.to_value(&arena)).collect();
    let authorizer: Arc<dyn Authorizer> = Arc::new(Alice);
    let given = Given { namespaces: &namespaces, params: &params };
    let world = World { kinds: &ConfigMaps, objects: &given, authorizer: &authorizer, stop: Stop::NEVER };
    let request = Request {
        operation: Operation::Create,
        resource: Gvr::new("", "v1", "configmaps"),
        subresource: String::new(),
        kind: Gvk::of("v1", "ConfigMap"),
        name: "c".to_owned(),
        namespace: "default".to_owned(),
        user: Arc::new(User { name: asked.user.to_owned(), ..User::default() }),
        extra: Vec::new(),
        is_dry_run: false,
        object: Some(asked.object.to_value(&arena)),
        old_object: None,
        options: None,
    };
    let decision = policies.evaluate(&request, world, &arena);
    Answer {
        code: decision.status.as_ref().map_or(200, |status| status.code),
        message: decision.status.map(|status| status.message),
        object: decision.object.map(Value::to_serde),
        warnings: decision.warnings,
        annotations: decision.audit_annotations.into_iter().collect(),
    }
}

/// Like [`judged`], for Alice and without parameters.
pub(crate) fn judge(policies: Vec<Json>, object: Json) -> Answer {
    judged(&Asked { policies, object, user: "alice", params: Vec::new() })
}

/// Returns a ConfigMap with data.
pub(crate) fn config_map(data: &Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}, "data": data})
}
