//! The resources that client-go finds.

use super::Defined;
use super::mapper;
use crate::table::{Table, Verdict};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The results of client-go for a server.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Found {
    aggregated: Discovered,
    legacy: Discovered,
    openapi_v3: Vec<Document>,
    openapi_v2: Document,
    cached: Cached,
}

#[derive(Clone, Debug, Deserialize)]
struct Discovered {
    requests: Vec<Exchange>,
    groups: Vec<serde_json::Value>,
    resources: Vec<Resource>,
    preferred: Vec<Resource>,
    mapper: Mapped,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Resource {
    group: String,
    version: String,
    name: String,
    kind: String,
    response_kind: String,
    singular: String,
    namespaced: bool,
    verbs: Vec<String>,
    short_names: Vec<String>,
    categories: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Mapped {
    resources: usize,
    kinds: BTreeMap<String, String>,
    short_names: BTreeMap<String, String>,
    lookups: BTreeMap<String, String>,
    faults: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Exchange {
    path: String,
    status: u16,
}

#[derive(Clone, Debug, Deserialize)]
struct Cached {
    first: Vec<Exchange>,
    second: Vec<Exchange>,
    invalidated: Vec<Exchange>,
    same: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct Document {
    #[serde(default)]
    group_version: String,
    kinds: Vec<String>,
}

impl Resource {
    fn group_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the resource without the singular names of subresources, which the unaggregated form does not have.
    fn in_both_forms(&self) -> Resource {
        let mut out = self.clone();
        if out.name.contains('/') {
            out.singular.clear();
        }
        out
    }
}

impl Found {
    /// Compares each kind, each short name and each lookup with the mapping of `kubeshape-client`.
    pub(super) fn compare_mapper(&self, row: &str, own: &mapper::Mapped, table: &mut Table) {
        let theirs = &self.aggregated.mapper;
        let shared = self.aggregated.shared_names();
        let by_chance = |what: &str, name: &str| match what {
            "short name" => shared.contains(name),
            "lookup" => {
                let names =
                    name.strip_prefix("expanded kind of ").or_else(|| name.strip_prefix("expanded resource of "));
                names.and_then(|names| names.split(' ').next()).is_some_and(|name| shared.contains(name))
            }
            _ => false,
        };
        for (what, own, theirs) in [
            ("kind", &own.kinds, &theirs.kinds),
            ("short name", &own.short_names, &theirs.short_names),
            ("lookup", &own.lookups, &theirs.lookups),
        ] {
            let names: BTreeSet<&String> = own.keys().chain(theirs.keys()).collect();
            for name in names.into_iter().filter(|name| !by_chance(what, name)) {
                let verdict = match (own.get(name), theirs.get(name)) {
                    (own, theirs) if own == theirs => Verdict::Equal,
                    (own, theirs) => Verdict::Differing(format!("{own:?} instead of {theirs:?}")),
                };
                table.add(row, &format!("REST mapper, {what} {name}"), verdict);
            }
        }
    }

    /// Compares the results of the two forms, and checks that every CustomResourceDefinition is found.
    pub(super) fn compare(&self, row: &str, crds: &[Defined], table: &mut Table) {
        let mut say = |record: &str, objection: Option<String>| {
            table.add(row, record, objection.map_or(Verdict::Equal, Verdict::Differing));
        };
        for (form, found) in [("aggregated", &self.aggregated), ("legacy", &self.legacy)] {
            let faults = &found.mapper.faults;
            say(&format!("{form}: REST mapper"), (!faults.is_empty()).then(|| faults.join("; ")));
            say(&format!("{form}: requests"), found.objection_to_requests(form));
        }
        say("resources", different(&resources(&self.aggregated.resources), &resources(&self.legacy.resources)));
        say(
            "preferred resources",
            different(&resources(&self.aggregated.preferred), &resources(&self.legacy.preferred)),
        );
        say("groups", different(&groups(&self.aggregated.groups), &groups(&self.legacy.groups)));
        say("kinds", different(&self.aggregated.mapper.kinds, &self.legacy.mapper.kinds));
        say("short names", different(&self.aggregated.short_names(), &self.legacy.short_names()));
        let mapped = (self.aggregated.mapper.resources, self.legacy.mapper.resources);
        say("mapped resources", (mapped.0 != mapped.1).then(|| format!("{mapped:?}")));
        say("caches", self.cached.objection(self.openapi_v3.len()));
        for crd in crds {
            for version in &crd.versions {
                let record = format!("{}.{} {version}", crd.plural, crd.group);
                say(&record, self.objection_to(crd, version));
            }
        }
        // Every group version in discovery must have a document.
        let documents: BTreeSet<&str> = self.openapi_v3.iter().map(|d| d.group_version.as_str()).collect();
        let versions: BTreeSet<String> = self.aggregated.resources.iter().map(Resource::group_version).collect();
        for version in versions {
            let missing = !documents.contains(version.as_str());
            say(&format!("OpenAPI v3 {version}"), missing.then(|| "no document".to_owned()));
        }
    }

    /// Returns where a version of a CustomResourceDefinition is missing.
    fn objection_to(&self, crd: &Defined, version: &str) -> Option<String> {
        let matches = |resource: &&Resource| {
            resource.group == crd.group && resource.version == version && resource.name == crd.plural
        };
        let Some(resource) = self.aggregated.resources.iter().find(matches) else {
            return Some("not in discovery".to_owned());
        };
        let group_version = format!("{}/{version}", crd.group);
        let kind = format!("{group_version}, {}", resource.kind);
        if !self.aggregated.mapper.kinds.contains_key(&kind) {
            return Some(format!("{kind} is not mapped"));
        }
        let document = self.openapi_v3.iter().find(|document| document.group_version == group_version);
        match document {
            None => Some(format!("{group_version} has no v3 document")),
            Some(document) if !document.kinds.contains(&kind) => Some(format!("{kind} is not in its v3 document")),
            Some(_) if !self.openapi_v2.kinds.contains(&kind) => Some(format!("{kind} is not in the v2 document")),
            Some(_) => None,
        }
    }
}

impl Discovered {
    /// Checks the number of requests. Reading the aggregated form takes two. Reading the other form takes one more for
    /// every group version.
    fn objection_to_requests(&self, form: &str) -> Option<String> {
        let mut paths = BTreeSet::from(["/api".to_owned(), "/apis".to_owned()]);
        if form == "legacy" {
            let core = |version: &str| !version.contains('/');
            let versions = self.resources.iter().map(Resource::group_version);
            paths.extend(versions.map(|v| if core(&v) { format!("/api/{v}") } else { format!("/apis/{v}") }));
        }
        let requested: Vec<String> = self.requests.iter().map(|exchange| exchange.path.clone()).collect();
        let failed = self.requests.iter().any(|exchange| exchange.status != 200);
        let expected = requested.iter().cloned().collect::<BTreeSet<_>>() == paths && requested.len() == paths.len();
        (failed || !expected).then(|| format!("{:?}", self.requests))
    }

    /// Returns the resources of short names, without names that several resources have.
    fn short_names(&self) -> BTreeMap<String, String> {
        let shared = self.shared_names();
        let names = self.mapper.short_names.iter();
        let to = |name: &str, to: &String| if shared.contains(name) { String::new() } else { to.clone() };
        names.map(|(name, resource)| (name.clone(), to(name, resource))).collect()
    }

    /// Returns short names that resources of several groups have. client-go stores aggregated discovery in a map
    /// (`ServerGroupsAndResources`) and uses the first resource that it finds, so the result is random.
    fn shared_names(&self) -> BTreeSet<&str> {
        let mut owners: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for resource in &self.resources {
            for name in &resource.short_names {
                owners.entry(name).or_default().insert((&resource.group, &resource.name));
            }
        }
        owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(name, _)| name).collect()
    }
}

impl Cached {
    /// Checks the requests. Groups, resources and documents come from the caches, and are validated by their ETags
    /// after an invalidation. Only the index of v3 documents is requested each time.
    fn objection(&self, documents: usize) -> Option<String> {
        const INDEX: &str = "/openapi/v3";
        // Groups and resources, the index, the documents.
        let first = self.first.len() == documents + 3 && self.first.iter().all(|exchange| exchange.status == 200);
        let second = self.second.iter().all(|exchange| exchange.path == INDEX);
        let validated = self.invalidated.iter().all(|exchange| exchange.status == 304 || exchange.path == INDEX);
        if self.same && first && second && validated && self.invalidated.len() == 3 {
            return None;
        }
        let Cached { first, second, invalidated, same } = self;
        Some(format!("the same: {same}; first {first:?}, then {second:?}, then {invalidated:?}"))
    }
}

fn resources(resources: &[Resource]) -> BTreeMap<String, Resource> {
    let named = |resource: &Resource| format!("{} {}", resource.group_version(), resource.name);
    resources.iter().map(|resource| (named(resource), resource.in_both_forms())).collect()
}

/// Returns groups without the nameless group that client-go creates for an `/api` without versions in the unaggregated
/// form.
fn groups(groups: &[serde_json::Value]) -> BTreeMap<String, serde_json::Value> {
    let named = groups.iter().filter(|group| group["versions"].as_array().is_some_and(|versions| !versions.is_empty()));
    named.map(|group| (group["name"].to_string(), group.clone())).collect()
}

/// Returns where two maps first differ.
fn different<V: PartialEq + std::fmt::Debug>(a: &BTreeMap<String, V>, b: &BTreeMap<String, V>) -> Option<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let name = names.into_iter().find(|name| a.get(*name) != b.get(*name))?;
    Some(format!("{name}: aggregated {:?}, legacy {:?}", a.get(name), b.get(name)))
}
