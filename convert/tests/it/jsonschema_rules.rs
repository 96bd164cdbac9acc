//! How each keyword is expressed in JSON Schema: the smallest schema and the whole result.

use kubeshape_convert::jsonschema::{Draft, Nulls, Options, Patterns, from_definition, from_structural};
use kubeshape_schema::{Bump, Code, Gvk, Profile, Schema, read};
use kubeshape_yaml::{Limits, Stream, Tape};

type Result = std::result::Result<(), kubeshape_yaml::Error>;

const LAX: Options<'static> = Options {
    draft: Draft::D2020_12,
    strict: false,
    nulls: Nulls::Stored,
    patterns: Patterns::Ecma,
    replicas: &[],
    id: "",
    title: "",
    most_bytes: 1 << 20,
};
const SERVER: Options<'static> = Options { nulls: Nulls::Server, ..LAX };
const STRICT: Options<'static> = Options { strict: true, ..LAX };
const D7: Options<'static> = Options { draft: Draft::D7, ..LAX };

/// Reads definitions and converts the last one. Returns the result without `$schema`, and the codes of the notes.
fn document(source: &str, options: Options<'_>) -> std::result::Result<(String, Vec<Code>), kubeshape_yaml::Error> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let mut reader = read::Reader::new(&arena, read::Rules::Document(Profile::Faithful));
    let root = tape.document(source).root().expect("a document");
    let definitions = reader.properties(root);
    let find = |name: &str| definitions.iter().find(|p| p.name == name).map(|p| &p.schema);
    let last = definitions.last().expect("a definition");
    let result = from_definition(last.name, &last.schema, None, &find, options);
    Ok((body(&result.value, options), result.notes.iter().map(|note| note.code).collect()))
}

/// Converts the property `a` of a CustomResourceDefinition.
fn property(source: &str, options: Options<'_>) -> std::result::Result<(String, Vec<Code>), kubeshape_yaml::Error> {
    let source = format!("type: object\nproperties:\n  a: {source}\n");
    let (whole, mut notes) = structural(&source, options, &|_| None)?;
    notes.retain(|code| *code != Code::JsonSchemaMetadata);
    let start = whole.find("\"a\":").expect("the property") + 4;
    let end = whole.find(",\"apiVersion\"").expect("the next property");
    // It looks like the letter.
    Ok((whole[start..end].replace('\u{212a}', "KELVIN"), notes))
}

fn structural<'a>(
    source: &str,
    options: Options<'_>,
    find: &dyn Fn(&str) -> Option<&'a Schema<'a>>,
) -> std::result::Result<(String, Vec<Code>), kubeshape_yaml::Error> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().expect("a document"));
    let gvk = Gvk::new("g.io/v1", "K");
    let found = |name: &str| find(name).copied().map(|schema| &*arena.alloc(schema));
    let result = from_structural(&schema, gvk, false, &found, options);
    Ok((body(&result.value, options), result.notes.iter().map(|note| note.code).collect()))
}

fn body(bytes: &[u8], options: Options<'_>) -> String {
    let text = String::from_utf8_lossy(bytes);
    let head = format!("{{\"$schema\":\"{}\"", options.draft.uri());
    let rest = text.strip_prefix(&head).expect("the meta-schema first");
    format!("{{{}", rest.strip_prefix(',').unwrap_or(rest))
}

#[test]
fn values_have_their_type() -> Result {
    for (source, expected, codes) in [
        ("{type: string, nullable: true}", r#"{"type":["string","null"]}"#, vec![]),
        ("{type: string, nullable: true, enum: [x]}", r#"{"type":"string","enum":["x"]}"#, vec![]),
        ("{type: string, nullable: true, enum: [x, null]}", r#"{"type":"string","enum":["x"]}"#, vec![]),
        // Go's readers of draft 7 reject an enum that is empty, or lists a value twice.
        ("{type: string, enum: [x, z, x]}", r#"{"type":"string","enum":["x","z"]}"#, vec![]),
        (
            "{type: array, items: {enum: [[1], [1], 1]}}",
            r#"{"type":"array","items":{"enum":[[1],1]}}"#,
            vec![Code::JsonSchemaNumber],
        ),
        ("{type: string, nullable: true, enum: [null]}", r#"{"type":"string","allOf":[{"not":{}}]}"#, vec![]),
        (
            "{type: array, items: {enum: [1, null]}}",
            r#"{"type":"array","items":{"enum":[1]}}"#,
            vec![Code::JsonSchemaNumber],
        ),
        (
            "{type: string, nullable: true, anyOf: [{minLength: 1}]}",
            r#"{"type":["string","null"],"anyOf":[{"minLength":1},{"type":"null"}]}"#,
            vec![],
        ),
        (
            "{type: string, description: D, nullable: true, not: {minLength: 1}}",
            r#"{"description":"D","anyOf":[{"type":"null"},{"type":"string","not":{"minLength":1}}]}"#,
            vec![],
        ),
        (
            "{x-kubernetes-int-or-string: true}",
            r#"{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}"#,
            vec![],
        ),
        (
            "{x-kubernetes-int-or-string: true, anyOf: [{pattern: a}]}",
            r#"{"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}],"anyOf":[{"pattern":"a"}],"x-kubernetes-int-or-string":true}"#,
            vec![],
        ),
        (
            "{type: integer, minimum: 1, exclusiveMinimum: true, exclusiveMaximum: true}",
            r#"{"type":"integer","exclusiveMinimum":1}"#,
            vec![],
        ),
        (
            "{type: integer, format: int32, minimum: 0}",
            r#"{"type":"integer","format":"int32","minimum":0,"maximum":2147483647}"#,
            vec![],
        ),
        (
            "{type: integer, format: int64, maximum: 1e30}",
            r#"{"type":"integer","format":"int64","minimum":-9223372036854775808,"maximum":9223372036854775807}"#,
            vec![],
        ),
        ("{type: string, format: date-time}", r#"{"type":"string","format":"date-time"}"#, vec![]),
        ("{type: string, format: duration}", r#"{"type":"string"}"#, vec![Code::JsonSchemaFormatUnchecked]),
        ("{type: string, format: time}", r#"{"type":"string"}"#, vec![Code::JsonSchemaFormat]),
        ("{type: string, format: color}", r#"{"type":"string","format":"color"}"#, vec![Code::JsonSchemaFormat]),
        (
            "{type: string, format: byte}",
            r#"{"type":"string","contentEncoding":"base64","pattern":"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"}"#,
            vec![],
        ),
        (
            "{type: string, format: k8s-short-name, pattern: a, maxLength: 80}",
            r#"{"type":"string","format":"k8s-short-name","maxLength":63,"pattern":"a","allOf":[{"pattern":"^[a-z0-9](?:[\\-a-z0-9]*[a-z0-9])?$"}]}"#,
            vec![],
        ),
        (r"{type: string, pattern: '\Aa\z'}", r#"{"type":"string","pattern":"^a$"}"#, vec![]),
        ("{type: string, pattern: '(?i)é'}", r#"{"type":"string"}"#, vec![Code::JsonSchemaPattern]),
        (
            "{type: string, maxLength: -1, minLength: -1}",
            r#"{"type":"string","allOf":[{"not":{"type":"string"}}]}"#,
            vec![],
        ),
        ("{type: number, multipleOf: 0}", r#"{"type":"number","allOf":[{"not":{"type":"number"}}]}"#, vec![]),
        (
            "{type: string, not: {format: ipv4}}",
            r#"{"type":"string"}"#,
            vec![Code::JsonSchemaFormat, Code::JsonSchemaNegated],
        ),
        (
            "{type: string, oneOf: [{format: date}, {pattern: '^a'}]}",
            r#"{"type":"string","allOf":[{"anyOf":[{"format":"date"},{"pattern":"^a"}]}]}"#,
            vec![Code::JsonSchemaNegated],
        ),
        ("{type: string, default: b, example: c}", r#"{"default":"b","examples":["c"],"type":"string"}"#, vec![]),
        ("{type: string, externalDocs: {url: u}}", r#"{"type":"string"}"#, vec![Code::JsonSchemaOpenApi]),
    ] {
        assert_eq!(property(source, LAX)?, (expected.to_owned(), codes), "{source}");
    }
    Ok(())
}

#[test]
fn lists_are_unique_as_sets_and_lose_their_keys() -> Result {
    for (source, expected, codes) in [
        (
            "{type: array, x-kubernetes-list-type: set, items: {type: string}}",
            r#"{"type":"array","items":{"type":"string"},"uniqueItems":true,"x-kubernetes-list-type":"set"}"#,
            vec![],
        ),
        (
            "{type: array, x-kubernetes-list-type: set, items: {type: number}}",
            r#"{"type":"array","items":{"type":"number"},"uniqueItems":true,"x-kubernetes-list-type":"set"}"#,
            vec![Code::JsonSchemaSet],
        ),
        (
            "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object}}",
            r#"{"type":"array","items":{"type":"object"},"x-kubernetes-list-map-keys":["k"],"x-kubernetes-list-type":"map"}"#,
            vec![Code::JsonSchemaListMap],
        ),
        (
            "{type: string, x-kubernetes-validations: [{rule: 'self != \"\"', message: m}]}",
            r#"{"type":"string","x-kubernetes-validations":[{"rule":"self != \"\"","message":"m"}]}"#,
            vec![Code::JsonSchemaCel],
        ),
    ] {
        assert_eq!(property(source, LAX)?, (expected.to_owned(), codes), "{source}");
    }
    Ok(())
}

#[test]
fn strict_closes_what_is_pruned() -> Result {
    for (source, expected) in [
        ("{type: object}", r#"{"type":"object","additionalProperties":false}"#),
        (
            "{type: object, properties: {b: {type: string}}, anyOf: [{properties: {b: {minLength: 1}}}]}",
            r#"{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":false,"anyOf":[{"properties":{"b":{"minLength":1}}}]}"#,
        ),
        (
            "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object}}}",
            r#"{"type":"object","properties":{"b":{"type":"object","additionalProperties":false}},"x-kubernetes-preserve-unknown-fields":true}"#,
        ),
        (
            "{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {b: {type: object}}}}",
            r#"{"type":"array","items":{"type":"object","properties":{"b":{"type":"object","additionalProperties":false}}},"x-kubernetes-preserve-unknown-fields":true}"#,
        ),
        (
            "{type: object, additionalProperties: {type: object}}",
            r#"{"type":"object","additionalProperties":{"type":"object","additionalProperties":false}}"#,
        ),
        (
            "{type: object, additionalProperties: true}",
            r##"{"type":"object","additionalProperties":{"$ref":"#/$defs/pruned"}}"##,
        ),
        (
            "{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, required: [name]}}}",
            r#"{"type":"object","properties":{"apiVersion":{"type":"string","minLength":1,"pattern":"^[^/]*(?:/[^/]*)?$"},"kind":{"type":"string","maxLength":63,"pattern":"^[A-Za-zKELVIN](?:[-A-Za-z0-9KELVIN]*[A-Za-z0-9KELVIN])?$"},"metadata":{"type":"object","required":["name"]}},"additionalProperties":false,"required":["apiVersion","kind"],"x-kubernetes-embedded-resource":true}"#,
        ),
    ] {
        assert_eq!(property(source, STRICT)?.0, expected, "{source}");
    }
    Ok(())
}

#[test]
fn metadata_is_the_definition_and_the_authors_schema() -> Result {
    let meta = Schema::default();
    let find = |name: &str| name.ends_with("meta.v1.ObjectMeta").then_some(&meta);
    let source =
        "{type: object, properties: {metadata: {type: object, properties: {name: {maxLength: 5, type: string}}}}}";
    let (text, notes) = structural(source, LAX, &find)?;
    let pointer = r##"{"$ref":"#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}"##;
    assert_eq!(
        text,
        format!(
            r#"{{"type":"object","properties":{{"apiVersion":{{"type":"string","const":"g.io/v1"}},"kind":{{"type":"string","const":"K"}},"metadata":{{"allOf":[{pointer},{{"type":"object","properties":{{"name":{{"type":"string","maxLength":5}}}}}}]}}}},"required":["apiVersion","kind"],"x-kubernetes-group-version-kind":[{{"group":"g.io","kind":"K","version":"v1"}}],"$defs":{{"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{{}}}}}}"#
        )
    );
    assert_eq!(notes, []);
    Ok(())
}

#[test]
fn documents_are_self_contained() -> Result {
    for (source, options, expected, codes) in [
        (
            r##"{"a/b~c é":{},"z":{"$ref":"#/definitions/a~1b~0c%20%C3%A9"}}"##,
            LAX,
            r##"{"$ref":"#/$defs/a~1b~0c%20%C3%A9","$defs":{"a/b~c é":{}}}"##,
            vec![],
        ),
        (r#"{"z":{"$ref":"other.json"}}"#, LAX, "{}", vec![Code::JsonSchemaReference]),
        (
            r##"{"a":{},"z":{"properties":{"p":{"$ref":"#/components/schemas/a"},"q":{"$ref":"#/definitions/a","nullable":true}}}}"##,
            D7,
            r##"{"properties":{"p":{"$ref":"#/definitions/a"},"q":{"anyOf":[{"type":"null"},{"$ref":"#/definitions/a"}]}},"definitions":{"a":{}}}"##,
            vec![],
        ),
        (
            r##"{"a":{"properties":{"b":{}}},"z":{"properties":{"p":{"allOf":[{"$ref":"#/definitions/a"}],"default":{}},"q":{"allOf":[{"$ref":"#/definitions/a"},{"properties":{"c":{}}}]}}}}"##,
            STRICT,
            r##"{"properties":{"p":{"default":{},"allOf":[{"$ref":"#/$defs/a"}]},"q":{"allOf":[{"$ref":"#/$defs/a.open"},{"properties":{"c":{}}}]}},"additionalProperties":false,"$defs":{"a":{"properties":{"b":{}},"additionalProperties":false},"a.open":{"properties":{"b":{}}}}}"##,
            vec![Code::JsonSchemaOpen],
        ),
        (
            r##"{"io.k8s.apimachinery.pkg.api.resource.Quantity":{"type":"string"},"io.k8s.apimachinery.pkg.apis.meta.v1.Time":{"type":"string","format":"date-time"},"io.k8s.apimachinery.pkg.util.intstr.IntOrString":{"type":"string","format":"int-or-string"},"z":{"items":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},{"$ref":"#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}]}}"##,
            LAX,
            r##"{"prefixItems":[{"$ref":"#/$defs/io.k8s.apimachinery.pkg.api.resource.Quantity"},{"$ref":"#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},{"$ref":"#/$defs/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}],"$defs":{"io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},"io.k8s.apimachinery.pkg.apis.meta.v1.Time":{"type":["string","null"],"format":"date-time"},"io.k8s.apimachinery.pkg.util.intstr.IntOrString":{"format":"int-or-string","anyOf":[{"type":"integer"},{"type":"string"}]}}}"##,
            vec![],
        ),
        (
            r#"{"z":{"items":[{"type":"string"}],"additionalItems":false,"dependencies":{"a":["b","b"],"c":{"required":["d"]}}}}"#,
            LAX,
            r#"{"prefixItems":[{"type":"string"}],"items":false,"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}"#,
            vec![],
        ),
        (
            r#"{"z":{"items":[{"type":"string"}],"additionalItems":false,"dependencies":{"a":["b"],"c":{"required":["d"]}}}}"#,
            D7,
            r#"{"items":[{"type":"string"}],"additionalItems":false,"dependencies":{"a":["b"],"c":{"required":["d"]}}}"#,
            vec![],
        ),
        (
            r#"{"z":{"type":"file","const":1,"id":"i","discriminator":{"propertyName":"p"},"readOnly":true,"writeOnly":true,"deprecated":true,"x-a":1}}"#,
            LAX,
            r#"{"deprecated":true,"readOnly":true,"writeOnly":true,"x-a":1}"#,
            vec![Code::JsonSchemaType, Code::JsonSchemaKeyword, Code::JsonSchemaOpenApi, Code::JsonSchemaIdentifier],
        ),
        (
            r##"{"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"properties":{"name":{}}},"z":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}}}"##,
            STRICT,
            r##"{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"$ref":"#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}},"additionalProperties":false,"required":["apiVersion","kind"],"x-kubernetes-embedded-resource":true,"$defs":{"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"properties":{"name":{}},"additionalProperties":false}}}"##,
            vec![],
        ),
        (r#"{"z":{"type":"string","pattern":"^(?!a)"}}"#, LAX, r#"{"type":"string","pattern":"^(?!a)"}"#, vec![]),
        (
            r#"{"z":{"type":["string","string","null"],"patternProperties":{"\\Aa":{"type":"string"}}}}"#,
            LAX,
            r#"{"type":["string","null"],"patternProperties":{"^a":{"type":"string"}}}"#,
            vec![],
        ),
    ] {
        assert_eq!(document(source, options)?, (expected.to_owned(), codes), "{source}");
    }
    Ok(())
}

#[test]
fn identity_and_title_are_the_options() -> Result {
    let options = Options { id: "https://example.com/a.json", title: "T", ..LAX };
    let (text, _) = document(r#"{"z":{"title":"own","description":"D"}}"#, options)?;
    assert_eq!(text, r#"{"$id":"https://example.com/a.json","title":"T","description":"D"}"#);
    Ok(())
}

#[test]
fn schemas_as_deep_as_the_reader_allows_are_converted() -> Result {
    let deep = format!(r#"{{"z":{}{{}}{}}}"#, r#"{"items":"#.repeat(480), "}".repeat(480));
    let (text, _) = document(&deep, STRICT)?;
    assert_eq!(text.matches("items").count(), 480);
    Ok(())
}

#[test]
fn null_is_accepted_where_a_server_drops_it() -> Result {
    for (source, stored, server) in [
        (
            "{type: object, properties: {b: {type: string}}}",
            r#"{"type":"object","properties":{"b":{"type":"string"}}}"#,
            r#"{"type":["object","null"],"properties":{"b":{"type":["string","null"]}}}"#,
        ),
        (
            "{type: object, required: [b, c], properties: {b: {type: string}, c: {type: string, default: x}}}",
            r#"{"type":"object","properties":{"b":{"type":"string"},"c":{"default":"x","type":"string"}},"required":["b","c"]}"#,
            r#"{"type":["object","null"],"properties":{"b":{"type":"string"},"c":{"default":"x","type":["string","null"]}},"required":["b"]}"#,
        ),
        (
            "{type: array, items: {type: string, enum: [x]}}",
            r#"{"type":"array","items":{"type":"string","enum":["x"]}}"#,
            r#"{"type":["array","null"],"items":{"type":"string","enum":["x"]}}"#,
        ),
        (
            "{type: object, additionalProperties: {type: string, enum: [x]}}",
            r#"{"type":"object","additionalProperties":{"type":"string","enum":["x"]}}"#,
            r#"{"type":["object","null"],"additionalProperties":{"type":["string","null"],"enum":["x",null]}}"#,
        ),
        (
            "{type: string, not: {pattern: x}}",
            r#"{"type":"string","not":{"pattern":"x"}}"#,
            r#"{"anyOf":[{"type":"null"},{"type":"string","not":{"pattern":"x"}}]}"#,
        ),
    ] {
        assert_eq!(property(source, LAX)?.0, stored);
        assert_eq!(property(source, SERVER)?.0, server);
    }
    Ok(())
}

#[test]
fn null_is_decided_at_the_value_itself() -> Result {
    for (source, server, codes) in [
        (
            "{type: array, nullable: true, items: {type: string}}",
            r#"{"type":["array","null"],"items":{"type":"string"}}"#,
            vec![],
        ),
        (
            "{type: object, nullable: true, additionalProperties: {type: array, nullable: true, items: {type: string}}}",
            r#"{"type":["object","null"],"additionalProperties":{"type":["array","null"],"items":{"type":"string"}}}"#,
            vec![],
        ),
        (
            "{type: string, nullable: true, oneOf: [{enum: [x]}, {enum: [z]}]}",
            r#"{"anyOf":[{"type":"null"},{"type":"string","oneOf":[{"enum":["x"]},{"enum":["z"]}]}]}"#,
            vec![],
        ),
        (
            "{type: string, nullable: true, not: {enum: [x]}}",
            r#"{"anyOf":[{"type":"null"},{"type":"string","not":{"enum":["x"]}}]}"#,
            vec![],
        ),
        ("{type: string, nullable: true, enum: [x]}", r#"{"type":"string","enum":["x"]}"#, vec![]),
        (
            "{type: object, required: [b], properties: {b: {x-kubernetes-preserve-unknown-fields: true}}}",
            r#"{"type":["object","null"],"properties":{"b":{"type":["array","boolean","number","object","string"],"x-kubernetes-preserve-unknown-fields":true}},"required":["b"]}"#,
            vec![],
        ),
        (
            "{type: object, properties: {b: {x-kubernetes-preserve-unknown-fields: true, nullable: true}}, required: [b]}",
            r#"{"type":["object","null"],"properties":{"b":{"x-kubernetes-preserve-unknown-fields":true}},"required":["b"]}"#,
            vec![],
        ),
        (
            "{type: object, x-kubernetes-embedded-resource: true}",
            r#"{"type":["object","null"],"properties":{"apiVersion":{"type":"string","minLength":1,"pattern":"^[^/]*(?:/[^/]*)?$"},"kind":{"type":"string","maxLength":63,"pattern":"^[A-Za-zKELVIN](?:[-A-Za-z0-9KELVIN]*[A-Za-z0-9KELVIN])?$"},"metadata":{"anyOf":[{"type":"null"},{"type":"object"}]}},"required":["apiVersion","kind"],"x-kubernetes-embedded-resource":true}"#,
            vec![],
        ),
        (
            "{type: object, maxProperties: 1, properties: {b: {type: string}}}",
            r#"{"type":["object","null"],"properties":{"b":{"type":["string","null"]}},"maxProperties":1}"#,
            vec![Code::JsonSchemaNull],
        ),
        (
            "{type: object, properties: {b: {type: string}}, oneOf: [{required: [b]}, {not: {required: [b]}}]}",
            "",
            vec![Code::JsonSchemaNull],
        ),
    ] {
        let (text, notes) = property(source, SERVER)?;
        assert!(server.is_empty() || text == server, "{source}: {text}");
        assert_eq!(notes, codes, "{source}");
    }
    Ok(())
}

#[test]
fn a_document_accepts_null_that_an_enum_lists() -> Result {
    for (source, expected) in [
        (r#"{"z":{"type":"string","nullable":true,"enum":["x"]}}"#, r#"{"type":"string","enum":["x"]}"#),
        (
            r#"{"z":{"type":"string","nullable":true,"enum":["x",null]}}"#,
            r#"{"type":["string","null"],"enum":["x",null]}"#,
        ),
    ] {
        assert_eq!(document(source, LAX)?.0, expected);
    }
    Ok(())
}

#[test]
fn a_lifecycle_becomes_deprecated_or_a_sentence_in_the_description() -> Result {
    let life = |entry: &str| format!(r#""x-kubernetes-api-lifecycle":{{"kubernetes":{entry}}}"#);
    for (before, entry, expected) in [
        ("", r#"{"status":"deprecated"}"#, r#""deprecated":true,"#),
        (
            r#""description":"D","#,
            r#"{"featureGate":"F","minVersion":"v1.20","status":"alpha"}"#,
            r#""description":"D\n\nAlpha since v1.20, behind the feature gate F.","#,
        ),
        ("", r#"{"status":"beta"}"#, r#""description":"Beta.","#),
        ("", r#"{"minVersion":"v1.20"}"#, ""),
    ] {
        let source = format!(r#"{{"z":{{{before}{}}}}}"#, life(entry));
        assert_eq!(document(&source, LAX)?.0, format!("{{{expected}{}}}", life(entry)));
    }
    Ok(())
}

#[test]
fn a_result_that_is_larger_than_allowed_is_not_built() -> Result {
    let source = "
A: {properties: {a: {$ref: '#/definitions/B'}, b: {type: string, description: words}}}
B: {properties: {b: {$ref: '#/definitions/B'}}, description: more words}
C: {allOf: [{$ref: '#/definitions/A'}]}
";
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let mut reader = read::Reader::new(&arena, read::Rules::Document(Profile::Faithful));
    let definitions = reader.properties(tape.document(source).root().expect("a document"));
    let find = |name: &str| definitions.iter().find(|p| p.name == name).map(|p| &p.schema);
    let last = definitions.last().expect("a definition");
    let made = |most_bytes| from_definition("C", &last.schema, None, &find, Options { most_bytes, ..STRICT });
    let whole = made(usize::MAX).value;
    for most in 0..whole.len() {
        let less = made(most);
        let codes: Vec<Code> = less.notes.iter().map(|note| note.code).collect();
        assert_eq!((less.value, codes), (Vec::new(), vec![Code::OutputBudget]), "{most}");
    }
    assert_eq!(made(whole.len()).value, whole);
    Ok(())
}

#[test]
fn replicas_of_the_scale_subresource_have_32_bits() -> Result {
    let source = "{type: object, properties: {n: {type: integer}}}";
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().expect("a root"));
    let paths = [".n", ".status.n", ".a[0]", "n"];
    let options = Options { replicas: &paths, ..LAX };
    let made = from_structural(&schema, Gvk::new("a/v1", "A"), false, &|_| None, options);
    let json: serde_json::Value = serde_json::from_slice(&made.value).expect("JSON");
    let bounds = serde_json::json!({"minimum": 0, "maximum": 2_147_483_647});
    let all_of = serde_json::json!([
        {"properties": {"n": bounds}},
        {"properties": {"status": {"properties": {"n": bounds}}}},
    ]);
    assert_eq!(json["allOf"], all_of);
    Ok(())
}

#[test]
fn fractions_of_bounds_are_reported() -> Result {
    let note = vec![Code::JsonSchemaNumber];
    for (source, codes) in [
        ("{type: number, multipleOf: 0.25}", note.clone()),
        ("{type: integer, minimum: 0.5}", note.clone()),
        ("{type: integer, maximum: -1.5}", note.clone()),
        ("{type: number, enum: [0.5, 1]}", note.clone()),
        ("{x-kubernetes-int-or-string: true, enum: [1, http]}", note),
        ("{type: integer, enum: [1]}", vec![]),
        ("{type: number, enum: [0.5]}", vec![]),
        ("{type: number, minimum: 1, maximum: 2.0, multipleOf: 1}", vec![]),
    ] {
        assert_eq!(property(source, LAX)?.1, codes, "{source}");
    }
    Ok(())
}

#[test]
fn what_preserves_unknown_fields_keeps_nulls() -> Result {
    let source = "{type: object, properties: {a: {type: string}, d: {type: string, default: d}, l: {type: array, items: {type: string, default: x}}}}";
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().expect("a root"));
    for (preserve, a) in [(false, serde_json::json!(["string", "null"])), (true, serde_json::json!("string"))] {
        let made = from_structural(&schema, Gvk::new("a/v1", "A"), preserve, &|_| None, SERVER);
        let json: serde_json::Value = serde_json::from_slice(&made.value).expect("JSON");
        assert_eq!(json["properties"]["a"]["type"], a);
        assert_eq!(json["properties"]["d"]["type"], serde_json::json!(["string", "null"]));
        assert_eq!(json["properties"]["l"]["items"]["type"], serde_json::json!(["string", "null"]));
    }
    Ok(())
}
