//! Forms of strings: `pkg/util/validation` of `k8s.io/apimachinery`.

use super::Found;
use crate::builtin::address;
use crate::metadata;
use crate::names::{self, Messages};
use crate::object::is_ip;
use kubeshape_schema::field::Path;
use kubeshape_value::{Map, Value};

/// A form of a value.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin::overlay) enum Form {
    /// A function on a string.
    Text(fn(&str) -> Messages),
    /// Keys and values of labels: `ValidateLabels`.
    Labels,
    /// `ValidateAnnotations`.
    Annotations,
    /// `ValidateLabelSelector`.
    Selector,
    /// A number or a string with a percentage: `ValidatePositiveIntOrPercent`.
    IntOrPercent,
    /// A number that is not negative: `ValidateNonnegativeField`.
    NotNegative,
    /// `IsValidPortNum`
    PortNumber,
    /// A number or a name of a port: `ValidatePortNumOrName`.
    Port,
}

const FORMS: [(&str, Form); 26] = [
    ("dns1123 label", Form::Text(names::dns1123_label)),
    ("dns1123 subdomain", Form::Text(names::dns1123_subdomain)),
    ("dns1035 label", Form::Text(names::dns1035_label)),
    ("wildcard dns1123 subdomain", Form::Text(wildcard_subdomain)),
    ("qualified name", Form::Text(names::qualified_name)),
    ("label value", Form::Text(names::label_value)),
    ("path segment", Form::Text(segment)),
    ("config map key", Form::Text(config_map_key)),
    ("environment variable", Form::Text(relaxed_env_var_name)),
    ("strict environment variable", Form::Text(env_var_name)),
    ("c identifier", Form::Text(c_identifier)),
    ("http header", Form::Text(http_header_name)),
    ("port name", Form::Text(port_name)),
    ("percent", Form::Text(percent)),
    ("ip", Form::Text(ip)),
    ("canonical ip", Form::Text(address::canonical)),
    ("cidr", Form::Text(cidr)),
    ("path without backsteps", Form::Text(path_without_backsteps)),
    ("local path", Form::Text(local_path)),
    ("labels", Form::Labels),
    ("annotations", Form::Annotations),
    ("label selector", Form::Selector),
    ("number or percent", Form::IntOrPercent),
    ("not negative", Form::NotNegative),
    ("port number", Form::PortNumber),
    ("port", Form::Port),
];

/// The message about a negative number: `IsNegativeErrorMsg`.
pub(super) const NEGATIVE: &str = "must be greater than or equal to 0";

impl Form {
    pub(in crate::builtin::overlay) fn named(name: &str) -> Option<Form> {
        FORMS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
    }

    pub(in crate::builtin::overlay) fn check(self, value: Value<'_>, path: &Path<'_>, found: &mut Found) {
        match (self, value) {
            (Form::Text(check), Value::String(text)) => found.messages(path, value, check(text)),
            (Form::Labels, Value::Map(map)) => metadata::labels(&texts(map), path, 0, &mut found.errors),
            (Form::Annotations, Value::Map(map)) => metadata::annotations(&texts(map), path, 0, &mut found.errors),
            (Form::Selector, Value::Map(_)) => selector(value, path, found),
            (Form::NotNegative, Value::Int(number)) if number < 0 => found.invalid(path, value, NEGATIVE),
            (Form::IntOrPercent, Value::Int(number)) if number < 0 => found.invalid(path, value, NEGATIVE),
            (Form::IntOrPercent, Value::String(text)) => found.messages(path, value, percent(text)),
            (Form::PortNumber | Form::Port, Value::Int(number)) if !(1..=65_535).contains(&number) => {
                found.invalid(path, value, "must be between 1 and 65535, inclusive");
            }
            (Form::Port, Value::String(text)) => found.messages(path, value, port_name(text)),
            _ => {}
        }
    }
}

fn texts(map: Map<'_>) -> Vec<(&str, &str)> {
    map.entries().iter().filter_map(|(key, value)| Some((*key, value.as_str()?))).collect()
}

/// Checks a label selector: `ValidateLabelSelector`.
pub(super) fn selector(value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    selector_with(value, false, path, found);
}

/// Does the same. With `any_values`, values of expressions need not be valid labels: `AllowInvalidLabelValueInSelector`.
pub(super) fn selector_with(value: Value<'_>, any_values: bool, path: &Path<'_>, found: &mut Found) {
    if let Some(labels) = value.get("matchLabels").and_then(Value::as_map) {
        metadata::labels(&texts(labels), &path.child("matchLabels"), 0, &mut found.errors);
    }
    let expressions = path.child("matchExpressions");
    let items = value.get("matchExpressions").and_then(Value::as_list).unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        requirement(*item, false, any_values, &expressions.index(index), found);
    }
}

/// Checks one of `matchExpressions`: `ValidateLabelSelectorRequirement`, or if it may `compare` numbers,
/// `ValidateNodeSelectorRequirement`.
pub(super) fn requirement(item: Value<'_>, compares: bool, any_values: bool, path: &Path<'_>, found: &mut Found) {
    let values = item.get("values").and_then(Value::as_list).unwrap_or_default();
    let values_path = path.child("values");
    let operator = item.get("operator").unwrap_or(Value::String(""));
    match operator.as_str().unwrap_or_default() {
        "In" | "NotIn" if values.is_empty() => {
            found.required(&values_path, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            found.forbidden(&values_path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "Gt" | "Lt" if compares && values.len() != 1 => {
            found.required(&values_path, "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        "Gt" | "Lt" if compares => {}
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => found.invalid(&path.child("operator"), operator, "not a valid selector operator"),
    }
    let key = item.get("key").unwrap_or(Value::String(""));
    found.messages(&path.child("key"), key, names::qualified_name(key.as_str().unwrap_or_default()));
    for (index, value) in values.iter().enumerate().filter(|_| !any_values) {
        let messages = names::label_value(value.as_str().unwrap_or_default());
        found.messages(&values_path.index(index), *value, messages);
    }
}

fn segment(value: &str) -> Messages {
    names::path_segment(value, false)
}

fn regex_error(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    let lead = if examples.is_empty() { String::new() } else { format!("e.g. {}", examples.join(" or ")) };
    format!("{message} ({lead}regex used for validation is '{pattern}')")
}

fn at_most(value: &str, most: usize) -> Messages {
    if value.len() > most { vec![format!("must be no more than {most} characters")] } else { Vec::new() }
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// `hasChDirPrefix`
fn steps_up(value: &str) -> Option<String> {
    match value {
        "." | ".." => Some(format!("must not be '{value}'")),
        _ => value.starts_with("..").then(|| "must not start with '..'".to_owned()),
    }
}

/// `IsConfigMapKey`
pub(super) fn config_map_key(value: &str) -> Messages {
    let mut out = at_most(value, 253);
    if value.is_empty() || !value.bytes().all(is_key_byte) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        out.push(regex_error(message, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    out.extend(steps_up(value));
    out
}

/// `IsEnvVarName`
fn env_var_name(value: &str) -> Messages {
    let mut out = Vec::new();
    if value.is_empty() || value.starts_with(|c: char| c.is_ascii_digit()) || !value.bytes().all(is_key_byte) {
        let message = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or \
                       '.', and must not start with a digit";
        let examples = ["my.env-name", "MY_ENV.NAME", "MyEnvName1"];
        out.push(regex_error(message, "[-._a-zA-Z][-._a-zA-Z0-9]*", &examples));
    }
    out.extend(steps_up(value));
    out
}

/// `IsRelaxedEnvVarName`
pub(super) fn relaxed_env_var_name(value: &str) -> Messages {
    if value.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    let is_valid = value.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=');
    let message =
        "a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned();
    if is_valid { Vec::new() } else { vec![message] }
}

/// `IsCIdentifier`
pub(super) fn c_identifier(value: &str) -> Messages {
    let is_valid = !value.is_empty()
        && !value.starts_with(|c: char| c.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_valid {
        return Vec::new();
    }
    let message = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric \
                   characters or '_'";
    vec![regex_error(message, "[A-Za-z_][A-Za-z0-9_]*", &["my_name", "MY_NAME", "MyName"])]
}

/// `IsHTTPHeaderName`
pub(super) fn http_header_name(value: &str) -> Messages {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Vec::new();
    }
    let message = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![regex_error(message, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

/// `IsValidPortName`
pub(super) fn port_name(value: &str) -> Messages {
    let mut out = at_most(value, 15);
    let mut add = |is_wrong: bool, message: &str| {
        if is_wrong {
            out.push(message.to_owned());
        }
    };
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let unknown = value.is_empty() || !value.bytes().all(is_known);
    add(unknown, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    add(!value.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)");
    add(value.contains("--"), "must not contain consecutive hyphens");
    add(value.starts_with('-') || value.ends_with('-'), "must not begin or end with a hyphen");
    out
}

/// `IsValidPercent`
pub(super) fn percent(value: &str) -> Messages {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![regex_error(message, "[0-9]+%", &["1%", "93%"])]
}

/// `IsWildcardDNS1123Subdomain`
pub(super) fn wildcard_subdomain(value: &str) -> Messages {
    let mut out = at_most(value, 253);
    let rest = value.strip_prefix("*.");
    if !rest.is_some_and(|rest| rest.len() <= 253 && names::dns1123_subdomain(rest).is_empty()) {
        let message = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
                       consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        let pattern = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
        out.push(regex_error(message, pattern, &["*.example.com"]));
    }
    out
}

/// `IsDNS1123SubdomainWithUnderscore`
pub(super) fn subdomain_with_underscore(value: &str) -> Messages {
    let mut out = at_most(value, 253);
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.strip_prefix('_').unwrap_or(label).as_bytes();
        bytes.first().is_some_and(|byte| is_first(*byte))
            && bytes.last().is_some_and(|byte| is_first(*byte))
            && bytes.iter().all(|byte| is_first(*byte) || matches!(byte, b'-' | b'_'))
    };
    if !value.split('.').all(is_label) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', \
                       and must start and end with an alphanumeric character";
        let pattern = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
        out.push(regex_error(message, pattern, &["example.com"]));
    }
    out
}

/// `IsValidIPForLegacyField` without strict validation.
pub(super) fn ip(value: &str) -> Messages {
    let message = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    if is_ip(value, true) { Vec::new() } else { vec![message.to_owned()] }
}

/// `IsValidCIDRForLegacyField` without strict validation.
pub(super) fn cidr(value: &str) -> Messages {
    let is_valid = value.split_once('/').is_some_and(|(address, prefix)| {
        let most = if address.contains(':') { 128 } else { 32 };
        let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        is_ip(address, true) && is_number && prefix.parse::<u32>().is_ok_and(|prefix| prefix <= most)
    });
    let message = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    if is_valid { Vec::new() } else { vec![message.to_owned()] }
}

/// `validatePathNoBacksteps`
pub(super) fn path_without_backsteps(value: &str) -> Messages {
    if value.split('/').any(|part| part == "..") { vec!["must not contain '..'".to_owned()] } else { Vec::new() }
}

/// `validateLocalDescendingPath`
pub(super) fn local_path(value: &str) -> Messages {
    let mut out = Vec::new();
    if value.starts_with('/') {
        out.push("must be a relative path".to_owned());
    }
    out.extend(path_without_backsteps(value));
    out
}
