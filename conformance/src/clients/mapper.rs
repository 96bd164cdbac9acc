//! What `kubeshape-client` makes of a server's discovery, in the form of the Go program (`conformance/clients/mapper.go`).

use kubeshape_client::mapper::{Mapper, Partial};
use kubeshape_client::{Client, Cluster, ClusterOptions, Limits, Wanted, pull};
use kubeshape_discovery::Scope;
use std::collections::BTreeMap;

/// How kinds and short names are mapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped {
    /// `GROUP/VERSION, Kind` to `GROUP/VERSION, resource, scope, singular`.
    pub(super) kinds: BTreeMap<String, String>,
    /// Short names to `GROUP/VERSION, resource`.
    pub(super) short_names: BTreeMap<String, String>,
}

/// Maps every resource of a server to its kind and back, and expands every short name.
///
/// # Errors
/// The server cannot be asked, or a resource leads to another one.
pub(super) fn mapped(url: &str) -> Result<Mapped, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let pulled = runtime.block_on(async {
        let options = ClusterOptions { server: Some(url.to_owned()), ..ClusterOptions::default() };
        let cluster = Cluster::connect(&options).await.map_err(|error| error.to_string())?;
        let client = Client::new(&cluster, Limits::default());
        pull(&client, &Wanted::default(), None).await.map_err(|error| error.to_string())
    })?;
    if let Some(error) = pulled.failures.first() {
        return Err(error.to_string());
    }
    let groups = pulled.groups().map_err(|error| error.to_string())?;
    let mapper = Mapper::new(&groups);
    let mut out = Mapped::default();
    for group in &groups {
        for version in &group.versions {
            for resource in &version.resources {
                let partial = Partial { group: &group.name, version: &version.version, resource: &resource.name };
                let failed = |error: &dyn std::fmt::Display| format!("{partial}: {error}");
                let kind = mapper.kind_for(partial).map_err(|error| failed(&error))?;
                let mapping =
                    mapper.mapping(&kind.group, &kind.kind, &[&kind.version]).map_err(|error| failed(&error))?;
                let found = mapper.resource_for(partial).map_err(|error| failed(&error))?;
                if found != mapping.resource {
                    return Err(failed(&format!("the kind has the resource {}", mapping.resource)));
                }
                let singular = mapper.singular(&resource.name).map_err(|error| failed(&error))?;
                let scope = if mapping.scope == Scope::Namespaced { "namespace" } else { "root" };
                out.kinds.insert(kind.to_string(), format!("{}, {scope}, {singular}", mapping.resource));
                for name in &resource.short_names {
                    let meant = mapper.expand(Partial { resource: name, ..Partial::default() });
                    let found = mapper.resource_for(meant.as_partial()).map_err(|error| failed(&error))?;
                    out.short_names.insert(name.to_string(), found.to_string());
                }
            }
        }
    }
    Ok(out)
}
