//! The shapes of an API, and the formats of files.

use clap::ValueEnum;

/// A shape in which Kubernetes shows or treats an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Shape {
    /// The OpenAPI v3 document, in OpenAPI 3.0 as Kubernetes publishes it
    V3,
    /// The OpenAPI v3 document in OpenAPI 3.1, with schemas of JSON Schema 2020-12
    #[value(name = "v3.1")]
    V31,
    /// The OpenAPI v2 document
    V2,
    /// The structured-merge-diff schema that server-side apply uses
    Smd,
    /// A self-contained JSON Schema for each kind
    #[value(name = "jsonschema")]
    JsonSchema,
    /// The structural schema of a CustomResourceDefinition
    Structural,
    /// The smallest OpenAPI v2 document with which kustomize merges lists by key (`openapi.path` of a kustomization)
    Kustomize,
    /// The CEL rules of a CustomResourceDefinition as a ValidatingAdmissionPolicy
    Policy,
    /// CustomResourceDefinitions from schemas of documents; of a definition, itself with the expressions of admission
    /// policies as rules (--rules-from)
    Crd,
}

impl Shape {
    /// All shapes in the order in which their results are written.
    pub(crate) const ALL: [Shape; 9] = [
        Shape::V3,
        Shape::V31,
        Shape::V2,
        Shape::Smd,
        Shape::JsonSchema,
        Shape::Structural,
        Shape::Kustomize,
        Shape::Policy,
        Shape::Crd,
    ];

    /// The word on the command line and in reports.
    pub(crate) fn name(self) -> &'static str {
        kubeshape_input::Shape::from(self).name()
    }

    /// Whether results are made of OpenAPI v3 documents, in either version.
    pub(crate) fn is_v3(self) -> bool {
        matches!(self, Shape::V3 | Shape::V31)
    }

    /// The dialect of OpenAPI documents, if it is one.
    pub(crate) fn dialect(self) -> Option<kubeshape_schema::Dialect> {
        match self {
            Shape::V3 | Shape::V31 => Some(kubeshape_schema::Dialect::V3),
            Shape::V2 => Some(kubeshape_schema::Dialect::V2),
            Shape::Smd | Shape::JsonSchema | Shape::Structural | Shape::Kustomize | Shape::Policy | Shape::Crd => None,
        }
    }
}

impl From<Shape> for kubeshape_input::Shape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::V3 => Self::V3,
            Shape::V31 => Self::V31,
            Shape::V2 => Self::V2,
            Shape::Smd => Self::Smd,
            Shape::JsonSchema => Self::JsonSchema,
            Shape::Structural => Self::Structural,
            Shape::Kustomize => Self::Kustomize,
            Shape::Policy => Self::Policy,
            Shape::Crd => Self::Crd,
        }
    }
}

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// Protobuf, as the API server sends it (v3, v2)
    Pb,
}
