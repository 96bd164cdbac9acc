//! OpenAPI v3.0 documents (spec: publishing, §3.6; upstream: `spec3`).

use crate::document::{Boxed, Map, Reference, Texts, object};
use kubeshape_schema::{Json, Property, Schema};

pub use crate::v2::{ExternalDocs as TagDocs, Security};

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
    /// What a document is about.
    Info, "an info object";
    {
        omit description: &'a str = "description",
        omit title: &'a str = "title",
        omit terms_of_service: &'a str = "termsOfService",
        lean contact: Boxed<'a, Contact<'a>> = "contact",
        lean license: Boxed<'a, License<'a>> = "license",
        omit version: &'a str = "version",
    }
    extensions
}

object! {
    /// Whom to ask about an API.
    Contact, "a contact";
    {
        omit name: &'a str = "name",
        omit url: &'a str = "url",
        omit email: &'a str = "email",
    }
    faithful extensions
}

object! {
    /// An API's licence.
    License, "a license";
    {
        omit name: &'a str = "name",
        omit url: &'a str = "url",
    }
    faithful extensions
}

object! {
    /// A tag of operations.
    Tag, "a tag";
    {
        omit description: &'a str = "description",
        omit name: &'a str = "name",
        lean external_docs: Boxed<'a, TagDocs<'a>> = "externalDocs",
    }
    extensions
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
    /// What the parts of a document share.
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

/// The paths of a document; keys that do not begin with a slash are none.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Paths<'a> {
    /// Path items by path.
    pub items: Map<'a, PathItem<'a>>,
    /// `x-` members.
    pub extensions: crate::document::Extensions<'a>,
    /// Place: the object's entry in the tape.
    pub at: u32,
}

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
    /// What a body or a parameter holds in one media type.
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
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Responses<'a> {
    /// The response for codes that have none of their own.
    pub default: Boxed<'a, Response<'a>>,
    /// Responses by code; of a range (`4XX`) only with [`Profile::Faithful`](kubeshape_schema::Profile).
    pub codes: Map<'a, Response<'a>>,
    /// `x-` members.
    pub extensions: crate::document::Extensions<'a>,
    /// Place: the object's entry in the tape.
    pub at: u32,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Callback<'a> {
    /// A reference to a shared callback.
    pub reference: Reference<'a>,
    /// Path items by expression.
    pub items: Map<'a, PathItem<'a>>,
    /// `x-` members.
    pub extensions: crate::document::Extensions<'a>,
    /// Place: the object's entry in the tape.
    pub at: u32,
}

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
