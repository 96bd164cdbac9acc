//! The reviews that are sent to conversion webhooks, and what their responses may change (upstream:
//! `webhook_converter.go` of `k8s.io/apiextensions-apiserver`).

use kubeshape_schema::field::{Errors, Path};
use kubeshape_validate::metadata::{annotations, labels};
use kubeshape_value::{Bump, Map, Value};

/// The group of reviews.
const GROUP: &str = "apiextensions.k8s.io";
/// How many times larger than an object its converted form may be, and how many bytes it may have in addition. A server
/// has no such limit; responses have one.
const MAX_GROWTH: usize = 4;
const MAX_ADDED: usize = 16 << 10;

/// The most objects of a review, and the bytes after which no more are added to it. A server sends all objects of a
/// page together.
pub const MAX_BATCH: usize = 500;
/// See [`MAX_BATCH`].
pub const MAX_BATCH_BYTES: usize = 1 << 20;

/// The versions of reviews, the newest first.
pub const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Returns the version of reviews that a server uses for a webhook: the first of these names that it knows. `None` if
/// the webhook supports none of them.
pub fn review_version<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<&'static str> {
    names.into_iter().find_map(|name| REVIEW_VERSIONS.into_iter().find(|known| *known == name))
}

/// A request to convert objects.
///
/// # Example: what is sent, and what comes back
/// ```
/// use kubeshape_conversions::Review;
/// use kubeshape_value::{Bump, ToValue, Value};
///
/// let arena = Bump::new();
/// let object = serde_json::json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}});
/// let objects = [object.to_value(&arena)];
/// let review = Review { objects: &objects, version: "v1", api_version: "example.com/v2", uid: "1" };
/// let sent = String::from_utf8(review.body())?;
/// assert!(sent.starts_with(r#"{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"1","#));
///
/// let response = serde_json::json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
///     "response": {"uid": "1", "result": {"status": "Success"}, "convertedObjects": [
///         {"apiVersion": "example.com/v2", "kind": "Tab", "metadata": {"name": "b"}}]}});
/// let converted = review.converted(response.to_value(&arena), &arena).unwrap();
/// assert_eq!(converted[0].as_ref().unwrap_err(), "invalid object: must have the same name: a != b");
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Review<'r, 'a> {
    /// The objects, of one kind.
    pub objects: &'r [Value<'a>],
    /// The version of the review: one of [`REVIEW_VERSIONS`].
    pub version: &'r str,
    /// The API version that the objects shall have: `example.com/v2`.
    pub api_version: &'r str,
    /// The unique name of the request.
    pub uid: &'r str,
}

impl<'a> Review<'_, 'a> {
    /// Returns the review as JSON with an empty response, as a server sends it (upstream:
    /// `createConversionReviewObjects`).
    pub fn body(&self) -> Vec<u8> {
        let Review { objects, version, api_version, uid } = *self;
        let mut out =
            format!(r#"{{"kind":"ConversionReview","apiVersion":"{GROUP}/{version}","request":{{"#).into_bytes();
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

    /// Returns the converted objects of a response, each with the metadata of its original, but with its own labels and
    /// annotations. In place of an object that changed what a webhook may not change, or that is far larger than its
    /// original, there is the server's message.
    ///
    /// # Errors
    /// No object can be used: the response is not a review of this version, is for another request, says that the
    /// conversion failed, or has another number of objects. Returns the server's message, which follows the words
    /// `conversion webhook for example.com/v1, Kind=Tab `.
    pub fn converted(&self, response: Value<'a>, arena: &'a Bump) -> Result<Vec<Result<Value<'a>, String>>, String> {
        let sent = self.sent(response).map_err(|why| format!("failed: {why}"))?;
        if sent.len() != self.objects.len() {
            return Err(format!("returned {} objects, expected {}", sent.len(), self.objects.len()));
        }
        let pairs = self.objects.iter().zip(sent);
        Ok(pairs.map(|(original, made)| checked(*original, *made, self.api_version, arena)).collect())
    }

    /// Returns the objects in a response as they are (upstream: `getConvertedObjectsFromResponse`).
    ///
    /// # Errors
    /// The response is not a review of this version, is for another request, or says that the conversion failed.
    pub fn sent(&self, response: Value<'a>) -> Result<&'a [Value<'a>], String> {
        let of_kind = (text(response, "apiVersion"), text(response, "kind"));
        let is_v1 = self.version == "v1";
        if is_v1 && of_kind != (&*format!("{GROUP}/v1"), "ConversionReview") {
            let expected = format!("{GROUP}/v1, Kind=ConversionReview");
            return Err(format!("expected webhook response of {expected}, got {}, Kind={}", of_kind.0, of_kind.1));
        }
        let response = response.get("response").filter(|response| !response.is_null());
        let response = response.ok_or("no response provided")?;
        let own = text(response, "uid");
        if is_v1 && own != self.uid {
            return Err(format!("expected response.uid={:?}, got {own:?}", self.uid));
        }
        let result = response.get("result").unwrap_or(Value::Null);
        match (text(result, "status"), text(result, "message")) {
            ("Success", _) => Ok(response.get("convertedObjects").and_then(Value::as_list).unwrap_or_default()),
            (status, "") => Err(format!("response.result.status was '{status}', not 'Success'")),
            (_, message) => Err(message.to_owned()),
        }
    }
}

fn text<'a>(of: Value<'a>, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn metadata(object: Value<'_>) -> Value<'_> {
    object.get("metadata").unwrap_or(Value::Null)
}

/// Returns the object with a member set.
fn with<'a>(object: Value<'a>, key: &'a str, member: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match object {
        Value::Map(map) => Value::Map(map.with(key, Some(member), arena)),
        other => other,
    }
}

/// Returns the metadata of a converted object that differ from those of the original, without labels and annotations: a
/// server ignores them. An empty value is like a missing one.
pub(crate) fn ignored<'a>(original: Value<'a>, converted: Value<'a>) -> Vec<&'a str> {
    let maps = [original, converted].map(|object| metadata(object).as_map().unwrap_or(Map::EMPTY));
    let mut names: Vec<&str> = maps.iter().flat_map(|map| map.entries().iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !matches!(*name, "labels" | "annotations" | "name" | "namespace" | "uid"));
    let of = |map: Map<'a>, name: &str| map.get(name).filter(|value| !crate::compare::is_empty(*value));
    names.retain(|name| of(maps[0], name) != of(maps[1], name));
    names
}

/// Returns a converted object with the metadata of the original, but its own labels and annotations.
fn checked<'a>(
    original: Value<'a>,
    converted: Value<'a>,
    api_version: &str,
    arena: &'a Bump,
) -> Result<Value<'a>, String> {
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
        let (expected, received) = (text(metadata(original), key), text(metadata(converted), key));
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
    let mut own = metadata(original).as_map().unwrap_or(Map::EMPTY);
    for name in ["labels", "annotations"] {
        let field = sent.get(name).filter(|field| !field.is_null());
        let Some(field) = field else {
            own = own.with(name, None, arena);
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
        own = own.with(name, Some(field), arena);
    }
    Ok(with(converted, "metadata", Value::Map(own), arena))
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
