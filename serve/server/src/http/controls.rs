//! What tests control: the clock, states of the objects to return to, and worlds that begin with one of them. Paths below
//! `/kubeshape/`, with extensions only.

use super::held::{self, Bodies};
use super::reply;
use super::request::OwnedParts;
use crate::objects::Objects;
use crate::worlds::{Unmade, Worlds};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Clock,
    Snapshot,
    Restore,
    Worlds,
    /// The world of this name.
    World(String),
}

/// What is controlled.
#[derive(Debug)]
pub(super) struct Controlled {
    pub(super) objects: Arc<Objects>,
    /// The worlds; `None` in a world.
    pub(super) worlds: Option<Arc<Worlds>>,
    pub(super) bodies: Bodies,
}

impl Control {
    /// Returns the control of a decoded path.
    pub(super) fn of(path: &str) -> Option<Control> {
        match path {
            "/kubeshape/clock" => Some(Control::Clock),
            "/kubeshape/snapshot" => Some(Control::Snapshot),
            "/kubeshape/restore" => Some(Control::Restore),
            "/kubeshape/worlds" => Some(Control::Worlds),
            _ => path.strip_prefix("/kubeshape/worlds/").map(|name| Control::World(name.to_owned())),
        }
    }
}

/// Answers a request.
pub(super) async fn answer<B>(control: Control, of: Controlled, request: Request<B>, parts: OwnedParts) -> Response
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let method = request.method().clone();
    let body = held::receive(request.into_body(), MAX_BODY, parts.caller(), &of.bodies).await;
    let made = match (body, &control) {
        (Err(_), _) => Err(Status::too_large(MAX_BODY)),
        (Ok((body, _share)), Control::Worlds) => worlds(of.worlds.as_ref(), &method, &body).await,
        (Ok(_), Control::World(name)) => world(of.worlds.as_ref(), &method, name).await,
        (Ok((body, _share)), _) => made(&control, &of.objects, &method, &body),
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

fn sent(body: &[u8]) -> Result<Value, Status> {
    match body {
        [] => Ok(Value::Null),
        body => serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string())),
    }
}

/// Lists the worlds, or makes one.
async fn worlds(worlds: Option<&Arc<Worlds>>, method: &Method, body: &[u8]) -> Result<Value, Status> {
    let worlds = worlds.ok_or_else(no_worlds)?;
    if *method == Method::GET {
        let all = worlds.list().into_iter().map(|(name, address)| json!({"world": name, "url": address}));
        return Ok(json!({"worlds": all.collect::<Vec<_>>()}));
    }
    if *method != Method::POST {
        return Err(not_allowed("GET or POST"));
    }
    let wrong = || Status::bad_request("expected {} or {\"snapshot\": NUMBER}");
    let number = match sent(body)? {
        Value::Null => 0,
        Value::Object(sent) => match sent.get("snapshot") {
            Some(number) if sent.len() == 1 => number.as_u64().ok_or_else(wrong)?,
            None if sent.is_empty() => 0,
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let (name, url) = worlds.make(number).await.map_err(|unmade| match unmade {
        Unmade::Missing => no_snapshot(number),
        // There is room when a client ends one, so waiting does not help.
        Unmade::Many | Unmade::Large => {
            Status { code: 429, reason: "TooManyRequests".into(), ..Status::bad_request(unmade.to_string()) }
        }
        Unmade::Failed(_) => Status::internal(unmade.to_string()),
    })?;
    Ok(json!({"world": name, "url": url}))
}

/// Ends a world.
async fn world(worlds: Option<&Arc<Worlds>>, method: &Method, name: &str) -> Result<Value, Status> {
    let worlds = worlds.ok_or_else(no_worlds)?;
    if *method != Method::DELETE {
        return Err(not_allowed("DELETE"));
    }
    // No world has a longer name than a number.
    let shown: String = name.chars().take(MAX_NAME).collect();
    if worlds.end(name).await {
        Ok(json!({"world": name}))
    } else {
        Err(missing(format!("there is no world {shown:?}")))
    }
}

/// How much of the name of a world a message shows.
const MAX_NAME: usize = 24;

fn missing(message: String) -> Status {
    Status { code: 404, reason: "NotFound".into(), ..Status::bad_request(message) }
}

fn no_worlds() -> Status {
    missing("worlds are made at the first address of the server, over TCP, and not in a world".to_owned())
}

fn no_snapshot(number: u64) -> Status {
    missing(match number {
        0 => "there is no snapshot 0: the objects at the start were too large to keep".to_owned(),
        number => format!("there is no snapshot {number}"),
    })
}

fn made(control: &Control, objects: &Arc<Objects>, method: &Method, body: &[u8]) -> Result<Value, Status> {
    let is_post = *method == Method::POST;
    let sent = sent(body)?;
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
                return Err(not_allowed("GET or POST"));
            }
            Ok(json!({"now": objects.now().to_string()}))
        }
        Control::Snapshot if is_post => Ok(json!({"snapshot": objects.keep_state()})),
        Control::Restore if is_post => {
            let number = sent["snapshot"].as_u64();
            let number = number.ok_or_else(|| Status::bad_request("expected {\"snapshot\": NUMBER}"))?;
            let restored = objects.return_to_state(number).map_err(|error| Status::internal(error.to_string()))?;
            Ok(json!({"resourceVersion": restored.ok_or_else(|| no_snapshot(number))?.to_string()}))
        }
        Control::Snapshot | Control::Restore | Control::Worlds | Control::World(_) => Err(not_allowed("POST")),
    }
}

fn not_allowed(expected: &str) -> Status {
    Status { code: 405, reason: "MethodNotAllowed".into(), ..Status::bad_request(format!("expected {expected}")) }
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
