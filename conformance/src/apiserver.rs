//! Area `apiserver`: what a real kube-apiserver publishes for CustomResourceDefinitions. Its documents are
//! compared byte for byte and with their hashes.
//!
//! `crds/` is a server with the CustomResourceDefinitions of several projects, `rules/` is a server with many small
//! ones.

use crate::cluster::{Cluster, served_v2};
use crate::discovery;
use crate::exchanges;
use crate::golden::{self, lines};
use crate::input::{Answer, OurCrd, answers};
use crate::known::Known;
use crate::table::{Table, Verdict};
use crate::verdict::{bytes_and_etag, equal};
use kubeshape_discovery::Group;
use kubeshape_publish::Publisher;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The documents of a server without CustomResourceDefinitions.
#[derive(Clone, Copy, Debug)]
pub struct BaseDocuments<'b> {
    /// A publisher with these documents as base.
    pub publisher: &'b Publisher,
    /// The v2 document, if present.
    pub v2: Option<&'b [u8]>,
}

/// Compares the servers of a golden folder; `base` is `None` without base documents.
pub fn compare(golden: &Path, corpus: &Path, base: Option<BaseDocuments<'_>>, known: Known) -> Table {
    let mut table = Table::new("apiserver", known);
    let groups = discovery::recorded_groups(&golden.join("apiserver").join("empty"));
    discovery::compare("empty", &golden.join("apiserver").join("empty"), &groups, &[], &mut table);
    for (server, requests, installed) in SERVERS {
        let folder = golden.join("apiserver").join(server);
        if folder.join(RESPONSES).is_file() && folder.join(requests).is_file() {
            Server { name: server, folder: &folder }.compare(installed, corpus, base, &groups, &mut table);
        }
    }
    exchanges::compare(golden, corpus, &mut table);
    table
}

/// The recorded servers with CustomResourceDefinitions: the folder, the file of requests that created them, and its
/// reader.
const SERVERS: [(&str, &str, Installed); 2] =
    [("crds", "install.ndjson.zst", installed), ("rules", "rules.ndjson.zst", requested)];

/// The file with a server's responses.
const RESPONSES: &str = "responses.ndjson.zst";

/// Returns whether the folder contains records of the area.
pub fn has_records(golden: &Path) -> bool {
    SERVERS.iter().any(|(server, ..)| golden.join("apiserver").join(server).join(RESPONSES).is_file())
}

/// Returns the CustomResourceDefinitions that a server accepted, in order. The error names what is missing.
type Installed = fn(&Path, &Path, &Publisher) -> Result<Vec<OurCrd>, String>;

/// A request of `install.ndjson`. A request that the server could not read has no name.
#[derive(Deserialize)]
struct Install {
    file: String,
    name: Option<String>,
    status: u16,
}

/// From `install.ndjson`: files of the corpus. Records without a name are skipped.
fn installed(folder: &Path, corpus: &Path, publisher: &Publisher) -> Result<Vec<OurCrd>, String> {
    let mut files: BTreeMap<String, Vec<OurCrd>> = BTreeMap::new();
    let mut out = Vec::new();
    for install in lines::<Install>(&folder.join("install.ndjson.zst"))?.into_iter().filter(|i| i.status == 201) {
        let Some(name) = install.name.filter(|name| !name.is_empty()) else { continue };
        if !files.contains_key(&install.file) {
            let path = corpus.join("crds").join(&install.file);
            let bytes = golden::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let crds = answers(&bytes, publisher).into_iter().filter_map(Answer::into_crd).collect();
            files.insert(install.file.clone(), crds);
        }
        let crd = files[&install.file].iter().find(|crd| crd.name == name);
        out.push(crd.ok_or_else(|| format!("{}: found no {name}", install.file))?.clone());
    }
    Ok(out)
}

#[derive(Deserialize)]
struct Exchange {
    request: Request,
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    file: Option<String>,
}

#[derive(Deserialize)]
struct Request {
    path: String,
    body: Option<String>,
}

/// From `rules.ndjson`: the bodies of requests.
fn requested(folder: &Path, _: &Path, publisher: &Publisher) -> Result<Vec<OurCrd>, String> {
    let accepted = lines::<Exchange>(&folder.join("rules.ndjson.zst"))?.into_iter().filter(|e| e.status == 201);
    let bodies = accepted.filter_map(|exchange| exchange.request.body);
    Ok(bodies.flat_map(|body| answers(body.as_bytes(), publisher)).filter_map(Answer::into_crd).collect())
}

struct Server<'s> {
    name: &'s str,
    folder: &'s Path,
}

impl Server<'_> {
    fn row(&self, kind: &str) -> String {
        format!("{} {kind}", self.name)
    }

    fn compare(
        &self,
        installed: Installed,
        corpus: &Path,
        base: Option<BaseDocuments<'_>>,
        groups: &[Group],
        table: &mut Table,
    ) {
        let recorded = match self.recorded() {
            Ok(recorded) => recorded,
            Err(why) => return table.add("records", self.name, Verdict::Missing(why)),
        };
        let Some(base) = base else { return self.missing(&recorded, "no base", table) };
        let crds = match installed(self.folder, corpus, base.publisher) {
            Ok(crds) => {
                discovery::compare(self.name, self.folder, groups, &crds, table);
                self.established(crds)
            }
            Err(why) => return self.missing(&recorded, &why, table),
        };
        let ours = Cluster::new(crds.clone(), base.publisher);
        self.v3(&recorded, &ours, table);
        self.index(&recorded, &ours, table);
        if let Some((theirs, etag)) = &recorded.v2 {
            let row = self.row("v2");
            let verdict = match base.v2.map(|document| served_v2(crds, base.publisher, document)) {
                Some(Ok(merged)) => bytes_and_etag(&merged.document, theirs, &golden::etag(&merged.document), etag),
                Some(Err(error)) => Verdict::Differing(error.to_string()),
                None => {
                    table.remark(&row, "no base");
                    Verdict::Missing("no base".to_owned())
                }
            };
            table.add(&row, "openapi/v2", verdict);
        }
    }

    /// Counts every record as missing.
    fn missing(&self, recorded: &Recorded, why: &str, table: &mut Table) {
        let mut add = |kind: &str, record: &str| {
            let row = self.row(kind);
            if why == "no base" {
                table.remark(&row, why);
            }
            table.add(&row, record, Verdict::Missing(why.to_owned()));
        };
        recorded.v3.keys().for_each(|path| add("v3", path));
        recorded.index.keys().for_each(|path| add("v3 index", path));
        if recorded.v2.is_some() {
            add("v2", "openapi/v2");
        }
    }

    /// Removes definitions whose names the server does not accept: it does not publish them.
    fn established(&self, crds: Vec<OurCrd>) -> Vec<OurCrd> {
        let stored = self.folder.join("bodies").join("customresourcedefinitions.json.zst");
        let stored: Value =
            golden::read(&stored).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
        let refused: BTreeSet<&str> = stored["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|item| {
                let conditions = item["status"]["conditions"].as_array();
                let established = |c: &Value| c["type"] == "Established" && c["status"] == "True";
                conditions.is_some_and(|conditions| !conditions.iter().any(established))
            })
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect();
        crds.into_iter().filter(|crd| !refused.contains(crd.name.as_str())).collect()
    }

    fn recorded(&self) -> Result<Recorded, String> {
        let mut recorded = Recorded::default();
        for exchange in lines::<Exchange>(&self.folder.join(RESPONSES))? {
            let Some(file) = exchange.file.as_deref().filter(|file| exchange.status == 200 && file.contains(".json"))
            else {
                continue;
            };
            let path = exchange.request.path.split('?').next().unwrap_or_default();
            let wanted = path == "/openapi/v2" || path == "/openapi/v3" || path.starts_with("/openapi/v3/apis/");
            if !wanted {
                continue;
            }
            let body = self.body(file)?;
            let etag = exchange.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("etag"));
            let etag = etag.map(|(_, value)| value.trim_matches('"').to_owned()).unwrap_or_default();
            match path.strip_prefix("/openapi/v3/") {
                Some(path) if of_crds(&body) => {
                    recorded.v3.insert(path.to_owned(), (body, etag));
                }
                Some(_) => {}
                None if path == "/openapi/v2" => recorded.v2 = Some((body, etag)),
                None => recorded.index = index(&body)?,
            }
        }
        let v3 = &recorded.v3;
        recorded.index.retain(|path, _| v3.contains_key(path));
        Ok(recorded)
    }

    /// Returns a body by its name in the exchange, which may lack the `.zst`.
    fn body(&self, file: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(file);
        let path = if path.is_file() { path } else { self.folder.join(format!("{file}.zst")) };
        golden::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn v3(&self, recorded: &Recorded, ours: &Cluster, table: &mut Table) {
        let row = self.row("v3");
        for (path, (theirs, etag)) in &recorded.v3 {
            let verdict = match ours.v3.get(path) {
                Some(Ok(document)) => bytes_and_etag(document, theirs, &golden::etag(document), etag),
                Some(Err(error)) => Verdict::Differing(error.clone()),
                None => Verdict::Missing("no such document".to_owned()),
            };
            table.add(&row, path, verdict);
        }
        for path in ours.v3.keys().filter(|path| !recorded.v3.contains_key(*path)) {
            table.add(&row, path, Verdict::Differing("only ours".to_owned()));
        }
    }

    fn index(&self, recorded: &Recorded, ours: &Cluster, table: &mut Table) {
        for (path, theirs) in &recorded.index {
            let ours = match ours.v3.get(path) {
                Some(Ok(document)) => format!("/openapi/v3/{path}?hash={}", golden::etag(document)),
                _ => String::new(),
            };
            table.add(&self.row("v3 index"), path, equal(&ours, theirs));
        }
    }
}

/// The server's responses for CustomResourceDefinitions.
#[derive(Default)]
struct Recorded {
    /// Documents with their ETags, by path.
    v3: BTreeMap<String, (Vec<u8>, String)>,
    /// URLs by path.
    index: BTreeMap<String, String>,
    v2: Option<(Vec<u8>, String)>,
}

/// Returns whether a v3 document is that of a group version of CustomResourceDefinitions.
fn of_crds(document: &[u8]) -> bool {
    document.starts_with(br#"{"openapi":"3.0.0","info":{"title":"Kubernetes CRD Swagger""#)
}

fn index(body: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let index: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let paths = index["paths"].as_object().into_iter().flatten();
    Ok(paths
        .map(|(path, entry)| (path.clone(), entry["serverRelativeURL"].as_str().unwrap_or_default().to_owned()))
        .collect())
}
