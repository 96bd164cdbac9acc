//! The cost of a changed file for a server that watches, and the memory of a CustomResourceDefinition.

use super::Plan;
use super::client::{Connection, Request};
use super::many::write;
use super::marker::changed_text;
use super::process::Server;
use super::requests::ask_over;
use super::table::{Table, Unit};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const AGGREGATED: (&str, &str) = ("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
const JSON: (&str, &str) = ("Accept", "application/json");
const PROTOBUF: (&str, &str) = ("Accept", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
/// How long an idle server is measured.
const IDLE: Duration = Duration::from_secs(10);
/// How long a server has to apply a change, including everything that it does later.
const WINDOW: Duration = Duration::from_millis(600);
/// How often a file is changed. The best round is reported.
const CHANGES: usize = 9;
/// How often v2 is read after a change.
const V2_CHANGES: usize = 4;
/// Live heap of kube-apiserver per CustomResourceDefinition, before and after v2 was read.
const UPSTREAM: (f64, f64) = (2.2e6, 3.5e6);

/// The time that the Go libraries take for an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoTimes {
    v3: f64,
    v2_json: f64,
    v2: f64,
}

/// Runs the Go program over a folder.
pub(super) fn theirs(oracle: &Path, folder: &Path) -> Result<GoTimes, String> {
    let output = Command::new(oracle).args(["updates", "-rounds", "3"]).arg(folder).output();
    let output = output.map_err(|error| format!("{}: {error}", oracle.display()))?;
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let number = |name: &str| answer.as_ref().and_then(|answer| answer[name].as_f64());
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    let seconds = |name: &str| number(name).ok_or_else(said);
    Ok(GoTimes { v3: seconds("v3_seconds")?, v2_json: seconds("v2_json_seconds")?, v2: seconds("v2_seconds")? })
}

/// Measures a server with `count` CustomResourceDefinitions.
pub(super) fn measure(
    plan: &Plan,
    (count, folder, [first, small]): (f64, &Path, &[PathBuf; 2]),
    theirs: Option<GoTimes>,
    scratch: &Path,
    table: &mut Table,
) -> Result<(), String> {
    let nothing = scratch.join("nothing");
    write(&nothing.join("none.yaml"), b"")?;
    let empty = plan.kubeshape(&nothing, false)?;
    empty.settle()?;
    let floor = empty.resident();
    drop(empty);
    let server = plan.kubeshape(folder, true)?;
    server.settle()?;
    let of = format!("of {count} CRDs");
    table.limited(&format!("memory {of}, each"), (server.resident() - floor) / count, UPSTREAM.0 / 10.0, Unit::Bytes);

    let before = server.seconds()?;
    std::thread::sleep(IDLE);
    let idle = (server.seconds()? - before) / IDLE.as_secs_f64();
    table.limited(&format!("a core's share while idle, {of}"), idle, 1e-3, Unit::Share);

    // The average is that of a few large ones; half of all definitions are not larger than the median.
    let mut changing = Changing::of(&server, small)?;
    let (seconds, _) = changing.v3()?;
    let one = format!("a median one changed {of}");
    #[allow(clippy::cast_precision_loss)]
    table.noted(&format!("{one}: its v3 document"), changing.length as f64, Unit::Bytes);
    table.limited(&format!("{one}: v3, index, discovery"), seconds, 1e-3, Unit::Seconds);
    replace(small, &changing.original)?;

    let mut changing = Changing::of(&server, first)?;
    let (seconds, wall) = changing.v3()?;
    let one = format!("one changed {of}");
    #[allow(clippy::cast_precision_loss)]
    table.noted(&format!("{one}: its v3 document"), changing.length as f64, Unit::Bytes);
    table.compared(&format!("{one}: v3, index, discovery"), seconds, theirs.map(|t| t.v3), 1.0, Unit::Seconds);
    table.limited(&format!("{one}: the same, in all"), seconds, 1e-3, Unit::Seconds);
    table.noted(&format!("{one}: seen after (wall clock)"), wall, Unit::Seconds);
    for (form, accept, theirs) in
        [("JSON", JSON, theirs.map(|t| t.v2_json)), ("protobuf", PROTOBUF, theirs.map(|t| t.v2))]
    {
        let (seconds, wall) = changing.v2(accept)?;
        table.compared(&format!("{one}: the next v2, {form}"), seconds, theirs, 0.01, Unit::Seconds);
        table.noted(&format!("{one}: the next v2, {form} (wall clock)"), wall, Unit::Seconds);
        if form == "JSON" {
            server.settle()?;
            let resident = (server.resident() - floor) / count;
            table.limited(&format!("memory {of}, each, v2 read"), resident, UPSTREAM.1 / 10.0, Unit::Bytes);
        }
    }
    replace(first, &changing.original)
}

/// A server with a file that is changed again and again, over one connection.
struct Changing<'s> {
    server: &'s Server,
    connection: Connection,
    file: &'s Path,
    original: String,
    changes: usize,
    /// The URL of the changed v3 document.
    document: Option<String>,
    /// The length of that document.
    length: usize,
}

impl<'s> Changing<'s> {
    fn of(server: &'s Server, file: &'s Path) -> Result<Changing<'s>, String> {
        let original = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let connection = Connection::open(server.address).map_err(|error| error.to_string())?;
        Ok(Changing { server, connection, file, original, changes: 0, document: None, length: 0 })
    }

    /// The processor time of a change until it is visible in discovery, the index and its document, and the wall time.
    ///
    /// A period with a change is compared with a period of the same length without one. Both have the same requests
    /// over the same connection, so the requests cost the same.
    fn v3(&mut self) -> Result<(f64, f64), String> {
        self.find_document()?;
        let (mut with, mut without, mut wall) = (f64::MAX, f64::MAX, f64::MAX);
        for _ in 0..CHANGES {
            self.server.settle()?;
            let before = self.server.seconds()?;
            std::thread::sleep(WINDOW);
            self.read()?;
            without = without.min(self.server.seconds()? - before);

            let before = self.server.seconds()?;
            let marker = self.change()?;
            std::thread::sleep(WINDOW);
            let answers = self.read()?;
            with = with.min(self.server.seconds()? - before);
            if !answers.iter().all(|answer| contains(answer, &marker)) {
                return Err(format!("{marker} is not seen"));
            }

            // Requests cost the server time, so the wall time is measured with another change.
            let begin = Instant::now();
            let marker = self.change()?;
            while !self.read()?.iter().all(|answer| contains(answer, &marker)) {
                if begin.elapsed() > Duration::from_secs(30) {
                    return Err("a changed file is not seen".to_owned());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            wall = wall.min(begin.elapsed().as_secs_f64());
        }
        Ok((with - without, wall))
    }

    /// The additional processor time of the first read of v2 after a change, and its wall time.
    fn v2(&mut self, accept: (&str, &str)) -> Result<(f64, f64), String> {
        let request = Request::get("/openapi/v2", &[accept]);
        ask_over(&mut self.connection, &request)?;
        let (mut first, mut second) = ((f64::MAX, f64::MAX), (f64::MAX, f64::MAX));
        for _ in 0..V2_CHANGES {
            let marker = self.change()?;
            std::thread::sleep(WINDOW);
            self.server.settle()?;
            for best in [&mut first, &mut second] {
                let (before, begin) = (self.server.seconds()?, Instant::now());
                let answer = ask_over(&mut self.connection, &request)?;
                best.1 = begin.elapsed().as_secs_f64().min(best.1);
                best.0 = best.0.min(self.server.seconds()? - before);
                if !contains(&answer.body, &marker) {
                    return Err(format!("{marker} is not in v2"));
                }
            }
        }
        Ok((first.0 - second.0, first.1))
    }

    /// Changes the file, and returns the marker of the change.
    fn change(&mut self) -> Result<String, String> {
        self.changes += 1;
        let marker = format!("changed{}times", self.changes);
        replace(self.file, &changed_text(&self.original, &marker)?)?;
        Ok(marker)
    }

    /// Reads discovery, and the index and the changed document if it is known.
    fn read(&mut self) -> Result<Vec<Vec<u8>>, String> {
        let mut answers = vec![ask_over(&mut self.connection, &Request::get("/apis", &[AGGREGATED]))?.body];
        if let Some(document) = &self.document {
            ask_over(&mut self.connection, &Request::get("/openapi/v3", &[JSON]))?;
            answers.push(ask_over(&mut self.connection, &Request::get(document, &[JSON]))?.body);
        }
        Ok(answers)
    }

    /// Finds which document changes with the file.
    fn find_document(&mut self) -> Result<(), String> {
        let index = |connection: &mut Connection| {
            let answer = ask_over(connection, &Request::get("/openapi/v3", &[JSON]))?;
            serde_json::from_slice::<Value>(&answer.body).map_err(|error| error.to_string())
        };
        let before = index(&mut self.connection)?;
        self.change()?;
        std::thread::sleep(2 * WINDOW);
        let after = index(&mut self.connection)?;
        let paths = after["paths"].as_object().into_iter().flatten();
        let mut changed = paths.filter(|(path, entry)| before["paths"][path.as_str()] != **entry).map(|(path, _)| path);
        let document = changed.next().ok_or("the index does not change with the first file")?;
        let document = format!("/openapi/v3/{document}");
        self.length = ask_over(&mut self.connection, &Request::get(&document, &[JSON]))?.body.len();
        self.document = Some(document);
        Ok(())
    }
}

fn contains(answer: &[u8], marker: &str) -> bool {
    memchr::memmem::find(answer, marker.as_bytes()).is_some()
}

/// Replaces a file with a new one, as an editor does.
fn replace(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("new");
    write(&new, text.as_bytes())?;
    std::fs::rename(&new, file).map_err(|error| format!("{}: {error}", file.display()))
}
