//! Admission policies, bindings and webhook configurations of all files.

use super::result::FileResult;
use crate::input::{Input, Reader};
use crate::session::groups::WithCustom;
use kubeshape_check::Releases;
use kubeshape_input::{Finding, Limits, Place};
use kubeshape_registry::policy::{Checked, ObjectCosts, Others, ServedKinds};
use kubeshape_registry::{Location, Registry, Release, Settings};
use serde_json::{Value, json};
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

/// The result of all checks.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// One line for people, if there are policies.
    pub(super) text: Option<String>,
    /// For programs: the costs of the expressions of each policy.
    pub(super) costs: Vec<Value>,
}

/// The costs of the expressions of one object, and the releases that have the same costs.
#[derive(Debug)]
struct Costs {
    first: ObjectCosts,
    others: Vec<(Vec<Release>, ObjectCosts)>,
}

impl Costs {
    /// Adds the costs of an object in a release.
    fn add(&mut self, costs: ObjectCosts, release: Release) {
        match self.others.iter_mut().find(|(_, other)| other.costs == costs.costs) {
            Some((releases, _)) => releases.push(release),
            None => self.others.push((vec![release], costs)),
        }
    }

    fn json(&self) -> Option<Value> {
        let expression = |of: &ObjectCosts| -> Vec<Value> {
            let expressions = of.costs.iter().map(|cost| {
                let place = of.place(cost);
                json!({
                    "path": cost.path,
                    "line": place.map(|place| place.line),
                    "column": place.map(|place| place.column),
                    "kind": cost.kind.as_ref().map(ToString::to_string),
                    "least": cost.least,
                    "most": cost.most,
                    "limit": cost.limit,
                    "size": cost.size,
                })
            });
            expressions.collect()
        };
        let of_releases = self.others.iter().filter(|(_, of)| !of.costs.is_empty()).map(|(releases, of)| {
            let releases: Vec<String> = releases.iter().map(ToString::to_string).collect();
            json!({"releases": releases, "expressions": expression(of)})
        });
        let costs: Vec<Value> = of_releases.collect();
        let place = self.first.location.place();
        (!costs.is_empty()).then(|| {
            json!({
                "resource": self.first.resource,
                "input": &**self.first.location.input(),
                "line": place.map(|place| place.line),
                "column": place.map(|place| place.column),
                "costs": costs,
            })
        })
    }
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
        has_notes: bool,
        mut report: impl FnMut(&Finding),
    ) -> Summary {
        if self.objects.is_empty() {
            return Summary::default();
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
        let mut costs: BTreeMap<(Arc<str>, Option<Place>), Costs> = BTreeMap::new();
        for release in releases.iter() {
            let Some(kinds) = self.kinds(release) else { continue };
            let checked = Checked::of(&self.objects, &self.others, &ServedKinds::new(&kinds), release);
            judged.push(release);
            (objects, refused) = (checked.objects, refused.max(checked.refused));
            let notes: Vec<Finding> = checked.costs.iter().filter(|_| has_notes).flat_map(ObjectCosts::notes).collect();
            for of in checked.costs {
                let key = (Arc::clone(of.location.input()), of.location.place());
                let first = || Costs { first: of.clone(), others: Vec::new() };
                costs.entry(key).or_insert_with(first).add(of, release);
            }
            for finding in checked.findings.into_iter().chain(notes) {
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
            let text = format!("Admission policies are not checked: kinds of Kubernetes {releases} are not known.");
            return Summary { text: Some(text), costs: Vec::new() };
        }
        let s = if objects == 1 { "" } else { "s" };
        let rest = match refused {
            0 => "none is refused".to_owned(),
            1 => "1 is refused".to_owned(),
            n => format!("{n} are refused"),
        };
        let text = format!("{objects} object{s} of admission checked for Kubernetes {releases}: {rest}.");
        Summary { text: Some(text), costs: costs.values().filter_map(Costs::json).collect() }
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
