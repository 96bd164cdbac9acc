//! Our answers for a file, in a form that is easy to compare.

use kubeshape_discovery::{CustomResource, custom_resource};
use kubeshape_publish::{Publisher, V2Form, V2Fragments, V3Fragments};
use kubeshape_schema::{Bump, Code};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Our answers for one CustomResourceDefinition.
#[derive(Clone, Debug)]
pub struct OurCrd {
    /// `metadata.name`
    pub name: String,
    /// `v1` or `v1beta1`
    pub api_version: &'static str,
    /// After defaulting.
    pub preserve_unknown_fields: bool,
    /// The structured-merge-diff schema as JSON, or its errors.
    pub smd: Result<Vec<u8>, String>,
    /// Its versions in order.
    pub versions: Vec<OurVersion>,
    /// What it adds to discovery.
    pub discovery: CustomResource,
    /// Parts of the merged v2 document.
    pub v2_fragments: V2Fragments,
    /// Parts of a server's v2 document.
    pub v2_served_fragments: V2Fragments,
}

/// Our answers for one version.
#[derive(Clone, Debug, Default)]
pub struct OurVersion {
    /// Its name.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether it is the storage version.
    pub storage: bool,
    /// Whether it has a schema.
    pub has_schema: bool,
    /// Why the schema does not convert.
    pub not_convertible: Option<String>,
    /// The document of this version alone.
    pub v3: Vec<u8>,
    /// The document of this version alone.
    pub v2: Vec<u8>,
    /// Parts of the merged v3 document.
    pub v3_fragments: V3Fragments,
}

/// The answer for a document of a file.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A CustomResourceDefinition.
    Crd(Box<OurCrd>),
    /// It cannot be read or decoded.
    Unreadable(String),
}

impl Answer {
    /// The CustomResourceDefinition, if there is one.
    pub fn into_crd(self) -> Option<OurCrd> {
        match self {
            Answer::Crd(crd) => Some(*crd),
            Answer::Unreadable(_) => None,
        }
    }
}

/// Returns our answers for a file, in document order. Only CustomResourceDefinitions have answers.
pub fn answers(bytes: &[u8], publisher: &Publisher) -> Vec<Answer> {
    let mut out = Vec::new();
    let mut stream = match Stream::new(bytes, Limits::default()) {
        Ok(stream) => stream,
        Err(error) => return vec![Answer::Unreadable(error.to_string())],
    };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(read) = stream.next(&mut tape) {
        if let Err(error) = read {
            out.push(Answer::Unreadable(error.to_string()));
            continue;
        }
        let Some(root) = tape.document(source).root() else { continue };
        let (manifests, _) = kubeshape_structural::read::manifests(root);
        for manifest in manifests {
            let arena = Bump::new();
            out.push(answer(manifest, publisher, &arena));
        }
    }
    out
}

fn answer(manifest: kubeshape_structural::read::Manifest<'_>, publisher: &Publisher, arena: &Bump) -> Answer {
    let node = manifest.node;
    let read = manifest.read(arena);
    let Some(crd) = read.value else {
        let errors: Vec<String> =
            read.notes.iter().map(|n| format!("{} {}", node.document().pointer(n.at), n.detail)).collect();
        return Answer::Unreadable(errors.join("; "));
    };
    let resource = publisher.resource(&crd, arena);
    let versions = resource
        .versions()
        .iter()
        .map(|version| {
            // If two versions have the same name, upstream uses the schema of the first.
            let name = version.version().name;
            let first =
                resource.versions().iter().find(|other| other.version().name == name).unwrap_or(version).version();
            let not_convertible = resource
                .findings()
                .iter()
                .find(|note| {
                    note.code == Code::NotConvertible
                        && first.schema.is_some_and(|schema| within(node, note.at, schema.at))
                })
                .map(|note| note.detail.to_string());
            let (mut v3, mut v2) = (Vec::new(), Vec::new());
            version.v3(&mut v3);
            version.v2(&mut v2);
            OurVersion {
                name: version.version().name.to_owned(),
                served: version.version().served,
                storage: version.version().storage,
                has_schema: first.schema.is_some(),
                not_convertible,
                v3,
                v2,
                v3_fragments: version.v3_fragments(),
            }
        })
        .collect();
    let smd = resource.smd().map_or_else(
        |errors| Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        |schema| {
            let mut out = Vec::new();
            kubeshape_smd::schema::print_json(&schema, &mut out);
            Ok(out)
        },
    );
    Answer::Crd(Box::new(OurCrd {
        name: crd.name.to_owned(),
        api_version: match crd.api_version {
            kubeshape_structural::ApiVersion::V1 => "v1",
            kubeshape_structural::ApiVersion::V1beta1 => "v1beta1",
        },
        preserve_unknown_fields: crd.preserve_unknown_fields,
        smd,
        versions,
        discovery: custom_resource(&crd),
        v2_fragments: resource.v2_fragments(V2Form::Merged),
        v2_served_fragments: resource.v2_fragments(V2Form::Served),
    }))
}

/// Returns whether a location is at or inside another one.
fn within(node: kubeshape_yaml::Node<'_>, at: u32, outer: u32) -> bool {
    let document = node.document();
    document.pointer(at).starts_with(&document.pointer(outer))
}
