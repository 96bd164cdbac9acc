//! Kubernetes' own definitions and descriptions, which all documents of CustomResourceDefinitions share.

mod builtin;
mod definitions;
mod documents;
#[cfg(test)]
mod print;
pub(crate) mod release;

pub use documents::BaseError;
pub(crate) use release::Published;

use crate::names::{AUTOSCALING, META};
use crate::paths::{self, Form, Paths, write_member};
use crate::smd::MetaTypes;
use crate::texts::Texts;
use bytes::Bytes;
use kubeshape_schema::{Bump, Json, Release, Schema};
use kubeshape_yaml::Tape;
use std::collections::BTreeSet;

/// Definitions of `io.k8s.apimachinery.pkg.apis.meta.v1` that every resource reaches.
pub(crate) const META_KINDS: [&str; 13] = [
    "DeleteOptions",
    "FieldsV1",
    "ListMeta",
    "ManagedFieldsEntry",
    "ObjectMeta",
    "OwnerReference",
    "Patch",
    "Preconditions",
    "ShardInfo",
    "Status",
    "StatusCause",
    "StatusDetails",
    "Time",
];
/// Definitions of `io.k8s.api.autoscaling.v1` that a resource with a scale subresource reaches.
pub(crate) const SCALE_KINDS: [&str; 3] = ["Scale", "ScaleSpec", "ScaleStatus"];

/// A shared definition, printed for each kind of document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) v3: Bytes,
    pub(crate) v2: Bytes,
    pub(crate) v2_served: Bytes,
    /// Whether it belongs to the scale subresource.
    pub(crate) scale: bool,
}

impl Definition {
    fn of_static(name: &str, v3: &'static [u8], v2: &'static [u8], v2_served: &'static [u8]) -> Definition {
        let [v3, v2, v2_served] = [v3, v2, v2_served].map(Bytes::from_static);
        Definition { scale: name.starts_with(AUTOSCALING), name: name.to_owned(), v3, v2, v2_served }
    }
}

impl From<definitions::Printed> for Definition {
    fn from(printed: definitions::Printed) -> Definition {
        let definitions::Printed { name, v3, v2, v2_served } = printed;
        let [v3, v2, v2_served] = [v3, v2, v2_served].map(Bytes::from);
        Definition { scale: name.starts_with(AUTOSCALING), name, v3, v2, v2_served }
    }
}

/// Kubernetes' own definitions and descriptions, which all documents of CustomResourceDefinitions share.
///
/// # Example: the definitions of Kubernetes 1.36
/// ```
/// let base = kubeshape_publish::Base::builtin();
/// assert_eq!(base.definition_names().count(), 16);
/// ```
#[derive(Clone, Debug)]
pub struct Base {
    pub(crate) texts: Texts,
    /// Sorted by name.
    pub(crate) definitions: Vec<Definition>,
    /// All shared definitions as members of a v3 document, without and with those of the scale subresource.
    pub(crate) closed_v3: [Bytes; 2],
    /// Paths by form, then cluster-scoped and namespaced.
    pub(crate) paths: [[Paths; 2]; 3],
    pub(crate) smd: MetaTypes,
    pub(crate) release: Release,
    /// The release that documents name.
    named: Option<Release>,
}

/// Definitions by name.
type Definitions<'a> = Vec<(&'a str, Schema<'a>)>;

impl Base {
    /// Returns the definitions of Kubernetes 1.36. Some query parameters have kubeshape's own descriptions, so
    /// documents have the server's structure, but not its hash. For equal bytes, use [`Base::from_documents`].
    pub fn builtin() -> Base {
        let types = types_of(builtin::DEFINITIONS);
        Base::new(builtin::texts(), builtin::definitions(), builtin::paths(), types, release::SOURCE)
    }

    /// Returns the definitions of a release. Their descriptions are those of [`Base::builtin`].
    ///
    /// # Example: kinds of 1.30 have no selectable fields, and lists no shards
    /// ```
    /// let base = kubeshape_publish::Base::builtin_of("1.30".parse()?);
    /// assert_eq!(base.definition_names().count(), 15);
    /// # Ok::<(), kubeshape_schema::ReleasesError>(())
    /// ```
    pub fn builtin_of(release: Release) -> Base {
        if release.without_patch() == release::SOURCE {
            return Base { release, ..Base::builtin() };
        }
        // No document is read, so this cannot fail.
        Base::in_release(&[], release).unwrap_or_else(|_| Base::builtin())
    }

    /// Returns the base of a server of a release, if `documents` are those of a server of 1.36: the descriptions are
    /// the server's, and the changes between the releases are applied.
    ///
    /// # Errors
    /// As [`Base::from_documents`].
    pub fn in_release(documents: &[(String, Vec<u8>)], release: Release) -> Result<Base, BaseError> {
        Base::collect(documents, Some(release), |collected, fallback, arena| {
            let definitions = collected.definitions(fallback);
            let texts = collected.texts(builtin::texts(), &definitions);
            (release::definitions(definitions, release, arena), release::texts(texts, release))
        })
    }

    /// Returns the release whose documents are published: that of the documents from which the base was read, or 1.36.
    pub fn release(&self) -> Release {
        self.release
    }

    /// The release that the documents of a cluster name in `info.version`. `None` if they name none that is known.
    pub fn named_release(&self) -> Option<Release> {
        self.named
    }

    /// The definitions and descriptions of a cluster. They are taken from its OpenAPI documents: v3 documents of group
    /// versions such as `apis/apps/v1`, and the v2 document, which lists the group-version-kinds of `DeleteOptions`.
    /// What the documents lack comes from [`Base::builtin`].
    ///
    /// `documents` are pairs of a name for errors and the JSON or YAML. Their order does not matter.
    ///
    /// # Errors
    /// - [`BaseError::Unreadable`]: a document is not YAML or JSON.
    /// - [`BaseError::NotOpenApi`]: a document is not an OpenAPI document.
    pub fn from_documents(documents: &[(String, Vec<u8>)]) -> Result<Base, BaseError> {
        Base::collect(documents, None, |collected, fallback, _| {
            let definitions = collected.definitions(fallback);
            let texts = collected.texts(builtin::texts(), &definitions);
            (definitions, texts)
        })
    }

    /// Reads the definitions of a release of Kubernetes from all of its OpenAPI documents, v3 and v2, without
    /// descriptions, as `kubeshape-builtin` has them: what they lack does not exist in that release. Other descriptions
    /// are those of [`Base::builtin`], so the hashes of documents are not those of a cluster.
    ///
    /// If definitions are `described`, they have the descriptions of [`Base::builtin`], too. If not, they are equal to
    /// those of the documents, so that a document with both has each of them once.
    ///
    /// # Errors
    /// As [`Base::from_documents`].
    pub fn of_release(documents: &[(String, Vec<u8>)], described: bool) -> Result<Base, BaseError> {
        Base::collect(documents, None, |collected, fallback, _| {
            let definitions = collected.definitions_of_release(fallback, described);
            (definitions, collected.texts_of_release(builtin::texts()))
        })
    }

    /// Reads documents, and collects definitions and descriptions from them and from the definitions of
    /// [`Base::builtin`].
    fn collect(
        documents: &[(String, Vec<u8>)],
        release: Option<Release>,
        take: impl for<'a> FnOnce(&documents::Collected<'a>, &Definitions<'a>, &'a Bump) -> (Definitions<'a>, Texts),
    ) -> Result<Base, BaseError> {
        let mut sorted: Vec<_> = documents.iter().collect();
        sorted.sort();
        let read = documents::read_all(&sorted)?;
        let (arena, mut tape) = (Bump::new(), Tape::new());
        let mut collected = documents::Collected::new(&arena);
        for document in &read {
            collected.add(document)?;
        }
        let fallback = definitions::read(builtin::DEFINITIONS, &mut tape, &arena);
        let (definitions, texts) = take(&collected, &fallback, &arena);
        let printed = definitions::print(&definitions, &arena).into_iter().map(Definition::from).collect();
        let named = collected.release();
        let release = release.or(named).unwrap_or(release::SOURCE);
        let paths = paths::all(&texts, false, release);
        Ok(Base { named, ..Base::new(texts, printed, paths, MetaTypes::new(&definitions), release) })
    }

    /// Returns the base with operations that describe all representations with which a server responds.
    pub(crate) fn with_alternates(self) -> Base {
        Base { paths: paths::all(&self.texts, true, self.release), ..self }
    }

    /// Returns the names of the shared definitions, sorted.
    pub fn definition_names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(|definition| definition.name.as_str())
    }

    fn new(
        texts: Texts,
        definitions: Vec<Definition>,
        paths: [[Paths; 2]; 3],
        smd: MetaTypes,
        release: Release,
    ) -> Base {
        let closed_v3 = [false, true].map(|scale| {
            let mut out = Vec::new();
            write_members(definitions.iter().filter(|definition| scale || !definition.scale), &mut out);
            Bytes::from(out)
        });
        Base { texts, definitions, closed_v3, paths, smd, release, named: None }
    }

    /// Returns the shared definitions in a document with these definitions of its own. Usually these are all of them.
    /// But if a definition of the document has the name of a shared one, or if there is only one (the kind has the name
    /// of its list, and nothing has object metadata), then only those to which something refers.
    pub(crate) fn shared_for<'b>(&'b self, own: &[(&str, &[u8])], scale: bool) -> Vec<&'b Definition> {
        let closed = || self.definitions.iter().filter(|d| scale || !d.scale);
        let lists_only = own.first().is_some_and(|(first, _)| own.iter().all(|(name, _)| name == first));
        if !lists_only && !own.iter().any(|(name, _)| self.definition(name).is_some()) {
            return closed().collect();
        }
        let is_own = |name: &str| own.iter().rev().find(|(other, _)| *other == name);
        let mut reached: BTreeSet<String> = ["Status", "DeleteOptions", "Patch"].map(|k| format!("{META}{k}")).into();
        if !lists_only {
            reached.insert(format!("{META}ObjectMeta"));
        }
        if scale {
            reached.insert(format!("{AUTOSCALING}Scale"));
        }
        reached.extend(own.iter().map(|(name, _)| (*name).to_owned()));
        let mut queue: Vec<String> = reached.iter().cloned().collect();
        while let Some(name) = queue.pop() {
            let json = is_own(&name).map(|(_, json)| *json).or_else(|| self.definition(&name).map(|d| &*d.v3));
            for target in kubeshape_convert::references(json.unwrap_or_default()) {
                if reached.insert(target.clone()) {
                    queue.push(target);
                }
            }
        }
        closed().filter(|d| reached.contains(&d.name) && is_own(&d.name).is_none()).collect()
    }

    /// Returns the structured-merge-diff types of some of the shared definitions.
    pub(crate) fn types_of(definitions: &[&Definition]) -> MetaTypes {
        let mut json = b"{".to_vec();
        write_members(definitions.iter().copied(), &mut json);
        json.push(b'}');
        types_of(&String::from_utf8_lossy(&json))
    }

    /// Returns a shared definition.
    pub(crate) fn definition(&self, name: &str) -> Option<&Definition> {
        let at = self.definitions.binary_search_by(|d| kubeshape_schema::order::utf16(&d.name, name)).ok()?;
        self.definitions.get(at)
    }

    pub(crate) fn paths(&self, form: Form, namespaced: bool) -> &Paths {
        &self.paths[form as usize][usize::from(namespaced)]
    }
}

/// Appends definitions as members of a v3 document.
fn write_members<'d>(definitions: impl Iterator<Item = &'d Definition>, out: &mut Vec<u8>) {
    for (i, definition) in definitions.enumerate() {
        write_member(i == 0, &definition.name, Form::V3, out);
        out.extend_from_slice(&definition.v3);
    }
}

/// Returns the structured-merge-diff types of a JSON object of definitions.
fn types_of(definitions: &str) -> MetaTypes {
    let (arena, mut tape) = (Bump::new(), Tape::new());
    MetaTypes::new(&definitions::read(definitions, &mut tape, &arena))
}

/// Returns the full names of the shared definitions.
pub(crate) fn closed_set() -> impl Iterator<Item = String> {
    META_KINDS
        .iter()
        .map(|kind| format!("{META}{kind}"))
        .chain(SCALE_KINDS.iter().map(|kind| format!("{AUTOSCALING}{kind}")))
}

/// Returns the value of `x-kubernetes-group-version-kind`, from pairs of group and version.
pub(crate) fn gvk_list<'a>(pairs: &[(&'a str, &'a str)], kind: &'a str, arena: &'a Bump) -> Json<'a> {
    let items: Vec<Json<'a>> = pairs.iter().map(|(group, version)| gvk(group, version, kind, arena)).collect();
    Json::Array(arena.alloc_slice_copy(&items))
}

/// Returns a group-version-kind object.
pub(crate) fn gvk<'a>(group: &'a str, version: &'a str, kind: &'a str, arena: &'a Bump) -> Json<'a> {
    Json::Object(arena.alloc_slice_copy(&[
        ("group", Json::Str(group)),
        ("kind", Json::Str(kind)),
        ("version", Json::Str(version)),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`Base::from_documents`] prints the same as [`Base::builtin`] has printed in advance.
    #[test]
    fn without_documents_it_is_the_built_in_one() {
        let (builtin, printed) = (Base::builtin(), Base::from_documents(&[]).expect("nothing to read"));
        assert_eq!(builtin.definitions, printed.definitions);
        assert_eq!(builtin.paths, printed.paths);
        assert_eq!(builtin.texts, printed.texts);
        assert_eq!(builtin.closed_v3, printed.closed_v3);
        assert_eq!(format!("{:?}", builtin.smd), format!("{:?}", printed.smd));
    }
}
