//! The definition that a suite is about, as the cases need it.

use json_patch::PatchOperation;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_registry::{Kind, Location, Object, Registry, Settings};
use kubeshape_validate::Release;
use serde_json::Value;

/// Operations of a patch that copy: each of them can double the definition.
const MOST_COPIES: usize = 4;

/// A definition of which one version is served and stored.
pub(crate) struct Definition<'l> {
    location: &'l Location,
    value: Value,
    release: Release,
    pub(crate) version: String,
}

impl<'l> Definition<'l> {
    /// Reads a definition. Without a version, it must have one version only.
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

    /// The API with the version that is tested and no other one.
    pub(crate) fn api(&self) -> Result<Registry, Box<Finding>> {
        let mut value = self.value.clone();
        if let Some(Value::Array(versions)) = value.pointer_mut("/spec/versions") {
            versions.retain(|version| version["name"].as_str() == Some(&self.version));
            for version in versions {
                version["served"] = true.into();
                version["storage"] = true.into();
            }
        }
        self.registry(&value)
    }

    /// The API of the patched definition, with all its versions.
    pub(crate) fn patched(&self, patches: &[PatchOperation]) -> Result<Registry, Box<Finding>> {
        let wrong = |detail: String| Box::new(self.location.finding(Code::Suite, detail));
        let copies = patches.iter().filter(|operation| matches!(operation, PatchOperation::Copy(_))).count();
        if copies > MOST_COPIES {
            return Err(wrong(format!("the patch has {copies} copies, at most {MOST_COPIES} are made")));
        }
        let mut value = self.value.clone();
        json_patch::patch(&mut value, patches).map_err(|error| wrong(format!("the patch does not apply: {error}")))?;
        self.registry(&value)
    }

    fn registry(&self, value: &Value) -> Result<Registry, Box<Finding>> {
        let mut registry = Registry::new(Settings { release: self.release, ..Settings::default() });
        let text = value.to_string();
        let input = kubeshape_input::read(self.location.input().as_ref(), text.as_bytes(), Limits::default());
        registry.set_input("definition", input);
        // Places in the text that was just made mean nothing to the reader.
        let message = |finding: &Finding| Box::new(self.location.finding(Code::Suite, finding.message()));
        let error = registry.findings("definition").find(|finding| finding.is_error()).map(message);
        error.map_or(Ok(registry), Err)
    }

    /// The kind in an API.
    pub(crate) fn kind<'r>(&self, registry: &'r Registry) -> Result<&'r Kind, Box<Finding>> {
        let is_tested = |kind: &&Kind| kind.version_name() == self.version && kind.definition().is_custom_resource();
        registry.kinds().find(is_tested).ok_or_else(|| {
            let detail = format!("version {} of the definition is not served", self.version);
            Box::new(self.location.finding(Code::Suite, detail))
        })
    }
}

fn versions(definition: &Value) -> &[Value] {
    definition.pointer("/spec/versions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
