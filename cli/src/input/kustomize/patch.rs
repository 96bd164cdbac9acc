//! Patches: strategic merges, and lists of operations (RFC 6902).

use super::target::{Labels, Target};
use super::{Build, Folder, INSTEAD, Id, Object, Place, documents, id, is_empty, name_of, read, text};
use kubeshape_input::Document;
use kubeshape_policy::json_patch::json_patch;
use kubeshape_registry::merge_patch;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Kind, Node};
use std::path::PathBuf;

/// The group of definitions.
const DEFINITIONS: &str = "apiextensions.k8s.io/";

/// The directive of a whole patch.
const DIRECTIVE: &str = "$patch";

/// Returns the first list of a strategic merge patch that kustomize may merge with the list of the resource instead of
/// replacing it. It knows keys of Kubernetes' own types, and no keys of custom resources.
fn merged_list(patch: Value<'_>) -> Option<&'static str> {
    let in_metadata = ["ownerReferences", "finalizers", "managedFields"];
    let metadata = patch.get("metadata");
    let found = in_metadata.into_iter().find(|name| metadata.is_some_and(|metadata| metadata.get(name).is_some()));
    if found.is_some() {
        return found;
    }
    let api_version = patch.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if api_version.starts_with(DEFINITIONS) {
        let conditions = patch.get("status").and_then(|status| status.get("conditions"));
        return conditions.map(|_| "status.conditions");
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let is_kubernetes = !group.contains('.') || (group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io"));
    (is_kubernetes && has_list(patch)).then_some("a list of a built-in kind")
}

fn has_list(value: Value<'_>) -> bool {
    match value {
        Value::List(items) => !items.is_empty(),
        Value::Map(map) => map.entries().iter().any(|(_, value)| has_list(*value)),
        _ => false,
    }
}

/// Returns a directive in a patch, such as `$patch` or `$retainKeys`.
fn directive(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Map(map) => {
            let own = map.entries().iter().map(|(key, _)| *key).find(|key| key.starts_with('$'));
            own.or_else(|| map.entries().iter().find_map(|(_, value)| directive(*value)))
        }
        Value::List(items) => items.iter().find_map(|item| directive(*item)),
        _ => None,
    }
}

/// Returns how many members a merge reads and writes.
fn cost(value: Option<Value<'_>>, patch: Value<'_>) -> usize {
    let Value::Map(patch) = patch else { return 1 };
    let old = value.and_then(Value::as_map);
    let inner = patch.entries().iter().map(|(key, new)| cost(old.and_then(|old| old.get(key)), *new));
    old.map_or(0, |old| old.entries().len()) + patch.len() + inner.sum::<usize>()
}

/// Returns how many members the operations of a JSON patch may read and write: those on their paths.
fn cost_of_operations(value: Value<'_>, patch: Value<'_>) -> usize {
    let operations = patch.as_list().unwrap_or_default();
    let paths = operations.iter().flat_map(|operation| ["path", "from"].map(|name| operation.get(name)));
    let along = |path: &str| {
        let (mut here, mut sum) = (Some(value), 1);
        for step in path.split('/').skip(1) {
            sum += match here {
                Some(Value::Map(map)) => map.len(),
                Some(Value::List(items)) => items.len(),
                _ => break,
            };
            here = match here {
                Some(Value::List(items)) => step.parse().ok().and_then(|at: usize| items.get(at).copied()),
                other => other.and_then(|map| map.get(step)),
            };
        }
        sum
    };
    paths.flatten().filter_map(Value::as_str).map(along).sum()
}

impl<'a> Build<'a> {
    /// Applies an entry of `patches` or `patchesJson6902`.
    pub(super) fn patch(
        &mut self,
        folder: &Folder,
        entry: Node<'_>,
        place: Place<'_>,
        first: usize,
    ) -> Result<(), String> {
        let mut target = None;
        let mut documents = None;
        for (key, value) in entry.pairs() {
            match key.text() {
                "path" if !is_empty(value) => documents = Some(self.file_of(folder, value, place)?),
                "patch" if !is_empty(value) => documents = Some(inline(value, place)?),
                "target" if !is_empty(value) => target = Some(Target::read(value, place)?),
                _ if is_empty(value) => {}
                // Options that are false say nothing.
                "options" if value.pairs().all(|(_, value)| is_empty(value)) => {}
                other => return Err(place.wrong(key, format!("`{other}` of a patch is not known here; {INSTEAD}"))),
            }
        }
        let documents = documents.ok_or_else(|| place.wrong(entry, "expected `path` or `patch`"))?;
        self.documents(documents, target.as_ref(), entry, place, first)
    }

    /// Applies an entry of `patchesStrategicMerge`: a path, or a patch.
    pub(super) fn strategic(
        &mut self,
        folder: &Folder,
        entry: Node<'_>,
        place: Place<'_>,
        first: usize,
    ) -> Result<(), String> {
        let written = text(entry, place)?;
        let is_inline = written.contains('\n') || written.trim_start().starts_with('{');
        let documents = if is_inline { inline(entry, place)? } else { self.file_of(folder, entry, place)? };
        self.documents(documents, None, entry, place, first)
    }

    fn file_of(&mut self, folder: &Folder, node: Node<'_>, place: Place<'_>) -> Result<Vec<Document>, String> {
        let (path, _, bytes) = self.bytes_of(folder, text(node, place)?).map_err(|why| place.wrong(node, why))?;
        documents(&path, &bytes)
    }

    /// Applies the patches of a file.
    fn documents(
        &mut self,
        mut documents: Vec<Document>,
        target: Option<&Target>,
        entry: Node<'_>,
        place: Place<'_>,
        first: usize,
    ) -> Result<(), String> {
        documents.retain(|document| !document.root().is_null());
        if target.is_some() && documents.len() > 1 {
            return Err(place.wrong(entry, format!("found {} patches, expected one for a target", documents.len())));
        }
        for mut document in documents {
            let is_strategic = document.root().kind() == Kind::Map;
            if is_strategic {
                read::scalars(&mut document)?;
            }
            let root = document.root();
            let mut patch = Value::from_node(root, &Bump::new()).copy_into(self.arena);
            if is_strategic {
                patch = read::annotated_patch(patch, root, self.arena);
            }
            let numbers = match (root.kind(), target) {
                (Kind::Seq, None) => {
                    return Err(place.wrong(entry, "a list of operations needs a `target`"));
                }
                (Kind::Seq | Kind::Map, Some(target)) => {
                    self.selected(target, first).map_err(|why| place.wrong(entry, why))?
                }
                (Kind::Map, None) => {
                    vec![self.named(id(patch), first).map_err(|why| Place(&document).wrong(root, why))?]
                }
                _ => return Err(Place(&document).wrong(root, "found neither an object nor a list of operations")),
            };
            for number in numbers {
                let applied = if root.kind() == Kind::Seq {
                    self.operate(number, patch)
                } else {
                    self.strategically(number, patch)
                };
                applied.map_err(|why| Place(&document).wrong(root, why))?;
            }
        }
        Ok(())
    }

    /// Returns the resource that a patch names.
    fn named(&self, wanted: Id<'_>, first: usize) -> Result<usize, String> {
        match self.by_id.get(&wanted) {
            Some(number) if *number >= first => Ok(*number),
            _ => Err(format!("the patch is of {}, which is no resource of the kustomization", name_of(wanted))),
        }
    }

    /// Returns the resources that a target selects.
    fn selected(&mut self, target: &Target, first: usize) -> Result<Vec<usize>, String> {
        self.spend(self.objects.len() - first)?;
        let is_selected = |object: &Object<'a>| {
            let labels = |name: &str| object.value.get("metadata").and_then(|metadata| metadata.get(name));
            target.selects(id(object.value), &|labels_of| match labels_of {
                Labels::Labels => labels("labels"),
                Labels::Annotations => labels("annotations"),
            })
        };
        let objects = self.objects.iter().enumerate().skip(first);
        Ok(objects.filter(|(_, object)| object.as_ref().is_some_and(is_selected)).map(|(number, _)| number).collect())
    }

    /// Applies a strategic merge patch. It changes neither the kind nor the name.
    fn strategically(&mut self, number: usize, patch: Value<'a>) -> Result<(), String> {
        let Some(map) = patch.as_map() else { return Ok(()) };
        if map.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") {
            self.replace(number, None);
            return Ok(());
        }
        if let Some(name) = directive(patch) {
            return Err(format!("the directive `{name}` is not known here; {INSTEAD}"));
        }
        let own = ["apiVersion", "kind"].into_iter().fold(map, |map, name| map.with(name, None, self.arena));
        let metadata = own.get("metadata").and_then(Value::as_map).map(|metadata| {
            Value::Map(["name", "namespace"].into_iter().fold(metadata, |map, name| map.with(name, None, self.arena)))
        });
        let own = if metadata.is_some() { own.with("metadata", metadata, self.arena) } else { own };
        // Without a target, the patch names the kind; with one, the resource does.
        let kind = self.objects.get(number).copied().flatten().map(|object| object.value.get("apiVersion"));
        let of_kind = Value::Map(own.with("apiVersion", kind.flatten(), self.arena));
        if let Some(list) = merged_list(of_kind) {
            return Err(format!("kustomize may merge {list}, which is not known here; {INSTEAD}"));
        }
        self.merge(number, Value::Map(own))
    }

    /// Merges maps, and replaces everything else.
    pub(super) fn merge(&mut self, number: usize, patch: Value<'a>) -> Result<(), String> {
        let Some(object) = self.objects.get(number).copied().flatten() else { return Ok(()) };
        self.spend(cost(Some(object.value), patch))?;
        let value = merge_patch::apply(object.value, patch, self.arena);
        self.replace(number, Some(value));
        Ok(())
    }

    /// Applies a list of operations.
    fn operate(&mut self, number: usize, patch: Value<'a>) -> Result<(), String> {
        let Some(object) = self.objects.get(number).copied().flatten() else { return Ok(()) };
        self.spend(cost_of_operations(object.value, patch))?;
        let value = json_patch(object.value, patch, self.arena).map_err(|error| error.message)?;
        if id(value) != id(object.value) {
            return Err(format!(
                "the patch changes the name of {}, which is not known here",
                name_of(id(object.value))
            ));
        }
        self.replace(number, Some(read::annotated_as_json(value, self.arena)));
        Ok(())
    }
}

/// Returns the documents of a patch in the kustomization.
fn inline(node: Node<'_>, place: Place<'_>) -> Result<Vec<Document>, String> {
    let written = text(node, place)?;
    documents(&PathBuf::from("patch"), written.as_bytes()).map_err(|why| place.wrong(node, why))
}
