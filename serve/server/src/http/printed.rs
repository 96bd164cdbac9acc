//! Printed forms of the discovery of one snapshot. Each is computed at its first use.

use super::status::Form;
use crate::document::Document;
use crate::rope::Rope;
use crate::snapshot::Snapshot;
use bytes::Bytes;
use kubeshape_discovery::print::{self, AggregatedVersion};
use kubeshape_discovery::{Group, group_list_order};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

type Forms = [OnceLock<Arc<Document>>; 4];

/// The forms of one snapshot.
#[derive(Debug)]
pub(super) struct Printed {
    /// The documents of the snapshot of these forms.
    tags: [Arc<Document>; 2],
    core: [Forms; 2],
    named: [Forms; 2],
    groups: Forms,
    root: OnceLock<Rope>,
    alpha: OnceLock<Rope>,
    /// Whether `/openapi/v3` exists.
    openapi_v3: bool,
}

impl Printed {
    pub(super) fn new(snapshot: &Snapshot, openapi_v3: bool) -> Printed {
        Printed {
            tags: [Arc::clone(&snapshot.discovery.aggregated_core), Arc::clone(&snapshot.discovery.aggregated)],
            core: Default::default(),
            named: Default::default(),
            groups: Default::default(),
            root: OnceLock::new(),
            alpha: OnceLock::new(),
            openapi_v3,
        }
    }

    /// Returns whether the forms are those of the snapshot.
    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        let [core, named] = &self.tags;
        Arc::ptr_eq(core, &snapshot.discovery.aggregated_core) && Arc::ptr_eq(named, &snapshot.discovery.aggregated)
    }

    /// Returns aggregated discovery, if it is already printed.
    pub(super) fn made_aggregated(&self, core: bool, version: AggregatedVersion, form: Form) -> Option<&Arc<Document>> {
        let forms = if core { &self.core } else { &self.named };
        forms[usize::from(version == AggregatedVersion::V2beta1)][form as usize].get()
    }

    /// Returns the list of groups, if it is already printed.
    pub(super) fn made_groups(&self, form: Form) -> Option<&Arc<Document>> {
        self.groups[form as usize].get()
    }

    /// Returns whether the paths of `/` are already printed.
    pub(super) fn has_root(&self) -> bool {
        self.root.get().is_some()
    }

    /// Aggregated discovery of the core group.
    pub(super) fn core(&self, version: AggregatedVersion, form: Form, snapshot: &Snapshot) -> Arc<Document> {
        let core = snapshot.discovery.core.iter().map(|group| &**group);
        aggregated(&self.core, version, form, &snapshot.discovery.aggregated_core, core)
    }

    /// Aggregated discovery of the named groups.
    pub(super) fn named(&self, version: AggregatedVersion, form: Form, snapshot: &Snapshot) -> Arc<Document> {
        let groups = snapshot.discovery.groups.values().map(|group| &**group);
        aggregated(&self.named, version, form, &snapshot.discovery.aggregated, groups)
    }

    /// Returns the list of groups.
    pub(super) fn groups(&self, form: Form, snapshot: &Snapshot) -> Arc<Document> {
        let make = || {
            let mut out = Vec::new();
            let groups = snapshot.discovery.groups.values().map(|group| &**group);
            print::group_list(&mut out, group_list_order(groups), form.into());
            Arc::new(Document::new(None, Bytes::from(out), snapshot.discovery.aggregated.modified()))
        };
        Arc::clone(self.groups[form as usize].get_or_init(make))
    }

    /// Returns whether the index of OpenAPI v3 in 1.23 is already printed.
    pub(super) fn has_alpha(&self) -> bool {
        self.alpha.get().is_some()
    }

    /// Returns the index of OpenAPI v3 in 1.23: the paths in order (kube-openapi's `getGroupBytes`).
    pub(super) fn alpha(&self, snapshot: &Snapshot) -> &Rope {
        self.alpha.get_or_init(|| {
            let paths: Vec<&str> = snapshot.v3.keys().map(|path| &**path).collect();
            Rope::from(Bytes::from(serde_json::json!({ "Paths": paths }).to_string()))
        })
    }

    /// Returns the paths of `/`, as indented JSON.
    pub(super) fn root(&self, snapshot: &Snapshot) -> &Rope {
        self.root.get_or_init(|| Rope::from(Bytes::from(root(snapshot, self.openapi_v3))))
    }
}

fn aggregated<'g>(
    forms: &[Forms; 2],
    version: AggregatedVersion,
    form: Form,
    tagged: &Document,
    groups: impl Iterator<Item = &'g Group>,
) -> Arc<Document> {
    let make = || {
        let document = if form == Form::Json {
            // The hashed content, with kind and version before it and a newline after it.
            let head = format!(r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"{}","#, version.api_version());
            tagged.enveloped(head.as_bytes(), b"\n")
        } else {
            let mut out = Vec::new();
            print::aggregated(&mut out, version, groups, form.into());
            Document::new(None, Bytes::from(out), tagged.modified())
        };
        Arc::new(document)
    };
    Arc::clone(forms[usize::from(version == AggregatedVersion::V2beta1)][form as usize].get_or_init(make))
}

/// Every path of the server itself.
const OWN: [&str; 13] = [
    "/api",
    "/apis",
    "/apis/",
    "/healthz",
    "/healthz/ping",
    "/livez",
    "/livez/ping",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/readyz",
    "/version",
];

/// Returns the paths of the base, or of this server if there is no base.
fn root(snapshot: &Snapshot, openapi_v3: bool) -> String {
    let mut paths: BTreeSet<String> = snapshot.root_paths.iter().cloned().collect();
    if paths.is_empty() {
        paths.extend(OWN.map(str::to_owned));
    }
    paths.retain(|path| openapi_v3 || !(path == "/openapi/v3" || path.starts_with("/openapi/v3/")));
    for version in snapshot.discovery.core.iter().flat_map(|core| &core.versions) {
        paths.insert(format!("/api/{}", version.version));
    }
    for group in snapshot.discovery.groups.values() {
        paths.insert(format!("/apis/{}", group.name));
        paths.extend(group.versions.iter().map(|version| format!("/apis/{}/{}", group.name, version.version)));
    }
    let paths: Vec<String> =
        paths.iter().map(|path| format!("    {}", serde_json::Value::from(path.as_str()))).collect();
    format!("{{\n  \"paths\": [\n{}\n  ]\n}}", paths.join(",\n"))
}
