//! `/healthz`, `/livez`, `/readyz` and their checks, like apiserver's `pkg/server/healthz`.

use super::request::RequestParts;
use super::route::Health;
use super::{reply, target};
use crate::state::Readiness;
use axum::response::Response;
use http::StatusCode;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Answers `/healthz`, `/livez`, `/readyz`: all checks. Reasons name files, so only clients that may read these see
/// them (`detail`).
pub(super) fn all(parts: &RequestParts<'_>, kind: Health, readiness: &Readiness, detail: bool) -> Response {
    let mut excluded: BTreeSet<String> = target::parameters(parts.query, "exclude").map(Into::into).collect();
    let mut listed = String::new();
    let mut healthy = true;
    for (name, reason) in checks(kind, readiness) {
        let _ = match reason {
            _ if excluded.remove(&*name) => writeln!(listed, "[+]{name} excluded: ok"),
            None => writeln!(listed, "[+]{name} ok"),
            Some(reason) => {
                healthy = false;
                let reason = if parts.extensions && detail { &*reason } else { WITHHELD };
                writeln!(listed, "[-]{name} failed: {reason}")
            }
        };
    }
    if !excluded.is_empty() {
        let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
        let _ = writeln!(listed, "warn: some health checks cannot be excluded: no matches for {}", names.join(","));
    }
    if !healthy {
        let _ = writeln!(listed, "{} check failed", kind.name());
        return reply::text(parts, StatusCode::INTERNAL_SERVER_ERROR, listed);
    }
    if target::parameter(parts.query, "verbose").is_none() {
        return reply::text(parts, StatusCode::OK, "ok");
    }
    let _ = writeln!(listed, "{} check passed", kind.name());
    reply::text(parts, StatusCode::OK, listed)
}

/// `/readyz/CHECK`
pub(super) fn one(parts: &RequestParts<'_>, kind: Health, name: &str, readiness: &Readiness, detail: bool) -> Response {
    match checks(kind, readiness).into_iter().find(|(found, _)| **found == *name) {
        None => reply::page_not_found(parts),
        Some((_, None)) => reply::text(parts, StatusCode::OK, "ok"),
        Some((_, Some(reason))) => {
            let reason = if detail { &*reason } else { WITHHELD };
            let text = format!("internal server error: {reason}\n");
            reply::text(parts, StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

/// Sent instead of a reason, as in kube-apiserver.
const WITHHELD: &str = "reason withheld";

/// Returns the checks. The server is alive if it responds, and ready if it has something to serve.
fn checks(kind: Health, readiness: &Readiness) -> Vec<(Arc<str>, Option<Arc<str>>)> {
    let mut checks = vec![(Arc::from("ping"), None)];
    if kind == Health::Readyz {
        checks.extend(readiness.checks());
    }
    checks
}
