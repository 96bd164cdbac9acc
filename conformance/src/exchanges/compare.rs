//! Compares a response with the recorded one.

use super::record::Exchange;
use super::wire::Answer;
use crate::golden;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Headers whose values differ from one recording to the next. Only their presence is compared.
const CHANGING: [&str; 3] = ["Audit-Id", "Date", "Last-Modified"];
/// Headers of priority and fairness name objects that only a server with storage has.
const OF_OBJECTS: &str = "X-Kubernetes-Pf-";

/// Recorded bodies, each read once.
pub(super) struct Bodies<'f> {
    folder: &'f Path,
    read: BTreeMap<String, Arc<Vec<u8>>>,
    /// Paths of discovery whose resources have a fixed order.
    ordered: BTreeSet<String>,
}

impl<'f> Bodies<'f> {
    pub(super) fn new(folder: &'f Path, ordered: BTreeSet<String>) -> Self {
        Bodies { folder, read: BTreeMap::new(), ordered }
    }

    /// Returns the recorded body, or `None` if only its digest is known.
    fn of(&mut self, exchange: &Exchange) -> Result<Option<Arc<Vec<u8>>>, String> {
        if let Some(file) = &exchange.file {
            if let Some(body) = self.read.get(file) {
                return Ok(Some(Arc::clone(body)));
            }
            let mut body = super::body(self.folder, file)?;
            if is_gzip(&exchange.headers) {
                body = unzipped(&body)?;
            }
            let body = Arc::new(body);
            self.read.insert(file.clone(), Arc::clone(&body));
            return Ok(Some(body));
        }
        let body = match (&exchange.body, &exchange.body_base64) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(text)) => Some(base64(text)?),
            (None, None) if exchange.sha256.as_deref().is_none_or(|digest| digest == golden::sha256(b"")) => {
                Some(Vec::new())
            }
            (None, None) => None,
        };
        let body = match body {
            Some(body) if is_gzip(&exchange.headers) && !body.is_empty() => Some(unzipped(&body)?),
            body => body,
        };
        Ok(body.map(Arc::new))
    }
}

/// Returns the first difference.
pub(super) fn compare_with(exchange: &Exchange, ours: &Answer, bodies: &mut Bodies<'_>) -> Option<String> {
    if ours.status != exchange.status {
        let text: String = String::from_utf8_lossy(&ours.body).chars().take(80).collect();
        return Some(format!("status {}, theirs {} ({text})", ours.status, exchange.status));
    }
    let (our_headers, our_boundary) = comparable(&ours.headers);
    let (their_headers, their_boundary) = comparable(&exchange.headers);
    for (name, values) in &our_headers {
        match their_headers.get(name) {
            None => return Some(format!("{name}: {values:?}, which theirs has not")),
            Some(theirs) if theirs != values => return Some(format!("{name}: {values:?}, theirs {theirs:?}")),
            Some(_) => {}
        }
    }
    if let Some((name, values)) = their_headers.iter().find(|(name, _)| !our_headers.contains_key(*name)) {
        return Some(format!("no {name}, theirs {values:?}"));
    }
    let ours =
        if is_gzip(&ours.headers) && !ours.body.is_empty() { unzipped(&ours.body) } else { Ok(ours.body.clone()) };
    let (ours, theirs) = match (ours, bodies.of(exchange)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(error), _) | (_, Err(error)) => return Some(error),
    };
    let Some(theirs) = theirs else {
        let digest = golden::sha256(&ours);
        return (exchange.sha256.as_ref() != Some(&digest)).then(|| format!("body with digest {digest}"));
    };
    if ours == *theirs {
        return None;
    }
    if let (Some(ours_at), Some(theirs_at)) = (our_boundary, their_boundary) {
        let plain =
            |body: &[u8], boundary: &str| String::from_utf8_lossy(body).replace(boundary, "BOUNDARY").into_bytes();
        return golden::first_byte_difference(&plain(&ours, &ours_at), &plain(&theirs, &theirs_at));
    }
    if of_custom_resources(&exchange.request.path, &bodies.ordered) && same_but_for_order(&ours, &theirs) {
        return None;
    }
    golden::first_byte_difference(&ours, &theirs)
}

/// Values by name, in the order in which they arrived, and the boundary between parts.
fn comparable(headers: &[(String, String)]) -> (BTreeMap<&str, Vec<String>>, Option<String>) {
    let mut out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut boundary = None;
    for (name, value) in headers {
        if name.starts_with(OF_OBJECTS) {
            continue;
        }
        let mut value = if CHANGING.contains(&name.as_str()) { "…".to_owned() } else { value.clone() };
        if name == "Expires" {
            value = form_of_date(&value);
        }
        if let Some((media, found)) = value.split_once("; boundary=") {
            boundary = Some(found.to_owned());
            value = format!("{media}; boundary of {}", found.len());
        }
        out.entry(name).or_default().push(value);
    }
    (out, boundary)
}

/// Returns `Sun, 21 Nov 2027 00:28:12 UTC` as `Aaa, 00 Aaa 0000 00:00:00 UTC`.
fn form_of_date(date: &str) -> String {
    let (date, zone) = date.rsplit_once(' ').unwrap_or((date, ""));
    let form = date.chars().map(|c| match c {
        '0'..='9' => '0',
        'a'..='z' => 'a',
        'A'..='Z' => 'A',
        c => c,
    });
    format!("{} {zone}", form.collect::<String>())
}

fn is_gzip(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| name == "Content-Encoding" && value == "gzip")
}

fn unzipped(body: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(body).read_to_end(&mut out).map_err(|error| format!("gzip: {error}"))?;
    Ok(out)
}

/// Returns whether the path is that of a group version of CustomResourceDefinitions, whose resources the real server
/// lists in an order that changes from run to run.
fn of_custom_resources(path: &str, ordered: &BTreeSet<String>) -> bool {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    path.starts_with("/apis/") && path.matches('/').count() == 3 && !ordered.contains(path)
}

/// Returns whether two lists of resources differ only in their order. For forms other than JSON, only the bytes are
/// counted.
fn same_but_for_order(ours: &[u8], theirs: &[u8]) -> bool {
    let sorted = |body: &[u8]| -> Option<Value> {
        let mut list: Value = serde_json::from_slice(body).ok()?;
        let resources = list["resources"].as_array_mut()?;
        resources.sort_by_key(|resource| resource["name"].to_string());
        Some(list)
    };
    match (sorted(ours), sorted(theirs)) {
        (Some(ours), Some(theirs)) => ours == theirs,
        (None, None) => {
            let counted = |body: &[u8]| {
                let mut bytes = body.to_vec();
                bytes.sort_unstable();
                bytes
            };
            counted(ours) == counted(theirs)
        }
        _ => false,
    }
}

pub(super) fn base64(text: &str) -> Result<Vec<u8>, String> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = DIGITS.iter().position(|digit| *digit == byte).ok_or("found no base64")?;
        bits = (bits << 6 | u32::try_from(digit).unwrap_or_default()) & 0x00ff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(json: &str) -> Exchange {
        serde_json::from_str(json).expect("an exchange")
    }

    fn difference(theirs: &str, ours: &Answer) -> Option<String> {
        compare_with(&exchange(theirs), ours, &mut Bodies::new(Path::new("."), BTreeSet::new()))
    }

    fn answer(headers: &[(&str, &str)], body: &str) -> Answer {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Answer { status: 200, headers, body: body.into() }
    }

    #[test]
    fn values_that_change_are_compared_by_form() {
        let theirs = r#"{"request":{"method":"GET","path":"/"},"status":200,"headers":[["Date","yesterday"],
            ["Expires","Sun, 21 Nov 2027 00:28:12 UTC"],["X-Kubernetes-Pf-Flowschema-Uid","1"],["Vary","A"],["Vary","B"]],
            "body":"text"}"#;
        let expires = ("Expires", "Mon, 02 Jan 2006 15:04:05 UTC");
        let same = answer(&[("Date", "today"), expires, ("Vary", "A"), ("Vary", "B")], "text");
        assert_eq!(difference(theirs, &same), None);
        for (headers, body) in [
            (&[("Date", "today"), expires, ("Vary", "B"), ("Vary", "A")][..], "text"),
            (&[expires, ("Vary", "A"), ("Vary", "B")][..], "text"),
            (
                &[("Date", "today"), ("Expires", "Mon, 02 Jan 2006 15:04:05 GMT"), ("Vary", "A"), ("Vary", "B")][..],
                "text",
            ),
            (&[("Date", "today"), expires, ("Vary", "A"), ("Vary", "B"), ("Etag", "1")][..], "text"),
            (&[("Date", "today"), expires, ("Vary", "A"), ("Vary", "B")][..], "texts"),
        ] {
            assert!(difference(theirs, &answer(headers, body)).is_some(), "{headers:?}");
        }
    }

    #[test]
    fn resources_of_definitions_have_no_fixed_order() {
        let theirs = r#"{"request":{"method":"GET","path":"/apis/g/v"},"status":200,"headers":[],
            "body":"{\"resources\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"}"#;
        assert_eq!(difference(theirs, &answer(&[], r#"{"resources":[{"name":"b"},{"name":"a"}]}"#)), None);
        assert!(difference(theirs, &answer(&[], r#"{"resources":[{"name":"b"},{"name":"c"}]}"#)).is_some());
        assert!(
            difference(
                &theirs.replace("/apis/g/v", "/apis/g"),
                &answer(&[], r#"{"resources":[{"name":"b"},{"name":"a"}]}"#)
            )
            .is_some()
        );
    }

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("azhzAAo="), Ok(b"k8s\0\n".to_vec()));
        assert!(base64("!").is_err());
    }
}
