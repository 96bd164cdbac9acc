//! Names of objects.

use kubeshape_registry::{Gvk, Object};
use kubeshape_smd::Value;
use std::fmt;

/// Which object is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// Empty for an object of the cluster, or if it is not known.
    pub namespace: String,
    /// `web`
    pub name: String,
}

impl Name {
    /// Returns the name of an object.
    pub fn of(object: &Object) -> Name {
        Name {
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        }
    }

    pub(crate) fn of_value(object: Value<'_>) -> Name {
        let gvk = object.gvk();
        let metadata = |key| {
            let text = object.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Name {
            api_version: gvk.api_version().to_owned(),
            kind: gvk.kind().to_owned(),
            namespace: metadata("namespace"),
            name: metadata("name"),
        }
    }

    /// Returns group, version and kind.
    pub fn gvk(&self) -> Gvk<'_> {
        Gvk::new(&self.api_version, &self.kind)
    }
}

/// `Deployment shop/web`
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        match (self.namespace.as_str(), self.name.as_str()) {
            (_, "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}
