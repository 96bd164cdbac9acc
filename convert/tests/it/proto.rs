//! The protobuf form of documents, rule by rule.
#![allow(clippy::format_collect)]

use std::error::Error;

use kubeshape_convert::proto::{self, Problem};
use kubeshape_schema::{Code, Dialect, Note};
use kubeshape_yaml::{Limits, Stream, Tape};

type Outcome = Result<(), Box<dyn Error>>;

/// The result for a document: its bytes and the notes as `pointer code detail`, or the refusals as `pointer problem`.
type Answer = Result<(Vec<u8>, Vec<String>), Vec<String>>;

fn answer(dialect: Dialect, source: &str) -> Result<Answer, Box<dyn Error>> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).ok_or("no document")??;
    let document = tape.document(source);
    let root = document.root().ok_or("no root")?;
    let note = |note: &Note<'_>| format!("{} {} {}", document.pointer(note.at), note.code, note.detail);
    Ok(match proto::encode(root, dialect) {
        Ok(encoded) => Ok((encoded.value, encoded.notes.iter().map(note).collect())),
        Err(refusals) => Err(refusals.iter().map(|r| format!("{}: {}", document.pointer(r.at), r.problem)).collect()),
    })
}

/// Returns the result for a v2 document with these members and the required ones.
fn v2(members: &str) -> Result<Answer, Box<dyn Error>> {
    let required = r#""swagger":"2.0","info":{"title":"t","version":"v"},"paths":{}"#;
    answer(Dialect::V2, &format!("{{{required},{members}}}"))
}

/// Returns the result for a v3 document with this schema, without the bytes that every document begins with.
fn v3(schema: &str) -> Result<Answer, Box<dyn Error>> {
    let head = r#""openapi":"3.0.0","info":{"title":"t","version":"v"},"paths":{},"components":{"schemas":{"A":"#;
    let found = answer(Dialect::V3, &format!("{{{head}{schema}}}}}}}"))?;
    Ok(found.map_err(|lines| lines.iter().map(|line| line.replace("/components/schemas/A", "")).collect()).map(
        |(bytes, notes)| {
            let notes = notes.iter().map(|note| note.replace("/components/schemas/A", "")).collect();
            (bytes, notes)
        },
    ))
}

/// Returns the JSON of a v3 result's schema, decoded again.
fn schema(answer: &Answer) -> Result<String, Box<dyn Error>> {
    let (bytes, _) = answer.as_ref().map_err(|lines| lines.join("\n"))?;
    let json = String::from_utf8(proto::v3::decode(bytes)?)?;
    let (_, schema) = json.split_once(r#""schemas":{"A":"#).ok_or("no schema")?;
    Ok(schema.strip_suffix("}}}").ok_or("no end")?.to_owned())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused(problems: &[&str]) -> Answer {
    Err(problems.iter().map(|problem| (*problem).to_owned()).collect())
}

#[test]
fn fields_are_in_the_order_of_numbers_and_zero_values_are_omitted() -> Outcome {
    let source = concat!(
        r#"{"swagger":"2.0","info":{"title":"t","version":"v"},"paths":{},"definitions":{"A":{"type":"object","#,
        r#""required":["b"],"properties":{"b":{"type":"integer","minimum":0,"maximum":2.5,"default":1,"enum":[1,"1"]}},"#,
        r#""additionalProperties":false,"x-a":["y"]}}}"#
    );
    let expected = concat!(
        "0a03322e3012060a017412017642004a600a5e0a014112599a010162aa01021000b201080a066f626a656374ca01320a300a0162122b2a04",
        "1202310a390000000000000440a201041202310aa2010612042231220ab201090a07696e7465676572fa010d0a03782d61120612042d20790a"
    );
    let (bytes, notes) = answer(Dialect::V2, source)?.map_err(|lines| lines.join("\n"))?;
    assert_eq!(hex(&bytes), expected);
    assert_eq!(notes, ["/definitions/A/properties/b/minimum KS7005 minimum"]);
    Ok(())
}

#[test]
fn a_default_of_v3_is_written_even_if_it_is_zero_and_is_empty_if_it_is_not_a_scalar() -> Outcome {
    for (default, bytes) in [
        ("0", "8a0209090000000000000000"),
        ("false", "8a02021000"),
        (r#""""#, "8a02021a00"),
        ("null", "8a0200"),
        ("[1]", "8a0200"),
        ("{}", "8a0200"),
    ] {
        let found = v3(&format!(r#"{{"default":{default}}}"#))?;
        let (found, notes) = found.map_err(|lines| lines.join("\n"))?;
        assert!(hex(&found).ends_with(bytes), "{default}: {}", hex(&found));
        assert_eq!(notes.is_empty(), bytes != "8a0200", "{default}: {notes:?}");
    }
    Ok(())
}

#[test]
fn strings_accept_integers_and_null_and_lists_skip_other_values() -> Outcome {
    let found = v3(r#"{"title":5,"description":null,"required":[1,true,null,"a"]}"#)?;
    assert_eq!(schema(&found)?, r#"{"title":"5","required":["1","","a"]}"#);
    let notes = found.map_err(|lines| lines.join("\n"))?.1;
    let expected = [
        "/title KS7009 title",
        "/description KS7009 description",
        "/required/0 KS7009 required",
        "/required/1 KS7004 required",
        "/required/2 KS7009 required",
    ];
    assert_eq!(notes, expected);
    assert_eq!(v3(r#"{"title":1.5}"#)?, refused(&["/title: expected a text, found a number"]));
    Ok(())
}

#[test]
fn numbers_integers_and_booleans_accept_no_other_type() -> Outcome {
    let found = v3(r#"{"maximum":"1","maxLength":1.0,"minLength":9223372036854775808,"uniqueItems":1}"#)?;
    let expected = refused(&[
        "/maximum: expected a number, found a text",
        "/maxLength: expected an integer of 64 bits, found a number",
        "/minLength: expected an integer of 64 bits, found an integer",
        "/uniqueItems: expected a boolean, found an integer",
    ]);
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn unknown_and_missing_members_are_refused_all_together() -> Outcome {
    let found = answer(Dialect::V2, r#"{"swagger":"2.0","info":{"title":"t"},"nullable":true,"X-a":1}"#)?;
    let expected = refused(&[
        ": Document needs the member paths",
        "/info: Info needs the member version",
        "/nullable: Document has no such member",
        "/X-a: Document has no such member",
    ]);
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn of_a_union_the_errors_of_the_nearest_form_are_reported() -> Outcome {
    let found = v2(r#""parameters":{"p":{"name":"n","in":"query","type":"string","format":1.5}}"#)?;
    assert_eq!(found, refused(&["/parameters/p/format: expected a text, found a number"]));
    let found = v3(r#"{"properties":{"a":{"type":["string"]}}}"#)?;
    assert_eq!(found, refused(&["/properties/a/type: expected a text, found a list"]));
    Ok(())
}

#[test]
fn the_last_form_that_matches_is_used() -> Outcome {
    let found = v2(r#""responses":{"r":{"description":"d","schema":{"type":"file"}}}"#)?;
    let (bytes, _) = found.map_err(|lines| lines.join("\n"))?;
    // Field 2 of the response is its schema, and field 2 of that a file schema.
    assert!(hex(&bytes).ends_with("12081206320466696c65"), "{}", hex(&bytes));
    Ok(())
}

#[test]
fn a_schema_of_v3_with_a_reference_is_one_and_loses_its_siblings() -> Outcome {
    let found = v3(r##"{"$ref":"#/a","description":"d","nullable":true}"##)?;
    assert_eq!(schema(&found)?, r##"{"$ref":"#/a","description":"d"}"##);
    assert_eq!(found.map_err(|lines| lines.join("\n"))?.1, ["/nullable KS7003 nullable"]);
    let found = v3(r##"{"not":{"$ref":"#/a"}}"##)?;
    assert_eq!(found, refused(&["/not/$ref: Schema has no such member"]));
    Ok(())
}

#[test]
fn values_other_than_objects_are_empty_ones_and_values_other_than_lists_are_dropped() -> Outcome {
    let found = v3(r#"{"enum":5,"items":[{"type":"string"}]}"#)?;
    let (bytes, notes) = found.map_err(|lines| lines.join("\n"))?;
    assert!(hex(&bytes).ends_with("f201040a020a00"), "{}", hex(&bytes));
    assert_eq!(notes, ["/enum KS7007 enum", "/items KS7008 Schema"]);
    Ok(())
}

#[test]
fn a_type_of_v2_is_a_list_of_any_scalars() -> Outcome {
    for (kind, bytes) in [
        (r#""a""#, "b201030a0161"),
        (r#"["a","b"]"#, "b201060a01610a0162"),
        ("null", "b201060a046e756c6c"),
        ("[]", "b20100"),
    ] {
        let found = v2(&format!(r#""definitions":{{"A":{{"type":{kind}}}}}"#))?;
        let (found, _) = found.map_err(|lines| lines.join("\n"))?;
        assert!(hex(&found).ends_with(bytes), "{kind}: {}", hex(&found));
    }
    Ok(())
}

#[test]
fn json_that_is_not_yaml_is_refused() -> Outcome {
    let lines = "\u{85}";
    for (value, reason) in [
        (r"a\/b", "YAML has no escape \\/"),
        (r"\ud83d\ude00", "YAML has no escape for half a character (\\ud800 to \\udfff)"),
        ("\x7F", "expected an escape for a control character, as YAML needs it"),
    ] {
        let expected = refused(&[&format!("/host: {reason}")]);
        assert_eq!(v2(&format!(r#""host":"{value}""#))?, expected);
    }
    let found = v2(&format!(r#""x-{lines}":1"#))?;
    assert_eq!(found, refused(&["/x-\u{85}: expected the colon on the line of its key, as YAML needs it"]));
    let found = v2("\"host\"\n:\"a\"")?;
    assert_eq!(found, refused(&["/host: expected the colon on the line of its key, as YAML needs it"]));
    Ok(())
}

#[test]
fn members_of_a_yaml_source_are_sorted_and_those_of_json_are_not() -> Outcome {
    let order = |source| -> Result<Vec<String>, Box<dyn Error>> {
        let (bytes, _) = answer(Dialect::V3, source)?.map_err(|lines| lines.join("\n"))?;
        let json = String::from_utf8(proto::v3::decode(&bytes)?)?;
        Ok(json.split('"').filter(|text| text.starts_with("x-")).map(str::to_owned).collect())
    };
    let json = r#"{"x-b":1,"openapi":"3","info":{"title":"","version":""},"paths":{},"x-a":1}"#;
    assert_eq!(order(json)?, ["x-b", "x-a"]);
    let yaml = "x-b: 1\nopenapi: '3'\ninfo: {title: '', version: ''}\npaths: {}\nx-a: 1\n";
    assert_eq!(order(yaml)?, ["x-a", "x-b"]);
    Ok(())
}

/// Returns the content of a message with the number 2 at the start of bytes.
fn message(bytes: &[u8]) -> Option<&[u8]> {
    let [0x12, bytes @ ..] = bytes else { return None };
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let length = bytes[..end].iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7F));
    bytes[end..].get(..length)
}

/// Returns the bytes of a field with a message or a string.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = match number {
        ..16 => vec![number << 3 | 2],
        16.. => vec![number << 3 | 0x82, number >> 4],
    };
    let mut length = content.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    [&out, content].concat()
}

/// Returns the string of an extension with this value.
fn yaml(value: &str) -> Result<String, Box<dyn Error>> {
    let (bytes, _) = v2(&format!(r#""x-a":{value}"#))?.map_err(|lines| lines.join("\n"))?;
    // The extension is field 16 of the document, after the required members. Its value is the last field.
    let at = bytes.windows(5).position(|bytes| bytes == b"\x0a\x03x-a").ok_or("no extension")? + 5;
    let any = message(&bytes[at..]).ok_or("no value")?;
    Ok(String::from_utf8(message(any).ok_or("no YAML")?.to_vec())?)
}

#[test]
fn values_without_a_type_are_yaml_as_go_yaml_prints_it() -> Outcome {
    for (value, expected) in [
        ("1.50", "1.50\n"),
        ("1e+21", "1e+21\n"),
        ("null", "null\n"),
        ("{}", "{}\n"),
        ("[]", "[]\n"),
        (r#"{"a":[{"c":1,"d":[1]}]}"#, "a:\n    - c: 1\n      d:\n        - 1\n"),
        (r#"[{"a":1,"b":{"c":2}}]"#, "- a: 1\n  b:\n    c: 2\n"),
        ("[[1,2]]", "- - 1\n  - 2\n"),
        (r#""a\nb""#, "|-\n    a\n    b\n"),
        (r#"{"a":"b\n"}"#, "a: |\n    b\n"),
        (r#"["\n"]"#, "- |4+\n\n"),
        (r#""a \nb""#, "\"a \\nb\"\n"),
        (r#"{"a\nb":1}"#, "? |-\n    a\n    b\n: 1\n"),
        (
            r#"["","~","null","1","0x1F","2001-1-1",".inf"]"#,
            "- \"\"\n- \"~\"\n- \"null\"\n- \"1\"\n- \"0x1F\"\n- \"2001-1-1\"\n- \".inf\"\n",
        ),
        (r#"["yes","12:30:45","<<"]"#, "- yes\n- 12:30:45\n- <<\n"),
        (r#""\u0000\u007f\t""#, "\"\\0\\x7F\\t\"\n"),
        ("\"😀\"", "\"\\U0001F600\"\n"),
        (
            r#"[" a","a ","- a","a: b","a #b","it's","'"]"#,
            "- ' a'\n- 'a '\n- '- a'\n- 'a: b'\n- 'a #b'\n- it's\n- ''''\n",
        ),
        (r#""a\u2028b""#, "'a\u{2028}    b'\n"),
        (r#""\ufeffa""#, "\"\\uFEFF\\x61\"\n"),
    ] {
        assert_eq!(yaml(value)?, expected, "{value}");
    }
    let key = "k".repeat(129);
    assert_eq!(yaml(&format!(r#"{{"{key}":{{"a":1}}}}"#))?, format!("? {key}\n:   a: 1\n"));
    Ok(())
}

#[test]
fn decoded_documents_have_the_same_bytes_again() -> Outcome {
    let value = r#"{"a":["yes","1",1.50,null,true,"2001-1-1","a\nb\n"," x","\u0085",{"k":{}},[[]]]}"#;
    let (bytes, _) = v2(&format!(r#""x-a":{value}"#))?.map_err(|lines| lines.join("\n"))?;
    let json = String::from_utf8(proto::v2::decode(&bytes)?)?;
    let expected = format!(r#"{{"swagger":"2.0","info":{{"title":"t","version":"v"}},"paths":{{}},"x-a":{value}}}"#);
    assert_eq!(json, expected);
    Ok(())
}

#[test]
fn output_of_go_yaml_that_it_cannot_read_is_decoded() -> Outcome {
    for value in [r#"["\na"]"#, r#"{"<<":1}"#, r#"{"a":["\n\n"],"b":"\ta\n"}"#, r#"["a\n\u2028"]"#] {
        let source = format!(r#"{{"swagger":"2.0","info":{{"title":"t","version":"v"}},"paths":{{}},"x-a":{value}}}"#);
        let (bytes, _) = answer(Dialect::V2, &source)?.map_err(|lines| lines.join("\n"))?;
        assert_eq!(String::from_utf8(proto::v2::decode(&bytes)?)?, source);
    }
    Ok(())
}

#[test]
fn values_in_other_yaml_than_go_yamls_are_decoded() -> Outcome {
    let yaml = "# a\n{a: [1, yes], b: 0x10, c: 'x'}\n";
    let pair = [field(1, b"x-a"), field(2, &field(2, yaml.as_bytes()))].concat();
    let json = String::from_utf8(proto::v2::decode(&field(16, &pair))?)?;
    assert_eq!(json, r#"{"swagger":"","info":{},"paths":{},"x-a":{"a":[1,"yes"],"b":16,"c":"x"}}"#);
    Ok(())
}

#[test]
fn required_members_are_decoded_even_if_they_are_empty() -> Outcome {
    let source = r#"{"openapi":"3","info":{"title":"","version":""},"paths":{"/":{"get":{"responses":{"200":{"description":""}}}}}}"#;
    let (bytes, _) = answer(Dialect::V3, source)?.map_err(|lines| lines.join("\n"))?;
    assert_eq!(String::from_utf8(proto::v3::decode(&bytes)?)?, source);
    Ok(())
}

#[test]
fn bytes_that_are_not_a_document_are_refused_with_a_location() {
    let message = |bytes: &[u8]| proto::v2::decode(bytes).map_err(|error| error.to_string());
    assert!(message(b"\x12\x03\x0a\x05").is_err_and(|error| error.contains("Document.info")));
    let yaml = b"\x82\x01\x0c\x0a\x03x-/\x12\x05\x12\x03[a\x0a";
    assert!(message(yaml).is_err_and(|error| error.starts_with("/x-~1: line ")), "{:?}", message(yaml));
    // Nested schemas, each the `allOf` of its parent.
    let schema = |depth: usize| {
        let schema = (0..depth).fold(Vec::new(), |inner, _| field(24, &inner));
        field(9, &field(1, &[field(1, b"A"), field(2, &schema)].concat()))
    };
    // The definitions, the pair and its value are three messages.
    assert!(proto::v2::decode(&schema(97)).is_ok());
    assert!(message(&schema(98)).is_err_and(|error| error.ends_with(".allOf: nested too deep")));
    assert!(proto::v2::decode(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").is_err());
}

#[test]
fn a_refusal_is_a_note_for_reports() {
    let refusal = proto::Refusal { at: 3, problem: Problem::Missing { message: "Info", member: "title" } };
    assert_eq!(Note::from(refusal), Note::new(Code::ProtoRefused, 3, "Info needs the member title"));
}

#[test]
fn the_deepest_document_that_the_reader_accepts_is_encoded() -> Outcome {
    let schema = format!("{}{{}}{}", r#"{"items":"#.repeat(500), "}".repeat(500));
    assert!(v3(&schema)?.is_ok());
    assert!(v2(&format!(r#""definitions":{{"A":{schema}}}"#))?.is_ok());
    assert!(v2(&format!(r#""x-a":{schema}"#))?.is_ok());
    assert!(v2(&format!(r#""x-a":{}{}"#, "[".repeat(500), "]".repeat(500)))?.is_ok());
    Ok(())
}

#[test]
fn no_bytes_make_the_decoder_panic() -> Outcome {
    let value = r#"{"a":["yes",1.5,"a\nb\n"," x","\u0085",{"k":{}},[[]],"\na"],"b\nc":"'"}"#;
    let (bytes, _) = v2(&format!(r#""x-a":{value}"#))?.map_err(|lines| lines.join("\n"))?;
    for at in 0..bytes.len() {
        for byte in 0..=255 {
            let mut changed = bytes.clone();
            changed[at] = byte;
            let _ = (proto::v2::decode(&changed), proto::v3::decode(&changed), proto::detect(&changed));
        }
        let _ = proto::v2::decode(&bytes[..at]);
    }
    Ok(())
}
