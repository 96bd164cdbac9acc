//! All CustomResourceDefinitions of a cluster, and the documents that a server builds from them.

use crate::golden;
use crate::input::{Answer, OurCrd, answers};
use kubeshape_publish::{MergeError, MergeV2, MergeV3, Merged, Profile, Publisher};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The merged documents.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Documents of group versions, or the names of two CustomResourceDefinitions that exclude each other.
    pub v3: BTreeMap<String, Result<Vec<u8>, String>>,
    /// The v2 document of the CustomResourceDefinitions alone.
    pub v2: Vec<u8>,
}

/// The served versions of the first CustomResourceDefinition of every name.
pub(crate) fn first_of_name<C: Borrow<OurCrd>>(crds: impl IntoIterator<Item = C>) -> impl Iterator<Item = C> {
    let mut names = BTreeSet::new();
    crds.into_iter().filter(move |crd| names.insert(crd.borrow().name.clone()))
}

impl Cluster {
    /// Merges all CustomResourceDefinitions of the given files.
    pub fn of_files(files: &[PathBuf], publisher: &Publisher) -> Cluster {
        Cluster::new(Cluster::read(files, publisher), publisher)
    }

    /// All CustomResourceDefinitions of the given files.
    pub fn read(files: &[PathBuf], publisher: &Publisher) -> Vec<OurCrd> {
        let texts = files.iter().filter_map(|file| golden::read(file).ok());
        texts.flat_map(|bytes| answers(&bytes, publisher)).filter_map(Answer::into_crd).collect()
    }

    /// Merges CustomResourceDefinitions. If several have the same name, the first is used.
    pub fn new(crds: Vec<OurCrd>, publisher: &Publisher) -> Cluster {
        let (mut v3, mut v2) = (MergeV3::new(), MergeV2::new());
        for crd in first_of_name(crds) {
            for version in crd.versions.into_iter().filter(|version| version.served) {
                v3.add(&crd.name, version.v3_fragments);
            }
            v2.add(&crd.name, crd.v2_fragments);
        }
        Cluster {
            v3: v3
                .finish(publisher.base())
                .map(|(path, document)| (path, document.map_err(|e| e.to_string())))
                .collect(),
            v2: v2.finish(publisher.base()),
        }
    }
}

/// Returns a server's v2 document: all CustomResourceDefinitions merged into its document without them.
///
/// # Errors
/// The document is not a v2 document, or a server could not merge it.
pub fn served_v2(crds: Vec<OurCrd>, publisher: &Publisher, document: &[u8]) -> Result<Merged, MergeError> {
    let mut v2 = MergeV2::new();
    for crd in first_of_name(crds) {
        v2.add(&crd.name, crd.v2_served_fragments);
    }
    v2.finish_into(publisher.base(), document, Profile::Kube)
}
