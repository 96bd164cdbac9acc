//! Prints objects as YAML and JSON.

use kubeshape_smd::Value;
use kubeshape_smd::value::NotFinite;
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::json;

/// Returns a value as a YAML document.
///
/// # Example
/// ```
/// use kubeshape_registry::print;
/// use kubeshape_smd::Value;
/// assert_eq!(print::yaml(Value::List(&[Value::Int(1), Value::String("yes")])), "- 1\n- \"yes\"\n");
/// ```
pub fn yaml(value: Value<'_>) -> String {
    let mut out = Vec::new();
    write_yaml(value, &mut Emitter::new(&mut out));
    // The strings of a value are UTF-8, and so are all separators.
    String::from_utf8(out).unwrap_or_default()
}

/// Appends a value as YAML. Output that an emitter [within a bound](Emitter::within) appends after it is full is
/// invalid.
pub fn write_yaml(value: Value<'_>, emitter: &mut Emitter<'_>) {
    write_yaml_until(value, emitter, &|| false);
}

/// Like [`write_yaml`], until `is_over` returns `true` because the result is not needed. The result is then incomplete.
pub fn write_yaml_until(value: Value<'_>, emitter: &mut Emitter<'_>, is_over: &dyn Fn() -> bool) {
    if emitter.is_full() || is_over() {
        return;
    }
    match value {
        Value::Null => emitter.null(),
        Value::Bool(yes) => emitter.bool(yes),
        Value::Int(n) => emitter.int(n),
        Value::Float(n) => emitter.float(n),
        Value::String(text) => emitter.str(text),
        Value::List(items) => {
            emitter.begin_seq();
            for item in items {
                emitter.item();
                write_yaml_until(*item, emitter, is_over);
            }
            emitter.end_seq();
        }
        Value::Map(map) => {
            emitter.begin_map();
            for (key, value) in map.entries() {
                emitter.key(key);
                write_yaml_until(*value, emitter, is_over);
            }
            emitter.end_map();
        }
    }
}

/// Appends a value as indented JSON and a line break.
///
/// # Errors
/// A number is not finite; nothing is appended.
pub fn write_json(value: Value<'_>, out: &mut Vec<u8>) -> Result<(), NotFinite> {
    let mut compact = Vec::new();
    value.write_json(&mut compact)?;
    json::indent(&compact, out);
    out.push(b'\n');
    Ok(())
}
