//! Rules of `certificates.k8s.io`.

use super::common::{repeated, repeats, texts};
use super::{Names, get, items, number, text};
use crate::builtin::internal;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use base64::Engine;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::BTreeSet;

pub(super) const NAMES: Names =
    &[("certificate signing request", signing_request), ("certificate signing request change", signing_request_change)];

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// Returns whether base64 text decodes to bytes that begin with a PEM block of a type.
fn has_pem_block(encoded: &str, kind: &str) -> bool {
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let first = text.find("-----BEGIN ").and_then(|at| text.get(at..));
    first.is_some_and(|block| block.starts_with(&format!("-----BEGIN {kind}-----")))
}

/// `validateCertificateSigningRequest`. The content of the block is not checked.
fn signing_request(at: &At<'_, '_>, found: &mut Found) {
    const LEGACY: &str = "kubernetes.io/legacy-unknown";
    let spec = get(at.value, "spec");
    let old = at.scope.old.map(|old| get(old, "spec"));
    let path = at.path.child("spec");
    if !has_pem_block(text(spec, "request"), "CERTIFICATE REQUEST") {
        let detail = "PEM block type must be CERTIFICATE REQUEST";
        found.invalid(&path.child("request"), get(spec, "request"), detail);
    }
    let usages = texts(items(spec, "usages"));
    let usages_path = path.child("usages");
    if usages.is_empty() {
        found.required(&usages_path, "");
    }
    let before = old.map(|old| texts(items(old, "usages"))).unwrap_or_default();
    if !before.iter().any(|usage| !USAGES.contains(usage)) {
        for (at, usage) in usages.iter().enumerate().filter(|(_, usage)| !USAGES.contains(usage)) {
            found.not_supported(&usages_path.index(at), Value::String(usage), &USAGES);
        }
    }
    if repeated(&before).is_empty() {
        for at in repeated(&usages) {
            found.duplicate(&usages_path.index(at), Value::String(usages.get(at).copied().unwrap_or_default()));
        }
    }
    let signer = text(spec, "signerName");
    let signer_path = path.child("signerName");
    if signer == LEGACY && old.is_none_or(|old| text(old, "signerName") != LEGACY) {
        let detail = "the legacy signerName is not allowed via this API version";
        found.invalid(&signer_path, Value::String(signer), detail);
    } else {
        signer_name(signer, &signer_path, found);
    }
    if let Some(seconds) = number(spec, "expirationSeconds")
        && seconds < 600
    {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        found.invalid(&path.child("expirationSeconds"), Value::Int(seconds), detail);
    }
    signing_conditions(at, found);
    let certificate = text(get(at.value, "status"), "certificate");
    let before = at.scope.old.map_or("", |old| text(get(old, "status"), "certificate"));
    if !certificate.is_empty() && certificate != before && !has_pem_block(certificate, "CERTIFICATE") {
        let bytes = base64::engine::general_purpose::STANDARD.decode(certificate).unwrap_or_default();
        if !String::from_utf8_lossy(&bytes).contains("-----BEGIN ") {
            let path = at.path.child("status");
            let detail = "must contain at least one CERTIFICATE PEM block";
            found.invalid(&path.child("certificate"), Value::String("<certificate data>"), detail);
        }
    }
}

fn signing_conditions(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("status");
    let path = path.child("conditions");
    let list = items(get(at.value, "status"), "conditions");
    let before = at.scope.old.map(|old| items(get(old, "status"), "conditions")).unwrap_or_default();
    let kinds = |list: &[Value<'_>]| list.iter().map(|item| text(*item, "type").to_owned()).collect::<Vec<_>>();
    let (new_kinds, old_kinds) = (kinds(list), kinds(before));
    let had_both = ["Approved", "Denied"].iter().all(|kind| old_kinds.iter().any(|old| old == kind));
    let had_repeated = !repeated(&old_kinds).is_empty();
    let again = repeats(&new_kinds);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let had_empty = old_kinds.iter().any(String::is_empty);
    for (at, item) in list.iter().enumerate() {
        let path_of = path.index(at);
        let (kind, status) = (text(*item, "type"), text(*item, "status"));
        if kind.is_empty() && !had_empty {
            found.required(&path_of.child("type"), "");
        }
        let allowed: &[&str] =
            if matches!(kind, "Approved" | "Denied" | "Failed") { &["True"] } else { &["False", "True", "Unknown"] };
        if status.is_empty() {
            found.required(&path_of.child("status"), "");
        } else if !allowed.contains(&status) {
            found.not_supported(&path_of.child("status"), Value::String(status), allowed);
        }
        let other = match kind {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "-",
        };
        seen.insert(kind);
        if !had_both && seen.contains(other) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            found.invalid(&path, Value::String(kind), detail);
        }
        if !had_repeated && again.get(at) == Some(&true) {
            found.duplicate(&path_of.child("type"), Value::String(kind));
        }
    }
}

/// `ValidateSignerName`
fn signer_name(name: &str, path: &Path<'_>, found: &mut Found) {
    const MOST_DOMAIN: usize = 253;
    /// The maximum length of a domain, and a path of a label and a domain.
    const MOST: usize = MOST_DOMAIN + 1 + MOST_DOMAIN + 1 + 63;
    if name.is_empty() {
        return found.required(path, "");
    }
    let value = Value::String(name);
    let Some((domain, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return found.invalid(path, value, detail);
    };
    if domain.len() > MOST_DOMAIN {
        found.too_long(path, MOST_DOMAIN);
    }
    let label = |text: &str, message: String| format!("validating label {}: {message}", GoQuoted(text));
    if let Some(part) = domain.split('.').find(|part| !names::dns1123_label(part).is_empty()) {
        let messages = names::dns1123_label(part).into_iter().map(|message| label(part, message));
        found.messages(path, Value::String(domain), messages);
    }
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        found.invalid(path, Value::String(domain), detail);
    }
    if let Some(part) = rest.split('.').find(|part| !names::dns1123_subdomain(part).is_empty()) {
        let messages = names::dns1123_subdomain(part).into_iter().map(|message| label(part, message));
        found.messages(path, Value::String(rest), messages);
    }
    if name.len() > MOST {
        found.too_long(path, MOST);
    }
}

/// `findConditions`
fn conditions_of<'a>(object: Value<'a>, kind: &str) -> Vec<Value<'a>> {
    let conditions = items(get(object, "status"), "conditions");
    conditions.iter().filter(|condition| text(**condition, "type") == kind).copied().collect()
}

/// `validateCertificateSigningRequestUpdate`
fn signing_request_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let path = at.path.child("status");
    let conditions_path = path.child("conditions");
    let of = conditions_of;
    for kind in ["Approved", "Denied", "Failed"] {
        if of(at.value, kind).len() < of(old, kind).len() {
            let detail = format!("updates may not remove a condition of type \"{kind}\"");
            found.forbidden(&conditions_path, detail);
        }
    }
    for kind in ["Approved", "Denied"] {
        let (new, old) = (of(at.value, kind), of(old, kind));
        if new.len() > old.len() {
            found.forbidden(&conditions_path, format!("updates may not add a condition of type \"{kind}\""));
        } else if new.len() == old.len() && new != old {
            let arena = kubeshape_value::Bump::new();
            let code = "[]certificates.v1.CertificateSigningRequestCondition";
            let (old, new) = (arena.alloc_slice_copy(&old), arena.alloc_slice_copy(&new));
            let difference = internal::difference(code, Value::List(old), Value::List(new));
            let detail = format!("updates may not modify a condition of type \"{kind}\"\n{difference}");
            found.forbidden(&conditions_path, detail);
        }
    }
}
