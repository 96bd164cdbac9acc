//! The rules, each with the smallest document.

use super::{Error, down};
use kubeshape_convert::v2::from_v3::Options;
use kubeshape_schema::Profile;

const FAITHFUL: Options = Options { profile: Profile::Faithful, keep_losses: false, most_bytes: usize::MAX };
const KUBE: Options = Options { profile: Profile::Kube, keep_losses: false, most_bytes: usize::MAX };

/// Checks what follows `"swagger":"2.0"` and the notes, for each profile.
fn check(source: &str, options: &[Options], expected: &str, notes: &[&str]) -> Result<(), Error> {
    for options in options {
        let (out, found) = down(&format!("{{openapi: 3.0.0, {source}}}"), *options)?;
        let body = out.replacen(r#""swagger":"2.0","#, "", 1).replacen(r#","paths":null"#, "", 1);
        let body = body.replacen(r#""paths":null,"#, "", 1).replacen(r#""paths":null"#, "", 1);
        assert_eq!((body.as_str(), found), (expected, notes.iter().map(|n| (*n).to_owned()).collect()), "{options:?}");
    }
    Ok(())
}

const BOTH: &[Options] = &[FAITHFUL, KUBE];

/// Does the same for the one schema of a document.
fn schema(source: &str, options: &[Options], expected: &str, notes: &[&str]) -> Result<(), Error> {
    let notes: Vec<String> = notes.iter().map(|note| note.replace('(', "(/components/schemas/A")).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    check(
        &format!("components: {{schemas: {{A: {source}}}}}"),
        options,
        &format!(r#"{{"definitions":{{"A":{expected}}}}}"#),
        &notes,
    )
}

/// Does the same for the operation `get` of a path `/a`; locations begin below it.
fn operation(source: &str, more: &str, expected: &str, notes: &[&str]) -> Result<(), Error> {
    // In `expected`, shared parts come after the paths.
    let closing = if more.is_empty() { "}}" } else { "}" };
    let notes: Vec<String> = notes.iter().map(|note| note.replace("(.", "(/paths/~1a/get")).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    check(
        &format!("paths: {{/a: {{get: {source}}}}}{more}"),
        &[FAITHFUL],
        &format!(r#"{{"paths":{{"/a":{{"get":{expected}}}{closing}"#),
        &notes,
    )
}

#[test]
fn a_schema_keeps_all_of_but_no_other_junctor() -> Result<(), Error> {
    schema(
        "{allOf: [{type: string}, {minLength: 1}], oneOf: [{}, {}], anyOf: [{}, {}], not: {}}",
        BOTH,
        r#"{"allOf":[{"type":"string"},{"minLength":1}]}"#,
        &["KS2202 oneOf, anyOf, not ()"],
    )
}

#[test]
fn one_alternative_becomes_all_of() -> Result<(), Error> {
    schema(
        "{oneOf: [{$ref: '#/components/schemas/A'}], anyOf: [{type: string}]}",
        BOTH,
        r##"{"allOf":[{"$ref":"#/definitions/A"},{"type":"string"}]}"##,
        &["KS2203 oneOf, anyOf ()"],
    )
}

#[test]
fn a_reference_wrapped_for_its_siblings_has_them_as_siblings() -> Result<(), Error> {
    schema(
        "{description: d, default: {}, x-a: 1, allOf: [{$ref: '#/components/schemas/A'}]}",
        BOTH,
        r##"{"description":"d","default":{},"$ref":"#/definitions/A","x-a":1}"##,
        &[],
    )?;
    // Readers of v2 ignore siblings of a reference, so members that restrict values stay wrapped.
    schema(
        "{maxProperties: 1, allOf: [{$ref: '#/components/schemas/A'}]}",
        BOTH,
        r##"{"maxProperties":1,"allOf":[{"$ref":"#/definitions/A"}]}"##,
        &[],
    )
}

#[test]
fn members_that_only_v3_has_become_extensions() -> Result<(), Error> {
    let source = "{type: string, nullable: true, writeOnly: true, deprecated: true, xml: {name: a}}";
    schema(
        source,
        &[FAITHFUL],
        r#"{"type":"string","x-deprecated":true,"x-nullable":true,"x-writeOnly":true,"xml":{"name":"a"}}"#,
        &["KS2204 nullable ()", "KS2204 deprecated ()", "KS2204 writeOnly ()"],
    )?;
    schema(
        source,
        &[KUBE],
        r#"{"xml":{"name":"a"}}"#,
        &["KS2002 nullable, type ()", "KS2205 deprecated ()", "KS2205 writeOnly ()"],
    )
}

#[test]
fn nullable_values_are_widened_as_the_api_server_widens_them() -> Result<(), Error> {
    schema(
        "{type: object, required: [a, b], properties: {a: {type: string, nullable: true}, b: {type: object, nullable: true, properties: {c: {}}, additionalProperties: false}}}",
        &[KUBE],
        r#"{"type":"object","properties":{"a":{},"b":{}}}"#,
        &[
            "KS2006 a, b ()",
            "KS2002 nullable, type (/properties/a)",
            "KS2002 nullable, type, properties, additionalProperties (/properties/b)",
        ],
    )?;
    schema(
        "{type: object, required: [a], additionalProperties: {type: string, nullable: true}}",
        &[KUBE],
        r#"{"type":"object","additionalProperties":{}}"#,
        &["KS2007 a ()", "KS2002 nullable, type (/additionalProperties)"],
    )
}

#[test]
fn a_discriminator_is_the_name_of_a_required_property() -> Result<(), Error> {
    let discriminator = "discriminator: {propertyName: a, mapping: {x: y}}";
    schema(
        &format!("{{required: [a], properties: {{a: {{}}}}, {discriminator}}}"),
        BOTH,
        r#"{"required":["a"],"properties":{"a":{}},"discriminator":"a"}"#,
        &["KS2206 mapping ()"],
    )?;
    schema(
        &format!("{{properties: {{a: {{}}}}, {discriminator}}}"),
        BOTH,
        r#"{"properties":{"a":{}}}"#,
        &["KS2206 discriminator ()"],
    )
}

#[test]
fn polymorphic_types_are_as_kubernetes_publishes_them() -> Result<(), Error> {
    schema(
        "{format: int-or-string, oneOf: [{type: integer}, {type: string}]}",
        BOTH,
        r#"{"type":"string","format":"int-or-string"}"#,
        &["KS2207 oneOf ()"],
    )?;
    check(
        "components: {schemas: {io.k8s.apimachinery.pkg.api.resource.Quantity: {oneOf: [{type: string}, {type: number}]}}}",
        BOTH,
        r#"{"definitions":{"io.k8s.apimachinery.pkg.api.resource.Quantity":{"type":"string"}}}"#,
        &["KS2207 oneOf (/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity)"],
    )
}

#[test]
fn references_follow_their_targets() -> Result<(), Error> {
    schema(
        "{properties: {a: {$ref: '#/components/schemas/A/properties/b'}, b: {$ref: '#/components/responses/B'}, c: {$ref: '#/paths/~1a'}, d: {$ref: a.json}, e: {$ref: '#'}}}",
        BOTH,
        r##"{"properties":{"a":{"$ref":"#/definitions/A/properties/b"},"b":{"$ref":"#/responses/B"},"c":{"$ref":"#/paths/~1a"},"d":{"$ref":"a.json"},"e":{"$ref":"#"}}}"##,
        &["KS2226 #/paths/~1a (/properties/c)", "KS2226 a.json (/properties/d)"],
    )
}

#[test]
fn the_first_server_and_its_schemes_are_kept() -> Result<(), Error> {
    check(
        "servers: [{url: 'https://{a}.b/v{v}', variables: {a: {default: x}, v: {default: '1'}}}, {url: http://x.b/v1}, {url: https://c}, {url: https://x.b/v1, description: d}]",
        BOTH,
        r#"{"schemes":["https","http"],"host":"x.b","basePath":"/v1"}"#,
        &["KS2201 variables (/servers/0)", "KS2201 https://c (/servers/2)", "KS2201 description (/servers/3)"],
    )?;
    check("servers: [{url: /}]", BOTH, "{}", &[])?;
    check("servers: [{url: v1}]", BOTH, r#"{"basePath":"/v1"}"#, &[])?;
    check("servers: [{url: '//a'}]", BOTH, r#"{"host":"a"}"#, &[])
}

#[test]
fn a_parameter_has_a_simple_type_instead_of_a_schema() -> Result<(), Error> {
    operation(
        "{parameters: [{name: a, in: query, required: true, allowEmptyValue: true, schema: {type: integer, minimum: 1, exclusiveMinimum: true, title: t, x-a: 1, nullable: true}}]}",
        "",
        r#"{"parameters":[{"minimum":1,"exclusiveMinimum":true,"type":"integer","name":"a","in":"query","required":true,"allowEmptyValue":true,"x-a":1,"x-nullable":true}]}"#,
        &["KS2204 nullable (./parameters/0)", "KS2209 title (./parameters/0)"],
    )
}

#[test]
fn a_parameter_that_is_not_a_simple_value_is_a_string() -> Result<(), Error> {
    operation(
        "{parameters: [{name: a, in: query, schema: {type: object, enum: [{}]}}, {name: b, in: query, content: {application/json: {}}}, {name: c, in: header, schema: {}}, {name: d, in: path}]}",
        "",
        r#"{"parameters":[{"type":"string","name":"a","in":"query"},{"type":"string","name":"b","in":"query"},{"type":"string","name":"c","in":"header"},{"type":"string","name":"d","in":"path"}]}"#,
        &[
            "KS2210 object (./parameters/0)",
            "KS2210 application/json (./parameters/1)",
            "KS2210 a schema without type (./parameters/2)",
            "KS2210 schema (./parameters/3)",
        ],
    )
}

#[test]
fn a_parameter_cannot_refer_to_a_schema() -> Result<(), Error> {
    operation(
        "{parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/A'}}, {name: b, in: query, schema: {$ref: '#/components/schemas/B'}}]}",
        ", components: {schemas: {A: {default: b, allOf: [{$ref: '#/components/schemas/C'}]}, C: {type: string, enum: [a, b]}}}",
        r##"{"parameters":[{"enum":["a","b"],"type":"string","default":"b","name":"a","in":"query"},{"type":"string","name":"b","in":"query"}]}}},"definitions":{"A":{"default":"b","$ref":"#/definitions/C"},"C":{"type":"string","enum":["a","b"]}"##,
        &["KS2224 #/components/schemas/A (./parameters/0)", "KS2226 #/components/schemas/B (./parameters/1)"],
    )
}

#[test]
fn schemas_that_contain_themselves_terminate() -> Result<(), Error> {
    let (out, notes) = down(
        "{openapi: 3.0.0, paths: {/a: {parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/A'}}, {name: b, in: query, schema: {$ref: '#/components/schemas/B'}}]}}, components: {schemas: {A: {type: array, items: {$ref: '#/components/schemas/A'}}, B: {$ref: '#/components/schemas/B'}}}}",
        FAITHFUL,
    )?;
    assert_eq!(out.matches(r#""items""#).count(), 17);
    assert_eq!(notes.iter().filter(|note| note.starts_with("KS2210 nested items")).count(), 1);
    assert_eq!(notes.iter().filter(|note| note.starts_with("KS2226 #/components/schemas/B")).count(), 1);
    Ok(())
}

#[test]
fn ways_to_write_arrays_become_collection_formats() -> Result<(), Error> {
    let array = "schema: {type: array, items: {type: string}}";
    for (written, expected, notes) in [
        ("in: query", r#","collectionFormat":"multi","#, &[][..]),
        ("in: query, style: form, explode: true", r#","collectionFormat":"multi","#, &[]),
        ("in: query, explode: false", ",", &[]),
        ("in: query, style: spaceDelimited", r#","collectionFormat":"ssv","#, &[]),
        ("in: query, style: pipeDelimited, explode: true", r#","collectionFormat":"multi","#, &[]),
        ("in: query, style: pipeDelimited, explode: false", r#","collectionFormat":"pipes","#, &["KS2211 explode"]),
        ("in: query, style: deepObject", ",", &["KS2211 style"]),
        ("in: path, style: simple", ",", &[]),
        ("in: path, style: matrix, explode: true", ",", &["KS2211 style, explode"]),
        ("in: query, allowReserved: true", r#","collectionFormat":"multi","#, &["KS2211 allowReserved"]),
    ] {
        let location = if written.starts_with("in: path") { "path" } else { "query" };
        let notes: Vec<String> = notes.iter().map(|note| format!("{note} (./parameters/0)")).collect();
        operation(
            &format!("{{parameters: [{{name: a, {written}, {array}}}]}}"),
            "",
            &format!(
                r#"{{"parameters":[{{"type":"array","items":{{"type":"string"}}{expected}"name":"a","in":"{location}"}}]}}"#
            ),
            &notes.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
    }
    Ok(())
}

#[test]
fn parameters_in_cookies_are_dropped_wherever_they_are_used() -> Result<(), Error> {
    operation(
        "{parameters: [{name: a, in: cookie, schema: {type: string}}, {$ref: '#/components/parameters/C'}, {$ref: '#/components/parameters/Q'}]}",
        ", components: {parameters: {C: {name: c, in: cookie}, Q: {name: q, in: query, schema: {type: string}}}}",
        r##"{"parameters":[{"$ref":"#/parameters/Q"}]}}},"parameters":{"Q":{"type":"string","name":"q","in":"query"}"##,
        &[
            "KS2208 c (/components/parameters/C)",
            "KS2208 a (./parameters/0)",
            "KS2208 #/components/parameters/C (./parameters/1)",
        ],
    )
}

#[test]
fn a_body_is_a_parameter_and_its_media_types_are_consumed() -> Result<(), Error> {
    operation(
        "{requestBody: {description: d, required: true, x-a: 1, content: {a/b: {schema: {type: string}}, c/d: {schema: {type: string}, example: e}}}}",
        "",
        r#"{"consumes":["a/b","c/d"],"parameters":[{"description":"d","name":"body","in":"body","required":true,"schema":{"type":"string"},"x-a":1}]}"#,
        &["KS2212 example (./requestBody/content/c~1d)"],
    )
}

#[test]
fn media_types_with_different_schemas_have_their_common_part() -> Result<(), Error> {
    operation(
        "{requestBody: {content: {a/b: {schema: {type: object, required: [a]}}, c/d: {schema: {type: object}}}}, responses: {'200': {description: d, content: {a/b: {schema: {type: string}}, c/d: {}}}}}",
        "",
        r#"{"consumes":["a/b","c/d"],"produces":["a/b","c/d"],"parameters":[{"name":"body","in":"body","schema":{"type":"object"}}],"responses":{"200":{"description":"d","schema":{}}}}"#,
        &["KS2213 a/b, c/d (./requestBody)", "KS2213 a/b, c/d (./responses/200)"],
    )
}

#[test]
fn a_form_is_parameters() -> Result<(), Error> {
    operation(
        "{requestBody: {content: {multipart/form-data: {encoding: {a: {}}, schema: {type: object, required: [a], properties: {a: {type: string, format: binary, description: d}, b: {type: array, items: {type: integer}}, c: {type: object}}, additionalProperties: false}}}}}",
        "",
        r#"{"consumes":["multipart/form-data"],"parameters":[{"type":"file","description":"d","name":"a","in":"formData","required":true},{"type":"array","items":{"type":"integer"},"collectionFormat":"multi","name":"b","in":"formData"},{"type":"string","name":"c","in":"formData"}]}"#,
        &[
            "KS2216 additionalProperties (./requestBody)",
            "KS2215 encoding (./requestBody/content/multipart~1form-data)",
            "KS2210 object (./requestBody/content/multipart~1form-data/schema/properties/c)",
        ],
    )?;
    operation(
        "{requestBody: {content: {multipart/form-data: {schema: {type: object, additionalProperties: {type: string}}}}}}",
        "",
        r#"{"consumes":["multipart/form-data"],"parameters":[{"name":"body","in":"body","schema":{"type":"object","additionalProperties":{"type":"string"}}}]}"#,
        &[],
    )
}

#[test]
fn shared_bodies_are_shared_parameters_and_shared_forms_are_not() -> Result<(), Error> {
    check(
        "paths: {/a: {get: {requestBody: {$ref: '#/components/requestBodies/A'}}, put: {requestBody: {$ref: '#/components/requestBodies/F'}}}}, components: {parameters: {A: {name: a, in: query, schema: {type: string}}}, requestBodies: {A: {content: {a/b: {}}}, F: {content: {multipart/form-data: {schema: {properties: {f: {type: string}}}}}}}}",
        BOTH,
        concat!(
            r#"{"paths":{"/a":{"#,
            r##""get":{"consumes":["a/b"],"parameters":[{"$ref":"#/parameters/ABody"}]},"##,
            r#""put":{"consumes":["multipart/form-data"],"parameters":[{"type":"string","name":"f","in":"formData"}]}}},"#,
            r#""parameters":{"A":{"type":"string","name":"a","in":"query"},"ABody":{"name":"body","in":"body","schema":{}}}}"#,
        ),
        &[
            "KS2225 ABody (/components/requestBodies/A)",
            "KS2214 content (/components/requestBodies/A)",
            "KS2223 F (/components/requestBodies/F)",
            "KS2224 #/components/requestBodies/F (/paths/~1a/put/requestBody)",
        ],
    )
}

#[test]
fn responses_have_a_schema_examples_and_headers() -> Result<(), Error> {
    operation(
        "{responses: {'200': {description: d, content: {a/b: {schema: {type: string, format: binary}, examples: {e: {summary: s, value: 1}, f: {value: 2}}}}, headers: {H: {$ref: '#/components/headers/H'}}, links: {l: {}}}}}",
        ", components: {headers: {H: {required: true, deprecated: true, example: 1, schema: {type: integer}}}}",
        r#"{"produces":["a/b"],"responses":{"200":{"description":"d","schema":{"type":"file"},"headers":{"H":{"type":"integer","x-deprecated":true,"x-example":1}},"examples":{"a/b":1}}}}}"#,
        &[
            "KS2223 H (/components/headers/H)",
            "KS2218 l (./responses/200)",
            "KS2224 #/components/headers/H (./responses/200/headers/H)",
            "KS2205 required (/components/headers/H)",
            "KS2204 deprecated (/components/headers/H)",
            "KS2204 example (/components/headers/H)",
            "KS2212 name, summary (./responses/200/content/a~1b/examples/e)",
            "KS2212 f (./responses/200/content/a~1b/examples/f)",
        ],
    )
}

#[test]
fn the_media_types_of_all_responses_are_merged() -> Result<(), Error> {
    operation(
        "{responses: {'200': {description: d, content: {c/d: {}}}, default: {$ref: '#/components/responses/R'}}}",
        ", components: {responses: {R: {description: r, content: {a/b: {}}}}}",
        r##"{"produces":["c/d","a/b"],"responses":{"default":{"$ref":"#/responses/R"},"200":{"description":"d","schema":{}}}}}},"responses":{"R":{"description":"r","schema":{}}"##,
        &[
            "KS2214 content (/components/responses/R)",
            "KS2214 content (./responses/200)",
            "KS2214 content (./responses/default)",
        ],
    )
}

#[test]
fn the_last_range_is_the_default_where_there_is_none() -> Result<(), Error> {
    operation(
        "{responses: {4XX: {description: a}, 5XX: {description: b}}}",
        "",
        r#"{"responses":{"default":{"description":"b"}}}"#,
        &["KS2220 4XX (./responses/4XX)", "KS2220 5XX (./responses/5XX)"],
    )?;
    operation(
        "{responses: {4XX: {description: a}, default: {description: b}}}",
        "",
        r#"{"responses":{"default":{"description":"b"}}}"#,
        &["KS2220 4XX (./responses/4XX)"],
    )
}

#[test]
fn members_of_operations_that_v2_does_not_have_are_dropped() -> Result<(), Error> {
    check(
        "paths: {/a: {summary: s, description: d, servers: [{url: /s}], trace: {}, get: {servers: [{url: /t}], callbacks: {c: {}}}}}, components: {links: {l: {}}, callbacks: {c: {}}, examples: {e: {}}, x-a: 1}",
        &[FAITHFUL],
        r#"{"paths":{"/a":{"get":{}}}}"#,
        &[
            "KS2223 e (/components/examples/e)",
            "KS2223 l (/components/links/l)",
            "KS2223 c (/components/callbacks/c)",
            "KS2227 x-a (/components)",
            "KS2219 summary, description, trace (/paths/~1a)",
            "KS2201 /s (/paths/~1a/servers/0)",
            "KS2217 c (/paths/~1a/get)",
            "KS2201 /t (/paths/~1a/get/servers/0)",
        ],
    )
}

#[test]
fn security_schemes_are_those_that_v2_knows() -> Result<(), Error> {
    check(
        "components: {securitySchemes: {a: {type: http, scheme: Basic}, b: {type: http, scheme: bearer}, c: {type: apiKey, in: cookie, name: c}, d: {type: openIdConnect}, e: {type: oauth2, flows: {implicit: {authorizationUrl: u, refreshUrl: r, scopes: {s: t}}, password: {}}}, f: {type: mutualTLS}, g: {$ref: '#/components/securitySchemes/a'}}}, security: [{a: []}, {a: [], f: []}]",
        BOTH,
        concat!(
            r#"{"securityDefinitions":{"a":{"type":"basic"},"b":{"type":"apiKey","name":"Authorization","in":"header"},"#,
            r#""c":{"type":"apiKey","name":"Cookie","in":"header"},"d":{"type":"apiKey","name":"Authorization","in":"header"},"#,
            r#""e":{"type":"oauth2","flow":"implicit","authorizationUrl":"u","scopes":{"s":"t"}},"g":{"type":"basic"}},"#,
            r#""security":[{"a":[]}]}"#,
        ),
        &[
            "KS2221 bearer (/components/securitySchemes/b)",
            "KS2221 c (/components/securitySchemes/c)",
            "KS2221 openIdConnectUrl (/components/securitySchemes/d)",
            "KS2222 password (/components/securitySchemes/e)",
            "KS2222 refreshUrl (/components/securitySchemes/e)",
            "KS2222 mutualTLS (/components/securitySchemes/f)",
            "KS2224 #/components/securitySchemes/a (/components/securitySchemes/g)",
            "KS2222 a, f ()",
        ],
    )
}

#[test]
fn the_document_keeps_what_both_dialects_have() -> Result<(), Error> {
    check(
        "info: {title: t, x-i: 1}, tags: [{name: t, x-t: 1}], externalDocs: {url: u, x-e: 1}, x-a: 1",
        &[FAITHFUL],
        r#"{"info":{"title":"t","x-i":1},"tags":[{"name":"t","x-t":1}],"externalDocs":{"url":"u","x-e":1},"x-a":1}"#,
        &[],
    )?;
    check("externalDocs: {url: u, x-e: 1}", &[KUBE], r#"{"externalDocs":{"url":"u"}}"#, &["KS2227 x-e (/externalDocs)"])
}
