//! The structs of a CustomResourceDefinition.
//!
//! Upstream: `pkg/apis/apiextensions/v1` of `k8s.io/apiextensions-apiserver`.

use crate::Printed::{Always, Filled, Set};
use crate::Type::{Any, Bool, Float, Int, List, Map, Metadata, Of, SchemaOr, Time};
use crate::{STRING, Struct, Type, field};

const STRINGS: Type = List(&STRING);
const ANYTHING: Type = List(&Any);
/// `JSONSchemaProps`, the schema of a version and what is in it.
pub static SCHEMA: Type = Of(&SCHEMA_PROPS);
static SCHEMAS: Type = List(&SCHEMA);

/// `CustomResourceDefinition`
pub static DEFINITION: Type = Of(&Struct {
    name: "CustomResourceDefinition",
    fields: &[
        field("kind", STRING, Filled),
        field("apiVersion", STRING, Filled),
        field("metadata", Metadata, Always),
        field("spec", Of(&SPEC), Always),
        field("status", Of(&STATUS), Always),
    ],
});

/// `CustomResourceDefinitionSpec`
pub static SPEC: Struct = Struct {
    name: "CustomResourceDefinitionSpec",
    fields: &[
        field("group", STRING, Always),
        field("names", Of(&NAMES), Always),
        field("scope", STRING, Always),
        field("versions", List(&Of(&VERSION)), Always),
        field("conversion", Of(&CONVERSION), Set),
        field("preserveUnknownFields", Bool, Filled),
    ],
};

/// `CustomResourceDefinitionNames`
pub static NAMES: Struct = Struct {
    name: "CustomResourceDefinitionNames",
    fields: &[
        field("plural", STRING, Always),
        field("singular", STRING, Filled),
        field("shortNames", STRINGS, Filled),
        field("kind", STRING, Always),
        field("listKind", STRING, Filled),
        field("categories", STRINGS, Filled),
    ],
};

/// `CustomResourceDefinitionVersion`
pub static VERSION: Struct = Struct {
    name: "CustomResourceDefinitionVersion",
    fields: &[
        field("name", STRING, Always),
        field("served", Bool, Always),
        field("storage", Bool, Always),
        field("deprecated", Bool, Filled),
        field("deprecationWarning", STRING, Set),
        field("schema", Of(&VALIDATION), Set),
        field("subresources", Of(&SUBRESOURCES), Set),
        field("additionalPrinterColumns", List(&Of(&COLUMN)), Filled),
        field(
            "selectableFields",
            List(&Of(&Struct { name: "SelectableField", fields: &[field("jsonPath", STRING, Always)] })),
            Filled,
        ),
    ],
};

/// `CustomResourceValidation`
pub static VALIDATION: Struct =
    Struct { name: "CustomResourceValidation", fields: &[field("openAPIV3Schema", Of(&SCHEMA_PROPS), Set)] };

/// `CustomResourceSubresources`
pub static SUBRESOURCES: Struct = Struct {
    name: "CustomResourceSubresources",
    fields: &[
        field("status", Of(&Struct { name: "CustomResourceSubresourceStatus", fields: &[] }), Set),
        field("scale", Of(&SCALE), Set),
    ],
};

/// `CustomResourceSubresourceScale`
pub static SCALE: Struct = Struct {
    name: "CustomResourceSubresourceScale",
    fields: &[
        field("specReplicasPath", STRING, Always),
        field("statusReplicasPath", STRING, Always),
        field("labelSelectorPath", STRING, Set),
    ],
};

/// `CustomResourceColumnDefinition`
pub static COLUMN: Struct = Struct {
    name: "CustomResourceColumnDefinition",
    fields: &[
        field("name", STRING, Always),
        field("type", STRING, Always),
        field("format", STRING, Filled),
        field("description", STRING, Filled),
        field("priority", Int, Filled),
        field("jsonPath", STRING, Always),
    ],
};

/// `CustomResourceConversion`
static CONVERSION: Struct = Struct {
    name: "CustomResourceConversion",
    fields: &[field("strategy", STRING, Always), field("webhook", Of(&WEBHOOK), Set)],
};

/// `WebhookConversion`
static WEBHOOK: Struct = Struct {
    name: "WebhookConversion",
    fields: &[field("clientConfig", Of(&CLIENT_CONFIG), Set), field("conversionReviewVersions", STRINGS, Always)],
};

/// `WebhookClientConfig`
static CLIENT_CONFIG: Struct = Struct {
    name: "WebhookClientConfig",
    fields: &[field("url", STRING, Set), field("service", Of(&SERVICE), Set), field("caBundle", STRING, Filled)],
};

/// `ServiceReference`
static SERVICE: Struct = Struct {
    name: "ServiceReference",
    fields: &[
        field("namespace", STRING, Always),
        field("name", STRING, Always),
        field("path", STRING, Set),
        field("port", Int, Set),
    ],
};

/// `CustomResourceDefinitionStatus`
pub static STATUS: Struct = Struct {
    name: "CustomResourceDefinitionStatus",
    fields: &[
        field("conditions", List(&Of(&CONDITION)), Always),
        field("acceptedNames", Of(&NAMES), Always),
        field("storedVersions", STRINGS, Always),
        field("observedGeneration", Int, Filled),
    ],
};

/// `CustomResourceDefinitionCondition`
pub static CONDITION: Struct = Struct {
    name: "CustomResourceDefinitionCondition",
    fields: &[
        field("type", STRING, Always),
        field("status", STRING, Always),
        field("observedGeneration", Int, Filled),
        field("lastTransitionTime", Time, Filled),
        field("reason", STRING, Filled),
        field("message", STRING, Filled),
    ],
};

/// `ValidationRule`
static RULE: Struct = Struct {
    name: "ValidationRule",
    fields: &[
        field("rule", STRING, Always),
        field("message", STRING, Filled),
        field("messageExpression", STRING, Filled),
        field("reason", STRING, Set),
        field("fieldPath", STRING, Filled),
        field("optionalOldSelf", Bool, Set),
    ],
};

/// `JSONSchemaProps`
static SCHEMA_PROPS: Struct = Struct {
    name: "JSONSchemaProps",
    fields: &[
        field("id", STRING, Filled),
        field("$schema", STRING, Filled),
        field("$ref", STRING, Set),
        field("description", STRING, Filled),
        field("type", STRING, Filled),
        field("format", STRING, Filled),
        field("title", STRING, Filled),
        field("default", Any, Set),
        field("maximum", Float, Set),
        field("exclusiveMaximum", Bool, Filled),
        field("minimum", Float, Set),
        field("exclusiveMinimum", Bool, Filled),
        field("maxLength", Int, Set),
        field("minLength", Int, Set),
        field("pattern", STRING, Filled),
        field("maxItems", Int, Set),
        field("minItems", Int, Set),
        field("uniqueItems", Bool, Filled),
        field("multipleOf", Float, Set),
        field("enum", ANYTHING, Filled),
        field("maxProperties", Int, Set),
        field("minProperties", Int, Set),
        field("required", STRINGS, Filled),
        field("items", SchemaOr(&SCHEMAS), Set),
        field("allOf", List(&SCHEMA), Filled),
        field("oneOf", List(&SCHEMA), Filled),
        field("anyOf", List(&SCHEMA), Filled),
        field("not", Of(&SCHEMA_PROPS), Set),
        field("properties", Map(&SCHEMA), Filled),
        field("additionalProperties", SchemaOr(&Bool), Set),
        field("patternProperties", Map(&SCHEMA), Filled),
        field("dependencies", Map(&SchemaOr(&STRINGS)), Filled),
        field("additionalItems", SchemaOr(&Bool), Set),
        field("definitions", Map(&SCHEMA), Filled),
        field(
            "externalDocs",
            Of(&Struct {
                name: "ExternalDocumentation",
                fields: &[field("description", STRING, Filled), field("url", STRING, Filled)],
            }),
            Set,
        ),
        field("example", Any, Set),
        field("nullable", Bool, Filled),
        field("x-kubernetes-preserve-unknown-fields", Bool, Set),
        field("x-kubernetes-embedded-resource", Bool, Filled),
        field("x-kubernetes-int-or-string", Bool, Filled),
        field("x-kubernetes-list-map-keys", STRINGS, Filled),
        field("x-kubernetes-list-type", STRING, Set),
        field("x-kubernetes-map-type", STRING, Set),
        field("x-kubernetes-validations", List(&Of(&RULE)), Filled),
    ],
};
