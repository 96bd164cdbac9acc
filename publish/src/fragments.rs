//! Printed parts of resources, and merging them into the documents of a server (spec: publishing,
//! "Merging").

use crate::base::Base;
use crate::paths::Dialect;
use crate::resource::{Profile, write_member};
use kubeshape_convert::v2::merge::{MergeError, Merged, Overlay, merge};
use kubeshape_schema::order;
use kubeshape_schema::print::Style;
use std::collections::BTreeMap;

pub(crate) const V3_HEAD: &[u8] =
    b"{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes CRD Swagger\",\"version\":\"v0.1.0\"},\"paths\":{";
pub(crate) const CRD_INFO: &[u8] = b"{\"title\":\"Kubernetes CRD Swagger\",\"version\":\"v0.1.0\"}";

/// A printed member: its key and its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The key.
    pub name: String,
    /// The printed value.
    pub json: Vec<u8>,
    /// Place of the version it comes from.
    pub at: u32,
}

/// What one version adds to the v3 document of its group version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct V3Fragments {
    /// `apis/GROUP/VERSION`
    pub group_version: String,
    /// Path items by path.
    pub paths: Vec<Fragment>,
    /// The definitions of the kind and its list.
    pub schemas: Vec<Fragment>,
    /// Whether the definitions of the scale subresource are needed.
    pub scale: bool,
}

/// Which v2 document parts are printed for. They differ in the order of keys inside extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum V2Form {
    /// The document of resources alone, as the server's controller builds it.
    #[default]
    Merged,
    /// Parts of the document that a server sends, which has passed through JSON once more.
    Served,
}

impl V2Form {
    pub(crate) fn style(self) -> Style {
        match self {
            V2Form::Merged => Style::V2_MERGED,
            V2Form::Served => Style::V2_SERVED,
        }
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            V2Form::Merged => Dialect::V2,
            V2Form::Served => Dialect::V2Served,
        }
    }
}

/// What one resource adds to the v2 document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct V2Fragments {
    /// Path items by path, of all published versions.
    pub paths: Vec<Fragment>,
    /// The definitions of kinds and lists.
    pub definitions: Vec<Fragment>,
    /// Whether the definitions of the scale subresource are needed.
    pub scale: bool,
    /// Whether the parameter `namespace` is needed.
    pub namespaced: bool,
}

/// Two resources of one group version define one name differently: the group version has no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} both define {name} in {group_version}; give one of them another kind or listKind")]
pub struct MergeConflict {
    /// `apis/GROUP/VERSION`
    pub group_version: String,
    /// The definition.
    pub name: String,
    /// Name of the CustomResourceDefinition that came first by name.
    pub first: String,
    /// Name of the other one.
    pub second: String,
}

/// Collects the v3 documents of group versions.
#[derive(Clone, Debug, Default)]
pub struct MergeV3 {
    /// By group version, then by name of the CustomResourceDefinition.
    parts: BTreeMap<String, BTreeMap<String, V3Fragments>>,
}

/// The path of a group version and its document, or why it has none.
pub type GroupVersionDocument = (String, Result<Vec<u8>, MergeConflict>);

impl MergeV3 {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a version of the CustomResourceDefinition `crd`. The order of calls does not matter.
    pub fn add(&mut self, crd: &str, fragments: V3Fragments) {
        self.parts.entry(fragments.group_version.clone()).or_default().insert(crd.to_owned(), fragments);
    }

    /// The documents, sorted by group version. Each is made when it is asked for, and its parts are
    /// dropped with it.
    pub fn finish(self, base: &Base) -> impl Iterator<Item = GroupVersionDocument> + '_ {
        self.parts.into_iter().map(|(path, parts)| {
            let document = merge_v3(&path, &parts, base);
            (path, document)
        })
    }
}

fn merge_v3(path: &str, parts: &BTreeMap<String, V3Fragments>, base: &Base) -> Result<Vec<u8>, MergeConflict> {
    let mut paths: Vec<&Fragment> = Vec::new();
    let mut schemas: Vec<(&Fragment, &str)> = Vec::new();
    let mut scale = false;
    let mut size = 64 << 10;
    for (crd, part) in parts {
        scale |= part.scale;
        for fragment in &part.paths {
            size += fragment.json.len() + fragment.name.len() + 4;
            paths.push(fragment);
        }
        for fragment in &part.schemas {
            size += fragment.json.len() + fragment.name.len() + 4;
            let shared = ["io.k8s.apimachinery.pkg.apis.meta.v1", "io.k8s.api.autoscaling.v1"]
                .iter()
                .any(|prefix| fragment.name.starts_with(prefix));
            let earlier = schemas.iter().find(|(other, by)| other.name == fragment.name && by != crd);
            match earlier {
                Some(_) if shared => {}
                Some((_, first)) => {
                    return Err(MergeConflict {
                        group_version: path.to_owned(),
                        name: fragment.name.clone(),
                        first: (*first).to_owned(),
                        second: crd.clone(),
                    });
                }
                None => schemas.push((fragment, crd)),
            }
        }
    }
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(V3_HEAD);
    write_sorted(paths, Dialect::V3, &mut out);
    out.extend_from_slice(b"},\"components\":{\"schemas\":{");
    let shared: Vec<Fragment> = shared(base, schemas.iter().map(|(fragment, _)| *fragment), scale, |d| &d.v3);
    let mut all: Vec<&Fragment> = shared.iter().collect();
    all.extend(schemas.iter().map(|(fragment, _)| *fragment));
    write_sorted(all, Dialect::V3, &mut out);
    out.extend_from_slice(b"}}}");
    Ok(out)
}

/// The shared definitions that documents with these of their own hold, as fragments.
fn shared<'f>(
    base: &Base,
    own: impl Iterator<Item = &'f Fragment>,
    scale: bool,
    json: impl Fn(&crate::base::Definition) -> &Vec<u8>,
) -> Vec<Fragment> {
    let own: Vec<(&str, &[u8])> = own.map(|f| (f.name.as_str(), f.json.as_slice())).collect();
    let shared = base.shared_for(&own, scale).into_iter();
    shared.map(|d| Fragment { name: d.name.clone(), json: json(d).clone(), at: 0 }).collect()
}

/// Writes members in order of their keys; of equal keys the last one counts.
fn write_sorted(mut fragments: Vec<&Fragment>, dialect: Dialect, out: &mut Vec<u8>) {
    fragments.sort_by(|a, b| order::utf16(&a.name, &b.name));
    let mut first = true;
    for (i, fragment) in fragments.iter().enumerate() {
        if fragments.get(i + 1).is_some_and(|next| next.name == fragment.name) {
            continue;
        }
        write_member(std::mem::take(&mut first), &fragment.name, dialect, out);
        out.extend_from_slice(&fragment.json);
    }
}

/// Collects the v2 document.
#[derive(Clone, Debug, Default)]
pub struct MergeV2 {
    parts: BTreeMap<String, V2Fragments>,
}

impl MergeV2 {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the CustomResourceDefinition `crd`. The order of calls does not matter. A resource without
    /// published versions adds nothing.
    pub fn add(&mut self, crd: &str, fragments: V2Fragments) {
        if !fragments.paths.is_empty() {
            self.parts.insert(crd.to_owned(), fragments);
        }
    }

    /// The document of the resources alone, of parts in [`V2Form::Merged`].
    pub fn finish(self, base: &Base) -> Vec<u8> {
        let (paths, definitions, parameters) = self.members(base);
        let size: usize = paths.iter().chain(&definitions).chain(&parameters).map(|f| f.json.len() + f.name.len() + 4).sum();
        let mut out = Vec::with_capacity(size + 128);
        out.extend_from_slice(b"{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"unversioned\"}");
        if paths.is_empty() {
            // Nothing is merged, and the document that upstream begins with has no paths.
            out.extend_from_slice(b",\"paths\":null}");
            return out;
        }
        out.extend_from_slice(b",\"paths\":{");
        write_sorted(paths.iter().collect(), Dialect::V2, &mut out);
        out.push(b'}');
        for (key, members) in [("definitions", &definitions), ("parameters", &parameters)] {
            if !members.is_empty() {
                out.extend_from_slice(format!(",\"{key}\":{{").as_bytes());
                write_sorted(members.iter().collect(), Dialect::V2, &mut out);
                out.push(b'}');
            }
        }
        out.push(b'}');
        out
    }

    /// The document of the resources, of parts in [`V2Form::Served`], laid onto a server's document: its info, security and paths stay, and
    /// its definitions win.
    ///
    /// # Errors
    /// The document cannot be read, or (with [`Profile::Kube`]) upstream could not merge it.
    pub fn finish_onto(self, base: &Base, document: &[u8], profile: Profile) -> Result<Merged, MergeError> {
        let (paths, definitions, parameters) = self.members(base);
        let members = |fragments: Vec<Fragment>| fragments.into_iter().map(|f| (f.name, f.json)).collect();
        let overlay = Overlay {
            paths: members(paths),
            definitions: members(definitions),
            parameters: members(parameters),
        };
        merge(document, overlay, profile == Profile::Kube)
    }

    /// Paths, definitions and parameters of all resources, those of later names behind those of earlier.
    pub(crate) fn members(self, base: &Base) -> (Vec<Fragment>, Vec<Fragment>, Vec<Fragment>) {
        let (mut paths, mut definitions, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        if self.parts.is_empty() {
            return (paths, definitions, parameters);
        }
        let scale = self.parts.values().any(|part| part.scale);
        definitions = shared(base, self.parts.values().flat_map(|part| &part.definitions), scale, |d| &d.v2_served);
        for namespaced in [false, true] {
            if self.parts.values().any(|part| part.namespaced == namespaced) {
                let of_scope = &base.paths(Dialect::V2Served, namespaced).parameters;
                parameters.extend(of_scope.iter().map(|(name, json)| Fragment { name: name.clone(), json: json.clone(), at: 0 }));
            }
        }
        for part in self.parts.into_values() {
            paths.extend(part.paths);
            definitions.extend(part.definitions);
        }
        (paths, definitions, parameters)
    }
}
