//! OpenAPI 3.1 and back.
#![allow(clippy::print_stdout)] // Figures for the results page.

use crate::from_v3::generate::{Dice, document};
use crate::jsonschema_soundness::evaluate::Evaluator;
use crate::jsonschema_soundness::instances::{Random, instance};
use crate::jsonschema_soundness::sources::each_version;
use crate::support::{Result, with_root};
use kubeshape_convert::smd;
use kubeshape_convert::v3::{self, later};
use kubeshape_corpus::generate::{Seeded, documents_of, structural_manifests};
use kubeshape_schema::{Bump, Profile};
use serde_json::{Value, json};

/// Reads a document and prints it as OpenAPI 3.0. Returns it and the notes, as `KS2401 detail (/its/place)`.
fn read(source: &[u8], keeps: bool) -> Result<(Vec<u8>, Vec<String>)> {
    with_root(source, |root| {
        let arena = Bump::new();
        let read = if keeps { v3::read_keeping } else { v3::read }(root, &arena, Profile::Faithful);
        let of = |note: &kubeshape_schema::Note<'_>| {
            format!("{} {} ({})", note.code, note.detail, root.document().pointer(note.at))
        };
        let notes: Vec<String> = read.notes.iter().map(of).collect();
        let mut out = Vec::new();
        read.value.ok_or_else(|| notes.join("; "))?.print(&mut out, Profile::Faithful);
        Ok((out, notes))
    })
}

const MOST: usize = 1 << 28;

fn raised(json: &[u8]) -> Result<Vec<u8>> {
    later::raise_text(json, Profile::Faithful, MOST).map_err(|note| note.to_string().into())
}

/// Returns the difference that OpenAPI 3.1 makes to a document that becomes OpenAPI 3.1 and comes back.
fn difference(source: &[u8]) -> Result<Option<String>> {
    let (before, _) = read(source, false)?;
    let later = raised(&before)?;
    let (after, notes) = read(&later, false)?;
    let lost = notes.iter().find(|note| note.starts_with("KS24"));
    if before == after && lost.is_none() {
        return Ok(None);
    }
    let at = before.iter().zip(&after).position(|(a, b)| a != b).unwrap_or(before.len().min(after.len()));
    let show =
        |text: &[u8]| String::from_utf8_lossy(&text[at.saturating_sub(200)..text.len().min(at + 200)]).into_owned();
    Ok(Some(format!("{lost:?}\n  was {}\n  now {}", show(&before), show(&after))))
}

/// Returns the schema in the form of OpenAPI 3.1.
fn raised_schema(schema: &Value) -> Result<Value> {
    let document = json!({"openapi": "3.0.0", "info": {}, "components": {"schemas": {"S": schema}}});
    let mut raised: Value = serde_json::from_slice(&raised(document.to_string().as_bytes())?)?;
    Ok(raised["components"]["schemas"]["S"].take())
}

/// Compares a schema of OpenAPI 3.0 in OpenAPI 3.1, and checks that it comes back.
fn check(schema: &str, expected: &str) -> Result<()> {
    let schema: Value = with_root(schema.as_bytes(), |root| Ok(serde_json::from_str(&json_of(root))?))?;
    let actual = raised_schema(&schema)?.to_string();
    assert_eq!(actual, expected, "{schema}");
    let document = json!({"openapi": "3.0.0", "info": {}, "components": {"schemas": {"S": schema}}});
    assert_eq!(difference(document.to_string().as_bytes())?, None, "{schema}");
    Ok(())
}

fn json_of(root: kubeshape_yaml::Node<'_>) -> String {
    let mut out = Vec::new();
    kubeshape_schema::Json::read(root, &Bump::new()).print(&mut out, kubeshape_schema::escape::Escape::Plain);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn keywords_have_their_form_of_json_schema() -> Result<()> {
    for (schema, expected) in [
        ("{type: string, nullable: true}", r#"{"type":["string","null"]}"#),
        ("{type: string, nullable: true, enum: [a]}", r#"{"enum":["a"],"type":["string","null"]}"#),
        ("{nullable: true, description: d}", r#"{"description":"d","x-kubeshape-nullable":true}"#),
        (
            "{nullable: true, anyOf: [{type: integer}, {type: string}]}",
            r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#,
        ),
        (
            "{nullable: true, allOf: [{$ref: '#/components/schemas/A'}]}",
            r##"{"anyOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}],"x-kubeshape-nullable":true}"##,
        ),
        (
            "{type: object, nullable: true, oneOf: [{required: [a]}, {required: [b]}]}",
            concat!(
                r#"{"anyOf":[{"oneOf":[{"required":["a"]},{"required":["b"]}]},{"type":"null"}],"#,
                r#""type":["object","null"],"x-kubeshape-nullable":true}"#,
            ),
        ),
        ("{nullable: true, enum: [null]}", r#"{"type":"null"}"#),
        (
            "{description: d, default: {}, allOf: [{$ref: '#/components/schemas/A'}]}",
            r##"{"$ref":"#/components/schemas/A","default":{},"description":"d"}"##,
        ),
        ("{allOf: [{$ref: '#/components/schemas/A'}]}", r##"{"allOf":[{"$ref":"#/components/schemas/A"}]}"##),
        ("{minimum: 1, exclusiveMinimum: true, maximum: 3}", r#"{"exclusiveMinimum":1,"maximum":3}"#),
        (
            "{type: string, format: byte, example: YQ==}",
            r#"{"contentEncoding":"base64","examples":["YQ=="],"type":"string"}"#,
        ),
        (
            "{type: array, items: {type: string, nullable: true, format: binary}}",
            r#"{"items":{"contentMediaType":"application/octet-stream","type":["string","null"]},"type":"array"}"#,
        ),
    ] {
        check(schema, expected)?;
    }
    Ok(())
}

#[test]
fn what_has_another_meaning_is_kept_next_to_it() -> Result<()> {
    for (schema, expected) in [
        (
            "{$ref: '#/components/schemas/A', description: ignored}",
            concat!(
                r##"{"$ref":"#/components/schemas/A","x-kubeshape-v3.0":{"$ref":"#/components/schemas/A","##,
                r#""description":"ignored"}}"#,
            ),
        ),
        (
            "{exclusiveMinimum: true, type: integer}",
            r#"{"type":"integer","x-kubeshape-v3.0":{"exclusiveMinimum":true,"type":"integer"}}"#,
        ),
        ("{const: 1, if: {}, type: foo}", r#"{"x-kubeshape-v3.0":{"const":1,"if":{},"type":"foo"}}"#),
        (
            "{items: [{type: string, nullable: true}], additionalItems: false}",
            concat!(
                r#"{"items":false,"prefixItems":[{"type":["string","null"]}],"#,
                r#""x-kubeshape-v3.0":{"additionalItems":false,"items":[{"nullable":true,"#,
                r#""type":"string"}]}}"#,
            ),
        ),
        (
            "{dependencies: {a: [b], c: {required: [d]}}, id: x}",
            concat!(
                r#"{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}},"#,
                r#""x-kubeshape-v3.0":{"dependencies":{"a":["b"],"c":{"required":["d"]}},"id":"x"}}"#,
            ),
        ),
        (
            "{type: [string, 'null'], x-kubeshape-nullable: 1}",
            r#"{"type":["string","null"],"x-kubeshape-v3.0":{"type":["string","null"],"x-kubeshape-nullable":1}}"#,
        ),
        (
            "{anyOf: [{$ref: '#/components/schemas/A'}, {nullable: true, enum: [null]}]}",
            concat!(
                r##"{"anyOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}],"##,
                r##""x-kubeshape-v3.0":{"anyOf":[{"$ref":"#/components/schemas/A"},{"enum":[null],"##,
                r#""nullable":true}]}}"#,
            ),
        ),
        (
            "{not: {x-kubeshape-v3.0: {type: string}}, patternProperties: {a: {not: {const: 1}}}}",
            concat!(
                r#"{"not":{},"patternProperties":{"a":{"not":{}}},"#,
                r#""x-kubeshape-v3.0":{"not":{"x-kubeshape-v3.0":{"type":"string"}},"#,
                r#""patternProperties":{"a":{"not":{"const":1}}}}}"#,
            ),
        ),
    ] {
        check(schema, expected)?;
    }
    Ok(())
}

#[test]
fn later_documents_are_read_as_openapi_3_0() -> Result<()> {
    let source = r"
openapi: 3.1.1
info: {title: t, version: '1', summary: s, license: {name: l, identifier: MIT}}
jsonSchemaDialect: https://spec.openapis.org/oas/3.1/dialect/base
webhooks: {a: {}}
components:
  pathItems: {p: {}}
  schemas:
    A: {type: ['null', integer, string], description: d}
    B: {$ref: '#/components/schemas/A', description: d, maxLength: 3}
    C: {oneOf: [{type: 'null'}, {$ref: '#/components/schemas/A'}]}
    D: {exclusiveMinimum: 3, minimum: 5, maximum: 7, exclusiveMaximum: 7}
    E: {const: null}
    F: {const: a, enum: [a, b], examples: [a, b]}
    G: true
    H: {items: false, not: false, additionalProperties: true}
    I: {prefixItems: [true], items: {type: string}, contains: {}, nullable: true}
    J: {type: object, patternProperties: {^a: {}}, additionalProperties: false, if: {}, then: {}, $comment: c}
    K: {type: string, contentEncoding: base64, contentMediaType: image/png}
    L: {type: [array, boolean, integer, number, object, string, 'null']}
    M: {anyOf: [{type: string}, {type: 'null'}], type: string}
";
    let (out, notes) = read(source.as_bytes(), false)?;
    let out: Value = serde_json::from_slice(&out)?;
    assert_eq!(out["openapi"], "3.0.0");
    assert_eq!(out["paths"], json!({}));
    let schemas = out["components"]["schemas"].as_object().ok_or("no schemas")?;
    let lines: Vec<String> = schemas.iter().map(|(name, schema)| format!("{name} {schema}")).collect();
    let expected = r##"
A {"anyOf":[{"nullable":true,"type":"integer"},{"type":"string"}],"description":"d"}
B {"allOf":[{"$ref":"#/components/schemas/A"}],"description":"d","maxLength":3}
C {"nullable":true,"oneOf":[{"$ref":"#/components/schemas/A"}]}
D {"exclusiveMaximum":true,"maximum":7,"minimum":5}
E {"enum":[null],"nullable":true}
F {"allOf":[{"enum":["a"]}],"enum":["a","b"],"example":"a"}
G {}
H {"additionalProperties":true,"maxItems":0,"not":{"not":{}}}
I {}
J {"type":"object"}
K {"format":"byte","type":"string"}
L {}
M {"anyOf":[{"type":"string"}],"type":"string"}"##;
    assert_eq!(lines.join("\n"), expected.trim_start());
    let expected = r"
KS2402 summary (/info/summary)
KS2402 identifier (/info/license/identifier)
KS2402 jsonSchemaDialect (/jsonSchemaDialect)
KS2402 webhooks (/webhooks)
KS2402 pathItems (/components/pathItems)
KS2402 examples (/components/schemas/F/examples)
KS1006 nullable (/components/schemas/I/nullable)
KS2401 prefixItems (/components/schemas/I/prefixItems)
KS2401 items (/components/schemas/I/items)
KS2401 contains (/components/schemas/I/contains)
KS2401 patternProperties (/components/schemas/J/patternProperties)
KS2401 additionalProperties (/components/schemas/J/additionalProperties)
KS2401 if (/components/schemas/J/if)
KS2401 then (/components/schemas/J/then)
KS2402 $comment (/components/schemas/J/$comment)
KS2402 contentMediaType (/components/schemas/K/contentMediaType)";
    assert_eq!(notes.join("\n"), expected.trim_start());
    // Nothing is lost if it stays OpenAPI 3.1.
    let (kept, notes) = read(source.as_bytes(), true)?;
    assert_eq!(notes.iter().filter(|note| note.starts_with("KS24")).count(), 0, "{notes:?}");
    let expected = concat!(
        r#"{"openapi":"3.1.0","info":{"title":"t","license":{"name":"l","identifier":"MIT"},"version":"1",""#,
        r#"summary":"s"},"paths":{},"components":{"schemas":{"A":{"description":"d","anyOf":[{"type":["inte"#,
        r##"ger","null"]},{"type":"string"}]},"B":{"description":"d","maxLength":3,"$ref":"#/components/sche"##,
        r##"mas/A"},"C":{"anyOf":[{"oneOf":[{"$ref":"#/components/schemas/A"}]},{"type":"null"}],"x-kubeshap"##,
        r#"e-nullable":true},"D":{"minimum":5,"exclusiveMaximum":7},"E":{"type":"null"},"F":{"enum":["a","b"#,
        r#""],"allOf":[{"enum":["a"]}],"examples":["a","b"]},"G":{},"H":{"maxItems":0,"not":{"not":{}},"add"#,
        r#"itionalProperties":true},"I":{"contains":{},"items":{"type":"string"},"prefixItems":[true]},"J":"#,
        r#"{"type":"object","$comment":"c","additionalProperties":false,"if":{},"patternProperties":{"^a":{"#,
        r#"}},"then":{}},"K":{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"},"L"#,
        r#"":{},"M":{"type":"string","anyOf":[{"type":"string"}]}},"pathItems":{"p":{}}},"jsonSchemaDialect"#,
        r#"":"https://spec.openapis.org/oas/3.1/dialect/base","webhooks":{"a":{}}}"#,
    );
    assert_eq!(String::from_utf8(raised(&kept)?)?, expected);
    Ok(())
}

/// Server-side apply, samples and explanations read documents of OpenAPI 3.1, too.
#[test]
fn types_of_later_documents_are_those_of_openapi_3_0() -> Result<()> {
    let schemas =
        ["{type: [array, 'null'], items: {$ref: '#/components/schemas/B', description: d}}", "{type: object}"];
    let later = format!("{{openapi: 3.1.0, components: {{schemas: {{A: {}, B: {}}}}}}}", schemas[0], schemas[1]);
    let before = "{openapi: 3.0.0, components: {schemas: {A: {type: array, nullable: true, items: {description: d, \
                  allOf: [{$ref: '#/components/schemas/B'}]}}, B: {type: object}}}}";
    let types = |source: &str| {
        with_root(source.as_bytes(), |root| {
            let options = smd::Options { profile: Profile::Faithful, ..smd::Options::default() };
            let built = smd::from_v3::of_document(root, &Bump::new(), options);
            let mut out = Vec::new();
            kubeshape_smd::schema::print_json(&built.map_err(|errors| format!("{errors:?}"))?, &mut out);
            Ok(String::from_utf8(out)?)
        })
    };
    assert_eq!(types(&later)?, types(before)?);
    Ok(())
}

#[test]
fn values_of_wrong_types_are_errors_with_their_places() {
    let source = "{openapi: 3.1.0, components: {schemas: {A: {type: [strin]}, B: 1, C: {items: 2}}}}";
    let error = read(source.as_bytes(), false).expect_err("it is wrong").to_string();
    let expected = concat!(
        r#"KS1005 expected types, found "strin" (/components/schemas/A/type); KS1005 expected a schema, fou"#,
        "nd the number 1 (/components/schemas/B); KS1005 expected a schema or a list of schemas, found th",
        "e number 2 (/components/schemas/C/items)",
    );
    assert_eq!(error, expected);
}

#[test]
fn a_result_has_at_most_the_allowed_bytes() {
    let source = br#"{"openapi":"3.0.0","info":{},"components":{"schemas":{"A":{"type":"string","nullable":true}}}}"#;
    let note = later::raise_text(source, Profile::Faithful, 60).expect_err("it is too large");
    assert_eq!(note.code, kubeshape_schema::Code::OutputBudget);
    // What is kept is kept once, not again in each schema that is in it.
    let deep =
        (0..200).fold("{\"type\":\"foo\"}".to_owned(), |inner, _| format!("{{\"type\":\"foo\",\"not\":{inner}}}"));
    let source = format!(r#"{{"openapi":"3.0.0","info":{{}},"components":{{"schemas":{{"A":{deep}}}}}}}"#);
    let raised = raised(source.as_bytes()).expect("it is small");
    assert!(raised.len() < 3 * source.len(), "{}", raised.len());
}

#[test]
fn drawn_documents_come_back() -> Result<()> {
    for seed in 0..400 {
        let source = document(&mut Dice(seed)).to_string();
        let found = difference(source.as_bytes())?;
        assert_eq!(found, None, "seed {seed}: {source}");
    }
    Ok(())
}

/// Removes what only servers of Kubernetes check.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|name, value| match name.as_str() {
                "format" | "default" | "multipleOf" => false,
                // Groups with flags are Go's.
                "pattern" => value.as_str().is_none_or(|pattern| !pattern.contains("(?")),
                "enum" => value.as_array().is_none_or(|values| !values.contains(&Value::Null)),
                // No schema of OpenAPI has a negative length.
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                    value.as_i64().is_none_or(|n| n >= 0)
                }
                name => !name.starts_with("x-kubernetes-"),
            });
            members.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        // Documents have doubles.
        Value::Number(number) if number.as_i64().is_some_and(|n| n.unsigned_abs() > 1 << 53) => *schema = json!(7),
        _ => {}
    }
}

/// A validator of JSON Schema 2020-12 accepts the same objects with the schema of OpenAPI 3.1 as an evaluator of the
/// rules of OpenAPI 3.0 with the source.
#[test]
fn validators_agree_on_drawn_objects() {
    let (mut tried, mut accepted, mut schemas) = (0, 0, 0);
    let strategy = documents_of(&structural_manifests());
    for seed in 0.. {
        let text = Seeded::new(seed).next(&strategy);
        each_version(&format!("seed {seed}"), text.as_bytes(), |case| {
            let mut source = case.source.clone();
            plain(&mut source);
            let later = raised_schema(&source).expect("a document");
            jsonschema::meta::validate(&later).unwrap_or_else(|error| panic!("{}: {error} in {later}", case.label));
            let validator = jsonschema::draft202012::options().should_validate_formats(false).build(&later);
            let validator = validator.unwrap_or_else(|error| panic!("{}: {error} in {later}", case.label));
            let mut evaluator = Evaluator { is_document: true, ..Evaluator::default() };
            schemas += 1;
            for draw in 0..20 {
                let value = instance(&source, &mut Random::new(draw * 977 + 1));
                if !value.is_object() {
                    continue;
                }
                let ours = evaluator.accepts(&source, &value);
                assert_eq!(validator.is_valid(&value), ours, "{}: {value}\n{source}\n{later}", case.label);
                tried += 1;
                accepted += usize::from(ours);
            }
        });
        if tried >= 5000 {
            break;
        }
    }
    println!("{tried} objects of {schemas} schemas, {accepted} accepted");
    assert!(accepted > 500, "{accepted} of {tried}");
}
