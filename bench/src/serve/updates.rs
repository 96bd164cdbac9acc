//! What a changed file costs a server that watches, and what memory a CustomResourceDefinition takes.

use super::Plan;
use super::load::Request;
use super::many::{Scratch, write};
use super::process::Server;
use super::requests::ask;
use super::table::{Table, Unit};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const AGGREGATED: (&str, &str) = ("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
const JSON: (&str, &str) = ("Accept", "application/json");
const GZIP: (&str, &str) = ("Accept-Encoding", "gzip");
/// How long a server with nothing to do is looked at.
const IDLE: Duration = Duration::from_secs(10);
/// How often a file is changed; the best counts.
const CHANGES: usize = 5;
/// Live heap of kube-apiserver for each CustomResourceDefinition, and when v2 has been read.
const UPSTREAM: (f64, f64) = (2.2e6, 3.5e6);

/// What the Go libraries take for an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theirs {
    v3: f64,
    v2: f64,
}

/// Runs the Go program over a folder.
pub(super) fn theirs(oracle: &Path, folder: &Path) -> Result<Theirs, String> {
    let output = Command::new(oracle).args(["updates", "-rounds", "3"]).arg(folder).output();
    let output = output.map_err(|error| format!("{}: {error}", oracle.display()))?;
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let number = |name: &str| answer.as_ref().and_then(|answer| answer[name].as_f64());
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Theirs { v3: number("v3_seconds").ok_or_else(said)?, v2: number("v2_seconds").ok_or_else(said)? })
}

/// Measures a server with `count` CustomResourceDefinitions.
pub(super) fn measure(
    plan: &Plan,
    (count, folder, first): (f64, &Path, &Path),
    theirs: Option<Theirs>,
    scratch: &Scratch,
    table: &mut Table,
) -> Result<(), String> {
    let nothing = scratch.path("nothing");
    write(&nothing.join("none.yaml"), b"")?;
    let empty = plan.kubeshape(&nothing, false)?;
    empty.settle();
    let floor = empty.resident();
    drop(empty);
    let server = plan.kubeshape(folder, true)?;
    server.settle();
    let of = format!("of {count} CRDs");
    table.limited(&format!("memory {of}, each"), (server.resident() - floor) / count, UPSTREAM.0 / 10.0, Unit::Bytes);

    let before = server.seconds_of_threads();
    std::thread::sleep(IDLE);
    let idle = (server.seconds_of_threads() - before) / IDLE.as_secs_f64();
    table.limited(&format!("a core's share while idle, {of}"), idle, 1e-3, Unit::Share);

    let changed = changes(&server, first)?;
    table.compared(
        &format!("one changed {of}: v3, index, discovery"),
        changed.v3,
        theirs.map(|t| t.v3),
        1.0,
        Unit::Seconds,
    );
    table.limited(&format!("one changed {of}: v3, index, discovery"), changed.v3, 1e-3, Unit::Seconds);
    table.noted(&format!("one changed {of}: seen after (wall clock)"), changed.wall, Unit::Seconds);
    table.compared(&format!("one changed {of}: the next v2"), changed.v2, theirs.map(|t| t.v2), 0.05, Unit::Seconds);
    table.noted(&format!("one changed {of}: the next v2 (wall clock)"), changed.v2_wall, Unit::Seconds);
    server.settle();
    let resident = (server.resident() - floor) / count;
    table.limited(&format!("memory {of}, each, v2 read"), resident, UPSTREAM.1 / 10.0, Unit::Bytes);
    Ok(())
}

/// The best of some changes.
struct Changed {
    v3: f64,
    wall: f64,
    v2: f64,
    v2_wall: f64,
}

fn changes(server: &Server, file: &Path) -> Result<Changed, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let v2 = Request::get("/openapi/v2", &[JSON, GZIP]);
    ask(server.address, &v2)?;
    let mut best = Changed { v3: f64::MAX, wall: f64::MAX, v2: f64::MAX, v2_wall: f64::MAX };
    for change in 0..CHANGES {
        // Asking costs the server, so the time until the change is seen is another change's.
        let (cost, wall) = (2 * change, 2 * change + 1);
        server.settle();
        let before = server.seconds_of_threads();
        replace(file, &changed_text(&text, cost)?)?;
        server.settle();
        read_changed(server.address, &marker(cost))?;
        best.v3 = best.v3.min(server.seconds_of_threads() - before);

        let (before, begin) = (server.seconds_of_threads(), Instant::now());
        ask(server.address, &v2)?;
        best.v2_wall = best.v2_wall.min(begin.elapsed().as_secs_f64());
        best.v2 = best.v2.min(server.seconds_of_threads() - before);

        let begin = Instant::now();
        replace(file, &changed_text(&text, wall)?)?;
        while read_changed(server.address, &marker(wall)).is_err() {
            if begin.elapsed() > Duration::from_secs(30) {
                return Err("a changed file is not seen".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        best.wall = best.wall.min(begin.elapsed().as_secs_f64());
    }
    replace(file, &text)?;
    Ok(best)
}

/// A resource of the changed CRD has a short name of its own after each change.
fn marker(change: usize) -> String {
    format!("changed{change}")
}

/// The text with a short name that marks the change.
fn changed_text(text: &str, change: usize) -> Result<String, String> {
    let at = text.find("\n    plural: ").ok_or("the first file names no plural where machines write it")?;
    let names = text.replace("\n    shortNames:\n", "\n    shortNames:\n    - REPLACED\n");
    let marked = format!("\n    - {}\n", marker(change));
    Ok(if names == text {
        format!("{}\n    shortNames:{}{}", &text[..at], marked.trim_end(), &text[at..])
    } else {
        names.replace("\n    - REPLACED\n", &marked)
    })
}

/// As an editor does: a new file takes the old one's place.
fn replace(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("new");
    write(&new, text.as_bytes())?;
    std::fs::rename(&new, file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Reads discovery, the index and a document, if the change is in discovery.
fn read_changed(address: SocketAddr, marker: &str) -> Result<(), String> {
    let discovery = ask(address, &Request::get("/apis", &[AGGREGATED]))?;
    let found = discovery.body.windows(marker.len()).any(|bytes| bytes == marker.as_bytes());
    if !found {
        return Err(format!("{marker} is not in discovery"));
    }
    ask(address, &Request::get("/openapi/v3", &[JSON])).map(|_| ())
}
