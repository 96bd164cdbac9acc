//! The protobuf form of OpenAPI 3.0 documents, `openapi.v3.Document`.

use kubeshape_schema::Converted;
use kubeshape_yaml::Node;
use prost::Message as _;

use super::DecodeError;
use super::decode::{Json, Pair};
use super::printer::Printer;
use super::refusal::Refusal;
use super::table::Kind::{
    Any, AnyList, Bool, Entries, Extensions, Int, LooseText, Message as Nested, Messages, Number, Text, Texts,
};
use super::table::{Body, Field, Keys, Message, maps, objects, pairs, unions};

/// The messages, generated from `proto/openapi_v3.proto`.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod model {
    include!("generated/v3.rs");
}

/// The bytes of a document's protobuf form, and what of the document is not in them.
///
/// The bytes are those of gnostic-models' `openapiv3.ParseDocument` and Go's `proto.Marshal`. Members keep the order of a
/// JSON source; those of a YAML source are sorted first, as sigs.k8s.io/yaml does before gnostic sees them.
///
/// # Errors
/// All reasons why gnostic refuses the document: unknown and missing members, wrong types, JSON that is not YAML.
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

/// Whether gnostic accepts a document, without its bytes.
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

/// The JSON text of a document's protobuf form.
///
/// Members come in the order of their field numbers, extensions last; those of objects with free names in the order
/// of the bytes. What [`encode`] makes of the text is the same bytes again, if they came from it or from gnostic.
///
/// # Errors
/// Bytes that are no such message or nest deeper than 100 messages, values whose YAML cannot be read, and numbers that
/// JSON does not have.
///
/// # Example
/// ```
/// let bytes = b"\x0a\x053.0.0\x12\x06\x0a\x01t\x32\x011\x22\x00";
/// let json = kubeshape_convert::proto::v3::decode(bytes)?;
/// assert_eq!(json, br#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}"#);
/// # Ok::<(), kubeshape_convert::proto::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    Printer::print(&model::Document::decode(bytes)?)
}

objects! {
    DOCUMENT Document closed {
        1 openapi "openapi" => Text(&[]), required;
        2 info "info" => Nested(&INFO), required;
        3 servers "servers" => Messages(&SERVER);
        4 paths "paths" => Nested(&PATHS), required;
        5 components "components" => Nested(&COMPONENTS);
        6 security "security" => Messages(&SECURITY_REQUIREMENT);
        7 tags "tags" => Messages(&TAG);
        8 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        9 specification_extension => Extensions;
    }
    INFO Info closed {
        1 title "title" => Text(&[]), required;
        2 description "description" => Text(&[]);
        3 terms_of_service "termsOfService" => Text(&[]);
        4 contact "contact" => Nested(&CONTACT);
        5 license "license" => Nested(&LICENSE);
        6 version "version" => Text(&[]), required;
        7 specification_extension => Extensions;
        8 summary "summary" => Text(&[]);
    }
    CONTACT Contact closed {
        1 name "name" => Text(&[]);
        2 url "url" => Text(&[]);
        3 email "email" => Text(&[]);
        4 specification_extension => Extensions;
    }
    LICENSE License closed {
        1 name "name" => Text(&[]), required;
        2 url "url" => Text(&[]);
        3 specification_extension => Extensions;
    }
    TAG Tag closed {
        1 name "name" => Text(&[]), required;
        2 description "description" => Text(&[]);
        3 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        4 specification_extension => Extensions;
    }
    EXTERNAL_DOCS ExternalDocs closed {
        1 description "description" => Text(&[]);
        2 url "url" => Text(&[]), required;
        3 specification_extension => Extensions;
    }
    SERVER Server closed {
        1 url "url" => Text(&[]), required;
        2 description "description" => Text(&[]);
        3 variables "variables" => Nested(&SERVER_VARIABLES);
        4 specification_extension => Extensions;
    }
    SERVER_VARIABLE ServerVariable closed {
        1 r#enum "enum" => Texts(&[]);
        2 default "default" => Text(&[]), required;
        3 description "description" => Text(&[]);
        4 specification_extension => Extensions;
    }
    PATHS Paths closed {
        1 path => Entries(Keys::Path, &PATH_ITEM);
        2 specification_extension => Extensions;
    }
    PATH_ITEM PathItem closed {
        1 r#ref "$ref" => Text(&[]);
        2 summary "summary" => Text(&[]);
        3 description "description" => Text(&[]);
        4 get "get" => Nested(&OPERATION);
        5 put "put" => Nested(&OPERATION);
        6 post "post" => Nested(&OPERATION);
        7 delete "delete" => Nested(&OPERATION);
        8 options "options" => Nested(&OPERATION);
        9 head "head" => Nested(&OPERATION);
        10 patch "patch" => Nested(&OPERATION);
        11 trace "trace" => Nested(&OPERATION);
        12 servers "servers" => Messages(&SERVER);
        13 parameters "parameters" => Messages(&PARAMETER_OR_REFERENCE);
        14 specification_extension => Extensions;
    }
    OPERATION Operation closed {
        1 tags "tags" => Texts(&[]);
        2 summary "summary" => Text(&[]);
        3 description "description" => Text(&[]);
        4 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        5 operation_id "operationId" => Text(&[]);
        6 parameters "parameters" => Messages(&PARAMETER_OR_REFERENCE);
        7 request_body "requestBody" => Nested(&REQUEST_BODY_OR_REFERENCE);
        8 responses "responses" => Nested(&RESPONSES), required;
        9 callbacks "callbacks" => Nested(&CALLBACKS_OR_REFERENCES);
        10 deprecated "deprecated" => Bool;
        11 security "security" => Messages(&SECURITY_REQUIREMENT);
        12 servers "servers" => Messages(&SERVER);
        13 specification_extension => Extensions;
    }
    PARAMETER Parameter closed {
        1 name "name" => Text(&[]), required;
        2 r#in "in" => Text(&[]), required;
        3 description "description" => Text(&[]);
        4 required "required" => Bool;
        5 deprecated "deprecated" => Bool;
        6 allow_empty_value "allowEmptyValue" => Bool;
        7 style "style" => Text(&[]);
        8 explode "explode" => Bool;
        9 allow_reserved "allowReserved" => Bool;
        10 schema "schema" => Nested(&SCHEMA_OR_REFERENCE);
        11 example "example" => Any;
        12 examples "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        13 content "content" => Nested(&MEDIA_TYPES);
        14 specification_extension => Extensions;
    }
    REQUEST_BODY RequestBody closed {
        1 description "description" => Text(&[]);
        2 content "content" => Nested(&MEDIA_TYPES), required;
        3 required "required" => Bool;
        4 specification_extension => Extensions;
    }
    RESPONSES Responses closed {
        1 default "default" => Nested(&RESPONSE_OR_REFERENCE);
        2 response_or_reference => Entries(Keys::CodeOrRange, &RESPONSE_OR_REFERENCE);
        3 specification_extension => Extensions;
    }
    RESPONSE Response closed {
        1 description "description" => Text(&[]), required;
        2 headers "headers" => Nested(&HEADERS_OR_REFERENCES);
        3 content "content" => Nested(&MEDIA_TYPES);
        4 links "links" => Nested(&LINKS_OR_REFERENCES);
        5 specification_extension => Extensions;
    }
    MEDIA_TYPE MediaType closed {
        1 schema "schema" => Nested(&SCHEMA_OR_REFERENCE);
        2 example "example" => Any;
        3 examples "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        4 encoding "encoding" => Nested(&ENCODINGS);
        5 specification_extension => Extensions;
    }
    ENCODING Encoding closed {
        1 content_type "contentType" => Text(&[]);
        2 headers "headers" => Nested(&HEADERS_OR_REFERENCES);
        3 style "style" => Text(&[]);
        4 explode "explode" => Bool;
        5 allow_reserved "allowReserved" => Bool;
        6 specification_extension => Extensions;
    }
    HEADER Header closed {
        1 description "description" => Text(&[]);
        2 required "required" => Bool;
        3 deprecated "deprecated" => Bool;
        4 allow_empty_value "allowEmptyValue" => Bool;
        5 style "style" => Text(&[]);
        6 explode "explode" => Bool;
        7 allow_reserved "allowReserved" => Bool;
        8 schema "schema" => Nested(&SCHEMA_OR_REFERENCE);
        9 example "example" => Any;
        10 examples "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        11 content "content" => Nested(&MEDIA_TYPES);
        12 specification_extension => Extensions;
    }
    EXAMPLE Example closed {
        1 summary "summary" => Text(&[]);
        2 description "description" => Text(&[]);
        3 value "value" => Any;
        4 external_value "externalValue" => Text(&[]);
        5 specification_extension => Extensions;
    }
    LINK Link closed {
        1 operation_ref "operationRef" => Text(&[]);
        2 operation_id "operationId" => Text(&[]);
        3 parameters "parameters" => Nested(&ANY_OR_EXPRESSION);
        4 request_body "requestBody" => Nested(&ANY_OR_EXPRESSION);
        5 description "description" => Text(&[]);
        6 server "server" => Nested(&SERVER);
        7 specification_extension => Extensions;
    }
    SCHEMA Schema closed {
        1 nullable "nullable" => Bool;
        2 discriminator "discriminator" => Nested(&DISCRIMINATOR);
        3 read_only "readOnly" => Bool;
        4 write_only "writeOnly" => Bool;
        5 xml "xml" => Nested(&XML);
        6 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        7 example "example" => Any;
        8 deprecated "deprecated" => Bool;
        9 title "title" => Text(&[]);
        10 multiple_of "multipleOf" => Number;
        11 maximum "maximum" => Number;
        12 exclusive_maximum "exclusiveMaximum" => Bool;
        13 minimum "minimum" => Number;
        14 exclusive_minimum "exclusiveMinimum" => Bool;
        15 max_length "maxLength" => Int;
        16 min_length "minLength" => Int;
        17 pattern "pattern" => Text(&[]);
        18 max_items "maxItems" => Int;
        19 min_items "minItems" => Int;
        20 unique_items "uniqueItems" => Bool;
        21 max_properties "maxProperties" => Int;
        22 min_properties "minProperties" => Int;
        23 required "required" => Texts(&[]);
        24 r#enum "enum" => AnyList;
        25 r#type "type" => Text(&[]);
        26 all_of "allOf" => Messages(&SCHEMA_OR_REFERENCE);
        27 one_of "oneOf" => Messages(&SCHEMA_OR_REFERENCE);
        28 any_of "anyOf" => Messages(&SCHEMA_OR_REFERENCE);
        29 not "not" => Nested(&SCHEMA);
        30 items "items" => Nested(&ITEMS_ITEM);
        31 properties "properties" => Nested(&PROPERTIES);
        32 additional_properties "additionalProperties" => Nested(&ADDITIONAL_PROPERTIES_ITEM);
        33 default "default" => Nested(&DEFAULT_TYPE);
        34 description "description" => Text(&[]);
        35 format "format" => Text(&[]);
        36 specification_extension => Extensions;
    }
    REFERENCE Reference open {
        1 r#ref "$ref" => Text(&[]), required;
        2 summary "summary" => Text(&[]);
        3 description "description" => Text(&[]);
    }
    DISCRIMINATOR Discriminator closed {
        1 property_name "propertyName" => Text(&[]), required;
        2 mapping "mapping" => Nested(&STRINGS);
        3 specification_extension => Extensions;
    }
    XML Xml closed {
        1 name "name" => Text(&[]);
        2 namespace "namespace" => Text(&[]);
        3 prefix "prefix" => Text(&[]);
        4 attribute "attribute" => Bool;
        5 wrapped "wrapped" => Bool;
        6 specification_extension => Extensions;
    }
    COMPONENTS Components closed {
        1 schemas "schemas" => Nested(&SCHEMAS_OR_REFERENCES);
        2 responses "responses" => Nested(&RESPONSES_OR_REFERENCES);
        3 parameters "parameters" => Nested(&PARAMETERS_OR_REFERENCES);
        4 examples "examples" => Nested(&EXAMPLES_OR_REFERENCES);
        5 request_bodies "requestBodies" => Nested(&REQUEST_BODIES_OR_REFERENCES);
        6 headers "headers" => Nested(&HEADERS_OR_REFERENCES);
        7 security_schemes "securitySchemes" => Nested(&SECURITY_SCHEMES_OR_REFERENCES);
        8 links "links" => Nested(&LINKS_OR_REFERENCES);
        9 callbacks "callbacks" => Nested(&CALLBACKS_OR_REFERENCES);
        10 specification_extension => Extensions;
    }
    SECURITY_SCHEME SecurityScheme closed {
        1 r#type "type" => Text(&[]), required;
        2 description "description" => Text(&[]);
        3 name "name" => Text(&[]);
        4 r#in "in" => Text(&[]);
        5 scheme "scheme" => Text(&[]);
        6 bearer_format "bearerFormat" => Text(&[]);
        7 flows "flows" => Nested(&OAUTH_FLOWS);
        8 open_id_connect_url "openIdConnectUrl" => Text(&[]);
        9 specification_extension => Extensions;
    }
    OAUTH_FLOWS OauthFlows closed {
        1 implicit "implicit" => Nested(&OAUTH_FLOW);
        2 password "password" => Nested(&OAUTH_FLOW);
        3 client_credentials "clientCredentials" => Nested(&OAUTH_FLOW);
        4 authorization_code "authorizationCode" => Nested(&OAUTH_FLOW);
        5 specification_extension => Extensions;
    }
    OAUTH_FLOW OauthFlow closed {
        1 authorization_url "authorizationUrl" => Text(&[]);
        2 token_url "tokenUrl" => Text(&[]);
        3 refresh_url "refreshUrl" => Text(&[]);
        4 scopes "scopes" => Nested(&STRINGS);
        5 specification_extension => Extensions;
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
    PARAMETER_OR_REFERENCE ParameterOrReference parameter_or_reference {
        1 Parameter => Nested(&PARAMETER);
        2 Reference => Nested(&REFERENCE);
    }
    REQUEST_BODY_OR_REFERENCE RequestBodyOrReference request_body_or_reference {
        1 RequestBody => Nested(&REQUEST_BODY);
        2 Reference => Nested(&REFERENCE);
    }
    RESPONSE_OR_REFERENCE ResponseOrReference response_or_reference {
        1 Response => Nested(&RESPONSE);
        2 Reference => Nested(&REFERENCE);
    }
    CALLBACK_OR_REFERENCE CallbackOrReference callback_or_reference {
        1 Callback => Nested(&CALLBACK);
        2 Reference => Nested(&REFERENCE);
    }
    HEADER_OR_REFERENCE HeaderOrReference header_or_reference {
        1 Header => Nested(&HEADER);
        2 Reference => Nested(&REFERENCE);
    }
    EXAMPLE_OR_REFERENCE ExampleOrReference example_or_reference {
        1 Example => Nested(&EXAMPLE);
        2 Reference => Nested(&REFERENCE);
    }
    LINK_OR_REFERENCE LinkOrReference link_or_reference {
        1 Link => Nested(&LINK);
        2 Reference => Nested(&REFERENCE);
    }
    ANY_OR_EXPRESSION AnyOrExpression any_or_expression {
        1 Any => Any;
        2 Expression => Nested(&EXPRESSION);
    }
    SCHEMA_OR_REFERENCE SchemaOrReference schema_or_reference {
        1 Schema => Nested(&SCHEMA);
        2 Reference => Nested(&REFERENCE);
    }
    ADDITIONAL_PROPERTIES_ITEM AdditionalPropertiesItem additional_properties_item {
        1 SchemaOrReference => Nested(&SCHEMA_OR_REFERENCE);
        2 Boolean => Bool;
    }
    SECURITY_SCHEME_OR_REFERENCE SecuritySchemeOrReference security_scheme_or_reference {
        1 SecurityScheme => Nested(&SECURITY_SCHEME);
        2 Reference => Nested(&REFERENCE);
    }
}

pairs! { NamedAny, NamedCallbackOrReference, NamedEncoding, NamedExampleOrReference, NamedHeaderOrReference, NamedLinkOrReference, NamedMediaType, NamedParameterOrReference, NamedPathItem, NamedRequestBodyOrReference, NamedResponseOrReference, NamedSchemaOrReference, NamedSecuritySchemeOrReference, NamedServerVariable, NamedString, NamedStringArray }

static STRING_ARRAY: Message = Message { name: "StringArray", body: Body::StringArray };
static ITEMS_ITEM: Message = Message { name: "ItemsItem", body: Body::Items(&SCHEMA_OR_REFERENCE) };
static DEFAULT_TYPE: Message = Message { name: "DefaultType", body: Body::Default };

impl Json for model::ItemsItem {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        match self.schema_or_reference.as_slice() {
            [one] => one.json(out),
            _ => self.schema_or_reference.json(out),
        }
    }
}

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

impl Json for model::Callback {
    /// Extensions stand among the paths as well, since any name may be one: they are printed at their place there.
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        let mut extensions = self.specification_extension.iter().peekable();
        out.object(|out| {
            for path in &self.path {
                match extensions.next_if(|extension| extension.name == path.name) {
                    Some(extension) => out.named(&extension.name, |out| extension.value.json(out))?,
                    None => out.named(&path.name, |out| path.value.json(out))?,
                }
            }
            extensions.try_for_each(|extension| out.named(&extension.name, |out| extension.value.json(out)))
        })
    }
}

impl Json for model::DefaultType {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        use model::default_type::Oneof;
        match &self.oneof {
            Some(Oneof::Number(value)) => value.json(out),
            Some(Oneof::Boolean(value)) => value.json(out),
            Some(Oneof::String(value)) => value.json(out),
            None => {
                out.null();
                Ok(())
            }
        }
    }
}

impl Json for model::StringArray {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        self.value.json(out)
    }
}

impl Json for model::Any {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        out.any(&self.yaml)
    }
}
