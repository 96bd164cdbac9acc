//! Finds where two answers differ.
#![allow(clippy::format_push_string)]

/// Returns where two JSON values first differ, as a pointer and the two values, or `None` if they are equal. Numbers
/// are compared by value: `1` and `1.0` are equal.
pub fn first_difference(ours: &serde_json::Value, theirs: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    fn go(ours: &Value, theirs: &Value, at: &mut String) -> Option<String> {
        let mark = at.len();
        match (ours, theirs) {
            (Value::Object(a), Value::Object(b)) => {
                for (key, value) in a {
                    at.push('/');
                    at.push_str(key);
                    match b.get(key) {
                        None => return Some(format!("{at}: only ours: {}", short(value))),
                        Some(other) => {
                            if let Some(found) = go(value, other, at) {
                                return Some(found);
                            }
                        }
                    }
                    at.truncate(mark);
                }
                let extra = b.iter().find(|(key, _)| !a.contains_key(*key))?;
                Some(format!("{at}/{}: only theirs: {}", extra.0, short(extra.1)))
            }
            (Value::Array(a), Value::Array(b)) => {
                for (i, (x, y)) in a.iter().zip(b).enumerate() {
                    at.push_str(&format!("/{i}"));
                    if let Some(found) = go(x, y, at) {
                        return Some(found);
                    }
                    at.truncate(mark);
                }
                (a.len() != b.len()).then(|| format!("{at}: {} items, theirs {}", a.len(), b.len()))
            }
            (Value::Number(a), Value::Number(b)) if (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64() => None,
            (a, b) => (a != b).then(|| format!("{at}: {}, theirs {}", short(a), short(b))),
        }
    }
    go(ours, theirs, &mut String::new())
}

fn short(value: &serde_json::Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(120).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
