//! The protobuf form keeps everything that gnostic's models keep of a document: decoding and encoding gives the same
//! bytes. Any bytes are either decoded or refused.


use crate::documents::with_document;
use kubeshape_convert::proto;

/// Checks the property.
pub fn holds(data: &[u8]) {
    proto::detect(data);
    for json in [proto::v2::decode(data), proto::v3::decode(data)].into_iter().flatten() {
        serde_json::from_slice::<serde::de::IgnoredAny>(&json).expect("JSON");
    }
    let Ok(source) = std::str::from_utf8(data) else { return };
    let mut found = Vec::new();
    with_document(source, |root, _| {
        for v3 in [false, true] {
            let encoded = if v3 { proto::v3::encode(root) } else { proto::v2::encode(root) };
            let check = if v3 { proto::v3::check(root) } else { proto::v2::check(root) };
            assert_eq!(encoded.is_ok(), check.is_ok());
            if let Ok(encoded) = encoded {
                found.push((v3, encoded.value));
            }
        }
    });
    for (v3, bytes) in found {
        let decoded = if v3 { proto::v3::decode(&bytes) } else { proto::v2::decode(&bytes) };
        // The reader allows a hundred levels of messages.
        let Ok(json) = decoded else { continue };
        let json = String::from_utf8(json).expect("UTF-8");
        with_document(&json, |root, _| {
            let again = if v3 { proto::v3::encode(root) } else { proto::v2::encode(root) };
            assert_eq!(again.map(|again| again.value), Ok(bytes), "{json}");
        });
    }
}
