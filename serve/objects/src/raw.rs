//! Finds members of compact JSON, the format of the store, without parsing all of it.

use memchr::memchr2;

/// Returns the value of a member of an object. `None` if it is missing or the input is not compact JSON.
pub(crate) fn member<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let mut at = 1;
    if text.first() != Some(&b'{') {
        return None;
    }
    while text.get(at) == Some(&b'"') {
        let end = string(text, at)?;
        let key = text.get(at + 1..end - 1)?;
        if text.get(end) != Some(&b':') {
            return None;
        }
        let start = end + 1;
        let end = value(text, start)?;
        if key == name.as_bytes() {
            return text.get(start..end);
        }
        if text.get(end) != Some(&b',') {
            return None;
        }
        at = end + 1;
    }
    None
}

/// Returns the end of a string that begins with its quotation mark.
fn string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the end of a value.
fn value(text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => at = string(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                // The end of the value around a number or a word.
                if depth == 0 {
                    return Some(at);
                }
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => return Some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn members_are_found_after_others() {
        let text = br#"{"a":{"b":"}","metadata":0},"l":["]",{"x":[]}],"n":-1.5e3,"t":true,"e":"\\\"","metadata":{"b":[1]},"z":null}"#;
        for (name, expected) in [
            ("a", Some(&br#"{"b":"}","metadata":0}"#[..])),
            ("l", Some(br#"["]",{"x":[]}]"#)),
            ("n", Some(b"-1.5e3")),
            ("t", Some(b"true")),
            ("e", Some(br#""\\\"""#)),
            ("metadata", Some(br#"{"b":[1]}"#)),
            ("z", Some(b"null")),
            ("b", None),
        ] {
            assert_eq!(member(text, name), expected, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn broken_json_has_no_members(text in "[{}\\[\\]\",:\\\\a1]{0,40}") {
            if let Some(found) = member(text.as_bytes(), "a") {
                proptest::prop_assert!(found.len() < text.len());
            }
        }

        #[test]
        fn members_are_those_that_a_parser_finds(keys in proptest::collection::vec("[a-c\"\\\\]{1,3}", 0..5)) {
            let object: serde_json::Map<_, _> =
                keys.into_iter().map(|key| (key.clone(), serde_json::json!({"k": [key, 1.5]}))).collect();
            let text = serde_json::Value::Object(object.clone()).to_string();
            for (key, value) in object.iter().filter(|(key, _)| key.chars().all(char::is_alphabetic)) {
                let value = value.to_string();
                proptest::prop_assert_eq!(member(text.as_bytes(), key), Some(value.as_bytes()));
            }
        }
    }
}
