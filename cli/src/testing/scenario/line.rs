//! Values on one line of YAML.

use kubeshape_schema::escape::{self, Escape};
use kubeshape_smd::Value;

/// Appends a value on one line of YAML: JSON whose plain words have no quotes.
pub(super) fn line(value: Value<'_>, out: &mut String) {
    match value {
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                text(key, out);
                out.push_str(": ");
                line(*value, out);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                line(*item, out);
            }
            out.push(']');
        }
        Value::String(string) => text(string, out),
        other => {
            let mut bytes = Vec::new();
            // Only a number may fail, and then nothing is written; null cannot be meant.
            let _ = other.write_json(&mut bytes);
            out.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// A text without quotes if it is one letter by letter in any YAML, else as JSON.
fn text(text: &str, out: &mut String) {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./ ".contains(&byte))
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'.');
    let mut bytes = Vec::new();
    if plain {
        kubeshape_yaml::emit::line(text, &mut bytes);
    } else {
        escape::string(&mut bytes, text, Escape::Plain);
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
}

#[cfg(test)]
mod tests {
    use super::line;
    use kubeshape_smd::{Bump, ToValue};

    #[test]
    fn a_line_of_yaml_has_quotes_where_they_are_needed() {
        let arena = Bump::new();
        let json =
            serde_json::json!({"f:spec": {}, "a": ["yes", "x-y/z", "", 1, null, "a: b", "é", ".a.b", ".5", "a b"]});
        let mut out = String::new();
        line(json.to_value(&arena), &mut out);
        assert_eq!(out, r#"{a: ["yes", x-y/z, "", 1, null, "a: b", "é", .a.b, ".5", a b], "f:spec": {}}"#);
    }
}
