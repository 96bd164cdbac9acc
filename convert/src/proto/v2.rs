//! The protobuf form of OpenAPI 2.0 (Swagger) documents, `openapi.v2.Document`.

use kubeshape_schema::Converted;
use kubeshape_yaml::Node;

use super::DecodeError;
use super::refusal::Refusal;
use super::table::Kind::{
    Any, AnyList, Bool, Entries, Extensions, Int, LooseText, Message as Nested, Messages, Number, Text, Texts,
};
use super::table::{Body, Field, Keys, Message, maps, objects, unions};
use crate::aggregate::merge::section::Section;

/// Returns the bytes of a document's protobuf form, and notes of what it does not contain.
///
/// The bytes are those of gnostic-models' `openapiv2.ParseDocument` and Go's `proto.Marshal`. Members keep the order of
/// a JSON source; those of a YAML source are sorted first, as sigs.k8s.io/yaml does before gnostic reads them.
///
/// # Errors
/// All reasons why gnostic rejects the document: unknown and missing members, wrong types, JSON that is not YAML.
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

/// Returns a part of the protobuf form, for some members of a section: `root` is an object with only these members.
///
/// The parts of all members, in their order, are the content of the section's message, so a document whose members are
/// known need not be encoded again: see [`around`]. One exception: extensions of `paths` come before all paths.
///
/// # Errors
/// As [`encode`].
pub fn part(section: Section, root: Node<'_>) -> Result<Vec<u8>, Vec<Refusal>> {
    Ok(super::encode::encode(section_message(section).1, root)?.value)
}

/// Returns the protobuf form of a document around its sections, as bytes and, between them, the sections. `root` is the
/// document with empty sections. `length` returns how many bytes of parts a section will have.
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
#[allow(clippy::type_complexity)] // like `Destination::texts`
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

/// Returns the field of a section in the document, and its message.
fn section_message(section: Section) -> (u32, &'static Message) {
    match section {
        Section::Paths => (8, &PATHS),
        Section::Definitions => (9, &DEFINITIONS),
        Section::Parameters => (10, &PARAMETER_DEFINITIONS),
    }
}

/// Checks whether gnostic accepts a document, without encoding it.
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
/// let bytes = b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x011\x42\x00";
/// let json = kubeshape_convert::proto::v2::decode(bytes)?;
/// assert_eq!(json, br#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{}}"#);
/// # Ok::<(), kubeshape_convert::proto::DecodeError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    super::decode::decode(&DOCUMENT, bytes)
}

objects! {
    DOCUMENT Document closed {
        1 "swagger" => Text(&["2.0"]), required;
        2 "info" => Nested(&INFO), required;
        3 "host" => Text(&[]);
        4 "basePath" => Text(&[]);
        5 "schemes" => Texts(&["http", "https", "ws", "wss"]);
        6 "consumes" => Texts(&[]);
        7 "produces" => Texts(&[]);
        8 "paths" => Nested(&PATHS), required;
        9 "definitions" => Nested(&DEFINITIONS);
        10 "parameters" => Nested(&PARAMETER_DEFINITIONS);
        11 "responses" => Nested(&RESPONSE_DEFINITIONS);
        12 "security" => Messages(&SECURITY_REQUIREMENT);
        13 "securityDefinitions" => Nested(&SECURITY_DEFINITIONS);
        14 "tags" => Messages(&TAG);
        15 "externalDocs" => Nested(&EXTERNAL_DOCS);
        16 => Extensions;
    }
    INFO Info closed {
        1 "title" => Text(&[]), required;
        2 "version" => Text(&[]), required;
        3 "description" => Text(&[]);
        4 "termsOfService" => Text(&[]);
        5 "contact" => Nested(&CONTACT);
        6 "license" => Nested(&LICENSE);
        7 => Extensions;
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
    PATHS Paths closed {
        1 => Extensions;
        2 => Entries(Keys::Path, &PATH_ITEM);
    }
    PATH_ITEM PathItem closed {
        1 "$ref" => Text(&[]);
        2 "get" => Nested(&OPERATION);
        3 "put" => Nested(&OPERATION);
        4 "post" => Nested(&OPERATION);
        5 "delete" => Nested(&OPERATION);
        6 "options" => Nested(&OPERATION);
        7 "head" => Nested(&OPERATION);
        8 "patch" => Nested(&OPERATION);
        9 "parameters" => Messages(&PARAMETERS_ITEM);
        10 => Extensions;
    }
    OPERATION Operation closed {
        1 "tags" => Texts(&[]);
        2 "summary" => Text(&[]);
        3 "description" => Text(&[]);
        4 "externalDocs" => Nested(&EXTERNAL_DOCS);
        5 "operationId" => Text(&[]);
        6 "produces" => Texts(&[]);
        7 "consumes" => Texts(&[]);
        8 "parameters" => Messages(&PARAMETERS_ITEM);
        9 "responses" => Nested(&RESPONSES), required;
        10 "schemes" => Texts(&["http", "https", "ws", "wss"]);
        11 "deprecated" => Bool;
        12 "security" => Messages(&SECURITY_REQUIREMENT);
        13 => Extensions;
    }
    RESPONSES Responses closed {
        1 => Entries(Keys::CodeOrDefault, &RESPONSE_VALUE);
        2 => Extensions;
    }
    RESPONSE Response closed {
        1 "description" => Text(&[]), required;
        2 "schema" => Nested(&SCHEMA_ITEM);
        3 "headers" => Nested(&HEADERS);
        4 "examples" => Nested(&EXAMPLES);
        5 => Extensions;
    }
    HEADER Header closed {
        1 "type" => Text(&["string", "number", "integer", "boolean", "array"]), required;
        2 "format" => Text(&[]);
        3 "items" => Nested(&PRIMITIVES_ITEMS);
        4 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        5 "default" => Any;
        6 "maximum" => Number;
        7 "exclusiveMaximum" => Bool;
        8 "minimum" => Number;
        9 "exclusiveMinimum" => Bool;
        10 "maxLength" => Int;
        11 "minLength" => Int;
        12 "pattern" => Text(&[]);
        13 "maxItems" => Int;
        14 "minItems" => Int;
        15 "uniqueItems" => Bool;
        16 "enum" => AnyList;
        17 "multipleOf" => Number;
        18 "description" => Text(&[]);
        19 => Extensions;
    }
    BODY_PARAMETER BodyParameter closed {
        1 "description" => Text(&[]);
        2 "name" => Text(&[]), required;
        3 "in" => Text(&["body"]), required;
        4 "required" => Bool;
        5 "schema" => Nested(&SCHEMA), required;
        6 => Extensions;
    }
    HEADER_PARAMETER_SUB_SCHEMA HeaderParameterSubSchema closed {
        1 "required" => Bool;
        2 "in" => Text(&["header"]);
        3 "description" => Text(&[]);
        4 "name" => Text(&[]);
        5 "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        6 "format" => Text(&[]);
        7 "items" => Nested(&PRIMITIVES_ITEMS);
        8 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        9 "default" => Any;
        10 "maximum" => Number;
        11 "exclusiveMaximum" => Bool;
        12 "minimum" => Number;
        13 "exclusiveMinimum" => Bool;
        14 "maxLength" => Int;
        15 "minLength" => Int;
        16 "pattern" => Text(&[]);
        17 "maxItems" => Int;
        18 "minItems" => Int;
        19 "uniqueItems" => Bool;
        20 "enum" => AnyList;
        21 "multipleOf" => Number;
        22 => Extensions;
    }
    FORM_DATA_PARAMETER_SUB_SCHEMA FormDataParameterSubSchema closed {
        1 "required" => Bool;
        2 "in" => Text(&["formData"]);
        3 "description" => Text(&[]);
        4 "name" => Text(&[]);
        5 "allowEmptyValue" => Bool;
        6 "type" => Text(&["string", "number", "boolean", "integer", "array", "file"]);
        7 "format" => Text(&[]);
        8 "items" => Nested(&PRIMITIVES_ITEMS);
        9 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes", "multi"]);
        10 "default" => Any;
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
        21 "enum" => AnyList;
        22 "multipleOf" => Number;
        23 => Extensions;
    }
    QUERY_PARAMETER_SUB_SCHEMA QueryParameterSubSchema closed {
        1 "required" => Bool;
        2 "in" => Text(&["query"]);
        3 "description" => Text(&[]);
        4 "name" => Text(&[]);
        5 "allowEmptyValue" => Bool;
        6 "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        7 "format" => Text(&[]);
        8 "items" => Nested(&PRIMITIVES_ITEMS);
        9 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes", "multi"]);
        10 "default" => Any;
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
        21 "enum" => AnyList;
        22 "multipleOf" => Number;
        23 => Extensions;
    }
    PATH_PARAMETER_SUB_SCHEMA PathParameterSubSchema closed {
        1 "required" => Bool, required;
        2 "in" => Text(&["path"]);
        3 "description" => Text(&[]);
        4 "name" => Text(&[]);
        5 "type" => Text(&["string", "number", "boolean", "integer", "array"]);
        6 "format" => Text(&[]);
        7 "items" => Nested(&PRIMITIVES_ITEMS);
        8 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        9 "default" => Any;
        10 "maximum" => Number;
        11 "exclusiveMaximum" => Bool;
        12 "minimum" => Number;
        13 "exclusiveMinimum" => Bool;
        14 "maxLength" => Int;
        15 "minLength" => Int;
        16 "pattern" => Text(&[]);
        17 "maxItems" => Int;
        18 "minItems" => Int;
        19 "uniqueItems" => Bool;
        20 "enum" => AnyList;
        21 "multipleOf" => Number;
        22 => Extensions;
    }
    PRIMITIVES_ITEMS PrimitivesItems closed {
        1 "type" => Text(&["string", "number", "integer", "boolean", "array"]);
        2 "format" => Text(&[]);
        3 "items" => Nested(&PRIMITIVES_ITEMS);
        4 "collectionFormat" => Text(&["csv", "ssv", "tsv", "pipes"]);
        5 "default" => Any;
        6 "maximum" => Number;
        7 "exclusiveMaximum" => Bool;
        8 "minimum" => Number;
        9 "exclusiveMinimum" => Bool;
        10 "maxLength" => Int;
        11 "minLength" => Int;
        12 "pattern" => Text(&[]);
        13 "maxItems" => Int;
        14 "minItems" => Int;
        15 "uniqueItems" => Bool;
        16 "enum" => AnyList;
        17 "multipleOf" => Number;
        18 => Extensions;
    }
    JSON_REFERENCE JsonReference open {
        1 "$ref" => Text(&[]), required;
        2 "description" => Text(&[]);
    }
    SCHEMA Schema closed {
        1 "$ref" => Text(&[]);
        2 "format" => Text(&[]);
        3 "title" => Text(&[]);
        4 "description" => Text(&[]);
        5 "default" => Any;
        6 "multipleOf" => Number;
        7 "maximum" => Number;
        8 "exclusiveMaximum" => Bool;
        9 "minimum" => Number;
        10 "exclusiveMinimum" => Bool;
        11 "maxLength" => Int;
        12 "minLength" => Int;
        13 "pattern" => Text(&[]);
        14 "maxItems" => Int;
        15 "minItems" => Int;
        16 "uniqueItems" => Bool;
        17 "maxProperties" => Int;
        18 "minProperties" => Int;
        19 "required" => Texts(&[]);
        20 "enum" => AnyList;
        21 "additionalProperties" => Nested(&ADDITIONAL_PROPERTIES_ITEM);
        22 "type" => Nested(&TYPE_ITEM);
        23 "items" => Nested(&ITEMS_ITEM);
        24 "allOf" => Messages(&SCHEMA);
        25 "properties" => Nested(&PROPERTIES);
        26 "discriminator" => Text(&[]);
        27 "readOnly" => Bool;
        28 "xml" => Nested(&XML);
        29 "externalDocs" => Nested(&EXTERNAL_DOCS);
        30 "example" => Any;
        31 => Extensions;
    }
    FILE_SCHEMA FileSchema closed {
        1 "format" => Text(&[]);
        2 "title" => Text(&[]);
        3 "description" => Text(&[]);
        4 "default" => Any;
        5 "required" => Texts(&[]);
        6 "type" => Text(&["file"]), required;
        7 "readOnly" => Bool;
        8 "externalDocs" => Nested(&EXTERNAL_DOCS);
        9 "example" => Any;
        10 => Extensions;
    }
    XML Xml closed {
        1 "name" => Text(&[]);
        2 "namespace" => Text(&[]);
        3 "prefix" => Text(&[]);
        4 "attribute" => Bool;
        5 "wrapped" => Bool;
        6 => Extensions;
    }
    BASIC_AUTHENTICATION_SECURITY BasicAuthenticationSecurity closed {
        1 "type" => Text(&["basic"]), required;
        2 "description" => Text(&[]);
        3 => Extensions;
    }
    API_KEY_SECURITY ApiKeySecurity closed {
        1 "type" => Text(&["apiKey"]), required;
        2 "name" => Text(&[]), required;
        3 "in" => Text(&["header", "query"]), required;
        4 "description" => Text(&[]);
        5 => Extensions;
    }
    OAUTH2_IMPLICIT_SECURITY Oauth2ImplicitSecurity closed {
        1 "type" => Text(&["oauth2"]), required;
        2 "flow" => Text(&["implicit"]), required;
        3 "scopes" => Nested(&OAUTH2_SCOPES);
        4 "authorizationUrl" => Text(&[]), required;
        5 "description" => Text(&[]);
        6 => Extensions;
    }
    OAUTH2_PASSWORD_SECURITY Oauth2PasswordSecurity closed {
        1 "type" => Text(&["oauth2"]), required;
        2 "flow" => Text(&["password"]), required;
        3 "scopes" => Nested(&OAUTH2_SCOPES);
        4 "tokenUrl" => Text(&[]), required;
        5 "description" => Text(&[]);
        6 => Extensions;
    }
    OAUTH2_APPLICATION_SECURITY Oauth2ApplicationSecurity closed {
        1 "type" => Text(&["oauth2"]), required;
        2 "flow" => Text(&["application"]), required;
        3 "scopes" => Nested(&OAUTH2_SCOPES);
        4 "tokenUrl" => Text(&[]), required;
        5 "description" => Text(&[]);
        6 => Extensions;
    }
    OAUTH2_ACCESS_CODE_SECURITY Oauth2AccessCodeSecurity closed {
        1 "type" => Text(&["oauth2"]), required;
        2 "flow" => Text(&["accessCode"]), required;
        3 "scopes" => Nested(&OAUTH2_SCOPES);
        4 "authorizationUrl" => Text(&[]), required;
        5 "tokenUrl" => Text(&[]), required;
        6 "description" => Text(&[]);
        7 => Extensions;
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
    RESPONSE_VALUE ResponseValue {
        1 => Nested(&RESPONSE);
        2 => Nested(&JSON_REFERENCE);
    }
    SCHEMA_ITEM SchemaItem {
        1 => Nested(&SCHEMA);
        2 => Nested(&FILE_SCHEMA);
    }
    PARAMETERS_ITEM ParametersItem {
        1 => Nested(&PARAMETER);
        2 => Nested(&JSON_REFERENCE);
    }
    PARAMETER Parameter {
        1 => Nested(&BODY_PARAMETER);
        2 => Nested(&NON_BODY_PARAMETER);
    }
    NON_BODY_PARAMETER NonBodyParameter {
        1 => Nested(&HEADER_PARAMETER_SUB_SCHEMA);
        2 => Nested(&FORM_DATA_PARAMETER_SUB_SCHEMA);
        3 => Nested(&QUERY_PARAMETER_SUB_SCHEMA);
        4 => Nested(&PATH_PARAMETER_SUB_SCHEMA);
    }
    ADDITIONAL_PROPERTIES_ITEM AdditionalPropertiesItem {
        1 => Nested(&SCHEMA);
        2 => Bool;
    }
    SECURITY_DEFINITIONS_ITEM SecurityDefinitionsItem {
        1 => Nested(&BASIC_AUTHENTICATION_SECURITY);
        2 => Nested(&API_KEY_SECURITY);
        3 => Nested(&OAUTH2_IMPLICIT_SECURITY);
        4 => Nested(&OAUTH2_PASSWORD_SECURITY);
        5 => Nested(&OAUTH2_APPLICATION_SECURITY);
        6 => Nested(&OAUTH2_ACCESS_CODE_SECURITY);
    }
}

static STRING_ARRAY: Message = Message { name: "StringArray", body: Body::StringArray };
static ITEMS_ITEM: Message = Message { name: "ItemsItem", body: Body::Items(&SCHEMA) };
static TYPE_ITEM: Message = Message { name: "TypeItem", body: Body::Types };
