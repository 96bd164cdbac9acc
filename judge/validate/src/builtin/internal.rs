//! Objects as the internal structs of a server print them, for errors and differences.
//!
//! Internal structs have no JSON tags, so their members have Go's names and order, and nothing is left out.

mod diff;

use crate::typed::is_empty;
use kubeshape_schema::field::{BadValue, Error, ErrorType};
use kubeshape_value::{Bump, Compat, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The structs, printed by `go run . types` of `conformance/builtins-oracle`. A line has the name of the definition in
/// the version, then fields `NAME:TYPE` or `NAME:MEMBER:TYPE`. If there is no member, it is the name with a lower-case
/// first letter; `-` means that the enclosing struct has it. `?` after a name: left out if empty.
const TYPES: &str = include_str!("internal/types.txt");
/// The name of an embedded struct that comes first, and whose members are those of this one.
const INLINED: &str = "+";
/// The maximum bytes of JSON with Go's names in an error; a longer value is left unchanged.
const MOST: usize = 1 << 20;

struct Field {
    name: &'static str,
    is_optional: bool,
    /// Empty: the enclosing struct has it.
    member: String,
    /// Its type: `s` a string, `n` a number, `b` a boolean, `q` a quantity, `i` a number or a string, `t` a timestamp,
    /// `y` bytes, `x` and `r` as the version prints it (`{}` or `null` if empty); with `*` a pointer, `[]` a list, `{}`
    /// a map. Others are names of structs.
    code: &'static str,
}

fn small(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_lowercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

fn structs() -> &'static BTreeMap<&'static str, Vec<Field>> {
    static STRUCTS: OnceLock<BTreeMap<&'static str, Vec<Field>>> = OnceLock::new();
    STRUCTS.get_or_init(|| {
        let field = |text: &'static str| -> Option<Field> {
            let (name, rest) = text.split_once(':')?;
            let (member, code) = rest.split_once(':').map_or((None, rest), |(member, code)| (Some(member), code));
            let (plain, is_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
            let member = match member {
                None => small(plain),
                Some("-") => String::new(),
                Some(member) => member.to_owned(),
            };
            Some(Field { name: plain, is_optional, member, code })
        };
        let line = |line: &'static str| {
            let mut parts = line.split(' ');
            Some((parts.next()?, parts.filter_map(field).collect()))
        };
        TYPES.lines().filter_map(line).collect()
    })
}

/// Returns the struct of a kind: `apps.v1.Deployment`. Versions whose structs differ from the internal ones are
/// missing.
fn root(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("core", api_version));
    match (group.split('.').next().unwrap_or_default(), version) {
        ("events", _) => format!("core.v1.{kind}"),
        ("autoscaling", _) => format!("autoscaling.v2.{kind}"),
        (group, version) => format!("{group}.{version}.{kind}"),
    }
}

/// Replaces the structs in errors about an object by Go's form.
pub(super) fn show(api_version: &str, kind: &str, errors: &mut [Error]) {
    let is_struct = |text: &str| text == "null" || text.starts_with(['{', '[']);
    let root = root(api_version, kind);
    // Upstream gives some fields of the spec paths without it.
    let type_at = |path: &str| at(&root, path).or_else(|| at(&root, &format!("spec.{path}")));
    for error in errors {
        if error.error_type != ErrorType::Internal
            && let BadValue::Json(text) = &mut error.value
            && is_struct(text)
            && text.len() <= MOST
            && let Some((parent, code)) = type_at(&error.path)
        {
            let arena = Bump::new();
            let Ok(value) = Value::read_json(text, &arena, Compat::default()) else { continue };
            match (value, code) {
                (Value::Null, "s") => error.value = BadValue::Text(String::new()),
                (Value::Null, "n" | "b") => *text = json(code, value),
                _ => {
                    // Some errors about a field show the struct around it.
                    let shown = shown(code, value).or_else(|| shown(parent, value).filter(|_| is_plain(code)));
                    *text = shown.unwrap_or_else(|| std::mem::take(text));
                }
            }
        }
    }
}

/// Prints the value of an error, if it is a struct or a list of structs.
fn shown(code: &str, value: Value<'_>) -> Option<String> {
    let own = match value {
        // Rules may show an item of a list.
        Value::Map(_) => code.trim_start_matches(['*', '[', ']']),
        Value::List(_) => code,
        _ => return None,
    };
    let fits = match value {
        Value::List(_) => own.starts_with("[]"),
        _ => !own.starts_with("{}"),
    };
    let fields = structs().get(own.trim_start_matches(['*', '[', ']', '{', '}']))?;
    let has = |key: &str| fields.iter().any(|field| field.member == key || field.name == INLINED);
    let is_one = value.as_map().is_none_or(|map| map.entries().iter().all(|(key, _)| has(key)));
    (fits && is_one).then(|| json(own, value))
}

/// Returns whether a value is a string, a number or a boolean, or a list of structs.
fn is_plain(code: &str) -> bool {
    matches!(code.trim_start_matches('*'), "s" | "n" | "b" | "q" | "i") || code.starts_with("[]")
}

/// Returns the type of the value at the path of an error, and the struct around it.
fn at(root: &str, path: &str) -> Option<(&'static str, &'static str)> {
    let mut code: &'static str = structs().get_key_value(root)?.0;
    let mut parent = code;
    let mut rest = path;
    while !rest.is_empty() {
        code = code.trim_start_matches('*');
        if let Some(inner) = rest.strip_prefix('[') {
            code = code.strip_prefix("[]").or_else(|| code.strip_prefix("{}"))?;
            rest = inner.split_once(']')?.1;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (name, after) = name.split_at_checked(end)?;
            parent = code;
            let is_named = |field: &&Field| field.member == name || small(field.name) == name;
            code = structs().get(code)?.iter().find(is_named)?.code;
            rest = after;
        }
    }
    Some((parent, code))
}

/// Prints a value of a struct, a list or a map as Go's compact JSON.
pub(super) fn json(code: &str, value: Value<'_>) -> String {
    let mut out = Vec::new();
    write(code, value, Value::Null, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(code: &str, value: Value<'_>, outer: Value<'_>, out: &mut Vec<u8>) {
    if let Some(code) = code.strip_prefix('*') {
        return if value.is_null() { out.extend(b"null") } else { write(code, value, outer, out) };
    }
    if let Some(code) = code.strip_prefix("[]") {
        let Value::List(items) = value else { return out.extend(b"null") };
        return separated(items.iter(), [b'[', b']'], out, |item, out| write(code, *item, Value::Null, out));
    }
    if let Some(code) = code.strip_prefix("{}") {
        let Value::Map(map) = value else { return out.extend(b"null") };
        return separated(map.entries().iter(), [b'{', b'}'], out, |(key, value), out| {
            member(key, out);
            write(code, *value, Value::Null, out);
        });
    }
    if let Some(fields) = structs().get(code) {
        let of_metadata = fields.first().filter(|field| field.name == INLINED);
        let metadata = of_metadata.map(|field| value.get(&field.member).unwrap_or(Value::Null));
        let inlined = of_metadata.and_then(|field| structs().get(field.code)).into_iter().flatten();
        let inlined = inlined.map(|field| (field, of(field, metadata.unwrap_or(Value::Null), Value::Null)));
        let fields = fields.iter().filter(|field| field.name != INLINED);
        let fields = inlined.chain(fields.map(|field| (field, of(field, value, outer))));
        let fields = fields.filter(|(field, own)| !(field.is_optional && is_empty(*own)));
        return separated(fields, [b'{', b'}'], out, |(field, own), out| {
            member(field.name, out);
            write(field.code, own, value, out);
        });
    }
    match (value, code) {
        (Value::Null, "s") => out.extend(b"\"\""),
        (Value::Null, "n" | "i") => out.extend(b"0"),
        (Value::Null, "b") => out.extend(b"false"),
        (Value::Null, "q") => out.extend(b"\"0\""),
        (Value::Null, "x") => out.extend(b"{}"),
        (value, _) => value.write_go_json(out),
    }
}

/// Returns the value of a field of a struct.
fn of<'a>(field: &Field, value: Value<'a>, outer: Value<'a>) -> Value<'a> {
    let found = if !field.member.is_empty() {
        value.get(&field.member)
    } else if structs().contains_key(field.code) {
        // Its members are those of this struct.
        Some(value)
    } else {
        outer.get(&small(field.name))
    };
    found.unwrap_or(Value::Null)
}

fn member(name: &str, out: &mut Vec<u8>) {
    Value::String(name).write_go_json(out);
    out.push(b':');
}

fn separated<T>(
    items: impl Iterator<Item = T>,
    [open, close]: [u8; 2],
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(close);
}

/// Indents JSON like Go's `json.MarshalIndent`: one member or item per line, and one blank per level.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut is_escaped, mut is_open) = (0, false, false, false);
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth));
    };
    for letter in json.chars() {
        if in_text {
            in_text = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            out.push(letter);
            continue;
        }
        let closes = matches!(letter, '}' | ']');
        if is_open && !closes {
            depth += 1;
            line(depth, &mut out);
        }
        match letter {
            _ if closes && !is_open => {
                depth = depth.saturating_sub(1);
                line(depth, &mut out);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(depth, &mut out);
            }
            ':' => out.push_str(": "),
            letter => out.push(letter),
        }
        is_open = matches!(letter, '{' | '[');
        in_text = letter == '"';
    }
    out
}

/// Returns the difference of two structs, or of two lists of structs, line by line: `diff.Diff` of
/// `k8s.io/apimachinery`. Empty if they are too large to compare.
pub(super) fn difference(code: &str, old: Value<'_>, new: Value<'_>) -> String {
    let text = |value| {
        let json = json(code, value);
        if json.len() > MOST { None } else { Some(indented(&json)) }
    };
    text(old).zip(text(new)).and_then(|(old, new)| diff::unified(&old, &new)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_value::ToValue;
    use serde_json::json;

    fn printed(code: &str, value: &serde_json::Value) -> String {
        let arena = Bump::new();
        json(code, value.to_value(&arena))
    }

    #[test]
    fn structs_have_the_names_of_go_and_all_members() {
        assert_eq!(
            printed("core.v1.ServicePort", &json!({"port": 80, "protocol": "TCP"})),
            r#"{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#
        );
        assert_eq!(printed("*core.v1.Taint", &json!(null)), "null");
        assert_eq!(
            printed("{}resource.v1.DeviceCapacity", &json!({"<b": {"value": "1Gi"}})),
            r#"{"\u003cb":{"Value":"1Gi","RequestPolicy":null}}"#
        );
    }

    #[test]
    fn the_internal_security_context_has_members_of_the_spec() {
        let shown = printed("core.v1.PodSpec", &json!({"hostNetwork": true, "hostPID": true, "securityContext": {}}));
        let start =
            r#""SecurityContext":{"HostNetwork":true,"HostPID":true,"HostIPC":false,"ShareProcessNamespace":null"#;
        assert!(shown.contains(start), "{shown}");
    }

    #[test]
    fn errors_show_structs_if_their_path_leads_to_one() {
        let shown = |path: &str, json: &str| {
            let error = Error::invalid(&kubeshape_schema::field::Path::Root, BadValue::Json(json.to_owned()), "", 0);
            let mut errors = [Error { path: path.to_owned(), ..error }];
            show("apps/v1", "Deployment", &mut errors);
            let [error] = errors;
            if let BadValue::Json(text) = error.value { text } else { String::new() }
        };
        assert_eq!(shown("spec.strategy", r#"{"type":"A"}"#), r#"{"Type":"A","RollingUpdate":null}"#);
        let path = "spec.template.spec.containers[0].securityContext.seccompProfile";
        assert_eq!(shown(path, r#"{"type":"A"}"#), r#"{"Type":"A","LocalhostProfile":null}"#);
        for (path, same) in [
            ("spec.selector", r#"{"matchLabels":{"a":"b"}}"#),
            ("spec.template.labels", r#"{"a":"b"}"#),
            ("metadata.labels[a.b/c]", "[1]"),
            ("spec.revisionHistoryLimit", "null"),
            ("spec[", "{}"),
        ] {
            assert_eq!(shown(path, same), same, "{path}");
        }
    }

    #[test]
    fn json_is_indented_as_in_go() {
        let lines = indented(r#"{"a":{},"b":[],"c":[1,{"d,":"{\"x\\"}]}"#);
        assert_eq!(lines, "{\n \"a\": {},\n \"b\": [],\n \"c\": [\n  1,\n  {\n   \"d,\": \"{\\\"x\\\\\"\n  }\n ]\n}");
    }

    #[test]
    fn a_difference_has_three_lines_of_context() {
        let arena = Bump::new();
        let (old, new) = (json!({"path": "/a"}), json!({"path": "/b", "type": ""}));
        assert_eq!(
            difference("core.v1.HostPathVolumeSource", old.to_value(&arena), new.to_value(&arena)),
            "@@ -1,4 +1,4 @@\n {\n- \"Path\": \"/a\",\n- \"Type\": null\n+ \"Path\": \"/b\",\n+ \"Type\": \"\"\n }\n"
        );
    }
}
