//! `spec`, its defaults, and its conversion from v1beta1 to v1.

use super::fields::fields;
use super::scalar::bytes;
use crate::written::{self, ClientConfig, Conversion, Service, Spec, Subresources, Validation};
use crate::{ApiVersion, Column, Crd, Names, Scale, Scope, Status, Version};
use kubeshape_schema::{Bump, read::Reader};
use kubeshape_yaml::Node;

/// Sets defaults and converts v1beta1 to v1, as upstream's `SetDefaults_CustomResourceDefinitionSpec` of both versions
/// and `Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_…` do.
pub(super) fn into_crd<'a>(
    spec: &Spec<'a>,
    name: &'a str,
    api_version: ApiVersion,
    status: Status<'a>,
    at: u32,
    arena: &'a Bump,
) -> Crd<'a> {
    let beta = api_version == ApiVersion::V1beta1;
    let mut names = spec.names;
    if names.singular.is_empty() {
        names.singular = lower_case(names.kind, arena);
    }
    if names.list_kind.is_empty() && !names.kind.is_empty() {
        let mut list_kind = bumpalo::collections::String::from_str_in(names.kind, arena);
        list_kind.push_str("List");
        names.list_kind = list_kind.into_bump_str();
    }
    let scope = match spec.scope {
        "Namespaced" => Scope::Namespaced,
        "" if beta => Scope::Namespaced,
        "Cluster" => Scope::Cluster,
        _ => Scope::Other,
    };
    let single = spec.single_version();
    let written = single.as_ref().map_or(spec.versions, std::slice::from_ref);
    Crd {
        name,
        api_version,
        group: spec.group,
        names,
        scope,
        preserve_unknown_fields: spec.preserve_unknown_fields.unwrap_or(beta),
        versions: arena.alloc_slice_fill_iter(written.iter().map(|version| published(version, spec))),
        status,
        at,
        names_at: spec.at("names"),
    }
}

/// Returns a version with the members for all versions. Null and absent ones are not copied to the version.
fn published<'a>(version: &written::Version<'a>, all: &Spec<'a>) -> Version<'a> {
    let subresources = all.subresources.or(version.subresources).unwrap_or_default();
    Version {
        name: version.name,
        served: version.served,
        storage: version.storage,
        deprecated: version.deprecated,
        deprecation_warning: version.deprecation_warning,
        schema: all.validation.or(version.schema).and_then(|validation| validation.schema),
        status: subresources.status,
        scale: subresources.scale,
        columns: all.columns.or(version.columns).unwrap_or_default(),
        selectable_fields: all.selectable_fields.or(version.selectable_fields).unwrap_or_default(),
        at: version.node.index(),
    }
}

/// Converts to lower case character by character, as Go's `strings.ToLower` does.
fn lower_case<'a>(text: &'a str, arena: &'a Bump) -> &'a str {
    let lower = text.chars().map(|c| c.to_lowercase().next().unwrap_or(c));
    bumpalo::collections::String::from_iter_in(lower, arena).into_bump_str()
}

/// Reads a CustomResourceDefinitionSpec, with all versions or the one with the node `only`.
pub(super) fn spec<'a>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    api_version: ApiVersion,
    only: Option<u32>,
) -> Spec<'a> {
    let beta = api_version == ApiVersion::V1beta1;
    let mut spec = Spec::empty(node, !node.is_null());
    fields(reader, node, "a spec", |r, key, value| {
        match key {
            "group" => spec.group = r.text(value),
            "names" => spec.names = names(r, value),
            "scope" => spec.scope = r.text(value),
            "versions" => {
                spec.versions = match only.filter(|_| !value.is_empty()).map(|at| value.document().node(at)) {
                    Some(item) => r.arena().alloc_slice_copy(&[version(r, item, beta)]),
                    None => r.list(value, "a list of versions", |r, item| version(r, item, beta)),
                }
            }
            "conversion" => spec.conversion = conversion(r, value, beta),
            "preserveUnknownFields" => spec.preserve_unknown_fields = r.optional_boolean(value),
            "version" if beta => spec.version = r.text(value),
            "validation" if beta => spec.validation = validation(r, value),
            "subresources" if beta => spec.subresources = subresources(r, value),
            "additionalPrinterColumns" if beta => spec.columns = columns(r, value, beta),
            "selectableFields" if beta => spec.selectable_fields = selectable_fields(r, value),
            _ => return false,
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

fn version<'a>(reader: &mut Reader<'a>, item: Node<'a>, beta: bool) -> written::Version<'a> {
    let mut version = written::Version::empty(item);
    fields(reader, item, "a version", |r, key, value| {
        match key {
            "name" => version.name = r.text(value),
            "served" => version.served = r.boolean(value),
            "storage" => version.storage = r.boolean(value),
            "deprecated" => version.deprecated = r.boolean(value),
            "deprecationWarning" => version.deprecation_warning = r.optional_text(value),
            "schema" => version.schema = validation(r, value),
            "subresources" => version.subresources = subresources(r, value),
            "additionalPrinterColumns" => version.columns = columns(r, value, beta),
            "selectableFields" => version.selectable_fields = selectable_fields(r, value),
            _ => return false,
        }
        true
    });
    version
}

/// Reads a CustomResourceValidation. Returns the schema, if the value and the schema in it are not null.
fn validation<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<Validation<'a>> {
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
    (!node.is_null()).then_some(Validation { schema })
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

fn scale<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Scale<&'a str> {
    let mut scale = Scale::default();
    fields(reader, node, "a scale subresource", |r, key, value| {
        match key {
            "specReplicasPath" => scale.spec_replicas_path = r.text(value),
            "statusReplicasPath" => scale.status_replicas_path = r.text(value),
            "labelSelectorPath" => scale.label_selector_path = r.optional_text(value),
            _ => return false,
        }
        true
    });
    scale
}

fn columns<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) -> Option<&'a [Column<&'a str>]> {
    let columns = reader.list(node, "a list of printer columns", |r, item| column(r, item, beta));
    (!node.is_null()).then_some(columns)
}

fn column<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) -> Column<&'a str> {
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

fn selectable_fields<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<&'a [&'a str]> {
    let paths = reader.list(node, "a list of selectable fields", selectable_field);
    (!node.is_null()).then_some(paths)
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

/// Reads a CustomResourceConversion.
fn conversion<'a>(reader: &mut Reader<'a>, node: Node<'a>, beta: bool) -> Option<Conversion<'a>> {
    let mut conversion = Conversion::default();
    fields(reader, node, "a conversion", |r, key, value| {
        match key {
            "strategy" => conversion.strategy = r.text(value),
            "webhookClientConfig" if beta => conversion.client_config = client_config(r, value),
            "conversionReviewVersions" if beta => conversion.review_versions = r.texts(value),
            "webhook" if !beta => fields(r, value, "a webhook", |r, key, value| {
                match key {
                    "clientConfig" => conversion.client_config = client_config(r, value),
                    "conversionReviewVersions" => conversion.review_versions = r.texts(value),
                    _ => return false,
                }
                true
            }),
            _ => return false,
        }
        true
    });
    (!node.is_null()).then_some(conversion)
}

fn client_config<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Option<ClientConfig<'a>> {
    let mut config = ClientConfig::default();
    fields(reader, node, "a client configuration", |r, key, value| {
        match key {
            "url" => config.url = r.optional_text(value),
            "caBundle" => config.ca_bundle = bytes(r, value),
            "service" => {
                let service = service(r, value);
                config.service = (!value.is_null()).then_some(service);
            }
            _ => return false,
        }
        true
    });
    (!node.is_null()).then_some(config)
}

fn service<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Service<'a> {
    let mut service = Service::default();
    fields(reader, node, "a reference to a service", |r, key, value| {
        match key {
            "namespace" => service.namespace = r.text(value),
            "name" => service.name = r.text(value),
            "path" => service.path = r.optional_text(value),
            "port" => service.port = r.integer32(value),
            _ => return false,
        }
        true
    });
    service
}
