//! Live objects of a server.

use crate::client::{Client, JSON};
use crate::error::{Error, Fault};
use crate::transport::Transport;
use kubeshape_discovery::{Group, Resource, Scope};
use serde_json::{Map, Value};

/// Which objects are fetched.
#[derive(Clone, Debug, Default)]
pub struct WantedObjects {
    /// Only objects in this namespace.
    pub namespace: Option<String>,
    /// Only resources with one of these names, singular names or short names, such as `deploy`. Without any, all that
    /// can be listed and patched.
    pub resources: Vec<String>,
}

/// A live object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveObject {
    /// Its path: `/apis/apps/v1/namespaces/shop/deployments/web`.
    pub path: String,
    /// The object as JSON, with its kind.
    pub bytes: Vec<u8>,
}

/// Live objects, and what could not be listed.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The objects, by resource in the order of the server.
    pub objects: Vec<LiveObject>,
    /// The requests that failed.
    pub failures: Vec<Error>,
}

impl<T: Transport> Client<T> {
    /// Fetches live objects, each resource in the version that the server prefers.
    ///
    /// # Errors
    /// The server does not respond to the request for its discovery. Lists that fail are in [`Live::failures`].
    ///
    /// # Example
    /// ```no_run
    /// # #[cfg(feature = "cluster")]
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use kubeshape_client::{Client, Cluster, ClusterOptions, Limits, WantedObjects};
    ///
    /// let cluster = Cluster::connect(&ClusterOptions::default()).await?;
    /// let wanted = WantedObjects { resources: vec!["deploy".to_owned()], ..WantedObjects::default() };
    /// let live = Client::new(&cluster, Limits::default()).live(&wanted).await?;
    /// assert!(live.objects.iter().all(|object| object.path.starts_with("/apis/apps/v1/")));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn live(&self, wanted: &WantedObjects) -> Result<Live, Error> {
        let discovery = self.discovery().await?;
        let groups = discovery.groups()?;
        let mut live = Live { objects: Vec::new(), failures: discovery.failures };
        for (root, api_version, resource) in preferred(&groups) {
            if !is_wanted(resource, wanted) {
                continue;
            }
            let path = match &wanted.namespace {
                Some(namespace) => format!("{root}/namespaces/{namespace}/{}", resource.name),
                None => format!("{root}/{}", resource.name),
            };
            match self.list(&path, JSON).await {
                Ok(list) => {
                    for bytes in list {
                        match named(&bytes, &root, &api_version, resource) {
                            Ok(object) => live.objects.push(object),
                            Err(why) => live.failures.push(Error { path: path.clone(), fault: Fault::Content(why) }),
                        }
                    }
                }
                // The user may not list everything.
                Err(error) => live.failures.push(error),
            }
        }
        Ok(live)
    }
}

/// Returns the resources of the preferred versions, with their paths and versions.
fn preferred(groups: &[Group]) -> Vec<(String, String, &Resource)> {
    let mut out: Vec<(String, String, &Resource)> = Vec::new();
    for group in groups {
        let mut seen: Vec<&str> = Vec::new();
        for version in &group.versions {
            let (root, api_version) = if group.name.is_empty() {
                (format!("/api/{}", version.version), version.version.to_string())
            } else {
                let api_version = format!("{}/{}", group.name, version.version);
                (format!("/apis/{api_version}"), api_version)
            };
            for resource in &version.resources {
                if !seen.contains(&&*resource.name) {
                    seen.push(&resource.name);
                    out.push((root.clone(), api_version.clone(), resource));
                }
            }
        }
    }
    out
}

fn is_wanted(resource: &Resource, wanted: &WantedObjects) -> bool {
    let can = |verb: &str| resource.verbs.iter().any(|known| **known == *verb);
    let names = || {
        let short = resource.short_names.iter();
        [&resource.name, &resource.singular].into_iter().chain(short)
    };
    let is_named = wanted.resources.is_empty()
        || wanted.resources.iter().any(|word| names().any(|name| name.eq_ignore_ascii_case(word)));
    let is_here = wanted.namespace.is_none() || resource.scope == Scope::Namespaced;
    can("list") && can("patch") && is_named && is_here
}

/// Returns an object of a list. Servers leave out the kind of items.
fn named(bytes: &[u8], root: &str, api_version: &str, resource: &Resource) -> Result<LiveObject, String> {
    let read: Value = serde_json::from_slice(bytes).map_err(|error| format!("an item is no JSON: {error}"))?;
    let Value::Object(mut object) = read else { return Err("an item is no object".to_owned()) };
    object.entry("apiVersion").or_insert_with(|| api_version.into());
    object.entry("kind").or_insert_with(|| (*resource.response_kind.kind).into());
    let metadata = object.get("metadata").and_then(Value::as_object);
    let text = |key: &str| {
        let text = metadata.and_then(|metadata: &Map<String, Value>| metadata.get(key)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let (namespace, name) = (text("namespace"), text("name"));
    let path = if namespace.is_empty() {
        format!("{root}/{}/{name}", resource.name)
    } else {
        format!("{root}/namespaces/{namespace}/{}/{name}", resource.name)
    };
    let bytes = serde_json::to_vec(&object).map_err(|error| error.to_string())?;
    Ok(LiveObject { path, bytes })
}
