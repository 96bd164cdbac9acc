//! CBOR (RFC 8949), as kube-apiserver reads and writes it (upstream: `serializer/cbor` of apimachinery, KEP-4222).
//!
//! A document begins with the tag of CBOR. Strings are byte strings. Maps are written in the order of the core
//! deterministic encoding, numbers in the shortest lossless form.

mod read;
mod write;

pub(crate) use read::json;
pub(crate) use write::{document, of_json, tagged, text};

/// The first tag of a document: 55799.
const SELF_DESCRIBED: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// Major types.
mod major {
    pub(super) const UNSIGNED: u8 = 0;
    pub(super) const NEGATIVE: u8 = 1;
    pub(super) const BYTES: u8 = 2;
    pub(super) const TEXT: u8 = 3;
    pub(super) const LIST: u8 = 4;
    pub(super) const MAP: u8 = 5;
    pub(super) const TAG: u8 = 6;
}

#[cfg(test)]
mod tests {
    use super::{document, json, of_json};
    use kubeshape_smd::{Bump, ToValue, Value};

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn read(text: &str) -> Result<String, String> {
        json(&hex(text)).map(|json| String::from_utf8(json).expect("UTF-8"))
    }

    #[test]
    fn an_object_is_written_as_upstream_writes_it() {
        let text = br#"{"kind":"T","a":[1,-1,24,256,65536,4294967296,null,true,false],"bb":1.5,"c":{}}"#;
        let found = of_json(text).expect("an object");
        let expected = hex("d9d9f7 a4 41 61 89 01 20 18 18 19 0100 1a 00010000 1b 0000000100000000 f6 f5 f4 \
             41 63 a0 42 62 62 f9 3e00 44 6b696e64 41 54");
        assert_eq!(found, expected);
        assert_eq!(
            json(&found).expect("JSON"),
            br#"{"a":[1,-1,24,256,65536,4294967296,null,true,false],"c":{},"bb":1.5,"kind":"T"}"#
        );
    }

    #[test]
    fn floats_are_as_short_as_possible() {
        let written = |n: f64| {
            let mut out = Vec::new();
            super::write::value(Value::Float(n), &mut out);
            out
        };
        for (number, bytes) in [
            (0.0, "f90000"),
            (-0.0, "f98000"),
            (1.0, "f93c00"),
            (65504.0, "f97bff"),
            (5.960_464_477_539_063e-8, "f90001"),
            (0.000_061_035_156_25, "f90400"),
            (100_000.0, "fa47c35000"),
            (1.1, "fb3ff199999999999a"),
            (1e300, "fb7e37e43c8800759c"),
        ] {
            assert_eq!(written(number), hex(bytes), "{number}");
            assert_eq!(read(bytes).expect("a number").parse::<f64>().expect("a number").to_bits(), number.to_bits());
        }
    }

    #[test]
    fn documents_of_other_programs_are_read() {
        for (bytes, expected) in [
            ("d9d9f7a1646b696e64615a", r#"{"kind":"Z"}"#),
            ("bf 61 61 9f 01 ff ff", r#"{"a":[1]}"#),
            ("5f 41 61 41 62 ff", r#""ab""#),
            ("7f 61 61 ff", r#""a""#),
            ("d6 42 fb ff", r#""+/8=""#),
            ("d5 42 fb ff", r#""-_8""#),
            ("d7 42 fb ff", r#""FBFF""#),
            ("d6 81 41 61", r#"["YQ=="]"#),
            ("c0 74 323031332d30332d32315432303a30343a30305a", r#""2013-03-21T20:04:00Z""#),
            ("c1 1a 514b67b0", r#""2013-03-21T20:04:00Z""#),
            ("d9 0100 01", "1"),
            ("1b 7fffffffffffffff", "9223372036854775807"),
            ("3b 7fffffffffffffff", "-9223372036854775808"),
        ] {
            assert_eq!(read(bytes), Ok(expected.to_owned()), "{bytes}");
        }
    }

    #[test]
    fn documents_without_an_object_are_reported() {
        for (bytes, expected) in [
            ("", "cbor: unexpected end at byte 0"),
            ("a1", "cbor: unexpected end at byte 1"),
            ("9a ffffffff", "cbor: 4294967295 items at byte 0 are more than what follows"),
            ("ba ffffffff", "cbor: 4294967295 pairs at byte 0 are more than what follows"),
            ("5b ffffffffffffffff", "cbor: unexpected end at byte 9"),
            ("a2 61 61 01 41 61 02", "cbor: the key \"a\" stands twice in the map at byte 0"),
            ("a1 01 02", "cbor: found a key at byte 1 that is no text"),
            ("61 ff", "cbor: the text at byte 0 is no UTF-8"),
            ("1b 8000000000000000", "cbor: the integer at byte 0 has more than 64 bits"),
            ("3b 8000000000000000", "cbor: the integer at byte 0 has more than 64 bits"),
            ("f9 7e00", "cbor: found a number at byte 0 that JSON cannot write"),
            ("f9 7c00", "cbor: found a number at byte 0 that JSON cannot write"),
            ("c2 41 01", "cbor: found a big number at byte 0, which is not taken"),
            ("f7", "cbor: found the simple value 23 at byte 0, expected true, false or null"),
            ("1c", "cbor: the length at byte 0 is reserved"),
            ("ff", "cbor: found the end of nothing at byte 0"),
            ("1f", "cbor: an integer or a tag at byte 0 has no length"),
            ("5f 01 ff", "cbor: found a part at byte 1 that is none of a byte string"),
            ("c0 61 61", "cbor: the tag at byte 0 is that of a time, and \"a\" is none"),
            ("01 01", "cbor: 1 bytes are left behind the document"),
        ] {
            assert_eq!(read(bytes), Err(expected.to_owned()), "{bytes}");
        }
        let deep = json(&vec![0x81; 100_000]);
        assert_eq!(deep, Err("cbor: the document nests deeper than 512 levels".to_owned()));
        let tags = json(&vec![0xc6; 100_000]);
        assert_eq!(tags, Err("cbor: the document nests deeper than 512 levels".to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64)) {
            if let Ok(text) = json(&bytes) {
                let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
                let arena = Bump::new();
                let again = json(&document(value.to_value(&arena))).expect("what was written");
                proptest::prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&again).expect("JSON"), value);
            }
        }
    }
}
