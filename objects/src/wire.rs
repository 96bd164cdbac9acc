//! Bodies of requests in protobuf, as clients with types of Go send them: `kubectl create namespace`, for example.
//!
//! A message says nothing of the names of its members, so that only kinds can be read whose numbers are in these tables (upstream:
//! `generated.proto` of `k8s.io/api` and `k8s.io/apimachinery`). They are the kinds that kubectl creates from its command line
//! without a file, and the options of deletions.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_yaml::go::Time;
use serde_json::{Map, Value};

/// What stands before a message (upstream: `protobufSerializer.prefix`).
const PREFIX: &[u8] = b"k8s\0";
/// Messages in messages at most.
const DEPTH: usize = 8;
/// Seconds of Go's zero time: it stands for no time.
const NO_TIME: i64 = -62_135_596_800;

/// What a member holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// Shown in base64.
    Bytes,
    Bool,
    Int,
    Time,
    /// JSON in bytes, in a message: `FieldsV1`.
    Json,
    Message(&'static [Member]),
    /// From texts to texts or bytes.
    Map(&'static Kind),
    List(&'static Kind),
}

/// Its number and its name in JSON.
type Member = (u64, &'static str, Kind);

use Kind::{Bool, Bytes, Int, Json, List, Message, Text};

const OWNER: &[Member] = &[
    (1, "kind", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "controller", Bool),
    (7, "blockOwnerDeletion", Bool),
];
const MANAGED: &[Member] = &[
    (1, "manager", Text),
    (2, "operation", Text),
    (3, "apiVersion", Text),
    (4, "time", Kind::Time),
    (6, "fieldsType", Text),
    (7, "fieldsV1", Json),
    (8, "subresource", Text),
];
const METADATA: &[Member] = &[
    (1, "name", Text),
    (2, "generateName", Text),
    (3, "namespace", Text),
    (5, "uid", Text),
    (6, "resourceVersion", Text),
    (7, "generation", Int),
    (8, "creationTimestamp", Kind::Time),
    (9, "deletionTimestamp", Kind::Time),
    (10, "deletionGracePeriodSeconds", Int),
    (11, "labels", Kind::Map(&Text)),
    (12, "annotations", Kind::Map(&Text)),
    (13, "ownerReferences", List(&Message(OWNER))),
    (14, "finalizers", List(&Text)),
    (17, "managedFields", List(&Message(MANAGED))),
];
const NAMED: &[Member] = &[(1, "name", Text)];
const REFERENCE: &[Member] = &[(1, "kind", Text), (2, "namespace", Text), (3, "name", Text), (4, "uid", Text)];
const PRECONDITIONS: &[Member] = &[(1, "uid", Text), (2, "resourceVersion", Text)];

/// The kinds, with their members.
const KINDS: [(&str, &[Member]); 5] = [
    (
        "Namespace",
        &[
            (1, "metadata", Message(METADATA)),
            (2, "spec", Message(&[(1, "finalizers", List(&Text))])),
            (3, "status", Message(&[(1, "phase", Text)])),
        ],
    ),
    (
        "ConfigMap",
        &[
            (1, "metadata", Message(METADATA)),
            (2, "data", Kind::Map(&Text)),
            (3, "binaryData", Kind::Map(&Bytes)),
            (4, "immutable", Bool),
        ],
    ),
    (
        "Secret",
        &[
            (1, "metadata", Message(METADATA)),
            (2, "data", Kind::Map(&Bytes)),
            (3, "type", Text),
            (4, "stringData", Kind::Map(&Text)),
            (5, "immutable", Bool),
        ],
    ),
    (
        "ServiceAccount",
        &[
            (1, "metadata", Message(METADATA)),
            (2, "secrets", List(&Message(REFERENCE))),
            (3, "imagePullSecrets", List(&Message(NAMED))),
            (4, "automountServiceAccountToken", Bool),
        ],
    ),
    (
        "DeleteOptions",
        &[
            (1, "gracePeriodSeconds", Int),
            (2, "preconditions", Message(PRECONDITIONS)),
            (3, "orphanDependents", Bool),
            (4, "propagationPolicy", Text),
            (5, "dryRun", List(&Text)),
        ],
    ),
];

/// Whether objects of a kind can be read from protobuf.
pub(crate) fn knows(api_version: &str, kind: &str) -> bool {
    api_version == "v1" && KINDS.iter().any(|(known, _)| *known == kind)
}

/// A body as JSON; `None` if it is not in protobuf.
///
/// # Errors
/// The body is broken, or of a kind whose members are not known.
pub(crate) fn json(body: &[u8]) -> Option<Result<Vec<u8>, String>> {
    let body = body.strip_prefix(PREFIX)?;
    Some(read(body).map(|value| value.to_string().into_bytes()))
}

fn read(body: &[u8]) -> Result<Value, String> {
    let (mut meta, mut raw): (&[u8], &[u8]) = (&[], &[]);
    each(body, |number, content| {
        match (number, content) {
            (1, Content::Bytes(bytes)) => meta = bytes,
            (2, Content::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
        Ok(())
    })?;
    let (mut api_version, mut kind) = (String::new(), String::new());
    each(meta, |number, content| {
        match number {
            1 => api_version = content.text()?,
            2 => kind = content.text()?,
            _ => {}
        }
        Ok(())
    })?;
    let known = KINDS.iter().find(|(known, _)| *known == kind);
    let Some((_, members)) = known else {
        return Err(format!("protobuf: the members of the kind {kind:?} are not known; send JSON"));
    };
    let mut object = message(raw, members, DEPTH)?;
    object.insert("apiVersion".to_owned(), api_version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(object))
}

/// The content of a member.
#[derive(Clone, Copy)]
enum Content<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl Content<'_> {
    fn text(self) -> Result<String, String> {
        let Content::Bytes(bytes) = self else { return Err("protobuf: found a number, expected a text".to_owned()) };
        String::from_utf8(bytes.to_vec()).map_err(|_| "protobuf: a text is no UTF-8".to_owned())
    }
}

fn truncated() -> String {
    "protobuf: unexpected EOF".to_owned()
}

/// Calls this with each member of a message.
fn each<'b>(mut rest: &'b [u8], mut with: impl FnMut(u64, Content<'b>) -> Result<(), String>) -> Result<(), String> {
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let skip = |rest: &mut &'b [u8], count: usize| -> Result<&'b [u8], String> {
            let (content, behind) = rest.split_at_checked(count).ok_or_else(truncated)?;
            *rest = behind;
            Ok(content)
        };
        match tag & 7 {
            0 => with(tag >> 3, Content::Number(varint(&mut rest)?))?,
            1 => _ = skip(&mut rest, 8)?,
            2 => {
                let length = usize::try_from(varint(&mut rest)?).map_err(|_| truncated())?;
                with(tag >> 3, Content::Bytes(skip(&mut rest, length)?))?;
            }
            5 => _ = skip(&mut rest, 4)?,
            other => return Err(format!("protobuf: found the wire type {other}")),
        }
    }
    Ok(())
}

fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first().ok_or_else(truncated)?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("protobuf: a number is too long".to_owned())
}

fn message(bytes: &[u8], members: &[Member], depth: usize) -> Result<Map<String, Value>, String> {
    let below = depth.checked_sub(1).ok_or("protobuf: messages nest too deep")?;
    let mut out = Map::new();
    each(bytes, |number, content| {
        let Some((_, name, kind)) = members.iter().find(|(known, ..)| *known == number) else { return Ok(()) };
        match kind {
            List(items) => {
                let item = value(content, items, below)?.unwrap_or(Value::Null);
                if let Value::Array(list) = out.entry(*name).or_insert_with(|| Value::Array(Vec::new())) {
                    list.push(item);
                }
            }
            Kind::Map(items) => {
                let (mut key, mut found) = (String::new(), None);
                let Content::Bytes(pair) = content else { return Err(truncated()) };
                each(pair, |number, content| {
                    match number {
                        1 => key = content.text()?,
                        2 => found = value(content, items, below)?,
                        _ => {}
                    }
                    Ok(())
                })?;
                if let Value::Object(map) = out.entry(*name).or_insert_with(|| Value::Object(Map::new())) {
                    map.insert(key, found.unwrap_or_else(|| String::new().into()));
                }
            }
            kind => {
                if let Some(value) = value(content, kind, below)? {
                    out.insert((*name).to_owned(), value);
                }
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// The value of a member; none if it says nothing.
fn value(content: Content<'_>, kind: &Kind, depth: usize) -> Result<Option<Value>, String> {
    Ok(match (kind, content) {
        (Text, content) => Some(content.text()?.into()).filter(|text: &Value| text != ""),
        (Bytes, Content::Bytes(bytes)) => Some(STANDARD.encode(bytes).into()),
        (Bool, Content::Number(n)) => Some((n != 0).into()),
        (Int, Content::Number(n)) => Some(n.cast_signed().into()).filter(|n: &Value| n != 0),
        (Kind::Time, Content::Bytes(bytes)) => {
            let mut seconds = NO_TIME;
            each(bytes, |number, content| {
                if let (1, Content::Number(n)) = (number, content) {
                    seconds = n.cast_signed();
                }
                Ok(())
            })?;
            (seconds != NO_TIME).then(|| Time(seconds).to_string().into())
        }
        (Json, Content::Bytes(bytes)) => {
            let mut raw: &[u8] = b"{}";
            each(bytes, |number, content| {
                if let (1, Content::Bytes(bytes)) = (number, content) {
                    raw = bytes;
                }
                Ok(())
            })?;
            Some(serde_json::from_slice(raw).map_err(|error| error.to_string())?)
        }
        (Message(members), Content::Bytes(bytes)) => Some(Value::Object(message(bytes, members, depth)?)),
        _ => return Err("protobuf: a member has another type".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::json;
    use crate::proto;
    use serde_json::{Value, json};

    fn read(body: &[u8]) -> Result<Value, String> {
        json(body).expect("protobuf").map(|text| serde_json::from_slice(&text).expect("JSON"))
    }

    #[test]
    fn a_secret_is_read() {
        let (mut metadata, mut label, mut pair, mut message) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        proto::text(&mut metadata, 1, "s");
        proto::text(&mut metadata, 2, "");
        proto::bytes(&mut metadata, 8, &[]);
        proto::text(&mut label, 1, "a");
        proto::text(&mut label, 2, "");
        proto::bytes(&mut metadata, 11, &label);
        proto::text(&mut pair, 1, "key");
        proto::bytes(&mut pair, 2, b"\xff");
        proto::bytes(&mut message, 1, &metadata);
        proto::bytes(&mut message, 2, &pair);
        proto::text(&mut message, 3, "Opaque");
        proto::number(&mut message, 5, 1);
        let body = proto::unknown("v1", "Secret", &message);
        let expected = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "labels": {"a": ""}},
            "data": {"key": "/w=="}, "type": "Opaque", "immutable": true});
        assert_eq!(read(&body), Ok(expected));
        for end in 4..body.len() {
            // Whatever is cut off, nothing panics.
            let _ = json(&body[..end]);
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert!(json(br#"{"kind": "Secret"}"#).is_none());
        let pod = read(&proto::unknown("v1", "Pod", b""));
        assert_eq!(pod, Err(r#"protobuf: the members of the kind "Pod" are not known; send JSON"#.to_owned()));
        assert_eq!(read(&proto::unknown("v1", "Secret", b"\x0a\x05a")), Err("protobuf: unexpected EOF".to_owned()));
        assert!(read(&proto::unknown("v1", "Secret", &[0xff; 12])).is_err());
    }
}
