//! Discovery: the answers of the libraries for the CustomResourceDefinitions of a project, and every discovery body of
//! a real server. The server's own groups are read from its responses without any CustomResourceDefinition.

use crate::cluster::first_of_name;
use crate::exchanges;
use crate::golden;
use crate::golden::lines;
use crate::input::OurCrd;
use crate::table::{Table, Verdict};
use crate::verdict::bytes;
use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::read::{self, Document};
use kubeshape_discovery::{
    CustomResource, Group, Origin, Records, aggregated_order, assemble, custom_group_versions, established,
    group_list_order,
};
use kubeshape_yaml::Limits;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// All groups of a server by name, including the core group.
#[derive(Clone, Debug)]
pub struct Discovery {
    groups: BTreeMap<Arc<str>, Group>,
    /// The address of the server; empty for the libraries.
    address: String,
}

/// CustomResourceDefinitions by group, in the order of the files. If several have the same name, the first is used.
fn by_group(crds: &[OurCrd]) -> BTreeMap<Arc<str>, Vec<&CustomResource>> {
    let mut groups: BTreeMap<Arc<str>, Vec<&CustomResource>> = BTreeMap::new();
    for crd in first_of_name(crds) {
        groups.entry(Arc::clone(&crd.discovery.group)).or_default().push(&crd.discovery);
    }
    groups
}

impl Discovery {
    /// Creates it for definitions that are all treated as established, whatever their names, as in the calls of the
    /// libraries.
    pub fn of_library(crds: &[OurCrd]) -> Discovery {
        let groups = by_group(crds).into_iter().filter_map(|(name, all)| {
            let versions = custom_group_versions(all).into_iter().map(Arc::new);
            Some((Arc::clone(&name), assemble(name, versions)?))
        });
        Discovery { groups: groups.collect(), address: String::new() }
    }

    /// Creates it for a server at an address, with its own groups and definitions, created in this order.
    pub fn of_server(own: &[Group], crds: &[OurCrd], address: String) -> Discovery {
        let mut groups: BTreeMap<Arc<str>, Group> =
            own.iter().map(|group| (Arc::clone(&group.name), group.clone())).collect();
        for (name, all) in by_group(crds) {
            let own = groups.remove(&name).into_iter().flat_map(|group| group.versions);
            let custom = custom_group_versions(established(all)).into_iter().map(Arc::new);
            if let Some(group) = assemble(Arc::clone(&name), own.chain(custom)) {
                groups.insert(name, group);
            }
        }
        Discovery { groups, address }
    }

    /// Compares one answer of the libraries' handlers; an empty path is the group list.
    pub fn library(&self, path: &str, theirs: &RawValue, etag: &str) -> Verdict {
        let theirs: Value = match serde_json::from_str(theirs.get()) {
            Ok(theirs) => theirs,
            Err(error) => return Verdict::Missing(error.to_string()),
        };
        let mut ours = Vec::new();
        if path == "apis" {
            let mut tagged = Vec::new();
            print::etag_text(&mut tagged, self.groups.values());
            let our_etag = format!("\"{}\"", golden::etag(&tagged));
            if our_etag != etag {
                return Verdict::Differing(format!("etag {our_etag}, theirs {etag}"));
            }
            print::aggregated(&mut ours, AggregatedVersion::V2, self.groups.values(), Encoding::Json);
        } else if path.is_empty() {
            // This list is sorted by name.
            print::group_list(&mut ours, self.groups.values(), Encoding::Json);
        } else {
            match self.body(path, false, Encoding::Json) {
                Some(body) => ours = body,
                None => return Verdict::Missing("no such document".to_owned()),
            }
        }
        match serde_json::from_slice::<Value>(&ours) {
            Ok(ours) => {
                let (ours, theirs) = (without_order(ours), without_order(theirs));
                golden::first_difference(&ours, &theirs).map_or(Verdict::Equal, Verdict::Differing)
            }
            Err(error) => Verdict::Differing(error.to_string()),
        }
    }

    /// Returns the body of a path, given without empty segments.
    fn body(&self, path: &str, aggregated: bool, encoding: Encoding) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let named = || self.groups.values().filter(|group| !group.name.is_empty());
        let resources = |out: &mut Vec<u8>, group: &str, version: &str| {
            let version = self.groups.get(group)?.versions.iter().find(|known| &*known.version == version)?;
            print::resource_list(out, group, version, encoding);
            Some(())
        };
        match path.split('/').collect::<Vec<_>>()[..] {
            ["apis"] if aggregated => print::aggregated(&mut out, AggregatedVersion::V2, named(), encoding),
            ["api"] if aggregated => {
                print::aggregated(&mut out, AggregatedVersion::V2, self.groups.get(""), encoding);
            }
            ["apis"] => print::group_list(&mut out, group_list_order(named()), encoding),
            ["api"] => {
                let versions: Vec<&str> =
                    self.groups.get("")?.versions.iter().map(|version| &*version.version).collect();
                print::versions(&mut out, &versions, &[("0.0.0.0/0", &*self.address)], encoding);
            }
            ["apis", group] => print::group(&mut out, self.groups.get(group)?, encoding),
            ["apis", group, version] => resources(&mut out, group, version)?,
            ["api", version] => resources(&mut out, "", version)?,
            _ => return None,
        }
        Some(out)
    }

    /// Returns whether the order of resources is not fixed: for the list of a group version of
    /// CustomResourceDefinitions.
    fn without_order(&self, path: &str) -> bool {
        let ["apis", group, version] = path.split('/').collect::<Vec<_>>()[..] else { return false };
        let versions = self.groups.get(group).into_iter().flat_map(|group| &group.versions);
        versions.into_iter().any(|known| &*known.version == version && known.origin == Origin::CustomResources)
    }
}

/// Returns a list of resources sorted by name, and other documents unchanged.
fn without_order(mut document: Value) -> Value {
    if let Some(Value::Array(resources)) = document.get_mut("resources") {
        resources.sort_by_key(|resource| {
            let name = resource["name"].as_str().unwrap_or_default();
            name.split('/').next().unwrap_or_default().to_owned()
        });
    }
    document
}

/// Returns the groups of a server, read from its discovery documents.
pub fn recorded_groups(folder: &Path) -> Vec<Group> {
    let mut records = Records::default();
    for file in golden::files(&folder.join("bodies").join("discovery")) {
        if let Some(document) = golden::read(&file).ok().and_then(|body| read::read(&body, Limits::default()).ok()) {
            records.add(document);
        }
    }
    aggregated_order(&records.groups()).into_iter().cloned().collect()
}

#[derive(Deserialize)]
struct Exchange {
    request: Request,
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    file: Option<String>,
    body: Option<String>,
    body_base64: Option<String>,
}

#[derive(Deserialize)]
struct Request {
    path: String,
}

impl Exchange {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    fn bytes(&self, folder: &Path) -> Option<Vec<u8>> {
        match (&self.body, &self.body_base64, &self.file) {
            (Some(body), ..) => Some(body.clone().into_bytes()),
            (_, Some(body), _) => Some(from_base64(body)),
            (.., Some(file)) => {
                let path = folder.join(file);
                let path = if path.is_file() { path } else { folder.join(format!("{file}.zst")) };
                golden::read(&path).ok()
            }
            _ => None,
        }
    }
}

/// Compares every body of discovery that a server sent. `own` are the server's own groups.
pub fn compare(server: &str, folder: &Path, own: &[Group], crds: &[OurCrd], table: &mut Table) {
    let address = match exchanges::address(folder) {
        Ok(address) => address.unwrap_or_default(),
        Err(why) => return table.add("records", server, Verdict::Missing(why)),
    };
    let ours = Discovery::of_server(own, crds, address);
    let row = format!("{server} discovery");
    for name in ["responses.ndjson.zst", "protocol.ndjson.zst"] {
        let exchanges = match lines::<Exchange>(&folder.join(name)) {
            Ok(exchanges) => exchanges,
            Err(why) => return table.add("records", server, Verdict::Missing(why)),
        };
        for exchange in exchanges.iter().filter(|exchange| exchange.status == 200) {
            let (path, query) = exchange.request.path.split_once('?').unwrap_or((&exchange.request.path, ""));
            let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
            let discovery = matches!(segments[..], ["api" | "apis"] | ["api" | "apis", _] | ["apis", _, _]);
            if !discovery || exchange.header("content-encoding") == "gzip" {
                continue;
            }
            let Some(theirs) = exchange.bytes(folder).filter(|body| !body.is_empty()) else { continue };
            let content_type = exchange.header("content-type");
            let label = format!("{} {content_type}", exchange.request.path);
            let verdict = ours.answer(&segments.join("/"), query, content_type, &theirs, exchange.header("etag"));
            table.add(&row, &label, verdict);
        }
    }
}

impl Discovery {
    fn answer(&self, path: &str, query: &str, content_type: &str, theirs: &[u8], etag: &str) -> Verdict {
        let aggregated = content_type.contains("as=APIGroupDiscoveryList");
        let pretty = query.split('&').any(|part| matches!(part, "pretty=1" | "pretty=true"));
        let encoding = match content_type.split(';').next() {
            Some("application/yaml") => Encoding::Yaml,
            Some("application/vnd.kubernetes.protobuf") => Encoding::Protobuf,
            _ if pretty => Encoding::JsonIndented,
            _ => Encoding::Json,
        };
        let Some(ours) = self.body(path, aggregated, encoding) else {
            return Verdict::Missing("no such document".to_owned());
        };
        if aggregated {
            let mut tagged = Vec::new();
            let core = path == "api";
            print::etag_text(&mut tagged, self.groups.values().filter(|group| group.name.is_empty() == core));
            let our_etag = format!("\"{}\"", golden::etag(&tagged));
            if our_etag != etag {
                return Verdict::Differing(format!("etag {our_etag}, theirs {etag}"));
            }
        }
        if self.without_order(path) {
            let sorted = |body: &[u8]| match read::read(body, Limits::default()) {
                Ok(Document::Resources { mut resources, .. }) => {
                    resources.sort_by(|a, b| a.name.cmp(&b.name));
                    Ok(resources)
                }
                other => Err(format!("{other:?}")),
            };
            let (ours_read, theirs_read) = (sorted(&ours), sorted(theirs));
            return if ours.len() == theirs.len() && ours_read.is_ok() && ours_read == theirs_read {
                Verdict::Equal
            } else {
                Verdict::Differing(format!("{ours_read:?}, theirs {theirs_read:?}"))
            };
        }
        bytes(&ours, theirs)
    }
}

/// Returns the bytes of a base64 string in a recording.
fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0_u32);
    for digit in text.bytes().filter_map(digit) {
        (bits, held) = (bits << 6 | u32::from(digit), held + 6);
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xFF) as u8);
        }
    }
    out
}
