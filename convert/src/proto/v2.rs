//! The protobuf form of OpenAPI 2.0 (Swagger) documents, `openapi.v2.Document`.

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
use crate::aggregate::merge::Section;

/// The messages, generated from `proto/openapi_v2.proto`.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod model {
    include!("generated/v2.rs");
}

/// The bytes of a document's protobuf form, and what of the document is not in them.
///
/// The bytes are those of gnostic-models' `openapiv2.ParseDocument` and Go's `proto.Marshal`. Members keep the order of a
/// JSON source; those of a YAML source are sorted first, as sigs.k8s.io/yaml does before gnostic sees them.
///
/// # Errors
/// All reasons why gnostic refuses the document: unknown and missing members, wrong types, JSON that is not YAML.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// let json = r#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{},"host":5}"#;
/// let mut tape = Tape::new();
/// Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
/// let encoded = kubeshape_convert::proto::v2::encode(tape.document(json).root().unwrap());
/// assert_eq!(encoded.unwrap().value, b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x011\x1a\x015\x42\x00");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn encode(root: Node<'_>) -> Result<Converted<'_, Vec<u8>>, Vec<Refusal>> {
    super::encode::encode(&DOCUMENT, root)
}

/// A part of the protobuf form of some members of a section: `root` is an object of these members alone.
///
/// The parts of all members, in their order, are the content of the section's message, so that a document whose members
/// are known needs no new encoding: see [`around`]. One exception: extensions of `paths` come before all paths.
///
/// # Errors
/// As [`encode`].
pub fn part(section: Section, root: Node<'_>) -> Result<Vec<u8>, Vec<Refusal>> {
    Ok(super::encode::encode(section_message(section).1, root)?.value)
}

/// The protobuf form of a document around its sections, as bytes and, between them, the sections. `root` is the document
/// with empty sections. `length` is how many bytes of parts a section will have.
///
/// # Errors
/// As [`encode`].
///
/// # Example
/// ```
/// use kubeshape_convert::aggregate::merge::Section;
/// use kubeshape_convert::proto::v2;
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// fn read<T>(json: &str, take: impl Fn(kubeshape_yaml::Node<'_>) -> T) -> Result<T, kubeshape_yaml::Error> {
///     let mut tape = Tape::new();
///     Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
///     Ok(take(tape.document(json).root().unwrap()))
/// }
/// let a = read(r#"{"A":{"type":"string"}}"#, |node| v2::part(Section::Definitions, node).unwrap())?;
/// let b = read(r#"{"B":{}}"#, |node| v2::part(Section::Definitions, node).unwrap())?;
/// let head = r#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{},"definitions":"#;
/// let length = |section| if section == Section::Definitions { a.len() + b.len() } else { 0 };
/// let mut bytes = Vec::new();
/// for (text, section) in read(&format!("{head}{{}}}}"), |node| v2::around(node, length).unwrap())? {
///     bytes.extend(text);
///     if section == Some(Section::Definitions) {
///         bytes.extend([&a[..], &b].concat());
///     }
/// }
/// let whole = format!(r#"{head}{{"A":{{"type":"string"}},"B":{{}}}}}}"#);
/// assert_eq!(bytes, read(&whole, |node| v2::encode(node).unwrap().value)?);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[allow(clippy::type_complexity)] // as `Destination::texts`
pub fn around(
    root: Node<'_>,
    length: impl Fn(Section) -> usize,
) -> Result<Vec<(Vec<u8>, Option<Section>)>, Vec<Refusal>> {
    let bytes = encode(root)?.value;
    let mut out = Vec::new();
    let mut text = Vec::new();
    for (field, content) in super::encode::fields(&bytes) {
        if let Some(section) = Section::ALL.into_iter().find(|section| section_message(*section).0 == field) {
            super::encode::head(field, length(section), &mut text);
            out.push((std::mem::take(&mut text), Some(section)));
        } else {
            super::encode::head(field, content.len(), &mut text);
            text.extend_from_slice(content);
        }
    }
    out.push((text, None));
    Ok(out)
}

/// The field of a section in the document, and its message.
fn section_message(section: Section) -> (u32, &'static Message) {
    match section {
        Section::Paths => (8, &PATHS),
        Section::Definitions => (9, &DEFINITIONS),
        Section::Parameters => (10, &PARAMETER_DEFINITIONS),
    }
}

/// Whether gnostic accepts a document, without its bytes.
///
/// # Errors
/// As [`encode`].
///
/// # Example
/// ```
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// let json = r#"{"swagger":"2.0","info":{"title":"t"},"paths":{}}"#;
/// let mut tape = Tape::new();
/// Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
/// let refused = kubeshape_convert::proto::v2::check(tape.document(json).root().unwrap()).unwrap_err();
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
/// let bytes = b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x011\x42\x00";
/// let json = kubeshape_convert::proto::v2::decode(bytes)?;
/// assert_eq!(json, br#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{}}"#);
/// # Ok::<(), kubeshape_convert::proto::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    Printer::print(&model::Document::decode(bytes)?)
}

objects! {
    DOCUMENT Document closed {
        1 swagger "swagger" => Text(&["2.0"]), required;
        2 info "info" => Nested(&INFO), required;
        3 host "host" => Text(&[]);
        4 base_path "basePath" => Text(&[]);
        5 schemes "schemes" => Texts(&["http", "https", "ws", "wss"]);
        6 consumes "consumes" => Texts(&[]);
        7 produces "produces" => Texts(&[]);
        8 paths "paths" => Nested(&PATHS), required;
        9 definitions "definitions" => Nested(&DEFINITIONS);
        10 parameters "parameters" => Nested(&PARAMETER_DEFINITIONS);
        11 responses "responses" => Nested(&RESPONSE_DEFINITIONS);
        12 security "security" => Messages(&SECURITY_REQUIREMENT);
        13 security_definitions "securityDefinitions" => Nested(&SECURITY_DEFINITIONS);
        14 tags "tags" => Messages(&TAG);
        15 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        16 vendor_extension => Extensions;
    }
    INFO Info closed {
        1 title "title" => Text(&[]), required;
        2 version "version" => Text(&[]), required;
        3 description "description" => Text(&[]);
        4 terms_of_service "termsOfService" => Text(&[]);
        5 contact "contact" => Nested(&CONTACT);
        6 license "license" => Nested(&LICENSE);
        7 vendor_extension => Extensions;
    }
    CONTACT Contact closed {
        1 name "name" => Text(&[]);
        2 url "url" => Text(&[]);
        3 email "email" => Text(&[]);
        4 vendor_extension => Extensions;
    }
    LICENSE License closed {
        1 name "name" => Text(&[]), required;
        2 url "url" => Text(&[]);
        3 vendor_extension => Extensions;
    }
    TAG Tag closed {
        1 name "name" => Text(&[]), required;
        2 description "description" => Text(&[]);
        3 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        4 vendor_extension => Extensions;
    }
    EXTERNAL_DOCS ExternalDocs closed {
        1 description "description" => Text(&[]);
        2 url "url" => Text(&[]), required;
        3 vendor_extension => Extensions;
    }
    PATHS Paths closed {
        1 vendor_extension => Extensions;
        2 path => Entries(Keys::Path, &PATH_ITEM);
    }
    PATH_ITEM PathItem closed {
        1 r#ref "$ref" => Text(&[]);
        2 get "get" => Nested(&OPERATION);
        3 put "put" => Nested(&OPERATION);
        4 post "post" => Nested(&OPERATION);
        5 delete "delete" => Nested(&OPERATION);
        6 options "options" => Nested(&OPERATION);
        7 head "head" => Nested(&OPERATION);
        8 patch "patch" => Nested(&OPERATION);
        9 parameters "parameters" => Messages(&PARAMETERS_ITEM);
        10 vendor_extension => Extensions;
    }
    OPERATION Operation closed {
        1 tags "tags" => Texts(&[]);
        2 summary "summary" => Text(&[]);
        3 description "description" => Text(&[]);
        4 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        5 operation_id "operationId" => Text(&[]);
        6 produces "produces" => Texts(&[]);
        7 consumes "consumes" => Texts(&[]);
        8 parameters "parameters" => Messages(&PARAMETERS_ITEM);
        9 responses "responses" => Nested(&RESPONSES), required;
        10 schemes "schemes" => Texts(&["http", "https", "ws", "wss"]);
        11 deprecated "deprecated" => Bool;
        12 security "security" => Messages(&SECURITY_REQUIREMENT);
        13 vendor_extension => Extensions;
    }
    RESPONSES Responses closed {
        1 response_code => Entries(Keys::CodeOrDefault, &RESPONSE_VALUE);
        2 vendor_extension => Extensions;
    }
    RESPONSE Response closed {
        1 description "description" => Text(&[]), required;
        2 schema "schema" => Nested(&SCHEMA_ITEM);
        3 headers "headers" => Nested(&HEADERS);
        4 examples "examples" => Nested(&EXAMPLES);
        5 vendor_extension => Extensions;
    }
    HEADER Header closed {
        1 r#type "type" => Text(&["string", "number", "integer", "boolean", "array"]), required;
        2 format "format" => Text(&[]);
        3 items "items" => Nested(&PRIMITIVES_ITEMS);
        4 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        5 default "default" => Any;
        6 maximum "maximum" => Number;
        7 exclusive_maximum "exclusiveMaximum" => Bool;
        8 minimum "minimum" => Number;
        9 exclusive_minimum "exclusiveMinimum" => Bool;
        10 max_length "maxLength" => Int;
        11 min_length "minLength" => Int;
        12 pattern "pattern" => Text(&[]);
        13 max_items "maxItems" => Int;
        14 min_items "minItems" => Int;
        15 unique_items "uniqueItems" => Bool;
        16 r#enum "enum" => AnyList;
        17 multiple_of "multipleOf" => Number;
        18 description "description" => Text(&[]);
        19 vendor_extension => Extensions;
    }
    BODY_PARAMETER BodyParameter closed {
        1 description "description" => Text(&[]);
        2 name "name" => Text(&[]), required;
        3 r#in "in" => Text(&["body"]), required;
        4 required "required" => Bool;
        5 schema "schema" => Nested(&SCHEMA), required;
        6 vendor_extension => Extensions;
    }
    HEADER_PARAMETER_SUB_SCHEMA HeaderParameterSubSchema closed {
        1 required "required" => Bool;
        2 r#in "in" => Text(&["header"]);
        3 description "description" => Text(&[]);
        4 name "name" => Text(&[]);
        5 r#type "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        6 format "format" => Text(&[]);
        7 items "items" => Nested(&PRIMITIVES_ITEMS);
        8 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        9 default "default" => Any;
        10 maximum "maximum" => Number;
        11 exclusive_maximum "exclusiveMaximum" => Bool;
        12 minimum "minimum" => Number;
        13 exclusive_minimum "exclusiveMinimum" => Bool;
        14 max_length "maxLength" => Int;
        15 min_length "minLength" => Int;
        16 pattern "pattern" => Text(&[]);
        17 max_items "maxItems" => Int;
        18 min_items "minItems" => Int;
        19 unique_items "uniqueItems" => Bool;
        20 r#enum "enum" => AnyList;
        21 multiple_of "multipleOf" => Number;
        22 vendor_extension => Extensions;
    }
    FORM_DATA_PARAMETER_SUB_SCHEMA FormDataParameterSubSchema closed {
        1 required "required" => Bool;
        2 r#in "in" => Text(&["formData"]);
        3 description "description" => Text(&[]);
        4 name "name" => Text(&[]);
        5 allow_empty_value "allowEmptyValue" => Bool;
        6 r#type "type" => Text(&["string", "number", "boolean", "integer", "array", "file"]);
        7 format "format" => Text(&[]);
        8 items "items" => Nested(&PRIMITIVES_ITEMS);
        9 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes", "multi"]);
        10 default "default" => Any;
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
        21 r#enum "enum" => AnyList;
        22 multiple_of "multipleOf" => Number;
        23 vendor_extension => Extensions;
    }
    QUERY_PARAMETER_SUB_SCHEMA QueryParameterSubSchema closed {
        1 required "required" => Bool;
        2 r#in "in" => Text(&["query"]);
        3 description "description" => Text(&[]);
        4 name "name" => Text(&[]);
        5 allow_empty_value "allowEmptyValue" => Bool;
        6 r#type "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        7 format "format" => Text(&[]);
        8 items "items" => Nested(&PRIMITIVES_ITEMS);
        9 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes", "multi"]);
        10 default "default" => Any;
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
        21 r#enum "enum" => AnyList;
        22 multiple_of "multipleOf" => Number;
        23 vendor_extension => Extensions;
    }
    PATH_PARAMETER_SUB_SCHEMA PathParameterSubSchema closed {
        1 required "required" => Bool, required;
        2 r#in "in" => Text(&["path"]);
        3 description "description" => Text(&[]);
        4 name "name" => Text(&[]);
        5 r#type "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        6 format "format" => Text(&[]);
        7 items "items" => Nested(&PRIMITIVES_ITEMS);
        8 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        9 default "default" => Any;
        10 maximum "maximum" => Number;
        11 exclusive_maximum "exclusiveMaximum" => Bool;
        12 minimum "minimum" => Number;
        13 exclusive_minimum "exclusiveMinimum" => Bool;
        14 max_length "maxLength" => Int;
        15 min_length "minLength" => Int;
        16 pattern "pattern" => Text(&[]);
        17 max_items "maxItems" => Int;
        18 min_items "minItems" => Int;
        19 unique_items "uniqueItems" => Bool;
        20 r#enum "enum" => AnyList;
        21 multiple_of "multipleOf" => Number;
        22 vendor_extension => Extensions;
    }
    PRIMITIVES_ITEMS PrimitivesItems closed {
        1 r#type "type" => Text(&["string", "number", "integer", "boolean", "array"]);
        2 format "format" => Text(&[]);
        3 items "items" => Nested(&PRIMITIVES_ITEMS);
        4 collection_format "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        5 default "default" => Any;
        6 maximum "maximum" => Number;
        7 exclusive_maximum "exclusiveMaximum" => Bool;
        8 minimum "minimum" => Number;
        9 exclusive_minimum "exclusiveMinimum" => Bool;
        10 max_length "maxLength" => Int;
        11 min_length "minLength" => Int;
        12 pattern "pattern" => Text(&[]);
        13 max_items "maxItems" => Int;
        14 min_items "minItems" => Int;
        15 unique_items "uniqueItems" => Bool;
        16 r#enum "enum" => AnyList;
        17 multiple_of "multipleOf" => Number;
        18 vendor_extension => Extensions;
    }
    JSON_REFERENCE JsonReference open {
        1 r#ref "$ref" => Text(&[]), required;
        2 description "description" => Text(&[]);
    }
    SCHEMA Schema closed {
        1 r#ref "$ref" => Text(&[]);
        2 format "format" => Text(&[]);
        3 title "title" => Text(&[]);
        4 description "description" => Text(&[]);
        5 default "default" => Any;
        6 multiple_of "multipleOf" => Number;
        7 maximum "maximum" => Number;
        8 exclusive_maximum "exclusiveMaximum" => Bool;
        9 minimum "minimum" => Number;
        10 exclusive_minimum "exclusiveMinimum" => Bool;
        11 max_length "maxLength" => Int;
        12 min_length "minLength" => Int;
        13 pattern "pattern" => Text(&[]);
        14 max_items "maxItems" => Int;
        15 min_items "minItems" => Int;
        16 unique_items "uniqueItems" => Bool;
        17 max_properties "maxProperties" => Int;
        18 min_properties "minProperties" => Int;
        19 required "required" => Texts(&[]);
        20 r#enum "enum" => AnyList;
        21 additional_properties "additionalProperties" => Nested(&ADDITIONAL_PROPERTIES_ITEM);
        22 r#type "type" => Nested(&TYPE_ITEM);
        23 items "items" => Nested(&ITEMS_ITEM);
        24 all_of "allOf" => Messages(&SCHEMA);
        25 properties "properties" => Nested(&PROPERTIES);
        26 discriminator "discriminator" => Text(&[]);
        27 read_only "readOnly" => Bool;
        28 xml "xml" => Nested(&XML);
        29 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        30 example "example" => Any;
        31 vendor_extension => Extensions;
    }
    FILE_SCHEMA FileSchema closed {
        1 format "format" => Text(&[]);
        2 title "title" => Text(&[]);
        3 description "description" => Text(&[]);
        4 default "default" => Any;
        5 required "required" => Texts(&[]);
        6 r#type "type" => Text(&["file"]), required;
        7 read_only "readOnly" => Bool;
        8 external_docs "externalDocs" => Nested(&EXTERNAL_DOCS);
        9 example "example" => Any;
        10 vendor_extension => Extensions;
    }
    XML Xml closed {
        1 name "name" => Text(&[]);
        2 namespace "namespace" => Text(&[]);
        3 prefix "prefix" => Text(&[]);
        4 attribute "attribute" => Bool;
        5 wrapped "wrapped" => Bool;
        6 vendor_extension => Extensions;
    }
    BASIC_AUTHENTICATION_SECURITY BasicAuthenticationSecurity closed {
        1 r#type "type" => Text(&["basic"]), required;
        2 description "description" => Text(&[]);
        3 vendor_extension => Extensions;
    }
    API_KEY_SECURITY ApiKeySecurity closed {
        1 r#type "type" => Text(&["apiKey"]), required;
        2 name "name" => Text(&[]), required;
        3 r#in "in" => Text(&["header", "query"]), required;
        4 description "description" => Text(&[]);
        5 vendor_extension => Extensions;
    }
    OAUTH2_IMPLICIT_SECURITY Oauth2ImplicitSecurity closed {
        1 r#type "type" => Text(&["oauth2"]), required;
        2 flow "flow" => Text(&["implicit"]), required;
        3 scopes "scopes" => Nested(&OAUTH2_SCOPES);
        4 authorization_url "authorizationUrl" => Text(&[]), required;
        5 description "description" => Text(&[]);
        6 vendor_extension => Extensions;
    }
    OAUTH2_PASSWORD_SECURITY Oauth2PasswordSecurity closed {
        1 r#type "type" => Text(&["oauth2"]), required;
        2 flow "flow" => Text(&["password"]), required;
        3 scopes "scopes" => Nested(&OAUTH2_SCOPES);
        4 token_url "tokenUrl" => Text(&[]), required;
        5 description "description" => Text(&[]);
        6 vendor_extension => Extensions;
    }
    OAUTH2_APPLICATION_SECURITY Oauth2ApplicationSecurity closed {
        1 r#type "type" => Text(&["oauth2"]), required;
        2 flow "flow" => Text(&["application"]), required;
        3 scopes "scopes" => Nested(&OAUTH2_SCOPES);
        4 token_url "tokenUrl" => Text(&[]), required;
        5 description "description" => Text(&[]);
        6 vendor_extension => Extensions;
    }
    OAUTH2_ACCESS_CODE_SECURITY Oauth2AccessCodeSecurity closed {
        1 r#type "type" => Text(&["oauth2"]), required;
        2 flow "flow" => Text(&["accessCode"]), required;
        3 scopes "scopes" => Nested(&OAUTH2_SCOPES);
        4 authorization_url "authorizationUrl" => Text(&[]), required;
        5 token_url "tokenUrl" => Text(&[]), required;
        6 description "description" => Text(&[]);
        7 vendor_extension => Extensions;
    }
}

maps! {
    HEADERS Headers => Nested(&HEADER);
    EXAMPLES Examples => Any;
    PROPERTIES Properties => Nested(&SCHEMA);
    DEFINITIONS Definitions => Nested(&SCHEMA);
    PARAMETER_DEFINITIONS ParameterDefinitions => Nested(&PARAMETER);
    RESPONSE_DEFINITIONS ResponseDefinitions => Nested(&RESPONSE);
    SECURITY_REQUIREMENT SecurityRequirement => Nested(&STRING_ARRAY);
    SECURITY_DEFINITIONS SecurityDefinitions => Nested(&SECURITY_DEFINITIONS_ITEM);
    OAUTH2_SCOPES Oauth2Scopes => LooseText;
}

unions! {
    RESPONSE_VALUE ResponseValue response_value {
        1 Response => Nested(&RESPONSE);
        2 JsonReference => Nested(&JSON_REFERENCE);
    }
    SCHEMA_ITEM SchemaItem schema_item {
        1 Schema => Nested(&SCHEMA);
        2 FileSchema => Nested(&FILE_SCHEMA);
    }
    PARAMETERS_ITEM ParametersItem parameters_item {
        1 Parameter => Nested(&PARAMETER);
        2 JsonReference => Nested(&JSON_REFERENCE);
    }
    PARAMETER Parameter parameter {
        1 BodyParameter => Nested(&BODY_PARAMETER);
        2 NonBodyParameter => Nested(&NON_BODY_PARAMETER);
    }
    NON_BODY_PARAMETER NonBodyParameter non_body_parameter {
        1 HeaderParameterSubSchema => Nested(&HEADER_PARAMETER_SUB_SCHEMA);
        2 FormDataParameterSubSchema => Nested(&FORM_DATA_PARAMETER_SUB_SCHEMA);
        3 QueryParameterSubSchema => Nested(&QUERY_PARAMETER_SUB_SCHEMA);
        4 PathParameterSubSchema => Nested(&PATH_PARAMETER_SUB_SCHEMA);
    }
    ADDITIONAL_PROPERTIES_ITEM AdditionalPropertiesItem additional_properties_item {
        1 Schema => Nested(&SCHEMA);
        2 Boolean => Bool;
    }
    SECURITY_DEFINITIONS_ITEM SecurityDefinitionsItem security_definitions_item {
        1 BasicAuthenticationSecurity => Nested(&BASIC_AUTHENTICATION_SECURITY);
        2 ApiKeySecurity => Nested(&API_KEY_SECURITY);
        3 Oauth2ImplicitSecurity => Nested(&OAUTH2_IMPLICIT_SECURITY);
        4 Oauth2PasswordSecurity => Nested(&OAUTH2_PASSWORD_SECURITY);
        5 Oauth2ApplicationSecurity => Nested(&OAUTH2_APPLICATION_SECURITY);
        6 Oauth2AccessCodeSecurity => Nested(&OAUTH2_ACCESS_CODE_SECURITY);
    }
}

pairs! { NamedAny, NamedHeader, NamedParameter, NamedPathItem, NamedResponse, NamedResponseValue, NamedSchema, NamedSecurityDefinitionsItem, NamedString, NamedStringArray }

static STRING_ARRAY: Message = Message { name: "StringArray", body: Body::StringArray };
static ITEMS_ITEM: Message = Message { name: "ItemsItem", body: Body::Items(&SCHEMA) };
static TYPE_ITEM: Message = Message { name: "TypeItem", body: Body::Types };

impl Json for model::TypeItem {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        match self.value.as_slice() {
            [one] => one.json(out),
            _ => self.value.json(out),
        }
    }
}

impl Json for model::ItemsItem {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        match self.schema.as_slice() {
            [one] => one.json(out),
            _ => self.schema.json(out),
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
