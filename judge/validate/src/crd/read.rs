//! Decodes manifests into [`Definition`]s: decoding, defaults and conversion to the internal form, like
//! `pkg/apis/apiextensions/v1` and `v1beta1` of `k8s.io/apiextensions-apiserver`.
//!
//! [`kubeshape_structural::read`] checks the types of all fields and reads the schemas. Fields that only validation
//! needs are read here, so that publishing does not pay for them.

use super::model::{
    ClientConfig, Conversion, Definition, Service, Spec, Status, Subresources, Validation, Version, same_validation,
};
use crate::metadata::{ObjectMeta, list};
use crate::release::{AskedRelease, Change};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_schema::{Bump, Converted, Schema, read::Reader, read::Rules};
use kubeshape_structural::read::{Manifest, read, read_as};
use kubeshape_structural::{ApiVersion, Column, Crd, Names, Scale};
use kubeshape_yaml::{Kind, Node, Number};
use std::collections::HashMap;

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
        let node = manifest.node;
        let decoded = match manifest.implied {
            Some(version) => read_as(node, version, arena),
            None => read(node, arena),
        };
        let Some(crd) = decoded.value else { return Converted { value: None, notes: decoded.notes } };
        let schemas =
            crd.versions.iter().filter_map(|version| version.schema).map(|schema| (schema.at, schema)).collect();
        let mut builder = Builder { reader: Reader::new(arena, Rules::Crd), crd, schemas };
        let definition = builder.definition(node, defaults);
        Converted { value: Some(definition), notes: decoded.notes }
    }

    /// Prepares a definition for validation and creation: its status is emptied except for the storage version, the
    /// generation is 1, and fields that the release does not support are dropped. `PrepareForCreate`.
    #[must_use]
    pub fn prepare_for_create(mut self, release: impl Into<AskedRelease>, arena: &'a Bump) -> Definition<'a> {
        if self.has_selectable_fields() && !release.into().has(Change::SelectableFields) {
            self.drop_selectable_fields(arena);
        }
        self.status = Status::default();
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

/// Decodes one definition whose types were checked.
struct Builder<'a> {
    reader: Reader<'a>,
    crd: Crd<'a>,
    /// The schemas that were already read, by node.
    schemas: HashMap<u32, &'a Schema<'a>>,
}

impl<'a> Builder<'a> {
    fn definition(&mut self, node: Node<'a>, defaults: Defaults) -> Definition<'a> {
        let beta = self.crd.api_version == ApiVersion::V1beta1;
        let mut metadata = ObjectMeta { node: Some(node), ..ObjectMeta::default() };
        if let Some(written) = node.get("metadata").filter(|node| !node.is_null()) {
            metadata = ObjectMeta::read(written, &mut self.reader);
        }
        let mut spec = self.spec(node.get("spec").filter(|node| !node.is_null()).unwrap_or(node), node);
        let mut status = node.get("status").map_or_else(Status::default, |node| self.status(node));
        if defaults == Defaults::Set {
            self.set_defaults(&mut spec, &mut status, beta);
        }
        if !beta {
            self.lift(&mut spec);
        }
        Definition { metadata, spec, status, node }
    }

    fn arena(&self) -> &'a Bump {
        self.reader.arena()
    }

    fn spec(&mut self, node: Node<'a>, root: Node<'a>) -> Spec<'a> {
        let mut spec = Spec {
            group: "",
            version: "",
            names: Names::default(),
            scope: "",
            validation: None,
            subresources: None,
            versions: &[],
            columns: None,
            selectable_fields: None,
            conversion: None,
            preserve_unknown_fields: None,
            node,
            is_written: node.index() != root.index(),
        };
        let beta = self.crd.api_version == ApiVersion::V1beta1;
        if !beta {
            // Go's type of v1 does not distinguish missing from false.
            spec.preserve_unknown_fields = Some(false);
        }
        if !spec.is_written {
            return spec;
        }
        for (key, value) in self.pairs(node) {
            match key {
                "group" => spec.group = self.reader.text(value),
                "names" => spec.names = self.names(value),
                "scope" => spec.scope = self.reader.text(value),
                "versions" => spec.versions = self.versions(value),
                "conversion" => spec.conversion = self.conversion(value),
                "preserveUnknownFields" if !beta => {
                    spec.preserve_unknown_fields = Some(self.reader.boolean(value));
                }
                "preserveUnknownFields" => spec.preserve_unknown_fields = self.reader.optional_boolean(value),
                "version" if beta => spec.version = self.reader.text(value),
                "validation" if beta => spec.validation = self.validation(value),
                "subresources" if beta => spec.subresources = self.subresources(value),
                "additionalPrinterColumns" if beta => spec.columns = self.columns(value),
                "selectableFields" if beta => spec.selectable_fields = self.selectable_fields(value),
                _ => {}
            }
        }
        spec
    }

    /// Sets the defaults of both versions: `SetDefaults_CustomResourceDefinition`.
    fn set_defaults(&mut self, spec: &mut Spec<'a>, status: &mut Status<'a>, beta: bool) {
        let arena = self.arena();
        if spec.names.singular.is_empty() || spec.names.list_kind.is_empty() {
            spec.names = Names { singular: self.crd.names.singular, list_kind: self.crd.names.list_kind, ..spec.names };
        }
        if beta {
            if spec.scope.is_empty() {
                spec.scope = "Namespaced";
            }
            if spec.versions.is_empty() && !spec.version.is_empty() {
                let version = Version { name: spec.version, served: true, storage: true, ..Version::absent(spec.node) };
                spec.versions = arena.alloc_slice_copy(&[version]);
            }
            if let ("", Some(first)) = (spec.version, spec.versions.first()) {
                spec.version = first.name;
            }
            spec.preserve_unknown_fields = spec.preserve_unknown_fields.or(Some(true));
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
    fn lift(&mut self, spec: &mut Spec<'a>) {
        let Some(first) = spec.versions.first().copied() else { return };
        spec.version = first.name;
        let all = |same: &dyn Fn(&Version<'a>) -> bool| spec.versions.iter().all(same);
        let subresources = all(&|version| version.subresources == first.subresources);
        let validation = all(&|version| same_validation(version.schema, first.schema));
        let columns = all(&|version| version.columns.unwrap_or_default() == first.columns.unwrap_or_default());
        let fields = all(&|version| {
            version.selectable_fields.unwrap_or_default() == first.selectable_fields.unwrap_or_default()
        });
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
        spec.versions = self.arena().alloc_slice_copy(&versions);
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

    fn names(&mut self, node: Node<'a>) -> Names<'a> {
        let mut names = Names::default();
        for (key, value) in self.pairs(node) {
            match key {
                "plural" => names.plural = self.reader.text(value),
                "singular" => names.singular = self.reader.text(value),
                "shortNames" => names.short_names = self.reader.texts(value),
                "kind" => names.kind = self.reader.text(value),
                "listKind" => names.list_kind = self.reader.text(value),
                "categories" => names.categories = self.reader.texts(value),
                _ => {}
            }
        }
        names
    }

    fn versions(&mut self, node: Node<'a>) -> &'a [Version<'a>] {
        let mut versions = Vec::with_capacity(node.len());
        for item in items(node) {
            let mut version = Version::absent(item);
            for (key, value) in self.pairs(item) {
                match key {
                    "name" => version.name = self.reader.text(value),
                    "served" => version.served = self.reader.boolean(value),
                    "storage" => version.storage = self.reader.boolean(value),
                    "deprecated" => version.deprecated = self.reader.boolean(value),
                    "deprecationWarning" => version.deprecation_warning = self.optional_text(value),
                    "schema" => version.schema = self.validation(value),
                    "subresources" => version.subresources = self.subresources(value),
                    "additionalPrinterColumns" => version.columns = self.columns(value),
                    "selectableFields" => version.selectable_fields = self.selectable_fields(value),
                    _ => {}
                }
            }
            versions.push(version);
        }
        self.arena().alloc_slice_copy(&versions)
    }

    fn validation(&mut self, node: Node<'a>) -> Option<Validation<'a>> {
        let mut validation = Validation { schema: None };
        for (key, value) in self.pairs(node) {
            if key == "openAPIV3Schema" && !value.is_null() {
                validation.schema = Some(self.schema(value));
            }
        }
        (!node.is_null()).then_some(validation)
    }

    /// Returns the schema of a node. Nearly always it was already read.
    fn schema(&mut self, node: Node<'a>) -> &'a Schema<'a> {
        if let Some(schema) = self.schemas.get(&node.index()) {
            return schema;
        }
        let schema = self.reader.schema(node);
        self.arena().alloc(schema)
    }

    fn subresources(&mut self, node: Node<'a>) -> Option<Subresources<'a>> {
        let mut subresources = Subresources { status: false, scale: None };
        for (key, value) in self.pairs(node) {
            match key {
                "status" => subresources.status = !value.is_null(),
                "scale" if !value.is_null() => subresources.scale = Some(self.scale(value)),
                _ => {}
            }
        }
        (!node.is_null()).then_some(subresources)
    }

    fn scale(&mut self, node: Node<'a>) -> Scale<'a> {
        let mut scale = Scale::default();
        for (key, value) in self.pairs(node) {
            match key {
                "specReplicasPath" => scale.spec_replicas_path = self.reader.text(value),
                "statusReplicasPath" => scale.status_replicas_path = self.reader.text(value),
                "labelSelectorPath" => scale.label_selector_path = self.optional_text(value),
                _ => {}
            }
        }
        scale
    }

    fn columns(&mut self, node: Node<'a>) -> Option<&'a [Column<'a>]> {
        let json_path = if self.crd.api_version == ApiVersion::V1beta1 { "JSONPath" } else { "jsonPath" };
        let columns = list(&mut self.reader, node, |r, item| {
            let mut column = Column::default();
            r.each_pair(item, "", |r, key, value| match key.text() {
                "name" => column.name = r.text(value),
                "type" => column.column_type = r.text(value),
                "format" => column.format = r.text(value),
                "description" => column.description = r.text(value),
                "priority" => column.priority = r.integer32(value).unwrap_or(0),
                key if key == json_path => column.json_path = r.text(value),
                _ => {}
            });
            column
        });
        (!node.is_null()).then_some(columns)
    }

    fn selectable_fields(&mut self, node: Node<'a>) -> Option<&'a [&'a str]> {
        let fields = list(&mut self.reader, node, |r, item| {
            let mut path = "";
            r.each_pair(item, "", |r, key, value| {
                if key.text() == "jsonPath" {
                    path = r.text(value);
                }
            });
            path
        });
        (!node.is_null()).then_some(fields)
    }

    fn conversion(&mut self, node: Node<'a>) -> Option<Conversion<'a>> {
        let beta = self.crd.api_version == ApiVersion::V1beta1;
        let mut conversion = Conversion::default();
        for (key, value) in self.pairs(node) {
            match key {
                "strategy" => conversion.strategy = self.reader.text(value),
                "webhookClientConfig" if beta => conversion.client_config = self.client_config(value),
                "conversionReviewVersions" if beta => conversion.review_versions = self.reader.texts(value),
                "webhook" if !beta => {
                    for (key, value) in self.pairs(value) {
                        match key {
                            "clientConfig" => conversion.client_config = self.client_config(value),
                            "conversionReviewVersions" => conversion.review_versions = self.reader.texts(value),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        (!node.is_null()).then_some(conversion)
    }

    fn client_config(&mut self, node: Node<'a>) -> Option<ClientConfig<'a>> {
        let mut config = ClientConfig::default();
        for (key, value) in self.pairs(node) {
            match key {
                "url" => config.url = self.optional_text(value),
                "caBundle" => config.ca_bundle = self.bytes(value),
                "service" if !value.is_null() => {
                    let mut service = Service::default();
                    for (key, value) in self.pairs(value) {
                        match key {
                            "namespace" => service.namespace = self.reader.text(value),
                            "name" => service.name = self.reader.text(value),
                            "path" => service.path = self.optional_text(value),
                            "port" => service.port = self.reader.integer32(value),
                            _ => {}
                        }
                    }
                    config.service = Some(service);
                }
                _ => {}
            }
        }
        (!node.is_null()).then_some(config)
    }

    fn status(&mut self, node: Node<'a>) -> Status<'a> {
        let mut status = Status { node: (!node.is_null()).then_some(node), ..Status::default() };
        for (key, value) in self.pairs(node) {
            match key {
                "conditions" => {
                    let text = |item: Node<'a>, key| item.get(key).and_then(Node::as_str);
                    // If two conditions have the same type, the first one is used.
                    let found = items(value).find(|item| text(*item, "type") == Some("Established"));
                    status.established = found.map(|item| text(item, "status") == Some("True"));
                }
                "acceptedNames" => status.accepted_names = self.names(value),
                "storedVersions" if !value.is_null() => status.stored_versions = Some(self.reader.texts(value)),
                _ => {}
            }
        }
        status
    }

    /// Decodes bytes: a base64 string, or a list of numbers.
    fn bytes(&self, node: Node<'a>) -> &'a [u8] {
        let bytes: Vec<u8> = match node.kind() {
            Kind::Str => {
                let text: Vec<u8> = node.text().bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
                STANDARD.decode(text).unwrap_or_default()
            }
            _ => items(node)
                .map(|item| match item.as_number() {
                    Some(Number::Int(n)) => u8::try_from(n).unwrap_or_default(),
                    _ => 0,
                })
                .collect(),
        };
        self.arena().alloc_slice_copy(&bytes)
    }

    fn optional_text(&mut self, node: Node<'a>) -> Option<&'a str> {
        (!node.is_null()).then(|| self.reader.text(node))
    }

    /// Returns the pairs of a mapping. If a key is repeated, only the last one.
    fn pairs(&mut self, node: Node<'a>) -> Vec<(&'a str, Node<'a>)> {
        let mut pairs = Vec::with_capacity(node.len());
        self.reader.each_pair(node, "", |_, key, value| pairs.push((key.text(), value)));
        pairs
    }
}

/// Returns the items of a list; anything else has none.
fn items(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (node.kind() == Kind::Seq).then(|| node.items()).into_iter().flatten()
}

impl<'a> Version<'a> {
    fn absent(node: Node<'a>) -> Version<'a> {
        Version {
            name: "",
            served: false,
            storage: false,
            deprecated: false,
            deprecation_warning: None,
            schema: None,
            subresources: None,
            columns: None,
            selectable_fields: None,
            node,
        }
    }
}
