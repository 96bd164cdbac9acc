//! The replicas of an object: `Scale`.

use crate::value::{self, at_path};
use kubeshape_gotypes::{Type, write};
use kubeshape_registry::kind::Scale as Paths;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::{Escape, string};

/// The fields of metadata that a scale shares with its object.
const SHARED: [&str; 5] = ["creationTimestamp", "name", "namespace", "resourceVersion", "uid"];

/// The group version of scales.
pub(crate) const AUTOSCALING: &str = "autoscaling/v1";

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
    /// Returns the scale of an object.
    pub(crate) fn of(object: Value<'a>, paths: &Paths, arena: &'a Bump) -> Scale<'a> {
        let number = |path: &str| match at_path(object, path) {
            Some(Value::Int(n)) => n,
            _ => 0,
        };
        let metadata = value::metadata(object);
        let members = SHARED.iter().filter_map(|key| Some((*key, metadata.get(key)?))).collect();
        let selector = paths.label_selector_path.as_deref().and_then(|path| at_path(object, path));
        Scale {
            metadata: Value::Map(Map::from_entries(members, arena)),
            replicas: number(&paths.spec_replicas_path),
            ready: number(&paths.status_replicas_path),
            selector: selector.and_then(Value::as_str).unwrap_or_default(),
        }
    }

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
