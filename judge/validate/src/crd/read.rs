//! Decodes manifests into [`Definition`]s: decoding, defaults and conversion to the internal form, like
//! `pkg/apis/apiextensions/v1` and `v1beta1` of `k8s.io/apiextensions-apiserver`.
//!
//! [`kubeshape_structural::read`] decodes the manifest. Here are the metadata, the defaults that only validation needs,
//! and the internal form.

use super::model::{Definition, same_validation};
use crate::metadata::ObjectMeta;
use crate::release::{AskedRelease, Change};
use kubeshape_schema::{Bump, Converted, read::Reader, read::Rules};
use kubeshape_structural::read::{Decoded, Manifest};
use kubeshape_structural::written::{Conversion, Spec, Version};
use kubeshape_structural::{ApiVersion, Crd, Status};
use kubeshape_yaml::Node;

/// Whether the defaults of the API are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// They are, as by the server after decoding.
    Set,
    /// They are not: for objects that went through a server before, and for upstream's own tests.
    Omitted,
}

impl<'a> Definition<'a> {
    /// Decodes a CustomResourceDefinition.
    ///
    /// The value is `None` if the server's decoder refuses it, and the notes say why; they are those of
    /// [`kubeshape_structural::read`]. The status is the manifest's; [`Definition::prepare_for_create`] removes it for
    /// a request to create.
    pub fn read(manifest: Manifest<'a>, defaults: Defaults, arena: &'a Bump) -> Converted<'a, Option<Definition<'a>>> {
        let decoded = manifest.decode(arena);
        let value = decoded.value.map(|decoded| Definition::from_decoded(decoded, manifest.node, defaults, arena));
        Converted { value, notes: decoded.notes }
    }

    fn from_decoded(
        Decoded { crd, mut spec }: Decoded<'a>,
        node: Node<'a>,
        defaults: Defaults,
        arena: &'a Bump,
    ) -> Definition<'a> {
        let member = |name: &str| node.get(name).filter(|node| !node.is_null());
        let mut metadata = ObjectMeta { node: Some(node), ..ObjectMeta::default() };
        if let Some(written) = member("metadata") {
            metadata = ObjectMeta::read(written, &mut Reader::new(arena, Rules::Crd));
        }
        if !spec.is_written {
            spec.node = node;
        }
        let mut status = crd.status;
        if defaults == Defaults::Set {
            set_defaults(&mut spec, &mut status, &crd, arena);
        }
        if crd.api_version == ApiVersion::V1 {
            // Go's type of v1 does not distinguish missing from false.
            spec.preserve_unknown_fields.get_or_insert(false);
            lift(&mut spec, arena);
        }
        Definition { metadata, spec, status, status_node: member("status"), node }
    }

    /// Prepares a definition for validation and creation: its status is emptied except for the storage version, the
    /// generation is 1, and fields that the release does not support are dropped. `PrepareForCreate`.
    #[must_use]
    pub fn prepare_for_create(mut self, release: impl Into<AskedRelease>, arena: &'a Bump) -> Definition<'a> {
        if self.has_selectable_fields() && !release.into().has(Change::SelectableFields) {
            self.drop_selectable_fields(arena);
        }
        self.status = Status::default();
        self.status_node = None;
        self.metadata.generation = 1;
        self.store_storage_version(arena);
        self
    }

    /// Prepares a definition that replaces `old` for validation: the status is the old one, with the storage version
    /// added. `PrepareForUpdate`.
    #[must_use]
    pub fn prepare_for_update(
        mut self,
        old: &Definition<'a>,
        release: impl Into<AskedRelease>,
        arena: &'a Bump,
    ) -> Definition<'a> {
        let may_drop = self.has_selectable_fields() && !old.has_selectable_fields();
        if may_drop && !release.into().has(Change::SelectableFields) {
            self.drop_selectable_fields(arena);
        }
        self.status = old.status;
        self.status_node = old.status_node;
        self.metadata.generation = old.metadata.generation;
        self.store_storage_version(arena);
        self
    }

    fn has_selectable_fields(&self) -> bool {
        let versions = self.spec.versions;
        self.spec.selectable_fields.is_some() || versions.iter().any(|version| version.selectable_fields.is_some())
    }

    fn drop_selectable_fields(&mut self, arena: &'a Bump) {
        let mut versions = self.spec.versions.to_vec();
        for version in &mut versions {
            version.selectable_fields = None;
        }
        self.spec.versions = arena.alloc_slice_copy(&versions);
        self.spec.selectable_fields = None;
    }

    fn store_storage_version(&mut self, arena: &'a Bump) {
        let Some(version) = self.spec.versions.iter().find(|version| version.storage) else { return };
        let mut stored = self.status.stored_versions.unwrap_or_default().to_vec();
        if !stored.contains(&version.name) {
            stored.push(version.name);
            self.status.stored_versions = Some(arena.alloc_slice_copy(&stored));
        }
    }
}

/// Sets the defaults of both versions: `SetDefaults_CustomResourceDefinition`. `crd` has those of names.
fn set_defaults<'a>(spec: &mut Spec<'a>, status: &mut Status<'a>, crd: &Crd<'a>, arena: &'a Bump) {
    let beta = crd.api_version == ApiVersion::V1beta1;
    spec.names = crd.names;
    if beta {
        if spec.scope.is_empty() {
            spec.scope = "Namespaced";
        }
        if let Some(version) = spec.single_version() {
            spec.versions = arena.alloc_slice_copy(&[version]);
        }
        if let ("", Some(first)) = (spec.version, spec.versions.first()) {
            spec.version = first.name;
        }
        spec.preserve_unknown_fields.get_or_insert(true);
    }
    let conversion = spec.conversion.get_or_insert(Conversion { strategy: "None", ..Conversion::default() });
    if beta && conversion.strategy == "Webhook" && conversion.review_versions.is_empty() {
        conversion.review_versions = &["v1beta1"];
    }
    if let Some(service) = conversion.client_config.as_mut().and_then(|config| config.service.as_mut()) {
        service.port = service.port.or(Some(443));
    }
    let storage = spec.versions.iter().find(|version| version.storage);
    if let ([], Some(version)) = (status.stored_versions.unwrap_or_default(), storage) {
        status.stored_versions = Some(arena.alloc_slice_copy(&[version.name]));
    }
}

/// Moves settings that all versions share to the top:
/// `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`.
fn lift<'a>(spec: &mut Spec<'a>, arena: &'a Bump) {
    let Some(first) = spec.versions.first().copied() else { return };
    spec.version = first.name;
    let all = |same: &dyn Fn(&Version<'a>) -> bool| spec.versions.iter().all(same);
    let subresources = all(&|version| version.subresources == first.subresources);
    let validation = all(&|version| same_validation(version.schema, first.schema));
    let columns = all(&|version| version.columns.unwrap_or_default() == first.columns.unwrap_or_default());
    let fields =
        all(&|version| version.selectable_fields.unwrap_or_default() == first.selectable_fields.unwrap_or_default());
    let mut versions = spec.versions.to_vec();
    for version in &mut versions {
        if subresources {
            version.subresources = None;
        }
        if validation {
            version.schema = None;
        }
        if columns {
            version.columns = None;
        }
        if fields {
            version.selectable_fields = None;
        }
    }
    spec.versions = arena.alloc_slice_copy(&versions);
    if subresources {
        spec.subresources = first.subresources;
    }
    if validation {
        spec.validation = first.schema;
    }
    if columns {
        spec.columns = first.columns;
    }
    if fields {
        spec.selectable_fields = first.selectable_fields;
    }
}
