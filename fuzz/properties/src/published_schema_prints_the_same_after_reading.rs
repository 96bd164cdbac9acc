//! A published definition is the same when it is printed, read and printed again. Free values are doubles when a
//! document is read, so large integers are rounded the first time only.

use crate::resources::resources;
use kubeshape_schema::print::{self, Style};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::Value;

/// Checks the property.
pub fn holds(data: &[u8]) {
    resources(data, |resource| {
        for version in resource.versions() {
            for fragment in version.v3_fragments().schemas {
                // A server accepts only such names, and a reference to another name is escaped when it is read.
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
                if !fragment.name.chars().all(is_plain) {
                    continue;
                }
                let again = printed_again(&fragment.json);
                let (before, after) = (with_doubles(&fragment.json), with_doubles(&again));
                assert_eq!(before, after, "{}", String::from_utf8_lossy(&fragment.json));
                if before == serde_json::from_slice::<Value>(&fragment.json).expect("JSON") {
                    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&fragment.json));
                }
                assert_eq!(String::from_utf8_lossy(&printed_again(&again)), String::from_utf8_lossy(&again));
            }
        }
    });
}

fn printed_again(json: &[u8]) -> Vec<u8> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(json, Limits::default()).expect("UTF-8");
    let source = stream.source();
    stream.next(&mut tape).expect("a document").expect("JSON");
    let arena = Bump::new();
    let mut reader = Reader::new(&arena, Rules::Document(Profile::Kube));
    let schema = reader.schema(tape.document(source).root().expect("a root"));
    assert!(!reader.failed());
    let mut out = Vec::new();
    print::schema(&mut out, &schema, Style::V3);
    out
}

fn with_doubles(json: &[u8]) -> Value {
    fn visit(value: &mut Value) {
        match value {
            Value::Number(number) => {
                let double = number.as_f64().expect("a number of JSON");
                // Small integers keep their form, so their printed forms are compared.
                if double.abs() >= 9e15 || double.fract() != 0.0 {
                    *value = Value::from(double);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(visit),
            Value::Object(members) => members.values_mut().for_each(visit),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(json).expect("JSON");
    visit(&mut value);
    value
}
