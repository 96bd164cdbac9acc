//! Reads objects of built-in kinds in protobuf, which Go clients such as `kubectl create deployment` use. `write`
//! writes them.
//!
//! A message does not contain field names. They are in a table of all messages of the built-in kinds
//! ([`members`](kubeshape_gotypes::members)). The result is the JSON that Go prints for the same object: zero values
//! are present if Go's struct has no `omitempty`.

mod write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_gotypes::members::{self, Kind, Messages, Shown};
use kubeshape_schema::Release;
use kubeshape_yaml::go::{Time, number, varint as varints};

pub use write::json_to_protobuf;
pub(crate) use write::list_to_protobuf;

/// The prefix of a message (upstream: `protobufSerializer.prefix`).
const PREFIX: &[u8] = b"k8s\0";
/// The maximum nesting of messages. A level of a schema takes three or four. Only the schemas of
/// CustomResourceDefinitions nest deeply; JSON allows 255 levels of properties.
const DEPTH: usize = 1024;
/// The maximum size of the JSON: a field of two bytes can become a hundred bytes of JSON. It is that of bodies in JSON.
const LARGEST: usize = crate::value::MAX_BODY;

/// Returns whether objects of a kind can be read from and written as protobuf.
pub(crate) fn knows(api_version: &str, kind: &str) -> bool {
    members::of_kind(api_version, kind).is_some()
}

/// Converts an object of a built-in kind from protobuf (`k8s`, a zero byte, and a `runtime.Unknown` with the message)
/// to the JSON that Go prints, with the fields that a release has. Returns `None` if the bytes have another format.
///
/// # Errors
/// The bytes are malformed, the kind is not built in, or the JSON would exceed 3 MiB.
///
/// # Example
/// ```
/// use kubeshape_objects::protobuf_to_json;
/// use kubeshape_schema::Release;
///
/// let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x07\x0a\x05\x0a\x03dev";
/// let json = protobuf_to_json(body, Release::NEWEST).unwrap()?;
/// assert_eq!(
///     String::from_utf8_lossy(&json),
///     r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"dev"},"spec":{},"status":{}}"#
/// );
/// assert!(protobuf_to_json(b"{}", Release::NEWEST).is_none());
/// # Ok::<(), String>(())
/// ```
pub fn protobuf_to_json(body: &[u8], release: Release) -> Option<Result<Vec<u8>, String>> {
    body.strip_prefix(PREFIX).map(|body| read(body, release))
}

fn read(body: &[u8], release: Release) -> Result<Vec<u8>, String> {
    let (mut meta, mut raw): (&[u8], &[u8]) = (&[], &[]);
    each(body, |number, content| {
        match (number, content) {
            (1, Content::Bytes(bytes)) => meta = bytes,
            (2, Content::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
        Ok(())
    })?;
    let (mut api_version, mut kind) = ("", "");
    each(meta, |number, content| {
        match number {
            1 => api_version = content.text()?,
            2 => kind = content.text()?,
            _ => {}
        }
        Ok(())
    })?;
    let Some(message) = members::of_kind(api_version, kind) else {
        return Err(format!("protobuf: the members of the kind {kind:?} are not known; send JSON"));
    };
    let mut out = Out { text: b"{\"kind\":".to_vec(), messages: Messages::of(release) };
    out.quoted(kind)?;
    out.raw(b",\"apiVersion\":")?;
    out.quoted(api_version)?;
    members(&mut out, raw, message, DEPTH)?;
    out.raw(b"}")?;
    Ok(out.text)
}

/// JSON that is written.
struct Out {
    text: Vec<u8>,
    messages: Messages,
}

impl Out {
    fn raw(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.text.len() + bytes.len() > LARGEST {
            return Err(format!("protobuf: the object has more than {LARGEST} bytes in JSON"));
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn quoted(&mut self, text: &str) -> Result<(), String> {
        let quoted = serde_json::to_vec(text).map_err(|error| error.to_string())?;
        self.raw(&quoted)
    }

    /// Appends the name of a field, after a comma if needed.
    fn name(&mut self, name: &str) -> Result<(), String> {
        if self.text.last() != Some(&b'{') {
            self.raw(b",")?;
        }
        self.quoted(name)?;
        self.raw(b":")
    }
}

/// The content of a member.
#[derive(Clone, Copy)]
enum Content<'b> {
    Number(u64),
    /// The bits of a number of eight bytes.
    Fixed(u64),
    Bytes(&'b [u8]),
}

impl<'b> Content<'b> {
    fn text(self) -> Result<&'b str, String> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "protobuf: a text is no UTF-8".to_owned())
    }

    fn bytes(self) -> Result<&'b [u8], String> {
        match self {
            Content::Bytes(bytes) => Ok(bytes),
            _ => Err("protobuf: found a number, expected a text or a message".to_owned()),
        }
    }

    fn number(self) -> Result<u64, String> {
        match self {
            Content::Number(number) => Ok(number),
            _ => Err("protobuf: found a text or a message, expected a number".to_owned()),
        }
    }
}

fn truncated() -> String {
    "protobuf: unexpected EOF".to_owned()
}

/// Calls a function with each field of a message.
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
            1 => {
                let bits = skip(&mut rest, 8)?.try_into().map_err(|_| truncated())?;
                with(tag >> 3, Content::Fixed(u64::from_le_bytes(bits)))?;
            }
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
    let ends_early = rest.len() < 10 && rest.iter().all(|byte| *byte >= 0x80);
    varints::read(rest)
        .ok_or_else(|| if ends_early { truncated() } else { "protobuf: a number is too long".to_owned() })
}

/// Writes the fields of a message after an open brace. Returns `false` if all of them are zero.
fn members(out: &mut Out, bytes: &[u8], name: &'static str, depth: usize) -> Result<bool, String> {
    let below = depth.checked_sub(1).ok_or("protobuf: messages nest too deep")?;
    let message = out.messages.get(name);
    let mut sent = Vec::new();
    each(bytes, |number, content| {
        sent.push((number, content));
        Ok(())
    })?;
    // Repeated fields are lists; of others, the last one is used.
    sent.sort_by_key(|(number, _)| *number);
    let (mut rest, mut shown) = (&sent[..], message.shown().peekable());
    let mut something = false;
    loop {
        let number = match (rest.first(), shown.peek()) {
            (Some((sent, _)), Some(shown)) => *sent.min(shown),
            (Some((sent, _)), None) => *sent,
            (None, Some(shown)) => *shown,
            (None, None) => return Ok(something),
        };
        shown.next_if_eq(&number);
        let count = rest.iter().take_while(|(sent, _)| *sent == number).count();
        let (contents, behind) = rest.split_at(count);
        rest = behind;
        let Some(member) = message.member(number) else { continue };
        if let (Shown::InParent, Kind::Message(inner)) = (member.shown, member.kind) {
            let content = contents.last().map_or(Ok(&[][..]), |(_, content)| content.bytes())?;
            something |= members(out, content, inner, below)?;
            continue;
        }
        let before = out.text.len();
        out.name(member.name)?;
        let found = value(out, contents, member.kind, below)?;
        something |= found != Found::Zero;
        let left_out = match member.shown {
            Shown::Always | Shown::InParent => false,
            Shown::UnlessZero => found == Found::Zero,
            Shown::UnlessEmpty => found != Found::Something && member.kind.can_be_empty(),
        };
        if left_out {
            out.text.truncate(before);
        }
    }
}

/// Whether a value is Go's zero value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The zero value of its type.
    Zero,
    /// A list or map without items that is not nil.
    Empty,
    Something,
}

impl Found {
    fn zero(zero: bool) -> Found {
        if zero { Found::Zero } else { Found::Something }
    }
}

/// Writes the value of a field, given its occurrences.
fn value(out: &mut Out, contents: &[(u64, Content<'_>)], kind: Kind, depth: usize) -> Result<Found, String> {
    let below = depth.checked_sub(1).ok_or("protobuf: messages nest too deep")?;
    let last = contents.last().map(|(_, content)| *content);
    let bytes = || last.map_or(Ok(&[][..]), Content::bytes);
    let number = || last.map_or(Ok(0), Content::number);
    // Other cases are in separate functions to keep the stack frames of this recursion small.
    match kind {
        Kind::Pointer(inner) => match contents {
            [] => null(out),
            contents => value(out, contents, inner.kind(), below).map(|_| Found::Something),
        },
        Kind::List(inner) => list(out, contents, inner.kind(), below),
        Kind::ListMessage(inner) => list_message(out, bytes()?, inner.kind(), below),
        Kind::Map(inner) => map(out, contents, inner.kind(), below),
        Kind::Message(name) => {
            out.raw(b"{")?;
            let something = members(out, bytes()?, name, below)?;
            out.raw(b"}")?;
            Ok(Found::zero(!something))
        }
        Kind::OrBool(name) | Kind::OrList(name) | Kind::OrTexts(name) => either(out, bytes()?, kind, name, below),
        Kind::Text => text(out, last),
        Kind::Bool => {
            let value = number()? != 0;
            out.raw(if value { b"true" } else { b"false" })?;
            Ok(Found::zero(!value))
        }
        Kind::Int => int(out, number()?.cast_signed()),
        Kind::Float => float(out, last),
        Kind::Bytes => base64(out, last),
        Kind::Time | Kind::MicroTime => time(out, bytes()?, kind),
        Kind::Quantity => quantity(out, bytes()?),
        Kind::IntOrString => int_or_string(out, bytes()?),
        Kind::Json => json(out, bytes()?),
    }
}

/// A list that is a separate message.
fn list_message(out: &mut Out, bytes: &[u8], kind: Kind, depth: usize) -> Result<Found, String> {
    let mut items = Vec::new();
    each(bytes, |number, content| {
        if number == 1 {
            items.push((number, content));
        }
        Ok(())
    })?;
    if items.is_empty() {
        // Go makes an empty list before it reads the items.
        out.raw(b"[]")?;
        return Ok(Found::Empty);
    }
    list(out, &items, kind, depth)
}

fn text(out: &mut Out, content: Option<Content<'_>>) -> Result<Found, String> {
    let text = content.map_or(Ok(""), Content::text)?;
    out.quoted(text)?;
    Ok(Found::zero(text.is_empty()))
}

fn int(out: &mut Out, value: i64) -> Result<Found, String> {
    out.raw(value.to_string().as_bytes())?;
    Ok(Found::zero(value == 0))
}

fn float(out: &mut Out, content: Option<Content<'_>>) -> Result<Found, String> {
    let bits = match content {
        None => 0,
        Some(Content::Fixed(bits)) => bits,
        Some(_) => return Err("protobuf: expected a number of eight bytes".to_owned()),
    };
    let value = f64::from_bits(bits);
    if !value.is_finite() {
        return Err("protobuf: found a number that JSON does not have".to_owned());
    }
    let mut text = Vec::new();
    number::write_json(value, &mut text);
    out.raw(&text)?;
    Ok(Found::zero(value == 0.0))
}

fn base64(out: &mut Out, content: Option<Content<'_>>) -> Result<Found, String> {
    let Some(content) = content else { return null(out) };
    let bytes = content.bytes()?;
    out.quoted(&STANDARD.encode(bytes))?;
    Ok(if bytes.is_empty() { Found::Empty } else { Found::Something })
}

fn quantity(out: &mut Out, bytes: &[u8]) -> Result<Found, String> {
    let mut text = "";
    each(bytes, |number, content| {
        if number == 1 {
            text = content.text()?;
        }
        Ok(())
    })?;
    out.quoted(if text.is_empty() { "0" } else { text })?;
    Ok(Found::zero(text.is_empty() || text == "0"))
}

fn int_or_string(out: &mut Out, bytes: &[u8]) -> Result<Found, String> {
    let (mut is_text, mut number, mut text) = (false, 0, "");
    each(bytes, |member, content| {
        match member {
            1 => is_text = content.number()? == 1,
            2 => number = content.number()?.cast_signed(),
            3 => text = content.text()?,
            _ => {}
        }
        Ok(())
    })?;
    if is_text {
        out.quoted(text)?;
    } else {
        out.raw(number.to_string().as_bytes())?;
    }
    Ok(Found::zero(!is_text && number == 0 && text.is_empty()))
}

fn json(out: &mut Out, bytes: &[u8]) -> Result<Found, String> {
    let mut raw: &[u8] = &[];
    each(bytes, |number, content| {
        if number == 1 {
            raw = content.bytes()?;
        }
        Ok(())
    })?;
    if raw.is_empty() {
        return null(out);
    }
    let checked: &serde_json::value::RawValue =
        serde_json::from_slice(raw).map_err(|error| format!("protobuf: found JSON that cannot be read: {error}"))?;
    out.raw(checked.get().as_bytes())?;
    Ok(Found::Something)
}

/// Writes a message or its alternative (upstream: `JSONSchemaPropsOrBool` and similar). A list takes precedence over a
/// message, a message over a bool.
fn either(out: &mut Out, bytes: &[u8], kind: Kind, name: &'static str, depth: usize) -> Result<Found, String> {
    let is_or_bool = matches!(kind, Kind::OrBool(_));
    let (mut message, mut others) = (Vec::new(), Vec::new());
    each(bytes, |number, content| {
        match (number, is_or_bool) {
            (2, true) | (1, false) => message.push((number, content)),
            (1, true) | (2, false) => others.push((number, content)),
            _ => {}
        }
        Ok(())
    })?;
    let found = match (kind, &message[..], &others[..]) {
        (Kind::OrBool(_), [], others) => return value(out, others, Kind::Bool, depth),
        (Kind::OrList(_), _, [_, ..]) => list(out, &others, Kind::Message(name), depth)?,
        (Kind::OrTexts(_), _, [_, ..]) => list(out, &others, Kind::Text, depth)?,
        (_, [], _) => null(out)?,
        (_, message, _) => value(out, message, Kind::Message(name), depth)?,
    };
    Ok(if message.is_empty() && others.is_empty() { found } else { Found::Something })
}

fn null(out: &mut Out) -> Result<Found, String> {
    out.raw(b"null")?;
    Ok(Found::Zero)
}

fn list(out: &mut Out, items: &[(u64, Content<'_>)], kind: Kind, depth: usize) -> Result<Found, String> {
    if items.is_empty() {
        return null(out);
    }
    out.raw(b"[")?;
    let mut first = true;
    for item in items {
        // Numbers may stand together in one member.
        if let (Kind::Int, Content::Bytes(mut packed)) = (kind, item.1) {
            while !packed.is_empty() {
                let number = varint(&mut packed)?.cast_signed();
                comma(out, &mut first)?;
                out.raw(number.to_string().as_bytes())?;
            }
            continue;
        }
        comma(out, &mut first)?;
        value(out, std::slice::from_ref(item), kind, depth)?;
    }
    out.raw(b"]")?;
    Ok(Found::Something)
}

fn comma(out: &mut Out, first: &mut bool) -> Result<(), String> {
    if std::mem::take(first) { Ok(()) } else { out.raw(b",") }
}

fn map(out: &mut Out, pairs: &[(u64, Content<'_>)], kind: Kind, depth: usize) -> Result<Found, String> {
    if pairs.is_empty() {
        return null(out);
    }
    let mut entries = Vec::with_capacity(pairs.len());
    for (_, pair) in pairs {
        let (mut key, mut found) = ("", None);
        each(pair.bytes()?, |number, content| {
            match number {
                1 => key = content.text()?,
                2 => found = Some((number, content)),
                _ => {}
            }
            Ok(())
        })?;
        entries.push((key, found));
    }
    // The last one of a key is used.
    entries.reverse();
    entries.sort_by_key(|(key, _)| *key);
    entries.dedup_by_key(|(key, _)| *key);
    out.raw(b"{")?;
    for (key, found) in entries {
        out.name(key)?;
        if let (Kind::Bytes, None) = (kind, found) {
            // Go makes an empty value before it reads one.
            out.quoted("")?;
            continue;
        }
        value(out, found.as_slice(), kind, depth)?;
    }
    out.raw(b"}")?;
    Ok(Found::Something)
}

/// A time in seconds and nanoseconds; no bytes are Go's zero time.
fn time(out: &mut Out, bytes: &[u8], kind: Kind) -> Result<Found, String> {
    if bytes.is_empty() {
        return null(out);
    }
    let (mut seconds, mut nanoseconds) = (0, 0);
    each(bytes, |number, content| {
        match number {
            1 => seconds = content.number()?.cast_signed(),
            2 => nanoseconds = content.number()?,
            _ => {}
        }
        Ok(())
    })?;
    let time = Time(seconds);
    if time == Time::ZERO {
        return null(out);
    }
    let Some(text) = time.text() else {
        return Err("protobuf: found a time that is not in the years 0 to 9999".to_owned());
    };
    let text = String::from_utf8_lossy(&text);
    match kind {
        Kind::MicroTime => {
            let micros = nanoseconds / 1000 % 1_000_000;
            out.quoted(&format!("{}.{micros:06}Z", text.trim_end_matches('Z')))?;
        }
        _ => out.quoted(&text)?,
    }
    Ok(Found::Something)
}

#[cfg(test)]
mod tests {
    use super::protobuf_to_json;
    use crate::proto;
    use kubeshape_schema::Release;
    use serde_json::{Value, json};

    fn read(body: &[u8]) -> Result<Value, String> {
        protobuf_to_json(body, Release::NEWEST)
            .expect("protobuf")
            .map(|text| serde_json::from_slice(&text).expect("JSON"))
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
            let _ = protobuf_to_json(&body[..end], Release::NEWEST);
        }
    }

    #[test]
    fn unreadable_bodies_are_errors() {
        assert!(protobuf_to_json(br#"{"kind": "Secret"}"#, Release::NEWEST).is_none());
        let tab = read(&proto::unknown("example.com/v1", "Tab", b""));
        assert_eq!(tab, Err(r#"protobuf: the members of the kind "Tab" are not known; send JSON"#.to_owned()));
        assert_eq!(read(&proto::unknown("v1", "Secret", b"\x0a\x05a")), Err("protobuf: unexpected EOF".to_owned()));
        assert!(read(&proto::unknown("v1", "Secret", &[0xff; 12])).is_err());
    }

    #[test]
    fn small_messages_do_not_become_large_objects() {
        // Two bytes for a container of a pod, 27 in JSON.
        let containers = b"\x12\x00".repeat(1 << 20);
        let mut pod = Vec::new();
        proto::bytes(&mut pod, 2, &containers);
        let error = protobuf_to_json(&proto::unknown("v1", "Pod", &pod), Release::NEWEST)
            .expect("protobuf")
            .expect_err("too large");
        assert!(error.contains("more than"), "{error}");
    }

    #[test]
    fn duplicate_fields_are_read_as_go_reads_them() {
        let (mut message, mut pair, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for (out, value) in [(&mut pair, "old"), (&mut other, "new")] {
            proto::text(out, 1, "key");
            proto::text(out, 2, value);
        }
        proto::bytes(&mut message, 2, &pair);
        proto::bytes(&mut message, 2, &other);
        let read = read(&proto::unknown("v1", "ConfigMap", &message));
        assert_eq!(read.map(|object| object["data"].clone()), Ok(json!({"key": "new"})));
    }
}
