//! Conversion webhooks: the review that is sent to the webhook of a definition, and what its response may change
//! (upstream: `webhook_converter.go` of `k8s.io/apiextensions-apiserver`).

use super::webhooks::{HookCall, Hooks};
use crate::status::Status;
use crate::value::{self, meta_text, metadata, with, with_meta};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_registry::kind::Kind;
use kubeshape_schema::field::{Errors, Path};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::metadata::{annotations, labels};
use kubeshape_yaml::{Node, Tape};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time until a webhook has converted objects.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How many objects are sent together, and after how many bytes no more are added.
pub(super) const MAX_BATCH: usize = 500;
pub(super) const MAX_BATCH_BYTES: usize = 1 << 20;
/// How many times larger than an object its converted form may be, and how many bytes it may have in addition.
const MAX_GROWTH: usize = 4;
const MAX_ADDED: usize = 16 << 10;
const GROUP: &str = "apiextensions.k8s.io";

/// The webhook of a definition.
#[derive(Debug)]
pub(super) struct Converter {
    url: Option<String>,
    service: Option<(String, String)>,
    authorities: Vec<u8>,
    /// The version of reviews; `None` if the webhook supports none that is known.
    version: Option<&'static str>,
    hooks: OnceLock<Arc<dyn Hooks>>,
    /// The number of reviews, for their uids.
    reviews: AtomicU64,
}

impl Converter {
    /// Reads the webhook of the definition of a kind. `None` if no webhook converts its objects.
    pub(super) fn of(kind: &Kind) -> Option<Converter> {
        let conversion = kind.definition().location().node().get("spec")?.get("conversion")?;
        if conversion.get("strategy")?.as_str() != Some("Webhook") {
            return None;
        }
        // The second place is that of v1beta1.
        let webhook = conversion.get("webhook").unwrap_or(conversion);
        let client = webhook.get("clientConfig").or_else(|| webhook.get("webhookClientConfig"));
        let text = |node: Option<Node<'_>>| Some(node?.as_str()?.to_owned());
        let service = client.and_then(|client| client.get("service")).filter(|service| !service.is_null());
        let authorities = text(client.and_then(|client| client.get("caBundle"))).unwrap_or_default();
        let authorities = STANDARD.decode(authorities.trim()).unwrap_or_default();
        let version = |name: &str| ["v1", "v1beta1"].into_iter().find(|known| *known == name);
        let versions = webhook.get("conversionReviewVersions");
        Some(Converter {
            url: text(client.and_then(|client| client.get("url"))),
            service: service.map(|service| {
                (text(service.get("namespace")).unwrap_or_default(), text(service.get("name")).unwrap_or_default())
            }),
            authorities: if authorities.trim_ascii().is_empty() { Vec::new() } else { authorities },
            version: versions.and_then(|all| all.items().find_map(|name| version(name.as_str()?))),
            hooks: OnceLock::new(),
            reviews: AtomicU64::new(0),
        })
    }

    /// Calls the webhook from now on.
    pub(super) fn call_with(&self, hooks: &Arc<dyn Hooks>) {
        let _ = self.hooks.set(Arc::clone(hooks));
    }

    /// Returns whether the webhook is called.
    pub(super) fn is_called(&self) -> bool {
        self.hooks.get().is_some()
    }

    /// Converts objects of one kind in one review.
    ///
    /// # Errors
    /// The webhook cannot be reached or is too slow, or it changed what it may not change: 500.
    pub(super) fn convert<'a>(
        &self,
        objects: &[Value<'a>],
        api_version: &str,
        arena: &'a Bump,
    ) -> Result<Vec<Value<'a>>, Status> {
        let (Some(first), Some(hooks)) = (objects.first(), self.hooks.get()) else { return Ok(objects.to_vec()) };
        let text = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or_default();
        let of = format!("conversion webhook for {}, Kind={} ", text("apiVersion"), text("kind"));
        let wrong = |why: String| Status::internal(format!("{of}{why}"));
        let version = self.version.ok_or_else(|| Status::internal("no supported conversion review versions"))?;
        let uid = format!("00000000-0000-4000-8000-{:012x}", self.reviews.fetch_add(1, Relaxed) & 0xffff_ffff_ffff);
        let call = HookCall {
            url: self.url.clone(),
            service: self.service.clone(),
            authorities: self.authorities.clone(),
            timeout: TIMEOUT,
            body: review(objects, version, api_version, &uid),
        };
        let body = hooks.call(&call).map_err(|why| wrong(format!("failed: {why}")))?;
        let mut tape = Tape::new();
        value::read_body(&body, &mut tape)
            .map_err(|why| wrong(format!("failed: couldn't get version/kind; json parse error: {why}")))?;
        let memory = Bump::new();
        let answer = value::of_tape(&body, &tape, &memory);
        let converted = converted(answer, version, &uid).map_err(|why| wrong(format!("failed: {why}")))?;
        if converted.len() != objects.len() {
            return Err(wrong(format!("returned {} objects, expected {}", converted.len(), objects.len())));
        }
        let pairs = objects.iter().zip(converted);
        let checked = pairs.map(|(original, made)| {
            let made =
                checked(*original, *made, api_version, &memory).map_err(|why| wrong(format!("returned {why}")))?;
            Ok(made.copy_into(arena))
        });
        checked.collect()
    }
}

/// The review (upstream: `createConversionReviewObjects`). The response is empty.
fn review(objects: &[Value<'_>], version: &str, api_version: &str, uid: &str) -> Vec<u8> {
    let mut out = format!(r#"{{"kind":"ConversionReview","apiVersion":"{GROUP}/{version}","request":{{"#).into_bytes();
    out.extend_from_slice(format!(r#""uid":"{uid}","desiredAPIVersion":"#).as_bytes());
    Value::String(api_version).write_go_json(&mut out);
    out.extend_from_slice(b",\"objects\":[");
    for (at, object) in objects.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        object.write_go_json(&mut out);
    }
    out.extend_from_slice(br#"]},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}"#);
    out.push(b'\n');
    out
}

/// The objects in a response (upstream: `getConvertedObjectsFromResponse`).
fn converted<'a>(answer: Value<'a>, version: &str, uid: &str) -> Result<&'a [Value<'a>], String> {
    let text = |of: Value<'a>, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default();
    let of_kind = (text(answer, "apiVersion"), text(answer, "kind"));
    let is_v1 = version == "v1";
    if is_v1 && of_kind != (&*format!("{GROUP}/v1"), "ConversionReview") {
        let expected = format!("{GROUP}/v1, Kind=ConversionReview");
        return Err(format!("expected webhook response of {expected}, got {}, Kind={}", of_kind.0, of_kind.1));
    }
    let response = answer.get("response").filter(|response| !response.is_null());
    let response = response.ok_or("no response provided")?;
    let own = text(response, "uid");
    if is_v1 && own != uid {
        return Err(format!("expected response.uid={uid:?}, got {own:?}"));
    }
    let result = response.get("result").unwrap_or(Value::Null);
    match (text(result, "status"), text(result, "message")) {
        ("Success", _) => Ok(response.get("convertedObjects").and_then(Value::as_list).unwrap_or_default()),
        (status, "") => Err(format!("response.result.status was '{status}', not 'Success'")),
        (_, message) => Err(message.to_owned()),
    }
}

/// Returns a converted object with the metadata of the original, but its own labels and annotations.
fn checked<'a>(
    original: Value<'a>,
    converted: Value<'a>,
    api_version: &str,
    arena: &'a Bump,
) -> Result<Value<'a>, String> {
    let text = |of: Value<'a>, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default();
    let kinds = (text(original, "kind"), text(converted, "kind"));
    let invalid = |what: &str, expected: &str, received: &str| {
        Err(format!("invalid object at index 0: invalid {what} (expected {expected}, received {received})"))
    };
    if text(converted, "apiVersion") != api_version {
        return invalid("groupVersion", api_version, text(converted, "apiVersion"));
    }
    if kinds.0 != kinds.1 {
        return invalid("kind", kinds.0, kinds.1);
    }
    for (what, key) in [("name", "name"), ("namespace", "namespace"), ("UID", "uid")] {
        let (expected, received) = (meta_text(original, key), meta_text(converted, key));
        if expected != received {
            return Err(format!("invalid object: must have the same {what}: {expected} != {received}"));
        }
    }
    let made = restored(original, converted, arena).map_err(|why| format!("invalid metadata: {why}"))?;
    let most = original.json_len(usize::MAX).unwrap_or(0).saturating_mul(MAX_GROWTH).saturating_add(MAX_ADDED);
    if made.json_len(most).is_none() {
        return Err(format!("an object with more than {most} bytes: at most {MAX_GROWTH} times those of the original"));
    }
    Ok(made)
}

/// Upstream: `restoreObjectMeta`.
fn restored<'a>(original: Value<'a>, converted: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, String> {
    let sent = converted.get("metadata").ok_or("missing metadata in converted object")?;
    if sent.as_map().is_none() {
        return Err(format!("invalid metadata of type {} in converted object", sent.go_type()));
    }
    let own = original.get("metadata").unwrap_or(Value::Map(Map::EMPTY));
    let mut made = with(converted, "metadata", Some(own), arena);
    for name in ["labels", "annotations"] {
        let field = sent.get(name).filter(|field| !field.is_null());
        let Some(field) = field else {
            made = with_meta(made, name, None, arena);
            continue;
        };
        let wrong = |value: Value<'_>, whose: &str| {
            format!("invalid metadata.{name} of type {} in {whose} object", value.go_type())
        };
        let map = field.as_map().ok_or_else(|| wrong(field, "converted"))?;
        let before = metadata(original).get(name).unwrap_or(Value::Null);
        if !before.is_null() && before.as_map().is_none() {
            return Err(wrong(before, "original"));
        }
        let text = |(key, value): &(&'a str, Value<'a>)| match value {
            Value::String(text) => Ok((*key, *text)),
            other => {
                let kind = other.go_type();
                Err(format!("metadata.{name}[{key}] must be a string, but is {kind} in converted object"))
            }
        };
        let texts = map.entries().iter().map(text).collect::<Result<Vec<_>, _>>()?;
        if before != field {
            check(name, &texts)?;
        }
        made = with_meta(made, name, Some(field), arena);
    }
    Ok(made)
}

/// Checks changed labels or annotations.
fn check(name: &str, texts: &[(&str, &str)]) -> Result<(), String> {
    let mut errors = Errors::default();
    let metadata = Path::Base("metadata");
    if name == "labels" {
        labels(texts, &metadata.child("labels"), 0, &mut errors);
    } else {
        // Upstream names the field so.
        annotations(texts, &metadata.child("annotation"), 0, &mut errors);
    }
    let mut all: Vec<String> = errors.into_vec().iter().map(ToString::to_string).collect();
    all.dedup();
    match &all[..] {
        [] => Ok(()),
        [one] => Err(one.clone()),
        all => Err(format!("[{}]", all.join(", "))),
    }
}
