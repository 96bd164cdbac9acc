//! The cases of client-go's `util/csaupgrade/upgrade_test.go`, under their names, as a table.
//!
//! An entry is `MANAGER OPERATION VERSION[/SUBRESOURCE]` and its fields; `LAST` is the annotation of client-side apply.

use crate::common::{at, built_in, patched};
use kubeshape_ownership::{Goal, hand_over};
use kubeshape_policy::json_patch::json_patch;
use kubeshape_registry::{Object, Operation};
use kubeshape_smd::fieldpath::{PathElement, SetBuilder};
use kubeshape_smd::managed::{LAST_APPLIED, upgrade};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue, Value};
use serde_json::{Value as Json, json};

/// Client-side apply of a ConfigMap.
const CSA: &str = "kubectl-client-side-apply Update v1 data/. data/key data/legacy metadata/annotations/. LAST";
/// The same fields, applied on the server.
const SSA: &str = "kubectl Apply v1 data/. data/key data/legacy metadata/annotations/. LAST";
const SSA_V5: &str = "kubectl Apply v5 data/. data/key data/legacy metadata/annotations/. LAST";
const SCHEDULER: &str = "kube-scheduler Update v1 status/conditions/. status/conditions/message";
const POD: &str = "kubectl Apply v1 metadata/labels/name spec/image";
const POD_CSA: &str =
    "kubectl-client-side-apply Update v1 metadata/labels/. metadata/labels/name spec/image spec/dnsPolicy";

struct Upgrade {
    case: &'static str,
    from: &'static [&'static str],
    to: &'static str,
    subresource: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
}

const UPGRADES: &[Upgrade] = &[
    Upgrade {
        case: "csa-basic-direct-conversion",
        from: &["kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[CSA],
        after: &[SSA],
    },
    Upgrade {
        case: "csa-combine-with-ssa-duplicate-keys",
        from: &["kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[SSA, CSA],
        after: &[SSA],
    },
    Upgrade {
        case: "csa-combine-with-ssa-additional-keys",
        from: &["kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[SSA, "kubectl-client-side-apply Update v1 data/key2 metadata/annotations/hello"],
        after: &["kubectl Apply v1 data/. data/key data/key2 data/legacy metadata/annotations/. \
                  metadata/annotations/hello LAST"],
    },
    Upgrade {
        case: "csa-no-applicable-version",
        from: &["kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[
            SSA_V5,
            "kubectl-client-side-apply Update v1 data/key2 metadata/annotations/hello2",
            "kubectl-client-side-apply Update v2 data/key3 metadata/annotations/hello3",
            "kubectl-client-side-apply Update v3 data/key4 metadata/annotations/hello3",
            "kubectl-client-side-apply Update v4 data/key5 metadata/annotations/hello4",
        ],
        after: &[SSA_V5],
    },
    Upgrade {
        case: "csa-single-applicable-version",
        from: &["kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[
            SSA_V5,
            "kubectl-client-side-apply Update v5 data/key2 metadata/annotations/hello2",
            "kubectl-client-side-apply Update v2 data/key3 metadata/annotations/hello3",
            "kubectl-client-side-apply Update v3 data/key4 metadata/annotations/hello4",
            "kubectl-client-side-apply Update v4 data/key5 metadata/annotations/hello5",
        ],
        after: &["kubectl Apply v5 data/. data/key data/key2 data/legacy metadata/annotations/. \
                  metadata/annotations/hello2 LAST"],
    },
    Upgrade {
        case: "noop",
        from: &["kubectl-client-side-apply"],
        to: "not-already-existing",
        subresource: "",
        before: &[SSA_V5],
        after: &[SSA_V5],
    },
    Upgrade {
        case: "multipleTargetsExisting",
        from: &["kube-scheduler", "kubectl-client-side-apply"],
        to: "kubectl",
        subresource: "",
        before: &[POD, SCHEDULER, POD_CSA],
        after: &["kubectl Apply v1 metadata/labels/. metadata/labels/name spec/image spec/dnsPolicy \
                  status/conditions/. status/conditions/message"],
    },
    Upgrade {
        case: "multipleTargetsNewInsertion",
        from: &["kubectl-client-side-apply", "kube-scheduler"],
        to: "newly-inserted-manager",
        subresource: "",
        before: &[POD, SCHEDULER, POD_CSA],
        after: &[
            POD,
            "newly-inserted-manager Apply v1 metadata/labels/. metadata/labels/name spec/image spec/dnsPolicy \
             status/conditions/. status/conditions/message",
        ],
    },
    Upgrade {
        case: "subresource",
        from: &["kube-controller-manager"],
        to: "kube-controller-manager",
        subresource: "status",
        before: &[
            "Mozilla Update v1 spec/accessModes spec/volumeMode",
            "kube-controller-manager Update v1 metadata/annotations/. spec/volumeName",
            "kube-controller-manager Update v1/status status/phase",
        ],
        after: &[
            "Mozilla Update v1 spec/accessModes spec/volumeMode",
            "kube-controller-manager Update v1 metadata/annotations/. spec/volumeName",
            "kube-controller-manager Apply v1/status status/phase",
        ],
    },
];

/// The case, the operation, the fields, the entries, and the managers that own all of the fields.
type Owners = (&'static str, Operation, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const OWNERS: &[Owners] = &[
    ("Basic", Operation::Update, &["data"], &[CSA], &["kubectl-client-side-apply"]),
    ("Nested", Operation::Update, &["LAST"], &[CSA], &["kubectl-client-side-apply"]),
    ("NotFound", Operation::Update, &["LAST"], &[SSA], &[]),
    ("ApplyOperation", Operation::Apply, &["LAST"], &[SSA], &["kubectl"]),
    (
        "OneOfMultiple",
        Operation::Update,
        &["LAST"],
        &["kubectl-client-side-apply Update v1 LAST", "kubectl Apply v1 data/. data/key data/legacy"],
        &["kubectl-client-side-apply"],
    ),
    (
        "ManyOfMultiple",
        Operation::Update,
        &["LAST"],
        &["kubectl-client-side-apply Update v1 LAST", SSA, "kubectl-client-side-apply2 Update v1 LAST"],
        &["kubectl-client-side-apply", "kubectl-client-side-apply2"],
    ),
    ("BasicMultipleFields", Operation::Update, &["data/key", "LAST"], &[CSA], &["kubectl-client-side-apply"]),
    (
        "MissingOneField",
        Operation::Update,
        &["data/key", "LAST"],
        &["kubectl-client-side-apply Update v1 data/. data/legacy LAST"],
        &[],
    ),
];

/// Returns the names in the path of a field.
fn names(field: &str) -> Vec<&str> {
    if field == "LAST" { vec!["metadata", "annotations", LAST_APPLIED] } else { field.split('/').collect() }
}

fn entry(text: &str) -> Json {
    let mut words = text.split_whitespace();
    let mut next = || words.next().expect("a word");
    let (manager, operation, version) = (next(), next(), next());
    let mut fields = json!({});
    for field in words {
        let mut node = &mut fields;
        for name in names(field) {
            let key = if name == "." { ".".to_owned() } else { format!("f:{name}") };
            node = node.as_object_mut().expect("a map").entry(key).or_insert_with(|| json!({}));
        }
    }
    let (version, subresource) = version.split_once('/').unwrap_or((version, ""));
    let mut entry = json!({"manager": manager, "operation": operation, "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": fields});
    if !subresource.is_empty() {
        entry["subresource"] = json!(subresource);
    }
    entry
}

fn object(entries: &[&str]) -> Json {
    let entries: Vec<Json> = entries.iter().map(|text| entry(text)).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "test", "namespace": "default",
        "resourceVersion": "1", "managedFields": entries}})
}

#[test]
fn upgrades_of_client_go() {
    for row in UPGRADES {
        let Upgrade { case, from, to, subresource, .. } = *row;
        let arena = Bump::new();
        let (before, after) = (object(row.before), object(row.after));
        let live = before.to_value(&arena);
        let upgraded =
            upgrade::upgrade(live, from, to, subresource, Compat::default(), &arena).expect("readable entries");
        assert_eq!(upgraded.to_serde(), after, "{case}");
        let patch =
            upgrade::upgrade_patch(live, from, to, subresource, Compat::default(), &arena).expect("readable entries");
        let found = patch.map_or(live, |patch| json_patch(live, patch, &arena).expect("a patch that fits"));
        assert_eq!(found.to_serde(), after, "{case}");
        // The smallest patch leads to the same owners. A server drops the other versions.
        if subresource.is_empty() && row.before.iter().all(|entry| entry.contains(" v1 ")) {
            let goal = Goal::MigrateClientSide {
                from: from.iter().map(|name| (*name).to_owned()).collect(),
                to: to.to_owned(),
            };
            let live = Object::from(before);
            let found =
                hand_over(built_in(), &live, None, &goal, at(0)).expect("a hand-over").expect("something to do");
            let handed = patched(built_in(), &live, &found.operations).expect("a patch that fits");
            let sorted = |object: &Json| {
                let mut all = object["metadata"]["managedFields"].as_array().expect("entries").clone();
                all.sort_by_key(Json::to_string);
                all
            };
            assert_eq!(sorted(handed.value()), sorted(&after), "{case}");
        }
    }
}

#[test]
fn owners_of_client_go() {
    for (case, operation, fields, entries, expected) in OWNERS {
        let arena = Bump::new();
        let mut wanted = SetBuilder::new(&arena);
        for field in *fields {
            let path: Vec<PathElement<'_>> = names(field).into_iter().map(PathElement::FieldName).collect();
            wanted.insert(&path);
        }
        let live = object(entries);
        let list = live["metadata"]["managedFields"].to_value(&arena);
        let found = upgrade::find_owners(Some(list), *operation, wanted.finish(), Compat::default(), &arena);
        let managers: Vec<&str> =
            found.iter().filter_map(|entry| entry.get("manager").and_then(Value::as_str)).collect();
        assert_eq!(managers, *expected, "{case}");
    }
}
