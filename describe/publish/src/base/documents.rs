//! Reads the shared definitions and the descriptions from a cluster's own documents.

use super::{closed_set, gvk_list};
use crate::names::META;
use crate::operations::query_parameters;
use crate::texts::Texts;
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Extra, Json, Profile, Property, Release, Schema, order};
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};
use std::collections::{BTreeMap, BTreeSet};

/// Why a document of a base cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// It cannot be read.
    #[error("{name}: {error}")]
    Unreadable {
        /// Name of the document.
        name: String,
        /// What is wrong with the document.
        error: kubeshape_yaml::Error,
    },
    /// It is not an OpenAPI document.
    #[error(
        "{name}: found neither `openapi: 3…` nor `swagger: \"2.0\"` at the root; give OpenAPI documents of a cluster"
    )]
    NotOpenApi {
        /// Name of the document.
        name: String,
    },
}

/// A document with its tape.
pub(super) struct ReadDocument<'d> {
    name: &'d str,
    source: &'d str,
    tape: Tape,
}

/// Reads the first YAML document of every file.
pub(super) fn read_all<'d>(documents: &[&'d (String, Vec<u8>)]) -> Result<Vec<ReadDocument<'d>>, BaseError> {
    documents
        .iter()
        .map(|(name, bytes)| {
            let unreadable = |error| BaseError::Unreadable { name: name.clone(), error };
            let mut stream = Stream::new(bytes, Limits::default()).map_err(unreadable)?;
            let source = stream.source();
            let mut tape = Tape::new();
            stream.next(&mut tape).transpose().map_err(unreadable)?;
            Ok(ReadDocument { name, source, tape })
        })
        .collect()
}

/// The contents of the documents that were read so far. If several have the same definition, the first by name is used.
pub(super) struct Collected<'a> {
    arena: &'a Bump,
    definitions: BTreeMap<String, Schema<'a>>,
    /// Definitions of v2 documents. Only their descriptions are used.
    described: BTreeMap<String, Schema<'a>>,
    texts: Texts,
    /// Names of all query parameters.
    parameters: BTreeSet<&'a str>,
    object_metadata: BTreeMap<&'a str, usize>,
    delete_options: Option<Json<'a>>,
    /// The newest release named in a document.
    release: Option<Release>,
}

/// The v2 document of a cluster lists these groups for `DeleteOptions`; documents of CustomResourceDefinitions do not,
/// because their list comes from client-go.
const NOT_IN_CLIENT_GO: [&str; 4] =
    ["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"];

const OPERATIONS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

impl<'a> Collected<'a> {
    pub(super) fn new(arena: &'a Bump) -> Self {
        Collected {
            arena,
            definitions: BTreeMap::new(),
            described: BTreeMap::new(),
            texts: Texts::default(),
            parameters: BTreeSet::new(),
            object_metadata: BTreeMap::new(),
            delete_options: None,
            release: None,
        }
    }

    pub(super) fn add(&mut self, document: &'a ReadDocument<'_>) -> Result<(), BaseError> {
        let not_openapi = || BaseError::NotOpenApi { name: document.name.to_owned() };
        let root = document.tape.document(document.source).root().ok_or_else(not_openapi)?;
        if root.get("openapi").is_some_and(|v| v.text().starts_with('3')) {
            let schemas = root.get("components").and_then(|c| c.get("schemas"));
            self.add_definitions(schemas, true);
        } else if root.get("swagger").is_some_and(|v| v.text() == "2.0") {
            let definitions = root.get("definitions");
            self.add_definitions(definitions, false);
            let kinds = definitions
                .and_then(|d| d.get(&format!("{META}DeleteOptions")))
                .and_then(|d| d.get("x-kubernetes-group-version-kind"));
            if let (Some(kinds), None) = (kinds, self.delete_options) {
                self.delete_options = Some(Json::read(kinds, self.arena));
            }
        } else {
            return Err(not_openapi());
        }
        let version = root.get("info").and_then(|info| info.get("version"));
        let kubernetes = root.get("info").and_then(|info| info.get("title")).is_some_and(|t| t.text() == "Kubernetes");
        let release = version.filter(|_| kubernetes).and_then(|version| version.text().parse().ok());
        self.release = self.release.max(release);
        self.add_parameters(root);
        Ok(())
    }

    /// Returns the release of the server, if a document names a known one.
    pub(super) fn release(&self) -> Option<Release> {
        self.release
    }

    fn add_definitions(&mut self, definitions: Option<Node<'a>>, v3: bool) {
        let Some(definitions) = definitions else { return };
        let wanted: Vec<String> = closed_set().collect();
        for (key, value) in definitions.pairs() {
            if let Some(name) = wanted.iter().find(|name| *name == key.text()) {
                let into = if v3 { &mut self.definitions } else { &mut self.described };
                if !into.contains_key(name) {
                    into.insert(name.clone(), Reader::new(self.arena, Rules::Document(Profile::Kube)).schema(value));
                }
            } else if let Some(text) = object_metadata(value) {
                *self.object_metadata.entry(text).or_default() += 1;
            }
        }
    }

    fn add_parameters(&mut self, root: Node<'a>) {
        let Some(paths) = root.get("paths") else { return };
        for (_, item) in paths.pairs() {
            for (method, value) in item.pairs() {
                let parameters = if method.text() == "parameters" {
                    Some(value)
                } else if OPERATIONS.contains(&method.text()) {
                    value.get("parameters")
                } else {
                    None
                };
                for parameter in parameters.into_iter().flat_map(Node::items) {
                    self.add_parameter(root, parameter, method.text() == "patch");
                }
            }
        }
    }

    fn add_parameter(&mut self, root: Node<'a>, parameter: Node<'a>, patch: bool) {
        let parameter = match parameter.get("$ref").and_then(|r| r.text().strip_prefix("#/parameters/")) {
            Some(name) => root.get("parameters").and_then(|p| p.get(name)),
            None => Some(parameter),
        };
        let member = |name| parameter.and_then(|p| p.get(name)).map_or("", |v| v.text());
        let (name, text) = (member("name"), member("description"));
        if member("in") == "query" {
            self.parameters.insert(name);
        }
        if text.is_empty() {
            return;
        }
        match member("in") {
            "path" if name == "namespace" && self.texts.namespace.is_empty() => {
                text.clone_into(&mut self.texts.namespace);
            }
            "query" if name == "fieldManager" && patch && self.texts.patch_field_manager.is_empty() => {
                text.clone_into(&mut self.texts.patch_field_manager);
            }
            "query" if query_parameters().any(|known| known == name) => {
                self.texts.query.entry(name.to_owned()).or_insert_with(|| text.to_owned());
            }
            _ => {}
        }
    }

    /// Returns the shared definitions. Those that the documents lack come from `fallback`.
    pub(super) fn definitions(&self, fallback: &[(&'a str, Schema<'a>)]) -> Vec<(&'a str, Schema<'a>)> {
        let mut out = Vec::new();
        for &(name, ref own) in fallback {
            let mut schema = match (self.definitions.get(name), self.described.get(name)) {
                (Some(found), _) => *found,
                (None, Some(described)) => self.describe(own, described),
                (None, None) => *own,
            };
            if name.ends_with(".DeleteOptions") {
                schema = self.with_kinds(schema, own);
            }
            out.push((name, schema));
        }
        out
    }

    /// Does the same, if the documents are all that a release has: definitions that they lack do not exist. They have
    /// no descriptions; with `described`, they get those of `fallback`.
    pub(super) fn definitions_of_release(
        &self,
        fallback: &[(&'a str, Schema<'a>)],
        described: bool,
    ) -> Vec<(&'a str, Schema<'a>)> {
        let mut all = self.definitions(fallback);
        all.retain(|(name, _)| self.definitions.contains_key(*name));
        for (name, schema) in all.iter_mut().filter(|_| described) {
            if let Some((_, own)) = fallback.iter().find(|(other, _)| other == name) {
                *schema = self.describe(schema, own);
            }
        }
        all
    }

    /// Returns the descriptions of `fallback` without query parameters that the documents lack.
    pub(super) fn texts_of_release(&self, mut fallback: Texts) -> Texts {
        fallback.query.retain(|name, _| self.parameters.contains(name.as_str()));
        fallback
    }

    /// Returns a built-in schema with the descriptions of another one.
    fn describe(&self, own: &Schema<'a>, described: &Schema<'a>) -> Schema<'a> {
        let properties: Vec<Property<'a>> = own
            .properties
            .iter()
            .map(|p| {
                let mut schema = p.schema;
                if let Some(other) = described.property(p.name) {
                    schema.description = other.description;
                }
                Property { schema, ..*p }
            })
            .collect();
        Schema { description: described.description, properties: self.arena.alloc_slice_copy(&properties), ..*own }
    }

    /// Returns `DeleteOptions` with client-go's group-version-kinds: those of the v2 document without four groups, or
    /// else the built-in ones. The v3 documents of group versions have only one or two of them.
    fn with_kinds(&self, schema: Schema<'a>, own: &Schema<'a>) -> Schema<'a> {
        const KEY: &str = "x-kubernetes-group-version-kind";
        let kinds = match self.delete_options {
            Some(Json::Array(kinds)) => {
                let pairs: Vec<(&str, &str)> = kinds
                    .iter()
                    .map(|kind| {
                        let member = |name| kind.get(name).and_then(Json::as_str).unwrap_or_default();
                        (member("group"), member("version"))
                    })
                    .filter(|(group, _)| !NOT_IN_CLIENT_GO.contains(group))
                    .collect();
                gvk_list(&pairs, "DeleteOptions", self.arena)
            }
            _ => own.extra().extensions.iter().find(|(key, _)| *key == KEY).map_or(Json::Null, |(_, v)| *v),
        };
        let mut extensions: Vec<(&'a str, Json<'a>)> =
            schema.extra().extensions.iter().copied().filter(|(key, _)| *key != KEY).collect();
        extensions.push((KEY, kinds));
        extensions.sort_by(|a, b| order::utf16(a.0, b.0));
        let extra = Extra { extensions: self.arena.alloc_slice_copy(&extensions), ..*schema.extra() };
        Schema { extra: Some(self.arena.alloc(extra)), ..schema }
    }

    /// Returns the descriptions. Those that the documents lack come from `fallback`.
    pub(super) fn texts(&self, mut fallback: Texts, definitions: &[(&str, Schema<'a>)]) -> Texts {
        let status = definitions.iter().find(|(name, _)| name.ends_with("meta.v1.Status")).map(|(_, schema)| schema);
        let of_status = |name| status.and_then(|s| s.property(name)).map_or("", |p| p.description);
        let object_metadata = self.object_metadata.iter().max_by_key(|(_, count)| **count).map_or("", |(text, _)| text);
        for (own, found) in [
            (&mut fallback.api_version, of_status("apiVersion")),
            (&mut fallback.kind, of_status("kind")),
            (&mut fallback.list_metadata, of_status("metadata")),
            (&mut fallback.object_metadata, object_metadata),
            (&mut fallback.namespace, self.texts.namespace.as_str()),
            (&mut fallback.patch_field_manager, self.texts.patch_field_manager.as_str()),
        ] {
            if !found.is_empty() {
                found.clone_into(own);
            }
        }
        fallback.query.extend(self.texts.query.clone());
        fallback
    }
}

/// Returns the description of a kind's `metadata`, if it is an `ObjectMeta`.
fn object_metadata(definition: Node<'_>) -> Option<&str> {
    let metadata = definition.get("properties")?.get("metadata")?;
    let reference = match metadata.get("allOf") {
        Some(all) if all.kind() == Kind::Seq => all.items().next()?.get("$ref")?,
        _ => metadata.get("$ref")?,
    };
    let text = metadata.get("description")?.as_str()?;
    reference.text().ends_with("/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").then_some(text)
}
