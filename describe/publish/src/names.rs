//! Names that are derived from group, version and kind (upstream: `gvkToModelName` and `buildRoute` in
//! `pkg/controller/openapi/builder` of apiextensions-apiserver, `GetOperationIDAndTags` in `pkg/endpoints/openapi` of
//! apiserver).

use kubeshape_yaml::{percent, pointer};

/// The prefix of the names of Kubernetes' definitions of metadata.
pub(crate) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
/// The prefix of the names of the definitions of the scale subresource.
pub(crate) const AUTOSCALING: &str = "io.k8s.api.autoscaling.v1.";

/// Returns the definition name of a kind: the labels of the group reversed, then version and kind.
///
/// # Example
/// ```
/// assert_eq!(kubeshape_publish::names::definition("stable.example.com", "v1", "CronTab"), "com.example.stable.v1.CronTab");
/// ```
pub fn definition(group: &str, version: &str, kind: &str) -> String {
    let mut out = String::with_capacity(group.len() + version.len() + kind.len() + 2);
    for label in group.rsplit('.') {
        out.push_str(label);
        out.push('.');
    }
    out.push_str(version);
    out.push('.');
    out.push_str(kind);
    out
}

/// How a name in camel case begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Begin {
    /// The name begins an identifier: a leading digit is dropped, and the first letter becomes upper-case.
    Upper,
    /// As [`Begin::Upper`], but the case of the first letter is kept.
    Lower,
    /// The name is inside an identifier: a leading digit and the case of the first letter are kept.
    Inside,
}

/// Keeps letters, underscores and digits. Everything else is dropped, and the letter after it becomes upper-case.
pub(crate) fn camel(text: &str, begin: Begin) -> String {
    let mut out = String::with_capacity(text.len());
    let mut upper = begin == Begin::Upper;
    for (i, c) in text.char_indices() {
        let kept = c.is_alphabetic() || c == '_' || (is_digit(c) && (i > 0 || begin == Begin::Inside));
        if !kept {
            upper = true;
        } else if upper {
            out.push(upper_case(c));
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}

/// Converts a letter like Go's `unicode.ToUpper`, which maps one letter to one.
fn upper_case(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

/// Returns a definition's name as the last part of a reference: escaped as a JSON pointer, then as a fragment of a URL
/// (upstream: `Escape` of go-openapi/jsonpointer, then Go's `url.URL`, which go-openapi/jsonreference uses).
pub(crate) fn in_reference(definition: &str) -> String {
    let pointer = pointer::escape(definition);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=?@!()*'[]%".contains(&b);
    if pointer.bytes().all(plain) {
        return pointer.into_owned();
    }
    percent::encode(&pointer, const { &percent::GO_FRAGMENT.remove(b'%') }).into_owned()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric())
}

/// Returns the part of an operation id between the verb and the kind.
pub(crate) fn infix(group: &str, version: &str) -> String {
    let mut out = camel(group.strip_suffix(".k8s.io").unwrap_or(group), Begin::Upper);
    out.push_str(&camel(version, Begin::Upper));
    out
}

/// Returns the tag of all operations of a group version.
pub(crate) fn tag(group: &str, version: &str) -> String {
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    format!("{}_{}", camel(group, Begin::Lower), camel(version, Begin::Lower))
}

/// Returns `a K`, `an K`, or only the kind if it ends in a single `s`.
pub(crate) fn with_article(kind: &str) -> String {
    let bytes = kind.as_bytes();
    if bytes.ends_with(b"s") && !bytes.ends_with(b"ss") {
        return kind.to_owned();
    }
    match bytes.first() {
        Some(b'a' | b'e' | b'i' | b'o' | b'u' | b'A' | b'E' | b'I' | b'O' | b'U') => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_infixes_keep_letters_and_inner_digits() {
        for (group, expected_tag, expected_infix) in [
            ("a.b", "aB", "AB"),
            ("x-y.example.com", "xYExampleCom", "XYExampleCom"),
            ("9things.rules.example.com", "ThingsRulesExampleCom", "ThingsRulesExampleCom"),
            ("a-1b.io", "a1bIo", "A1bIo"),
            ("k8s.io", "k8sIo", "K8sIo"),
            ("bar.k8s.io", "bar", "Bar"),
            ("1password.com", "PasswordCom", "PasswordCom"),
        ] {
            assert_eq!(tag(group, "v1"), format!("{expected_tag}_v1"));
            assert_eq!(infix(group, "v1"), format!("{expected_infix}V1"));
        }
    }

    #[test]
    fn group_and_version_of_a_tag_begin_without_a_digit() {
        assert_eq!(tag("example.com", "9"), "exampleCom_");
        assert_eq!(tag("example.com", "1x-y"), "exampleCom_XY");
    }

    #[test]
    fn references_have_letters_beyond_ascii_as_a_url_has_them() {
        assert_eq!(in_reference("a.v1.Größe"), "a.v1.Gr%C3%B6%C3%9Fe");
        assert_eq!(in_reference("a.v1.K/i~n"), "a.v1.K~1i~0n");
    }

    #[test]
    fn the_article_follows_the_first_and_the_last_letter() {
        for (kind, expected) in [
            ("Apple", "an Apple"),
            ("Class", "a Class"),
            ("News", "News"),
            ("Foo", "a Foo"),
            ("S", "a S"),
            ("s", "s"),
            ("DNS", "a DNS"),
        ] {
            assert_eq!(with_article(kind), expected);
        }
    }
}
