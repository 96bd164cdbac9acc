//! Printed parts of resources, which are merged into the documents of a server (apiextensions-apiserver's
//! `pkg/controller/openapi`).

use crate::base::Base;
use crate::operations::Place;
use crate::paths::{Form, write_member};
use crate::template::Fill;
use bytes::Bytes;
use kubeshape_convert::aggregate::merge::{Destination, MergeError, Merged, Overlay};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Profile, order};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const V3_HEAD: &[u8] =
    b"{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes CRD Swagger\",\"version\":\"v0.1.0\"},\"paths\":{";
pub(crate) const CRD_INFO: &[u8] = b"{\"title\":\"Kubernetes CRD Swagger\",\"version\":\"v0.1.0\"}";

/// A printed member: its key and its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The key.
    pub name: String,
    /// The printed value.
    pub json: Bytes,
    /// Location of its version.
    pub at: u32,
}

/// A path of a resource. Its item is printed when a document is written, because it is long, and the same for all
/// resources except for their names.
#[derive(Clone, Debug)]
pub struct PathPart {
    /// The path.
    pub name: String,
    place: Place,
    namespaced: bool,
    form: Form,
    fill: Arc<Fill>,
}

impl PathPart {
    pub(crate) fn new(name: String, place: Place, namespaced: bool, form: Form, fill: Arc<Fill>) -> Self {
        PathPart { name, place, namespaced, form, fill }
    }

    /// Appends the path's item; `base` must be that of its publisher.
    pub fn write(&self, base: &Base, out: &mut Vec<u8>) {
        let paths = &base.paths(self.form, self.namespaced).paths;
        if let Some(path) = paths.iter().find(|path| path.place == self.place) {
            path.item.write(out, &self.fill);
        }
    }
}

/// What one version adds to the v3 document of its group version.
#[derive(Clone, Debug, Default)]
pub struct V3Fragments {
    /// `apis/GROUP/VERSION`
    pub group_version: String,
    /// Paths.
    pub paths: Vec<PathPart>,
    /// The definitions of the kind and its list.
    pub schemas: Vec<Fragment>,
    /// Whether the definitions of the scale subresource are needed.
    pub scale: bool,
}

/// The v2 document for which parts are printed. The forms differ in the order of keys inside extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum V2Form {
    /// The document of resources alone, as the server's controller prints it.
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
}

impl From<V2Form> for Form {
    fn from(form: V2Form) -> Form {
        match form {
            V2Form::Merged => Form::V2,
            V2Form::Served => Form::V2Served,
        }
    }
}

/// What one resource adds to the v2 document.
#[derive(Clone, Debug, Default)]
pub struct V2Fragments {
    /// Paths of all published versions.
    pub paths: Vec<PathPart>,
    /// The definitions of kinds and lists.
    pub definitions: Vec<Fragment>,
    /// Whether the definitions of the scale subresource are needed.
    pub scale: bool,
    /// Whether the parameter `namespace` is needed.
    pub namespaced: bool,
}

impl V2Fragments {
    /// Returns the parts that every v2 document of resources has in addition to theirs: the shared definitions, those
    /// of the scale subresource if a resource has one, and the parameters of the scopes that resources have.
    pub fn shared(base: &Base, scale: bool, cluster: bool, namespaced: bool) -> Overlay {
        let definitions = base.definitions.iter().filter(|definition| scale || !definition.scale);
        let scopes = [(false, cluster), (true, namespaced)].into_iter().filter(|(_, there)| *there);
        let parameters = scopes.flat_map(|(scope, _)| &base.paths(Form::V2Served, scope).parameters);
        Overlay {
            definitions: definitions.map(|d| (d.name.clone(), d.v2_served.clone())).collect(),
            parameters: parameters.map(|(name, json)| (name.clone(), Bytes::from(json.clone()))).collect(),
            ..Overlay::default()
        }
    }

    /// Returns whether a definition with this name is a shared one.
    pub fn is_shared(base: &Base, name: &str) -> bool {
        base.definition(name).is_some()
    }
}

/// The error for two resources of one group version that define one name differently: the group version has no
/// document.
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

/// The parts of the v3 document of a group version.
#[derive(Clone, Debug)]
pub struct GroupVersionParts {
    path: String,
    parts: BTreeMap<String, V3Fragments>,
}

impl GroupVersionParts {
    /// Returns the document.
    pub fn finish(self, base: &Base) -> GroupVersionDocument {
        let document = merge_v3(&self.path, &self.parts, base);
        (self.path, document)
    }
}

/// The path of a group version and its document, or the reason why it has none.
pub type GroupVersionDocument = (String, Result<Vec<u8>, MergeConflict>);

impl MergeV3 {
    /// Creates a collector without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a version of the CustomResourceDefinition `crd`. The order of calls does not matter.
    pub fn add(&mut self, crd: &str, fragments: V3Fragments) {
        self.parts.entry(fragments.group_version.clone()).or_default().insert(crd.to_owned(), fragments);
    }

    /// Returns the documents, sorted by group version. Each is built when it is requested, and its parts are dropped
    /// with it.
    pub fn finish(self, base: &Base) -> impl Iterator<Item = GroupVersionDocument> + '_ {
        self.group_versions().map(|parts| parts.finish(base))
    }

    /// Returns the parts of the documents, sorted by group version, so that documents can be built on several threads.
    pub fn group_versions(self) -> impl Iterator<Item = GroupVersionParts> {
        self.parts.into_iter().map(|(path, parts)| GroupVersionParts { path, parts })
    }
}

fn merge_v3(path: &str, parts: &BTreeMap<String, V3Fragments>, base: &Base) -> Result<Vec<u8>, MergeConflict> {
    let mut out = Vec::new();
    let parts = parts.iter().map(|(crd, part)| (crd.as_str(), part));
    write_v3(path, parts, base, |piece| match piece {
        Piece::Text(text) => out.extend_from_slice(text),
        Piece::Kept(bytes) => out.extend_from_slice(bytes),
    })?;
    Ok(out)
}

/// A piece of a document.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// A string that was printed for this document.
    Text(&'a [u8]),
    /// Bytes that are stored elsewhere, and that other documents contain, too: a definition, or the shared ones.
    Kept(&'a Bytes),
}

/// Writes the v3 document of a group version to `sink`, in pieces. `parts` are the fragments of
/// CustomResourceDefinitions, which must be sorted by their names.
///
/// # Errors
/// Two of them define one name. Then nothing was written to `sink`.
pub fn write_v3<'a>(
    path: &str,
    parts: impl IntoIterator<Item = (&'a str, &'a V3Fragments)>,
    base: &Base,
    mut sink: impl FnMut(Piece<'_>),
) -> Result<(), MergeConflict> {
    let mut paths: Vec<&PathPart> = Vec::new();
    let mut schemas: Vec<&Fragment> = Vec::new();
    // The owner of the first definition with each name.
    let mut firsts: BTreeMap<&str, &str> = BTreeMap::new();
    let mut scale = false;
    for (crd, part) in parts {
        scale |= part.scale;
        paths.extend(&part.paths);
        for fragment in &part.schemas {
            let shared = ["io.k8s.apimachinery.pkg.apis.meta.v1", "io.k8s.api.autoscaling.v1"]
                .iter()
                .any(|prefix| fragment.name.starts_with(prefix));
            let first = *firsts.entry(fragment.name.as_str()).or_insert(crd);
            match Some(first).filter(|first| *first != crd) {
                Some(_) if shared => {}
                Some(first) => {
                    return Err(MergeConflict {
                        group_version: path.to_owned(),
                        name: fragment.name.clone(),
                        first: first.to_owned(),
                        second: crd.to_owned(),
                    });
                }
                None => schemas.push(fragment),
            }
        }
    }
    let own: Vec<(&str, &[u8])> = schemas.iter().map(|f| (f.name.as_str(), &*f.json)).collect();
    let shared = base.shared_for(&own, scale);
    let closed: usize = base.definitions.iter().filter(|d| scale || !d.scale).count();
    let is_closed = shared.len() == closed;
    let mut all: Vec<(&str, &Bytes, bool)> = shared.into_iter().map(|d| (d.name.as_str(), &d.v3, true)).collect();
    all.extend(schemas.iter().map(|f| (f.name.as_str(), &f.json, false)));
    let all = sorted(all, |(name, ..)| name);
    let mut out = Vec::new();
    out.extend_from_slice(V3_HEAD);
    for (i, path) in sorted(paths, |path| &path.name).into_iter().enumerate() {
        write_member(i == 0, &path.name, Form::V3, &mut out);
        path.write(base, &mut out);
    }
    out.extend_from_slice(b"},\"components\":{\"schemas\":{");
    let mut i = 0;
    while let Some((name, json, shared)) = all.get(i) {
        let whole = |run: &[(&str, &Bytes, bool)]| is_closed && run.iter().all(|(_, _, shared)| *shared);
        if *shared && all.get(i..i + closed).is_some_and(whole) {
            if i > 0 {
                out.push(b',');
            }
            sink(Piece::Text(&out));
            out.clear();
            sink(Piece::Kept(&base.closed_v3[usize::from(scale)]));
            i += closed;
            continue;
        }
        write_member(i == 0, name, Form::V3, &mut out);
        sink(Piece::Text(&out));
        out.clear();
        sink(Piece::Kept(json));
        i += 1;
    }
    out.extend_from_slice(b"}}}");
    sink(Piece::Text(&out));
    Ok(())
}

/// Returns items sorted by name; of equal names, only the last.
fn sorted<T: Copy>(mut items: Vec<T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    items.sort_by(|a, b| order::utf16(name(a), name(b)));
    let kept = |(i, item): (usize, &T)| {
        let last = items.get(i + 1).is_none_or(|next| name(next) != name(item));
        last.then_some(*item)
    };
    items.iter().enumerate().filter_map(kept).collect()
}

/// Visits items sorted by name; of equal names, only the last.
fn in_order<T: Copy>(items: Vec<T>, name: impl Fn(&T) -> &str, mut visit: impl FnMut(T, bool)) {
    let mut first = true;
    for item in sorted(items, name) {
        visit(item, std::mem::take(&mut first));
    }
}

/// Collects the v2 document.
#[derive(Clone, Debug, Default)]
pub struct MergeV2 {
    parts: BTreeMap<String, V2Fragments>,
    /// Whether a document without paths is valid.
    valid: bool,
}

impl MergeV2 {
    /// Creates a collector without resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a document without resources valid: its `paths` are an empty object. Upstream writes null.
    #[must_use]
    pub fn valid(self) -> Self {
        MergeV2 { valid: true, ..self }
    }

    /// Adds the CustomResourceDefinition `crd`. The order of calls does not matter. A resource without
    /// published versions adds nothing.
    pub fn add(&mut self, crd: &str, fragments: V2Fragments) {
        if !fragments.paths.is_empty() {
            self.parts.insert(crd.to_owned(), fragments);
        }
    }

    /// Returns the document of the resources alone, from parts in [`V2Form::Merged`].
    pub fn finish(self, base: &Base) -> Vec<u8> {
        let mut out = Vec::new();
        let written: Result<(), std::convert::Infallible> = self.finish_to(base, |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        });
        match written {
            Ok(()) => out,
            Err(never) => match never {},
        }
    }

    /// Writes the same document to `sink` piece by piece, so that it need not be in memory as a whole.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn finish_to<E>(self, base: &Base, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.parts.is_empty() {
            // Upstream merges nothing into a document that has no paths yet.
            sink(br#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"},"paths":"#)?;
            return sink(if self.valid { b"{}}".as_slice() } else { b"null}".as_slice() });
        }
        let mut piece = Vec::new();
        let mut written = Ok(());
        let mut give = |piece: &mut Vec<u8>| {
            if written.is_ok() {
                written = sink(piece);
            }
            piece.clear();
        };
        piece
            .extend_from_slice(b"{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"unversioned\"}");
        piece.extend_from_slice(b",\"paths\":{");
        in_order(
            self.parts.values().flat_map(|part| &part.paths).collect(),
            |path| &path.name,
            |path, first| {
                write_member(first, &path.name, Form::V2, &mut piece);
                path.write(base, &mut piece);
                give(&mut piece);
            },
        );
        piece.push(b'}');
        let definitions = self.definitions(base).into_iter().map(|(name, json)| (name, &**json)).collect();
        for (key, members) in [("definitions", definitions), ("parameters", self.parameters(base))] {
            if members.is_empty() {
                continue;
            }
            piece.extend_from_slice(format!(",\"{key}\":{{").as_bytes());
            in_order(
                members,
                |(name, _)| name,
                |(name, json), first| {
                    write_member(first, name, Form::V2, &mut piece);
                    piece.extend_from_slice(json);
                    give(&mut piece);
                },
            );
            piece.push(b'}');
        }
        piece.push(b'}');
        give(&mut piece);
        written
    }

    /// Returns the document of the resources, from parts in [`V2Form::Served`], merged into a server's document. That
    /// document's info, security and paths stay, and its definitions win.
    ///
    /// # Errors
    /// The document cannot be read, or (with [`Profile::Kube`]) upstream could not merge it.
    pub fn finish_into(self, base: &Base, document: &[u8], profile: Profile) -> Result<Merged, MergeError> {
        self.finish_into_read(base, Destination::read(document)?, profile)
    }

    /// Does the same for a document that is already read.
    ///
    /// # Errors
    /// With [`Profile::Kube`], upstream could not merge it.
    pub fn finish_into_read(self, base: &Base, document: Destination, profile: Profile) -> Result<Merged, MergeError> {
        let paths = self.parts.values().flat_map(|part| &part.paths).map(|path| {
            let mut json = Vec::new();
            path.write(base, &mut json);
            (path.name.clone(), Bytes::from(json.into_boxed_slice()))
        });
        let overlay = Overlay {
            paths: paths.collect(),
            definitions: self
                .definitions(base)
                .into_iter()
                .map(|(name, json)| (name.to_owned(), json.clone()))
                .collect(),
            parameters: self
                .parameters(base)
                .into_iter()
                .map(|(name, json)| (name.to_owned(), Bytes::copy_from_slice(json)))
                .collect(),
        };
        document.merge(overlay, profile == Profile::Kube)
    }

    /// Returns all definitions, those of later resources after those of earlier ones.
    fn definitions<'s>(&'s self, base: &'s Base) -> Vec<(&'s str, &'s Bytes)> {
        if self.parts.is_empty() {
            return Vec::new();
        }
        let own = self.parts.values().flat_map(|part| &part.definitions);
        let own: Vec<(&str, &Bytes)> = own.map(|f| (f.name.as_str(), &f.json)).collect();
        let texts: Vec<(&str, &[u8])> = own.iter().map(|(name, json)| (*name, &***json)).collect();
        let scale = self.parts.values().any(|part| part.scale);
        let shared = base.shared_for(&texts, scale).into_iter().map(|d| (d.name.as_str(), &d.v2_served));
        shared.chain(own).collect()
    }

    /// Returns the parameters of the scopes that the resources have.
    fn parameters<'s>(&self, base: &'s Base) -> Vec<(&'s str, &'s [u8])> {
        let of_scope = |namespaced: bool| {
            let there = self.parts.values().any(|part| part.namespaced == namespaced);
            there.then(|| &base.paths(Form::V2Served, namespaced).parameters).into_iter().flatten()
        };
        let all = [false, true].into_iter().flat_map(of_scope);
        all.map(|(name, json)| (name.as_str(), json.as_slice())).collect()
    }
}
