//! The published documents of one CustomResourceDefinition and its versions.

use crate::base::{Base, Published};
use crate::fragments::{Fragment, PathPart, V2Form, V2Fragments, V3Fragments};
use crate::names::{self, Begin};
use crate::operations::Place;
use crate::paths::{Form, write_member};
use crate::release;
use crate::root::{self, RootBuilder};
use crate::smd;
use crate::template::{Fill, Slot};
use bytes::Bytes;
use kubeshape_convert::v2::from_v3;
use kubeshape_schema::escape;
use kubeshape_schema::{Bump, Code, Dialect, Flags, Note, Profile, Schema, order, print};
use kubeshape_structural::{Crd, Scope, Version, openapi_v2};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What is published and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether upstream's faults are reproduced.
    pub profile: Profile,
    /// The release of structured-merge-diff that reads the schemas.
    pub smd_compat: smd::SmdCompat,
    /// Whether versions that are not served are published, too.
    pub all_versions: bool,
}

/// Publishes CustomResourceDefinitions as a server with the given base would.
///
/// # Example: the OpenAPI v3 document of a resource
/// ```
/// use kubeshape_publish::{Base, Options, Publisher};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: crontabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: crontabs, kind: CronTab}
///   versions:
///   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
/// ";
/// let publisher = Publisher::new(Base::builtin(), Options::default());
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = kubeshape_schema::Bump::new();
/// let crd = kubeshape_structural::read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let resource = publisher.resource(&crd, &arena);
/// let mut document = Vec::new();
/// resource.versions()[0].v3(&mut document);
/// assert!(document.starts_with(br#"{"openapi":"3.0.0","info":{"title":"Kubernetes CRD Swagger","version":"v0.1.0"},"paths":{"/apis/example.com/v1/crontabs""#));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Publisher {
    base: Base,
    options: Options,
}

impl Publisher {
    /// Creates a publisher with a base.
    pub fn new(base: Base, options: Options) -> Publisher {
        let base = if options.profile == Profile::Faithful { base.with_alternates() } else { base };
        Publisher { base, options }
    }

    /// Returns the options.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Returns the base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Decides which schema is used for every version. `arena` stores the schemas that are built.
    pub fn resource<'a>(&'a self, crd: &'a Crd<'a>, arena: &'a Bump) -> Resource<'a> {
        let mut notes = Vec::new();
        let mut versions = Vec::with_capacity(crd.versions.len());
        let mut by_name = HashMap::with_capacity(crd.versions.len());
        for version in crd.versions {
            // Upstream looks up schema and subresources by name: of two versions with one name, the first is used.
            let used = *by_name.entry(version.name).or_insert(version);
            let decision = kubeshape_structural::usable(used.schema, used.at);
            notes.extend(decision.notes);
            let schema = decision.value.map(|structural| kubeshape_structural::unfold(structural, arena));
            let schema = schema.map(|schema| release::of_schema(schema, self.base.release(), arena));
            let published = self.options.all_versions || version.served;
            if !published {
                notes.push(Note::new(Code::NotServed, version.at, version.name));
            }
            if version.at != used.at {
                notes.push(Note::new(Code::VersionName, version.at, version.name));
            }
            versions.push(ResourceVersion { publisher: self, crd, version, used, schema, published, arena });
        }
        Resource { publisher: self, crd, versions, notes, arena }
    }
}

/// A CustomResourceDefinition with the schemas that are used.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    publisher: &'a Publisher,
    crd: &'a Crd<'a>,
    versions: Vec<ResourceVersion<'a>>,
    notes: Vec<Note<'a>>,
    arena: &'a Bump,
}

/// The form of the document with a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// OpenAPI v3.
    V3,
    /// OpenAPI v2.
    V2,
    /// The structured-merge-diff schema.
    Smd,
    /// The structural schema.
    Structural,
}

impl Shape {
    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Shape::V3 => "v3",
            Shape::V2 => "v2",
            Shape::Smd => "smd",
            Shape::Structural => "structural",
        }
    }
}

impl<'a> Resource<'a> {
    /// Returns the CustomResourceDefinition.
    pub fn crd(&self) -> &'a Crd<'a> {
        self.crd
    }

    /// Returns all versions, published or not.
    pub fn versions(&self) -> &[ResourceVersion<'a>] {
        &self.versions
    }

    /// Returns the findings about the versions: schemas that are not used and the reasons, and versions that are not
    /// served.
    pub fn findings(&self) -> &[Note<'a>] {
        &self.notes
    }

    /// Returns the structured-merge-diff schema that server-side apply uses: with all versions, served or not.
    ///
    /// # Errors
    /// All reasons why the schema has no structured-merge-diff form: see [`SmdError`](crate::SmdError), or the
    /// definitions of two versions have one name. On a server, every request for the resource would then fail.
    pub fn smd(&self) -> Result<kubeshape_smd::Schema, Vec<smd::SmdError>> {
        if self.versions.is_empty() {
            return smd::without_versions();
        }
        let mut models: Vec<(&str, &Schema<'_>)> = Vec::with_capacity(2 * self.versions.len());
        let mut taken: HashSet<&str> = HashSet::with_capacity(2 * self.versions.len());
        for version in &self.versions {
            let (name, list_name) = version.definition_names();
            let builder = version.builder(Dialect::V3, false);
            if taken.contains(&*list_name) {
                let text = format!("the definitions of two versions are called {name}");
                return Err(vec![smd::SmdError { text, at: version.version.at }]);
            }
            if name != list_name {
                let kind = builder.kind(version.schema, self.crd.names.kind);
                models.push((self.arena.alloc_str(&name), self.arena.alloc(kind)));
            }
            models.push((self.arena.alloc_str(&list_name), self.arena.alloc(version.list(&builder, &name))));
            taken.extend(models.iter().rev().take(2).map(|(name, _)| *name));
        }
        let scale = self.versions.iter().any(|version| version.used.scale.is_some());
        models.sort_by(|a, b| a.0.cmp(b.0));
        let base = &self.publisher.base;
        let (preserve, compat) = (self.crd.preserve_unknown_fields, self.publisher.options.smd_compat);
        if self.crd.names.kind == self.crd.names.list_kind
            || models.iter().any(|(name, _)| base.definition(name).is_some())
        {
            return smd::build(&models, &self.shared_types(&models, scale), scale, preserve, compat);
        }
        smd::build(&models, &base.smd, scale, preserve, compat)
    }

    /// Returns the types of the shared definitions, if the resource's own definitions replace some of them.
    fn shared_types(&self, models: &[(&str, &Schema<'_>)], scale: bool) -> smd::MetaTypes {
        let printed: Vec<(&str, Vec<u8>)> = models
            .iter()
            .map(|(name, schema)| {
                let mut json = Vec::new();
                print::schema(&mut json, schema, print::Style::V3);
                (*name, json)
            })
            .collect();
        let own: Vec<(&str, &[u8])> = printed.iter().map(|(name, json)| (*name, json.as_slice())).collect();
        Base::types_of(&self.publisher.base.shared_for(&own, scale))
    }

    /// Adds the losses of the structured-merge-diff schema.
    pub fn smd_losses(&self, notes: &mut Vec<Note<'a>>) {
        for schema in self.versions.iter().filter_map(|version| version.schema) {
            smd::losses(schema, self.publisher.options.smd_compat, notes);
        }
    }

    /// Returns the resource's parts of the merged v2 document. They are empty if no version is published.
    pub fn v2_fragments(&self, form: V2Form) -> V2Fragments {
        let (mut out, mut buffer) = (V2Fragments::default(), Vec::new());
        for version in self.versions.iter().filter(|version| version.published) {
            version.add_v2_fragments(form, &mut buffer, &mut out);
        }
        out
    }
}

/// One version and the schema that is used for it.
#[derive(Clone, Copy, Debug)]
pub struct ResourceVersion<'a> {
    publisher: &'a Publisher,
    crd: &'a Crd<'a>,
    version: &'a Version<'a>,
    /// The first version with that name, whose schema and subresources are used.
    used: &'a Version<'a>,
    schema: Option<&'a Schema<'a>>,
    published: bool,
    arena: &'a Bump,
}

impl<'a> ResourceVersion<'a> {
    /// Returns the version.
    pub fn version(&self) -> &'a Version<'a> {
        self.version
    }

    /// Returns whether it has documents: it is served, or [`Options::all_versions`] is set.
    pub fn is_published(&self) -> bool {
        self.published
    }

    /// Returns the top-level fields of an object that requests to a subresource (`""` for the object itself) neither
    /// change nor own (upstream: `GetResetFields` of `customResourceStrategy` and `statusStrategy` in
    /// `pkg/registry/customresource` of apiextensions-apiserver).
    pub fn reset_fields(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "" if self.used.status => &["status"],
            "status" if self.used.status => &["metadata", "spec"],
            _ => &[],
        }
    }

    /// Returns the paths of the replicas of spec and status, if there is a scale subresource.
    pub fn replicas(&self) -> Option<[&'a str; 2]> {
        self.used.scale.map(|scale| [scale.spec_replicas_path, scale.status_replicas_path])
    }

    /// Returns the structural schema in its normal form (with unfolded int-or-strings), if it is used.
    pub fn schema(&self) -> Option<&'a Schema<'a>> {
        self.schema
    }

    /// Returns `apis/GROUP/VERSION`: the path of the v3 document to which the version belongs.
    pub fn group_version_path(&self) -> String {
        format!("apis/{}/{}", self.crd.group, self.used.name)
    }

    /// Appends the OpenAPI v3 document of this version alone.
    pub fn v3(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(crate::fragments::V3_HEAD);
        self.write_paths(Form::V3, out);
        out.extend_from_slice(b"},\"components\":{\"schemas\":{");
        let (name, list_name) = self.definition_names();
        let builder = self.builder(Dialect::V3, true);
        let root = builder.kind(self.schema, self.crd.names.kind);
        let list = self.list(&builder, &name);
        self.write_definitions(Form::V3, [(name.as_str(), &root), (list_name.as_str(), &list)], out);
        out.extend_from_slice(b"}}}");
    }

    /// Appends the OpenAPI v2 document of this version alone, with defaults, as upstream's builder prints it.
    pub fn v2(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"swagger\":\"2.0\",\"info\":");
        out.extend_from_slice(crate::fragments::CRD_INFO);
        out.extend_from_slice(b",\"paths\":{");
        self.write_paths(Form::V2, out);
        out.extend_from_slice(b"},\"definitions\":{");
        let (name, list_name) = self.definition_names();
        let builder = self.builder(Dialect::V2, true);
        let root = builder.kind(self.v2_schema(None), self.crd.names.kind);
        let list = self.list(&builder, &name);
        self.write_definitions(Form::V2, [(name.as_str(), &root), (list_name.as_str(), &list)], out);
        out.extend_from_slice(b"},\"parameters\":{");
        let parameters = &self.publisher.base.paths(Form::V2, self.namespaced()).parameters;
        for (i, (name, json)) in parameters.iter().enumerate() {
            write_member(i == 0, name, Form::V2, out);
            out.extend_from_slice(json);
        }
        out.extend_from_slice(b"}}");
    }

    /// Appends the structural schema in its normal form as JSON, or `null` if no schema is used.
    pub fn structural(&self, out: &mut Vec<u8>) {
        match self.schema {
            Some(schema) => print::schema(out, schema, print::Style::V2),
            None => out.extend_from_slice(b"null"),
        }
    }

    /// Adds the losses of the document of a shape, compared with the schema that is used.
    pub fn losses(&self, shape: Shape, notes: &mut Vec<Note<'a>>) {
        let Some(schema) = self.schema else { return };
        match shape {
            Shape::V3 => root::losses(schema, notes),
            Shape::V2 => {
                if self.v2_schema(Some(notes)).is_some() {
                    root::losses(schema, notes);
                    if schema.subtree.any(Flags::EMBEDDED_RESOURCE) {
                        v2_embedded_losses(schema, notes);
                    }
                }
            }
            Shape::Smd | Shape::Structural => {}
        }
    }

    /// Adds the defaults that the served v2 document loses in addition to [`ResourceVersion::losses`].
    pub fn v2_default_losses(&self, notes: &mut Vec<Note<'a>>) {
        if let Some(schema) = self.v2_schema(None) {
            default_losses(schema, notes);
        }
    }

    /// Returns this version's parts of the merged v3 document of its group version.
    pub fn v3_fragments(&self) -> V3Fragments {
        let (name, list_name) = self.definition_names();
        let builder = self.builder(Dialect::V3, true);
        let root = builder.kind(self.schema, self.crd.names.kind);
        let list = self.list(&builder, &name);
        let mut buffer = Vec::new();
        let mut printed = |schema: &Schema<'_>| printed(schema, print::Style::V3, &mut buffer);
        V3Fragments {
            group_version: self.group_version_path(),
            paths: self.path_parts(Form::V3),
            schemas: vec![
                Fragment { name, json: printed(&root), at: self.used.at },
                Fragment { name: list_name, json: printed(&list), at: self.used.at },
            ],
            scale: self.used.scale.is_some(),
        }
    }

    fn add_v2_fragments(&self, form: V2Form, buffer: &mut Vec<u8>, out: &mut V2Fragments) {
        let (name, list_name) = self.definition_names();
        let builder = self.builder(Dialect::V2, true);
        let root = builder.kind(self.v2_schema(None), self.crd.names.kind);
        let list = self.list(&builder, &name);
        for (name, schema) in [(name, root), (list_name, list)] {
            let json = printed(&schema, form.style(), buffer);
            out.definitions.push(Fragment { name, json, at: self.used.at });
        }
        out.paths.extend(self.path_parts(form.into()));
        out.scale |= self.used.scale.is_some();
        out.namespaced = self.namespaced();
    }

    fn path_parts(&self, form: Form) -> Vec<PathPart> {
        let (raw, fill) = self.fills(form);
        let fill = Arc::new(fill);
        let namespaced = self.namespaced();
        let paths = self.publisher.base.paths(form, namespaced).sorted(&raw, |place| self.has(place));
        let parts =
            paths.into_iter().map(|(name, path)| PathPart::new(name, path.place, namespaced, form, fill.clone()));
        parts.collect()
    }

    /// Returns the schema for v2. With `None`, any object is valid.
    fn v2_schema(&self, notes: Option<&mut Vec<Note<'a>>>) -> Option<&'a Schema<'a>> {
        let schema = self.schema?;
        if self.publisher.options.profile == Profile::Faithful {
            let converted = from_v3::schema(schema, self.arena);
            if let Some(notes) = notes {
                notes.extend(converted.notes);
            }
            return Some(converted.value);
        }
        if self.crd.preserve_unknown_fields || schema.flags.any(Flags::PRESERVE_UNKNOWN) {
            if let Some(notes) = notes {
                let why = if self.crd.preserve_unknown_fields {
                    "spec.preserveUnknownFields"
                } else {
                    "x-kubernetes-preserve-unknown-fields"
                };
                notes.push(Note::new(Code::V2Root, schema.at, why));
                if schema.flags.any(Flags::NULLABLE) {
                    notes.push(Note::new(Code::V2RootNullable, schema.at, "nullable"));
                }
            }
            return None;
        }
        Some(openapi_v2(schema, self.arena, notes))
    }

    /// Returns the selectable fields, if the release publishes them.
    fn selectable_fields(&self) -> Option<&'a [&'a str]> {
        let (fields, release) = (self.used.selectable_fields, self.publisher.base.release());
        let published = if fields.is_empty() { Published::NoSelectableFields } else { Published::SelectableFields };
        published.by(release).then_some(fields)
    }

    fn builder(&self, dialect: Dialect, selectable: bool) -> RootBuilder<'a> {
        RootBuilder {
            arena: self.arena,
            base: &self.publisher.base,
            dialect,
            group: self.crd.group,
            version: self.used.name,
            selectable_fields: self.selectable_fields().filter(|_| selectable),
        }
    }

    fn list(&self, builder: &RootBuilder<'a>, definition: &str) -> Schema<'a> {
        let names = &self.crd.names;
        builder.list(names.kind, names.list_kind, names.plural, definition)
    }

    /// Returns the names of the definitions of the kind and of its list.
    pub fn definition_names(&self) -> (String, String) {
        let name = |kind| names::definition(self.crd.group, self.used.name, kind);
        (name(self.crd.names.kind), name(self.crd.names.list_kind))
    }

    fn namespaced(&self) -> bool {
        self.crd.scope == Scope::Namespaced
    }

    fn has(&self, place: Place) -> bool {
        match place {
            Place::AllNamespaces | Place::Collection | Place::Item => true,
            Place::Status => self.used.status,
            Place::Scale => self.used.scale.is_some(),
        }
    }

    fn write_paths(&self, form: Form, out: &mut Vec<u8>) {
        let (raw, fill) = self.fills(form);
        let paths = self.publisher.base.paths(form, self.namespaced());
        for (i, (key, path)) in paths.sorted(&raw, |place| self.has(place)).into_iter().enumerate() {
            write_member(i == 0, &key, form, out);
            path.item.write(out, &fill);
        }
    }

    /// Returns the resource's names: plain, to sort keys by, and escaped for the document.
    fn fills(&self, form: Form) -> (Fill, Fill) {
        let names = &self.crd.names;
        let (definition, list) = self.definition_names();
        let text = |slot: Slot| -> String {
            match slot {
                Slot::Group => self.crd.group.to_owned(),
                Slot::Version => self.used.name.to_owned(),
                Slot::Plural => names.plural.to_owned(),
                Slot::Kind => names.kind.to_owned(),
                Slot::Definition => names::in_reference(&definition),
                Slot::List => names::in_reference(&list),
                Slot::Infix => names::infix(self.crd.group, self.used.name),
                Slot::Tag => names::tag(self.crd.group, self.used.name),
                Slot::KindFirst => names::camel(names.kind, Begin::Upper),
                Slot::KindInside => names::camel(names.kind, Begin::Inside),
                Slot::Article => names::with_article(names.kind),
            }
        };
        let escaped = |slot| {
            let mut out = Vec::new();
            escape::body(&mut out, &text(slot), form.escape());
            out
        };
        (Fill::new(|slot| text(slot).into_bytes()), Fill::new(escaped))
    }

    /// Writes the two definitions of the resource and the shared ones, sorted.
    fn write_definitions(&self, form: Form, own: [(&str, &Schema<'_>); 2], out: &mut Vec<u8>) {
        let mut own = own;
        if order::utf16(own[0].0, own[1].0).is_gt() {
            own.swap(0, 1);
        }
        // If kind and list have the same name, there is one definition, the list's.
        let own = if own[0].0 == own[1].0 { &own[1..] } else { &own[..] };
        let scale = self.used.scale.is_some();
        let style = if form == Form::V3 { print::Style::V3 } else { print::Style::V2 };
        let base = &self.publisher.base;
        let shared = if own.len() == 1 || own.iter().any(|(name, _)| base.definition(name).is_some()) {
            let printed = own.iter().map(|(name, schema)| {
                let mut json = Vec::new();
                print::schema(&mut json, schema, print::Style::V3);
                (*name, json)
            });
            let printed: Vec<(&str, Vec<u8>)> = printed.collect();
            let printed: Vec<(&str, &[u8])> = printed.iter().map(|(name, json)| (*name, json.as_slice())).collect();
            base.shared_for(&printed, scale)
        } else {
            base.shared_for(&[], scale)
        };
        let mut own = own.iter().copied().peekable();
        let mut first = true;
        let write_own = |(name, schema): (&str, &Schema<'_>), first: &mut bool, out: &mut Vec<u8>| {
            write_member(std::mem::take(first), name, form, out);
            print::schema(out, schema, style);
        };
        for shared in shared {
            while let Some(mine) = own.next_if(|(name, _)| order::utf16(name, &shared.name).is_lt()) {
                write_own(mine, &mut first, out);
            }
            write_member(std::mem::take(&mut first), &shared.name, form, out);
            out.extend_from_slice(if form == Form::V3 { &shared.v3 } else { &shared.v2 });
        }
        for mine in own {
            write_own(mine, &mut first, out);
        }
    }
}

/// Returns a printed schema without spare capacity, because it is kept until all inputs are read.
fn printed(schema: &Schema<'_>, style: print::Style, buffer: &mut Vec<u8>) -> Bytes {
    buffer.clear();
    print::schema(buffer, schema, style);
    Bytes::copy_from_slice(buffer)
}

/// Notes embedded resources that do not get the standard properties in v2.
fn v2_embedded_losses<'a>(s: &Schema<'a>, notes: &mut Vec<Note<'a>>) {
    if s.flags.any(Flags::EMBEDDED_RESOURCE) && s.flags.any(Flags::PRESERVE_UNKNOWN) {
        notes.push(Note::new(Code::V2EmbeddedResource, s.at, "apiVersion, kind, metadata"));
    }
    each_child(s, |child| v2_embedded_losses(child, notes));
}

fn default_losses<'a>(s: &Schema<'a>, notes: &mut Vec<Note<'a>>) {
    if !s.subtree.any(Flags::DEFAULT) {
        return;
    }
    if s.default.is_some() {
        notes.push(Note::new(Code::V2Default, s.at, "default"));
    }
    each_child(s, |child| default_losses(child, notes));
}

fn each_child<'a>(s: &Schema<'a>, mut f: impl FnMut(&Schema<'a>)) {
    s.properties.iter().for_each(|p| f(&p.schema));
    s.item().into_iter().for_each(&mut f);
    s.additional_schema().into_iter().for_each(&mut f);
}
