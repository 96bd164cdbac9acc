//! Objects in protobuf become JSON of bounded size with their kind, or an error, whatever the bytes are.

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(read) = kubeshape_objects::protobuf_to_json(data) else { return };
    let Ok(json) = read else { return };
    assert!(json.len() <= 16 << 20);
    let object: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert!(object["kind"].is_string() && object["apiVersion"].is_string());
}
