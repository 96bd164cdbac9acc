//! A discovery document that can be read (JSON, YAML or protobuf) can be printed in every form, and is equal when it is
//! read again.

use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::read::{Document, read};
use kubeshape_discovery::{
    Freshness, GroupVersion, Origin, Records, UNSET_PRIORITY, aggregated_order, group_list_order, group_versions_of_document,
};
use kubeshape_yaml::{Limits, Stream, Tape};

const ENCODINGS: [Encoding; 4] = [Encoding::Json, Encoding::JsonIndented, Encoding::Yaml, Encoding::Protobuf];

fn printed(print: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    print(&mut out);
    out
}

fn limits() -> Limits {
    Limits { bytes: 1 << 20, depth: 64, nodes: 100_000, alias_nodes: 10_000, scalar: 1 << 16 }
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let mut tape = Tape::new();
    if let Ok(mut stream) = Stream::new(data, limits())
        && let Some(Ok(())) = stream.next(&mut tape)
        && let Some(root) = tape.document(stream.source()).root()
    {
        group_versions_of_document(root);
    }
    let Ok(document) = read(data, limits()) else { return };
    // Strings that YAML cannot represent in one of its styles grow when they are printed.
    let again = |bytes: &[u8]| read(bytes, Limits::default());
    match &document {
        Document::Aggregated(groups) => {
            let sorted: Vec<_> = aggregated_order(groups).into_iter().cloned().collect();
            for encoding in ENCODINGS {
                let bytes = printed(|out| print::aggregated(out, AggregatedVersion::V2, groups, encoding));
                assert_eq!(again(&bytes), Ok(Document::Aggregated(sorted.clone())), "{encoding:?}");
            }
        }
        Document::Resources { group, version, resources } => {
            let version = GroupVersion {
                version: version.clone(),
                priority: UNSET_PRIORITY,
                origin: Origin::BuiltIn,
                freshness: Freshness::Current,
                resources: resources.clone(),
            };
            let first = printed(|out| print::resource_list(out, group, &version, Encoding::Json));
            for encoding in ENCODINGS {
                let bytes = printed(|out| print::resource_list(out, group, &version, encoding));
                // Names without a version, and names with a slash, change when they are printed.
                if let Ok(Document::Resources { group: name, version: read_version, resources }) = again(&bytes)
                    && (&name, &read_version) == (group, &version.version)
                {
                    let version = GroupVersion { resources, ..version.clone() };
                    let second = printed(|out| print::resource_list(out, &name, &version, Encoding::Json));
                    assert_eq!(second.len(), first.len(), "{encoding:?}");
                }
            }
        }
        Document::Groups(_) | Document::Group(_) | Document::Versions { .. } => {}
        Document::Paths(paths) => {
            assert_eq!(again(&printed(|out| print::paths(out, paths))).as_ref(), Ok(&document));
        }
        Document::Version(members) => {
            assert_eq!(again(&printed(|out| print::version(out, members))).as_ref(), Ok(&document));
        }
    }
    let mut records = Records::default();
    records.add(document);
    let groups = records.groups();
    for encoding in ENCODINGS {
        printed(|out| print::group_list(out, group_list_order(&groups), encoding));
        for group in &groups {
            let bytes = printed(|out| print::group(out, group, encoding));
            assert!(matches!(again(&bytes), Ok(Document::Group(entry)) if entry.name == group.name), "{encoding:?}");
        }
    }
}
