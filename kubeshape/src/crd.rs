//! A CustomResourceDefinition.

use crate::{Converted, Findings, Options};
use kubeshape_convert::jsonschema;
use kubeshape_diff::upgrade::{self, Cluster, Plan, Unreadable};
use kubeshape_input::{Code, Finding, Input, Limits, Note, Shape};
use kubeshape_publish::{self as publish, Base, Publisher, Resource, ResourceVersion};
use kubeshape_registry::{Location, Profile};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Gvk, Property};
use kubeshape_structural::read::Manifest;
use kubeshape_structural::{self as structural, ApiVersion};
use kubeshape_yaml::{Node, Stream, Tape};
use std::sync::Arc;

/// A CustomResourceDefinition, `v1` or `v1beta1`.
///
/// # Example: the shapes of every version
/// ```
/// # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
/// let crd = kubeshape::Crd::read("tabs.yaml", TABS)?;
/// assert_eq!((crd.name(), crd.group(), crd.kind()), ("tabs.example.com", "example.com", "Tab"));
/// for version in crd.versions() {
///     assert!(crd.v3(version)?.text().contains("/apis/example.com/v1/tabs"));
/// }
/// # Ok::<(), kubeshape::Findings>(())
/// ```
#[derive(Clone, Debug)]
pub struct Crd {
    location: Location,
    implied: Option<ApiVersion>,
    name: String,
    group: String,
    kind: String,
    versions: Vec<String>,
    /// Warnings about its YAML or JSON.
    findings: Vec<Finding>,
    publisher: Arc<Publisher>,
    options: Options,
}

impl Crd {
    /// Reads the only CustomResourceDefinition of an input: YAML or JSON, compressed or not.
    ///
    /// # Errors
    /// The input cannot be read, or does not contain exactly one CustomResourceDefinition.
    pub fn read(name: impl AsRef<str>, text: impl AsRef<[u8]>) -> Result<Crd, Findings> {
        let name: Arc<str> = name.as_ref().into();
        let (mut crds, findings) = Crd::read_all(Arc::clone(&name), text);
        if findings.iter().any(Finding::is_error) {
            return Err(Findings(findings));
        }
        let found = crds.len();
        match crds.pop() {
            Some(crd) if found == 1 => Ok(crd),
            _ => {
                let detail = format!("expected exactly one CustomResourceDefinition, found {found}");
                Err(Finding::new(Code::Nothing, detail).in_input(name).into())
            }
        }
    }

    /// Reads all CustomResourceDefinitions of an input, including those in lists, and the findings about the rest.
    /// Objects of other kinds are skipped.
    pub fn read_all(name: impl AsRef<str>, text: impl AsRef<[u8]>) -> (Vec<Crd>, Vec<Finding>) {
        let Input { documents, mut findings, .. } =
            kubeshape_input::read(name.as_ref(), text.as_ref(), Limits::default());
        let (mut crds, mut shared) = (Vec::new(), None);
        for document in documents.into_iter().map(Arc::new) {
            let root = Location::root(Arc::clone(&document));
            for manifest in document.manifests().0 {
                let arena = Bump::new();
                let read = manifest.read(&arena);
                let mut resolver = document.resolver().within(manifest.node);
                let found = read.notes.iter().map(|note| resolver.finding(note));
                let Some(crd) = read.value else {
                    findings.extend(found);
                    continue;
                };
                let (errors, warnings): (Vec<_>, Vec<_>) = found.partition(Finding::is_error);
                findings.extend(errors);
                let options = Options::default();
                let publisher = shared.get_or_insert_with(|| Arc::new(publisher(Base::builtin(), options)));
                crds.push(Crd {
                    location: root.at(manifest.node),
                    implied: manifest.implied,
                    name: crd.name.to_owned(),
                    group: crd.group.to_owned(),
                    kind: crd.names.kind.to_owned(),
                    versions: crd.versions.iter().map(|version| version.name.to_owned()).collect(),
                    findings: warnings,
                    publisher: Arc::clone(publisher),
                    options,
                });
            }
        }
        (crds, findings)
    }

    /// Returns the same definition with other options.
    #[must_use]
    pub fn with(self, options: Options) -> Crd {
        let publisher = Arc::new(publisher(self.publisher.base().clone(), options));
        Crd { publisher, options, ..self }
    }

    /// `metadata.name`
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `spec.group`
    pub fn group(&self) -> &str {
        &self.group
    }

    /// `spec.names.kind`
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the names of the versions, served or not.
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// Its location.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Warnings about its YAML or JSON, such as unknown fields.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the OpenAPI v3 document of a version, as the server publishes it for only this resource.
    ///
    /// # Errors
    /// There is no such version.
    pub fn v3(&self, version: &str) -> Result<Converted, Findings> {
        self.version(version, publish::Shape::V3, |version: &ResourceVersion<'_>, out| version.v3(out))
    }

    /// Returns the OpenAPI v2 document of a version, for only this resource: with [`Profile::Kube`] as the server
    /// publishes it, with [`Profile::Faithful`] with everything that v2 can express.
    ///
    /// # Errors
    /// There is no such version.
    pub fn v2(&self, version: &str) -> Result<Converted, Findings> {
        self.version(version, publish::Shape::V2, |version: &ResourceVersion<'_>, out| version.v2(out))
    }

    /// Returns the normalized structural schema of a version; `null` if the version has none that is used.
    ///
    /// # Errors
    /// There is no such version.
    pub fn structural(&self, version: &str) -> Result<Converted, Findings> {
        self.version(version, publish::Shape::Structural, |version: &ResourceVersion<'_>, out| version.structural(out))
    }

    /// Returns the structured-merge-diff schema of all versions, as YAML: how server-side apply merges objects.
    ///
    /// # Errors
    /// There is none; on a server every request for the resource would fail.
    pub fn smd(&self) -> Result<Converted, Findings> {
        self.with_resource(|resource| {
            let schema = resource.smd().map_err(|errors| {
                let notes = errors.into_iter().map(|error| Note::new(Code::SmdError, error.at, error.text));
                Findings(self.resolve(&notes.collect::<Vec<_>>(), Shape::Smd))
            })?;
            let mut notes = warnings(resource);
            resource.smd_losses(&mut notes);
            let mut out = Vec::new();
            kubeshape_smd::schema::print_yaml(&schema, &mut out);
            Ok(Converted::new(out, self.resolve(&notes, Shape::Smd)))
        })
    }

    /// Returns the JSON Schema of the objects of a version.
    ///
    /// # Errors
    /// There is no such version.
    pub fn json_schema(&self, version: &str) -> Result<Converted, Findings> {
        self.with_resource(|resource| {
            let version = self.find(resource, version)?;
            let (crd, arena) = (resource.crd(), Bump::new());
            let metadata = metadata(version, &arena);
            let resolver =
                |name: &str| metadata.iter().find(|definition| definition.name == name).map(|found| &found.schema);
            let api_version = format!("{}/{}", crd.group, version.version().name);
            let replicas = version.replicas();
            let options = jsonschema::Options {
                draft: self.options.draft,
                strict: self.options.strict,
                replicas: replicas.as_ref().map_or(&[], |paths| paths),
                ..jsonschema::Options::default()
            };
            let gvk = Gvk::new(&api_version, crd.names.kind);
            let preserve = crd.preserve_unknown_fields;
            let made = match version.schema() {
                Some(schema) => jsonschema::from_structural(schema, gvk, preserve, &resolver, options),
                None => jsonschema::any_object(gvk, version.version().at, &resolver, options),
            };
            let notes: Vec<Note<'_>> = warnings(resource).into_iter().chain(made.notes).collect();
            if made.value.is_empty() {
                return Err(Findings(self.resolve(&notes, Shape::JsonSchema)));
            }
            Ok(Converted::new(made.value, self.resolve(&notes, Shape::JsonSchema)))
        })
    }

    /// Plans how a cluster gets from this definition to a new one: the steps, in order, with their commands.
    ///
    /// # Errors
    /// One of the definitions cannot be decoded. That cannot happen for definitions that were read here.
    ///
    /// # Example: why applying it is not enough
    /// ```
    /// # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
    /// use kubeshape::{Cluster, Crd};
    ///
    /// let (old, new) = (Crd::read("old.yaml", TABS)?, Crd::read("new.yaml", TABS.replace("name: v1", "name: v2"))?);
    /// let plan = old.upgrade_to(&new, &Cluster::default())?;
    /// assert!(plan.refused[0].contains("missing from spec.versions; v1 was previously a storage version"));
    /// assert_eq!(plan.steps[2].action.title(), "Set status.storedVersions to v2");
    /// # Ok::<(), kubeshape::Findings>(())
    /// ```
    pub fn upgrade_to(&self, new: &Crd, cluster: &Cluster) -> Result<Plan, Findings> {
        upgrade::plan(self.manifest(), new.manifest(), cluster).map_err(|error| {
            let (crd, notes) = match &error {
                Unreadable::Old(notes) => (self, notes),
                Unreadable::New(notes) => (new, notes),
            };
            let mut resolver = crd.location.document().resolver().within(crd.location.node());
            Findings(notes.iter().map(|note| resolver.finding(note)).collect())
        })
    }

    fn version(
        &self,
        version: &str,
        shape: publish::Shape,
        print: impl Fn(&ResourceVersion<'_>, &mut Vec<u8>),
    ) -> Result<Converted, Findings> {
        self.with_resource(|resource| {
            let version = self.find(resource, version)?;
            let (mut out, mut notes) = (Vec::new(), warnings(resource));
            print(version, &mut out);
            version.losses(shape, &mut notes);
            Ok(Converted::new(out, self.resolve(&notes, named(shape))))
        })
    }

    fn manifest(&self) -> Manifest<'_> {
        Manifest { node: self.location.node(), implied: self.implied }
    }

    fn with_resource<T>(&self, with: impl FnOnce(&Resource<'_>) -> Result<T, Findings>) -> Result<T, Findings> {
        let arena = Bump::new();
        let read = self.manifest().read(&arena);
        let Some(crd) = read.value else { return Err(Findings(Vec::new())) };
        let crd: &structural::Crd<'_> = arena.alloc(crd);
        with(&self.publisher.resource(crd, &arena))
    }

    fn find<'r, 'a>(&self, resource: &'r Resource<'a>, name: &str) -> Result<&'r ResourceVersion<'a>, Findings> {
        let found = resource.versions().iter().find(|version| version.version().name == name);
        found.ok_or_else(|| {
            let detail = format!("found no version {name:?}, expected one of {}", self.versions.join(", "));
            self.location.finding(Code::Nothing, detail).of_resource(self.name.as_str()).into()
        })
    }

    fn resolve(&self, notes: &[Note<'_>], shape: Shape) -> Vec<Finding> {
        let mut resolver = self.location.document().resolver().within(self.location.node());
        let shape = |note: &Note<'_>| note.code.kind().is_loss().then_some(shape);
        notes.iter().map(|note| resolver.finding_in(note, shape(note))).collect()
    }
}

fn named(shape: publish::Shape) -> Shape {
    match shape {
        publish::Shape::V3 => Shape::V3,
        publish::Shape::V2 => Shape::V2,
        publish::Shape::Smd => Shape::Smd,
        publish::Shape::Structural => Shape::Structural,
    }
}

fn publisher(base: Base, options: Options) -> Publisher {
    let Options { profile, smd_compat, .. } = options;
    Publisher::new(base, publish::Options { profile, smd_compat, all_versions: true })
}

/// Returns the findings about the schemas.
fn warnings<'a>(resource: &Resource<'a>) -> Vec<Note<'a>> {
    resource.findings().iter().filter(|note| note.code != Code::NotServed).cloned().collect()
}

/// Returns the published definitions of the metadata of objects.
fn metadata<'a>(version: &ResourceVersion<'_>, arena: &'a Bump) -> &'a [Property<'a>] {
    let mut published = Vec::new();
    version.v3(&mut published);
    let (source, tape) = (&*arena.alloc_slice_copy(&published), &mut Tape::new());
    let read = Stream::new(source, Limits::default()).ok().and_then(|mut stream| stream.next(tape));
    let (Some(Ok(())), Ok(source)) = (read, std::str::from_utf8(source)) else { return &[] };
    let tape = &*arena.alloc(std::mem::take(tape));
    let root: Option<Node<'a>> = tape.document(source).root();
    let mut reader = Reader::new(arena, Rules::Document(Profile::Faithful));
    let schemas = root.and_then(|root| root.get("components")?.get("schemas"));
    schemas.map_or(&[], |schemas| reader.properties(schemas))
}
