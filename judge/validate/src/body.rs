//! Refusals of a request before its object is decoded, and because of its URL.
//!
//! # Example
//! ```
//! use kubeshape_validate::body;
//! let refusal = body::check_syntax("Pod", b"kind: x").unwrap_err();
//! assert_eq!(refusal, "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse \
//!     error: invalid character 'k' looking for beginning of value (6b696e643a2078)");
//! ```

use crate::{AskedRelease, Change, Release, names};
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_schema::parse_group_version;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::go::syntax;
use kubeshape_yaml::{Kind, Node};

/// The number of bytes of the body that a message shows.
const SHOWN: usize = 30;
/// The message for an update with an old revision (`OptimisticLockErrorMsg`).
const MODIFIED: &str = "the object has been modified; please apply your changes to the latest version and try again";
/// The location at which the server registers its types, as in messages.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// Refuses a body that is not JSON, with the message of Go's decoder.
///
/// # Errors
/// Returns the server's message.
pub fn check_syntax(kind: &str, body: &[u8]) -> Result<(), String> {
    syntax::check(body)
        .map_err(|error| unrecognized(kind, &format!("couldn't get version/kind; json parse error: {error}"), body))
}

/// Refuses an object without a kind or version that Go can decode (`SimpleMetaFactory.Interpret`).
///
/// # Errors
/// Returns the server's message.
pub fn check_type(kind: &str, object: Node<'_>, body: &[u8]) -> Result<(), String> {
    let refused = |found: Node<'_>, target: &str| {
        let found = match found.kind() {
            Kind::Null | Kind::Map => "object",
            Kind::False | Kind::True => "bool",
            Kind::Int | Kind::Float => "number",
            Kind::Str => "string",
            Kind::Seq => "array",
        };
        let error =
            format!("couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {target}");
        Err(unrecognized(kind, &error, body))
    };
    match object.kind() {
        Kind::Null => return Ok(()),
        Kind::Map => {}
        _ => {
            let target = "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                          \"json:\\\"kind,omitempty\\\"\" }";
            return refused(object, target);
        }
    }
    for key in ["apiVersion", "kind"] {
        if let Some(found) = object.get(key).filter(|found| !matches!(found.kind(), Kind::Str | Kind::Null)) {
            return refused(found, &format!("struct field .{key} of type string"));
        }
    }
    match object.get("apiVersion").and_then(Node::as_str).map(parse_group_version) {
        Some(Err(error)) => Err(unrecognized(kind, &error, body)),
        _ => Ok(()),
    }
}

/// Returns the message about a body without a kind and a version (`transformDecodeError`, `summarizeData`).
pub fn unrecognized(kind: &str, why: &str, body: &[u8]) -> String {
    let head = body.get(..SHOWN).unwrap_or(body);
    let rest = if body.len() > SHOWN { " ..." } else { "" };
    let summary = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{rest}", String::from_utf8_lossy(head)),
        Some(_) => {
            let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
            head.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).chain(rest.chars()).collect()
        }
    };
    format!("the object provided is unrecognized (must be of type {kind}): {why} ({summary})")
}

/// Refuses an object of another kind or version than those of the endpoint (`UseOrCreateObject`, and the handlers'
/// check of the version). Missing values are those of the endpoint.
///
/// # Errors
/// Returns the server's message.
pub fn check_kind(api_version: &str, kind: &str, object: Value<'_>) -> Result<(), String> {
    let said = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (found, found_kind) = (said("apiVersion").unwrap_or(api_version), said("kind").unwrap_or(kind));
    let (group, version) = found.rsplit_once('/').unwrap_or(("", found));
    // Whether the server has a type of this name is known only if the name or the group does not exist.
    let has_kind = |name: &str| crate::builtin::BuiltInKind::new(group, name, Release::DEFAULT).is_some();
    let is_version = if group.is_empty() { version == "v1" } else { has_versions(group) };
    // The kind of the endpoint may belong to another server, which has its own scheme.
    let is_own = found_kind == kind && api_version.rsplit_once('/').is_some_and(|(own, _)| own == group);
    let is_registered = is_own || is_version && (has_kind(found_kind) || is_shared(group, found_kind));
    if !is_registered && (found != api_version || found_kind != kind) {
        return Err(format!(
            "{found_kind} in version {} cannot be handled as a {kind}: no kind {} is registered for version {} in scheme \"{SCHEME}\"",
            GoQuoted(version),
            GoQuoted(found_kind),
            GoQuoted(found)
        ));
    }
    if found != api_version {
        return Err(other_version(found, api_version));
    }
    if found_kind != kind {
        return Err(format!(
            "{found_kind} in version {} cannot be handled as a {kind}: converting ({version}.{found_kind}) to ({}.{kind}): \
             unknown conversion",
            GoQuoted(version),
            internal_package(group)
        ));
    }
    Ok(())
}

/// Returns the name of the Go package with the internal types of a group.
fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        group => group.split('.').next().unwrap_or_default(),
    }
}

/// Returns the message about an object of another API version than that of the endpoint.
pub fn other_version(found: &str, expected: &str) -> String {
    format!("the API version in the data ({found}) does not match the expected API version ({expected})")
}

/// Returns whether a server has types of a group, whether it serves them or only decodes them.
fn has_versions(group: &str) -> bool {
    group == "extensions" || crate::builtin::has_group(group)
}

/// Returns whether a kind is not stored: the list of another kind, or a kind of requests of all groups.
fn is_shared(group: &str, kind: &str) -> bool {
    const SHARED: [&str; 8] = [
        "APIGroup",
        "CreateOptions",
        "DeleteOptions",
        "GetOptions",
        "ListOptions",
        "PatchOptions",
        "UpdateOptions",
        "WatchEvent",
    ];
    let item = kind.strip_suffix("List");
    SHARED.contains(&kind)
        || item.is_some_and(|item| {
            item.is_empty() && group.is_empty()
                || crate::builtin::BuiltInKind::new(group, item, Release::DEFAULT).is_some()
        })
        || kind.ends_with("Review")
        || matches!(kind, "Binding" | "Eviction" | "Scale" | "TokenRequest" | "Status" | "PodExecOptions")
}

/// The parts of a request's URL that name its object.
#[derive(Clone, Copy, Debug)]
pub struct Url<'u> {
    /// The name; `None` if the request creates an object.
    pub name: Option<&'u str>,
    /// The namespace; `None` if the kind is cluster-scoped.
    pub namespace: Option<&'u str>,
}

/// Refuses a name that no path can contain, and an object other than the one that the URL names
/// (`EnsureObjectNamespaceMatchesRequestNamespace`, `checkName`).
///
/// # Errors
/// Returns the server's message.
pub fn check_url(url: Url<'_>, object: Value<'_>) -> Result<(), String> {
    check_name(url)?;
    let namespace = text_of(object, "namespace");
    if url.namespace.is_some_and(|expected| !namespace.is_empty() && namespace != expected) {
        return Err("the namespace of the provided object does not match the namespace sent on the request".to_owned());
    }
    match (url.name, text_of(object, "name")) {
        (Some(expected), "") => {
            Err(format!("the name of the object ({expected} based on URL) was undeterminable: name must be provided"))
        }
        (Some(expected), name) if name != expected => {
            Err(format!("the name of the object ({name}) does not match the name on the URL ({expected})"))
        }
        _ => Ok(()),
    }
}

/// Refuses a name that no path can contain: the server does not read the body then.
///
/// # Errors
/// Returns the server's message.
pub fn check_name(url: Url<'_>) -> Result<(), String> {
    let name = url.name.unwrap_or_default();
    match names::path_segment(name, false).as_slice() {
        [] => Ok(()),
        messages => Err(format!("Name parameter invalid: {}: {}", GoQuoted(name), messages.join(";"))),
    }
}

/// Returns the error of an update of a kind whose updates must say which version they replace
/// (`AllowUnconditionalUpdate`, `Update` of the generic registry). The server checks nothing else then.
pub fn missing_version(object: Value<'_>, release: &AskedRelease) -> Option<Error> {
    let version = text_of(object, "resourceVersion");
    // Go's number 0 is no version.
    if version.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let is_json = release.has(Change::ValuesInJson);
    let zero = if is_json { BadValue::Json("0".to_owned()) } else { BadValue::Printed("0x0".to_owned()) };
    let path = Path::Base("metadata");
    Some(Error::invalid(&path.child("resourceVersion"), zero, "must be specified for an update", 0))
}

/// Returns the key of an object in upstream's store, as messages show it: `/registry/pods/default/a`.
pub fn storage_key(group: &str, plural: &str, namespace: Option<&str>, name: Option<&str>) -> String {
    /// Groups whose kinds are not part of Kubernetes' core server.
    const OTHERS: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];
    // Resources whose objects are stored under an older name.
    let folder = match (group, plural) {
        ("", "endpoints") => "services/endpoints",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("", "nodes") => "minions",
        ("", "replicationcontrollers") => "controllers",
        ("", "services") => "services/specs",
        (_, other) => other,
    };
    let group = (OTHERS.contains(&group) || !crate::builtin::has_group(group)).then_some(group);
    let parts = [Some("/registry"), group, Some(folder), namespace, name];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// Returns a string of the metadata; empty if it is missing.
fn text_of<'a>(object: Value<'a>, field: &str) -> &'a str {
    object.get("metadata").and_then(|metadata| metadata.get(field)?.as_str()).unwrap_or_default()
}

/// Why an update does not fit the stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The version is not a number: code 500 with this message.
    NoVersion(String),
    /// It is another object: code 409 with this reason.
    Other(String),
}

/// Returns why an update does not fit the object stored at a [key](storage_key).
pub fn conflict(object: Value<'_>, old: Value<'_>, key: impl FnOnce() -> String) -> Option<Conflict> {
    let (uid, old_uid) = (text_of(object, "uid"), text_of(old, "uid"));
    if !uid.is_empty() && uid != old_uid {
        let key = key();
        return Some(Conflict::Other(format!(
            "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
             UID in precondition: {uid}, UID in object meta: {old_uid}"
        )));
    }
    let (version, old_version) = (text_of(object, "resourceVersion"), text_of(old, "resourceVersion"));
    // Go's `ParseUint` accepts no sign.
    if !version.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("strconv.ParseUint: parsing {}: invalid syntax", GoQuoted(version));
        return Some(Conflict::NoVersion(message));
    }
    let is_asked = !version.is_empty() && version.bytes().any(|byte| byte != b'0');
    (is_asked && version.trim_start_matches('0') != old_version).then(|| Conflict::Other(MODIFIED.to_owned()))
}
