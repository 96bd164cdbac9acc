//! Probes and lifecycle handlers: `validateProbe`, `validateLifecycle`.

use super::super::super::Found;
use super::super::super::form;
use super::super::super::form::{Form, NEGATIVE};
use super::{Pod, get, items, number, require, string};
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

const PROBES: [&str; 4] = ["exec", "httpGet", "tcpSocket", "grpc"];
const HOOKS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "sleep"];

/// Checks the probes and hooks of a container that runs in parallel to others.
pub(super) fn of_container(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let lifecycle = get(container, "lifecycle");
    let lifecycle_path = path.child("lifecycle");
    for hook in ["postStart", "preStop"] {
        if let Some(own) = lifecycle.get(hook) {
            handler(own, &HOOKS, pod, &lifecycle_path.child(hook), found);
        }
    }
    if lifecycle.get("stopSignal").is_some() && pod.os().is_empty() && pod.spec.get("os").is_none() {
        let detail = "may not be set for containers with empty `spec.os.name`";
        found.forbidden(&lifecycle_path.child("stopSignal"), detail);
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(own) = container.get(name) else { continue };
        let path = path.child(name);
        probe(own, pod, &path, found);
        if name == "readinessProbe" {
            if let Some(seconds) = own.get("terminationGracePeriodSeconds") {
                let detail = "must not be set for readinessProbes";
                found.invalid(&path.child("terminationGracePeriodSeconds"), seconds, detail);
            }
        } else if number(own, "successThreshold").unwrap_or(0) != 1 {
            let number = Value::Int(number(own, "successThreshold").unwrap_or(0));
            found.invalid(&path.child("successThreshold"), number, "must be 1");
        }
    }
}

fn probe(own: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    handler(own, &PROBES, pod, path, found);
    for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        if number(own, key).is_some_and(|number| number < 0) {
            found.invalid(&path.child(key), get(own, key), NEGATIVE);
        }
    }
    if number(own, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds <= 0) {
        let seconds = get(own, "terminationGracePeriodSeconds");
        found.invalid(&path.child("terminationGracePeriodSeconds"), seconds, "must be greater than 0");
    }
}

/// `validateHandler`
fn handler(own: Value<'_>, kinds: &[&str], pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mut has_one = false;
    for kind in kinds {
        let Some(action) = own.get(kind) else { continue };
        let path = path.child(kind);
        if has_one {
            found.forbidden(&path, "may not specify more than 1 handler type");
            continue;
        }
        has_one = true;
        match *kind {
            "exec" if items(action, "command").is_empty() => found.required(&path.child("command"), ""),
            "httpGet" => http(action, &path, found),
            "tcpSocket" => port(action, &path, found),
            "grpc" => {
                let number = Value::Int(number(action, "port").unwrap_or(0));
                Form::Port.check(number, &path.child("port"), found);
            }
            "sleep" => {
                let seconds = number(action, "seconds").unwrap_or(0);
                if let Some(grace) = pod.grace
                    && (seconds < 0 || seconds > grace)
                {
                    let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    found.invalid(&path, Value::Int(seconds), detail);
                }
            }
            _ => {}
        }
    }
    if !has_one {
        found.required(path, "must specify a handler type");
    }
}

fn port(action: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let port = action.get("port").unwrap_or(Value::Int(0));
    Form::Port.check(port, &path.child("port"), found);
}

fn http(action: Value<'_>, path: &Path<'_>, found: &mut Found) {
    require(action, "path", path, found);
    port(action, path, found);
    let scheme = string(get(action, "scheme"));
    if !matches!(scheme.as_str(), Some("HTTP" | "HTTPS")) {
        found.not_supported(&path.child("scheme"), scheme, &["HTTP", "HTTPS"]);
    }
    for header in items(action, "httpHeaders") {
        let name = string(get(*header, "name"));
        let messages = form::http_header_name(name.as_str().unwrap_or_default());
        found.messages(&path.child("httpHeaders"), name, messages);
    }
}
