//! OpenAPI v3.0 documents as kube-openapi's `spec3` has them.

use crate::model::{Boxed, Map, Reference, ResponseObject, Texts, in_place, object};
use kubeshape_schema::{Json, Property, Schema};

pub use crate::model::{Contact, ExternalDocs as TagDocs, Info, License, Security, Tag};

object! {
    /// An OpenAPI v3 document.
    Document, "an OpenAPI v3 document";
    {
        always openapi: &'a str = "openapi",
        always info: Boxed<'a, Info<'a>> = "info",
        keep paths: Boxed<'a, Paths<'a>> = "paths",
        omit servers: &'a [Server<'a>] = "servers",
        keep components: Boxed<'a, Components<'a>> = "components",
        lean security: Security<'a> = "security",
        faithful tags: &'a [Tag<'a>] = "tags",
        keep external_docs: Boxed<'a, ExternalDocs<'a>> = "externalDocs",
    }
    faithful extensions
}

object! {
    /// A pointer to documentation.
    ExternalDocs, "a mapping with description and url";
    {
        omit description: &'a str = "description",
        always url: &'a str = "url",
    }
    extensions
}

object! {
    /// A server.
    Server, "a server";
    {
        omit description: &'a str = "description",
        always url: &'a str = "url",
        omit variables: Map<'a, Boxed<'a, ServerVariable<'a>>> = "variables",
    }
    extensions
}

object! {
    /// A variable in a server's URL.
    ServerVariable, "a server variable";
    {
        omit enumeration: Texts<'a> = "enum",
        always default: &'a str = "default",
        omit description: &'a str = "description",
    }
    extensions
}

object! {
    /// The shared parts of a document.
    Components, "a components object";
    {
        omit schemas: &'a [Property<'a>] = "schemas",
        omit security_schemes: Map<'a, Boxed<'a, SecurityScheme<'a>>> = "securitySchemes",
        omit responses: Map<'a, Boxed<'a, Response<'a>>> = "responses",
        omit parameters: Map<'a, Boxed<'a, Parameter<'a>>> = "parameters",
        omit examples: Map<'a, Boxed<'a, Example<'a>>> = "examples",
        omit request_bodies: Map<'a, Boxed<'a, RequestBody<'a>>> = "requestBodies",
        omit links: Map<'a, Boxed<'a, Link<'a>>> = "links",
        omit headers: Map<'a, Boxed<'a, Header<'a>>> = "headers",
        faithful callbacks: Map<'a, Boxed<'a, Callback<'a>>> = "callbacks",
    }
    faithful extensions
}

/// The paths of a document.
pub type Paths<'a> = crate::model::Paths<'a, PathItem<'a>>;

object! {
    /// The operations of a path.
    PathItem, "a path item", site PathItem;
    {
        omit reference: Reference<'a> = "$ref",
        omit summary: &'a str = "summary",
        omit description: &'a str = "description",
        lean get: Boxed<'a, Operation<'a>> = "get",
        lean put: Boxed<'a, Operation<'a>> = "put",
        lean post: Boxed<'a, Operation<'a>> = "post",
        lean delete: Boxed<'a, Operation<'a>> = "delete",
        lean options: Boxed<'a, Operation<'a>> = "options",
        lean head: Boxed<'a, Operation<'a>> = "head",
        lean patch: Boxed<'a, Operation<'a>> = "patch",
        lean trace: Boxed<'a, Operation<'a>> = "trace",
        omit servers: &'a [Server<'a>] = "servers",
        omit parameters: &'a [Parameter<'a>] = "parameters",
    }
    extensions
}

object! {
    /// An operation.
    Operation, "an operation";
    {
        omit tags: Texts<'a> = "tags",
        omit summary: &'a str = "summary",
        omit description: &'a str = "description",
        keep external_docs: Boxed<'a, ExternalDocs<'a>> = "externalDocs",
        omit operation_id: &'a str = "operationId",
        omit parameters: &'a [Parameter<'a>] = "parameters",
        keep request_body: Boxed<'a, RequestBody<'a>> = "requestBody",
        keep responses: Boxed<'a, Responses<'a>> = "responses",
        faithful callbacks: Map<'a, Boxed<'a, Callback<'a>>> = "callbacks",
        omit deprecated: bool = "deprecated",
        lean security: Security<'a> = "security",
        omit servers: &'a [Server<'a>] = "servers",
    }
    extensions
}

object! {
    /// A parameter.
    Parameter, "a parameter", site Parameter;
    {
        omit reference: Reference<'a> = "$ref",
        omit name: &'a str = "name",
        omit location: &'a str = "in",
        omit description: &'a str = "description",
        omit required: bool = "required",
        omit deprecated: bool = "deprecated",
        omit allow_empty_value: bool = "allowEmptyValue",
        omit style: &'a str = "style",
        lean explode: Option<bool> = "explode",
        omit allow_reserved: bool = "allowReserved",
        keep schema: Option<&'a Schema<'a>> = "schema",
        omit content: Map<'a, Boxed<'a, MediaType<'a>>> = "content",
        lean example: Option<Json<'a>> = "example",
        omit examples: Map<'a, Boxed<'a, Example<'a>>> = "examples",
    }
    extensions
}

object! {
    /// A header of a response or of a part of a body.
    Header, "a header", site Header;
    {
        omit reference: Reference<'a> = "$ref",
        omit description: &'a str = "description",
        omit required: bool = "required",
        omit deprecated: bool = "deprecated",
        omit allow_empty_value: bool = "allowEmptyValue",
        omit style: &'a str = "style",
        lean explode: Option<bool> = "explode",
        omit allow_reserved: bool = "allowReserved",
        keep schema: Option<&'a Schema<'a>> = "schema",
        omit content: Map<'a, Boxed<'a, MediaType<'a>>> = "content",
        lean example: Option<Json<'a>> = "example",
        omit examples: Map<'a, Boxed<'a, Example<'a>>> = "examples",
    }
    extensions
}

object! {
    /// A request body.
    RequestBody, "a request body", site RequestBody;
    {
        omit reference: Reference<'a> = "$ref",
        omit description: &'a str = "description",
        lean content: Map<'a, Boxed<'a, MediaType<'a>>> = "content",
        omit required: bool = "required",
    }
    extensions
}

object! {
    /// The content of a body or a parameter in one media type.
    MediaType, "a media type", site MediaType;
    {
        keep schema: Option<&'a Schema<'a>> = "schema",
        lean example: Option<Json<'a>> = "example",
        omit examples: Map<'a, Boxed<'a, Example<'a>>> = "examples",
        omit encoding: Map<'a, Boxed<'a, Encoding<'a>>> = "encoding",
    }
    extensions
}

object! {
    /// How a property of a body is written.
    Encoding, "an encoding";
    {
        omit content_type: &'a str = "contentType",
        omit headers: Map<'a, Boxed<'a, Header<'a>>> = "headers",
        omit style: &'a str = "style",
        lean explode: Option<bool> = "explode",
        omit allow_reserved: bool = "allowReserved",
    }
    extensions
}

object! {
    /// An example.
    Example, "an example", site Example;
    {
        omit reference: Reference<'a> = "$ref",
        omit summary: &'a str = "summary",
        omit description: &'a str = "description",
        lean value: Option<Json<'a>> = "value",
        omit external_value: &'a str = "externalValue",
    }
    extensions
}

object! {
    /// A link from a response to an operation.
    Link, "a link", site Link;
    {
        omit reference: Reference<'a> = "$ref",
        omit operation_id: &'a str = "operationId",
        faithful operation_ref: &'a str = "operationRef",
        omit parameters: Map<'a, Option<Json<'a>>> = "parameters",
        omit description: &'a str = "description",
        lean request_body: Option<Json<'a>> = "requestBody",
        lean server: Boxed<'a, Server<'a>> = "server",
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
        omit headers: Map<'a, Boxed<'a, Header<'a>>> = "headers",
        omit content: Map<'a, Boxed<'a, MediaType<'a>>> = "content",
        omit links: Map<'a, Boxed<'a, Link<'a>>> = "links",
    }
    extensions
}

/// Requests that the server makes: path items by the expression that gives their URL.
pub type Callback<'a> = crate::model::Callback<'a, PathItem<'a>>;

object! {
    /// A security scheme.
    SecurityScheme, "a security scheme", site SecurityScheme;
    {
        omit reference: Reference<'a> = "$ref",
        omit ty: &'a str = "type",
        omit description: &'a str = "description",
        omit name: &'a str = "name",
        omit location: &'a str = "in",
        omit scheme: &'a str = "scheme",
        omit bearer_format: &'a str = "bearerFormat",
        omit flows: Map<'a, Boxed<'a, Flow<'a>>> = "flows",
        omit open_id_connect_url: &'a str = "openIdConnectUrl",
    }
    extensions
}

object! {
    /// A flow of OAuth 2.
    Flow, "a flow of OAuth";
    {
        omit authorization_url: &'a str = "authorizationUrl",
        omit token_url: &'a str = "tokenUrl",
        omit refresh_url: &'a str = "refreshUrl",
        lean scopes: Map<'a, &'a str> = "scopes",
    }
    extensions
}

in_place!(PathItem<'a>, Response<'a>);

impl ResponseObject for Response<'_> {
    const EMPTY_DEFAULT: bool = true;
}
