//! Discovery documents of downstream servers.

use super::options::GroupVersionName;
use kubeshape_publish::discovery::{Freshness, Group, GroupVersion, Kind, Origin, Priority, Resource, Scope};
use serde_json::Value;
use std::sync::Arc;

pub(super) enum Body {
    Groups(Vec<Group>),
    Names(Vec<GroupVersionName>),
}

fn text(v: &Value) -> Arc<str> {
    v.as_str().unwrap_or_default().into()
}

fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

impl Body {
    pub(super) fn read(body: &[u8]) -> Result<Body, String> {
        let v: Value = serde_json::from_slice(body).map_err(|e| e.to_string())?;
        match v["kind"].as_str() {
            Some("APIGroupDiscoveryList") => Ok(Body::Groups(
                list(&v["items"])
                    .iter()
                    .map(|g| Group {
                        name: text(&g["metadata"]["name"]),
                        versions: list(&g["versions"])
                            .iter()
                            .map(|x| {
                                Arc::new(GroupVersion {
                                    version: text(&x["version"]),
                                    priority: Priority { group: 1000, version: 15 },
                                    origin: Origin::Aggregated,
                                    freshness: if x["freshness"] == "Stale" {
                                        Freshness::Stale
                                    } else {
                                        Freshness::Current
                                    },
                                    resources: list(&x["resources"]).iter().map(resource).collect(),
                                })
                            })
                            .collect(),
                    })
                    .collect(),
            )),
            Some("APIGroupList") => Ok(Body::Names(
                list(&v["groups"])
                    .iter()
                    .flat_map(|g| {
                        list(&g["versions"])
                            .iter()
                            .map(|x| GroupVersionName { group: text(&g["name"]), version: text(&x["version"]) })
                    })
                    .collect(),
            )),
            Some("APIVersions") => Ok(Body::Names(
                list(&v["versions"]).iter().map(|x| GroupVersionName { group: "".into(), version: text(x) }).collect(),
            )),
            kind => Err(format!("no discovery: {kind:?}")),
        }
    }
}

fn resource(r: &Value) -> Resource {
    Resource {
        name: if r["resource"].is_string() { text(&r["resource"]) } else { text(&r["name"]) },
        response_kind: Kind { kind: text(&r["responseKind"]["kind"]), ..Kind::default() },
        scope: Scope::Namespaced,
        singular: text(&r["singularResource"]),
        verbs: Vec::new(),
        short_names: Vec::new(),
        categories: Vec::new(),
        storage_version_hash: None,
        subresources: Vec::new(),
    }
}

pub(super) fn resources(body: &[u8], name: &GroupVersionName) -> Result<Vec<Resource>, String> {
    let v: Value = serde_json::from_slice(body).map_err(|e| e.to_string())?;
    if v["kind"] != "APIResourceList" {
        return Err(format!("no resources of {}", name.path()));
    }
    Ok(list(&v["resources"]).iter().map(resource).collect())
}
