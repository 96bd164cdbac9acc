//! The cost of requests, compared with upstream's handlers for the same documents.

use super::Plan;
use super::client::{Connection, Request, Response};
use super::load::{Cost, measure};
use super::many::write;
use super::process::Server;
use super::table::{Table, Unit};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;

const AGGREGATED: (&str, &str) = ("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
const JSON: (&str, &str) = ("Accept", "application/json");
const PROTOBUF: (&str, &str) = ("Accept", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
const GZIP: (&str, &str) = ("Accept-Encoding", "gzip");
/// Shorter documents are small.
const SMALL: usize = 64 << 10;
/// The length of a large document.
const LARGE: usize = 627 << 10;

/// A published v3 document.
struct Leaf {
    url: String,
    bytes: usize,
}

/// Servers with the same documents.
struct Servers<'p> {
    ours: Server,
    theirs: Option<Server>,
    leaves: Vec<Leaf>,
    plan: &'p Plan,
}

/// Measures the documents of the plan's folder.
pub(super) fn documents(plan: &Plan, scratch: &Path, table: &mut Table) -> Result<(), String> {
    let servers = Servers::start(plan, &plan.folder, &scratch.join("documents"))?;
    let small = servers.leaves.iter().filter(|leaf| leaf.bytes < SMALL).max_by_key(|leaf| leaf.bytes);
    let large = servers.leaves.iter().min_by_key(|leaf| leaf.bytes.abs_diff(LARGE));
    for (leaf, target) in [(small, 0.5), (large, 1.0)] {
        let Some(Leaf { url, bytes }) = leaf else { continue };
        let size = format!("v3 document of {} KB", bytes / 1024);
        servers.compare(&size, &Request::get(url, &[JSON]), 200, target, table)?;
        servers.not_modified(&format!("{size}, 304"), url, JSON, table)?;
        // Upstream does not compress v3 documents, so compare with the same document after the gzip of its v2 handler.
        let compressed = servers.of_ours(&Request::get(url, &[JSON, GZIP]), 200)?;
        let theirs = servers.of_theirs(&Request::get(&format!("/compressed{url}"), &[JSON, GZIP]), 200)?;
        table.compared(
            &format!("{size}, compressed"),
            compressed.seconds,
            theirs.map(|t| t.seconds),
            0.02,
            Unit::Seconds,
        );
    }
    let index = Request::get("/openapi/v3", &[JSON]);
    servers.compare("v3 index", &index, 200, 0.5, table)?;
    // Upstream's index has no ETag and is always sent.
    let tag = ask(servers.ours.address, &index)?.header("etag").unwrap_or_default().to_owned();
    let ours = servers.of_ours(&Request::get("/openapi/v3", &[JSON, ("If-None-Match", &tag)]), 304)?;
    let theirs = servers.of_theirs(&index, 200)?;
    table.compared("v3 index, 304 compared with Go's 200", ours.seconds, theirs.map(|t| t.seconds), 0.5, Unit::Seconds);
    let document = ask(servers.ours.address, &Request::get("/openapi/v2", &[JSON]))?;
    let size = format!("v2 document of {} KB", document.body.len() / 1024);
    servers.not_modified(&format!("{size}, 304"), "/openapi/v2", JSON, table)?;
    servers.compare(&format!("{size}, compressed"), &Request::get("/openapi/v2", &[JSON, GZIP]), 200, 0.02, table)?;
    servers.compare("v2 protobuf, compressed", &Request::get("/openapi/v2", &[PROTOBUF, GZIP]), 200, 0.02, table)?;
    servers.discovery(table)
}

/// Measures the aggregated discovery of many CustomResourceDefinitions.
pub(super) fn discovery(plan: &Plan, folder: &Path, scratch: &Path, table: &mut Table) -> Result<(), String> {
    let servers = Servers::start(plan, folder, &scratch.join("discovery"))?;
    let compressed = servers.discovery_compressed(table)?;
    table.limited("its bytes, compressed", bytes(compressed.bytes), 1e6, Unit::Bytes);
    table.limited("its processor time for each read", compressed.seconds, 1e-3, Unit::Seconds);
    servers.discovery(table)
}

#[allow(clippy::cast_precision_loss)]
fn bytes(length: usize) -> f64 {
    length as f64
}

impl<'p> Servers<'p> {
    fn start(plan: &'p Plan, folder: &Path, copy: &Path) -> Result<Servers<'p>, String> {
        let ours = plan.kubeshape(folder, false)?;
        let leaves = copy_documents(ours.address, copy)?;
        let theirs = plan.oracle.as_ref().map(|oracle| {
            Server::start(oracle, |command, address| {
                command.args(["serve", "-listen", address]).arg(copy);
            })
        });
        Ok(Servers { ours, theirs: theirs.transpose()?, leaves, plan })
    }

    fn compare(
        &self,
        what: &str,
        request: &Request,
        status: u16,
        target: f64,
        table: &mut Table,
    ) -> Result<Cost, String> {
        let ours = self.of_ours(request, status)?;
        let theirs = self.of_theirs(request, status)?;
        table.compared(what, ours.seconds, theirs.map(|cost| cost.seconds), target, Unit::Seconds);
        Ok(ours)
    }

    /// Each server gets its own ETag, because they print differently.
    fn not_modified(&self, what: &str, path: &str, accept: (&str, &str), table: &mut Table) -> Result<(), String> {
        let of = |server: &Server| {
            let answer = ask(server.address, &Request::get(path, &[accept]))?;
            let etag = answer.header("etag").ok_or_else(|| format!("{path} has no ETag"))?;
            measure(server, &Request::get(path, &[accept, ("If-None-Match", etag)]), 304, self.plan.time)
        };
        let ours = of(&self.ours)?;
        let theirs = self.theirs.as_ref().map(of).transpose()?;
        table.compared(what, ours.seconds, theirs.map(|cost| cost.seconds), 0.5, Unit::Seconds);
        Ok(())
    }

    fn of_ours(&self, request: &Request, status: u16) -> Result<Cost, String> {
        measure(&self.ours, request, status, self.plan.time)
    }

    fn of_theirs(&self, request: &Request, status: u16) -> Result<Option<Cost>, String> {
        self.theirs.as_ref().map(|server| measure(server, request, status, self.plan.time)).transpose()
    }

    fn discovery(&self, table: &mut Table) -> Result<(), String> {
        let answer = ask(self.ours.address, &Request::get("/apis", &[AGGREGATED]))?;
        let size = format!("discovery of {} KB", answer.body.len() / 1024);
        self.compare(&size, &Request::get("/apis", &[AGGREGATED]), 200, 0.5, table)?;
        self.not_modified(&format!("{size}, 304"), "/apis", AGGREGATED, table)
    }

    fn discovery_compressed(&self, table: &mut Table) -> Result<Cost, String> {
        self.compare("aggregated discovery, compressed", &Request::get("/apis", &[AGGREGATED, GZIP]), 200, 0.02, table)
    }
}

/// Sends a request over a new connection.
pub(super) fn ask(address: SocketAddr, request: &Request) -> Result<Response, String> {
    ask_over(&mut Connection::open(address).map_err(|error| error.to_string())?, request)
}

/// Sends a request over a persistent connection.
pub(super) fn ask_over(connection: &mut Connection, request: &Request) -> Result<Response, String> {
    let answer = connection.ask(request).map_err(|error| error.to_string())?;
    if answer.status == 200 { Ok(answer) } else { Err(format!("{request:?}: status {}", answer.status)) }
}

/// Writes what a server publishes to files, for the Go server.
fn copy_documents(address: SocketAddr, folder: &Path) -> Result<Vec<Leaf>, String> {
    let index = ask(address, &Request::get("/openapi/v3", &[JSON]))?;
    let index: Value = serde_json::from_slice(&index.body).map_err(|error| error.to_string())?;
    let mut leaves = Vec::new();
    for (path, entry) in index["paths"].as_object().into_iter().flatten() {
        // Without the hash, which differs between the servers.
        let url = entry["serverRelativeURL"].as_str().unwrap_or_default();
        let url = url.split_once('?').map_or(url, |(path, _)| path).to_owned();
        let answer = ask(address, &Request::get(&url, &[JSON]))?;
        write(&folder.join("openapi").join("v3").join(format!("{path}.json")), &answer.body)?;
        leaves.push(Leaf { url, bytes: answer.body.len() });
    }
    for (path, accept) in [("openapi/v2", JSON), ("apis", AGGREGATED)] {
        let answer = ask(address, &Request::get(&format!("/{path}"), &[accept]))?;
        write(&folder.join(format!("{path}.json")), &answer.body)?;
    }
    Ok(leaves)
}
