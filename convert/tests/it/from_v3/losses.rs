//! Losses are recorded, and restored.

use super::generate::{Dice, document, small};
use super::{Error, down, there_and_back};
use kubeshape_convert::v2;
use kubeshape_convert::v2::from_v3::{Options, Scratch, has_losses, restore};
use kubeshape_schema::{Bump, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_there_and_back_is_the_same(seed: u64, kube: bool) {
        let text = document(&mut Dice(seed)).to_string();
        let profile = if kube { Profile::Kube } else { Profile::Faithful };
        let result = there_and_back(&text, profile).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let (before, after) = result.ok_or_else(|| TestCaseError::fail("not readable"))?;
        prop_assert_eq!(before, after);
    }
}

/// Collects the locations of values that the original had and the way back does not give.
fn lost(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(was) = members.get("x-kubeshape-loss").and_then(|entry| entry.get("was")) {
                out.extend(was.as_object().into_iter().flatten().map(|(place, value)| format!("{place}: {value}")));
            }
            members.iter().filter(|(name, _)| *name != "x-kubeshape-loss").for_each(|(_, inner)| lost(inner, out));
        }
        Value::Array(items) => items.iter().for_each(|inner| lost(inner, out)),
        _ => {}
    }
}

#[test]
fn nothing_is_lost_without_a_note() -> Result<(), Error> {
    let (mut silent, mut failures) = (0, Vec::new());
    for seed in 0..6000 {
        let source = small(&mut Dice(seed)).to_string();
        let (out, notes) = down(&source, KEEP)?;
        let mut places = Vec::new();
        lost(&serde_json::from_str(&out)?, &mut places);
        // An entry of an earlier conversion does not belong to this one, and there is no loss if a default was written
        // out, or an extension is where it was.
        let trivial =
            ["/explode: true", "/explode: false", "/style: \"form\"", "/style: \"simple\"", "/x-nullable: true"];
        places.retain(|place| !place.contains("x-kubeshape-loss") && !trivial.contains(&place.as_str()));
        silent += usize::from(notes.is_empty());
        if notes.is_empty() && !places.is_empty() {
            failures.push(format!("{source}\n{out}\n{}", places.join("\n")));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures[..failures.len().min(8)].join("\n\n"));
    assert!(silent > 500, "{silent}");
    Ok(())
}

const KEEP: Options = Options { profile: Profile::Faithful, keep_losses: true, most_bytes: usize::MAX };

#[test]
fn an_entry_is_where_something_was_lost_and_has_only_that() -> Result<(), Error> {
    let (out, _) = down(
        "{openapi: 3.0.0, info: {}, components: {schemas: {A: {properties: {a: {type: string}, b: {type: object, not: {}, minProperties: 1}}}}}}",
        KEEP,
    )?;
    assert_eq!(
        out,
        r#"{"swagger":"2.0","info":{},"paths":null,"definitions":{"A":{"properties":{"a":{"type":"string"},"b":{"type":"object","minProperties":1,"x-kubeshape-loss":{"was":{"/not":{}}}}}}}}"#
    );
    Ok(())
}

#[test]
fn what_the_way_back_would_add_is_named() -> Result<(), Error> {
    let (out, _) = down(
        "{openapi: 3.0.0, info: {}, paths: {/a: {get: {responses: {'200': {description: a, content: {a/b: {schema: {type: string}}}}, default: {description: b, content: {c/d: {}}}}}}}}",
        KEEP,
    )?;
    assert_eq!(
        out,
        concat!(
            r#"{"swagger":"2.0","info":{},"paths":{"/a":{"get":{"produces":["a/b","c/d"],"responses":{"#,
            r#""default":{"description":"b","schema":{},"x-kubeshape-loss":{"new":["/content/a~1b","/content/c~1d/schema"]}},"#,
            r#""200":{"description":"a","schema":{"type":"string"},"x-kubeshape-loss":{"new":["/content/c~1d"]}}}}}}}"#,
        )
    );
    Ok(())
}

#[test]
fn values_that_come_back_by_themselves_are_not_recorded() -> Result<(), Error> {
    let source = "
openapi: 3.0.0
info: {title: a, version: '1'}
servers: [{url: https://example.com/v1}]
paths:
  /a:
    post:
      parameters:
      - {name: a, in: query, schema: {type: array, items: {type: string, nullable: true}}}
      - {name: b, in: query, explode: false, deprecated: true, schema: {type: array, items: {type: string}}}
      - {$ref: '#/components/parameters/P'}
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}
      responses:
        '200': {description: OK, content: {application/json: {schema: {type: string, format: binary}, example: a}}}
        default: {$ref: '#/components/responses/R'}
    put:
      requestBody:
        content: {multipart/form-data: {schema: {type: object, required: [a], properties: {a: {type: string, format: binary}}}}}
      responses: {}
components:
  parameters: {P: {name: p, in: header, schema: {type: integer, minimum: 1}}}
  responses: {R: {description: r, content: {application/json: {schema: {}}}, headers: {H: {schema: {type: integer}}}}}
  requestBodies: {B: {content: {application/json: {schema: {}}}}}
  securitySchemes: {S: {type: http, scheme: basic}, O: {type: oauth2, flows: {clientCredentials: {tokenUrl: t, scopes: {}}}}}
  schemas:
    A: {type: object, properties: {a: {description: d, default: {}, allOf: [{$ref: '#/components/schemas/B'}]}}}
    B: {format: int-or-string, oneOf: [{type: integer}, {type: string}]}
    C: {type: string, nullable: true, writeOnly: true, deprecated: true}
    D: {type: object, required: [a], properties: {a: {type: string}}, discriminator: {propertyName: a}}
";
    assert_eq!(down(source, KEEP)?.0, down(source, Options::default())?.0);
    let (before, after) = there_and_back(source, Profile::Faithful)?.ok_or("not readable")?;
    assert_eq!(before, after);
    Ok(())
}

/// Returns the notes of restoring a v2 document, or `None` if it has an original.
fn notes(source: &str) -> Result<(bool, Option<String>), Error> {
    let arena = Bump::new();
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let document = v2::read(tape.document(source).root().ok_or("empty")?, &arena, Profile::Faithful);
    let document = document.value.ok_or("not readable")?;
    let mut scratch = Scratch::default();
    let restored = restore(&document, &mut scratch, &arena);
    let notes = restored.notes.iter().map(|note| format!("{} {}", note.code, note.detail)).collect::<Vec<_>>();
    Ok((has_losses(&document), restored.value.is_none().then(|| notes.join("\n"))))
}

#[test]
fn an_entry_that_was_changed_is_refused() -> Result<(), Error> {
    let message = Some("KS2228 x-kubeshape-loss is not as it was written".to_owned());
    for entry in ["[]", "{}", "{was: []}", "{was: {a: 1}}", "{new: [1]}", "{old: {}}", "1", "{was: {/a: 1}, new: a}"] {
        let source = format!("{{swagger: '2.0', definitions: {{A: {{x-kubeshape-loss: {entry}}}}}}}");
        assert_eq!(notes(&source)?, (true, message.clone()), "{entry}");
    }
    // Members below a value that is not an object are created.
    assert_eq!(notes("{swagger: '2.0', info: {}, x-kubeshape-loss: {was: {/x-a/0/b: 1}}}")?, (true, None));
    assert_eq!(notes("{swagger: '2.0', info: {}}")?, (false, None));
    Ok(())
}

#[test]
fn an_entry_that_gives_no_document_is_refused() -> Result<(), Error> {
    let (_, notes) = notes("{swagger: '2.0', x-kubeshape-loss: {was: {/info: 1}}}")?;
    assert_eq!(notes.as_deref(), Some("KS1005 expected an info object, found the number 1"));
    Ok(())
}
