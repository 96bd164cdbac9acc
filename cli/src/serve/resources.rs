//! The served objects and their resources.

use super::advice::Lifecycles;
use super::data::{Data, DataError};
use super::write_back::WriteBack;
use crate::error::Fatal;
use crate::input::{Filter, Gathered, Reader, gather};
use bytes::Bytes;
use kubeshape_input::{Code, Document, Finding, Limits};
use kubeshape_lifecycle::entries;
use kubeshape_objects::access::{Authorization, system_objects};
use kubeshape_objects::store::{self, Store};
use kubeshape_objects::{Advisor, Api, DEFINITIONS as DEFINITIONS_OF_STORE, Documents, Plugin, Status};
use kubeshape_registry::{Location, Object, Registry, Release, Settings};
use kubeshape_server::{
    Change, Definition, Leaf, LoopbackHooks, ManualClock, Objects, Readiness, ServiceAccounts, Snapshot, Unkept,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The objects, and the definitions that come from files. The hub changes them.
pub(super) struct Resources {
    objects: Arc<Objects>,
    /// The folder that mirrors the objects, if there is one.
    folder: Option<WriteBack>,
    /// The lifecycles that clients are warned about.
    lifecycles: Arc<Lifecycles>,
    /// The definitions of each file.
    files: BTreeMap<Arc<str>, Vec<Object>>,
    /// By name: why a definition of a file does not replace the stored one.
    refused: BTreeMap<Arc<str>, Finding>,
    /// The port for the service of the server, if there is one.
    own_port: Option<u16>,
}

/// The result of changed files.
#[derive(Default)]
pub(super) struct Defined {
    /// The names whose definitions now come from files, or do not exist any more.
    pub(super) names: BTreeSet<Arc<str>>,
    /// Findings about definitions that are refused.
    pub(super) findings: Vec<Finding>,
    /// The names of refused definitions that are stored in an earlier form, which is still served.
    pub(super) refused: BTreeSet<Arc<str>>,
}

/// Where objects are kept.
pub(super) struct Kept<'k> {
    /// The file of `--data`.
    pub(super) data: Option<&'k Path>,
    /// The folder of `--write-back`.
    pub(super) folder: Option<WriteBack>,
    /// Reports whether objects can be stored.
    pub(super) readiness: Arc<Readiness>,
    /// How permissions are decided.
    pub(super) authorization: Authorization,
    /// The keys of service accounts.
    pub(super) accounts: Option<Arc<ServiceAccounts>>,
    /// Calls admission webhooks.
    pub(super) hooks: Option<Arc<LoopbackHooks>>,
    /// The admission plugins that are on.
    pub(super) plugins: Vec<Plugin>,
    /// The port for the service of the server, if it has one.
    pub(super) own_port: Option<u16>,
    /// The clock that clients move.
    pub(super) clock: Option<Arc<ManualClock>>,
}

impl Resources {
    /// The built-in resources of a server's documents, and of what it lacks of them those that are part of this
    /// program. The objects are those that a file keeps. Requests follow the rules of a release.
    ///
    /// # Errors
    /// The file cannot be used.
    pub(super) fn new(
        snapshot: &Snapshot,
        lifecycles: Lifecycles,
        release: Release,
        Kept { data, folder, readiness, authorization, accounts, hooks, plugins, own_port, clock }: Kept<'_>,
    ) -> Result<Resources, DataError> {
        let mut documents: BTreeMap<String, Bytes> = BTreeMap::new();
        if !snapshot.v3.contains_key(DEFINITIONS) {
            let text = kubeshape_builtin::BuiltInDocuments::newest().api().openapi_v3(DEFINITIONS).map(Bytes::from);
            documents.extend(text.map(|text| (DEFINITIONS.to_owned(), text)));
        }
        for (path, document) in &snapshot.v3 {
            if let Leaf::Local(document) = document {
                documents.insert(path.to_string(), document.json().to_bytes());
            }
        }
        let lifecycles = Arc::new(lifecycles);
        let advisor: Arc<dyn Advisor> = Arc::<Lifecycles>::clone(&lifecycles);
        let api = Api::new(Registry::new(Settings::of(release)))
            .with_documents(Documents::new(documents))
            .with_advisor(advisor)
            .with_authorization(authorization);
        let api = match &accounts {
            Some(accounts) => api.with_signer(Arc::<ServiceAccounts>::clone(accounts)),
            None => api,
        };
        let api = match hooks {
            Some(hooks) => api.with_hooks(hooks),
            None => api,
        };
        let api = api.with_plugins(plugins);
        let objects = match data {
            Some(file) => {
                let (data, store) = Data::open(file, store::Limits::default())?;
                let data = data.with_readiness(readiness);
                let unusable = |error: Unkept| DataError::Open { path: file.to_owned(), reason: error.to_string() };
                Objects::kept(api, store, Arc::new(data), SystemTime::now()).map_err(unusable)?
            }
            None => match &folder {
                Some(folder) => Objects::new(api, Store::default()).with_keeper(Arc::new(folder.clone())),
                None => Objects::new(api, Store::default()),
            },
        };
        let objects = match clock {
            Some(clock) => objects.with_manual_clock(clock),
            None => objects,
        };
        let objects = Arc::new(objects);
        if let Some(accounts) = &accounts {
            accounts.bind(&objects);
        }
        Ok(Resources { objects, folder, lifecycles, files: BTreeMap::new(), refused: BTreeMap::new(), own_port })
    }

    /// Returns the names of the definitions that the file stores, to publish them.
    pub(super) fn kept(&self) -> Vec<Arc<str>> {
        self.objects.definitions()
    }

    /// Returns the gates of the command line that no schema names.
    pub(super) fn unnamed_gates(&self) -> Vec<&str> {
        self.lifecycles.unnamed_gates()
    }

    /// Returns why definitions of files do not replace the stored ones.
    pub(super) fn refused(&self) -> impl Iterator<Item = &Finding> {
        self.refused.values()
    }

    /// Returns the objects that answer requests.
    pub(super) fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Reads changed files, and serves what they define. If several files define the same name, the first file name
    /// counts.
    pub(super) fn change<'c>(&mut self, changes: impl Iterator<Item = &'c Change>) -> Defined {
        let mut defined = Defined::default();
        for Change { name, content } in changes {
            let documents =
                content.as_ref().map(|bytes| kubeshape_input::read(Arc::clone(name), bytes, Limits::default()));
            let documents = documents.map(|read| read.documents).unwrap_or_default();
            self.lifecycles.set(name, &documents);
            defined.findings.extend(documents.iter().flat_map(entries::findings));
            let (new, findings) = definitions_in(documents);
            defined.findings.extend(findings);
            let old = self.files.remove(name).unwrap_or_default();
            let is_in = |all: &[Object], object: &Object| all.iter().any(|other| other.value() == object.value());
            let changed = old.iter().filter(|object| !is_in(&new, object));
            let changed = changed.chain(new.iter().filter(|object| !is_in(&old, object)));
            defined.names.extend(changed.map(|object| Arc::from(object.name())));
            if !new.is_empty() {
                self.files.insert(Arc::clone(name), new);
            }
        }
        if defined.names.is_empty() {
            return defined;
        }
        // In the order of the files: if two new definitions have the same name, the first gets it.
        let mut gone = defined.names.clone();
        let all = self.files.values().flatten();
        let found: Vec<Object> = all.filter(|object| gone.remove(object.name())).cloned().collect();
        let gone: Vec<Arc<str>> = gone.into_iter().collect();
        self.refused.retain(|name, _| !defined.names.contains(name));
        for (at, status) in self.objects.define(&found, &gone, SystemTime::now()) {
            let finding = refused(found.get(at), &status);
            let name: Option<Arc<str>> = found.get(at).map(|object| object.name().into());
            if let Some(name) = name.filter(|name| self.objects.definition(name).is_some()) {
                self.refused.insert(Arc::clone(&name), finding.clone());
                defined.refused.insert(name);
            }
            defined.findings.push(finding);
        }
        defined
    }

    /// Returns whether a file defines a name.
    pub(super) fn is_of_file(&self, name: &str) -> bool {
        self.files.values().flatten().any(|object| object.name() == name)
    }

    /// Returns the definitions of files in groups with contested names. The stored definitions say who has a name
    /// there.
    pub(super) fn contested(&self) -> BTreeSet<Arc<str>> {
        let contested: BTreeSet<Arc<str>> = self.objects.api().contested().into_iter().collect();
        let of_files = self.files.values().flatten().map(Object::name);
        of_files.filter_map(|name| contested.get(name).cloned()).collect()
    }

    /// Returns what to publish instead of the definitions of files, because clients changed these.
    pub(super) fn changed(&self, names: BTreeSet<Arc<str>>) -> Vec<(Arc<str>, Definition)> {
        let current = |name: &Arc<str>| match self.objects.definition(name) {
            Some(text) => Definition::Given(text),
            None => Definition::Gone,
        };
        names.into_iter().map(|name| (Arc::clone(&name), current(&name))).collect()
    }

    /// Returns what a server publishes for other objects than the current ones instead.
    pub(super) fn differences(&self, objects: &Store) -> Vec<(Arc<str>, Definition)> {
        let current = self.objects.store();
        let key: Arc<str> = DEFINITIONS_OF_STORE.into();
        let in_one = |store: &Store| -> BTreeMap<Arc<str>, u64> {
            store.list(&key, "", "").map(|(key, object)| (Arc::from(key.name()), object.revision)).collect()
        };
        let (now, then) = (in_one(&current), in_one(objects));
        let gone = now.keys().filter(|name| !then.contains_key(*name)).map(|name| (Arc::clone(name), Definition::Gone));
        let other = then.iter().filter(|(name, revision)| now.get(*name) != Some(*revision));
        let api = self.objects.api();
        let other = other.filter_map(|(name, _)| Some((Arc::clone(name), api.definition(objects, name)?)));
        gone.chain(other.map(|(name, text)| (name, Definition::Given(text)))).collect()
    }

    /// Reads the initial objects. Returns what is wrong with them.
    ///
    /// # Errors
    /// A file of the folder that follows the objects cannot follow its object.
    pub(super) fn load(&self, paths: &[PathBuf], filter: &Filter) -> Result<Vec<Finding>, Fatal> {
        let gathered: Gathered = gather(paths, None, filter);
        let mut findings = Vec::new();
        gathered.tell(|finding| findings.push(finding.clone()));
        let (mut reader, mut objects, mut files) = (Reader::default(), Vec::new(), Vec::new());
        for (path, reason) in &gathered.unreadable {
            let name = path.display().to_string();
            findings.push(Finding::new(Code::Unreadable, reason.clone()).in_input(name));
        }
        for input in &gathered.inputs {
            match reader.read(input, &Limits::default()) {
                Ok(text) => {
                    let (read, found) = Object::read_all(input.name(), text);
                    if let Some(folder) = self.folder.as_ref().filter(|_| !read.is_empty()) {
                        folder.check(input.path(), read.len())?;
                    }
                    files.extend(read.iter().map(|_| input.path().to_owned()));
                    objects.extend(read);
                    findings.extend(found);
                }
                Err(finding) => findings.push(*finding),
            }
        }
        let failed = self.objects.load(&objects, SystemTime::now());
        self.tell_files(&objects, files, &failed);
        findings.extend(failed.into_iter().map(|(at, status)| refused(objects.get(at), &status)));
        self.load_system();
        Ok(findings)
    }

    /// Creates the namespaces that every cluster has, the service of the server, and its roles, as far as they do not
    /// exist.
    fn load_system(&self) {
        let (api, store) = (self.objects.api(), self.objects.store());
        let namespace =
            |name: &str| Object::from(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        let is_missing = |object: &Object| api.key_of(object).is_some_and(|key| store.get(&key).is_none());
        let roles = match api.authorization() {
            Authorization::AlwaysAllow => Vec::new(),
            Authorization::Rbac => system_objects(),
        };
        let own = self.own_port.map(own_service).into_iter().map(Object::from);
        let has_priorities = api.has_plugin(Plugin::Priority);
        let classes = SYSTEM_CLASSES.into_iter().filter(|_| has_priorities).map(priority_class).map(Object::from);
        let all = SYSTEM_NAMESPACES
            .into_iter()
            .map(namespace)
            .chain(own)
            .chain(classes)
            .chain(roles.into_iter().map(Object::from));
        let missing: Vec<Object> = all.filter(is_missing).collect();
        for (at, status) in self.objects.load(&missing, SystemTime::now()) {
            let name = missing.get(at).map(Object::name);
            tracing::warn!(name, reason = %status.message, "an object of the system does not exist");
        }
    }

    /// Tells the folder that mirrors the objects where their files are. If the inputs define something that the folder
    /// defines too, the definition of the inputs counts, and the file in the folder gets the next change of a client.
    fn tell_files(&self, objects: &[Object], files: Vec<PathBuf>, failed: &[(usize, Status)]) {
        let Some(folder) = &self.folder else { return };
        let api = self.objects.api();
        let failed: BTreeMap<usize, &Status> = failed.iter().map(|(at, status)| (*at, status)).collect();
        let all = objects.iter().zip(files).enumerate();
        let (taken, refused): (Vec<_>, Vec<_>) = all.partition(|(at, _)| !failed.contains_key(at));
        let is_there = |at: &usize| failed.get(at).is_some_and(|status| status.reason == "AlreadyExists");
        let replaced = refused.into_iter().filter(|(at, _)| is_there(at));
        for (_, (object, file)) in taken.into_iter().chain(replaced) {
            if let Some(key) = api.key_of(object) {
                folder.found(key, file);
            }
        }
    }
}

/// The namespaces that a server creates for itself (upstream: `SystemNamespaces` of the control plane).
const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The PriorityClasses that a server creates (upstream: `SystemPriorityClasses`): name, value, description.
const SYSTEM_CLASSES: [(&str, u32, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

fn priority_class((name, value, description): (&str, u32, &str)) -> serde_json::Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
        "value": value, "description": description,
    })
}

/// The service by which Pods find the server (upstream: the controller `kubernetesservice`). Its endpoints do not
/// exist: addresses of loopback are no endpoints.
fn own_service(port: u16) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": OWN_ADDRESS, "clusterIPs": [OWN_ADDRESS], "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster", "sessionAffinity": "None",
            "type": "ClusterIP", "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    })
}

/// The first address of the range that kube-apiserver has without the flag `--service-cluster-ip-range`.
const OWN_ADDRESS: &str = "10.0.0.1";

/// The document that describes the fields of a definition.
const DEFINITIONS: &str = "apis/apiextensions.k8s.io/v1";

fn refused(object: Option<&Object>, status: &Status) -> Finding {
    let location = object.and_then(Object::location);
    let anywhere = || Finding::new(Code::ObjectRefused, status.message.clone());
    location.map_or_else(anywhere, |at| at.finding(Code::ObjectRefused, status.message.clone()))
}

/// Returns the definitions in a file. Other errors in it are reported when it is published.
fn definitions_in(documents: Vec<Document>) -> (Vec<Object>, Vec<Finding>) {
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for document in documents {
        let location = Location::root(Arc::new(document));
        for manifest in location.document().manifests().0 {
            match Object::at(location.at(manifest.node)) {
                Ok(object) => found.push(object),
                Err(finding) => findings.push(*finding),
            }
        }
    }
    (found, findings)
}
