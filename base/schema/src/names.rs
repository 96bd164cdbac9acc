//! Names, as `pkg/util/validation` of `k8s.io/apimachinery` checks them.
//!
//! Each function returns upstream's messages about an invalid string, and none for a valid one.

use std::borrow::Cow;

/// Messages about an invalid string.
pub type Messages = Vec<String>;

const DNS1123_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS1123_SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS1035_LABEL: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

/// A label of RFC 1123: `IsDNS1123Label`.
pub fn dns1123_label(value: &str) -> Messages {
    let mut out = too_long(value, LABEL_LENGTH, "characters");
    if !is_dns1123_label(value) {
        out.push(if is_dns1123_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            pattern_error(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character",
                DNS1123_LABEL,
                &["my-name", "123-abc"],
            )
        });
    }
    out
}

/// Labels of RFC 1123 between dots: `IsDNS1123Subdomain`.
pub fn dns1123_subdomain(value: &str) -> Messages {
    subdomain(value, "characters")
}

fn subdomain(value: &str, unit: &str) -> Messages {
    let mut out = too_long(value, SUBDOMAIN_LENGTH, unit);
    if !is_dns1123_subdomain(value) {
        out.push(pattern_error(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            DNS1123_SUBDOMAIN,
            &["example.com"],
        ));
    }
    out
}

/// A part of a path: `IsValidPathSegmentName`, or `IsValidPathSegmentPrefix` if something will be appended.
pub fn path_segment(value: &str, prefix: bool) -> Messages {
    if !prefix && matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    let forbidden = ["/", "%"].into_iter().filter(|text| value.contains(text));
    forbidden.map(|text| format!("may not contain '{text}'")).collect()
}

/// A label of RFC 1035: `IsDNS1035Label`.
pub fn dns1035_label(value: &str) -> Messages {
    let mut out = too_long(value, LABEL_LENGTH, "characters");
    if !is_dns1123_label(value) || !value.starts_with(|c: char| c.is_ascii_lowercase()) {
        out.push(pattern_error(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            DNS1035_LABEL,
            &["my-name", "abc-123"],
        ));
    }
    out
}

/// The key of a label or an annotation, the name of a finalizer: `content.IsLabelKey`, before 1.35 `IsQualifiedName`.
pub fn qualified_name(value: &str) -> Messages {
    const MUST: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let error = || pattern_error(MUST, LABEL_KEY, &["MyName", "my.name", "123-abc"]);
    let mut out = Vec::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, name)) if name.contains('/') => {
            let form = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {}{form}", error())];
        }
        Some((prefix, name)) => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(subdomain(prefix, "bytes").into_iter().map(|message| format!("prefix part {message}")));
            }
            name
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else {
        out.extend(too_long(name, LABEL_LENGTH, "bytes").into_iter().map(|message| format!("name part {message}")));
    }
    if name.is_empty() || !is_label_value(name) {
        out.push(format!("name part {}", error()));
    }
    out
}

/// The value of a label: `content.IsLabelValue`, before 1.35 `IsValidLabelValue`.
pub fn label_value(value: &str) -> Messages {
    let mut out = too_long(value, LABEL_LENGTH, "bytes");
    if !is_label_value(value) {
        out.push(pattern_error(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            LABEL_VALUE,
            &["MyValue", "my_value", "12345"],
        ));
    }
    out
}

/// Replaces a trailing dash of a name to which a suffix will be appended, where it is allowed: `maskTrailingDash`.
/// Upstream replaces the dash and the character before it.
pub fn mask_trailing_dash(name: &str) -> Cow<'_, str> {
    match name.len().checked_sub(2).and_then(|end| name.get(..end)) {
        Some(head) if name.ends_with('-') => Cow::Owned(format!("{head}a")),
        _ => Cow::Borrowed(name),
    }
}

/// Lengths are in bytes, whatever unit upstream's message has.
fn too_long(value: &str, most: usize, unit: &str) -> Messages {
    if value.len() > most { vec![format!("must be no more than {most} {unit}")] } else { Vec::new() }
}

fn pattern_error(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

fn is_dns1123_label(value: &str) -> bool {
    let bytes = value.as_bytes();
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
}

fn is_dns1123_subdomain(value: &str) -> bool {
    value.split('.').all(is_dns1123_label)
}

fn is_label_value(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.is_empty()
        || bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::{dns1035_label, dns1123_label, dns1123_subdomain, label_value, mask_trailing_dash, qualified_name};

    #[test]
    fn names_are_judged_as_the_patterns_say() {
        for name in ["a", "a-1", "0", "a--b"] {
            assert!(dns1123_label(name).is_empty(), "{name}");
            assert!(qualified_name(name).is_empty(), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a_b", "a.b"] {
            assert_eq!(dns1123_label(name).len(), 1, "{name}");
        }
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert!(dns1123_subdomain("a.b-c.0").is_empty());
        for name in ["", ".", "a.", "a..b", "a.B"] {
            assert_eq!(dns1123_subdomain(name).len(), 1, "{name}");
        }
        assert!(dns1035_label("a0").is_empty());
        assert_eq!(dns1035_label("0a").len(), 1);
        assert_eq!(dns1035_label(&"A".repeat(64)).len(), 2);
        assert!(label_value("").is_empty());
        assert_eq!(label_value("a b").len(), 1);
        assert!(qualified_name("example.com/My_name").is_empty());
        assert_eq!(qualified_name("/").len(), 3);
        assert_eq!(qualified_name("a/b/c").len(), 1);
        let long = "a".repeat(64);
        assert_eq!(qualified_name(&long), ["name part must be no more than 63 bytes"]);
        assert_eq!(label_value(&long), ["must be no more than 63 bytes"]);
        assert_eq!(dns1123_label(&long), ["must be no more than 63 characters"]);
        assert_eq!(qualified_name(&format!("{}/b", "a".repeat(254))), ["prefix part must be no more than 253 bytes"]);
    }

    #[test]
    fn a_trailing_dash_is_masked_with_the_character_before_it() {
        assert_eq!(mask_trailing_dash("ab-"), "aa");
        assert_eq!(mask_trailing_dash("-"), "-");
        assert_eq!(mask_trailing_dash("a"), "a");
    }
}
