//! Recorded documents of a real server, if `KUBESHAPE_GOLDEN` names their folder.

use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::read::{Document, read};
use kubeshape_discovery::{Group, Origin, Records, group_list_order, group_versions_of_document};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::path::{Path, PathBuf};

fn bodies(server: &str) -> Vec<(String, Vec<u8>)> {
    let Some(golden) = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN") else { return Vec::new() };
    let folder = golden.join("apiserver").join(server).join("bodies").join("discovery");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.trim_end_matches(".zst").to_owned();
        let out = unpacked(&path)?;
        (!String::from_utf8_lossy(&out).contains("\"Failure\"")).then_some((name, out))
    };
    files.into_iter().filter_map(read).collect()
}

fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).ok()?;
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut decoder, &mut out).ok()?;
    Some(out)
}

fn printed(print: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    print(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn check(server: &str, keep: impl Fn(&str) -> bool) {
    let bodies = bodies(server);
    let mut records = Records::default();
    for (name, body) in bodies.iter().filter(|(name, _)| keep(name)) {
        let document = read(body, Limits::default()).unwrap_or_else(|error| panic!("{server} {name}: {error}"));
        records.add(document);
    }
    let groups = records.groups();
    let named = || groups.iter().filter(|group| !group.name.is_empty());
    for (name, body) in bodies.iter().filter(|(name, _)| keep(name)) {
        let theirs = String::from_utf8_lossy(body);
        let ours = match &**name {
            "aggregated-v2-apis.json" => {
                printed(|o| print::aggregated(o, AggregatedVersion::V2, named(), Encoding::Json))
            }
            "aggregated-v2-apis.pb" => {
                printed(|o| print::aggregated(o, AggregatedVersion::V2, named(), Encoding::Protobuf))
            }
            "aggregated-v2-api.json" => {
                let core = groups.iter().filter(|group| group.name.is_empty());
                printed(|o| print::aggregated(o, AggregatedVersion::V2, core, Encoding::Json))
            }
            "apis.json" => printed(|o| print::group_list(o, group_list_order(named()), Encoding::Json)),
            "api.json" => {
                let Ok(Document::Versions { addresses, .. }) = read(body, Limits::default()) else { panic!("{name}") };
                let addresses: Vec<_> = addresses.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
                printed(|o| print::versions(o, &["v1"], &addresses, Encoding::Json))
            }
            "root.json" => printed(|o| print::paths(o, records.paths())),
            name => {
                let path: Vec<&str> = name.trim_end_matches(".json").split("__").collect();
                let group =
                    |name: &str| -> &Group { groups.iter().find(|group| &*group.name == name).expect("it is there") };
                match path[..] {
                    ["apis", name] => printed(|o| print::group(o, group(name), Encoding::Json)),
                    ["apis", name, version] => {
                        let version =
                            group(name).versions.iter().find(|v| &*v.version == version).expect("it is there");
                        if version.origin == Origin::CustomResources {
                            // Their order is not fixed.
                            continue;
                        }
                        printed(|o| print::resource_list(o, name, version, Encoding::Json))
                    }
                    ["api", _] => printed(|o| print::resource_list(o, "", &group("").versions[0], Encoding::Json)),
                    _ => panic!("{name}"),
                }
            }
        };
        assert_eq!(ours, theirs, "{server} {name}");
    }
}

#[test]
fn documents_are_printed_as_they_were_read() {
    for server in ["empty", "crds", "rules"] {
        check(server, |_| true);
    }
}

#[test]
fn each_form_alone_suffices_for_itself() {
    for server in ["empty", "crds", "rules"] {
        check(server, |name| name.starts_with("aggregated"));
        check(server, |name| !name.starts_with("aggregated"));
    }
}

/// The v3 document of a built-in group version gives the same as discovery, except short names, categories and hashes.
#[test]
fn documents_agree_with_discovery() {
    let mut records = Records::default();
    for (_, body) in bodies("empty") {
        records.add(read(&body, Limits::default()).expect("it was read before"));
    }
    for group in records.groups() {
        for version in &group.versions {
            let path = if group.name.is_empty() { "api".to_owned() } else { format!("apis__{}", group.name) };
            let Some(golden) = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN") else { return };
            let file = format!("{path}__{}.json.zst", version.version);
            let bytes = unpacked(&golden.join("apiserver/empty/bodies/v3").join(file)).expect("a document");
            let mut tape = Tape::new();
            let mut stream = Stream::new(&bytes, Limits::default()).expect("a text");
            stream.next(&mut tape).transpose().expect("it is JSON");
            let found = group_versions_of_document(tape.document(stream.source()).root().expect("a document"));
            let [(name, found)] = &found[..] else { panic!("{path}: {} group versions", found.len()) };
            assert_eq!(*name, group.name);
            let mut expected = (**version).clone();
            for resource in &mut expected.resources {
                resource.short_names.clear();
                resource.categories.clear();
                resource.storage_version_hash = None;
                resource.subresources.sort_by(|a, b| a.name.cmp(&b.name));
            }
            let mut found = found.clone();
            for (ours, theirs) in found.resources.iter_mut().zip(&expected.resources) {
                assert_eq!(ours, theirs);
            }
            assert_eq!(found, expected);
        }
    }
}
