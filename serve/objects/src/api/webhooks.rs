//! Admission webhooks: which are called for a request, and what their responses mean (upstream:
//! `plugin/webhook/mutating`, `plugin/webhook/validating` and `webhook/request` of `k8s.io/apiserver`).

use super::{Api, Call};
use crate::status::Status;
use crate::store::{Key, Store};
use crate::value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_policy::json_patch::json_patch;
use kubeshape_policy::{Called, Gvk, Gvr, Request, World};
use kubeshape_registry::policy::{ServedKinds, StoredPolicies};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use serde_json::{Value as Json, json};
use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The group of configurations.
const GROUP: &str = "admissionregistration.k8s.io";
/// The default and the bounds of `timeoutSeconds`.
const TIMEOUT: u64 = 10;
const LONGEST: u64 = 30;
/// The maximum number of bytes that the patches of a request take, with the objects that they make.
const MAX_PATCHED: usize = 64 << 20;
/// How many webhooks may be configured of each type.
const MAX_WEBHOOKS: usize = 1_000;

/// A call of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// `clientConfig.url`; `None` for a service.
    pub url: Option<String>,
    /// `clientConfig.service`: namespace and name.
    pub service: Option<(String, String)>,
    /// `clientConfig.caBundle`: authorities in PEM format; empty for those of the system.
    pub authorities: Vec<u8>,
    /// The time until the response is complete.
    pub timeout: Duration,
    /// The body: a review as JSON.
    pub body: Vec<u8>,
}

/// Sends reviews to webhooks.
pub trait Hooks: fmt::Debug + Send + Sync {
    /// Sends a review, and returns the body of the response with code 200.
    ///
    /// # Errors
    /// The webhook cannot be reached, is too slow, or its response has another code or is too large.
    fn call(&self, call: &HookCall) -> Result<Vec<u8>, String>;
}

/// The webhooks of one type, compiled once until a configuration changes.
#[derive(Debug)]
pub(super) struct HookGate {
    id: Arc<str>,
    compiled: Mutex<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    of: Vec<(Key, u64)>,
    hooks: Option<Arc<Configured>>,
}

/// Webhooks in the order in which they are called: of configurations by name.
#[derive(Debug)]
struct Configured {
    matching: StoredPolicies,
    hooks: Vec<Hook>,
}

/// What matching does not know of a webhook.
#[derive(Clone, Debug)]
struct Hook {
    configuration: String,
    name: String,
    client: Json,
    timeout: Duration,
    /// Whether a request is refused if the webhook fails.
    fails: bool,
    /// Whether it may be called for dry runs.
    allows_dry_run: bool,
    /// Whether it is called again after others changed the object.
    is_reinvoked: bool,
}

impl Hook {
    fn all_of(configuration: &Json) -> Vec<Hook> {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        let hook = |hook: &Json| Hook {
            configuration: text(&configuration["metadata"]["name"]),
            name: text(&hook["name"]),
            client: hook["clientConfig"].clone(),
            timeout: Duration::from_secs(hook["timeoutSeconds"].as_u64().unwrap_or(TIMEOUT).clamp(1, LONGEST)),
            fails: hook["failurePolicy"] != "Ignore",
            allows_dry_run: matches!(hook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            is_reinvoked: hook["reinvocationPolicy"] == "IfNeeded",
        };
        hooks.map(hook).collect()
    }
}

impl Default for HookGate {
    fn default() -> HookGate {
        HookGate::new("")
    }
}

impl HookGate {
    pub(super) fn new(resource: &str) -> HookGate {
        HookGate { id: format!("{GROUP}/v1 {resource}").into(), compiled: Mutex::default() }
    }

    /// Returns one for the webhooks of another store.
    pub(super) fn of_another_store(&self) -> HookGate {
        HookGate { id: Arc::clone(&self.id), compiled: Mutex::default() }
    }

    /// The webhooks of a store; `None` if there are none.
    fn hooks(&self, store: &Store, api: &Api) -> Option<Arc<Configured>> {
        let stored = || store.list(&self.id, "", "");
        let of: Vec<(Key, u64)> = stored().map(|(key, object)| (key.clone(), object.revision)).collect();
        if of.is_empty() {
            return None;
        }
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.as_ref().filter(|known| known.of == of) {
            return known.hooks.clone();
        }
        let texts: Vec<_> = stored().map(|(_, object)| object.json()).collect();
        let release = api.registry.settings().release;
        let matching = StoredPolicies::new(texts.iter().map(|text| &**text), &ServedKinds::new(api), release);
        let all = texts.iter().filter_map(|text| serde_json::from_slice::<Json>(text).ok());
        let hooks: Vec<Hook> = all.flat_map(|configuration| Hook::all_of(&configuration)).take(MAX_WEBHOOKS).collect();
        let hooks = (!hooks.is_empty()).then(|| Arc::new(Configured { matching, hooks }));
        *compiled = Some(Compiled { of, hooks: hooks.clone() });
        hooks
    }
}

/// The webhooks of a call, looked up once.
#[derive(Default)]
pub(super) struct FoundHooks {
    mutating: FoundOf,
    validating: FoundOf,
}

type FoundOf = OnceCell<Option<Arc<Configured>>>;

/// The response of a webhook that allows a request.
struct Allowed {
    patch: Option<Vec<u8>>,
}

impl Call<'_> {
    /// Returns the object of a request as mutating webhooks change it.
    ///
    /// # Errors
    /// A webhook refuses the request, or fails.
    pub(super) fn mutated_by_hooks<'a>(
        &'a self,
        mut request: Request<'a>,
        world: World<'_, 'a>,
        arena: &'a Bump,
    ) -> Result<Option<Value<'a>>, Status> {
        let Some(all) = self.hooks_of(&self.hooks.mutating, &self.api.mutating) else { return Ok(None) };
        let mut is_changed = false;
        // Webhooks that were called, and whether others changed the object later.
        let mut invoked: Vec<(usize, bool)> = Vec::new();
        let mut todo: Vec<usize> = (0..all.hooks.len()).collect();
        // Which webhooks match depends on the object: it is found again when the object changes.
        let mut matching = None;
        let mut room = MAX_PATCHED;
        for round in 0..2 {
            for at in std::mem::take(&mut todo) {
                let Some(hook) = all.hooks.get(at) else { continue };
                if matching.is_none() {
                    self.goes_on()?;
                }
                let called = matching.get_or_insert_with(|| all.matching.get().webhooks(&request, world, arena));
                let Some((allowed, kind)) = self.called(hook, called, &request, arena)? else { continue };
                invoked.push((at, false));
                let Some(patch) = allowed.patch else { continue };
                let Some(object) = request.object else { continue };
                let patched = self.patched_by_hook(hook, (object, &kind), &patch, &mut room, arena)?;
                if patched == object {
                    continue;
                }
                is_changed = true;
                request.object = Some(patched);
                matching = None;
                let last = invoked.len().saturating_sub(1);
                invoked.iter_mut().take(last).for_each(|(_, is_outdated)| *is_outdated = true);
            }
            if round == 0 {
                let is_again = |(at, is_outdated): &(usize, bool)| {
                    (*is_outdated && all.hooks.get(*at).is_some_and(|hook| hook.is_reinvoked)).then_some(*at)
                };
                todo = invoked.iter().filter_map(is_again).collect();
            }
        }
        Ok(request.object.filter(|_| is_changed))
    }

    /// Judges a request with validating webhooks.
    ///
    /// # Errors
    /// A webhook refuses the request, or fails.
    pub(super) fn judged_by_hooks<'a>(
        &'a self,
        request: &Request<'a>,
        world: World<'_, 'a>,
        arena: &'a Bump,
    ) -> Result<(), Status> {
        let Some(all) = self.hooks_of(&self.hooks.validating, &self.api.validating) else { return Ok(()) };
        let called = all.matching.get().webhooks(request, world, arena);
        for hook in &all.hooks {
            self.called(hook, &called, request, arena)?;
        }
        Ok(())
    }

    /// Returns whether webhooks of a type may be called for the request.
    pub(super) fn has_webhooks(&self) -> bool {
        self.hooks_of(&self.hooks.mutating, &self.api.mutating).is_some()
            || self.hooks_of(&self.hooks.validating, &self.api.validating).is_some()
    }

    fn hooks_of<'f>(&'f self, found: &'f FoundOf, gate: &HookGate) -> Option<&'f Configured> {
        self.api.hooks.as_ref().filter(|_| self.served.group != GROUP)?;
        found.get_or_init(|| gate.hooks(self.store, self.api)).as_deref()
    }

    /// Calls a webhook, if it matches, and returns the kind of the object that it was sent. `None` if it does not, or
    /// if its failure is ignored.
    fn called<'a>(
        &'a self,
        hook: &Hook,
        called: &[Called],
        request: &Request<'a>,
        arena: &'a Bump,
    ) -> Result<Option<(Allowed, Gvk)>, Status> {
        let mut own = called.iter().filter(|one| one.configuration == hook.configuration && one.name == hook.name);
        let Some(called) = own.next() else { return Ok(None) };
        if let Some(status) = &called.error {
            return if hook.fails { Err(super::admission::of_policy(status)) } else { Ok(None) };
        }
        let Some((resource, kind)) = &called.as_kind else { return Ok(None) };
        self.goes_on()?;
        if request.is_dry_run && !hook.allows_dry_run {
            let message = format!("admission webhook {:?} does not support dry run", hook.name);
            return Err(Status::bad_request(message));
        }
        let Some(hooks) = &self.api.hooks else { return Ok(None) };
        let objects = [
            self.as_kind(request.object, &request.kind, kind, arena)?,
            self.as_kind(request.old_object, &request.kind, kind, arena)?,
        ];
        let body = review(request, objects, resource, kind, self.moment.uid).to_string().into_bytes();
        let service = &hook.client["service"];
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let call = HookCall {
            url: hook.client["url"].as_str().map(str::to_owned),
            service: service.is_object().then(|| (text(&service["namespace"]), text(&service["name"]))),
            authorities: STANDARD.decode(text(&hook.client["caBundle"])).unwrap_or_default(),
            timeout: hook.timeout,
            body,
        };
        let response = hooks.call(&call).and_then(|body| answer(&body, self.moment.uid));
        match response {
            Ok(response) if response["allowed"] == true => {
                let warnings = response["warnings"].as_array().into_iter().flatten();
                self.warn(warnings.filter_map(|one| Some(one.as_str()?.to_owned())));
                let patch = response["patch"].as_str().and_then(|patch| STANDARD.decode(patch).ok());
                Ok(Some((Allowed { patch }, kind.clone())))
            }
            Ok(response) => {
                let warnings = response["warnings"].as_array().into_iter().flatten();
                self.warn(warnings.filter_map(|one| Some(one.as_str()?.to_owned())));
                Err(denied(&hook.name, &response["status"]))
            }
            Err(error) if hook.fails => Err(failed(&hook.name, &error)),
            Err(_) => Ok(None),
        }
    }

    /// Returns an object of a request in the version that a webhook wants (upstream: `VersionedAttributes`).
    fn as_kind<'a>(
        &'a self,
        object: Option<Value<'a>>,
        from: &Gvk,
        to: &Gvk,
        arena: &'a Bump,
    ) -> Result<Option<Value<'a>>, Status> {
        let Some(object) = object.filter(|_| from != to) else { return Ok(object) };
        let api_version = arena.alloc_str(&to.api_version());
        let is_converted = self.served.converter().is_some() && from.group == to.group && from.kind == to.kind;
        if !is_converted {
            return Ok(Some(value::with(object, "apiVersion", Some(Value::String(api_version)), arena)));
        }
        let converted = self.served.in_version(object, api_version, arena);
        converted.map(Some).map_err(|status| Status::internal_error(&status.message))
    }

    /// Applies the patch of a webhook to the object of the kind that it was sent.
    fn patched_by_hook<'a>(
        &'a self,
        hook: &Hook,
        (object, kind): (Value<'a>, &Gvk),
        patch: &[u8],
        room: &mut usize,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Status> {
        let wrong = |why: &str| Status::internal_error(why);
        let (before, patch_bytes) = (arena.allocated_bytes(), patch.len());
        let (mut tape, memory) = (Tape::new(), Bump::new());
        let patch = value::parsed(patch, &mut tape, &memory).map_err(|why| wrong(&why))?.copy_into(arena);
        if patch.as_list().is_some_and(<[_]>::is_empty) {
            return Ok(object);
        }
        let own = Gvk::of(&self.served.api_version, &self.served.kind);
        let is_own = self.path.subresource == "scale" || *kind == own;
        let sent = if is_own { Some(object) } else { self.as_kind(Some(object), &own, kind, arena)? };
        let patched = json_patch(sent.unwrap_or(object), patch, arena).map_err(|error| wrong(&error.message))?;
        let back = if is_own { Some(patched) } else { self.as_kind(Some(patched), kind, &own, arena)? };
        let patched = back.unwrap_or(patched);
        let decoded = self.strategy.decode(patched, None, arena).map_err(|why| wrong(&why))?;
        let prefix = format!("admission webhook {:?} ", hook.name);
        self.warn(decoded.unknown.iter().map(|path| format!("{prefix}set an unknown field: {path}")));
        let made = arena.allocated_bytes().saturating_sub(before).max(patch_bytes);
        *room = room.checked_sub(made).ok_or_else(|| {
            wrong(&format!("the patches of webhooks take more than {MAX_PATCHED} bytes for one request"))
        })?;
        Ok(decoded.value)
    }
}

/// The review that is sent to a webhook (`CreateV1AdmissionReview`).
fn review(request: &Request<'_>, [object, old]: [Option<Value<'_>>; 2], resource: &Gvr, kind: &Gvk, uid: &str) -> Json {
    let of_kind = |kind: &Gvk| json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let of_resource = |of: &Gvr| json!({"group": of.group, "version": of.version, "resource": of.resource});
    let json = |object: Option<Value<'_>>| -> Json {
        let Some(object) = object else { return Json::Null };
        let mut text = Vec::new();
        object.write_go_json(&mut text);
        serde_json::from_slice(&text).unwrap_or_default()
    };
    let mut user = json!({"username": request.user.name, "groups": request.user.groups});
    if !request.user.uid.is_empty() {
        user["uid"] = request.user.uid.clone().into();
    }
    if !request.extra.is_empty() {
        user["extra"] = request.extra.iter().map(|(key, values)| (key.clone(), values.clone())).collect();
    }
    let mut sent = json!({
        "uid": uid,
        "kind": of_kind(kind),
        "resource": of_resource(resource),
        "requestKind": of_kind(&request.kind),
        "requestResource": of_resource(&request.resource),
        "operation": request.operation.name(),
        "userInfo": user,
        "object": json(object),
        "oldObject": json(old),
        "dryRun": request.is_dry_run,
        "options": request.options.map_or(Json::Null, |options| {
            let mut text = Vec::new();
            options.write_go_json(&mut text);
            serde_json::from_slice(&text).unwrap_or_default()
        }),
    });
    for (key, text) in [("name", &request.name), ("namespace", &request.namespace)] {
        if !text.is_empty() {
            sent[key] = text.clone().into();
        }
    }
    if !request.subresource.is_empty() {
        sent["subResource"] = request.subresource.clone().into();
        sent["requestSubResource"] = request.subresource.clone().into();
    }
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": sent})
}

/// Returns the response in a review (`VerifyAdmissionResponse`).
fn answer(body: &[u8], uid: &str) -> Result<Json, String> {
    let invalid = |why: String| format!("received invalid webhook response: {why}");
    let mut review: Json = serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&review["apiVersion"]), text(&review["kind"]));
    if (version.as_str(), kind.as_str()) != ("admission.k8s.io/v1", "AdmissionReview") {
        let wrong = format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {version}, Kind={kind}"
        );
        return Err(invalid(wrong));
    }
    let response = review["response"].take();
    if !response.is_object() {
        return Err("webhook response was absent".to_owned());
    }
    let own = text(&response["uid"]);
    if own != uid {
        return Err(invalid(format!("expected response.uid={uid:?}, got {own:?}")));
    }
    if response["patch"].is_string() && response["patchType"] != "JSONPatch" {
        return Err(invalid(format!("response.patchType is {}, expected JSONPatch", response["patchType"])));
    }
    Ok(response)
}

/// The response to a request that a webhook refuses (`ToStatusErr`).
fn denied(name: &str, status: &Json) -> Status {
    let by = format!("admission webhook {name:?} denied the request");
    let (message, reason) =
        (status["message"].as_str().unwrap_or_default(), status["reason"].as_str().unwrap_or_default());
    let message = match (message, reason) {
        ("", "") => format!("{by} without explanation"),
        ("", reason) => format!("{by}: {reason}"),
        (message, _) => format!("{by}: {message}"),
    };
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| *code < 600);
    Status { code: code.unwrap_or(0).max(400), reason: reason.to_owned().into(), message, details: None }
}

/// The response to a request for which a webhook fails (`ErrCallingWebhook`).
fn failed(name: &str, error: &str) -> Status {
    Status::internal_error(&format!("failed calling webhook {name:?}: failed to call webhook: {error}"))
}
