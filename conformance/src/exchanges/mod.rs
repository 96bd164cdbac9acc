//! Exchanges with a real kube-apiserver. The requests are sent again, byte for byte, to our server over loopback.
//! Status, headers and bodies are compared, with `--extensions off`.
//!
//! Our server gets the inputs of the real one: as base, the documents that it publishes without
//! CustomResourceDefinitions, and the stored CustomResourceDefinitions.

mod compare;
mod definitions;
mod record;
pub(crate) mod resources;
mod serve;
mod wire;

use crate::golden;
use crate::table::{Table, Verdict};
use bytes::Bytes;
use compare::{Bodies, compare_with};
use kubeshape_objects::Documents;
use record::Exchange;
use serde_json::Value;
use serve::Served;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The servers whose exchanges are sent again, and the files of exchanges of each.
const SERVERS: [(&str, &[&str]); 3] =
    [("empty", &["responses", "protocol"]), ("crds", &["responses", "protocol"]), ("rules", &["responses"])];

/// Adds a row per server and kind of exchange.
pub fn compare(golden: &Path, corpus: &Path, table: &mut Table) {
    let apiserver = golden.join("apiserver");
    resources::compare(&apiserver, table);
    definitions::compare(&apiserver, corpus, table);
    let base = apiserver.join("empty");
    for (server, files) in SERVERS {
        let folder = apiserver.join(server);
        if !files.iter().any(|file| recording(&folder, file).is_file()) || !recording(&base, "responses").is_file() {
            continue;
        }
        let row = format!("{server} exchanges");
        let served = match Served::start(&base, &folder) {
            Ok(served) => served,
            Err(why) => {
                table.add(&row, "server", Verdict::Missing(why));
                continue;
            }
        };
        let mut bodies = Bodies::new(&folder, built_in(&base));
        for file in files {
            match record::read(&recording(&folder, file)) {
                Ok(exchanges) => replay(server, file, &exchanges, &served, &mut bodies, table),
                Err(why) => table.add(&row, file, Verdict::Missing(why)),
            }
        }
    }
}

/// The file of a kind of exchanges.
fn recording(folder: &Path, kind: &str) -> PathBuf {
    folder.join(format!("{kind}.ndjson.zst"))
}

/// Returns the address at which a recorded server was reached, from its response to `/api`.
pub(crate) fn address(folder: &Path) -> Result<Option<String>, String> {
    for exchange in record::read(&recording(folder, "responses"))? {
        let Some(file) = exchange.file.filter(|_| exchange.status == 200 && exchange.request.path == "/api") else {
            continue;
        };
        let versions: Option<Value> = serde_json::from_slice(&body(folder, &file)?).ok();
        let address = versions.as_ref().and_then(|it| it["serverAddressByClientCIDRs"][0]["serverAddress"].as_str());
        if let Some(address) = address {
            return Ok(Some(address.to_owned()));
        }
    }
    Ok(None)
}

fn replay(
    server: &str,
    file: &str,
    exchanges: &[Exchange],
    served: &Served,
    bodies: &mut Bodies<'_>,
    table: &mut Table,
) {
    let mut connection = None;
    for (place, exchange) in exchanges.iter().enumerate() {
        let row = format!("{server} exchanges: {}", exchange.note.as_deref().unwrap_or(file));
        let record = format!("{} {} {}", place + 1, exchange.request.method, exchange.request.path);
        let verdict = match wire::exchange(served.address(), &mut connection, &exchange.request, exchange.has_token()) {
            Ok(answer) => match compare_with(exchange, &answer, bodies) {
                None => Verdict::Equal,
                Some(difference) => Verdict::Differing(format!("{:?}: {difference}", exchange.request.headers)),
            },
            Err(error) => Verdict::Missing(format!("no answer: {error}")),
        };
        table.add(&row, &record, verdict);
    }
}

/// Returns the paths of group versions that a server has without CustomResourceDefinitions.
fn built_in(base: &Path) -> BTreeSet<String> {
    let exchanges = record::read(&recording(base, "responses")).unwrap_or_default();
    exchanges.into_iter().map(|exchange| exchange.request.path).collect()
}

/// Returns a body by its name in an exchange, which may lack the `.zst`.
fn body(folder: &Path, file: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(file);
    let path = if path.is_file() { path } else { folder.join(format!("{file}.zst")) };
    golden::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The group version of definitions.
const DOCUMENT: &str = "apis/apiextensions.k8s.io/v1";

/// The built-in resources that are compared: definitions.
fn documents() -> Documents {
    let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    Documents::new(api.openapi_v3(DOCUMENT).map(|text| (DOCUMENT, Bytes::from(text))))
}
