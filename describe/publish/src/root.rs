//! The published schemas of a kind and of its list (upstream: `buildKubeNative`, `addEmbeddedProperties` and
//! `buildListSchema` in `pkg/controller/openapi/builder` of apiextensions-apiserver).

use crate::base::{Base, gvk};
use crate::names;
use crate::names::META;
use crate::texts::Texts;
use kubeshape_schema::{
    Additional, Bump, Code, Dialect, Extra, Flags, Items, Json, Note, Property, Schema, Type, order,
};

/// Builds the schemas of one version of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootBuilder<'a> {
    pub(crate) arena: &'a Bump,
    pub(crate) base: &'a Base,
    /// Decides how references are written: in v3 they are wrapped in `allOf`, in v2 they have siblings.
    pub(crate) dialect: Dialect,
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    /// The selectable fields of the version, for both schemas, if the server publishes them.
    pub(crate) selectable_fields: Option<&'a [&'a str]>,
}

impl<'a> RootBuilder<'a> {
    /// Returns the kind's schema. `schema` is the structural schema that is used, reduced for v2; with `None`, any
    /// object is valid.
    pub(crate) fn kind(&self, schema: Option<&Schema<'a>>, kind: &'a str) -> Schema<'a> {
        let mut root = match schema {
            None => Schema { ty: Type::Object, ..Schema::default() },
            Some(schema) => {
                let root = Schema { properties: self.with_standard(schema.properties, false), ..*schema };
                if root.subtree.any(Flags::EMBEDDED_RESOURCE) { self.embed(&root) } else { root }
            }
        };
        self.extend(&mut root, kind);
        root
    }

    /// Returns the list's schema.
    pub(crate) fn list(&self, kind: &'a str, list_kind: &'a str, plural: &'a str, definition: &str) -> Schema<'a> {
        let texts = &self.base.texts;
        // Every description of types ends with the URL of the API conventions and a fragment.
        let conventions = texts.api_version.rsplit("More info: ").next().unwrap_or_default();
        let conventions = conventions.split('#').next().unwrap_or_default();
        let items = Schema {
            description: self.arena.alloc_str(&format!("List of {plural}. More info: {conventions}")),
            ty: Type::Array,
            items: Some(Items::One(self.arena.alloc(self.bare_reference(definition)))),
            ..Schema::default()
        };
        let mut properties = vec![property("items", items)];
        properties.extend(self.standard(false, &texts.list_metadata, "ListMeta"));
        properties.sort_by(|a, b| order::utf16(a.name, b.name));
        let mut list = Schema {
            description: self.arena.alloc_str(&format!("{list_kind} is a list of {kind}")),
            ty: Type::Object,
            required: &["items"],
            properties: self.arena.alloc_slice_copy(&properties),
            ..Schema::default()
        };
        self.extend(&mut list, list_kind);
        list
    }

    /// Adds the extensions that every published kind has.
    fn extend(&self, schema: &mut Schema<'a>, kind: &'a str) {
        let kinds = Json::Array(self.arena.alloc_slice_copy(&[gvk(self.group, self.version, kind, self.arena)]));
        let mut extensions = vec![("x-kubernetes-group-version-kind", kinds)];
        if let Some(fields) = self.selectable_fields {
            let fields: Vec<Json<'a>> = fields
                .iter()
                .map(|path| {
                    let path = Json::Str(path.strip_prefix('.').unwrap_or(path));
                    Json::Object(self.arena.alloc_slice_copy(&[("fieldPath", path)]))
                })
                .collect();
            extensions.push(("x-kubernetes-selectable-fields", Json::Array(self.arena.alloc_slice_copy(&fields))));
        }
        let extra = Extra { extensions: self.arena.alloc_slice_copy(&extensions), ..*schema.extra() };
        schema.extra = Some(self.arena.alloc(extra));
    }

    /// Returns `apiVersion`, `kind` and `metadata`.
    fn standard(&self, embedded: bool, metadata: &'a str, meta_kind: &str) -> [Property<'a>; 3] {
        let texts = &self.base.texts;
        let text = |description: &'a str| Schema { description, ty: Type::String, ..Schema::default() };
        let (api_version, kind) = if embedded {
            embedded_texts(texts, self.arena)
        } else {
            (texts.api_version.as_str(), texts.kind.as_str())
        };
        let mut reference = self.reference(&format!("{META}{meta_kind}"));
        reference.description = metadata;
        [property("apiVersion", text(api_version)), property("kind", text(kind)), property("metadata", reference)]
    }

    /// Returns the properties with the three standard ones, which replace the author's.
    fn with_standard(&self, properties: &'a [Property<'a>], embedded: bool) -> &'a [Property<'a>] {
        let standard = self.standard(embedded, &self.base.texts.object_metadata, "ObjectMeta");
        let mut out = bumpalo::collections::Vec::with_capacity_in(properties.len() + standard.len(), self.arena);
        let mut add = standard.iter().peekable();
        for own in properties {
            while let Some(p) = add.next_if(|p| order::utf16(p.name, own.name).is_lt()) {
                out.push(*p);
            }
            match add.next_if(|p| p.name == own.name) {
                Some(p) => out.push(Property { at: own.at, ..*p }),
                None => out.push(*own),
            }
        }
        out.extend(add.copied());
        out.into_bump_slice()
    }

    /// Adds the three standard properties to every embedded resource, children first.
    fn embed(&self, s: &Schema<'a>) -> Schema<'a> {
        let mut t = *s;
        if s.properties.iter().any(|p| p.schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
            let properties = self.arena.alloc_slice_copy(s.properties);
            for p in properties.iter_mut().filter(|p| p.schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
                p.schema = self.embed(&p.schema);
            }
            t.properties = properties;
        }
        if let Some(item) = s.item().filter(|item| item.subtree.any(Flags::EMBEDDED_RESOURCE)) {
            t.items = Some(Items::One(self.arena.alloc(self.embed(item))));
        }
        if let Some(inner) = s.additional_schema().filter(|inner| inner.subtree.any(Flags::EMBEDDED_RESOURCE)) {
            t.additional = Some(Additional::Schema(self.arena.alloc(self.embed(inner))));
        }
        let skipped = self.dialect == Dialect::V2 && s.flags.any(Flags::PRESERVE_UNKNOWN);
        if s.flags.any(Flags::EMBEDDED_RESOURCE) && !skipped {
            t.properties = self.with_standard(t.properties, true);
            let mut required = t.required.to_vec();
            for name in ["kind", "apiVersion"] {
                if !required.contains(&name) {
                    required.push(name);
                }
            }
            t.required = self.arena.alloc_slice_copy(&required);
        }
        t
    }

    fn reference(&self, definition: &str) -> Schema<'a> {
        let bare = self.bare_reference(definition);
        if self.dialect == Dialect::V2 {
            return bare;
        }
        let extra = Extra { all_of: self.arena.alloc_slice_copy(&[bare]), ..Extra::default() };
        Schema { extra: Some(self.arena.alloc(extra)), ..Schema::default() }
    }

    fn bare_reference(&self, definition: &str) -> Schema<'a> {
        let prefix = if self.dialect == Dialect::V3 { "#/components/schemas/" } else { "#/definitions/" };
        let definition = names::in_reference(definition);
        let reference = self.arena.alloc_str(&format!("{prefix}{definition}"));
        Schema { reference, ..Schema::default() }
    }
}

/// Returns the descriptions of `apiVersion` and `kind` in an embedded resource: they are shorter than at the root and
/// end with the same URLs.
fn embedded_texts<'a>(texts: &Texts, arena: &'a Bump) -> (&'a str, &'a str) {
    let more = |text: &str| text.find("More info: ").map_or_else(String::new, |at| text[at..].to_owned());
    let first = texts.api_version.split(". ").next().unwrap_or_default();
    let first = first.strip_prefix("APIVersion").unwrap_or(first);
    let api_version = format!("apiVersion{first}. {}", more(&texts.api_version));
    let kind =
        format!("kind is a string value representing the type of this object. In CamelCase. {}", more(&texts.kind));
    (arena.alloc_str(&api_version), arena.alloc_str(&kind))
}

fn property<'a>(name: &'a str, schema: Schema<'a>) -> Property<'a> {
    Property { name, at: 0, schema }
}

/// Notes what publishing loses or adds in every dialect: restrictions on the standard properties, and the required
/// properties of embedded resources.
pub(crate) fn losses<'a>(root: &Schema<'a>, notes: &mut Vec<Note<'a>>) {
    restricted(root, Code::RootMetadata, notes);
    embedded_losses(root, notes);
}

fn embedded_losses<'a>(s: &Schema<'a>, notes: &mut Vec<Note<'a>>) {
    if !s.subtree.any(Flags::EMBEDDED_RESOURCE) {
        return;
    }
    if s.flags.any(Flags::EMBEDDED_RESOURCE) {
        restricted(s, Code::EmbeddedMetadata, notes);
        let added: Vec<&str> = ["kind", "apiVersion"].into_iter().filter(|name| !s.required.contains(name)).collect();
        if !added.is_empty() {
            notes.push(Note::new(Code::EmbeddedRequired, s.at, added.join(", ")));
        }
    }
    s.properties.iter().for_each(|p| embedded_losses(&p.schema, notes));
    s.item().into_iter().for_each(|item| embedded_losses(item, notes));
    s.additional_schema().into_iter().for_each(|inner| embedded_losses(inner, notes));
}

fn restricted<'a>(s: &Schema<'a>, code: Code, notes: &mut Vec<Note<'a>>) {
    for (name, ty) in [("apiVersion", Type::String), ("kind", Type::String), ("metadata", Type::Object)] {
        let Some(own) = s.property(name) else { continue };
        // A property with only a type loses nothing, and a description is replaced.
        let bare = Schema {
            ty,
            at: own.at,
            flags: own.flags,
            subtree: own.subtree,
            description: own.description,
            ..Schema::default()
        };
        let nullable = own.flags.any(Flags::NULLABLE);
        let typeless = Schema { ty: Type::Absent, ..bare };
        if nullable || (*own != bare && *own != typeless) {
            notes.push(Note::new(code, own.at, name));
        }
    }
}
