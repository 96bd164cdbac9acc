//! Exchanges about objects. `kubeshape-objects` processes the requests one after the other, with the times, uids and
//! revisions that the real server assigned. Bodies are compared byte for byte.

use super::record::Exchange;
use super::{body, record, recording};
use crate::table::{Table, Verdict};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::{Object, Time};
use serde_json::Value;
use std::path::Path;

/// Adds a row per kind of exchange about custom resources and their definitions. Other built-in resources are not
/// compared: a server's code for them exists only in Go.
pub(super) fn compare(apiserver: &Path, table: &mut Table) {
    if !recording(&apiserver.join("negotiated"), "negotiated").is_file() {
        return;
    }
    if let Err(why) = replayed(apiserver, |row, record, verdict| table.add(row, record, verdict)) {
        table.add("negotiated", "recordings", Verdict::Missing(why));
    }
    if let Err(why) = native(apiserver, table) {
        table.add(NATIVE, "recordings", Verdict::Missing(why));
    }
}

/// The row of bodies of built-in kinds in protobuf.
const NATIVE: &str = "negotiated: built-in kinds in protobuf";

/// Compares recorded bodies in protobuf with those that are written after reading them.
fn native(apiserver: &Path, table: &mut Table) -> Result<(), String> {
    let exchanges = record::read(&recording(&apiserver.join("negotiated"), "negotiated"))?;
    for (place, exchange) in exchanges.iter().enumerate() {
        let body = expected(exchange);
        // Other kinds are those of `meta.k8s.io`, and lists.
        let Some(Ok(json)) = kubeshape_objects::protobuf_to_json(&body, crate::RECORDED) else { continue };
        let object: Value = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
        let text = |key: &str| object[key].as_str().unwrap_or_default();
        let verdict =
            match kubeshape_objects::json_to_protobuf(text("apiVersion"), text("kind"), &json, crate::RECORDED) {
                Ok(written) if written == body => Verdict::Equal,
                Ok(written) => Verdict::Differing(format!("{written:02x?}, recorded {body:02x?}")),
                Err(why) => Verdict::Differing(why),
            };
        table.add(NATIVE, &format!("{} {}", place + 1, exchange.request.path), verdict);
    }
    Ok(())
}

/// Returns the objects of a server after these exchanges. Each exchange is compared.
pub(crate) fn replayed(apiserver: &Path, mut judged: impl FnMut(&str, &str, Verdict)) -> Result<Store, String> {
    let file = recording(&apiserver.join("negotiated"), "negotiated");
    let (exchanges, definitions) = (record::read(&file)?, definitions(&apiserver.join("crds"))?);
    let mut api = Api::new(crate::registry()).with_documents(super::documents());
    let mut store = Store::default();
    stored(&mut api, &mut store, &definitions)?;
    let listed = Request { path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ..Request::default() };
    let reply = api.answer(&mut store, &listed, &Moment::default());
    judged("negotiated: list", "the definitions that are there", same_list(reply.as_ref(), &definitions));
    for (place, exchange) in exchanges.iter().enumerate() {
        let request = &exchange.request;
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if !api.serves(path) {
            continue;
        }
        let row = format!("negotiated: {}", exchange.note.as_deref().unwrap_or_default());
        let record = format!("{} {} {}", place + 1, request.method, request.path);
        let before = store.revision();
        let verdict = answer(&api, &mut store, exchange, (path, query));
        judged(&row, &record, verdict);
        if request.method == "POST" && request.path.ends_with("/customresourcedefinitions") {
            // The server changed the status twice, some revisions later.
            let own = format!("{path}/");
            let later = exchanges[place..].iter().filter(|other| other.request.path.starts_with(&own));
            let last = later.filter_map(|other| {
                let object: Value = serde_json::from_str(other.body.as_deref()?).ok()?;
                object["metadata"]["resourceVersion"].as_str()?.parse::<u64>().ok()
            });
            store.advance(last.max().unwrap_or_default().saturating_sub(STATUSES));
            let now = date(exchange).unwrap_or(Time(0));
            if let Some(settled) = api.settle(&mut store, before, now) {
                api = settled.api;
            }
        }
    }
    Ok(store)
}

/// Returns whether a list is the recorded one, except for the revision of the list itself: other resources advance it,
/// too.
fn same_list(reply: Option<&Reply>, recorded: &[u8]) -> Verdict {
    let Some(reply) = reply else { return Verdict::Missing("definitions are not served".to_owned()) };
    let items = |text: &[u8]| {
        let at = text.windows(9).position(|part| part == b"\"items\":[")?;
        Some(text[at..].trim_ascii_end().to_vec())
    };
    match (items(&reply.body), items(recorded)) {
        (Some(found), Some(expected)) if found == expected => Verdict::Equal,
        (found, expected) => {
            let at = found.iter().flatten().zip(expected.iter().flatten()).take_while(|(a, b)| a == b).count();
            let part = |list: Option<&[u8]>| {
                let list = list.unwrap_or_default();
                String::from_utf8_lossy(&list[at.saturating_sub(80).min(list.len())..list.len().min(at + 80)])
                    .into_owned()
            };
            let (found, expected) = (part(found.as_deref()), part(expected.as_deref()));
            Verdict::Differing(format!("found {found}, expected {expected}"))
        }
    }
}

/// How often the server changes the status of a new definition.
const STATUSES: u64 = 2;

/// Stores recorded definitions with their revisions, and serves them.
fn stored(api: &mut Api, store: &mut Store, list: &[u8]) -> Result<(), String> {
    let mut list: Value = serde_json::from_slice(list).map_err(|error| error.to_string())?;
    let mut items = std::mem::take(&mut list["items"]).as_array().cloned().unwrap_or_default();
    let revision =
        |item: &Value| item["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
    items.sort_by_key(|item| revision(item));
    let before = store.revision();
    for mut item in items {
        item["apiVersion"] = "apiextensions.k8s.io/v1".into();
        item["kind"] = "CustomResourceDefinition".into();
        store.advance(revision(&item).unwrap_or_default().saturating_sub(1));
        let object = Object::read("definition", item.to_string()).map_err(|finding| finding.to_string())?;
        api.load(store, &object, &Moment::default()).map_err(|status| status.message)?;
    }
    if let Some(settled) = api.settle(store, before, Time(0)) {
        *api = settled.api;
    }
    Ok(())
}

/// Returns the stored definitions of a server.
fn definitions(folder: &Path) -> Result<Vec<u8>, String> {
    body(folder, "bodies/customresourcedefinitions.json")
}

/// Compares the response to a recorded request. The store gets the revisions of the real server.
pub(super) fn answer(api: &Api, store: &mut Store, exchange: &Exchange, (path, query): (&str, &str)) -> Verdict {
    let header = |name: &str| {
        let headers = exchange.request.headers.iter();
        headers.clone().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.as_str())
    };
    let expected = expected(exchange);
    let recorded: Value = serde_json::from_slice(&expected).unwrap_or(Value::Null);
    let text = |pointer: &str| recorded.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_write = exchange.request.method != "GET";
    // An object that is created is as old as the response; its metadata have the exact second.
    let created = Time::parse(&text("/metadata/creationTimestamp")).filter(|_| exchange.request.method == "POST");
    let now = created.or_else(|| date(exchange)).unwrap_or(Time(0));
    let now = if is_write { last_time(&recorded).unwrap_or(now) } else { now };
    let uid = ["/metadata/uid", "/rows/0/object/metadata/uid"].map(text).into_iter().find(|uid| !uid.is_empty());
    let revision = ["/metadata/resourceVersion"].map(text)[0].parse::<u64>().ok();
    match revision {
        Some(revision) if is_write && !query.contains("dryRun") => store.advance(revision.saturating_sub(1)),
        Some(revision) => store.advance(revision),
        None => {}
    }
    // A bookmark has the revision of the whole server, which other resources advance, too.
    let marked = expected.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let event: Value = serde_json::from_slice(line).ok().filter(|event: &Value| event["type"] == "BOOKMARK")?;
        event.pointer("/object/metadata/resourceVersion")?.as_str()?.parse().ok()
    });
    if let Some(revision) = marked {
        store.advance(revision);
    }
    let uid = uid.or_else(|| yaml_member(&expected, "uid: ")).unwrap_or_default();
    let now = yaml_member(&expected, "creationTimestamp: ")
        .filter(|_| exchange.request.method == "POST")
        .and_then(|text| Time::parse(text.trim_matches('"')))
        .unwrap_or(now);
    let request = Request {
        method: &exchange.request.method,
        path,
        query,
        accept: header("Accept"),
        content_type: header("Content-Type"),
        user_agent: header("User-Agent"),
        body: exchange.request.body.as_deref().unwrap_or_default().as_bytes(),
        ..Request::default()
    };
    let Some(reply) = api.answer(store, &request, &Moment { now, uid: &uid, ..Moment::default() }) else {
        let is_page = exchange.status == 404 && expected == b"404 page not found\n";
        return if is_page { Verdict::Equal } else { Verdict::Missing("no such resource".to_owned()) };
    };
    let media = exchange.headers.iter().find(|(key, _)| key == "Content-Type").map_or("", |(_, value)| value.as_str());
    let differs = |what: &str, found: String, expected: String| {
        Verdict::Differing(format!("{:?}: {what}: found {found}, expected {expected}", exchange.request.headers))
    };
    if reply.code != exchange.status {
        return differs("code", format!("{} {}", reply.code, reply.text()), exchange.status.to_string());
    }
    if media.split(';').next() != Some(reply.form.media_type()) {
        return differs("type", reply.form.media_type().to_owned(), media.to_owned());
    }
    // The first revision in the watch cache of a resource depends on when the cache was started.
    let (found, recorded) = (without_oldest(&reply.body), without_oldest(&expected));
    if found.is_some() && found == recorded {
        return Verdict::Equal;
    }
    let is_same_table = || ordered(&expected).is_some_and(|table| ordered(&reply.body) == Some(table));
    if reply.body == expected || is_same_table() {
        return Verdict::Equal;
    }
    let at = reply.body.iter().zip(&expected).take_while(|(a, b)| a == b).count();
    let part = |bytes: &[u8]| {
        let from = at.saturating_sub(60).min(bytes.len());
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 120)]).into_owned()
    };
    differs("body", part(&reply.body), part(&expected))
}

/// Returns the response to a watch from a revision that is too old, without the oldest known revision.
fn without_oldest(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (before, rest) = text.split_once("too old resource version: ")?;
    let (requested, rest) = rest.split_once(" (")?;
    let (_, behind) = rest.split_once(')')?;
    Some(format!("{before}{requested}{behind}"))
}

/// Returns a table, or a stream of tables, without the cells whose paths have a wildcard: Go walks maps in random
/// order. Returns `None` for other bodies.
fn ordered(body: &[u8]) -> Option<Vec<Value>> {
    let mut tables = Vec::new();
    if body.starts_with(b"apiVersion: meta.k8s.io") {
        let mut table = Object::read("table", body).ok()?.into_value();
        cut(&mut table)?;
        return Some(vec![table]);
    }
    for table in serde_json::Deserializer::from_slice(body).into_iter::<Value>() {
        let mut table = table.ok()?;
        cut(if table["type"].is_string() { &mut table["object"] } else { &mut table })?;
        tables.push(table);
    }
    (!tables.is_empty()).then_some(tables)
}

/// Removes those cells from a table.
fn cut(table: &mut Value) -> Option<()> {
    // The columns `Rec` (`.spec..name`) and `Wild` (`.spec.obj.*`) of the recorded definition.
    const RANDOM: std::ops::Range<usize> = 18..20;
    const COLUMNS: usize = 29;
    for row in table["rows"].as_array_mut()? {
        let cells = row["cells"].as_array_mut().filter(|cells| cells.len() == COLUMNS)?;
        cells[RANDOM].fill(Value::Null);
    }
    Some(())
}

/// Returns the recorded body.
fn expected(exchange: &Exchange) -> Vec<u8> {
    match (&exchange.body, &exchange.body_base64) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(text)) => super::compare::base64(text).unwrap_or_default(),
        (None, None) => Vec::new(),
    }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the time of the response.
fn date(exchange: &Exchange) -> Option<Time> {
    let (_, text) = exchange.headers.iter().find(|(key, _)| key == "Date")?;
    // `Sat, 21 Nov 2026 00:32:05 GMT`
    let mut words = text.split(' ').skip(1);
    let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|known| *known == month)? + 1;
    Time::parse(&format!("{year}-{month:02}-{day}T{time}Z"))
}

/// Returns the latest time in the managed fields of an object.
fn last_time(object: &Value) -> Option<Time> {
    let entries = object.pointer("/metadata/managedFields")?.as_array()?;
    entries.iter().filter_map(|entry| Time::parse(entry["time"].as_str()?)).max_by_key(|time| time.0)
}

/// Returns the value of a member in YAML.
fn yaml_member(text: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.starts_with("apiVersion:"))?;
    let line = text.lines().map(str::trim_start).find_map(|line| line.strip_prefix(name))?;
    Some(line.to_owned())
}
