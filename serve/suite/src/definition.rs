//! The tested definition.

use json_patch::PatchOperation;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_registry::{Kind, Location, Object, Registry, Requests, Settings};
use kubeshape_validate::Release;
use serde_json::Value;

/// The maximum number of copy operations in a patch: each of them can double the definition.
const MOST_COPIES: usize = 4;

/// A definition of which only one version is served and stored.
pub(crate) struct Definition<'l> {
    location: &'l Location,
    value: Value,
    release: Release,
    pub(crate) version: String,
}

impl<'l> Definition<'l> {
    /// Reads a definition. Without a version, it must have only one.
    pub(crate) fn read(
        location: &'l Location,
        version: Option<&str>,
        release: Release,
    ) -> Result<Definition<'l>, Box<Finding>> {
        let wrong = |detail: String| Box::new(location.finding(Code::Suite, detail));
        let value = Object::at(location.clone())?.into_value();
        let names: Vec<&str> = versions(&value).iter().filter_map(|version| version["name"].as_str()).collect();
        let version = match (version, &names[..]) {
            (Some(version), _) if names.contains(&version) => version.to_owned(),
            (Some(version), _) => {
                return Err(wrong(format!("the suite tests version {version:?}, found versions {}", names.join(", "))));
            }
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(wrong(format!("the suite names no version, so one is expected; found {found}")));
            }
        };
        Ok(Definition { location, value, release, version })
    }

    /// Returns the definition with only the tested version.
    pub(crate) fn tested(&self) -> Value {
        let mut value = self.value.clone();
        if let Some(Value::Array(versions)) = value.pointer_mut("/spec/versions") {
            versions.retain(|version| version["name"].as_str() == Some(&self.version));
            for version in versions {
                version["served"] = true.into();
                version["storage"] = true.into();
            }
        }
        value
    }

    /// Returns the patched definition, with all its versions.
    ///
    /// # Errors
    /// Returns why it cannot be patched.
    pub(crate) fn patched(&self, patches: &[PatchOperation]) -> Result<Value, String> {
        let copies = patches.iter().filter(|operation| matches!(operation, PatchOperation::Copy(_))).count();
        if copies > MOST_COPIES {
            return Err(format!("the patch has {copies} copies, at most {MOST_COPIES} are made"));
        }
        let mut value = self.value.clone();
        json_patch::patch(&mut value, patches).map_err(|error| format!("the patch does not apply: {error}"))?;
        Ok(value)
    }

    /// Returns the validator of objects of the tested version under a definition.
    ///
    /// # Errors
    /// Returns why it cannot be used.
    pub(crate) fn requests(&self, definition: &Value) -> Result<Requests, String> {
        let mut registry = Registry::new(Settings::of(self.release));
        let text = definition.to_string();
        let input = kubeshape_input::read(self.location.input().as_ref(), text.as_bytes(), Limits::default());
        registry.set_input("definition", input);
        // Locations in the generated source mean nothing to the reader.
        if let Some(error) = registry.findings("definition").find(|finding| finding.is_error()) {
            return Err(error.message());
        }
        let is_tested = |kind: &&Kind| kind.version_name() == self.version && kind.definition().is_custom_resource();
        let kind = registry.kinds().find(is_tested);
        let kind = kind.ok_or_else(|| format!("version {} of the definition is not served", self.version))?;
        kind.requests().ok_or_else(|| "the definition cannot be used: `kubeshape check` says why".to_owned())
    }

    /// Returns whether it is namespaced.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.value.pointer("/spec/scope").and_then(Value::as_str) == Some("Namespaced")
    }

    /// Returns a finding about it.
    pub(crate) fn finding(&self, detail: String) -> Box<Finding> {
        Box::new(self.location.finding(Code::Suite, detail))
    }
}

fn versions(definition: &Value) -> &[Value] {
    definition.pointer("/spec/versions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
