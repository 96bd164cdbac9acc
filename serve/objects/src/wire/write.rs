//! Writes objects of built-in kinds as protobuf, as the generated code of Go's types does.
//!
//! A message is written from its end to its beginning, as in Go: the length of a part is known when it is written.
//! Fields that are not pointers, lists or maps are always written. Fields are sorted by number, entries of maps by key.

use super::DEPTH;
use crate::form::ListMeta;
use crate::proto;
use crate::value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_gotypes::members::{self, Kind, Messages, Shown};
use kubeshape_schema::Release;
use kubeshape_yaml::go::{Time, varint};
use kubeshape_yaml::{Kind as NodeKind, Node, Number, Tape};

/// Numbers of the members of a list: its metadata, and its items.
const LIST_META: u64 = 1;
const ITEMS: u64 = 2;

/// Converts the JSON of an object of a built-in kind to protobuf (`k8s`, a zero byte, and a `runtime.Unknown` with the
/// message). Fields that the release does not have are dropped.
///
/// # Errors
/// The kind is not built in, the input is not JSON, or a value has the wrong type.
///
/// # Example
/// ```
/// use kubeshape_objects::{json_to_protobuf, protobuf_to_json};
/// use kubeshape_schema::Release;
///
/// let json = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}"#;
/// let body = json_to_protobuf("v1", "ConfigMap", json, Release::NEWEST)?;
/// assert_eq!(protobuf_to_json(&body, Release::NEWEST).unwrap()?, json);
/// assert!(json_to_protobuf("example.com/v1", "Tab", b"{}", Release::NEWEST).is_err());
/// # Ok::<(), String>(())
/// ```
pub fn json_to_protobuf(api_version: &str, kind: &str, json: &[u8], release: Release) -> Result<Vec<u8>, String> {
    let message = members::of_kind(api_version, kind)
        .ok_or_else(|| format!("protobuf: the members of the kind {kind:?} are not known"))?;
    let mut out = Backwards::of(release);
    out.whole(message, json)?;
    Ok(proto::unknown(api_version, kind, &out.forwards()))
}

/// Writes a list of objects of a built-in kind.
///
/// # Errors
/// Like [`json_to_protobuf`].
pub(crate) fn list_to_protobuf(
    api_version: &str,
    [list, kind]: [&str; 2],
    items: &[&[u8]],
    meta: &ListMeta,
    release: Release,
) -> Result<Vec<u8>, String> {
    let message = members::of_kind(api_version, kind)
        .ok_or_else(|| format!("protobuf: the members of the kind {kind:?} are not known"))?;
    let mut out = Backwards::of(release);
    for item in items.iter().rev() {
        let end = out.bytes.len();
        out.whole(message, item)?;
        out.close(ITEMS, end);
    }
    out.text(LIST_META, &proto::list_meta(&meta.revision, &meta.token, meta.remaining));
    Ok(proto::unknown(api_version, list, &out.forwards()))
}

/// A message written from its end: its bytes are reversed.
struct Backwards {
    bytes: Vec<u8>,
    messages: Messages,
    tape: Tape,
}

/// A value of the JSON; `None` is Go's zero value.
type Found<'n> = Option<Node<'n>>;

impl Backwards {
    fn of(release: Release) -> Backwards {
        Backwards { bytes: Vec::new(), messages: Messages::of(release), tape: Tape::default() }
    }

    fn forwards(mut self) -> Vec<u8> {
        self.bytes.reverse();
        self.bytes
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes.iter().rev());
    }

    fn varint(&mut self, value: u64) {
        let (bytes, length) = varint::digits(value);
        self.raw(bytes.get(..length).unwrap_or_default());
    }

    fn tag(&mut self, number: u64, wire_type: u64) {
        self.varint(number << 3 | wire_type);
    }

    /// Prepends a number and a length to the bytes written since `end`.
    fn close(&mut self, number: u64, end: usize) {
        self.varint((self.bytes.len() - end) as u64);
        self.tag(number, 2);
    }

    fn text(&mut self, number: u64, text: &[u8]) {
        let end = self.bytes.len();
        self.raw(text);
        self.close(number, end);
    }

    fn number(&mut self, number: u64, value: i64) {
        self.varint(value.cast_unsigned());
        self.tag(number, 0);
    }

    /// The message of an object, given its JSON.
    fn whole(&mut self, message: &'static str, json: &[u8]) -> Result<(), String> {
        let mut tape = std::mem::take(&mut self.tape);
        let done = value::read(json, &mut tape).and_then(|()| {
            let source = std::str::from_utf8(json).map_err(|error| error.to_string())?;
            self.members(message, tape.document(source).root(), DEPTH)
        });
        self.tape = tape;
        done
    }

    /// The members of a message.
    fn members(&mut self, name: &'static str, object: Found<'_>, depth: usize) -> Result<(), String> {
        let below = depth.checked_sub(1).ok_or("protobuf: messages nest too deep")?;
        let object = of_kind(object, NodeKind::Map, "an object")?;
        let message = self.messages.get(name);
        for member in message.members().rev() {
            if let (Shown::InParent, Kind::Message(inner)) = (member.shown, member.kind) {
                let end = self.bytes.len();
                self.members(inner, object, below)?;
                self.close(member.number, end);
                continue;
            }
            let found = object.and_then(|object| object.get(member.name)).filter(|found| !found.is_null());
            self.member(member.number, member.kind, found, below)
                .map_err(|why| if why.len() < 200 { format!("{}: {why}", member.name) } else { why })?;
        }
        Ok(())
    }

    /// Writes a field of a message. Missing pointers, lists, maps and bytes are skipped.
    fn member(&mut self, number: u64, kind: Kind, found: Found<'_>, depth: usize) -> Result<(), String> {
        match (kind, found) {
            (Kind::Pointer(_) | Kind::List(_) | Kind::Map(_) | Kind::Bytes | Kind::ListMessage(_), None) => Ok(()),
            (Kind::Pointer(inner), found) => self.value(number, inner.kind(), found, depth),
            (Kind::List(inner), list) => {
                let items: Vec<_> = of_kind(list, NodeKind::Seq, "a list")?.into_iter().flat_map(Node::items).collect();
                for item in items.into_iter().rev() {
                    self.value(number, inner.kind(), Some(item).filter(|item| !item.is_null()), depth)?;
                }
                Ok(())
            }
            (Kind::Map(inner), map) => {
                let mut pairs: Vec<_> =
                    of_kind(map, NodeKind::Map, "an object")?.into_iter().flat_map(Node::pairs).collect();
                // The last one of a key is used.
                pairs.reverse();
                pairs.sort_by_key(|(key, _)| key.text());
                pairs.dedup_by_key(|(key, _)| key.text());
                for (key, value) in pairs.into_iter().rev() {
                    let end = self.bytes.len();
                    match (inner.kind(), Some(value).filter(|value| !value.is_null())) {
                        // Without a value, Go has no bytes of it.
                        (Kind::Bytes, None) => {}
                        (kind, value) => self.value(2, kind, value, depth)?,
                    }
                    self.text(1, key.text().as_bytes());
                    self.close(number, end);
                }
                Ok(())
            }
            (kind, found) => self.value(number, kind, found, depth),
        }
    }

    /// Writes a value with its number; a missing value is zero.
    fn value(&mut self, number: u64, kind: Kind, found: Found<'_>, depth: usize) -> Result<(), String> {
        let below = depth.checked_sub(1).ok_or("protobuf: messages nest too deep")?;
        let text = || found.map_or(Ok(""), |found| found.as_str().ok_or_else(|| wrong(found, "a text")));
        let end = self.bytes.len();
        match kind {
            Kind::Text => {
                self.text(number, text()?.as_bytes());
                return Ok(());
            }
            Kind::Bytes => {
                let bytes = STANDARD.decode(text()?).map_err(|error| format!("found no base64: {error}"))?;
                self.text(number, &bytes);
                return Ok(());
            }
            Kind::Bool => {
                let yes =
                    found.map_or(Ok(false), |found| found.as_bool().ok_or_else(|| wrong(found, "true or false")))?;
                self.number(number, i64::from(yes));
                return Ok(());
            }
            Kind::Int => {
                let n = found.map_or(Ok(0), |found| integer(found).ok_or_else(|| wrong(found, "an integer")))?;
                self.number(number, n);
                return Ok(());
            }
            Kind::Float => {
                let n = found.map_or(Ok(0.0), |found| {
                    found.as_number().map(Number::as_f64).ok_or_else(|| wrong(found, "a number"))
                })?;
                self.raw(&n.to_le_bytes());
                self.tag(number, 1);
                return Ok(());
            }
            // A pointer to a pointer, a list or a map in a list: Go's types have none.
            Kind::Pointer(_) | Kind::List(_) | Kind::Map(_) => return self.member(number, kind, found, below),
            Kind::ListMessage(inner) => {
                let items: Vec<_> =
                    of_kind(found, NodeKind::Seq, "a list")?.into_iter().flat_map(Node::items).collect();
                for item in items.into_iter().rev() {
                    self.value(1, inner.kind(), Some(item).filter(|item| !item.is_null()), below)?;
                }
            }
            Kind::Message(name) => self.members(name, found, below)?,
            Kind::OrBool(name) => match found.map(|found| (found, found.as_bool())) {
                None => self.number(1, 0),
                Some((_, Some(yes))) => self.number(1, i64::from(yes)),
                Some((found, None)) if found.kind() == NodeKind::Map => {
                    self.value(2, Kind::Message(name), Some(found), below)?;
                    self.number(1, 1);
                }
                Some((found, None)) => return Err(wrong(found, "true, false or an object")),
            },
            Kind::OrList(name) | Kind::OrTexts(name) => match found.map(|found| (found, found.kind())) {
                None => {}
                Some((found, NodeKind::Map)) => self.value(1, Kind::Message(name), Some(found), below)?,
                Some((found, NodeKind::Seq)) => {
                    let inner = if kind == Kind::OrList(name) { Kind::Message(name) } else { Kind::Text };
                    let items: Vec<_> = found.items().collect();
                    for item in items.into_iter().rev() {
                        self.value(2, inner, Some(item).filter(|item| !item.is_null()), below)?;
                    }
                }
                Some((found, _)) => return Err(wrong(found, "an object or a list")),
            },
            Kind::Time | Kind::MicroTime => {
                if let Some((seconds, nanoseconds)) = time(text()?, kind)? {
                    self.number(2, nanoseconds);
                    self.number(1, seconds);
                }
            }
            Kind::Quantity => {
                let text = match found.map(|found| (found, found.kind())) {
                    None => "0",
                    Some((found, NodeKind::Str | NodeKind::Int | NodeKind::Float)) => found.text(),
                    Some((found, _)) => return Err(wrong(found, "a quantity")),
                };
                self.text(1, text.as_bytes());
            }
            Kind::IntOrString => {
                let (is_text, n, text) = match found.map(|found| (found, found.kind())) {
                    None => (false, 0, ""),
                    Some((found, NodeKind::Str)) => (true, 0, found.text()),
                    Some((found, _)) => {
                        (false, integer(found).ok_or_else(|| wrong(found, "an integer or a text"))?, "")
                    }
                };
                self.text(3, text.as_bytes());
                self.number(2, n);
                self.number(1, i64::from(is_text));
            }
            Kind::Json => {
                if let Some(found) = found {
                    let source = found.document().source();
                    self.text(1, source.get(found.span()).unwrap_or_default().as_bytes());
                }
            }
        }
        self.close(number, end);
        Ok(())
    }
}

/// Returns the value, if it is one of this kind.
fn of_kind<'n>(found: Found<'n>, kind: NodeKind, expected: &str) -> Result<Found<'n>, String> {
    match found {
        Some(found) if found.kind() != kind => Err(wrong(found, expected)),
        found => Ok(found),
    }
}

fn integer(found: Node<'_>) -> Option<i64> {
    match found.as_number() {
        Some(Number::Int(n)) => Some(n),
        _ => None,
    }
}

fn wrong(found: Node<'_>, expected: &str) -> String {
    let what = match found.kind() {
        NodeKind::Null => "null",
        NodeKind::False | NodeKind::True => "true or false",
        NodeKind::Int | NodeKind::Float => "a number",
        NodeKind::Str => "a text",
        NodeKind::Seq => "a list",
        NodeKind::Map => "an object",
    };
    format!("protobuf: found {what}, expected {expected}")
}

/// Returns the seconds and nanoseconds of a time; none of Go's zero time. Fractions of a second count for those that
/// have them.
fn time(text: &str, kind: Kind) -> Result<Option<(i64, i64)>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let time = Time::parse(text).ok_or("protobuf: found a text, expected a time")?;
    if time == Time::ZERO {
        return Ok(None);
    }
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction).bytes();
    let digits = fraction.take_while(u8::is_ascii_digit).chain(std::iter::repeat(b'0')).take(6);
    let micros = digits.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0'));
    Ok(Some((time.0, if kind == Kind::MicroTime { micros * 1000 } else { 0 })))
}

#[cfg(test)]
mod tests {
    use super::super::protobuf_to_json;
    use super::{Backwards, DEPTH, json_to_protobuf, list_to_protobuf};
    use crate::form::ListMeta;
    use kubeshape_gotypes::members::{Kind, Messages, Shown, messages};
    use kubeshape_schema::Release;
    use serde_json::json;

    #[test]
    fn members_without_a_value_are_written() {
        // As `proto.Marshal` of `corev1.Namespace` does it.
        let body =
            json_to_protobuf("v1", "Namespace", br#"{"metadata":{"name":"dev"}}"#, Release::NEWEST).expect("protobuf");
        let metadata = b"\x0a\x03dev\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00";
        let mut message = vec![0x0a, metadata.len() as u8];
        message.extend_from_slice(metadata);
        message.extend_from_slice(b"\x12\x00\x1a\x02\x0a\x00");
        let mut expected = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12".to_vec();
        expected.push(message.len() as u8);
        expected.extend_from_slice(&message);
        expected.extend_from_slice(b"\x1a\x00\x22\x00");
        assert_eq!(body, expected);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let objects = [
            (
                "v1",
                "Secret",
                json!({"data": {"b": "/w==", "a": ""}, "immutable": false, "metadata": {"labels": {"x": ""}}}),
            ),
            (
                "v1",
                "Service",
                json!({"spec": {"ports": [{"port": 80, "targetPort": "http"}, {"port": -1, "targetPort": 8}]},
                    "metadata": {"managedFields": [{"fieldsV1": {"f:a": {}, "b": ["<"]}, "time": "2023-11-14T22:13:20Z"}]},
                    "status": {"loadBalancer": {}}}),
            ),
            (
                "coordination.k8s.io/v1",
                "Lease",
                json!({"metadata": {}, "spec": {"renewTime": "2023-11-14T22:13:20.000120Z", "leaseTransitions": 0}}),
            ),
        ];
        for (api_version, kind, mut object) in objects {
            object["apiVersion"] = api_version.into();
            object["kind"] = kind.into();
            let body =
                json_to_protobuf(api_version, kind, object.to_string().as_bytes(), Release::NEWEST).expect("protobuf");
            let read = protobuf_to_json(&body, Release::NEWEST).expect("protobuf").expect("JSON");
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&read).expect("JSON"), object);
        }
    }

    /// Returns the JSON that protobuf becomes, and protobuf of it.
    fn there_and_back(body: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let read = protobuf_to_json(body, Release::NEWEST).expect("protobuf").expect("JSON");
        let again = json_to_protobuf("apiextensions.k8s.io/v1", "CustomResourceDefinition", &read, Release::NEWEST)
            .expect("protobuf");
        (read, again)
    }

    #[test]
    fn a_definition_is_written_and_read_again() {
        let schema = json!({"type": "object", "default": {"b": [1, null], "a": "<"}, "enum": [1.5, "x", {}], "maximum": 0.5,
        "required": ["a"], "additionalProperties": false, "x-kubernetes-validations": [{"rule": "true", "message": "m"}],
        "properties": {
            "list": {"items": {"type": "string"}, "maxItems": 0, "x-kubernetes-list-type": "set"},
            "several": {"items": [{"type": "string"}, {}], "additionalItems": true},
            "map": {"additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}, "nullable": true},
            "depends": {"dependencies": {"a": ["b", ""], "c": {"type": "object"}}, "$ref": "x", "not": {}},
        }});
        let object = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "tabs.example.com"},
            "spec": {"group": "example.com", "names": {"plural": "tabs", "kind": "Tab"}, "scope": "Cluster", "versions": [
                {"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}, "scale": {"specReplicasPath": ".a", "statusReplicasPath": ".b"}},
                    "selectableFields": [{"jsonPath": ".spec"}]}]},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null}});
        let body = json_to_protobuf(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            object.to_string().as_bytes(),
            Release::NEWEST,
        );
        let body = body.expect("protobuf");
        let (read, again) = there_and_back(&body);
        assert_eq!((serde_json::from_slice::<serde_json::Value>(&read).expect("JSON"), again), (object, body));
    }

    #[test]
    fn schemas_nest_as_deep_as_json_does() {
        // Threads of the server have 2 MiB of stack.
        let levels = 200;
        let mut schema = json!({"type": "string"});
        for level in 0..levels {
            schema = match level % 4 {
                0 => json!({"properties": {"a": schema}}),
                1 => json!({"items": schema}),
                2 => json!({"additionalProperties": schema}),
                _ => json!({"allOf": [schema]}),
            };
        }
        let object = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [
            {"schema": {"openAPIV3Schema": schema}}]}});
        let run = move || {
            let text = object.to_string();
            let body = json_to_protobuf(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                text.as_bytes(),
                Release::NEWEST,
            );
            let body = body.expect("protobuf");
            let (read, again) = there_and_back(&body);
            assert_eq!(again, body);
            // `serde_json` does not read it back: it stops at 128 levels.
            assert_eq!(read.windows(7).filter(|text| *text == b"\"items\"").count(), levels / 4);
            // Deeper ones are refused, and use no more stack.
            let mut inner = Vec::new();
            for _ in 0..3_000 {
                let mut not = Vec::new();
                crate::proto::bytes(&mut not, 28, &inner);
                inner = not;
            }
            for number in [1, 4, 7, 2] {
                let mut around = Vec::new();
                crate::proto::bytes(&mut around, number, &inner);
                inner = around;
            }
            let body = crate::proto::unknown("apiextensions.k8s.io/v1", "CustomResourceDefinition", &inner);
            let read = protobuf_to_json(&body, Release::NEWEST).expect("protobuf");
            assert_eq!(read, Err("protobuf: messages nest too deep".to_owned()));
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no panic");
    }

    #[test]
    fn values_of_other_types_are_refused() {
        for (object, why) in [
            (json!({"spec": 1}), "spec: protobuf: found a number, expected an object"),
            (json!({"spec": {"containers": {}}}), "spec: containers: protobuf: found an object, expected a list"),
            (
                json!({"metadata": {"creationTimestamp": "now"}}),
                "metadata: creationTimestamp: protobuf: found a text, expected a time",
            ),
            (json!({"spec": {"priority": 1.5}}), "spec: priority: protobuf: found a number, expected an integer"),
        ] {
            assert_eq!(
                json_to_protobuf("v1", "Pod", object.to_string().as_bytes(), Release::NEWEST),
                Err(why.to_owned())
            );
        }
        assert!(json_to_protobuf("v1", "Pod", b"{", Release::NEWEST).is_err());
    }

    #[test]
    fn a_list_has_its_metadata_first() {
        let items = [br#"{"data":{"a":"b"}}"#.as_slice()];
        let meta = ListMeta { revision: "7".to_owned(), ..ListMeta::default() };
        let list =
            list_to_protobuf("v1", ["ConfigMapList", "ConfigMap"], &items, &meta, Release::NEWEST).expect("protobuf");
        let item =
            b"\x0a\x10\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00\x12\x06\x0a\x01a\x12\x01b";
        let mut expected = b"\x0a\x07\x0a\x00\x12\x017\x1a\x00\x12".to_vec();
        expected.push(item.len() as u8);
        expected.extend_from_slice(item);
        assert!(memchr::memmem::find(&list, &expected).is_some(), "{list:02x?}");
    }

    /// An object of two bytes, `{}`, becomes the message of all its zero values. This is how much larger protobuf can
    /// be than JSON.
    #[test]
    fn messages_of_nothing_are_small() {
        let size = |name| {
            let mut out = Backwards::of(Release::NEWEST);
            out.members(name, None, DEPTH).expect("a message");
            out.bytes.len()
        };
        let mut table = Messages::of(Release::NEWEST);
        for name in messages() {
            for member in table.get(name).members() {
                let (Kind::List(inner) | Kind::Map(inner) | Kind::Pointer(inner)) = member.kind else { continue };
                if let (Kind::Message(below), true) = (inner.kind(), member.shown != Shown::InParent) {
                    assert!(size(below) <= 100, "{name}.{}: {}", member.name, size(below));
                }
            }
        }
    }
}
