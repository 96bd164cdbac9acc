//! A document that can be read converts to every shape without a panic: v3, v2 and structured-merge-diff schemas that
//! can be read again, JSON Schema that is JSON, and documents with other names. Every note has a location.


use crate::documents::with_document;
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::rename::{Names, rename};
use kubeshape_convert::{jsonschema, kustomize, smd, v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Note, Profile, Property};
use kubeshape_yaml::Node;

fn places(notes: &[Note<'_>], root: Node<'_>) {
    for note in notes {
        assert!((note.at as usize) < root.document().len(), "{note:?}");
    }
}

fn typed(built: smd::Built) {
    let Ok(schema) = built else { return };
    let mut out = Vec::new();
    kubeshape_smd::schema::print_yaml(&schema, &mut out);
}

fn json_schemas(definitions: &[Property<'_>]) {
    let resolver = |name: &str| definitions.iter().find(|d| d.name == name).map(|d| &d.schema);
    for definition in definitions.iter().take(5) {
        for strict in [false, true] {
            let options = jsonschema::Options { strict, ..jsonschema::Options::default() };
            let out = jsonschema::from_definition(definition.name, &definition.schema, None, &resolver, options);
            serde_json::from_slice::<serde::de::IgnoredAny>(&out.value).expect("JSON");
        }
    }
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for profile in [Profile::Kube, Profile::Faithful] {
        with_document(source, |root, arena| {
            let options = smd::Options { profile, ..smd::Options::default() };
            typed(smd::from_v2::convert(root.get("definitions"), options));
            if let Some(document) = v2::read(root, arena, profile).value {
                json_schemas(document.definitions);
                let converted = v3::from_v2::convert(&document, arena, profile);
                places(&converted.notes, root);
                let mut out = Vec::new();
                if let Some(converted) = converted.value {
                    converted.print(&mut out, profile);
                }
                let mut streamed = Vec::new();
                let printed = v3::from_v2::print(&document, &mut streamed, profile);
                assert_eq!((printed.value, &streamed), (converted.value.is_some(), &out));
                assert_eq!(printed.notes.len(), converted.notes.len());
                for names in [Names::Friendly, Names::GoPath, Names::Short] {
                    places(&rename(&Document::V2(document), names, arena).notes, root);
                }
            }
            if let Some(document) = v3::read(root, arena, profile).value {
                let definitions = document.components.map_or(&[][..], |components| components.schemas);
                json_schemas(definitions);
                typed(smd::from_v3::convert(definitions, options));
                let merge_keys = kustomize::document(&document, &[], arena, |_| true);
                serde_json::from_slice::<serde::de::IgnoredAny>(&merge_keys).expect("JSON");
                let options = v2::from_v3::Options { profile, keep_losses: false, ..v2::from_v3::Options::default() };
                let converted = v2::from_v3::convert(&document, arena, &options);
                places(&converted.notes, root);
                let mut out = Vec::new();
                if let Some(converted) = converted.value {
                    converted.print(&mut out, Style::V2, profile);
                }
                for names in [Names::Friendly, Names::GoPath, Names::Short] {
                    places(&rename(&Document::V3(document), names, arena).notes, root);
                }
            }
        });
    }
}
