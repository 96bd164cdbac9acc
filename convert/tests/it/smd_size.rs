//! Documents of extreme size and shape.

use kubeshape_convert::smd::{Options, Profile, SmdCompat, from_v2, from_v3, losses};
use kubeshape_schema::{Bump, Dialect, read};
use kubeshape_smd::Schema;
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::error::Error;
use std::fmt::Write as _;

const PROFILES: [Profile; 2] = [Profile::Kube, Profile::Faithful];

fn with_root<T>(source: &str, use_it: impl FnOnce(Node<'_>) -> T) -> Result<T, Box<dyn Error>> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    Ok(use_it(tape.document(source).root().ok_or("an empty document")?))
}

/// Converts definitions with both converters and both profiles, and notes the losses.
fn convert_all(source: &str) -> Result<Vec<Schema>, Box<dyn Error>> {
    let mut schemas = Vec::new();
    for profile in PROFILES {
        let options = Options { preserve_unknown: false, compat: SmdCompat::V63, profile };
        with_root(source, |root| -> Result<(), Box<dyn Error>> {
            let arena = Bump::new();
            let mut reader = read::Reader::new(&arena, read::Rules::Document(profile));
            let definitions = reader.properties(root);
            let mut notes = Vec::new();
            for dialect in [Dialect::V2, Dialect::V3] {
                losses::of_definitions(definitions, dialect, options, &mut notes);
            }
            for built in [from_v2::convert(Some(root), options), from_v3::convert(definitions, options)] {
                schemas.push(built.map_err(|errors| errors[0].clone())?);
            }
            Ok(())
        })??;
    }
    Ok(schemas)
}

#[test]
fn fifty_thousand_definitions_convert() -> Result<(), Box<dyn Error>> {
    const COUNT: usize = 50_000;
    // Every definition refers to the one before it, the first to the last.
    let mut source = String::from("{");
    for i in 0..COUNT {
        let before = (i + COUNT - 1) % COUNT;
        write!(
            source,
            "\"d{i}\":{{\"type\":\"object\",\"properties\":{{\"n\":{{\"$ref\":\"#/definitions/d{before}\"}}}}}},"
        )?;
    }
    source.pop();
    source.push('}');
    for schema in convert_all(&source)? {
        assert_eq!(schema.types().len(), COUNT + 2);
    }
    Ok(())
}

#[test]
fn a_chain_of_fifty_thousand_references_terminates() -> Result<(), Box<dyn Error>> {
    const COUNT: usize = 50_000;
    let mut source = String::from("{");
    for i in 0..COUNT {
        write!(source, "\"d{i}\":{{\"$ref\":\"#/definitions/d{}\"}},", i + 1)?;
    }
    write!(source, "\"d{COUNT}\":{{\"type\":\"string\"}}}}")?;
    let types: Vec<usize> = convert_all(&source)?.iter().map(|schema| schema.types().len()).collect();
    assert_eq!(types, [3, 3, COUNT + 3, COUNT + 3]);
    Ok(())
}

#[test]
fn schemas_nest_as_deep_as_documents_do() -> Result<(), Box<dyn Error>> {
    let depth = 500;
    let mut source = String::from("{\"a\":");
    source.push_str(&"{\"type\":\"array\",\"items\":".repeat(depth));
    source.push_str("{\"type\":\"string\"}");
    source.push_str(&"}".repeat(depth + 1));
    for schema in convert_all(&source)? {
        let mut atom = schema.find_type("a").ok_or("it is there")?.atom();
        let mut levels = 0;
        while let Some(list) = atom.list() {
            atom = list.element_type().inlined();
            levels += 1;
        }
        assert_eq!(levels, depth);
    }
    Ok(())
}
