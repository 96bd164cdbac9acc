//! Any bytes of an object in protobuf become JSON of bounded size with its kind, or an error. This JSON becomes
//! protobuf again, with the same contents.

use kubeshape_schema::Release;
use kubeshape_yaml::{Limits, Stream, Tape};

/// The maximum size of an object in protobuf, as a multiple of its JSON: protobuf contains members without a value.
const TIMES: usize = 50;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(read) = kubeshape_objects::protobuf_to_json(data, Release::NEWEST) else { return };
    let Ok(json) = read else { return };
    assert!(json.len() <= 16 << 20);
    let object: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let (Some(kind), Some(api_version)) = (object["kind"].as_str(), object["apiVersion"].as_str()) else {
        panic!("an object without its kind");
    };
    // Parts that are JSON themselves may contain values that no object can have, such as unbounded numbers.
    let is_read = Stream::new(&json, Limits::default()).is_ok_and(|mut all| matches!(all.next(&mut Tape::new()), Some(Ok(()))));
    if !is_read {
        return;
    }
    let written = kubeshape_objects::json_to_protobuf(api_version, kind, &json, Release::NEWEST).expect("protobuf");
    assert!(written.len() <= TIMES * json.len() + 1024, "{} bytes of {}", written.len(), json.len());
    let again = kubeshape_objects::protobuf_to_json(&written, Release::NEWEST).expect("protobuf").expect("JSON");
    let written_again = kubeshape_objects::json_to_protobuf(api_version, kind, &again, Release::NEWEST);
    let written_again = written_again.expect("protobuf");
    assert_eq!(written_again, written);
    // A time without a value is null, and null is read as absent.
    if !json.windows(5).any(|bytes| bytes == b":null") {
        assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&json));
    }
}
