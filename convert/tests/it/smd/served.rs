//! The types that a server uses.

use kubeshape_convert::smd::SmdCompat;
use kubeshape_convert::smd::served::of_document;
use kubeshape_schema::{Bump, Dialect, Gvk};
use kubeshape_smd::schema::Field;
use kubeshape_yaml::{Limits, Stream, Tape};

const DEFINITIONS: &str = r#"{
    "a.Pod": {"type": "object", "properties": {"port": {"$ref": "REFa.Port"}},
        "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}]},
    "a.Port": {"type": "object", "properties": {"protocol": {"type": "string", "default": "TCP"}}}}"#;
const PATHS: &str = r#"{"/api/v1/namespaces/{namespace}/pods/{name}/status": {"get": {"responses": {},
    "x-kubernetes-group-version-kind": {"group": "", "kind": "Pod", "version": "v1"}}}}"#;

#[test]
fn both_dialects_give_the_same_types_and_kinds() -> Result<(), kubeshape_yaml::Error> {
    let v2 = format!(
        r#"{{"swagger": "2.0", "info": {{"title": "", "version": ""}}, "paths": {PATHS}, "definitions": {}}}"#,
        DEFINITIONS.replace("REF", "#/definitions/")
    );
    let v3 = format!(
        r#"{{"openapi": "3.0.0", "info": {{"title": "", "version": ""}}, "paths": {PATHS}, "components": {{"schemas": {}}}}}"#,
        DEFINITIONS.replace("REF", "#/components/schemas/")
    );
    for (source, dialect) in [(v2, Dialect::V2), (v3, Dialect::V3)] {
        let mut tape = Tape::new();
        Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
        let arena = Bump::new();
        let root = tape.document(&source).root().expect("a document");
        let served = of_document(root, dialect, SmdCompat::V63, &arena).expect("types");
        let gvk = Gvk::new("v1", "Pod");
        assert_eq!(served.kinds.len(), 1);
        let kind = served.kinds[0];
        assert_eq!((kind.gvk, kind.type_name, kind.has_status), (gvk, "a.Pod", true));
        assert!(tape.document(&source).node(kind.at).get("properties").is_some());
        assert_eq!((kind.reset_fields(""), kind.reset_fields("status")), (&["status"][..], &["spec"][..]));
        let port = served.schema.find_type("a.Port").and_then(|def| def.atom().map()).expect("a map");
        assert_eq!(port.field("protocol").and_then(Field::default_json), Some("\"TCP\""));
    }
    Ok(())
}

#[test]
fn keys_have_the_defaults_that_a_server_omits() -> Result<(), kubeshape_yaml::Error> {
    let source = r#"{"definitions": {"io.k8s.api.core.v1.ServicePort": {"type": "object", "properties": {
        "name": {"type": "string"}, "protocol": {"type": "string"}}}}}"#;
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    let arena = Bump::new();
    let root = tape.document(source).root().expect("a document");
    let served = of_document(root, Dialect::V2, SmdCompat::V63, &arena).expect("types");
    let port =
        served.schema.find_type("io.k8s.api.core.v1.ServicePort").and_then(|def| def.atom().map()).expect("a map");
    assert_eq!(port.field("protocol").and_then(Field::default_json), Some("\"TCP\""));
    assert_eq!(port.field("name").and_then(Field::default_json), None);
    Ok(())
}
