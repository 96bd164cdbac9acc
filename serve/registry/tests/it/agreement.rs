//! Both layers have the same results.

use crate::common::{WIDGETS, registry, widget};
use kubeshape_registry::{Error, Gvk, Locations, Object, Registry, Time, Verb, WriteOptions};
use kubeshape_smd::{Bump, ToValue};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A generated request.
#[derive(Clone, Debug)]
struct Request {
    is_apply: bool,
    version: &'static str,
    manager: &'static str,
    subresource: &'static str,
    force: bool,
    members: Value,
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let spec = prop_oneof![
        Just(json!({})),
        (0..3_u32).prop_map(|n| json!({"spec": {"replicas": n}})),
        (0..3_u32, 0..3_u32).prop_map(|(n, m)| json!({"spec": {"replicas": n}, "status": {"ready": m}})),
        (80..82_u32, "[ab]").prop_map(|(n, name)| json!({"spec": {"ports": [{"number": n, "name": name}]}})),
        proptest::collection::btree_set("[abc]", 0..3).prop_map(|names| json!({"spec": {"names": names}})),
        Just(json!({"spec": {"replica": 1}})),
    ];
    let request = (
        any::<bool>(),
        prop_oneof![Just("v1"), Just("v2")],
        prop_oneof![Just("a"), Just("b")],
        prop_oneof![4 => Just(""), 2 => Just("status"), 1 => Just("scale")],
        any::<bool>(),
        spec,
    );
    let request = request.prop_map(|(is_apply, version, manager, subresource, force, members)| Request {
        is_apply,
        version,
        manager,
        subresource,
        force,
        members,
    });
    proptest::collection::vec(request, 1..8)
}

/// Runs requests through borrowed values, as the command and the scenarios do.
fn borrowed(
    registry: &Registry,
    live: Option<&Object>,
    new: &Object,
    request: &Request,
    now: Time,
) -> Result<Value, Error> {
    let arena = Bump::new();
    let gvk = Gvk::new(new.api_version(), new.kind());
    let endpoint = registry.endpoint(gvk, request.subresource, &arena)?;
    let options = WriteOptions::new(request.manager, now).force(request.force);
    let before = live.map(|live| endpoint.read(live.to_value(&arena), &arena).value);
    let verb = if request.is_apply { Verb::Apply } else { Verb::Update };
    let after = endpoint.write(verb, before, new.to_value(&arena), &options, &arena);
    after.map(kubeshape_smd::Value::to_serde).map_err(|error| registry.explain(&error, gvk, Locations::default()))
}

proptest! {
    #[test]
    fn owned_and_borrowed_objects_are_written_identically(requests in requests()) {
        let registry = registry(&[("a", WIDGETS)]);
        let mut live: Option<Object> = None;
        for (at, request) in requests.into_iter().enumerate() {
            let now = Time(i64::try_from(at)?);
            let new = widget(request.version, request.members.clone());
            let options =
                WriteOptions::new(request.manager, now).force(request.force).subresource(request.subresource);
            let owned = match &live {
                _ if request.is_apply => registry.apply(live.as_ref(), &new, &options),
                Some(live) => registry.update(live, &new, &options),
                None => registry.create(&new, &options),
            };
            let borrowed = borrowed(&registry, live.as_ref(), &new, &request, now);
            match (owned, borrowed) {
                (Ok(owned), Ok(borrowed)) => {
                    prop_assert_eq!(owned.value(), &borrowed);
                    // The next request uses the printed object.
                    live = Some(Object::read("live", owned.to_yaml().as_bytes()).map_err(|finding| TestCaseError::fail(finding.to_string()))?);
                }
                (Err(owned), Err(borrowed)) => {
                    prop_assert_eq!(owned.to_string(), borrowed.to_string());
                    prop_assert_eq!(owned.status(), borrowed.status());
                }
                (owned, borrowed) => prop_assert!(false, "{owned:?} {borrowed:?}"),
            }
        }
    }
}
