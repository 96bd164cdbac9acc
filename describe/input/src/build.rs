//! Files from which manifests are built: kustomizations, patches, values of Helm charts. They are not sent to servers.

use crate::{Content, read};
use kubeshape_structural::read::is_crd;
use kubeshape_yaml::{Kind, Limits, Node};

/// The kind of a file from which manifests are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BuildFile {
    /// A kustomization or a component of kustomize.
    Kustomization,
    /// The `Chart.yaml` of a Helm chart.
    Chart,
    /// Settings of kustomize: its `configurations`, generators, transformers, replacements.
    Settings,
    /// A patch: it changes a manifest of another file.
    Patch,
    /// Values of a Helm chart.
    Values,
}

/// The API group of kustomizations and components.
const KUSTOMIZE: &str = "kustomize.config.k8s.io/";
/// Names of files that kustomize reads as a kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// The file that makes a folder a Helm chart.
const CHART: &str = "Chart.yaml";

/// The fields of a file that `configurations` lists (kustomize's `TransformerConfig`).
const CONFIGURATION: [&str; 12] = [
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "commonAnnotations",
    "nameReference",
    "varReference",
    "images",
    "replicas",
    "crds",
];

/// Fields of `spec`, one of which every CustomResourceDefinition needs. A patch has none of them.
const DEFINITION: [&str; 5] = ["group", "names", "scope", "versions", "version"];

impl BuildFile {
    /// Returns the kind of a document, by its members and the name of its file, or `None` if it may be a manifest.
    ///
    /// A CustomResourceDefinition is a patch if it has no `spec`, or a `spec` without a group, names, a scope and
    /// versions, like the patches of kubebuilder.
    ///
    /// # Example
    /// ```
    /// use kubeshape_input::{BuildFile, Limits, read};
    ///
    /// let of = |name: &str, text: &str| BuildFile::of(name, read(name, text.as_bytes(), Limits::default()).documents[0].root());
    /// let patch = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n";
    /// assert_eq!(of("cainjection_in_a.yaml", patch), Some(BuildFile::Patch));
    /// assert_eq!(of("values.yaml", "replicas: 2\n"), Some(BuildFile::Values));
    /// assert_eq!(of("other.yaml", "replicas: 2\n"), None);
    /// ```
    pub fn of(name: &str, root: Node<'_>) -> Option<BuildFile> {
        if root.kind() == Kind::Seq {
            return is_json_patch(root).then_some(BuildFile::Patch);
        }
        if root.kind() != Kind::Map {
            return None;
        }
        let text = |key| root.get(key).and_then(Node::as_str).unwrap_or_default();
        let has_kind = root.get("kind").is_some();
        let is_kustomize = text("apiVersion").starts_with(KUSTOMIZE);
        if is_kustomize || (KUSTOMIZATIONS.contains(&name) && !has_kind) {
            Some(BuildFile::Kustomization)
        } else if name == CHART && !has_kind {
            Some(BuildFile::Chart)
        } else if is_crd(root) {
            let spec = root.get("spec");
            let is_patch = spec.is_none_or(|spec| spec.is_null() || is_part_of_spec(spec));
            is_patch.then_some(BuildFile::Patch)
        } else if root.get("$patch").is_some() {
            Some(BuildFile::Patch)
        } else if has_kind || root.get("apiVersion").is_some() || Content::of(root) != Content::Other {
            None
        } else if is_configuration(root) {
            Some(BuildFile::Settings)
        } else {
            // A scenario of `kubeshape test` may have such a name.
            (is_name_of_values(name) && root.get("scenario").is_none()).then_some(BuildFile::Values)
        }
    }

    /// Returns the word for one of them, and for several.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            BuildFile::Kustomization => ("kustomization", "kustomizations"),
            BuildFile::Chart => ("chart", "charts"),
            BuildFile::Settings => ("file of settings", "files of settings"),
            BuildFile::Patch => ("patch", "patches"),
            BuildFile::Values => ("file of values", "files of values"),
        }
    }

    /// Returns the kind of a file, by its bytes and its name: that of its first document, if none of them may be a
    /// manifest. Returns `None` for a file with errors, so that its reader reports them.
    ///
    /// For most files, searching for a few words is enough, which is much faster than reading them.
    pub fn of_file(name: &str, bytes: &[u8], limits: Limits) -> Option<BuildFile> {
        if !may_be(name, bytes) {
            return None;
        }
        let input = read(name, bytes, limits);
        let mut kinds = input.documents.iter().map(|document| BuildFile::of(name, document.root()));
        let first = kinds.next()??;
        (input.findings.is_empty() && kinds.all(|kind| kind.is_some())).then_some(first)
    }
}

/// Returns whether a file with these bytes may be one.
fn may_be(name: &str, bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 4] = [b"kustomize.config.k8s.io", b"$patch", b"fieldSpecs", b"Reference"];
    let has = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    KUSTOMIZATIONS.contains(&name)
        || name == CHART
        || is_name_of_values(name)
        || WORDS.into_iter().any(has)
        || (has(b"CustomResourceDefinition") && !has(b"openAPIV3Schema"))
        || ((has(b"op:") || has(b"\"op\"")) && has(b"path"))
}

/// Returns the paths that a kustomization lists as something else than resources, with their kinds, in order. A path
/// that is also a resource is left out. Paths are relative to the kustomization's folder; some may be inline YAML or
/// URLs.
///
/// # Example
/// ```
/// use kubeshape_input::{BuildFile, Limits, listed, read};
///
/// let text = b"resources: [a.yaml]\npatches: [{path: p.yaml}]\nconfigurations: [c.yaml]\n";
/// let input = read("kustomization.yaml", text, Limits::default());
/// let expected = [("p.yaml", BuildFile::Patch), ("c.yaml", BuildFile::Settings)];
/// assert_eq!(listed(input.documents[0].root()), expected);
/// ```
pub fn listed(kustomization: Node<'_>) -> Vec<(&str, BuildFile)> {
    let all = |key: &str| kustomization.get(key).into_iter().flat_map(Node::items);
    let texts = |key: &'static str| all(key).filter_map(Node::as_str);
    let members = |key: &'static str, member: &'static str| all(key).filter_map(move |item| item.get(member)?.as_str());
    let patches =
        members("patches", "path").chain(texts("patchesStrategicMerge")).chain(members("patchesJson6902", "path"));
    let settings = texts("configurations")
        .chain(members("replacements", "path"))
        .chain(["generators", "transformers", "validators"].into_iter().flat_map(texts));
    let additional = all("helmCharts").filter_map(|chart| chart.get("additionalValuesFiles")).flat_map(Node::items);
    let values = members("helmCharts", "valuesFile")
        .chain(additional.filter_map(Node::as_str))
        .chain(members("helmChartInflationGenerator", "values"));
    let resources: Vec<&str> = texts("resources").chain(texts("bases")).map(plain).collect();
    let kinds = patches.map(|path| (path, BuildFile::Patch));
    let kinds = kinds.chain(settings.map(|path| (path, BuildFile::Settings)));
    let kinds = kinds.chain(values.map(|path| (path, BuildFile::Values)));
    kinds.filter(|(path, _)| !resources.contains(&plain(path))).collect()
}

/// Returns a path without `./`.
fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

/// Returns whether a `spec` is that of a patch: it has members, but none that only a whole definition has.
fn is_part_of_spec(spec: Node<'_>) -> bool {
    spec.kind() == Kind::Map && DEFINITION.iter().all(|member| spec.get(member).is_none())
}

/// Returns whether a document is a JSON patch (RFC 6902): a list of operations.
fn is_json_patch(list: Node<'_>) -> bool {
    let is_text = |node: Node<'_>, key| node.get(key).and_then(Node::as_str).is_some();
    !list.is_empty() && list.items().all(|item| is_text(item, "op") && is_text(item, "path"))
}

/// Returns whether a document is settings of kustomize: only lists of fields.
fn is_configuration(root: Node<'_>) -> bool {
    let is_setting =
        |key: &str, value: Node<'_>| CONFIGURATION.contains(&key) && matches!(value.kind(), Kind::Seq | Kind::Null);
    !root.is_empty() && root.pairs().all(|(key, value)| is_setting(key.text(), value))
}

/// Returns whether a name is `values.yaml`, `values-prod.yaml`, `prod.values.yaml` or the like.
fn is_name_of_values(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let is_part = |part: &str| part.eq_ignore_ascii_case("values");
    stem.split(['-', '_']).any(is_part) || name.split('.').any(is_part)
}
