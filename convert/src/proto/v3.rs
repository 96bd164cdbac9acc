//! The protobuf form of OpenAPI 3.0 documents, `openapi.v3.Document`.

use kubeshape_schema::Converted;
use kubeshape_yaml::Node;

use super::DecodeError;
use super::refusal::Refusal;
use super::table::Kind::{
    Any, AnyList, Bool, Entries, Extensions, Int, LooseText, Message as Nested, Messages, Number, Text, Texts,
};
use super::table::{Body, Field, Keys, Message, maps, objects, unions};

/// Returns the bytes of a document's protobuf form, and notes of what it does not contain.
///
/// The bytes are those of gnostic-models' `openapiv3.ParseDocument` and Go's `proto.Marshal`. Members keep the order of
/// a JSON source; those of a YAML source are sorted first, as sigs.k8s.io/yaml does before gnostic reads them.
///
/// # Errors
/// All reasons why gnostic rejects the document: unknown and missing members, wrong types, JSON that is not YAML.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// let json = r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{},"host":5}"#;
/// let mut tape = Tape::new();
/// Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
/// let encoded = kubeshape_convert::proto::v3::encode(tape.document(json).root().unwrap());
/// assert_eq!(encoded.unwrap_err()[0].problem.to_string(), "Document has no such member");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn encode(root: Node<'_>) -> Result<Converted<'_, Vec<u8>>, Vec<Refusal>> {
    super::encode::encode(&DOCUMENT, root)
}

/// Checks whether gnostic accepts a document, without encoding it.
///
/// # Errors
/// As [`encode`].
///
/// # Example
/// ```
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// let json = r#"{"openapi":"3.0.0","info":{"title":"t"},"paths":{}}"#;
/// let mut tape = Tape::new();
/// Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
/// let refused = kubeshape_convert::proto::v3::check(tape.document(json).root().unwrap()).unwrap_err();
/// assert_eq!(refused[0].problem.to_string(), "Info needs the member version");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn check(root: Node<'_>) -> Result<(), Vec<Refusal>> {
    super::encode::check(&DOCUMENT, root)
}

/// Returns the JSON of a document's protobuf form.
///
/// Members are in the order of their field numbers, extensions last; members of objects with free names are in the
/// order of the bytes. Encoding the JSON with [`encode`] gives the same bytes again, if they came from it or from
/// gnostic.
///
/// # Errors
/// Bytes that are not such a message or nest deeper than 100 messages, values whose YAML cannot be read, and numbers
/// that JSON does not have.
///
/// # Example
/// ```
/// let bytes = b"\x0a\x053.0.0\x12\x06\x0a\x01t\x32\x011\x22\x00";
/// let json = kubeshape_convert::proto::v3::decode(bytes)?;
/// assert_eq!(json, br#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}"#);
/// # Ok::<(), kubeshape_convert::proto::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    super::decode::decode(&DOCUMENT, bytes)
}

objects! {
    DOCUMENT Document closed {
        1 "openapi" => Text(&[]), required;
        2 "info" => Nested(&INFO), required;
        3 "servers" => Messages(&SERVER);
        4 "paths" => Nested(&PATHS), required;
        5 "components" => Nested(&COMPONENTS);
        6 "security" => Messages(&SECURITY_REQUIREMENT);
        7 "tags" => Messages(&TAG);
        8 "externalDocs" => Nested(&EXTERNAL_DOCS);
        9 => Extensions;
    }
    INFO Info closed {
        1 "title" => Text(&[]), required;
        2 "description" => Text(&[]);
        3 "termsOfService" => Text(&[]);
        4 "contact" => Nested(&CONTACT);
        5 "license" => Nested(&LICENSE);
        6 "version" => Text(&[]), required;
        7 => Extensions;
        8 "summary" => Text(&[]);
    }
    CONTACT Contact closed {
        1 "name" => Text(&[]);
        2 "url" => Text(&[]);
        3 "email" => Text(&[]);
        4 => Extensions;
    }
    LICENSE License closed {
        1 "name" => Text(&[]), required;
        2 "url" => Text(&[]);
        3 => Extensions;
    }
    TAG Tag closed {
        1 "name" => Text(&[]), required;
        2 "description" => Text(&[]);
        3 "externalDocs" => Nested(&EXTERNAL_DOCS);
        4 => Extensions;
    }
    EXTERNAL_DOCS ExternalDocs closed {
        1 "description" => Text(&[]);
        2 "url" => Text(&[]), required;
        3 => Extensions;
    }
    SERVER Server closed {
        1 "url" => Text(&[]), required;
        2 "description" => Text(&[]);
        3 "variables" => Nested(&SERVER_VARIABLES);
        4 => Extensions;
    }
    SERVER_VARIABLE ServerVariable closed {
        1 "enum" => Texts(&[]);
        2 "default" => Text(&[]), required;
        3 "description" => Text(&[]);
        4 => Extensions;
    }
    PATHS Paths closed {
        1 => Entries(Keys::Path, &PATH_ITEM);
        2 => Extensions;
    }
    PATH_ITEM PathItem closed {
        1 "$ref" => Text(&[]);
        2 "summary" => Text(&[]);
        3 "description" => Text(&[]);
        4 "get" => Nested(&OPERATION);
        5 "put" => Nested(&OPERATION);
        6 "post" => Nested(&OPERATION);
        7 "delete" => Nested(&OPERATION);
        8 "options" => Nested(&OPERATION);
        9 "head" => Nested(&OPERATION);
        10 "patch" => Nested(&OPERATION);
        11 "trace" => Nested(&OPERATION);
        12 "servers" => Messages(&SERVER);
        13 "parameters" => Messages(&PARAMETER_OR_REFERENCE);
        14 => Extensions;
    }
    OPERATION Operation closed {
        1 "tags" => Texts(&[]);
        2 "summary" => Text(&[]);
        3 "description" => Text(&[]);
        4 "externalDocs" => Nested(&EXTERNAL_DOCS);
        5 "operationId" => Text(&[]);
        6 "parameters" => Messages(&PARAMETER_OR_REFERENCE);
        7 "requestBody" => Nested(&REQUEST_BODY_OR_REFERENCE);
        8 "responses" => Nested(&RESPONSES), required;
        9 "callbacks" => Nested(&CALLBACKS_OR_REFERENCES);
        10 "deprecated" => Bool;
        11 "security" => Messages(&SECURITY_REQUIREMENT);
        12 "servers" => Messages(&SERVER);
        13 => Extensions;
    }
    PARAMETER Parameter closed {
        1 "name" => Text(&[]), required;
        2 "in" => Text(&[]), required;
        3 "description" => Text(&[]);
        4 "required" => Bool;
        5 "deprecated" => Bool;
        6 "allowEmptyValue" => Bool;
        7 "style" => Text(&[]);
        8 "explode" => Bool;
        9 "allowReserved" => Bool;
        10 "schema" => Nested(&SCHEMA_OR_REFERENCE);
        11 "example" => Any;
        12 "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        13 "content" => Nested(&MEDIA_TYPES);
        14 => Extensions;
    }
    REQUEST_BODY RequestBody closed {
        1 "description" => Text(&[]);
        2 "content" => Nested(&MEDIA_TYPES), required;
        3 "required" => Bool;
        4 => Extensions;
    }
    RESPONSES Responses closed {
        1 "default" => Nested(&RESPONSE_OR_REFERENCE);
        2 => Entries(Keys::CodeOrRange, &RESPONSE_OR_REFERENCE);
        3 => Extensions;
    }
    RESPONSE Response closed {
        1 "description" => Text(&[]), required;
        2 "headers" => Nested(&HEADERS_OR_REFERENCES);
        3 "content" => Nested(&MEDIA_TYPES);
        4 "links" => Nested(&LINKS_OR_REFERENCES);
        5 => Extensions;
    }
    MEDIA_TYPE MediaType closed {
        1 "schema" => Nested(&SCHEMA_OR_REFERENCE);
        2 "example" => Any;
        3 "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        4 "encoding" => Nested(&ENCODINGS);
        5 => Extensions;
    }
    ENCODING Encoding closed {
        1 "contentType" => Text(&[]);
        2 "headers" => Nested(&HEADERS_OR_REFERENCES);
        3 "style" => Text(&[]);
        4 "explode" => Bool;
        5 "allowReserved" => Bool;
        6 => Extensions;
    }
    HEADER Header closed {
        1 "description" => Text(&[]);
        2 "required" => Bool;
        3 "deprecated" => Bool;
        4 "allowEmptyValue" => Bool;
        5 "style" => Text(&[]);
        6 "explode" => Bool;
        7 "allowReserved" => Bool;
        8 "schema" => Nested(&SCHEMA_OR_REFERENCE);
        9 "example" => Any;
        10 "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        11 "content" => Nested(&MEDIA_TYPES);
        12 => Extensions;
    }
    EXAMPLE Example closed {
        1 "summary" => Text(&[]);
        2 "description" => Text(&[]);
        3 "value" => Any;
        4 "externalValue" => Text(&[]);
        5 => Extensions;
    }
    LINK Link closed {
        1 "operationRef" => Text(&[]);
        2 "operationId" => Text(&[]);
        3 "parameters" => Nested(&ANY_OR_EXPRESSION);
        4 "requestBody" => Nested(&ANY_OR_EXPRESSION);
        5 "description" => Text(&[]);
        6 "server" => Nested(&SERVER);
        7 => Extensions;
    }
    SCHEMA Schema closed {
        1 "nullable" => Bool;
        2 "discriminator" => Nested(&DISCRIMINATOR);
        3 "readOnly" => Bool;
        4 "writeOnly" => Bool;
        5 "xml" => Nested(&XML);
        6 "externalDocs" => Nested(&EXTERNAL_DOCS);
        7 "example" => Any;
        8 "deprecated" => Bool;
        9 "title" => Text(&[]);
        10 "multipleOf" => Number;
        11 "maximum" => Number;
        12 "exclusiveMaximum" => Bool;
        13 "minimum" => Number;
        14 "exclusiveMinimum" => Bool;
        15 "maxLength" => Int;
        16 "minLength" => Int;
        17 "pattern" => Text(&[]);
        18 "maxItems" => Int;
        19 "minItems" => Int;
        20 "uniqueItems" => Bool;
        21 "maxProperties" => Int;
        22 "minProperties" => Int;
        23 "required" => Texts(&[]);
        24 "enum" => AnyList;
        25 "type" => Text(&[]);
        26 "allOf" => Messages(&SCHEMA_OR_REFERENCE);
        27 "oneOf" => Messages(&SCHEMA_OR_REFERENCE);
        28 "anyOf" => Messages(&SCHEMA_OR_REFERENCE);
        29 "not" => Nested(&SCHEMA);
        30 "items" => Nested(&ITEMS_ITEM);
        31 "properties" => Nested(&PROPERTIES);
        32 "additionalProperties" => Nested(&ADDITIONAL_PROPERTIES_ITEM);
        33 "default" => Nested(&DEFAULT_TYPE);
        34 "description" => Text(&[]);
        35 "format" => Text(&[]);
        36 => Extensions;
    }
    REFERENCE Reference open {
        1 "$ref" => Text(&[]), required;
        2 "summary" => Text(&[]);
        3 "description" => Text(&[]);
    }
    DISCRIMINATOR Discriminator closed {
        1 "propertyName" => Text(&[]), required;
        2 "mapping" => Nested(&STRINGS);
        3 => Extensions;
    }
    XML Xml closed {
        1 "name" => Text(&[]);
        2 "namespace" => Text(&[]);
        3 "prefix" => Text(&[]);
        4 "attribute" => Bool;
        5 "wrapped" => Bool;
        6 => Extensions;
    }
    COMPONENTS Components closed {
        1 "schemas" => Nested(&SCHEMAS_OR_REFERENCES);
        2 "responses" => Nested(&RESPONSES_OR_REFERENCES);
        3 "parameters" => Nested(&PARAMETERS_OR_REFERENCES);
        4 "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        5 "requestBodies" => Nested(&REQUEST_BODIES_OR_REFERENCES);
        6 "headers" => Nested(&HEADERS_OR_REFERENCES);
        7 "securitySchemes" => Nested(&SECURITY_SCHEMES_OR_REFERENCES);
        8 "links" => Nested(&LINKS_OR_REFERENCES);
        9 "callbacks" => Nested(&CALLBACKS_OR_REFERENCES);
        10 => Extensions;
    }
    SECURITY_SCHEME SecurityScheme closed {
        1 "type" => Text(&[]), required;
        2 "description" => Text(&[]);
        3 "name" => Text(&[]);
        4 "in" => Text(&[]);
        5 "scheme" => Text(&[]);
        6 "bearerFormat" => Text(&[]);
        7 "flows" => Nested(&OAUTH_FLOWS);
        8 "openIdConnectUrl" => Text(&[]);
        9 => Extensions;
    }
    OAUTH_FLOWS OauthFlows closed {
        1 "implicit" => Nested(&OAUTH_FLOW);
        2 "password" => Nested(&OAUTH_FLOW);
        3 "clientCredentials" => Nested(&OAUTH_FLOW);
        4 "authorizationCode" => Nested(&OAUTH_FLOW);
        5 => Extensions;
    }
    OAUTH_FLOW OauthFlow closed {
        1 "authorizationUrl" => Text(&[]);
        2 "tokenUrl" => Text(&[]);
        3 "refreshUrl" => Text(&[]);
        4 "scopes" => Nested(&STRINGS);
        5 => Extensions;
    }
}

maps! {
    SERVER_VARIABLES ServerVariables => Nested(&SERVER_VARIABLE);
    CALLBACKS_OR_REFERENCES CallbacksOrReferences => Nested(&CALLBACK_OR_REFERENCE);
    MEDIA_TYPES MediaTypes => Nested(&MEDIA_TYPE);
    ENCODINGS Encodings => Nested(&ENCODING);
    HEADERS_OR_REFERENCES HeadersOrReferences => Nested(&HEADER_OR_REFERENCE);
    EXAMPLES_OR_REFERENCES ExamplesOrReferences => Nested(&EXAMPLE_OR_REFERENCE);
    LINKS_OR_REFERENCES LinksOrReferences => Nested(&LINK_OR_REFERENCE);
    EXPRESSION Expression => Any;
    PROPERTIES Properties => Nested(&SCHEMA_OR_REFERENCE);
    SCHEMAS_OR_REFERENCES SchemasOrReferences => Nested(&SCHEMA_OR_REFERENCE);
    RESPONSES_OR_REFERENCES ResponsesOrReferences => Nested(&RESPONSE_OR_REFERENCE);
    PARAMETERS_OR_REFERENCES ParametersOrReferences => Nested(&PARAMETER_OR_REFERENCE);
    REQUEST_BODIES_OR_REFERENCES RequestBodiesOrReferences => Nested(&REQUEST_BODY_OR_REFERENCE);
    SECURITY_SCHEMES_OR_REFERENCES SecuritySchemesOrReferences => Nested(&SECURITY_SCHEME_OR_REFERENCE);
    SECURITY_REQUIREMENT SecurityRequirement => Nested(&STRING_ARRAY);
    STRINGS Strings => LooseText;
}

unions! {
    PARAMETER_OR_REFERENCE ParameterOrReference {
        1 => Nested(&PARAMETER);
        2 => Nested(&REFERENCE);
    }
    REQUEST_BODY_OR_REFERENCE RequestBodyOrReference {
        1 => Nested(&REQUEST_BODY);
        2 => Nested(&REFERENCE);
    }
    RESPONSE_OR_REFERENCE ResponseOrReference {
        1 => Nested(&RESPONSE);
        2 => Nested(&REFERENCE);
    }
    CALLBACK_OR_REFERENCE CallbackOrReference {
        1 => Nested(&CALLBACK);
        2 => Nested(&REFERENCE);
    }
    HEADER_OR_REFERENCE HeaderOrReference {
        1 => Nested(&HEADER);
        2 => Nested(&REFERENCE);
    }
    EXAMPLE_OR_REFERENCE ExampleOrReference {
        1 => Nested(&EXAMPLE);
        2 => Nested(&REFERENCE);
    }
    LINK_OR_REFERENCE LinkOrReference {
        1 => Nested(&LINK);
        2 => Nested(&REFERENCE);
    }
    ANY_OR_EXPRESSION AnyOrExpression {
        1 => Any;
        2 => Nested(&EXPRESSION);
    }
    SCHEMA_OR_REFERENCE SchemaOrReference {
        1 => Nested(&SCHEMA);
        2 => Nested(&REFERENCE);
    }
    ADDITIONAL_PROPERTIES_ITEM AdditionalPropertiesItem {
        1 => Nested(&SCHEMA_OR_REFERENCE);
        2 => Bool;
    }
    SECURITY_SCHEME_OR_REFERENCE SecuritySchemeOrReference {
        1 => Nested(&SECURITY_SCHEME);
        2 => Nested(&REFERENCE);
    }
}

static STRING_ARRAY: Message = Message { name: "StringArray", body: Body::StringArray };
static ITEMS_ITEM: Message = Message { name: "ItemsItem", body: Body::Items(&SCHEMA_OR_REFERENCE) };
static DEFAULT_TYPE: Message = Message { name: "DefaultType", body: Body::Default };

static CALLBACK: Message = Message {
    name: "Callback",
    body: Body::Object {
        fields: &[
            Field { number: 1, name: "", kind: Entries(Keys::Any, &PATH_ITEM), required: false },
            Field { number: 2, name: "", kind: Extensions, required: false },
        ],
        open: false,
    },
};
