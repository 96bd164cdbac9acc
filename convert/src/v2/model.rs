//! OpenAPI v2 documents as kube-openapi's `validation/spec` has them.

use crate::model::{Boxed, Map, Reference, ResponseObject, Texts, in_place, object};
use kubeshape_schema::{Json, Property, Schema};

pub use crate::model::{Contact, ExternalDocs, Info, License, Security, Tag};

object! {
    /// An OpenAPI v2 document.
    Document, "an OpenAPI v2 document";
    {
        omit id: &'a str = "id",
        omit consumes: Texts<'a> = "consumes",
        omit produces: Texts<'a> = "produces",
        omit schemes: Texts<'a> = "schemes",
        omit swagger: &'a str = "swagger",
        lean info: Boxed<'a, Info<'a>> = "info",
        omit host: &'a str = "host",
        omit base_path: &'a str = "basePath",
        always paths: Boxed<'a, Paths<'a>> = "paths",
        omit definitions: &'a [Property<'a>] = "definitions",
        omit parameters: Map<'a, Parameter<'a>> = "parameters",
        omit responses: Map<'a, Response<'a>> = "responses",
        omit security_definitions: Map<'a, SecurityScheme<'a>> = "securityDefinitions",
        lean security: Security<'a> = "security",
        omit tags: &'a [Tag<'a>] = "tags",
        lean external_docs: Boxed<'a, ExternalDocs<'a>> = "externalDocs",
    }
    extensions
}

/// The paths of a document.
pub type Paths<'a> = crate::model::Paths<'a, PathItem<'a>>;

object! {
    /// The operations of a path.
    PathItem, "a path item", site PathItem;
    {
        omit reference: Reference<'a> = "$ref",
        lean get: Boxed<'a, Operation<'a>> = "get",
        lean put: Boxed<'a, Operation<'a>> = "put",
        lean post: Boxed<'a, Operation<'a>> = "post",
        lean delete: Boxed<'a, Operation<'a>> = "delete",
        lean options: Boxed<'a, Operation<'a>> = "options",
        lean head: Boxed<'a, Operation<'a>> = "head",
        lean patch: Boxed<'a, Operation<'a>> = "patch",
        omit parameters: &'a [Parameter<'a>] = "parameters",
    }
    extensions
}

object! {
    /// An operation.
    Operation, "an operation";
    {
        omit description: &'a str = "description",
        lean consumes: Option<Texts<'a>> = "consumes",
        lean produces: Option<Texts<'a>> = "produces",
        omit schemes: Texts<'a> = "schemes",
        omit tags: Texts<'a> = "tags",
        omit summary: &'a str = "summary",
        keep external_docs: Boxed<'a, ExternalDocs<'a>> = "externalDocs",
        omit operation_id: &'a str = "operationId",
        omit deprecated: bool = "deprecated",
        lean security: Security<'a> = "security",
        omit parameters: &'a [Parameter<'a>] = "parameters",
        keep responses: Boxed<'a, Responses<'a>> = "responses",
    }
    extensions
}

object! {
    /// The simple type of parameters, headers and their items, which have no schema.
    Simple, "a simple schema";
    {
        omit maximum: Option<f64> = "maximum",
        omit exclusive_maximum: bool = "exclusiveMaximum",
        omit minimum: Option<f64> = "minimum",
        omit exclusive_minimum: bool = "exclusiveMinimum",
        omit max_length: Option<i64> = "maxLength",
        omit min_length: Option<i64> = "minLength",
        omit pattern: &'a str = "pattern",
        omit max_items: Option<i64> = "maxItems",
        omit min_items: Option<i64> = "minItems",
        omit unique_items: bool = "uniqueItems",
        omit multiple_of: Option<f64> = "multipleOf",
        omit enumeration: &'a [Json<'a>] = "enum",
        omit ty: &'a str = "type",
        omit nullable: bool = "nullable",
        omit format: &'a str = "format",
        keep items: Boxed<'a, Items<'a>> = "items",
        omit collection_format: &'a str = "collectionFormat",
        lean default: Option<Json<'a>> = "default",
        lean example: Option<Json<'a>> = "example",
    }
}

object! {
    /// The items of an array outside of schemas.
    Items, "an items object";
    flat {
        /// The type and its restrictions.
        simple: Simple<'a>
    }
    {
        omit reference: Reference<'a> = "$ref",
    }
    extensions
}

object! {
    /// A parameter.
    Parameter, "a parameter", site Parameter;
    flat {
        /// The type and its restrictions, unless the parameter is in the body.
        simple: Simple<'a>
    }
    {
        omit description: &'a str = "description",
        omit name: &'a str = "name",
        omit location: &'a str = "in",
        omit required: bool = "required",
        keep schema: Option<&'a Schema<'a>> = "schema",
        omit allow_empty_value: bool = "allowEmptyValue",
        omit reference: Reference<'a> = "$ref",
    }
    extensions
}

/// The responses of an operation.
pub type Responses<'a> = crate::model::Responses<'a, Response<'a>>;

object! {
    /// A response.
    Response, "a response", site Response;
    {
        omit reference: Reference<'a> = "$ref",
        omit description: &'a str = "description",
        keep schema: Option<&'a Schema<'a>> = "schema",
        omit headers: Map<'a, Header<'a>> = "headers",
        omit examples: Map<'a, Option<Json<'a>>> = "examples",
    }
    extensions
}

object! {
    /// A header of a response.
    Header, "a header", site Header;
    flat {
        /// The type and its restrictions.
        simple: Simple<'a>
    }
    {
        omit description: &'a str = "description",
    }
    extensions
}

object! {
    /// A security scheme.
    SecurityScheme, "a security scheme", site SecurityScheme;
    {
        omit description: &'a str = "description",
        always ty: &'a str = "type",
        omit name: &'a str = "name",
        omit location: &'a str = "in",
        omit flow: &'a str = "flow",
        omit authorization_url: &'a str = "authorizationUrl",
        omit token_url: &'a str = "tokenUrl",
        omit scopes: Map<'a, &'a str> = "scopes",
    }
    extensions
}

in_place!(Parameter<'a>, Response<'a>, Header<'a>, PathItem<'a>, SecurityScheme<'a>);

impl ResponseObject for Response<'_> {
    const EMPTY_DEFAULT: bool = false;
}

impl Parameter<'_> {
    /// Returns whether it has members in addition to its reference.
    pub(crate) fn has_siblings(&self) -> bool {
        let Parameter {
            simple: Simple { ty, format, unique_items, .. },
            description,
            name,
            location,
            required,
            schema,
            allow_empty_value,
            reference: _,
            extensions,
            at: _,
        } = self;
        *required
            || *allow_empty_value
            || *unique_items
            || schema.is_some()
            || [description, name, location, ty, format].iter().any(|text| !text.is_empty())
            || !extensions.is_empty()
            || self.simple.is_restricted()
    }
}

impl Simple<'_> {
    /// Returns whether it has members other than the type, the format, `uniqueItems` and extensions.
    pub(crate) fn is_restricted(&self) -> bool {
        let Simple {
            maximum,
            exclusive_maximum,
            minimum,
            exclusive_minimum,
            max_length,
            min_length,
            pattern,
            max_items,
            min_items,
            unique_items: _,
            multiple_of,
            enumeration,
            ty: _,
            nullable,
            format: _,
            items,
            collection_format,
            default,
            example,
            extensions: _,
            at: _,
        } = self;
        *exclusive_maximum
            || *exclusive_minimum
            || *nullable
            || [maximum, minimum, multiple_of].iter().any(|limit| limit.is_some())
            || [max_length, min_length, max_items, min_items].iter().any(|limit| limit.is_some())
            || !(pattern.is_empty() && enumeration.is_empty() && collection_format.is_empty())
            || items.is_some()
            || default.is_some()
            || example.is_some()
    }
}
