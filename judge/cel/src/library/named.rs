//! Named formats, such as `format.dns1123Label()`.

use crate::decls::Name;
use crate::value::time::Timestamp;
use kubeshape_yaml::go::Url;

/// A named format.
pub struct Format {
    /// The function that gives it.
    constructor: Name,
    /// The name of its function, after `format.`.
    pub(crate) function: &'static str,
    /// The name that it prints.
    pub name: &'static str,
    /// How long the longest expression is that it matches, for costs.
    pub(crate) regex_size: u64,
    check: fn(&str) -> Vec<String>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Format {
    /// What is wrong with a string.
    pub fn validate(&self, text: &str) -> Vec<String> {
        (self.check)(text)
    }

    /// The format that a function gives.
    pub(crate) fn of(constructor: Name) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.constructor == constructor)
    }

    /// The format of a name, as `format.named` takes it.
    pub(crate) fn find(function: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.function == function)
    }
}

const fn format(
    constructor: Name,
    function: &'static str,
    name: &'static str,
    regex_size: u64,
    check: fn(&str) -> Vec<String>,
) -> Format {
    Format { constructor, function, name, regex_size, check }
}

static FORMATS: [Format; 13] = [
    format(Name::FormatDns1123Label, "dns1123Label", "DNS1123Label", 30, label),
    format(Name::FormatDns1123Subdomain, "dns1123Subdomain", "DNS1123Subdomain", 60, subdomain),
    format(Name::FormatDns1035Label, "dns1035Label", "DNS1035Label", 30, label_1035),
    format(Name::FormatQualifiedName, "qualifiedName", "QualifiedName", 60, qualified_name),
    format(Name::FormatDns1123LabelPrefix, "dns1123LabelPrefix", "DNS1123LabelPrefix", 30, |text| label(&mask(text))),
    format(Name::FormatDns1123SubdomainPrefix, "dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, |text| {
        subdomain(&mask(text))
    }),
    format(Name::FormatDns1035LabelPrefix, "dns1035LabelPrefix", "DNS1035LabelPrefix", 30, |text| {
        label_1035(&mask(text))
    }),
    format(Name::FormatLabelValue, "labelValue", "LabelValue", 40, label_value),
    format(Name::FormatUri, "uri", "URI", 1103, |text| Url::parse_request_uri(text).err().into_iter().collect()),
    format(Name::FormatUuid, "uuid", "uuid", 70, |text| unless(is_uuid(text), "does not match the UUID format")),
    format(Name::FormatByte, "byte", "byte", 84, |text| unless(is_base64(text), "invalid base64")),
    format(Name::FormatDate, "date", "date", 71, |text| unless(Timestamp::parse_date(text).is_some(), "invalid date")),
    format(Name::FormatDatetime, "datetime", "datetime", 71, |text| unless(is_date_time(text), "invalid datetime")),
];

fn unless(ok: bool, message: &str) -> Vec<String> {
    if ok { Vec::new() } else { vec![message.to_owned()] }
}

/// A name with a hyphen at its end counts as one that goes on.
fn mask(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut end = rest.len() - 1;
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            format!("{}a", &rest[..end])
        }
        _ => text.to_owned(),
    }
}

fn is_label(text: &str, first: fn(u8) -> bool) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|b| first(*b))
        && bytes.last().is_some_and(|b| alphanumeric(*b))
        && bytes.iter().all(|b| alphanumeric(*b) || *b == b'-')
}

fn is_label_1123(text: &str) -> bool {
    is_label(text, |b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label_1123)
}

fn too_long(text: &str, most: usize) -> Vec<String> {
    if text.len() > most { vec![format!("must be no more than {most} characters")] } else { Vec::new() }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

fn label(text: &str) -> Vec<String> {
    let mut out = too_long(text, 63);
    if !is_label_1123(text) {
        out.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                 end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
            )
        });
    }
    out
}

fn subdomain(text: &str) -> Vec<String> {
    let mut out = too_long(text, 253);
    if !is_subdomain(text) {
        out.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
             and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    out
}

fn label_1035(text: &str) -> Vec<String> {
    let mut out = too_long(text, 63);
    if !is_label(text, |b| b.is_ascii_lowercase()) {
        out.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
             is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    out
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn qualified_name(text: &str) -> Vec<String> {
    const WRONG: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut out = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(subdomain(prefix).into_iter().map(|error| format!("prefix part {error}")));
            }
            name
        }
        _ => {
            return vec![
                WRONG.replacen("name part must", "a valid label key must", 1).replacen(
                    "a valid label key must",
                    "a qualified name must",
                    1,
                ) + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            ];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        out.push("name part must be no more than 63 characters".to_owned());
    }
    if !is_qualified(name) {
        out.push(WRONG.to_owned());
    }
    out
}

fn label_value(text: &str) -> Vec<String> {
    let mut out = too_long(text, 63);
    if !text.is_empty() && !is_qualified(text) {
        out.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
             and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation \
             is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    out
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (i, count) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.get(..count) {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => rest = &rest[count..],
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Base64 with padding, as the format `byte` has it.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    decode(text, *b"+/").ok()
}

/// Base64 with padding and `-_` in place of `+/`, which is how upstream reads values of the format `byte` for rules. An
/// error is the place of the first byte that is wrong, as Go's `base64.CorruptInputError` has it.
pub(crate) fn decode_base64_url(text: &str) -> Result<Vec<u8>, usize> {
    decode(text, *b"-_")
}

/// Base64 with padding, of which `last` are the last two digits. Line breaks are passed over (Go:
/// `base64.Encoding.Decode`).
fn decode(text: &str, last: [u8; 2]) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    let is_break = |at: &usize| matches!(text.get(*at), Some(b'\r' | b'\n'));
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut digits) = (0u32, 0usize);
    for (at, byte) in text.iter().enumerate() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            byte if *byte == last[0] => 62,
            byte if *byte == last[1] => 63,
            b'\r' | b'\n' => continue,
            b'=' if digits >= 2 => {
                let mut next = at + 1;
                let breaks = |next: usize| (next..text.len()).find(|at| !is_break(at)).unwrap_or(text.len());
                if digits == 2 {
                    next = breaks(next);
                    match text.get(next) {
                        Some(b'=') => next += 1,
                        Some(_) => return Err(next - 1),
                        None => return Err(text.len()),
                    }
                }
                next = breaks(next);
                if next < text.len() {
                    return Err(next);
                }
                word <<= 6 * (4 - digits);
                out.extend_from_slice(&word.to_be_bytes()[1..digits]);
                return Ok(out);
            }
            _ => return Err(at),
        };
        word = (word << 6) | u32::from(digit);
        digits += 1;
        if digits == 4 {
            out.extend_from_slice(&word.to_be_bytes()[1..]);
            (word, digits) = (0, 0);
        }
    }
    if digits == 0 { Ok(out) } else { Err(text.len() - digits) }
}

/// Whether a string is base64 with padding, in one line.
fn is_base64(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\r', '\n']) && decode_base64(text).is_some()
}

/// Whether strfmt takes the text as a date and time.
fn is_date_time(text: &str) -> bool {
    parse_date_time(text).is_some()
}

/// A date and time as strfmt reads it: RFC 3339, with small letters, without zone or seconds too.
pub(crate) fn parse_date_time(text: &str) -> Option<Timestamp> {
    let upper = text.to_ascii_uppercase();
    match Timestamp::parse(&upper) {
        Some(crate::value::Value::Timestamp(at)) => Some(at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Go's `base64.URLEncoding.DecodeString` answers.
    #[test]
    fn places_of_errors_in_base64_are_those_of_go() {
        for (text, expected) in [
            ("", Ok(&b""[..])),
            ("_wA=", Ok(&[255, 0])),
            ("YQ==", Ok(b"a")),
            ("YQ\n==\n", Ok(b"a")),
            ("YWJj\n", Ok(b"abc")),
            ("/wA=", Err(0)),
            ("YQ=", Err(3)),
            ("YQ=x", Err(2)),
            ("YWI=x", Err(4)),
            ("YW", Err(0)),
            ("YWJjZ", Err(4)),
            ("Y\nQ=\n", Err(5)),
            ("=", Err(0)),
            ("Y=", Err(1)),
            ("YWJj====", Err(4)),
            ("YQ==YQ==", Err(4)),
        ] {
            assert_eq!(decode_base64_url(text), expected.map(<[u8]>::to_vec), "{text:?}");
        }
        assert_eq!(decode_base64("/wA=").as_deref(), Some(&[255, 0][..]));
    }
}
