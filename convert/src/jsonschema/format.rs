//! How a `format` is expressed in JSON Schema.

use kubeshape_schema::{Code, Type};

/// How a format is expressed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shown<'f> {
    /// The `format` to print; empty for none.
    pub(super) name: &'f str,
    /// `contentEncoding`
    pub(super) encoding: &'static str,
    /// A pattern that exactly the strings of the format match.
    pub(super) pattern: &'static str,
    /// The greatest length of a string.
    pub(super) max_length: Option<i64>,
    /// The minimum and maximum number.
    pub(super) range: Option<Range>,
    /// What is lost.
    pub(super) loss: Option<(Code, &'static str)>,
}

/// The numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// Integers.
    Integer(i64, i64),
    /// Numbers from minus this number to this number.
    Float(f64),
}

const UNCHECKED: &str = "strings are not checked for it";
const NEARLY: &str = "a validator that checks formats does not draw the line where the server does";
const UNKNOWN: &str = "JSON Schema does not define it";

/// Returns how a format is expressed. `crd` is set for the schema of a CustomResourceDefinition, where it is known
/// which formats the server checks.
pub(super) fn shown(format: &str, ty: Type, crd: bool) -> Shown<'_> {
    let kept = Shown { name: format, ..Shown::default() };
    let pattern = |pattern| Shown { pattern, ..kept };
    let lossy = |code, why| Shown { loss: Some((code, why)), ..kept };
    match (ty, format) {
        (Type::Integer, "int32") => {
            return Shown { range: Some(Range::Integer(i32::MIN.into(), i32::MAX.into())), ..kept };
        }
        (Type::Integer, "int64") => return Shown { range: Some(Range::Integer(i64::MIN, i64::MAX)), ..kept },
        (Type::Number, "float") => return Shown { range: Some(Range::Float(f32::MAX.into())), ..kept },
        (_, "") | (Type::Number, "double") => return kept,
        (_, "int-or-string") if !crd => return kept,
        _ => {}
    }
    let plain: String = format.chars().filter(|c| *c != '-').collect();
    match plain.as_str() {
        // Formats with these names do not apply to numbers and containers.
        _ if !matches!(ty, Type::String | Type::Absent | Type::Several) => {}
        "date" | "password" => return Shown { name: if plain == "date" { "date" } else { "password" }, ..kept },
        "datetime" => return Shown { name: "date-time", ..kept },
        "byte" => {
            let pattern = if crd {
                "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"
            } else {
                // Go's base64 decoder skips line breaks and accepts the empty string.
                "^[A-Za-z0-9+/\\r\\n]*[=\\r\\n]*$"
            };
            return Shown { name: "", encoding: "base64", pattern, ..kept };
        }
        "email" | "hostname" | "ipv4" | "ipv6" | "uri" => return lossy(Code::JsonSchemaFormat, NEARLY),
        // In JSON Schema, the hyphens are required.
        "uuid" => return Shown { name: "", ..pattern("^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$") },
        "uuid3" => {
            return pattern("^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?3[0-9a-fA-F]{3}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$");
        }
        "uuid4" => {
            return pattern(
                "^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?4[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$",
            );
        }
        "uuid5" => {
            return pattern(
                "^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?5[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$",
            );
        }
        "bsonobjectid" => return pattern("^[0-9a-fA-F]{24}$"),
        "hexcolor" => return pattern("^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
        "ssn" => return pattern("^\\d{3}[\\- ]?\\d{2}[\\- ]?\\d{4}$"),
        "k8sshortname" => return Shown { max_length: Some(63), ..pattern("^[a-z0-9](?:[\\-a-z0-9]*[a-z0-9])?$") },
        "k8slongname" => {
            let labels = "^[a-z0-9](?:[\\-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[\\-a-z0-9]*[a-z0-9])?)*$";
            return Shown { max_length: Some(253), ..pattern(labels) };
        }
        // In JSON Schema it is an ISO 8601 duration, in Kubernetes a Go duration.
        "duration" => {
            return Shown { name: "", ..lossy(Code::JsonSchemaFormatUnchecked, UNCHECKED) };
        }
        "cidr" | "mac" | "isbn" | "isbn10" | "isbn13" | "creditcard" | "rgbcolor" => {
            return lossy(Code::JsonSchemaFormatUnchecked, UNCHECKED);
        }
        _ => {}
    }
    match (DEFINED.contains(&format), crd) {
        (true, true) => Shown { name: "", ..lossy(Code::JsonSchemaFormat, "the server does not check it") },
        (true, false) => kept,
        (false, _) => lossy(Code::JsonSchemaFormat, UNKNOWN),
    }
}

/// Formats of JSON Schema.
const DEFINED: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];
