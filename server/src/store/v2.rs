//! The v2 document: merged when it is read, from parts that are kept.

use super::StoreOptions;
use super::base::BaseError;
use super::read::Resource;
use crate::document::{Dialect, Document};
use crate::snapshot::LazyV2;
use bytes::Bytes;
use kubeshape_publish::{MergeV2, Publisher};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

/// The document of a server without any.
const NOTHING: &[u8] = br#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"1.36"},"paths":{}}"#;

/// What merging keeps between snapshots.
#[derive(Debug)]
pub(super) struct Merging {
    base: Bytes,
}

impl Merging {
    pub(super) fn new(base: Option<&(Arc<str>, Bytes)>, publisher: &Publisher) -> Result<Merging, BaseError> {
        let base = base.map_or_else(|| Bytes::from_static(NOTHING), |(_, json)| json.clone());
        let _ = publisher;
        Ok(Merging { base })
    }

    /// The v2 document of these resources, merged at its first use.
    pub(super) fn lazy(
        self: &Arc<Self>,
        publisher: &Arc<Publisher>,
        resources: &imbl::OrdMap<Arc<str>, Arc<Resource>>,
        onto: Option<&Bytes>,
        options: StoreOptions,
        now: SystemTime,
    ) -> Arc<LazyV2> {
        let (publisher, resources) = (Arc::clone(publisher), resources.clone());
        let base = onto.unwrap_or(&self.base).clone();
        Arc::new(LazyLock::new(Box::new(move || {
            let mut merge = MergeV2::new();
            for (name, resource) in &resources {
                if let Some(fragments) = resource.v2(&publisher) {
                    merge.add(name, fragments.clone());
                }
            }
            let merged = merge.finish_onto(publisher.base(), &base, options.profile);
            let merged = merged.map_err(|error| Arc::from(error.to_string()))?;
            Ok(Arc::new(Document::new(Dialect::V2, Bytes::from(merged.document), now)))
        })))
    }
}
