//! `spec`, its defaults, and its conversion from v1beta1 to v1.

use super::fields::{fields, texts};
use super::scalar::bytes;
use crate::{ApiVersion, Column, Crd, Names, Scale, Scope, Status, Version};
use kubeshape_schema::{Bump, Schema, read::Reader};
use kubeshape_yaml::Node;

/// `spec` as written.
#[derive(Clone, Copy, Default)]
pub(super) struct Spec<'a> {
    pub(super) at: u32,
    names_at: Option<u32>,
    group: &'a str,
    names: Names<'a>,
    scope: &'a str,
    preserve_unknown_fields: Option<bool>,
    versions: &'a [WrittenVersion<'a>],
    /// v1beta1 only: `version`.
    version: &'a str,
    /// v1beta1 only: the fields for all versions.
    all: Parts<'a>,
}

/// The fields that v1 has per version, and v1beta1 also for all versions together. `None` means null or absent, so that
/// only fields that are set at the top are copied to the versions.
#[allow(clippy::option_option)]
#[derive(Clone, Copy, Default)]
struct Parts<'a> {
    schema: Option<Option<&'a Schema<'a>>>,
    subresources: Option<Subresources<'a>>,
    columns: Option<&'a [Column<'a>]>,
    selectable_fields: Option<&'a [&'a str]>,
}

#[derive(Clone, Copy, Default)]
struct Subresources<'a> {
    status: bool,
    scale: Option<Scale<'a>>,
}

#[derive(Clone, Copy, Default)]
struct WrittenVersion<'a> {
    at: u32,
    name: &'a str,
    served: bool,
    storage: bool,
    deprecated: bool,
    deprecation_warning: Option<&'a str>,
    parts: Parts<'a>,
}

impl<'a> Spec<'a> {
    /// Sets defaults and converts v1beta1 to v1, as upstream's `SetDefaults_CustomResourceDefinitionSpec` of both
    /// versions and `Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_…` do.
    pub(super) fn into_crd(
        self,
        name: &'a str,
        api_version: ApiVersion,
        status: Status<'a>,
        at: u32,
        arena: &'a Bump,
    ) -> Crd<'a> {
        let beta = api_version == ApiVersion::V1beta1;
        let mut names = self.names;
        if names.singular.is_empty() {
            names.singular = lower_case(names.kind, arena);
        }
        if names.list_kind.is_empty() && !names.kind.is_empty() {
            let list_kind = bumpalo::collections::String::from_str_in(names.kind, arena);
            let mut list_kind = list_kind;
            list_kind.push_str("List");
            names.list_kind = list_kind.into_bump_str();
        }
        let scope = match self.scope {
            "Namespaced" => Scope::Namespaced,
            "" if beta => Scope::Namespaced,
            "Cluster" => Scope::Cluster,
            _ => Scope::Other,
        };
        let single = WrittenVersion {
            at: self.at,
            name: self.version,
            served: true,
            storage: true,
            ..WrittenVersion::default()
        };
        let written = match self.versions {
            [] if !self.version.is_empty() => std::slice::from_ref(&single),
            versions => versions,
        };
        Crd {
            name,
            api_version,
            group: self.group,
            names,
            scope,
            preserve_unknown_fields: self.preserve_unknown_fields.unwrap_or(beta),
            versions: arena.alloc_slice_fill_iter(written.iter().map(|version| version.finish(&self.all))),
            status,
            at,
            names_at: self.names_at.unwrap_or(self.at),
        }
    }
}

impl<'a> WrittenVersion<'a> {
    fn finish(&self, all: &Parts<'a>) -> Version<'a> {
        let own = &self.parts;
        let subresources = all.subresources.or(own.subresources).unwrap_or_default();
        Version {
            name: self.name,
            served: self.served,
            storage: self.storage,
            deprecated: self.deprecated,
            deprecation_warning: self.deprecation_warning,
            schema: all.schema.or(own.schema).flatten(),
            status: subresources.status,
            scale: subresources.scale,
            columns: all.columns.or(own.columns).unwrap_or_default(),
            selectable_fields: all.selectable_fields.or(own.selectable_fields).unwrap_or_default(),
            at: self.at,
        }
    }
}

/// Converts to lower case character by character, as Go's `strings.ToLower` does.
fn lower_case<'a>(text: &'a str, arena: &'a Bump) -> &'a str {
    let lower = text.chars().map(|c| c.to_lowercase().next().unwrap_or(c));
    bumpalo::collections::String::from_iter_in(lower, arena).into_bump_str()
}

/// Reads a CustomResourceDefinitionSpec.
pub(super) fn spec<'a>(reader: &mut Reader<'a>, node: Node<'a>, api_version: ApiVersion) -> Spec<'a> {
    let beta = api_version == ApiVersion::V1beta1;
    let mut spec = Spec { at: node.index(), ..Spec::default() };
    fields(reader, node, "a spec", |r, key, value| {
        match key {
            "group" => spec.group = r.text(value),
            "names" => {
                spec.names = names(r, value);
                spec.names_at = Some(value.index());
            }
            "scope" => spec.scope = r.text(value),
            "versions" => spec.versions = versions(r, value, beta),
            "conversion" => conversion(r, value, beta),
            "preserveUnknownFields" => spec.preserve_unknown_fields = r.optional_boolean(value),
            "version" if beta => spec.version = r.text(value),
            "validation" if beta => spec.all.schema = validation(r, value),
            key => return beta && part(r, &mut spec.all, key, value, beta),
        }
        true
    });
    spec
}

/// Reads CustomResourceDefinitionNames.
pub(super) fn names<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Names<'a> {
    let mut names = Names::default();
    fields(reader, node, "a mapping of names", |r, key, value| {
        match key {
            "plural" => names.plural = r.text(value),
            "singular" => names.singular = r.text(value),
            "shortNames" => names.short_names = r.texts(value),
            "kind" => names.kind = r.text(value),
            "listKind" => names.list_kind = r.text(value),
            "categories" => names.categories = r.texts(value),
            _ => return false,
        }
        true
    });
    names
}

fn versions<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) -> &'a [WrittenVersion<'a>] {
    list(reader, node, "a list of versions", |r, item| {
        let mut version = WrittenVersion { at: item.index(), ..WrittenVersion::default() };
        fields(r, item, "a version", |r, key, value| {
            match key {
                "name" => version.name = r.text(value),
                "served" => version.served = r.boolean(value),
                "storage" => version.storage = r.boolean(value),
                "deprecated" => version.deprecated = r.boolean(value),
                "deprecationWarning" => version.deprecation_warning = optional_text(r, value),
                "schema" => version.parts.schema = validation(r, value),
                key => return part(r, &mut version.parts, key, value, beta),
            }
            true
        });
        version
    })
}

/// Reads a field that v1beta1 also has at the top. Returns whether `key` is such a field.
fn part<'a>(reader: &mut Reader<'a>, parts: &mut Parts<'a>, key: &str, value: Node<'a>, beta: bool) -> bool {
    match key {
        "subresources" => parts.subresources = subresources(reader, value),
        "additionalPrinterColumns" => {
            let columns = list(reader, value, "a list of printer columns", |r, item| column(r, item, beta));
            parts.columns = (!value.is_null()).then_some(columns);
        }
        "selectableFields" => {
            let paths = list(reader, value, "a list of selectable fields", selectable_field);
            parts.selectable_fields = (!value.is_null()).then_some(paths);
        }
        _ => return false,
    }
    true
}

/// Reads a CustomResourceValidation. Returns the schema, if the value and the schema in it are not null.
#[allow(clippy::option_option)]
fn validation<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<Option<&'a Schema<'a>>> {
    let mut schema = None;
    fields(reader, node, "a mapping with openAPIV3Schema", |r, key, value| {
        if key != "openAPIV3Schema" {
            return false;
        }
        if !value.is_null() {
            let read = r.schema(value);
            schema = Some(&*r.arena().alloc(read));
        }
        true
    });
    (!node.is_null()).then_some(schema)
}

fn subresources<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<Subresources<'a>> {
    let mut subresources = Subresources::default();
    fields(reader, node, "a mapping of subresources", |r, key, value| {
        match key {
            "status" => {
                fields(r, value, "an empty mapping", |_, _, _| false);
                subresources.status = !value.is_null();
            }
            "scale" => {
                let scale = scale(r, value);
                subresources.scale = (!value.is_null()).then_some(scale);
            }
            _ => return false,
        }
        true
    });
    (!node.is_null()).then_some(subresources)
}

fn scale<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Scale<'a> {
    let mut scale = Scale::default();
    fields(reader, node, "a scale subresource", |r, key, value| {
        match key {
            "specReplicasPath" => scale.spec_replicas_path = r.text(value),
            "statusReplicasPath" => scale.status_replicas_path = r.text(value),
            "labelSelectorPath" => scale.label_selector_path = optional_text(r, value),
            _ => return false,
        }
        true
    });
    scale
}

fn column<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) -> Column<'a> {
    let json_path = if beta { "JSONPath" } else { "jsonPath" };
    let mut column = Column::default();
    fields(reader, node, "a printer column", |r, key, value| {
        match key {
            "name" => column.name = r.text(value),
            "type" => column.column_type = r.text(value),
            "format" => column.format = r.text(value),
            "description" => column.description = r.text(value),
            "priority" => column.priority = r.integer32(value).unwrap_or(0),
            key if key == json_path => column.json_path = r.text(value),
            _ => return false,
        }
        true
    });
    column
}

fn selectable_field<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> &'a str {
    let mut path = "";
    fields(reader, node, "a selectable field", |r, key, value| {
        let known = key == "jsonPath";
        if known {
            path = r.text(value);
        }
        known
    });
    path
}

/// Checks a CustomResourceConversion.
fn conversion<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) {
    fields(reader, node, "a conversion", |r, key, value| {
        match key {
            "strategy" => {
                r.text(value);
            }
            "webhookClientConfig" if beta => client_config(r, value),
            "conversionReviewVersions" if beta => texts(r, value),
            "webhook" if !beta => fields(r, value, "a webhook", |r, key, value| {
                match key {
                    "clientConfig" => client_config(r, value),
                    "conversionReviewVersions" => texts(r, value),
                    _ => return false,
                }
                true
            }),
            _ => return false,
        }
        true
    });
}

fn client_config<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    fields(reader, node, "a client configuration", |r, key, value| {
        match key {
            "url" => {
                r.text(value);
            }
            "caBundle" => bytes(r, value),
            "service" => fields(r, value, "a reference to a service", |r, key, value| {
                match key {
                    "namespace" | "name" | "path" => {
                        r.text(value);
                    }
                    "port" => {
                        r.integer32(value);
                    }
                    _ => return false,
                }
                true
            }),
            _ => return false,
        }
        true
    });
}

/// Reads a string. Null is `None`.
fn optional_text<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<&'a str> {
    let text = reader.text(node);
    (!node.is_null()).then_some(text)
}

/// Reads a list. Null is the empty list.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    expected: &str,
    mut read: impl FnMut(&mut Reader<'a>, Node<'a>) -> T,
) -> &'a [T] {
    let mut items = bumpalo::collections::Vec::with_capacity_in(node.len(), reader.arena());
    reader.each_item(node, expected, |reader, item| items.push(read(reader, item)));
    items.into_bump_slice()
}
