//! Named formats, such as `format.dns1123Label()`.

use crate::decls::name::Name;
use crate::value::time::Timestamp;
use kubeshape_schema::names::{
    dns1035_label, dns1123_label, dns1123_subdomain, label_value, mask_trailing_dash, qualified_name,
};
use kubeshape_yaml::go::Url;

/// A named format.
pub struct Format {
    /// The function that returns it.
    constructor: Name,
    /// The name of its function, after `format.`.
    pub(crate) function: &'static str,
    /// The name that is printed.
    pub name: &'static str,
    /// The size of the longest regular expression of the format, for cost estimates.
    pub(crate) regex_size: u64,
    check: fn(&str) -> Vec<String>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Format {
    /// Returns the errors of a string.
    pub fn validate(&self, text: &str) -> Vec<String> {
        (self.check)(text)
    }

    /// Returns the format that a function creates.
    pub(crate) fn of(constructor: Name) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.constructor == constructor)
    }

    /// Returns the format with a name, as `format.named` does.
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
    format(Name::FormatDns1123Label, "dns1123Label", "DNS1123Label", 30, dns1123_label),
    format(Name::FormatDns1123Subdomain, "dns1123Subdomain", "DNS1123Subdomain", 60, dns1123_subdomain),
    format(Name::FormatDns1035Label, "dns1035Label", "DNS1035Label", 30, dns1035_label),
    format(Name::FormatQualifiedName, "qualifiedName", "QualifiedName", 60, qualified_name),
    format(Name::FormatDns1123LabelPrefix, "dns1123LabelPrefix", "DNS1123LabelPrefix", 30, |text| {
        dns1123_label(&mask_trailing_dash(text))
    }),
    format(Name::FormatDns1123SubdomainPrefix, "dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, |text| {
        dns1123_subdomain(&mask_trailing_dash(text))
    }),
    format(Name::FormatDns1035LabelPrefix, "dns1035LabelPrefix", "DNS1035LabelPrefix", 30, |text| {
        dns1035_label(&mask_trailing_dash(text))
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

/// Decodes base64 with padding, as in the format `byte`.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    decode(text, *b"+/").ok()
}

/// Decodes base64 with padding and `-_` in place of `+/`: upstream reads values of the format `byte` so for rules. An
/// error is the position of the first invalid byte, as in Go's `base64.CorruptInputError`.
pub(crate) fn decode_base64_url(text: &str) -> Result<Vec<u8>, usize> {
    decode(text, *b"-_")
}

/// Decodes base64 with padding. `last` are the last two digits of the alphabet. Line breaks are skipped (Go:
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

/// Returns whether a string is base64 with padding and without line breaks.
fn is_base64(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\r', '\n']) && decode_base64(text).is_some()
}

/// Returns whether strfmt accepts the string as a date and time.
fn is_date_time(text: &str) -> bool {
    Timestamp::parse_date_time(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of Go's `base64.URLEncoding.DecodeString`.
    #[test]
    fn base64_error_positions_are_those_of_go() {
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
