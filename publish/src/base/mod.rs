//! Kubernetes' own definitions and texts, which stand in every document of a CustomResourceDefinition.

mod builtin;
mod documents;

pub use documents::BaseError;

use crate::names::{AUTOSCALING, META};
use crate::paths::{Form, Paths, write_member};
use crate::texts::Texts;
use bytes::Bytes;
use kubeshape_schema::{Additional, Bump, Items, Json, Property, Schema, print};
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

/// One shared definition, printed for each document that holds it.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) v3: Bytes,
    pub(crate) v2: Bytes,
    pub(crate) v2_served: Bytes,
    /// Belongs to the scale subresource.
    pub(crate) scale: bool,
}

/// Kubernetes' own definitions and texts.
///
/// # Example: the definitions of Kubernetes 1.36 with the texts of the `k8s-openapi` crate
/// ```
/// let base = kubeshape_publish::Base::builtin();
/// assert_eq!(base.definition_names().count(), 16);
/// ```
#[derive(Clone, Debug)]
pub struct Base {
    pub(crate) texts: Texts,
    /// Sorted by name.
    pub(crate) definitions: Vec<Definition>,
    /// The members of the closed set in v3 as they stand in a document, without and with those of the scale
    /// subresource: one text that documents share.
    pub(crate) closed_v3: [Bytes; 2],
    /// Paths by form, then cluster-scoped and namespaced.
    pub(crate) paths: [[Paths; 2]; 3],
    pub(crate) smd: crate::smd::MetaTypes,
}

impl Base {
    /// The definitions of Kubernetes 1.36. Descriptions come from the `k8s-openapi` crate, those of query
    /// parameters that it lacks are kubeshape's own: the structure of every document is the server's, its
    /// hash is not. For equal bytes use [`Base::from_documents`].
    pub fn builtin() -> Base {
        let source = builtin::definitions();
        let json = source.to_string();
        let document = documents::own(&json);
        let arena = Bump::new();
        Base::assemble(&arena, &documents::parse_definitions(&document, &arena), builtin::texts(&source))
    }

    /// The definitions, parameter texts and group versions of a cluster's OpenAPI documents: v3 documents
    /// of group versions such as `apis/apps/v1`, and the v2 document for the kinds of `DeleteOptions`.
    /// What the documents lack is taken from [`Base::builtin`].
    ///
    /// `documents` are pairs of a name for errors and the JSON or YAML text. Their order does not matter.
    ///
    /// # Errors
    /// A document cannot be read or is no OpenAPI document.
    pub fn from_documents(documents: &[(String, Vec<u8>)]) -> Result<Base, BaseError> {
        let mut sorted: Vec<_> = documents.iter().collect();
        sorted.sort();
        let read = documents::read_all(&sorted)?;
        let source = builtin::definitions();
        let json = source.to_string();
        let own = documents::own(&json);
        let arena = Bump::new();
        let mut found = documents::Found::new(&arena);
        for document in &read {
            found.add(document)?;
        }
        let definitions = found.definitions(&documents::parse_definitions(&own, &arena));
        let texts = found.texts(builtin::texts(&source), &definitions);
        Ok(Base::assemble(&arena, &definitions, texts))
    }

    /// Names of the definitions in the closed set, sorted.
    pub fn definition_names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(|definition| definition.name.as_str())
    }

    fn assemble<'a>(arena: &'a Bump, definitions: &[(String, Schema<'a>)], texts: Texts) -> Base {
        let mut printed: Vec<Definition> = definitions
            .iter()
            .map(|(name, schema)| {
                let (mut v3, mut v2, mut v2_served) = (Vec::new(), Vec::new(), Vec::new());
                print::schema(&mut v3, schema, print::Style::V3);
                let unwrapped = to_v2(schema, arena);
                print::schema(&mut v2, &unwrapped, print::Style::V2);
                print::schema(&mut v2_served, &unwrapped, print::Style::V2_SERVED);
                Definition {
                    name: name.clone(),
                    v3: v3.into(),
                    v2: v2.into(),
                    v2_served: v2_served.into(),
                    scale: name.starts_with(AUTOSCALING),
                }
            })
            .collect();
        printed.sort_by(|a, b| kubeshape_schema::order::utf16(&a.name, &b.name));
        let paths = [Form::V3, Form::V2, Form::V2Served]
            .map(|form| [false, true].map(|namespaced| Paths::new(namespaced, &texts, form)));
        let models: Vec<(&str, &Schema<'_>)> =
            definitions.iter().map(|(name, schema)| (name.as_str(), schema)).collect();
        let closed_v3 = [false, true].map(|scale| {
            let mut out = Vec::new();
            for definition in printed.iter().filter(|definition| scale || !definition.scale) {
                write_member(out.is_empty(), &definition.name, Form::V3, &mut out);
                out.extend_from_slice(&definition.v3);
            }
            Bytes::from(out)
        });
        Base { smd: crate::smd::MetaTypes::new(&models), texts, definitions: printed, closed_v3, paths }
    }

    /// The shared definitions that a document holds beside these of its own: the closed set, unless one of
    /// them takes the name of a shared one, or there is only one, because the kind is called like its list
    /// and so nothing has object metadata. Then what nothing reaches is left out.
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

    /// The structured-merge-diff types of some of the shared definitions.
    pub(crate) fn types_of(definitions: &[&Definition]) -> crate::smd::MetaTypes {
        let sources: Vec<(&str, String)> =
            definitions.iter().map(|d| (d.name.as_str(), String::from_utf8_lossy(&d.v3).into_owned())).collect();
        let documents: Vec<_> = sources.iter().map(|(name, json)| (*name, documents::own(json))).collect();
        let arena = Bump::new();
        let schemas: Vec<(&str, Schema<'_>)> =
            documents.iter().filter_map(|(name, document)| Some((*name, document.schema(&arena)?))).collect();
        let models: Vec<(&str, &Schema<'_>)> = schemas.iter().map(|(name, schema)| (*name, schema)).collect();
        crate::smd::MetaTypes::new(&models)
    }

    /// A shared definition.
    pub(crate) fn definition(&self, name: &str) -> Option<&Definition> {
        let at = self.definitions.binary_search_by(|d| kubeshape_schema::order::utf16(&d.name, name)).ok()?;
        self.definitions.get(at)
    }

    pub(crate) fn paths(&self, form: Form, namespaced: bool) -> &Paths {
        &self.paths[form as usize][usize::from(namespaced)]
    }
}

/// Full names of the closed set.
pub(crate) fn closed_set() -> impl Iterator<Item = String> {
    META_KINDS
        .iter()
        .map(|kind| format!("{META}{kind}"))
        .chain(SCALE_KINDS.iter().map(|kind| format!("{AUTOSCALING}{kind}")))
}

/// A property's description in a JSON object of definitions.
fn text(definitions: &serde_json::Value, kind: &str, property: &str) -> String {
    definitions[format!("{META}{kind}")]["properties"][property]["description"].as_str().unwrap_or_default().to_owned()
}

/// A definition of a v3 document as a v2 document has it: `allOf` with one reference is that reference
/// beside its siblings.
fn to_v2<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let mut out = *schema;
    let properties =
        schema.properties.iter().map(|p| Property { schema: to_v2(&p.schema, arena), ..*p }).collect::<Vec<_>>();
    out.properties = arena.alloc_slice_copy(&properties);
    out.items = match schema.items {
        Some(Items::One(item)) => Some(Items::One(arena.alloc(to_v2(item, arena)))),
        other => other,
    };
    out.additional = match schema.additional {
        Some(Additional::Schema(inner)) => Some(Additional::Schema(arena.alloc(to_v2(inner, arena)))),
        other => other,
    };
    let mut extra = *schema.extra();
    if let [only] = extra.all_of
        && !only.reference.is_empty()
    {
        out.reference = only.reference;
        extra.all_of = &[];
    }
    if let Some(name) = out.reference.strip_prefix("#/components/schemas/") {
        out.reference = arena.alloc_str(&format!("#/definitions/{name}"));
    }
    if schema.extra.is_some() {
        out.extra = Some(arena.alloc(extra));
    }
    out
}

/// A group-version-kind list as definitions have it, from `group, version` pairs.
pub(crate) fn gvk_list<'a>(pairs: &[(&'a str, &'a str)], kind: &'a str, arena: &'a Bump) -> Json<'a> {
    let items: Vec<Json<'a>> = pairs.iter().map(|(group, version)| gvk(group, version, kind, arena)).collect();
    Json::Array(arena.alloc_slice_copy(&items))
}

/// A group-version-kind object.
pub(crate) fn gvk<'a>(group: &'a str, version: &'a str, kind: &'a str, arena: &'a Bump) -> Json<'a> {
    Json::Object(arena.alloc_slice_copy(&[
        ("group", Json::Str(group)),
        ("kind", Json::Str(kind)),
        ("version", Json::Str(version)),
    ]))
}
