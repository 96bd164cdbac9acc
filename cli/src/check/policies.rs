//! Admission policies, bindings and webhook configurations of all files.

use super::result::FileResult;
use crate::input::{Input, Reader};
use crate::session::groups::WithCustom;
use kubeshape_check::Releases;
use kubeshape_input::{Finding, Limits};
use kubeshape_registry::policy::{Checked, Others, ServedKinds};
use kubeshape_registry::{Location, Registry, Release, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The policies in the files, and the kinds for checking their expressions.
#[derive(Debug, Default)]
pub(super) struct Policies {
    objects: Vec<Location>,
    others: Others,
    /// Files with definitions, which are read again if there are policies.
    definitions: Vec<Input>,
}

/// Returns the objects of an input.
pub(super) fn read(name: &Arc<str>, bytes: &[u8], limits: Limits) -> Vec<Location> {
    let input = kubeshape_input::read(Arc::clone(name), bytes, limits);
    let mut out = Vec::new();
    for document in input.documents.into_iter().map(Arc::new) {
        out.extend(document.objects().into_iter().map(|node| Location::new(Arc::clone(&document), node.index())));
    }
    out
}

impl Policies {
    /// Adds the results of a file.
    pub(super) fn add(&mut self, result: &mut FileResult, input: &Input) {
        self.others.append(std::mem::take(&mut result.others));
        if !result.policies.is_empty() {
            self.objects.append(&mut result.policies);
        } else if result.found && input.is_file() {
            self.definitions.push(input.clone());
        }
    }

    /// Checks all policies like a creation on each release. Findings of several releases are reported once. Returns the
    /// summary, if there are policies.
    pub(super) fn check(
        mut self,
        releases: Releases,
        limits: Limits,
        mut report: impl FnMut(&Finding),
    ) -> Option<String> {
        if self.objects.is_empty() {
            return None;
        }
        let mut reader = Reader::default();
        for input in std::mem::take(&mut self.definitions) {
            if let Ok(bytes) = reader.read(&input, &limits) {
                self.objects.extend(read(&input.name().into(), bytes, limits));
            }
        }
        let mut found: Vec<(Finding, Vec<Release>)> = Vec::new();
        let mut judged: Vec<Release> = Vec::new();
        // The indices of findings, by location and message.
        let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
        let (mut objects, mut refused) = (0, 0);
        for release in releases.iter() {
            let Some(kinds) = self.kinds(release) else { continue };
            let checked = Checked::of(&self.objects, &self.others, &ServedKinds::new(&kinds), release);
            judged.push(release);
            (objects, refused) = (checked.objects, refused.max(checked.refused));
            for finding in checked.findings {
                let at = *known.entry((finding.location(), finding.detail.clone())).or_insert(found.len());
                match found.get_mut(at) {
                    Some((_, releases)) => releases.push(release),
                    None => found.push((finding, vec![release])),
                }
            }
        }
        for (mut finding, of) in found {
            if of.len() < judged.len() {
                let names: Vec<String> = of.iter().map(ToString::to_string).collect();
                finding.notes.push(format!("on Kubernetes {}", names.join(", ")));
                finding.releases = names;
            }
            report(&finding);
        }
        if judged.is_empty() {
            return Some(format!("Admission policies are not checked: kinds of Kubernetes {releases} are not known."));
        }
        let s = if objects == 1 { "" } else { "s" };
        let rest = match refused {
            0 => "none is refused".to_owned(),
            1 => "1 is refused".to_owned(),
            n => format!("{n} are refused"),
        };
        Some(format!("{objects} object{s} of admission checked for Kubernetes {releases}: {rest}."))
    }

    /// Returns the built-in kinds of a release, and those that the files define; `None` if the release has no
    /// documents.
    fn kinds(&self, release: Release) -> Option<WithCustom> {
        let mut registry = Registry::new(Settings::of(release));
        for (number, location) in self.objects.iter().enumerate() {
            registry.set(format!("{number:09}"), [location.clone()], Vec::new());
        }
        WithCustom::new(&registry, release)
    }
}
