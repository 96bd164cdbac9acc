//! Requests and queries.

use crate::common::{WIDGETS, registry, widget};
use kubeshape_registry::{Error, FieldErrorKind, Object, Release, Settings, WriteOptions};
use kubeshape_smd::value::Compat;
use serde_json::json;
use std::time::SystemTime;

fn by(manager: &str) -> WriteOptions {
    WriteOptions::new(manager, SystemTime::UNIX_EPOCH)
}

#[test]
fn the_object_and_its_status_are_independent() {
    let registry = registry(&[("a", WIDGETS)]);
    let both = |n: u32| widget("v2", json!({"spec": {"replicas": n}, "status": {"ready": n}}));
    for is_apply in [true, false] {
        let live = if is_apply {
            registry.apply(None, &both(1), &by("ci")).expect("it applies")
        } else {
            registry.create(&both(1), &by("ci")).expect("it is created")
        };
        assert_eq!(live.value()["spec"], json!({"replicas": 1}));
        assert_eq!(live.value().get("status"), None);
        let write = |live: &Object, options: &WriteOptions, new: Object| {
            let written =
                if is_apply { registry.apply(Some(live), &new, options) } else { registry.update(live, &new, options) };
            written.expect("it is written")
        };
        let live = write(&live, &by("operator").subresource("status"), both(2));
        assert_eq!((&live.value()["spec"], &live.value()["status"]), (&json!({"replicas": 1}), &json!({"ready": 2})));
        let owners: Vec<_> =
            live.owners().expect("owners").into_iter().map(|owner| (owner.manager, owner.subresource)).collect();
        assert_eq!(owners, [("ci".to_owned(), String::new()), ("operator".to_owned(), "status".to_owned())]);
        let live = write(&live, &by("ci"), both(3));
        assert_eq!((&live.value()["spec"], &live.value()["status"]), (&json!({"replicas": 3}), &json!({"ready": 2})));
    }
}

#[test]
fn scale_is_an_endpoint_of_versions_that_have_it() {
    let registry = registry(&[("a", WIDGETS)]);
    let live = registry.apply(None, &widget("v2", json!({"spec": {"replicas": 1}})), &by("ci")).expect("it applies");
    let scaled = widget("v2", json!({"spec": {"replicas": 5}}));
    let live = registry.update(&live, &scaled, &by("hpa").subresource("scale")).expect("it scales");
    assert_eq!(live.value()["spec"]["replicas"], 5);
    let owners = live.owners().expect("owners");
    let owner = owners.iter().find(|owner| owner.fields.contains(".spec.replicas")).expect("an owner");
    assert_eq!((owner.manager.as_str(), owner.subresource.as_str()), ("hpa", "scale"));
}

#[test]
fn a_subresource_that_a_version_lacks_is_refused() {
    let registry = registry(&[("a", WIDGETS)]);
    for (version, subresource, words) in [
        ("v1", "status", "Widget of example.com/v1 has no subresource \"status\"; it has none"),
        ("v2", "stats", "Widget of example.com/v2 has no subresource \"stats\"; it has status and scale"),
    ] {
        let error = registry
            .apply(None, &widget(version, json!({})), &by("ci").subresource(subresource))
            .expect_err("a refusal");
        assert_eq!((error.to_string().as_str(), error.status().code), (words, 404));
    }
}

#[test]
fn a_conflict_has_both_values_and_both_locations() {
    let registry = registry(&[("a", WIDGETS)]);
    let ports = |name: &str| {
        format!("apiVersion: example.com/v1\nkind: Widget\nspec:\n  ports:\n  - number: 80\n    name: {name}\n")
    };
    let applied = registry.apply(None, &Object::read("a.yaml", ports("a").as_bytes()).expect("an object"), &by("a"));
    let live = Object::read("live.yaml", applied.expect("it applies").to_yaml().as_bytes()).expect("an object");
    let config = Object::read("b.yaml", ports("b").as_bytes()).expect("an object");
    let error = registry.apply(Some(&live), &config, &by("b")).expect_err("a refusal");
    assert_eq!(error.status().code, 409);
    assert_eq!(error.status().causes[0].field, ".spec.ports[number=80].name");
    let conflicts = error.conflicts();
    let [conflict] = conflicts else { panic!("{conflicts:?}") };
    assert_eq!(conflict.to_string(), "conflict with \"a\": .spec.ports[number=80].name");
    assert_eq!((conflict.live.clone(), conflict.new.clone()), (Some(json!("a")), Some(json!("b"))));
    let place = |location: &Option<kubeshape_registry::Location>| location.as_ref().map(ToString::to_string);
    assert_eq!(place(&conflict.location).as_deref(), Some("b.yaml:6:11"));
    assert_eq!(place(&conflict.live_location).as_deref(), Some("live.yaml:19:11"));
    let forced = registry.apply(Some(&live), &config, &by("b").force(true)).expect("it applies");
    assert_eq!(forced.value()["spec"]["ports"][0]["name"], "b");
}

#[test]
fn an_undeclared_field_is_reported_with_similar_names() {
    let registry = registry(&[("a", WIDGETS)]);
    let config =
        Object::read("w.yaml", b"apiVersion: example.com/v1\nkind: Widget\nspec:\n  names: [a, a]\n  replica: 3\n");
    let Err(Error::Invalid(invalid)) = registry.apply(None, &config.expect("an object"), &by("ci")) else {
        panic!("it must not apply")
    };
    let [duplicate, undeclared] = invalid.errors.as_slice() else { panic!("{invalid:?}") };
    assert_eq!(duplicate.kind, FieldErrorKind::Duplicate);
    assert_eq!(
        undeclared.kind,
        FieldErrorKind::Undeclared {
            name: "replica".into(),
            nearest: vec!["replicas".into()],
            declared_by: Some(vec![])
        }
    );
    assert_eq!(undeclared.to_string(), ".spec.replica: field not declared in schema; did you mean `replicas`?");
    assert_eq!(undeclared.location.as_ref().map(ToString::to_string).as_deref(), Some("w.yaml:5:3"));
    assert_eq!(
        undeclared.declared.as_ref().map(kubeshape_registry::Location::pointer).as_deref(),
        Some("/spec/versions/0/schema/openAPIV3Schema/properties/spec")
    );
}

#[test]
fn the_names_of_managers_are_checked() {
    let registry = registry(&[("a", WIDGETS)]);
    for (name, is_fine) in [("", false), ("a\nb", false), (&"a".repeat(129), false), (&"a".repeat(128), true)] {
        let written = registry.create(&widget("v1", json!({})), &by(name));
        assert_eq!(written.is_ok(), is_fine, "{name:?}");
    }
}

#[test]
fn managed_fields_have_locations() {
    let registry = registry(&[("a", WIDGETS)]);
    let text = b"apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  managedFields:\n  - {manager: m, operation: Aply, apiVersion: example.com/v1, fieldsType: FieldsV1}\n";
    let live = Object::read("live.yaml", text).expect("an object");
    let error = live.owners().expect_err("a refusal");
    let Error::ManagedFields { location: Some(location), .. } = &error else { panic!("{error:?}") };
    assert_eq!(location.to_string(), "live.yaml:5:29");
    let error = registry.apply(Some(&live), &widget("v1", json!({})), &by("ci")).expect_err("a refusal");
    assert!(matches!(error, Error::ManagedFields { location: Some(_), .. }), "{error:?}");
    let error = registry.apply(None, &live, &by("ci")).expect_err("a refusal");
    let Error::ManagedFieldsGiven { location: Some(location), .. } = &error else { panic!("{error:?}") };
    assert_eq!((location.to_string().as_str(), error.status().code), ("live.yaml:4:3", 400));
}

#[test]
fn an_applied_configuration_can_be_extracted_and_applied_again() {
    let registry = registry(&[("a", WIDGETS)]);
    let config = widget("v1", json!({"spec": {"replicas": 1}}));
    let live = registry.apply(None, &config, &by("ci")).expect("it applies");
    let mine = registry.extract(&live, "ci", "").expect("it fits").expect("it applied");
    assert_eq!(mine, config);
    assert_eq!(registry.apply(Some(&live), &mine, &by("ci")).expect("it applies"), live);
    assert_eq!(registry.extract(&live, "other", "").expect("it fits"), None);
}

#[test]
fn objects_are_compared_and_merged() {
    let registry = registry(&[("a", WIDGETS)]);
    let a = widget("v1", json!({"spec": {"replicas": 1, "names": ["a"]}}));
    let b = widget("v1", json!({"spec": {"replicas": 2, "names": ["b"]}, "status": {"ready": 1}}));
    let found = registry.compare(&a, &b).expect("they compare");
    assert_eq!(found.added.paths(), [".status", ".spec.names[=\"b\"]", ".status.ready"]);
    assert_eq!(found.modified.paths(), [".spec.replicas"]);
    assert_eq!(found.removed.paths(), [".spec.names[=\"a\"]"]);
    assert!(registry.compare(&a, &a).expect("they compare").is_same());
    let merged = registry.merge(&a, &b).expect("they merge");
    assert_eq!(merged.value()["spec"], json!({"replicas": 2, "names": ["a", "b"]}));
    let other = widget("v2", json!({}));
    let error = registry.compare(&a, &other).expect_err("a refusal");
    assert_eq!(
        error.to_string(),
        "expected two objects of one version and kind, found example.com/v1, Kind=Widget and example.com/v2, Kind=Widget"
    );
    let fields = registry.field_set(&a).expect("a set");
    assert!(
        fields.to_json().ends_with(r#""f:spec":{"f:names":{"v:\"a\"":{}},"f:replicas":{}}}"#),
        "{}",
        fields.to_json()
    );
}

#[test]
fn the_release_decides_which_structured_merge_diff_is_followed() {
    let of = |minor| {
        let settings = Settings::of(Release::of_minor(minor));
        (settings.compat, settings.release.minor())
    };
    for (minor, expected) in [(20, Compat::V63), (36, Compat::V63), (37, Compat::V64), (38, Compat::V70)] {
        // Of other releases, only this is known.
        assert_eq!(of(minor), (expected, minor.clamp(28, 37)));
    }
}
