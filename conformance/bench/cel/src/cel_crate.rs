//! Measures the crate `cel` for an expression.

use super::{COMPILED, EVALUATED, Times, best, fields};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

/// Returns `None` if the crate does not give the recorded value.
pub(super) fn times(record: &Json) -> Option<Times> {
    let source = record["expr"].as_str()?.to_owned();
    let mut context = cel::Context::default();
    for (name, value) in fields(record, "bindings") {
        context.add_variable_from_value(name.clone(), to_crate(value)?);
    }
    // Some expressions make its parser or its functions panic.
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let program = cel::Program::compile(&source).ok()?;
        let value = program.execute(&context).ok()?;
        (from_crate(&value)? == record["value"]).then_some(program)
    }));
    let program = judged.ok().flatten()?;
    Some(Times {
        compile: best(COMPILED, || drop(black_box(cel::Program::compile(&source)))),
        evaluate: best(EVALUATED, || drop(black_box(program.execute(&context)))),
    })
}

/// Returns a recorded value, or `None` if the crate cannot represent it.
fn to_crate(value: &Json) -> Option<cel::Value> {
    Some(match value {
        Json::Null => cel::Value::Null,
        Json::Bool(value) => cel::Value::Bool(*value),
        Json::Number(number) => cel::Value::Int(number.as_i64()?),
        Json::String(text) => cel::Value::String(Arc::new(text.clone())),
        Json::Array(items) => cel::Value::List(Arc::new(items.iter().map(to_crate).collect::<Option<_>>()?)),
        Json::Object(fields) => {
            let (kind, inner) = fields.iter().next()?;
            match kind.as_str() {
                "uint" => cel::Value::UInt(inner.as_u64()?),
                "double" => cel::Value::Float(inner.as_f64()?),
                "map" => {
                    let mut map = HashMap::new();
                    for pair in inner.as_array()? {
                        let key = match to_crate(pair.get(0)?)? {
                            cel::Value::String(key) => cel::objects::Key::String(key),
                            cel::Value::Int(key) => cel::objects::Key::Int(key),
                            cel::Value::UInt(key) => cel::objects::Key::Uint(key),
                            cel::Value::Bool(key) => cel::objects::Key::Bool(key),
                            _ => return None,
                        };
                        map.insert(key, to_crate(pair.get(1)?)?);
                    }
                    cel::Value::Map(cel::objects::Map { map: Arc::new(map) })
                }
                _ => return None,
            }
        }
    })
}

/// Returns a value of the crate in the form of the records. Maps are left out, because their order is undefined.
fn from_crate(value: &cel::Value) -> Option<Json> {
    Some(match value {
        cel::Value::Null => Json::Null,
        cel::Value::Bool(value) => (*value).into(),
        cel::Value::Int(value) => (*value).into(),
        cel::Value::UInt(value) => serde_json::json!({ "uint": value }),
        cel::Value::Float(value) => serde_json::json!({ "double": value }),
        cel::Value::String(text) => text.as_str().into(),
        cel::Value::List(items) => items.iter().map(from_crate).collect::<Option<_>>()?,
        _ => return None,
    })
}
