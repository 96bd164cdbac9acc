//! Requests that are refused before their object is decoded.

use kubeshape_schema::Bump;
use kubeshape_validate::body::{self, Conflict, Url};
use kubeshape_value::ToValue;
use serde_json::{Value, json};

fn url(name: Option<&'static str>, namespace: &'static str, object: &Value) -> Option<String> {
    let arena = Bump::new();
    body::check_url(Url { name, namespace: Some(namespace) }, object.to_value(&arena)).err()
}

#[test]
fn the_object_must_be_the_one_in_the_url() {
    let object = json!({"metadata": {"name": "a", "namespace": "n"}});
    assert_eq!(url(None, "n", &object), None);
    assert_eq!(url(Some("a"), "n", &object), None);
    let other = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(url(None, "m", &object).as_deref(), Some(other));
    let other = "the name of the object (a) does not match the name on the URL (b)";
    assert_eq!(url(Some("b"), "n", &object).as_deref(), Some(other));
    let none = "the name of the object (b based on URL) was undeterminable: name must be provided";
    assert_eq!(url(Some("b"), "n", &json!({"metadata": {}})).as_deref(), Some(none));
    assert_eq!(url(Some(".."), "n", &object).as_deref(), Some("Name parameter invalid: \"..\": may not be '..'"));
}

#[test]
fn the_kind_must_be_that_of_the_endpoint() {
    let arena = Bump::new();
    let refusal = |object: Value| body::check_kind("apps/v1", "Deployment", object.to_value(&arena)).err();
    assert_eq!(refusal(json!({})), None);
    assert_eq!(refusal(json!({"apiVersion": "apps/v1", "kind": "Deployment"})), None);
    let unknown = "Bogus in version \"v1\" cannot be handled as a Deployment: no kind \"Bogus\" is registered for version \
                   \"apps/v1\" in scheme \"pkg/runtime/scheme.go:111\"";
    assert_eq!(refusal(json!({"apiVersion": "apps/v1", "kind": "Bogus"})).as_deref(), Some(unknown));
    let other = "StatefulSet in version \"v1\" cannot be handled as a Deployment: converting (v1.StatefulSet) to \
                 (apps.Deployment): unknown conversion";
    assert_eq!(refusal(json!({"kind": "StatefulSet"})).as_deref(), Some(other));
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"});
    let version = "the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version \
                   (apiextensions.k8s.io/v1)";
    let refused = body::check_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd.to_value(&arena)).err();
    assert_eq!(refused.as_deref(), Some(version));
    let version = "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)";
    assert_eq!(refusal(json!({"apiVersion": "apps/v1beta1", "kind": "Deployment"})).as_deref(), Some(version));
}

#[test]
fn an_update_has_the_version_and_the_uid_of_the_stored_object() {
    let arena = Bump::new();
    let conflict = |metadata: Value| {
        let (new, old) = (json!({"metadata": metadata}), json!({"metadata": {"resourceVersion": "7", "uid": "u"}}));
        let key = || body::storage_key("", "pods", Some("default"), Some("a"));
        body::conflict(new.to_value(&arena), old.to_value(&arena), key)
    };
    assert_eq!(conflict(json!({})), None);
    assert_eq!(conflict(json!({"resourceVersion": "7", "uid": "u"})), None);
    assert_eq!(conflict(json!({"resourceVersion": "0"})), None);
    let modified = "the object has been modified; please apply your changes to the latest version and try again";
    assert_eq!(conflict(json!({"resourceVersion": "8"})), Some(Conflict::Other(modified.to_owned())));
    let syntax = "strconv.ParseUint: parsing \"abc\": invalid syntax";
    assert_eq!(conflict(json!({"resourceVersion": "abc"})), Some(Conflict::NoVersion(syntax.to_owned())));
    let uid = "StorageError: invalid object, Code: 4, Key: /registry/pods/default/a, ResourceVersion: 0, AdditionalErrorMsg: \
               Precondition failed: UID in precondition: v, UID in object meta: u";
    assert_eq!(conflict(json!({"uid": "v"})), Some(Conflict::Other(uid.to_owned())));
}

#[test]
fn objects_are_stored_under_older_names_of_their_resources() {
    let key = |group, plural| body::storage_key(group, plural, Some("n"), Some("a"));
    assert_eq!(key("apps", "deployments"), "/registry/deployments/n/a");
    assert_eq!(key("", "services"), "/registry/services/specs/n/a");
    assert_eq!(key("example.com", "tabs"), "/registry/example.com/tabs/n/a");
    assert_eq!(
        body::storage_key("apiextensions.k8s.io", "customresourcedefinitions", None, Some("a")),
        "/registry/apiextensions.k8s.io/customresourcedefinitions/a"
    );
}
