//! Patterns of the forms in `check/form.rs`.

/// A form: its name, its pattern, and its maximum length. Patterns have no backslashes, so CEL needs no escapes.
const PATTERNS: [(&str, &str, Option<i64>); 10] = [
    ("c identifier", "[A-Za-z_][A-Za-z0-9_]*", None),
    ("config map key", "[.]?[-_a-zA-Z0-9][-._a-zA-Z0-9]*", Some(253)),
    ("dns1035 label", "[a-z]([-a-z0-9]*[a-z0-9])?", Some(63)),
    ("dns1123 label", "[a-z0-9]([-a-z0-9]*[a-z0-9])?", Some(63)),
    ("dns1123 subdomain", "[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*", Some(253)),
    ("environment variable", "[ -<>-~]+", None),
    ("http header", "[-A-Za-z0-9]+", None),
    ("label value", "([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", Some(63)),
    ("port name", "([a-z0-9]+-)*[a-z0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*", Some(15)),
    (
        "qualified name",
        "([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
         [A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?",
        Some(317),
    ),
];

/// Returns the pattern of a form and its maximum length. Go code does not check empty strings of optional fields.
pub(super) fn pattern(name: &str, allows_empty: bool) -> Option<(String, Option<i64>)> {
    let (_, pattern, length) = PATTERNS.iter().find(|(own, ..)| *own == name)?;
    let pattern =
        if allows_empty && name != "label value" { format!("^({pattern})?$") } else { format!("^{pattern}$") };
    Some((pattern, *length))
}

/// Returns the form in words.
pub(super) fn in_words(name: &str) -> &'static str {
    match name {
        "dns1123 subdomain" => "lowercase RFC 1123 subdomain",
        "dns1035 label" => "DNS-1035 label",
        _ => "lowercase RFC 1123 label",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::overlay::check::Found;
    use crate::builtin::overlay::check::form::Form;
    use kubeshape_schema::field::Path;
    use kubeshape_value::Value;
    use regex::Regex;

    /// Strings near the border of every form.
    fn texts() -> Vec<String> {
        let parts =
            ["", "a", "A", "0", "-", ".", "_", "/", "a.b", "a-b", "a--b", "=", " ", "%", "é", "x/y", "abcdefgh"];
        let long = [15, 16, 62, 63, 64, 253, 254].map(|n| "a".repeat(n));
        let mut out: Vec<String> = long.to_vec();
        // Patterns do not limit the prefix of a qualified name.
        out.extend(long.iter().filter(|text| text.len() < 254).map(|text| format!("{text}/b")));
        out.extend(long.iter().map(|text| format!("b/{text}")));
        for first in parts {
            for second in parts {
                out.extend(parts.iter().map(|third| format!("{first}{second}{third}")));
            }
        }
        out
    }

    #[test]
    fn patterns_agree_with_the_forms() {
        for (name, ..) in PATTERNS {
            let (pattern, length) = pattern(name, false).expect("the table has it");
            let pattern = Regex::new(&pattern).expect("it is a pattern");
            let form = Form::named(name).expect("a form has this name");
            for text in texts().iter().filter(|text| !text.is_empty() || name == "label value") {
                let mut found = Found::default();
                form.check(Value::String(text), &Path::Root, &mut found);
                let is_short = length.is_none_or(|most| i64::try_from(text.len()).is_ok_and(|length| length <= most));
                let accepts = is_short && pattern.is_match(text);
                assert_eq!(accepts, found.errors.is_empty(), "{name} {pattern}: {text:?}");
            }
        }
    }
}
