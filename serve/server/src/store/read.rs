//! Reading the files of inputs: CustomResourceDefinitions and OpenAPI documents.

use crate::document::Document;
use bytes::Bytes;
use kubeshape_convert::document::Document as OpenApiDocument;
use kubeshape_convert::v2;
use kubeshape_discovery::{CustomResource, GroupVersion, custom_resource, group_versions_of_document};
use kubeshape_input::{Code, Content as InputContent, DocumentRef, Finding, Note, NoteKind, Reader, skipped};
use kubeshape_publish::{Profile, Publisher, V2Form, V2Fragments, V3Fragments};
use kubeshape_schema::{Bump, Converted, Dialect, Release};
use kubeshape_structural::read::Manifest;
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// The published part of a CustomResourceDefinition.
#[derive(Debug)]
pub(super) struct Resource {
    /// `metadata.name`, or its expected value.
    pub(super) name: Arc<str>,
    /// Its part of discovery, and the names that it claims.
    pub(super) custom: CustomResource,
    /// A finding at the location of its names, without a message.
    names: Box<Finding>,
    /// Parts of the v3 documents of its published versions.
    pub(super) versions: Vec<(Arc<str>, V3Fragments)>,
    source: Arc<Source>,
    /// Its index among the definitions in its source.
    ordinal: usize,
}

impl Resource {
    /// Returns the parts of the v2 document; computed at the first call, with those of the whole file.
    pub(super) fn v2(&self, publisher: &Publisher) -> Option<&V2Fragments> {
        self.source.v2(publisher).get(self.ordinal)?.as_ref()
    }

    /// Returns a finding about its names.
    pub(super) fn about_names(&self, code: Code, detail: impl Into<String>) -> Finding {
        let mut finding = (*self.names).clone();
        (finding.code, finding.detail) = (code, detail.into());
        finding
    }
}

/// The content of a file and the v2 parts of its definitions.
#[derive(Debug)]
struct Source {
    name: Arc<str>,
    bytes: Bytes,
    v2: OnceLock<Vec<Option<V2Fragments>>>,
}

impl Source {
    fn v2(&self, publisher: &Publisher) -> &[Option<V2Fragments>] {
        self.v2.get_or_init(|| {
            let mut out = Vec::new();
            let mut reader = Reader::new();
            let mut documents = reader.documents(Arc::clone(&self.name), &self.bytes, Limits::default());
            while let Some(document) = documents.next() {
                let Ok(document) = document else { continue };
                for manifest in document.manifests().0 {
                    let arena = Bump::new();
                    let crd = manifest.read(&arena).value;
                    out.push(crd.map(|crd| publisher.resource(&crd, &arena).v2_fragments(V2Form::Served)));
                }
            }
            out
        })
    }
}

/// Group versions in a document's paths, with their groups.
pub(super) type GroupVersions = Vec<(Arc<str>, Arc<GroupVersion>)>;

/// An OpenAPI document of an input.
#[derive(Clone, Debug)]
pub(super) enum OpenApi {
    /// With its path, if it has one.
    V3(Option<Arc<str>>, Arc<Document>, GroupVersions),
    V2(Bytes),
}

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) resources: Vec<Arc<Resource>>,
    pub(super) documents: Vec<OpenApi>,
    pub(super) findings: Vec<Finding>,
}

impl Content {
    /// Returns whether there is nothing to publish.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.documents.is_empty()
    }

    /// Returns whether something in it cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        self.findings.iter().any(Finding::is_error)
    }
}

/// Reads a file. Every error in it is a finding.
pub(super) fn read(file: &Arc<str>, bytes: &Bytes, publisher: &Publisher, now: SystemTime) -> Content {
    let mut out = Content::default();
    let source = Arc::new(Source { name: Arc::clone(file), bytes: bytes.clone(), v2: OnceLock::new() });
    let profile = publisher.options().profile;
    let mut ordinal = 0;
    let mut reader = Reader::new();
    let mut documents = reader.documents(Arc::clone(file), bytes, Limits::default());
    let protobuf = documents.is_protobuf().then(|| shared(documents.bytes(), bytes));
    while let Some(document) = documents.next() {
        let mut document = match document {
            Ok(document) => document,
            Err(finding) => {
                out.findings.push(*finding);
                continue;
            }
        };
        out.findings.extend(document.remarks());
        if let Some(dialect) = document.content().dialect() {
            match canonical(&mut document, dialect, bytes, profile, publisher.base().release()) {
                Ok(json) => out.documents.push(openapi(dialect, &json, protobuf.as_ref(), now)),
                Err(findings) => out.findings.extend(findings),
            }
            continue;
        }
        let (definitions, others) = document.manifests();
        for manifest in definitions {
            let arena = Bump::new();
            out.crd(&mut document, manifest, publisher, &arena, (&source, ordinal));
            ordinal += 1;
        }
        let mut resolver = document.resolver();
        out.findings.extend(others.into_iter().map(|node| resolver.finding(&skipped(node))));
    }
    out
}

impl Content {
    fn crd<'a>(
        &mut self,
        document: &mut DocumentRef<'_>,
        manifest: Manifest<'a>,
        publisher: &'a Publisher,
        arena: &'a Bump,
        (source, ordinal): (&Arc<Source>, usize),
    ) {
        let read = manifest.read(arena);
        let node = manifest.node;
        let name = node.get("metadata").and_then(|m| m.get("name")).and_then(Node::as_str).unwrap_or_default();
        let mut resolver = document.resolver_mut().within(node);
        let shown = |note: &&Note<'_>| !note.code.kind().is_loss();
        self.findings.extend(read.notes.iter().filter(shown).map(|note| resolver.finding(note)));
        let Some(crd) = read.value else { return };
        let crd = &*arena.alloc(crd);
        let mut name: Arc<str> = name.into();
        if name.is_empty() {
            name = format!("{}.{}", crd.names.plural, crd.group).into();
            resolver = resolver.of_resource(&name);
        }
        let resource = publisher.resource(crd, arena);
        self.findings.extend(resource.findings().iter().filter(shown).map(|note| resolver.finding(note)));
        let mut versions: Vec<(Arc<str>, V3Fragments)> = Vec::with_capacity(crd.versions.len());
        for version in resource.versions().iter().filter(|version| version.is_published()) {
            let path = version.group_version_path();
            if !versions.iter().any(|(other, _)| **other == path) {
                versions.push((path.into(), version.v3_fragments()));
            }
        }
        let custom = custom_resource(crd);
        let names = Box::new(resolver.finding(&Note::new(Code::NameInUse, custom.names_at, "")));
        self.resources.push(Arc::new(Resource { name, names, custom, versions, source: Arc::clone(source), ordinal }));
    }
}

/// Returns the bytes of a document as a server prints it: unchanged if it is JSON without blanks between its parts, as
/// servers send it. Definitions alone become a document of the release.
///
/// # Errors
/// Something in it has the wrong type.
pub(super) fn canonical(
    document: &mut DocumentRef<'_>,
    dialect: Dialect,
    bytes: &Bytes,
    profile: Profile,
    release: Release,
) -> Result<Bytes, Vec<Finding>> {
    let root = document.root();
    let text = root.document().source();
    if is_compact(root) && document.content() != InputContent::Definitions {
        return Ok(shared(text.as_bytes(), bytes));
    }
    let arena = Bump::new();
    let mut out = Vec::with_capacity(text.len());
    let Converted { value, notes } = OpenApiDocument::read(root, dialect, &arena, profile);
    if let Some(mut openapi) = value {
        if let (OpenApiDocument::V2(v2), InputContent::Definitions) = (&mut openapi, document.content()) {
            *v2 = with_head(v2, release, &arena);
        }
        openapi.print(&mut out, profile);
        return Ok(out.into());
    }
    let mut resolver = document.resolver_mut();
    let errors = notes.iter().filter(|note| note.code.kind() == NoteKind::Error);
    Err(errors.map(|note| resolver.finding(note)).collect())
}

/// Returns definitions as a document: with the members of every document, like those of a server without inputs.
fn with_head<'a>(definitions: &v2::Document<'a>, release: Release, arena: &'a Bump) -> v2::Document<'a> {
    let version = arena.alloc_str(&release.without_patch().to_string());
    let info = v2::Info { title: "Kubernetes", version, ..v2::Info::default() };
    let paths = Some(&*arena.alloc(v2::Paths::default()));
    v2::Document { swagger: "2.0", info: Some(arena.alloc(info)), paths, ..*definitions }
}

/// Returns whether a document is JSON, is the whole source, and has no blanks between its parts.
fn is_compact(root: Node<'_>) -> bool {
    let text = root.document().source().as_bytes();
    if !root.document().is_json() || root.span() != (0..text.len()) {
        return false;
    }
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]).map(|n| at + n) {
        if text[at..quote].iter().any(u8::is_ascii_whitespace) {
            return false;
        }
        at = quote + 1;
        // To the end of the string.
        while let Some(n) = memchr::memchr2(b'"', b'\\', &text[at..]) {
            at += n + 1;
            if text[at - 1] == b'"' {
                break;
            }
            at += 1;
        }
    }
    !text[at..].iter().any(u8::is_ascii_whitespace)
}

/// Returns the bytes of an input without a copy, unless the input is compressed or decoded.
pub(super) fn shared(bytes: &[u8], input: &Bytes) -> Bytes {
    if std::ptr::eq(bytes, &raw const **input) { input.clone() } else { Bytes::copy_from_slice(bytes) }
}

/// Returns a printed document.
pub(super) fn openapi(dialect: Dialect, json: &Bytes, protobuf: Option<&Bytes>, now: SystemTime) -> OpenApi {
    if dialect == Dialect::V2 {
        return OpenApi::V2(json.clone());
    }
    let mut document = Document::new(Some(Dialect::V3), json.clone(), now);
    if let Some(protobuf) = protobuf {
        document = document.with_protobuf(protobuf.clone());
    }
    let (path, groups) = of_paths(json);
    OpenApi::V3(path.map(Arc::from), Arc::new(document), groups)
}

/// Returns the path at which a v3 document is published, and its group versions.
fn of_paths(json: &[u8]) -> (Option<String>, GroupVersions) {
    let mut tape = Tape::new();
    let Ok(mut stream) = Stream::new(json, Limits::default()) else { return Default::default() };
    let source = stream.source();
    let Some(Ok(())) = stream.next(&mut tape) else { return Default::default() };
    let Some(root) = tape.document(source).root() else { return Default::default() };
    let groups = group_versions_of_document(root).into_iter().map(|(group, version)| (group, Arc::new(version)));
    (path_of(root), groups.collect())
}

/// Returns the path of a document from the paths in it: `apis/GROUP/VERSION`, `api/v1`, else the shortest.
fn path_of(root: Node<'_>) -> Option<String> {
    let paths = root.get("paths")?;
    let shortest = paths.pairs().map(|(key, _)| key.text()).min_by_key(|path| (path.len(), *path))?;
    let mut segments = shortest.split('/').filter(|segment| !segment.is_empty()).peekable();
    let many = match segments.peek() {
        Some(&"apis") => 3,
        Some(&"api") => 2,
        _ => usize::MAX,
    };
    let path = segments.take(many).collect::<Vec<_>>().join("/");
    (!path.is_empty()).then_some(path)
}

/// Equal if they are at the same position of the same source.
impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.ordinal == other.ordinal
    }
}
