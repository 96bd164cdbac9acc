//! v3 from v2, rule by rule.

use crate::support::{Result, v3_of};
use kubeshape_schema::Profile;

/// Converts a document that begins with version and info.
fn converted(rest: &str) -> Result<(String, Vec<String>)> {
    let source = format!("swagger: '2.0'\ninfo: {{title: t, version: '1'}}\n{rest}");
    let (out, notes) = v3_of(source.as_bytes(), Profile::Faithful)?;
    let out = String::from_utf8(out.ok_or("no answer")?)?;
    let rest =
        out.strip_prefix(r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"#).ok_or("another beginning")?;
    Ok((rest.strip_suffix('}').ok_or("another end")?.to_owned(), notes))
}

/// Converts the members of the only operation, which has the response 204; `rest` may have more of the document.
fn operation(members: &str, rest: &str) -> Result<(String, Vec<String>)> {
    let (out, notes) =
        converted(&format!("{rest}\npaths:\n  /a:\n    get: {{responses: {{204: {{description: d}}}}, {members}}}\n"))?;
    let start = r#""paths":{"/a":{"get":{"#;
    let out = out.strip_prefix(start).ok_or("another beginning")?.to_owned();
    Ok((out.replace(r#""responses":{"204":{"description":"d"}}"#, "R"), notes))
}

fn schema(schema: &str) -> Result<(String, Vec<String>)> {
    let (out, notes) = converted(&format!("paths: {{}}\ndefinitions:\n  A: {schema}\n"))?;
    let out = out.strip_prefix(r#""paths":{},"components":{"schemas":{"A":"#).ok_or("another beginning")?;
    Ok((out.strip_suffix("}}").ok_or("another end")?.to_owned(), notes))
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident: $f:ident($($source:expr),*) => $expected:expr $(, $note:expr)*;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() -> Result<()> {
            let (out, notes) = $f($($source),*)?;
            assert_eq!(out, $expected);
            let expected: &[&str] = &[$($note),*];
            assert_eq!(notes, expected);
            Ok(())
        }
    )*};
}

rules! {
    schemes_host_and_base_path_make_servers:
        converted("schemes: [https, http]\nhost: h:1\nbasePath: /v1/\npaths: {}") =>
        r#""paths":{},"servers":[{"url":"https://h:1/v1"},{"url":"http://h:1/v1"}]"#;
    schemes_without_a_host_are_lost:
        converted("schemes: [https]\nbasePath: v1\npaths: {}") =>
        r#""paths":{},"servers":[{"url":"/v1"}]"#, "KS2110 https";
    an_operation_with_other_schemes_has_servers_of_its_own:
        operation("schemes: [wss]", "host: h\nschemes: [https]") =>
        r#"R,"servers":[{"url":"wss://h"}]}}},"servers":[{"url":"https://h"}]"#;
    tags_security_extensions_and_documentation_stay:
        converted("paths: {}\ntags: [{name: a, x-b: 1}]\nsecurity: [{k: []}]\nexternalDocs: {url: u, x-c: 2}\nx-d: 3") =>
        r#""paths":{},"security":[{"k":[]}],"tags":[{"name":"a","x-b":1}],"externalDocs":{"url":"u","x-c":2},"x-d":3"#;
    security_schemes_are_named_as_v3_names_them:
        converted("paths: {}\nsecurityDefinitions:\n  a: {type: basic}\n  b: {type: apiKey, name: k, in: header}\n  c: {type: oauth2, flow: accessCode, authorizationUrl: a, tokenUrl: t}\n  d: {type: oauth2, flow: application, tokenUrl: t, scopes: {s: d}}") =>
        concat!(
            r#""paths":{},"components":{"securitySchemes":{"a":{"type":"http","scheme":"basic"},"b":{"type":"apiKey","name":"k","in":"header"},"#,
            r#""c":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"a","tokenUrl":"t","scopes":{}}}},"#,
            r#""d":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"t","scopes":{"s":"d"}}}}}}"#
        );
    a_body_has_the_media_types_of_its_operation:
        operation("consumes: [a/b], parameters: [{name: body, in: body, required: true, description: x, schema: {type: object}}]", "consumes: [c/d]") =>
        r#""requestBody":{"description":"x","content":{"a/b":{"schema":{"type":"object"}}},"required":true},R}}}"#;
    a_body_has_the_media_types_of_the_document:
        operation("parameters: [{name: pet, in: body, schema: {}}]", "consumes: [c/d, a/b]") =>
        r#""requestBody":{"content":{"a/b":{"schema":{}},"c/d":{"schema":{}}}},R}}}"#, "KS2111 pet";
    a_shared_body_is_inlined_in_its_operations:
        operation("parameters: [{$ref: '#/parameters/b'}]", "parameters: {b: {name: body, in: body, schema: {}}, u: {name: body, in: body, schema: {}}}") =>
        concat!(
            r#""requestBody":{"content":{"application/json":{"schema":{}}}},R}}},"#,
            r#""components":{"requestBodies":{"u":{"content":{"application/json":{"schema":{}}}}}}"#
        );
    a_form_is_the_schema_of_a_body:
        operation("consumes: [application/x-www-form-urlencoded], parameters: [{name: b, in: formData, type: array, items: {type: integer}, required: true}, {name: a, in: formData, type: string, x-y: 1}]", "") =>
        concat!(
            r#""requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object","required":["b"],"#,
            r#""properties":{"a":{"type":"string","x-y":1},"b":{"type":"array","items":{"type":"integer"}}}},"#,
            r#""encoding":{"b":{"style":"form","explode":false}}}},"required":true},R}}}"#
        );
    a_form_with_a_file_has_several_parts:
        operation("parameters: [{name: f, in: formData, type: file}]", "") =>
        r#""requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"f":{"type":"string","format":"binary"}}}}}},R}}}"#;
    a_body_of_a_path_is_that_of_its_operations:
        converted("paths: {/a: {parameters: [{name: body, in: body, schema: {}}], get: {responses: {200: {description: d}}}}}") =>
        r#""paths":{"/a":{"get":{"requestBody":{"content":{"application/json":{"schema":{}}}},"responses":{"200":{"description":"d"}}}}}"#;
    lists_are_written_in_styles:
        operation("parameters: [{name: a, in: query, type: array, items: {type: string}}, {name: b, in: path, type: array, items: {type: string}, collectionFormat: tsv}]", "") =>
        concat!(
            r#""parameters":[{"name":"a","in":"query","style":"form","explode":false,"schema":{"type":"array","items":{"type":"string"}}},"#,
            r#"{"name":"b","in":"path","style":"simple","schema":{"type":"array","items":{"type":"string"}}}],R}}}"#
        ), "KS2107 tsv";
    parameters_keep_their_restrictions:
        operation("parameters: [{name: a, in: query, type: integer, maximum: 5, exclusiveMaximum: true, enum: [1], default: 1, x-example: 2, x-nullable: true}]", "") =>
        r#""parameters":[{"name":"a","in":"query","schema":{"type":"integer","nullable":true,"default":1,"maximum":5,"exclusiveMaximum":true,"enum":[1]},"example":2}],R}}}"#;
    shared_parameters_are_components:
        operation("parameters: [{$ref: '#/parameters/a'}, {$ref: '#/parameters/z'}]", "parameters: {a: {name: a, in: query, type: string}}") =>
        r##""parameters":[{"$ref":"#/components/parameters/a"},{"$ref":"#/components/parameters/z"}],R}}},"components":{"parameters":{"a":{"name":"a","in":"query","schema":{"type":"string"}}}}"##,
        "KS2116 #/parameters/z";
    parameters_that_kubernetes_shared_are_inlined_in_their_operations:
        operation("parameters: [{$ref: '#/parameters/a-0aZ_b-9c'}]", "parameters: {a-0aZ_b-9c: {name: a, in: query, type: string}}") =>
        r#""parameters":[{"name":"a","in":"query","schema":{"type":"string"}}],R}}}"#;
    responses_keep_headers_and_examples:
        converted("produces: [a/b]\npaths: {/a: {get: {responses: {200: {schema: {type: file}, headers: {H: {type: array, items: {type: string}}}, examples: {c/d: 1, a/b: {x: 2}}}}}}}") =>
        concat!(
            r#""paths":{"/a":{"get":{"responses":{"200":{"description":"OK","headers":{"H":{"schema":{"type":"array","items":{"type":"string"}}}},"#,
            r#""content":{"a/b":{"schema":{"type":"string","format":"binary"},"example":{"x":2}},"c/d":{"example":1}}}}}}}"#
        ), "KS2109 OK";
    an_operation_without_responses_gets_one:
        converted("paths: {/a: {get: {operationId: o, responses: null}}}") =>
        r#""paths":{"/a":{"get":{"operationId":"o","responses":{"default":{"description":"Response"}}}}}"#, "KS2108 o";
    shared_responses_are_components:
        converted("produces: [a/b]\nresponses: {e: {description: d, schema: {$ref: '#/definitions/A'}}}\ndefinitions: {A: {}}\npaths: {/a: {get: {responses: {default: {$ref: '#/responses/e'}}}}}") =>
        concat!(
            r##""paths":{"/a":{"get":{"responses":{"default":{"$ref":"#/components/responses/e"}}}}},"##,
            r##""components":{"schemas":{"A":{}},"responses":{"e":{"description":"d","content":{"a/b":{"schema":{"$ref":"#/components/schemas/A"}}}}}}"##
        );
    references_are_followed_below_every_keyword:
        schema("{allOf: [{$ref: '#/definitions/A'}], anyOf: [{$ref: '#/definitions/A'}], not: {$ref: '#/definitions/A'}, patternProperties: {p: {$ref: '#/definitions/A'}}}") =>
        concat!(
            r##"{"allOf":[{"$ref":"#/components/schemas/A"}],"anyOf":[{"$ref":"#/components/schemas/A"}],"##,
            r##""not":{"$ref":"#/components/schemas/A"},"patternProperties":{"p":{"$ref":"#/components/schemas/A"}}}"##
        );
    a_reference_with_siblings_joins_all_of:
        schema("{$ref: '#/definitions/A', title: t, allOf: [{type: string}]}") =>
        r##"{"title":"t","allOf":[{"$ref":"#/components/schemas/A"},{"type":"string"}]}"##;
    a_reference_into_another_document_stays:
        schema("{$ref: 'x.json#/definitions/B'}") => r#"{"$ref":"x.json#/definitions/B"}"#, "KS2117 x.json#/definitions/B";
    a_reference_into_a_response_goes_a_level_deeper:
        converted("paths: {/a: {get: {responses: {200: {description: d, schema: {properties: {p: {type: string}, q: {$ref: '#/paths/~1a/get/responses/200/schema/properties/p'}}}}}}}}") =>
        concat!(
            r#""paths":{"/a":{"get":{"responses":{"200":{"description":"d","content":{"*/*":{"schema":{"properties":{"p":{"type":"string"},"#,
            r##""q":{"$ref":"#/paths/~1a/get/responses/200/content/*~1*/schema/properties/p"}}}}}}}}}}"##
        );
    discriminators_are_objects:
        schema("{discriminator: kind, x-nullable: true}") => r#"{"nullable":true,"discriminator":{"propertyName":"kind"}}"#;
    mappings_of_discriminators_lead_to_components:
        schema("{x-discriminator: {propertyName: k, mapping: {a: '#/definitions/A', b: B}}}") =>
        r##"{"discriminator":{"mapping":{"a":"#/components/schemas/A","b":"B"},"propertyName":"k"}}"##;
    null_among_types_is_nullable:
        schema("{type: [string, 'null']}") => r#"{"type":"string","nullable":true}"#, "KS2114 string, null";
    several_types_are_any_of_them:
        schema("{type: [array, string], items: {type: integer}}") =>
        r#"{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"string"}]}"#, "KS2114 array, string";
    names_have_only_characters_that_v3_allows:
        converted("paths: {}\ndefinitions: {a/b: {$ref: '#/definitions/a~1b'}, a_b: {}}") =>
        r##""paths":{},"components":{"schemas":{"a_b":{},"a_b_2":{"$ref":"#/components/schemas/a_b_2"}}}"##,
        r#"KS2106 "a/b" becomes "a_b_2""#;
    a_custom_resources_int_or_string_names_both:
        schema("{x-kubernetes-int-or-string: true}") => r#"{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}"#;
    kubernetes_int_or_string_is_one_of_both:
        schema("{type: string, format: int-or-string}") => r#"{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}"#;
    /// The defaults of the resource's own schema are not known.
    defaults_of_a_server_are_restored_where_types_show_them:
        converted("paths: {}\ndefinitions:\n  io.k8s.api.core.v1.A: {type: object, required: [m, s, q], properties: {m: {type: integer}, o: {type: integer}, s: {$ref: '#/definitions/io.k8s.api.core.v1.A'}, l: {type: array, items: {type: string}}, b: {type: array, items: {type: string, format: byte}}, q: {$ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity'}}}\n  io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}\n  io.k8s.apimachinery.pkg.apis.meta.v1.Status: {type: object}\n  org.g.v1.K: {type: object, required: [m], properties: {m: {type: integer}}, x-kubernetes-group-version-kind: [{group: g.org, version: v1, kind: K}]}") =>
        concat!(
            r#""paths":{},"components":{"schemas":{"io.k8s.api.core.v1.A":{"type":"object","required":["m","s","q"],"properties":{"#,
            r#""b":{"type":"array","items":{"type":"string","format":"byte"}},"l":{"type":"array","items":{"type":"string","default":""}},"#,
            r##""m":{"type":"integer","default":0},"o":{"type":"integer"},"q":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"},"##,
            r##""s":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.A"}]}}},"##,
            r#""io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},"#,
            r#""io.k8s.apimachinery.pkg.apis.meta.v1.Status":{"type":"object"},"#,
            r#""org.g.v1.K":{"type":"object","required":["m"],"properties":{"m":{"type":"integer"}},"x-kubernetes-group-version-kind":[{"group":"g.org","kind":"K","version":"v1"}]}}}"#
        ), "KS2118 io.k8s.api.core.v1.A";
    /// A quantity is recognised only by its name.
    a_quantity_is_both_of_its_types_whatever_has_defaults:
        converted("paths: {}\ndefinitions:\n  a: {type: string, default: d}\n  io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}") =>
        concat!(
            r#""paths":{},"components":{"schemas":{"a":{"type":"string","default":"d"},"#,
            r#""io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]}}}"#
        );
    defaults_of_a_server_are_restored_next_to_definitions_that_have_some:
        converted("paths: {}\ndefinitions:\n  io.k8s.api.core.v1.A: {type: object, required: [m], properties: {m: {type: integer}}}\n  io.k8s.apimachinery.pkg.apis.meta.v1.Status: {type: object}\n  org.b.B: {type: object, required: [m], properties: {m: {type: integer}, d: {type: string, default: d}}}\n  org.g.v1.K: {type: object, properties: {m: {type: integer, default: 1}}, x-kubernetes-group-version-kind: [{group: g.org, version: v1, kind: K}]}") =>
        concat!(
            r#""paths":{},"components":{"schemas":{"io.k8s.api.core.v1.A":{"type":"object","required":["m"],"properties":{"m":{"type":"integer","default":0}}},"#,
            r#""io.k8s.apimachinery.pkg.apis.meta.v1.Status":{"type":"object"},"#,
            r#""org.b.B":{"type":"object","required":["m"],"properties":{"d":{"type":"string","default":"d"},"m":{"type":"integer"}}},"#,
            r#""org.g.v1.K":{"type":"object","properties":{"m":{"type":"integer","default":1}},"x-kubernetes-group-version-kind":[{"group":"g.org","kind":"K","version":"v1"}]}}}"#
        ), "KS2118 io.k8s.api.core.v1.A";
    a_server_that_publishes_defaults_lacks_none:
        converted("paths: {}\ndefinitions:\n  io.k8s.api.core.v1.A: {type: object, required: [m], properties: {m: {type: integer}}}\n  io.k8s.apimachinery.pkg.apis.meta.v1.Status: {type: object, properties: {c: {type: integer, default: 0}}}") =>
        concat!(
            r#""paths":{},"components":{"schemas":{"io.k8s.api.core.v1.A":{"type":"object","required":["m"],"properties":{"m":{"type":"integer"}}},"#,
            r#""io.k8s.apimachinery.pkg.apis.meta.v1.Status":{"type":"object","properties":{"c":{"type":"integer","default":0}}}}}"#
        );
}
