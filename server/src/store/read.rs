//! Reading the files of inputs: CustomResourceDefinitions and OpenAPI documents.

use super::finding::Finding;
use crate::document::Document;
use bytes::Bytes;
use kubeshape_convert::{proto, v2, v3};
use kubeshape_discovery::{CustomResource, GroupVersion, custom_resource, group_versions_of_document};
use kubeshape_publish::{Profile, Publisher, V2Form, V2Fragments, V3Fragments};
use kubeshape_schema::Dialect;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Note, NoteKind};
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_yaml::{Kind, Limits, Node, Position, Stream, Tape};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// A CustomResourceDefinition, as far as it is published.
#[derive(Debug)]
pub(super) struct Resource {
    /// `metadata.name`, or what it should be.
    pub(super) name: Arc<str>,
    /// What discovery shows, and the names it asks for.
    pub(super) custom: CustomResource,
    /// Line and column of its names.
    pub(super) names_at: (usize, usize),
    /// Parts of the v3 documents of its published versions.
    pub(super) versions: Vec<(Arc<str>, V3Fragments)>,
    source: Arc<Source>,
    /// Which of the definitions in its source it is.
    ordinal: usize,
}

impl Resource {
    /// The parts of the v2 document; made when they are asked for the first time, with those of the whole file.
    pub(super) fn v2(&self, publisher: &Publisher) -> Option<&V2Fragments> {
        self.source.v2(publisher).get(self.ordinal)?.as_ref()
    }
}

/// The text of a file and the v2 parts of its definitions.
#[derive(Debug)]
struct Source {
    bytes: Bytes,
    v2: OnceLock<Vec<Option<V2Fragments>>>,
}

impl Source {
    fn v2(&self, publisher: &Publisher) -> &[Option<V2Fragments>] {
        self.v2.get_or_init(|| {
            let mut out = Vec::new();
            each(&self.bytes, |item| {
                if let Item::Crd(manifest) = item {
                    let arena = Bump::new();
                    let crd = manifest.read(&arena).value;
                    out.push(crd.map(|crd| publisher.resource(&crd, &arena).v2_fragments(V2Form::Served)));
                }
            });
            out
        })
    }
}

/// Group versions that a document's paths show, with their groups.
pub(super) type GroupVersions = Vec<(Arc<str>, Arc<GroupVersion>)>;

/// An OpenAPI document of an input.
#[derive(Clone, Debug)]
pub(super) enum OpenApi {
    /// With its path, if it says one.
    V3(Option<Arc<str>>, Arc<Document>, GroupVersions),
    V2(Bytes),
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) resources: Vec<Arc<Resource>>,
    pub(super) documents: Vec<OpenApi>,
    pub(super) findings: Vec<Finding>,
}

impl Content {
    /// Whether something in it cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        self.findings.iter().any(Finding::is_error)
    }
}

/// A part of a file.
enum Item<'a> {
    Crd(Manifest<'a>),
    OpenApi(Dialect, Node<'a>),
    /// Something else.
    Other(Node<'a>),
    /// The text cannot be read.
    Error(kubeshape_yaml::Error),
}

/// Visits the parts of a text.
fn each(bytes: &[u8], mut visit: impl FnMut(Item<'_>)) {
    let mut stream = match Stream::new(bytes, Limits::default()) {
        Ok(stream) => stream,
        Err(error) => return visit(Item::Error(error)),
    };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(read) = stream.next(&mut tape) {
        if let Err(error) = read {
            visit(Item::Error(error));
            continue;
        }
        let Some(root) = tape.document(source).root().filter(|_| tape.has_content()) else { continue };
        if root.kind() == Kind::Map
            && let Some(dialect) = Dialect::of(root)
        {
            visit(Item::OpenApi(dialect, root));
            continue;
        }
        let (crds, others) = manifests(root);
        for manifest in crds {
            visit(Item::Crd(manifest));
        }
        for node in others {
            visit(Item::Other(node));
        }
    }
}

/// Reads a file. Every mistake in it is a finding.
pub(super) fn read(file: &Arc<str>, bytes: &Bytes, publisher: &Publisher, now: SystemTime) -> Content {
    let mut out = Content::default();
    let source = Arc::new(Source { bytes: bytes.clone(), v2: OnceLock::new() });
    let profile = publisher.options().profile;
    if proto::detect(bytes).is_some() {
        match decode(bytes) {
            Ok(document) => out.documents.push(openapi(document.0, &document.1, Some(bytes), now)),
            Err(detail) => out.findings.push(Finding::new(Code::Unreadable, file, None, detail)),
        }
        return out;
    }
    let mut ordinal = 0;
    each(bytes, |item| match item {
        Item::Crd(manifest) => {
            let arena = Bump::new();
            out.crd(file, manifest, publisher, &arena, &source, ordinal);
            ordinal += 1;
        }
        Item::OpenApi(dialect, root) => match canonical(root, dialect, bytes, profile) {
            Ok(json) => out.documents.push(openapi(dialect, &json, None, now)),
            Err(notes) => out.findings.extend(notes.into_iter().map(|(code, place, detail)| {
                let kept = detail;
                Finding::new(code, file, place, kept)
            })),
        },
        Item::Other(node) => {
            let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
            let what = match (text("apiVersion"), text("kind")) {
                ("", "") => "no Kubernetes object".to_owned(),
                (version, kind) => format!("{version} {kind}").trim().to_owned(),
            };
            let detail = format!("found {what}, expected a CustomResourceDefinition or an OpenAPI document");
            out.findings.push(Finding::new(Code::Skipped, file, Some(place(node)), detail));
        }
        Item::Error(error) => {
            let code = if error.limit { Code::Limit } else { Code::NotYaml };
            out.findings.push(Finding::new(code, file, Some((error.line, error.column)), error.message));
        }
    });
    out
}

impl Content {
    fn crd<'a>(
        &mut self,
        file: &Arc<str>,
        manifest: Manifest<'a>,
        publisher: &'a Publisher,
        arena: &'a Bump,
        source: &Arc<Source>,
        ordinal: usize,
    ) {
        let read = manifest.read(arena);
        let node = manifest.node;
        let mut name = node.get("metadata").and_then(|m| m.get("name")).and_then(Node::as_str).unwrap_or_default();
        let finding = |note: &Note<'_>, name: &str| {
            let at = ((note.at as usize) < node.document().len()).then(|| place(node.document().node(note.at)));
            Finding::new(note.code, file, at, note.detail.to_string()).of(name)
        };
        let shown = |note: &&Note<'_>| !note.code.kind().is_loss();
        self.findings.extend(read.notes.iter().filter(shown).map(|note| finding(note, name)));
        let Some(crd) = read.value else { return };
        let crd = &*arena.alloc(crd);
        if name.is_empty() {
            name = arena.alloc_str(&format!("{}.{}", crd.names.plural, crd.group));
        }
        let resource = publisher.resource(crd, arena);
        self.findings.extend(resource.findings().iter().filter(shown).map(|note| finding(note, name)));
        let mut versions: Vec<(Arc<str>, V3Fragments)> = Vec::with_capacity(crd.versions.len());
        for version in resource.versions().iter().filter(|version| version.is_published()) {
            let path = version.group_version_path();
            if !versions.iter().any(|(other, _)| **other == path) {
                versions.push((path.into(), version.v3_fragments()));
            }
        }
        let custom = custom_resource(crd);
        self.resources.push(Arc::new(Resource {
            name: name.into(),
            names_at: place(node.document().node(custom.names_at)),
            custom,
            versions,
            source: Arc::clone(source),
            ordinal,
        }));
    }
}

fn place(node: Node<'_>) -> (usize, usize) {
    let Position { line, column } = Position::of(node.document().source(), node.span().start);
    (line, column)
}

/// What is wrong with a document: code, place, detail.
pub(super) type Mistake = (Code, Option<(usize, usize)>, String);

/// The bytes of a document as a server prints it: the text itself if it has no blanks between its parts, as servers
/// send it.
pub(super) fn canonical(
    root: Node<'_>,
    dialect: Dialect,
    bytes: &Bytes,
    profile: Profile,
) -> Result<Bytes, Vec<Mistake>> {
    let is_compact = bytes.first() == Some(&b'{') && bytes.last() == Some(&b'}') && !bytes.contains(&b'\n');
    if is_compact && root.document().is_json() {
        return Ok(bytes.clone());
    }
    let arena = Bump::new();
    let mut out = Vec::with_capacity(bytes.len());
    let (read, notes) = match dialect {
        Dialect::V3 => {
            let read = v3::read(root, &arena, profile);
            (read.value.map(|document| document.print(&mut out, profile)), read.notes)
        }
        Dialect::V2 => {
            let read = v2::read(root, &arena, profile);
            (read.value.map(|document| document.print(&mut out, Style::V2, profile)), read.notes)
        }
    };
    if read.is_some() {
        return Ok(out.into());
    }
    let errors = notes.into_iter().filter(|note| note.code.kind() == NoteKind::Error);
    Err(errors.map(|note| (note.code, Some(place(root.document().node(note.at))), note.detail.into_owned())).collect())
}

/// The JSON of a document in protobuf form.
pub(super) fn decode(bytes: &[u8]) -> Result<(Dialect, Bytes), String> {
    let dialect = proto::detect(bytes).ok_or("found no OpenAPI document in protobuf form")?;
    let json = proto::decode(bytes, dialect).map_err(|error| error.to_string())?;
    Ok((dialect, json.into()))
}

/// A printed document.
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

/// The path under which a v3 document is published, and the group versions that it shows.
fn of_paths(json: &[u8]) -> (Option<String>, GroupVersions) {
    let mut tape = Tape::new();
    let Ok(mut stream) = Stream::new(json, Limits::default()) else { return Default::default() };
    let source = stream.source();
    let Some(Ok(())) = stream.next(&mut tape) else { return Default::default() };
    let Some(root) = tape.document(source).root() else { return Default::default() };
    let groups = group_versions_of_document(root).into_iter().map(|(group, version)| (group, Arc::new(version)));
    (path_of(root), groups.collect())
}

/// The path of a document by the paths in it: `apis/GROUP/VERSION`, `api/v1`, else the shortest.
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

/// Of the same place in the same text.
impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.ordinal == other.ordinal
    }
}
