//! Computes the steps.

use super::commands;
use super::kept::{Dropped, Keeper, dropped};
use super::objects::{Judge, ObjectReport};
use super::plan::{
    Action, Cluster, Conversion, Loss, Migration, Obstacle, Plan, Step, Stricter, Unreadable, VersionPlan, When,
};
use super::side::{Side, on_server, refusals, shortened};
use crate::{Change, Class, Consumer, definitions};
use kubeshape_discovery::version_order;
use kubeshape_schema::{Bump, Code, Note};
use kubeshape_structural::Crd;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::names;
use kubeshape_yaml::Document;
use serde_json::Value;
use std::collections::BTreeSet;

/// Plans the way from an old definition to a new one.
///
/// The plan is the shortest that a server accepts and that keeps every field of the new storage version. It depends on
/// the arguments only.
///
/// # Errors
/// A server cannot decode one of the definitions.
///
/// Example: removing a version in which objects are stored
/// ```
/// use kubeshape_diff::upgrade::{Cluster, plan};
/// use kubeshape_structural::read::manifests;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let version = |name: &str, storage: bool| format!(
///     "{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object}}}}}}"
/// );
/// let text = |versions: &str| format!("
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {{name: tabs.example.com}}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {{plural: tabs, kind: Tab, singular: tab, listKind: TabList}}
///   versions: [{versions}]
/// ");
/// let (old, new) = (text(&version("v1beta1", true)), text(&version("v1", true)));
/// let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
/// Stream::new(old.as_bytes(), Limits::default())?.next(&mut old_tape).transpose()?;
/// Stream::new(new.as_bytes(), Limits::default())?.next(&mut new_tape).transpose()?;
/// let (old, new) = (old_tape.document(&old).root().unwrap(), new_tape.document(&new).root().unwrap());
/// let plan = plan(manifests(old).0[0], manifests(new).0[0], &Cluster::default()).unwrap();
/// assert!(plan.refused[0].contains("missing from spec.versions"));
/// let commands: Vec<&str> = plan.steps.iter().flat_map(|step| &step.commands).map(String::as_str).collect();
/// assert_eq!(commands, [
///     "kubectl apply -f tabs.example.com-1.yaml",
///     "kubectl get tabs.v1.example.com --all-namespaces -o json | kubectl replace -f -",
///     "kubectl patch crd tabs.example.com --subresource=status --type=merge \
///      -p '{\"status\":{\"storedVersions\":[\"v1\"]}}'",
///     "kubectl apply -f tabs.example.com-4.yaml",
/// ]);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn plan(old: Manifest<'_>, new: Manifest<'_>, cluster: &Cluster) -> Result<Plan, Unreadable> {
    let arena = Bump::new();
    let (was, is) = (old.read(&arena), new.read(&arena));
    let owned = |notes: Vec<Note<'_>>| notes.into_iter().map(Note::into_owned).collect();
    let Some(was) = was.value else { return Err(Unreadable::Old(owned(was.notes))) };
    let Some(is) = is.value else { return Err(Unreadable::New(owned(is.notes))) };
    let document = new.node.document();
    let (old, new) = (Side::of(old), Side::of(new));
    let (stored, is_assumed) = stored(&old, cluster);
    let context = Context { old: &old, new: &new, was: &was, is: &is, cluster, stored: &stored };
    let mut plan = Plan {
        name: old.name().to_owned(),
        storage: new.storage().to_owned(),
        refused: context.refused(),
        stored: stored.clone(),
        is_assumed,
        obstacle: None,
        steps: Vec::new(),
        versions: Vec::new(),
        conversion: if context.by_webhook() { Conversion::Webhook } else { Conversion::None },
        losses: Vec::new(),
        stricter: Vec::new(),
        objects: Vec::new(),
    };
    plan.obstacle = context.misnamed().or_else(|| context.recreate()).or_else(|| context.unknown_versions());
    if plan.obstacle.is_none() {
        plan.objects = context.objects(&arena);
        match context.steps(&plan) {
            Ok(steps) => plan.steps = steps,
            Err(errors) => plan.obstacle = Some(Obstacle::Refused { errors }),
        }
        plan.losses = context.losses();
        plan.stricter = context.stricter(document);
        plan.versions = context.versions(&plan.steps);
    }
    Ok(plan)
}

/// Returns the versions in which objects may be stored, and whether that is an assumption.
fn stored(old: &Side, cluster: &Cluster) -> (Vec<String>, bool) {
    let given = if cluster.stored.is_empty() { &old.stored } else { &cluster.stored };
    let mut out: Vec<String> = Vec::new();
    // A server adds the storage version with every request.
    for version in given.iter().map(String::as_str).chain([old.storage()]) {
        if !version.is_empty() && !out.iter().any(|known| known == version) {
            out.push(version.to_owned());
        }
    }
    (out, given.is_empty() && old.versions().count() > 1)
}

/// The old and the new definition, each as manifest and decoded.
struct Context<'c> {
    old: &'c Side,
    new: &'c Side,
    was: &'c Crd<'c>,
    is: &'c Crd<'c>,
    cluster: &'c Cluster,
    stored: &'c [String],
}

impl<'c> Context<'c> {
    fn is_stored(&self, version: &str) -> bool {
        self.stored.iter().any(|stored| stored == version)
    }

    /// Returns the server's errors if the new definition is applied directly.
    fn refused(&self) -> Vec<String> {
        let mut out = refusals(&self.new.manifest, &on_server(&self.old.manifest, self.stored), self.cluster.release);
        if self.new.is_beta {
            out.insert(0, "apiextensions.k8s.io/v1beta1 is not served since release 1.22".to_owned());
        }
        out
    }

    /// Returns whether a webhook converts while the plan is carried out.
    fn by_webhook(&self) -> bool {
        self.new.converts_by_webhook() || self.old.converts_by_webhook() && self.must_migrate()
    }

    fn must_migrate(&self) -> bool {
        self.stored.iter().any(|version| version != self.new.storage())
    }

    /// Rejects a name that no server accepts.
    fn misnamed(&self) -> Option<Obstacle> {
        let (name, expected) = (self.old.name(), format!("{}.{}", self.old.text("plural"), self.old.text("group")));
        let is_right = name == expected && names::dns1123_subdomain(name).is_empty();
        let error = format!("metadata.name: Invalid value: {name:?}: must be spec.names.plural+\".\"+spec.group");
        (!is_right).then(|| Obstacle::Refused { errors: vec![shortened(error)] })
    }

    /// Detects changes of immutable fields.
    fn recreate(&self) -> Option<Obstacle> {
        let name = ("metadata.name", self.old.name(), self.new.name());
        let because: Vec<String> = ["group", "plural", "scope", "kind"]
            .into_iter()
            .map(|member| (member, self.old.text(member), self.new.text(member)))
            .chain([name])
            .filter(|(_, was, is)| was != is)
            .map(|(member, was, is)| shortened(format!("{member} changed from {was:?} to {is:?}")))
            .collect();
        if because.is_empty() {
            return None;
        }
        let differs = |member: &str| self.old.text(member) != self.new.text(member);
        let mut lost = vec![
            "all objects, with their status, uids, creation times, generations and managed fields".to_owned(),
            "references to them by uid: dependent objects are deleted".to_owned(),
            "watches and caches of clients".to_owned(),
        ];
        if differs("group") || differs("plural") || differs("kind") {
            lost.push("roles, webhooks and policies that name the old group, resource or kind".to_owned());
        }
        if differs("scope") {
            lost.push("the URL paths of objects".to_owned());
        }
        Some(Obstacle::Recreate { because, lost })
    }

    /// Detects stored versions that no definition has.
    fn unknown_versions(&self) -> Option<Obstacle> {
        let unknown = self.stored.iter().filter(|version| self.old.version(version).is_none());
        let versions: Vec<String> = unknown.cloned().collect();
        (!versions.is_empty()).then_some(Obstacle::Stored { versions })
    }

    fn keeper(crd: &Crd<'c>, version: &str) -> Option<Keeper<'c>> {
        let found = crd.versions.iter().find(|found| found.name == version)?;
        Some(Keeper { schema: found.schema, preserves: crd.preserve_unknown_fields })
    }

    /// Returns the fields that a version of the new definition drops and the old definition keeps.
    fn dropped(&self, from: &str, to: &str) -> Dropped {
        match (Context::keeper(self.was, from), Context::keeper(self.is, to)) {
            (Some(from), Some(to)) => dropped(from, to),
            _ => Dropped::default(),
        }
    }

    /// Returns the changes because of which writes of stored objects may fail. Fields that are dropped are losses.
    fn stricter(&self, new: Document<'_>) -> Vec<Stricter> {
        if !self.cluster.objects.is_empty() {
            return Vec::new();
        }
        let is_stricter = |change: &Change| {
            !matches!(change.code, Code::DiffFieldGone | Code::DiffKept | Code::DiffPruning | Code::DiffVersionGone)
                && change.class_for(Consumer::Writers) == Some(Class::Breaking)
                && change.class_for(Consumer::Storage).is_some()
        };
        let changes = definitions(self.was, self.is).into_iter().filter(is_stricter);
        let told = |change: Change| Stricter {
            at: change.new_part(new).map_or(change.new, |(_, value)| value.index()),
            version: shortened(change.version),
            field: shortened(change.path),
            detail: shortened(change.detail),
        };
        changes.map(told).collect()
    }

    /// Returns the fields that are lost when the plan is carried out, and those that writes lose afterwards.
    fn losses(&self) -> Vec<Loss> {
        let storage = self.new.storage();
        let mut out = Vec::new();
        let mut add = |from: &str, when: When, Dropped { fields, more }: Dropped| {
            if !fields.is_empty() {
                out.push(Loss { from: from.to_owned(), to: storage.to_owned(), when, fields, more });
            }
        };
        for version in self.stored {
            // A webhook decides what is kept.
            if version == storage || !self.by_webhook() {
                add(version, When::Stored, self.dropped(version, storage));
            }
        }
        if !self.new.converts_by_webhook() {
            for version in self.new.versions().filter(|version| version.is_served() && version.name() != storage) {
                let lost = |crd| match (Context::keeper(crd, version.name()), Context::keeper(crd, storage)) {
                    (Some(from), Some(to)) => dropped(from, to),
                    _ => Dropped::default(),
                };
                // Only new losses are reported.
                let before = if self.old.storage() == storage { lost(self.was).fields } else { Vec::new() };
                let mut lost = lost(self.is);
                lost.fields.retain(|field| !before.contains(field));
                add(version.name(), When::Written, lost);
            }
        }
        out
    }

    fn objects(&self, arena: &Bump) -> Vec<ObjectReport> {
        if self.cluster.objects.is_empty() {
            return Vec::new();
        }
        let judge = Judge::new(self.was, self.is, self.stored, self.by_webhook(), self.cluster.release, arena);
        let all = self.cluster.objects.iter().enumerate();
        all.filter_map(|(index, object)| judge.report(index, object)).collect()
    }

    /// Returns the steps, or the server's errors for one of the definitions.
    fn steps(&self, plan: &Plan) -> Result<Vec<Step>, Vec<String>> {
        let (release, storage) = (self.cluster.release, self.new.storage());
        let mut steps = Vec::new();
        if !self.must_migrate() {
            self.webhook(&self.new.manifest, &mut steps);
            self.change(plan, &mut steps);
            if self.old.manifest != self.new.manifest {
                let errors = refusals(&self.new.manifest, &on_server(&self.old.manifest, self.stored), release);
                if !errors.is_empty() {
                    return Err(errors);
                }
                let why = "A server accepts the new definition directly.".to_owned();
                self.apply(&self.new.manifest, why, true, &mut steps);
            }
            return Ok(steps);
        }
        let between = self.between();
        let first = between.as_ref().unwrap_or(&self.new.manifest);
        self.webhook(first, &mut steps);
        self.change(plan, &mut steps);
        if *first != self.old.manifest {
            let errors = refusals(first, &on_server(&self.old.manifest, self.stored), release);
            if !errors.is_empty() {
                return Err(errors);
            }
            let why = match &between {
                Some(_) => self.why_between(),
                None => format!("New and changed objects are stored in {storage} from now on."),
            };
            self.apply(first, why, between.is_none(), &mut steps);
        }
        let why = format!("Objects stay stored in {} until they are written.", listed(self.stored));
        steps.push(Step {
            commands: commands::migrate(self.new, storage),
            why,
            action: Action::Migrate {
                version: storage.to_owned(),
                group: self.new.text("group").to_owned(),
                resource: self.new.text("plural").to_owned(),
                migration: self.migration(first, steps.len() + 1),
            },
        });
        let stored = vec![storage.to_owned()];
        steps.push(Step {
            commands: commands::prune(self.old.name(), &stored),
            why: format!("Every object is now stored in {storage}."),
            action: Action::Prune { stored: stored.clone() },
        });
        if let Some(between) = between {
            let errors = refusals(&self.new.manifest, &on_server(&between, &stored), release);
            if !errors.is_empty() {
                return Err(errors);
            }
            let gone: Vec<String> = self.no_longer_served().map(str::to_owned).collect();
            let why = match gone.as_slice() {
                [] => "No object is stored in another version.".to_owned(),
                gone => format!("No object is stored in another version. {} will no longer be served.", listed(gone)),
            };
            self.apply(&self.new.manifest, why, true, &mut steps);
        }
        Ok(steps)
    }

    /// Returns a StorageVersionMigration. It uses the version that the cluster prefers, so it only helps if that is the
    /// storage version.
    fn migration(&self, definition: &Value, number: usize) -> Option<Migration> {
        let all = definition["spec"]["versions"].as_array().into_iter().flatten();
        let served = all.filter(|version| version["served"] == true).filter_map(|version| version["name"].as_str());
        let preferred = served.min_by(|a, b| version_order(a, b))?;
        let storage = self.new.storage();
        (preferred == storage).then(|| Migration {
            file: commands::file(self.old.name(), number, "migration"),
            object: commands::migration(self.new, storage),
        })
    }

    /// Returns the versions that the old definition serves and the new one does not.
    fn no_longer_served(&self) -> impl Iterator<Item = &'c str> {
        let served = |version: &str| self.new.version(version).is_some_and(super::side::Version::is_served);
        let all = self.old.versions().filter(|version| version.is_served()).map(super::side::Version::name);
        all.filter(move |version| !served(version)).collect::<Vec<_>>().into_iter()
    }

    /// Returns whether stored objects of a version lose fields when the new definition reads them.
    fn needs_old_schema(&self, version: &str) -> bool {
        version != self.new.storage() && self.is_stored(version) && !self.dropped(version, version).is_empty()
    }

    /// Returns the intermediate definition: the new one with everything that stored objects still need. `None` if the
    /// new one suffices.
    fn between(&self) -> Option<Value> {
        let storage = self.new.storage();
        let lacks = |version: &String| self.new.version(version).is_none() || self.needs_old_schema(version);
        let is_storage_served = self.new.version(storage).is_some_and(super::side::Version::is_served);
        let loses_webhook = self.old.converts_by_webhook() && !self.new.converts_by_webhook();
        if is_storage_served && !loses_webhook && !self.stored.iter().any(lacks) {
            return None;
        }
        let mut out = self.new.manifest.clone();
        let mut versions: Vec<Value> = Vec::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for version in self.new.versions() {
            known.insert(version.name());
            let was = self.old.version(version.name());
            let mut entry = match was {
                Some(was) if self.needs_old_schema(version.name()) => was.entry.clone(),
                _ => version.entry.clone(),
            };
            let is_storage = version.name() == storage;
            entry["storage"] = is_storage.into();
            let was_served = was.is_some_and(super::side::Version::is_served);
            entry["served"] = (version.is_served() || was_served || is_storage).into();
            versions.push(entry);
        }
        for version in self.old.versions() {
            if known.insert(version.name()) {
                let mut entry = version.entry.clone();
                entry["storage"] = false.into();
                versions.push(entry);
            }
        }
        out["spec"]["versions"] = Value::Array(versions);
        if loses_webhook {
            out["spec"]["conversion"] = self.old.manifest["spec"]["conversion"].clone();
        }
        Some(out)
    }

    fn why_between(&self) -> String {
        let storage = self.new.storage();
        let mut reasons = Vec::new();
        let missing: Vec<String> =
            self.stored.iter().filter(|version| self.new.version(version).is_none()).cloned().collect();
        if !missing.is_empty() {
            reasons.push(format!("keeps {}, in which objects are stored", listed(&missing)));
        }
        let narrowed: Vec<String> = self
            .stored
            .iter()
            .filter(|version| self.new.version(version).is_some() && self.needs_old_schema(version))
            .cloned()
            .collect();
        if !narrowed.is_empty() {
            reasons.push(format!("keeps the fields of {}", listed(&narrowed)));
        }
        if !self.new.version(storage).is_some_and(super::side::Version::is_served) {
            reasons.push(format!("serves {storage}, in which objects are written back"));
        }
        if self.old.converts_by_webhook() && !self.new.converts_by_webhook() {
            reasons.push("keeps the conversion webhook".to_owned());
        }
        format!("It {}. New and changed objects are stored in {storage}.", reasons.join(", and "))
    }

    /// Adds a step for a webhook that must convert between versions it did not know.
    fn webhook(&self, first: &Value, steps: &mut Vec<Step>) {
        let names = |manifest: &Value| {
            let all = manifest["spec"]["versions"].as_array().into_iter().flatten();
            all.filter_map(|version| version["name"].as_str()).map(str::to_owned).collect::<Vec<_>>()
        };
        let versions = names(first);
        let known = names(&self.old.manifest);
        let is_new = !self.old.converts_by_webhook() || versions.iter().any(|version| !known.contains(version));
        if first["spec"]["conversion"]["strategy"] != "Webhook" || versions.len() < 2 || !is_new {
            return;
        }
        let why = format!(
            "From the next step on, objects are read through it. It must convert between {} in every direction.",
            listed(&versions)
        );
        steps.push(Step { commands: Vec::new(), why, action: Action::Webhook { versions } });
    }

    /// Adds a step for objects that no server would write unchanged.
    fn change(&self, plan: &Plan, steps: &mut Vec<Step>) {
        let refused: Vec<&ObjectReport> = plan.objects.iter().filter(|object| object.is_refused()).collect();
        if refused.is_empty() {
            return;
        }
        let s = if refused.len() == 1 { "" } else { "s" };
        steps.push(Step {
            commands: commands::edit(self.old, &refused),
            why: format!("The new definition rejects {} object{s}, even unchanged.", refused.len()),
            action: Action::Change { objects: refused.iter().map(|object| object.index).collect() },
        });
    }

    fn apply(&self, manifest: &Value, why: String, is_new: bool, steps: &mut Vec<Step>) {
        let file = commands::file(self.old.name(), steps.len() + 1, "");
        let path = match self.cluster.new_file.as_str() {
            given if is_new && !given.is_empty() && !self.new.is_beta => given.to_owned(),
            _ => commands::path(&self.cluster.folder, &file),
        };
        steps.push(Step {
            commands: vec![commands::apply(manifest, &path)],
            why,
            action: Action::Apply { file, definition: manifest.clone(), is_new },
        });
    }

    /// Returns the effect on each version.
    fn versions(&self, steps: &[Step]) -> Vec<VersionPlan> {
        let first = steps.iter().position(|step| matches!(step.action, Action::Apply { .. })).map(|at| at + 1);
        let last = steps.iter().rposition(|step| matches!(step.action, Action::Apply { .. })).map(|at| at + 1);
        let new = self.new.versions().map(super::side::Version::name).filter(|name| self.old.version(name).is_none());
        let all = self.old.versions().map(super::side::Version::name).chain(new);
        all.map(|name| {
            let served = |side: &Side| side.version(name).is_some_and(super::side::Version::is_served);
            let (was_served, is_served) = (served(self.old), served(self.new));
            let changes_with = match (was_served, is_served) {
                (true, false) => last,
                (false, true) => first,
                _ => None,
            };
            VersionPlan { name: name.to_owned(), was_served, is_served, is_stored: self.is_stored(name), changes_with }
        })
        .collect()
    }
}

/// Joins names: `v1`, `v1 and v2`, `v1, v2 and v3`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
