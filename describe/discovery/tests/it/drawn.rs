//! Laws for random groups.

use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::read::{Document, read};
use kubeshape_discovery::{
    Freshness, Group, GroupVersion, Kind, Origin, Records, Resource, Scope, Subresource, UNSET_PRIORITY,
    aggregated_order, assemble, group_list_order, version_order,
};
use kubeshape_yaml::Limits;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

const ENCODINGS: [Encoding; 4] = [Encoding::Json, Encoding::JsonIndented, Encoding::Yaml, Encoding::Protobuf];

/// Names, including some that YAML reads as something else.
fn name() -> impl Strategy<Value = Arc<str>> {
    prop_oneof!["[a-z]{1,6}", "[a-z<>&\"\\\\: #é\u{2028}]{1,5}", Just("no".to_owned()), Just("1:30".to_owned())]
        .prop_map(Arc::from)
}

fn kind() -> impl Strategy<Value = Kind> {
    (name(), name(), name()).prop_map(|(group, version, kind)| Kind { group, version, kind })
}

fn subresource() -> impl Strategy<Value = Subresource> {
    (name(), kind(), vec(kind(), 0..2), vec(name(), 0..3)).prop_map(|(name, response_kind, accepted_types, verbs)| {
        Subresource { name, response_kind, accepted_types, verbs }
    })
}

fn resource() -> impl Strategy<Value = Resource> {
    let lists = (vec(name(), 1..4), vec(name(), 0..3), vec(name(), 0..2));
    (name(), kind(), any::<bool>(), name(), lists, vec(subresource(), 0..3)).prop_map(
        |(name, response_kind, namespaced, singular, (verbs, short_names, categories), subresources)| Resource {
            name,
            response_kind,
            scope: if namespaced { Scope::Namespaced } else { Scope::Cluster },
            singular,
            verbs,
            short_names,
            categories,
            storage_version_hash: None,
            subresources,
        },
    )
}

fn version() -> impl Strategy<Value = Arc<GroupVersion>> {
    ("v[1-9]((alpha|beta)[1-3])?", any::<bool>(), vec(resource(), 0..3)).prop_map(|(version, stale, resources)| {
        Arc::new(GroupVersion {
            version: version.into(),
            priority: UNSET_PRIORITY,
            origin: Origin::BuiltIn,
            freshness: if stale { Freshness::Stale } else { Freshness::Current },
            resources,
        })
    })
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let group = ("[a-z]{1,3}\\.[a-z]{1,3}", vec(version(), 1..4));
    vec(group, 0..4).prop_map(|groups| {
        let mut groups: Vec<Group> = groups.into_iter().filter_map(|(name, parts)| assemble(name, parts)).collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        groups.dedup_by(|a, b| a.name == b.name);
        groups
    })
}

fn printed(print: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    print(&mut out);
    out
}

proptest! {
    #[test]
    fn aggregated_discovery_reads_back(groups in groups()) {
        for version in [AggregatedVersion::V2, AggregatedVersion::V2beta1] {
            for encoding in ENCODINGS {
                let bytes = printed(|out| print::aggregated(out, version, &groups, encoding));
                let read = read(&bytes, Limits::default()).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(&read, &Document::Aggregated(groups.clone()), "{:?}", encoding);
            }
        }
    }

    #[test]
    fn recorded_groups_are_printed_in_their_order(groups in groups(), seed in any::<u64>()) {
        // Any order of groups and versions, including ones that our priorities would not give.
        let mut groups = groups;
        for (n, group) in groups.iter_mut().enumerate() {
            if seed >> n & 1 == 1 {
                group.versions.reverse();
            }
        }
        if !groups.is_empty() {
            let by = usize::try_from(seed % 5).unwrap_or_default() % groups.len();
            groups.rotate_left(by);
        }
        let mut records = Records::default();
        records.add(Document::Aggregated(groups.clone()));
        let ours = records.groups();
        let order: Vec<&Arc<str>> = aggregated_order(&ours).into_iter().map(|group| &group.name).collect();
        prop_assert_eq!(order, groups.iter().map(|group| &group.name).collect::<Vec<_>>());
        for (ours, theirs) in ours.iter().zip(&groups) {
            let again = assemble(Arc::clone(&ours.name), ours.versions.iter().rev().cloned());
            let names = |group: &Group| group.versions.iter().map(|v| v.version.to_string()).collect::<Vec<_>>();
            prop_assert_eq!(again.as_ref().map(names), Some(names(theirs)));
        }
    }

    #[test]
    fn unaggregated_documents_read_back(groups in groups()) {
        for encoding in ENCODINGS {
            let list = printed(|out| print::group_list(out, group_list_order(&groups), encoding));
            let Ok(Document::Groups(entries)) = read(&list, Limits::default()) else {
                return Err(TestCaseError::fail("no group list"));
            };
            prop_assert_eq!(entries.len(), groups.len());
            for group in &groups {
                let entry = printed(|out| print::group(out, group, encoding));
                let Ok(Document::Group(entry)) = read(&entry, Limits::default()) else {
                    return Err(TestCaseError::fail("no group"));
                };
                prop_assert!(entries.contains(&entry));
                for version in &group.versions {
                    let list = printed(|out| print::resource_list(out, &group.name, version, encoding));
                    // Random names may have a slash only in subresources.
                    let Ok(Document::Resources { group: name, version: read_version, resources }) = read(&list, Limits::default())
                    else {
                        continue;
                    };
                    prop_assert_eq!((&name, &read_version), (&group.name, &version.version));
                    let again = GroupVersion { resources, ..(**version).clone() };
                    prop_assert_eq!(printed(|out| print::resource_list(out, &name, &again, encoding)).len(), list.len());
                }
            }
        }
    }

    #[test]
    fn changed_bytes_never_panic(groups in groups(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        for encoding in ENCODINGS {
            let mut bytes = printed(|out| print::aggregated(out, AggregatedVersion::V2, &groups, encoding));
            let place = at.index(bytes.len());
            bytes[place] = byte;
            let _ = read(&bytes, Limits::default());
            bytes.truncate(cut.index(bytes.len()));
            let _ = read(&bytes, Limits::default());
        }
    }

    #[test]
    fn the_order_of_versions_is_an_order(names in vec("v?[0-9]{0,2}(alpha|beta)?[0-9]{0,2}", 3)) {
        let [a, b, c] = &names[..] else { return Ok(()) };
        prop_assert_eq!(version_order(a, b), version_order(b, a).reverse());
        if version_order(a, b).is_le() && version_order(b, c).is_le() {
            prop_assert!(version_order(a, c).is_le());
        }
    }
}
