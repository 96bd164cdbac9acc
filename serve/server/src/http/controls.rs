//! What tests control: the clock, and states of the objects to return to. Paths below `/kubeshape/`, with extensions
//! only.

use super::held::{self, Bodies};
use super::reply;
use super::request::OwnedParts;
use crate::objects::Objects;
use axum::response::Response;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use kubeshape_objects::Status;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The largest body, in bytes.
const MAX_BODY: usize = 4096;
/// The longest step of the clock: a century.
const MAX_STEP: f64 = 100.0 * 366.0 * 86400.0;

/// A control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Clock,
    Snapshot,
    Restore,
}

impl Control {
    /// Returns the control of a decoded path.
    pub(super) fn of(path: &str) -> Option<Control> {
        match path {
            "/kubeshape/clock" => Some(Control::Clock),
            "/kubeshape/snapshot" => Some(Control::Snapshot),
            "/kubeshape/restore" => Some(Control::Restore),
            _ => None,
        }
    }
}

/// Answers a request.
pub(super) async fn answer<B>(
    control: Control,
    objects: Arc<Objects>,
    request: Request<B>,
    parts: OwnedParts,
    bodies: Bodies,
) -> Response
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let method = request.method().clone();
    let body = held::receive(request.into_body(), MAX_BODY, parts.caller(), &bodies).await;
    let made = match body {
        Ok((body, _share)) => made(control, &objects, &method, &body),
        Err(_) => Err(Status::too_large(MAX_BODY)),
    };
    let (code, text) = match made {
        Ok(value) => (200, format!("{value}\n").into_bytes()),
        Err(status) => (status.code, status.to_json()),
    };
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    parts.with(|parts| {
        let mut response = reply::sized(parts, code, &Bytes::from(text).into());
        response.headers_mut().insert(http::header::CONTENT_TYPE, reply::JSON);
        response
    })
}

fn made(control: Control, objects: &Arc<Objects>, method: &Method, body: &[u8]) -> Result<Value, Status> {
    let is_post = *method == Method::POST;
    let sent: Value = match body {
        [] => Value::Null,
        body => serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string()))?,
    };
    match control {
        Control::Clock => {
            let Some(clock) = objects.manual_clock() else {
                return Err(Status::bad_request(
                    "the clock is that of the system: start the server with --clock manual",
                ));
            };
            if is_post {
                move_clock(clock, &sent)?;
            } else if *method != Method::GET {
                return Err(not_allowed());
            }
            Ok(json!({"now": objects.now().to_string()}))
        }
        Control::Snapshot if is_post => Ok(json!({"snapshot": objects.keep_state()})),
        Control::Restore if is_post => {
            let number = sent["snapshot"].as_u64();
            let number = number.ok_or_else(|| Status::bad_request("expected {\"snapshot\": NUMBER}"))?;
            let restored = objects.return_to_state(number).map_err(|error| Status::internal(error.to_string()))?;
            let missing = || Status { code: 404, ..Status::bad_request(format!("there is no snapshot {number}")) };
            Ok(json!({"resourceVersion": restored.ok_or_else(missing)?.to_string()}))
        }
        Control::Snapshot | Control::Restore => Err(not_allowed()),
    }
}

fn not_allowed() -> Status {
    Status { code: 405, reason: "MethodNotAllowed".into(), ..Status::bad_request("expected POST") }
}

fn move_clock(clock: &crate::objects::ManualClock, sent: &Value) -> Result<(), Status> {
    let wrong =
        || Status::bad_request("expected {\"advanceSeconds\": NUMBER} or {\"unixSeconds\": NUMBER}, up to a century");
    let seconds = |value: &Value| {
        let seconds = value.as_f64().filter(|seconds| (0.0..=MAX_STEP).contains(seconds));
        seconds.map(Duration::from_secs_f64)
    };
    match (&sent["advanceSeconds"], &sent["unixSeconds"]) {
        (Value::Null, now) => clock.set(SystemTime::UNIX_EPOCH + seconds(now).ok_or_else(wrong)?),
        (step, Value::Null) => clock.advance(seconds(step).ok_or_else(wrong)?),
        _ => return Err(wrong()),
    }
    Ok(())
}
