//! The replicas of an object: `Scale`.

use kubeshape_gotypes::{Type, write};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::{Escape, string};

/// The `Scale` of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale<'a> {
    /// The metadata of the scale.
    pub(crate) metadata: Value<'a>,
    pub(crate) replicas: i64,
    pub(crate) ready: i64,
    pub(crate) selector: &'a str,
}

impl<'a> Scale<'a> {
    /// Prints it as compact JSON, as Go's struct does.
    pub(crate) fn json(&self, api_version: &str) -> Vec<u8> {
        let mut out = format!(r#"{{"kind":"Scale","apiVersion":"{api_version}","metadata":"#).into_bytes();
        write(&Type::Metadata, self.metadata, &mut out);
        out.extend_from_slice(b",\"spec\":{");
        if self.replicas != 0 {
            out.extend_from_slice(format!("\"replicas\":{}", self.replicas).as_bytes());
        }
        out.extend_from_slice(format!("}},\"status\":{{\"replicas\":{}", self.ready).as_bytes());
        if !self.selector.is_empty() {
            out.extend_from_slice(b",\"selector\":");
            string(&mut out, self.selector, Escape::Html);
        }
        out.extend_from_slice(b"}}");
        out
    }

    /// Returns it as a value.
    pub(crate) fn to_value(self, arena: &'a Bump) -> Value<'a> {
        let mut spec = Map::EMPTY;
        if self.replicas != 0 {
            spec = spec.with("replicas", Some(Value::Int(self.replicas)), arena);
        }
        let mut status = Map::EMPTY.with("replicas", Some(Value::Int(self.ready)), arena);
        if !self.selector.is_empty() {
            status = status.with("selector", Some(Value::String(self.selector)), arena);
        }
        let members = vec![
            ("apiVersion", Value::String("autoscaling/v1")),
            ("kind", Value::String("Scale")),
            ("metadata", self.metadata),
            ("spec", Value::Map(spec)),
            ("status", Value::Map(status)),
        ];
        Value::Map(Map::from_entries(members, arena))
    }
}
