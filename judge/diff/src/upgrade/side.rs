//! A definition as a manifest of `apiextensions.k8s.io/v1` that a client would apply.

use kubeshape_schema::Bump;
use kubeshape_structural::ApiVersion;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::Release;
use kubeshape_validate::crd::{Defaults, Definition, validate_update};
use kubeshape_value::Value as Borrowed;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Map, Value, json};

/// Members of the metadata that clients write.
const WRITTEN: [&str; 5] = ["name", "labels", "annotations", "finalizers", "ownerReferences"];
/// Annotations that clients add for their own use.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Most errors to report.
const ERRORS: usize = 10;
/// Most bytes of an error.
const LONGEST: usize = 500;

/// A definition.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The manifest, without the status and without fields that a server sets.
    pub(super) manifest: Value,
    /// `status.storedVersions`
    pub(super) stored: Vec<String>,
    /// Whether it was written as v1beta1.
    pub(super) is_beta: bool,
}

impl Side {
    /// Reads a definition that its reader accepts.
    pub(super) fn of(manifest: Manifest<'_>) -> Side {
        let arena = Bump::new();
        let mut written = Borrowed::from_node(manifest.node, &arena).to_serde();
        let is_beta = match manifest.implied {
            Some(version) => version == ApiVersion::V1beta1,
            None => written["apiVersion"] == "apiextensions.k8s.io/v1beta1",
        };
        let stored = texts(&written["status"]["storedVersions"]);
        let mut metadata = Map::new();
        for name in WRITTEN {
            match written["metadata"].get_mut(name).map(Value::take) {
                None | Some(Value::Null) => {}
                Some(value) => _ = metadata.insert(name.to_owned(), value),
            }
        }
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove(LAST_APPLIED);
        }
        let mut spec = written["spec"].take();
        if is_beta && let Value::Object(spec) = &mut spec {
            as_v1(spec);
        }
        let manifest = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": spec,
        });
        Side { manifest, stored, is_beta }
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = Version<'_>> {
        let all = self.manifest["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|entry| Version { entry })
    }

    pub(super) fn version(&self, name: &str) -> Option<Version<'_>> {
        self.versions().find(|version| version.name() == name)
    }

    /// Returns the name of the storage version.
    pub(super) fn storage(&self) -> &str {
        self.versions().find(|version| version.is_storage()).map_or("", |version| version.name())
    }

    pub(super) fn name(&self) -> &str {
        self.manifest["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns `group` or `scope` of `spec`, or a string of `spec.names`.
    pub(super) fn text(&self, member: &str) -> &str {
        let spec = &self.manifest["spec"];
        let of = if matches!(member, "group" | "scope") { spec } else { &spec["names"] };
        of[member].as_str().unwrap_or_default()
    }

    pub(super) fn converts_by_webhook(&self) -> bool {
        self.manifest["spec"]["conversion"]["strategy"] == "Webhook"
    }
}

/// Returns a manifest as stored by a server: established, with these stored versions.
pub(super) fn on_server(manifest: &Value, stored: &[String]) -> Value {
    let mut out = with_identity(manifest);
    out["status"] = json!({
        "acceptedNames": out["spec"]["names"],
        "conditions": [{"type": "Established", "status": "True"}],
        "storedVersions": stored,
    });
    out
}

/// Adds the fields that a server sets in every object.
fn with_identity(manifest: &Value) -> Value {
    let mut out = manifest.clone();
    out["metadata"]["resourceVersion"] = "1".into();
    out["metadata"]["uid"] = "1".into();
    out
}

/// A version of a definition.
#[derive(Clone, Copy)]
pub(super) struct Version<'v> {
    pub(super) entry: &'v Value,
}

impl<'v> Version<'v> {
    pub(super) fn name(self) -> &'v str {
        self.entry["name"].as_str().unwrap_or_default()
    }

    pub(super) fn is_served(self) -> bool {
        self.entry["served"] == true
    }

    pub(super) fn is_storage(self) -> bool {
        self.entry["storage"] == true
    }
}

/// Converts the `spec` of v1beta1 as a server does: settings for all versions are copied to each of them.
fn as_v1(spec: &mut Map<String, Value>) {
    let version = spec.remove("version").unwrap_or_default();
    let mut versions = match spec.remove("versions") {
        Some(Value::Array(versions)) if !versions.is_empty() => versions,
        _ => vec![json!({"name": version, "served": true, "storage": true})],
    };
    for (of_all, own) in [
        ("validation", "schema"),
        ("subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns"),
    ] {
        let Some(shared) = spec.remove(of_all).filter(|shared| !shared.is_null()) else { continue };
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            version.entry(own).or_insert_with(|| shared.clone());
        }
    }
    for version in &mut versions {
        let columns = version.get_mut("additionalPrinterColumns").and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(path) = column.remove("JSONPath") {
                column.insert("jsonPath".to_owned(), path);
            }
        }
    }
    spec.insert("versions".to_owned(), Value::Array(versions));
    // Unlike in v1, unknown fields are kept by default.
    spec.entry("preserveUnknownFields").or_insert(Value::Bool(true));
    if let Some(Value::Object(conversion)) = spec.get_mut("conversion") {
        let client = conversion.remove("webhookClientConfig");
        let reviewed = conversion.remove("conversionReviewVersions");
        if let Some(client) = client {
            let reviewed = reviewed.unwrap_or_else(|| json!(["v1beta1"]));
            conversion
                .insert("webhook".to_owned(), json!({"clientConfig": client, "conversionReviewVersions": reviewed}));
        }
    }
}

/// Returns the server's errors for replacing a stored definition.
pub(super) fn refusals(new: &Value, old: &Value, release: Release) -> Vec<String> {
    let texts = [&with_identity(new), old].map(Value::to_string);
    let (mut tapes, arena) = ([Tape::new(), Tape::new()], Bump::new());
    for (text, tape) in texts.iter().zip(&mut tapes) {
        let read = Stream::new(text.as_bytes(), Limits::default()).and_then(|mut stream| stream.next(tape).transpose());
        if let Err(error) = read {
            return vec![error.to_string()];
        }
    }
    let [new, old] = [0, 1].map(|at| {
        let node = tapes[at].document(&texts[at]).root()?;
        Definition::read(Manifest { node, implied: None }, Defaults::Set, &arena).value
    });
    let (Some(new), Some(old)) = (new, old) else { return vec!["the definition cannot be decoded".to_owned()] };
    let new = new.prepare_for_update(&old, release, &arena);
    let errors = validate_update(&new, &old, release);
    let more = errors.len().saturating_sub(ERRORS);
    let mut out: Vec<String> = errors.iter().take(ERRORS).map(|error| shortened(error.to_string())).collect();
    if more > 0 {
        out.push(format!("and {more} more errors"));
    }
    out
}

/// Shortens a long string in the middle.
pub(super) fn shortened(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let half = LONGEST / 2;
    let end = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let begin = (text.len() - half..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{}…{}", &text[..end], &text[begin..])
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
