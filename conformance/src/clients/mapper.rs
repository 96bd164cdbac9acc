//! Maps a server's discovery with `kubeshape-client`, with the same look-ups as the Go program does with client-go
//! (`conformance/clients/mapper.go`).

use kubeshape_client::mapper::{MapError, Mapper, Partial};
use kubeshape_client::{Client, Cluster, ClusterOptions, Limits};
use kubeshape_discovery::{Group, Resource, Scope};
use std::collections::BTreeMap;
use std::fmt::Display;

/// How kinds and names are mapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped {
    /// `GROUP/VERSION, Kind` to `GROUP/VERSION, resource, scope, singular`.
    pub(super) kinds: BTreeMap<String, String>,
    /// Short names to `GROUP/VERSION, resource`.
    pub(super) short_names: BTreeMap<String, String>,
    /// Look-ups of incomplete names, with their results.
    pub(super) lookups: BTreeMap<String, String>,
}

/// Maps every resource of a server to its kind and back, and looks up incomplete names.
///
/// # Errors
/// The server does not respond, or a resource does not map back to itself.
pub(super) fn mapped(url: &str) -> Result<Mapped, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let discovery = runtime.block_on(async {
        let options = ClusterOptions { server: Some(url.to_owned()), ..ClusterOptions::default() };
        let cluster = Cluster::connect(&options).await.map_err(|error| error.to_string())?;
        Client::new(&cluster, Limits::default()).discovery().await.map_err(|error| error.to_string())
    })?;
    if let Some(error) = discovery.failures.first() {
        return Err(error.to_string());
    }
    of_groups(&discovery.groups().map_err(|error| error.to_string())?)
}

fn of_groups(groups: &[Group]) -> Result<Mapped, String> {
    let mapper = Mapper::new(groups);
    let mut out = Mapped::default();
    for group in groups {
        for version in &group.versions {
            for resource in &version.resources {
                let partial = Partial { group: &group.name, version: &version.version, resource: &resource.name };
                let failed = |error: &dyn Display| format!("{partial}: {error}");
                let kind = mapper.kind_for(partial).map_err(|error| failed(&error))?;
                let mapping =
                    mapper.mapping(&kind.group, &kind.kind, &[&kind.version]).map_err(|error| failed(&error))?;
                let found = mapper.resource_for(partial).map_err(|error| failed(&error))?;
                if found != mapping.resource {
                    return Err(failed(&format!("the kind has the resource {}", mapping.resource)));
                }
                let singular = mapper.singular(&resource.name).map_err(|error| failed(&error))?;
                let scope = scope(mapping.scope);
                out.kinds.insert(kind.to_string(), format!("{}, {scope}, {singular}", mapping.resource));
                for name in &resource.short_names {
                    let meant = mapper.expand(Partial { resource: name, ..Partial::default() });
                    let found = mapper.resource_for(meant.as_partial()).map_err(|error| failed(&error))?;
                    out.short_names.insert(name.to_string(), found.to_string());
                }
                out.ask_about(&mapper, &group.name, &version.version, resource);
            }
        }
    }
    Ok(out)
}

impl Mapped {
    /// Looks up incomplete names of a resource.
    fn ask_about(&mut self, mapper: &Mapper, group: &str, version: &str, resource: &Resource) {
        let (plural, kind) = (&*resource.name, &*resource.response_kind.kind);
        let (lower, upper, list) = (kind.to_lowercase(), plural.to_uppercase(), format!("{kind}List"));
        // With a prefix of the group, too.
        let begin: String = group.chars().take(4).collect();
        let names = [plural, &resource.singular, &lower, &upper, kind];
        let short = || resource.short_names.iter().map(|name| &**name);
        for group in ["", group, &begin] {
            for version in ["", version] {
                for resource in names.into_iter().chain(short()) {
                    self.ask("", mapper, Partial { group, version, resource });
                }
                for resource in [plural, "none"].into_iter().chain(short()) {
                    self.ask("expanded ", mapper, Partial { group, version, resource });
                }
            }
            self.ask("", mapper, Partial { group, version: "v0", resource: plural });
            for kind in [kind, &lower, &list] {
                for wanted in [&[][..], &[version], &["v0"], &["v0", version]] {
                    let question = format!("mapping of {kind} in {group:?} {}", wanted.join(" "));
                    let mapping = mapper.mapping(group, kind, wanted);
                    let shown = mapping.map(|mapping| format!("{}, {}", mapping.resource, scope(mapping.scope)));
                    self.lookups.insert(question, answered(shown));
                }
            }
        }
        self.ask("", mapper, Partial { group: "no.such.group", version: "", resource: plural });
    }

    fn ask(&mut self, prefix: &str, mapper: &Mapper, partial: Partial<'_>) {
        let Partial { group, version, resource } = partial;
        let lookup = format!("{resource} in {group:?} {version}");
        let expanded = mapper.expand(partial);
        let partial = if prefix.is_empty() { partial } else { expanded.as_partial() };
        self.lookups.insert(format!("{prefix}kind of {lookup}"), answered(mapper.kind_for(partial)));
        self.lookups.insert(format!("{prefix}resource of {lookup}"), answered(mapper.resource_for(partial)));
    }
}

fn scope(scope: Scope) -> &'static str {
    if scope == Scope::Namespaced { "namespace" } else { "root" }
}

fn answered<T: Display>(answer: Result<T, MapError>) -> String {
    match answer {
        Ok(found) => found.to_string(),
        Err(MapError::None(_)) => "none".to_owned(),
        Err(_) => "several".to_owned(),
    }
}
