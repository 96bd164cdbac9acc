//! Schemas and objects: upstream's test data, and those that the Go program generates.

use kubeshape_smd::typed::Types;
use kubeshape_smd::{Bump, ToValue as _, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::path::{Path, PathBuf};

/// The folders of the inputs.
#[derive(Debug)]
pub(super) struct Inputs {
    folder: PathBuf,
    made: PathBuf,
}

/// An object of upstream's benchmarks: its name, schema, type and file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) name: &'static str,
    pub(super) schema: &'static str,
    pub(super) ty: &'static str,
    pub(super) file: &'static str,
}

const POD: &str = "io.k8s.api.core.v1.Pod";
const NODE: &str = "io.k8s.api.core.v1.Node";
const ENDPOINTS: &str = "io.k8s.api.core.v1.Endpoints";
const CRD: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1.CustomResourceDefinition";

/// Upstream's objects.
#[rustfmt::skip]
pub(super) const OBJECTS: [Object; 9] = [
    Object { name: "Pod", schema: "k8s-schema", ty: POD, file: "pod.yaml" },
    Object { name: "Node", schema: "k8s-schema", ty: NODE, file: "node.yaml" },
    Object { name: "Endpoints", schema: "k8s-schema", ty: ENDPOINTS, file: "endpoints.yaml" },
    Object { name: "Node100%override", schema: "k8s-schema-100pct-fieldoverride", ty: NODE, file: "node.yaml" },
    Object { name: "Node10%override", schema: "k8s-schema-10pct-fieldoverride", ty: NODE, file: "node.yaml" },
    Object { name: "Endpoints100%override", schema: "k8s-schema-100pct-fieldoverride", ty: ENDPOINTS, file: "endpoints.yaml" },
    Object { name: "Endpoints10%override", schema: "k8s-schema-10pct-fieldoverride", ty: ENDPOINTS, file: "endpoints.yaml" },
    Object { name: "PrometheusCRD", schema: "k8s-schema", ty: CRD, file: "prometheus-crd.yaml" },
    Object { name: "apiresourceimport", schema: "apiresourceimport", ty: "apiresourceimport", file: "apiresourceimport-cr.yaml" },
];

/// Large objects that the Go program generates, with the schema `list-schema`. Without a schema, the type is deduced.
#[rustfmt::skip]
pub(super) const LARGE: [Object; 7] = [
    Object { name: "Deduced1MB", schema: "", ty: schema::UNTYPED_DEDUCED, file: "Deduced1MB.json" },
    Object { name: "Pod1MB", schema: "k8s-schema", ty: POD, file: "Pod1MB.json" },
    Object { name: "ListMap1000", schema: "list-schema", ty: "root", file: "ListMap1000.json" },
    Object { name: "ListMap10000", schema: "list-schema", ty: "root", file: "ListMap10000.json" },
    Object { name: "Set1000", schema: "list-schema", ty: "root", file: "Set1000.json" },
    Object { name: "Set10000", schema: "list-schema", ty: "root", file: "Set10000.json" },
    Object { name: "Map10000", schema: "list-schema", ty: "root", file: "Map10000.json" },
];

impl Inputs {
    pub(super) fn new(folder: &Path, made: &Path) -> Inputs {
        Inputs { folder: folder.to_owned(), made: made.to_owned() }
    }

    /// Returns the contents of a file in one of the folders, or `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        [&self.made, &self.folder].iter().find_map(|folder| std::fs::read_to_string(folder.join(name)).ok())
    }

    /// The types of a schema.
    pub(super) fn types(&self, schema: &str) -> Option<Types> {
        if schema.is_empty() {
            return Some(Types::deduced());
        }
        types(&self.read(&format!("{schema}.yaml"))?)
    }
}

/// Reads and compiles a schema.
pub(super) fn types(source: &str) -> Option<Types> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    Some(Types::new(schema::read(tape.document(source).root()?).ok()?))
}

/// Reads an object.
pub(super) fn value<'a>(source: &str, arena: &'a Bump) -> Option<Value<'a>> {
    let (mut tape, scratch) = (Tape::new(), Bump::new());
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    Some(tape.document(source).root()?.to_value(&scratch).copy_into(arena))
}
