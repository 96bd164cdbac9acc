//! The built-in kinds of a Kubernetes release, by group.

use super::types;
use kubeshape_builtin as builtin;
use kubeshape_registry::policy::{Layer, Layers};
use kubeshape_registry::{Registry, Release, Settings};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The built-in kinds of a Kubernetes release. A group is read when it is first needed.
#[derive(Debug)]
pub(crate) struct Groups {
    documents: builtin::BuiltInDocuments,
    /// The release whose rules are used: that of the documents, or a patch release of it.
    release: Release,
    api: builtin::Api,
    by_name: BTreeMap<String, (OnceLock<Registry>, OnceLock<Layer>)>,
}

impl Groups {
    /// Returns the kinds of a release, or `None` if there are no documents for it.
    pub(crate) fn new(release: Release) -> Option<Groups> {
        let documents: builtin::BuiltInDocuments = release.try_into().ok()?;
        let api = documents.api();
        let by_name = types::groups(&api).into_iter().map(|group| (group, <_>::default())).collect();
        Some(Groups { documents, release, api, by_name })
    }

    /// Returns the release.
    pub(crate) fn release(&self) -> Release {
        self.release
    }

    /// Returns the names of the groups.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the kinds whose objects can be created, each with its API version.
    pub(crate) fn kinds(&self) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (_, document) in self.api.discovery() {
            let Ok(list) = serde_json::from_str::<serde_json::Value>(&document) else { continue };
            let version = list["groupVersion"].as_str().unwrap_or_default();
            for resource in list["resources"].as_array().into_iter().flatten() {
                let is_created =
                    resource["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|it| it == "create"));
                let is_whole = resource["name"].as_str().is_some_and(|name| !name.contains('/'));
                if let Some(kind) = resource["kind"].as_str().filter(|_| is_created && is_whole) {
                    out.push((version.to_owned(), kind.to_owned()));
                }
            }
        }
        out
    }

    /// Returns the kinds of a group.
    pub(crate) fn group(&self, group: &str) -> Option<&Registry> {
        let make = || {
            let settings = Settings::of(self.release);
            let mut registry = Registry::new(settings);
            types::add_groups(self.documents, &self.api, &mut registry, |other| other == group);
            registry
        };
        Some(self.by_name.get(group)?.0.get_or_init(make))
    }

    /// Returns the kinds of a group, for admission policies.
    pub(crate) fn layer(&self, group: &str) -> Option<&Layer> {
        let registry = self.group(group)?;
        Some(self.by_name.get(group)?.1.get_or_init(|| Layer::new(registry)))
    }
}

impl Layers for Groups {
    fn of_group<'s>(&'s self, group: &str) -> Vec<&'s Layer> {
        self.layer(group).into_iter().collect()
    }

    fn all(&self) -> Vec<&Layer> {
        self.names().filter_map(|group| self.layer(group)).collect()
    }
}

/// The built-in kinds of a release, and those of a registry, which come first.
#[derive(Debug)]
pub(crate) struct WithCustom {
    custom: Layer,
    built_in: Groups,
}

impl WithCustom {
    /// Returns the kinds of a registry and of a release, or `None` if there are no documents for the release.
    pub(crate) fn new(registry: &Registry, release: Release) -> Option<WithCustom> {
        Some(WithCustom { custom: Layer::new(registry), built_in: Groups::new(release)? })
    }
}

impl Layers for WithCustom {
    fn of_group<'s>(&'s self, group: &str) -> Vec<&'s Layer> {
        std::iter::once(&self.custom).chain(self.built_in.layer(group)).collect()
    }

    fn all(&self) -> Vec<&Layer> {
        std::iter::once(&self.custom).chain(self.built_in.all()).collect()
    }
}
