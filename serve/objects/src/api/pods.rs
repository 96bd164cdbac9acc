//! Binding and evicting Pods, and their ephemeral containers (upstream: `BindingREST`, `EvictionREST` and
//! `EphemeralContainersREST` of `pkg/registry/core/pod`).

use super::delete::Options;
use super::plugins::MIRROR;
use super::served::Served;
use super::{Call, Outcome, Then, Write};
use crate::access::selector_of;
use crate::options::WriteParameters;
use crate::status::{Cause, Details, GroupResource, Status};
use crate::store::{Change, Draft, Key, Stored, Then as Becomes};
use crate::value::with_meta;
use crate::{value, wire};
use kubeshape_policy::Operation;
use kubeshape_schema::field::{Error, Path};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use kubeshape_yaml::go::escape::GoQuoted;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Evictions that the controller of budgets has not confirmed (upstream: `MaxDisruptedPodSize`).
const MAX_DISRUPTED: usize = 2000;
/// The subresource of Pods that adds containers to one that runs.
pub(super) const EPHEMERAL: &str = "ephemeralcontainers";
/// The subresource of Pods that changes the resources of one that runs.
pub(super) const RESIZE: &str = "resize";
/// The field of ephemeral containers.
const EPHEMERAL_FIELD: &str = "ephemeralContainers";
/// Conditions of Pods.
const SCHEDULED: &str = "PodScheduled";
const DISRUPTED: &str = "DisruptionTarget";
/// The condition of budgets, and the reason that their controller gives for a failure.
const ALLOWED: &str = "DisruptionAllowed";
const SYNC_FAILED: &str = "SyncFailed";

fn text<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Json, key: &str) -> i64 {
    value[key].as_i64().unwrap_or(0)
}

/// The answer to a request that was done.
fn success() -> Status {
    Status { code: 201, reason: "".into(), message: String::new(), details: None }
}

/// What is stored of a changed object.
fn draft(served: &Served, object: &Json) -> Result<Draft, Status> {
    let (text, mut tape, arena) = (object.to_string(), Tape::new(), Bump::new());
    served.storable(value::parsed(text.as_bytes(), &mut tape, &arena).map_err(Status::internal)?, &arena)
}

/// Sets a condition of a Pod. It keeps the time of its last transition while its status is the same (upstream:
/// `UpdatePodCondition`).
fn set_condition(pod: &mut Json, kind: &str, reason: &str, message: &str, now: &str) {
    let mut condition = json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    for (key, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            condition[key] = text.into();
        }
    }
    if !pod["status"].is_object() {
        pod["status"] = json!({});
    }
    let conditions = &mut pod["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(all) = conditions.as_array_mut() else { return };
    match all.iter_mut().find(|known| known["type"] == kind) {
        Some(known) => {
            if known["status"] == "True" {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
        None => all.push(condition),
    }
}

/// 429: a budget does not allow an eviction now.
fn refused(retry_after_seconds: i32, why: String) -> Status {
    let cause = Cause { reason: "DisruptionBudget".into(), message: why, field: String::new() };
    let details = Details { causes: vec![cause], retry_after_seconds, ..Details::default() };
    Status {
        code: 429,
        reason: "TooManyRequests".into(),
        message: "Cannot evict pod as it would violate the pod's disruption budget.".to_owned(),
        details: Some(details.into()),
    }
}

/// Decides whether a budget allows an eviction, and counts it (upstream: `checkAndDecrement`).
fn count(budget: &mut Json, pod: &str, now: &str) -> Result<(), Status> {
    let name = text(&budget["metadata"], "name").to_owned();
    let status = &budget["status"];
    let of = GroupResource { group: "policy", resource: "poddisruptionbudget" };
    if number(status, "observedGeneration") < number(&budget["metadata"], "generation") {
        return Err(refused(10, format!("The disruption budget {name} is still being processed by the server.")));
    }
    let allowed = number(status, "disruptionsAllowed");
    if allowed < 0 {
        return Err(Status::forbidden(of, &name, "pdb disruptions allowed is negative"));
    }
    if status["disruptedPods"].as_object().is_some_and(|pods| pods.len() > MAX_DISRUPTED) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(of, &name, why));
    }
    let all = status["conditions"].as_array();
    let condition = all.into_iter().flatten().find(|condition| condition["type"] == ALLOWED);
    if allowed == 0 {
        let is_false = condition.filter(|one| one["status"] == "False" && !text(one, "message").is_empty());
        let (healthy, desired) = (number(status, "currentHealthy"), number(status, "desiredHealthy"));
        let start = format!("The disruption budget {name}");
        return Err(refused(
            0,
            match is_false {
                Some(one) if one["reason"] == SYNC_FAILED => {
                    let message = text(one, "message");
                    format!("{start} does not allow evicting pods currently because it failed sync: {message}")
                }
                _ if healthy <= desired => format!("{start} needs {desired} healthy pods and has {healthy} currently"),
                Some(one) => {
                    let (reason, message) = (text(one, "reason"), text(one, "message"));
                    format!("{start} does not allow evicting pods currently ({reason}): {message}")
                }
                None => format!("{start} does not allow evicting pods currently"),
            },
        ));
    }
    budget["status"]["disruptionsAllowed"] = (allowed - 1).into();
    if allowed == 1 {
        let mut condition = json!({
            "type": ALLOWED, "status": "False", "reason": "InsufficientPods", "message": "", "lastTransitionTime": now,
            "observedGeneration": number(&budget["status"], "observedGeneration"),
        });
        if !budget["status"]["conditions"].is_array() {
            budget["status"]["conditions"] = json!([]);
        }
        let all = budget["status"]["conditions"].as_array_mut();
        if let Some(known) = all.and_then(|all| {
            if !all.iter().any(|one| one["type"] == ALLOWED) {
                all.push(json!({"type": ALLOWED}));
            }
            all.iter_mut().find(|one| one["type"] == ALLOWED)
        }) {
            if known["status"] == "False" {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
    }
    if !budget["status"]["disruptedPods"].is_object() {
        budget["status"]["disruptedPods"] = json!({});
    }
    budget["status"]["disruptedPods"][pod] = now.into();
    Ok(())
}

/// Returns the stored Pod with other ephemeral containers (upstream: `dropNonEphemeralContainerUpdates`).
pub(super) fn with_ephemeral_containers<'a>(pod: Value<'a>, live: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let containers = pod.get("spec").and_then(|spec| spec.get(EPHEMERAL_FIELD));
    let spec = live.get("spec").unwrap_or(Value::Map(Map::EMPTY));
    let spec = value::with(spec, EPHEMERAL_FIELD, containers.filter(|value| !value.is_null()), arena);
    let metadata = value::metadata(pod);
    let mut out = value::with(live, "spec", Some(spec), arena);
    for key in ["managedFields", "resourceVersion"] {
        out = with_meta(out, key, metadata.get(key), arena);
    }
    out
}

fn ephemeral_containers(pod: Value<'_>) -> &[Value<'_>] {
    pod.get("spec").and_then(|spec| spec.get(EPHEMERAL_FIELD)?.as_list()).unwrap_or_default()
}

/// Checks that ephemeral containers are only added (upstream: `ValidatePodEphemeralContainersUpdate`).
pub(super) fn ephemeral_errors(pod: Value<'_>, live: Value<'_>) -> Vec<Error> {
    let is_mirror = value::metadata(live).get("annotations").is_some_and(|all| all.get(MIRROR).is_some());
    if is_mirror {
        return vec![Error::forbidden(&Path::Base(""), "static pods do not support ephemeral containers", 0)];
    }
    let name = |of: &Value<'_>| of.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let new: BTreeMap<String, &Value<'_>> =
        ephemeral_containers(pod).iter().map(|container| (name(container), container)).collect();
    let path = Path::Base("spec");
    let path = path.child(EPHEMERAL_FIELD);
    let error = |old: &Value<'_>| {
        let name = name(old);
        let what = match new.get(&name) {
            None => "removed",
            Some(new) if *new != old => "changed",
            Some(_) => return None,
        };
        let name = GoQuoted(&name);
        Some(Error::forbidden(&path, format!("existing ephemeral containers {name} may not be {what}\n"), 0))
    };
    ephemeral_containers(live).iter().filter_map(error).collect()
}

impl Call<'_> {
    /// Returns the object of a subresource in the body.
    fn sent_to_pod(&self, kind: &str, versions: &[&str]) -> Result<Json, Status> {
        let body = self.transcoded()?;
        let body = match wire::protobuf_to_json(&body, self.release()) {
            Some(read) => Cow::Owned(read.map_err(|why| self.unreadable(&why))?),
            None => body,
        };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        value::read_body(&body, &mut tape).map_err(|why| self.unreadable(&why))?;
        let mut json = Vec::new();
        value::of_tape(&body, &tape, &arena).write_go_json(&mut json);
        let sent: Json = serde_json::from_slice(&json).map_err(|why| self.unreadable(&why.to_string()))?;
        let found = (text(&sent, "apiVersion"), text(&sent, "kind"));
        let fits = (found.0.is_empty() || versions.contains(&found.0)) && (found.1.is_empty() || found.1 == kind);
        if !sent.is_object() || !fits {
            let found = format!("{}, Kind={}", found.0, found.1);
            let expected = versions.join(" or ");
            return Err(Status::bad_request(format!("the body is {found}, expected {expected}, Kind={kind}")));
        }
        if text(&sent["metadata"], "name") != self.path.name {
            return Err(Status::bad_request(format!("name in URL does not match name in {kind} object")));
        }
        Ok(sent)
    }

    /// Checks what a kubelet sends to a subresource.
    pub(super) fn node_may_send(&self, sent: &Json) -> Result<(), Status> {
        let (sent, mut tape, arena) = (sent.to_string(), Tape::new(), Bump::new());
        let object = value::parsed(sent.as_bytes(), &mut tape, &arena).map_err(Status::internal)?;
        self.node_may(Operation::Create, Some(object), None, &arena)
    }

    /// Judges what is sent to a subresource: its object is not stored.
    pub(super) fn judged(&self, sent: &Json, is_dry_run: bool) -> Result<(), Status> {
        let (sent, mut tape, arena) = (sent.to_string(), Tape::new(), Bump::new());
        let object = value::parsed(sent.as_bytes(), &mut tape, &arena).map_err(Status::internal)?;
        self.policed(Operation::Create, Some(object), None, is_dry_run, &arena)
    }

    /// Binds a Pod to a node.
    pub(super) fn bind(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let parameters = WriteParameters::read(self.request.query, "CreateOptions", false)?;
        let sent = self.sent_to_pod("Binding", &["v1"])?;
        self.node_may_send(&sent)?;
        let target = &sent["target"];
        let path = Path::Base("target");
        let mut errors: Vec<String> = Vec::new();
        if !["", "Node"].contains(&text(target, "kind")) {
            let known = ["Node", "<empty>"];
            errors.push(Error::not_supported(&path.child("kind"), text(target, "kind"), &known, 0).to_string());
        }
        if text(target, "name").is_empty() {
            errors.push(Error::required(&path.child("name"), "", 0).to_string());
        }
        match &errors[..] {
            [] => {}
            [one] => return Err(Status::internal(one.clone())),
            all => return Err(Status::internal(format!("[{}]", all.join(", ")))),
        }
        self.judged(&sent, parameters.dry_run)?;
        let old = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let mut pod: Json = serde_json::from_slice(old.as_json()).map_err(|why| Status::internal(why.to_string()))?;
        let name = self.path.name;
        for (what, key) in [("UID", "uid"), ("ResourceVersion", "resourceVersion")] {
            let (asked, found) = (text(&sent["metadata"], key), text(&pod["metadata"], key));
            if !asked.is_empty() && asked != found {
                let why =
                    format!("Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}");
                return Err(Status::conflict(self.group_resource(), name, &why));
            }
        }
        let node = text(&pod["spec"], "nodeName");
        let why = if pod["metadata"]["deletionTimestamp"].is_string() {
            format!("pod {name} is being deleted, cannot be assigned to a host")
        } else if !node.is_empty() {
            format!("pod {name} is already assigned to node {node:?}")
        } else if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
            format!("pod {name} has non-empty .spec.schedulingGates")
        } else {
            String::new()
        };
        if !why.is_empty() {
            let of = GroupResource { group: "", resource: "pods/binding" };
            return Err(Status::conflict(of, name, &why));
        }
        pod["spec"]["nodeName"] = target["name"].clone();
        for key in ["annotations", "labels"] {
            let added = sent["metadata"][key].as_object();
            if added.is_some() && !pod["metadata"][key].is_object() {
                pod["metadata"][key] = json!({});
            }
            for (name, value) in added.into_iter().flatten() {
                pod["metadata"][key][name] = value.clone();
            }
        }
        if let Some(status) = pod["status"].as_object_mut() {
            status.remove("nominatedNodeName");
        }
        set_condition(&mut pod, SCHEDULED, "", "", &self.moment.now.to_string());
        let then = Becomes::Stored(draft(self.served, &pod)?);
        let change = Change { key: self.key(), expected: Some(old.revision), then };
        self.written(change, parameters.dry_run, Then::Done(success().into()), shown)
    }

    /// Evicts a Pod: deletes it, if the budgets of its namespace allow this.
    pub(super) fn evict(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let parameters = WriteParameters::read(self.request.query, "CreateOptions", false)?;
        let sent = self.sent_to_pod("Eviction", &["policy/v1", "policy/v1beta1"])?;
        self.node_may_send(&sent)?;
        let mut options = Options::of_json(&sent["deleteOptions"]);
        options.dry_run |= parameters.dry_run;
        self.judged(&sent, options.dry_run)?;
        let old = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let mut pod: Json = serde_json::from_slice(old.as_json()).map_err(|why| Status::internal(why.to_string()))?;
        let now = self.moment.now.to_string();
        let is_terminating = pod["metadata"]["deletionTimestamp"].is_string();
        let mut changes = Vec::new();
        if !is_terminating && !matches!(text(&pod["status"], "phase"), "Succeeded" | "Failed" | "Pending") {
            changes.extend(self.budget_for(&pod, &now)?);
        }
        self.has_preconditions(&options, &pod)?;
        let before = pod.clone();
        set_condition(&mut pod, DISRUPTED, "EvictionByEvictionAPI", "Eviction API: evicting", &now);
        // Watches see the condition before the Pod goes (upstream: `addConditionAndDeletePod`).
        if pod != before {
            let then = Becomes::Stored(draft(self.served, &pod)?);
            changes.push(Change { key: self.key(), expected: Some(old.revision), then });
        }
        let (made, mut tape, arena) = (pod.to_string(), Tape::new(), Bump::new());
        let made = value::parsed(made.as_bytes(), &mut tape, &arena).map_err(Status::internal)?;
        changes.extend(self.marked_or_gone(&self.key(), old, made, &options, &arena)?.0);
        if options.dry_run {
            changes.clear();
        }
        let changes = self.with_quotas(changes)?;
        Ok(Outcome::Write(Write { changes, then: Then::Done(success().into()), shown, warnings: self.warnings() }))
    }

    /// Checks what has to hold when the Pod is deleted.
    fn has_preconditions(&self, options: &Options, pod: &Json) -> Result<(), Status> {
        let name = self.path.name;
        let of = GroupResource { group: "", resource: "Pod" };
        let (uid, revision) = (text(&pod["metadata"], "uid"), text(&pod["metadata"], "resourceVersion"));
        let why = if !options.uid.is_empty() && options.uid != uid {
            format!(
                "the UID in the precondition ({}) does not match the UID in record ({uid}). The object might have been \
                 deleted and then recreated",
                options.uid
            )
        } else if !options.revision.is_empty() && options.revision != revision {
            format!(
                "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record \
                 ({revision}). The object might have been modified",
                options.revision
            )
        } else {
            return Ok(());
        };
        Err(Status::conflict(of, name, &why))
    }

    /// The change of the budget that guards a Pod; `None` if none does (upstream: `getPodDisruptionBudgets`).
    fn budget_for(&self, pod: &Json, now: &str) -> Result<Option<Change>, Status> {
        let Some(served) = self.api.documents.find("policy", "v1", "poddisruptionbudgets") else { return Ok(None) };
        let prefix = format!("{}/", self.path.namespace);
        let guards = |(key, stored): (&Key, &Arc<Stored>)| {
            let budget: Json = serde_json::from_slice(stored.as_json()).ok()?;
            let selector = &budget["spec"]["selector"];
            let selector = selector_of(selector).filter(|_| selector.is_object())?;
            let guards = selector.matches(|label| pod["metadata"]["labels"][label].as_str());
            guards.then(|| (key.clone(), stored.revision, budget))
        };
        let mut found = self.store.list(&served.id, &prefix, "").filter_map(guards);
        let Some((key, revision, mut budget)) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
                           support.";
            return Err(Status { code: 500, reason: "".into(), message: message.to_owned(), details: None });
        }
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let is_ready = conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True");
        let status = &budget["status"];
        let has_enough = number(status, "desiredHealthy") > 0
            && number(status, "currentHealthy") >= number(status, "desiredHealthy");
        if !is_ready && (budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" || has_enough) {
            return Ok(None);
        }
        count(&mut budget, self.path.name, now)?;
        let then = Becomes::Stored(draft(served, &budget)?);
        Ok(Some(Change { key, expected: Some(revision), then }))
    }
}
