//! The documents that a server publishes, if they are available (`KUBESHAPE_GOLDEN`).

use super::support::{Room, aggregate, print_v3};
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::Graph;
use kubeshape_convert::graph::inline::{self, Kind, Options, Recursion};
use kubeshape_convert::graph::rename::{Names, rename};
use kubeshape_convert::graph::split::split;
use kubeshape_schema::Profile;
use std::error::Error;

type Checked = Result<(), Box<dyn Error>>;

/// The documents of a server below `/openapi/v3`, by name.
pub(crate) fn server(folder: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let Some(golden) = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN") else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for file in std::fs::read_dir(golden.join("apiserver").join(folder).join("bodies/v3"))? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".json.zst") else { continue };
        out.push((name.replace("__", "/"), String::from_utf8(crate::support::bytes(&file.path())?)?));
    }
    out.sort();
    Ok(out)
}

/// Returns where two strings first differ.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    let at = ours.bytes().zip(theirs.bytes()).position(|(a, b)| a != b);
    let at = at.or((ours.len() != theirs.len()).then(|| ours.len().min(theirs.len())))?;
    let part = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(80)..(at + 80).min(text.len())]).into_owned()
    };
    Some(format!("{} instead of {}", part(ours), part(theirs)))
}

#[test]
fn splitting_the_aggregate_of_a_server_gives_its_documents() -> Checked {
    let documents = server("empty")?;
    let room = Room::default();
    let sources: Vec<_> = documents.iter().map(|(name, text)| (name.as_str(), Document::V3(room.v3(text)))).collect();
    if sources.is_empty() {
        return Ok(());
    }
    let (whole, notes) = aggregate(&room, &sources, Profile::Faithful);
    assert!(notes.iter().all(Vec::is_empty), "{notes:?}");
    let whole = whole.ok_or("the aggregate exists")?;
    let (printed, whole) = (whole.clone(), room.v3(&whole));
    let slices = split(&whole, &room.arena).value;
    let names: Vec<_> = slices.iter().map(|slice| slice.name).collect();
    let theirs: Vec<_> = documents.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, theirs);
    for (slice, (name, text)) in slices.iter().zip(&documents) {
        // Read and printed once more, extensions of operations have sorted keys.
        let text = print_v3(&room.v3(text));
        assert_eq!(difference(&print_v3(&slice.document), &text), None, "{name}");
    }
    let sources: Vec<_> = slices.iter().map(|slice| (slice.name, Document::V3(slice.document))).collect();
    let (again, _) = aggregate(&room, &sources, Profile::Faithful);
    assert!(again.ok_or("the aggregate exists")? == printed);
    Ok(())
}

#[test]
fn documents_of_custom_resources_are_aggregated_and_split() -> Checked {
    let documents = server("crds")?;
    let room = Room::default();
    let sources: Vec<_> = documents.iter().map(|(name, text)| (name.as_str(), Document::V3(room.v3(text)))).collect();
    if sources.is_empty() {
        return Ok(());
    }
    let (whole, _) = aggregate(&room, &sources, Profile::Faithful);
    let whole = whole.ok_or("the aggregate exists")?;
    let (printed, whole) = (whole.clone(), room.v3(&whole));
    let slices = split(&whole, &room.arena).value;
    let sources: Vec<_> = slices.iter().map(|slice| (slice.name, Document::V3(slice.document))).collect();
    let (again, _) = aggregate(&room, &sources, Profile::Faithful);
    assert!(again.ok_or("the aggregate exists")? == printed);
    for (name, text) in &documents {
        let Some(slice) = slices.iter().find(|slice| slice.name == name) else { return Err(name.clone().into()) };
        let definitions = |text: &str| -> Result<Vec<String>, Box<dyn Error>> {
            let value: serde_json::Value = serde_json::from_str(text)?;
            let schemas = value["components"]["schemas"].as_object().cloned().unwrap_or_default();
            Ok(schemas.into_iter().map(|(name, _)| name).collect())
        };
        assert_eq!(definitions(&print_v3(&slice.document))?, definitions(text)?, "{name}");
    }
    Ok(())
}

#[test]
fn every_document_of_a_server_is_inlined() -> Checked {
    for (name, text) in server("empty")?.iter().chain(&server("crds")?).step_by(kubeshape_corpus::one_in(3)) {
        let room = Room::default();
        for recursion in [Recursion::Keep, Recursion::Cut] {
            let options = Options { recursion, ..Options::default() };
            let inlined = inline::document(&room.v3(text), &options, &room.arena);
            let document = inlined.value.ok_or_else(|| format!("{name}: {:?}", inlined.notes))?;
            let kept: Vec<&str> =
                document.components.map_or(&[][..], |c| c.schemas).iter().map(|schema| schema.name).collect();
            let recursive = text.contains("apiextensions.v1.JSONSchemaProps\"");
            let expected = [JSON_SCHEMA_PROPS];
            let expected = if recursive && recursion == Recursion::Keep { &expected[..] } else { &[] };
            assert_eq!(kept, expected, "{name}");
            let printed = print_v3(&document);
            assert_eq!(printed.contains("\"$ref\":\""), !expected.is_empty(), "{name}");
            // The printed document is read again unless that takes too long.
            if printed.len() < 1 << 22 {
                room.v3(&printed);
            }
        }
    }
    Ok(())
}

const JSON_SCHEMA_PROPS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

#[test]
fn a_pod_is_found_by_its_kind() -> Checked {
    for (name, text) in server("empty")?.iter().filter(|(name, _)| name == "api/v1") {
        let room = Room::default();
        let document = room.v3(text);
        for (wanted, count) in
            [("Pod", 1), ("v1/Pod", 1), ("/v1/Pod", 1), ("policy/v1/Eviction", 1), ("apps/v1/Pod", 0)]
        {
            let inlined = inline::kind(&document, Kind::parse(wanted), &Options::default(), &room.arena);
            let found = inlined.value.and_then(|document| document.components).map_or(0, |c| c.schemas.len());
            assert_eq!(found, count, "{wanted} in {name}: {:?}", inlined.notes);
        }
    }
    Ok(())
}

#[test]
fn names_of_a_server_become_go_paths_and_short_ones() -> Checked {
    for (name, text) in server("empty")?.iter().chain(&server("crds")?) {
        let room = Room::default();
        let document = room.v3(text);
        let go = rename(&Document::V3(document), Names::GoPath, &room.arena);
        assert_eq!(go.notes, [], "{name}");
        let back = rename(&go.value, Names::Friendly, &room.arena).value;
        let Document::V3(back) = back else { return Err("it is a v3 document".into()) };
        assert_eq!(difference(&print_v3(&back), &print_v3(&document)), None, "{name}");
        let Document::V3(short) = rename(&Document::V3(document), Names::Short, &room.arena).value else {
            return Err("it is a v3 document".into());
        };
        let printed = print_v3(&short);
        assert!(!printed.contains("/schemas/io.k8s"), "{name}");
        assert_eq!(Graph::of(&Document::V3(short)).notes(), [], "{name}");
    }
    Ok(())
}
