//! Releases of Helm, as Helm stores them.

use crate::value::with_metadata;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_registry::Object;
use kubeshape_smd::{Bump, ToValue, Value};
use serde::Deserialize;
use serde_json::Value as Json;
use std::io::Read;

/// The type of the Secrets in which Helm stores releases.
pub const SECRET_TYPE: &str = "helm.sh/release.v1";
/// The owner label's value of ConfigMaps and Secrets with releases.
const OWNER: &str = "helm";
/// The largest release that is read, in bytes. A Secret has at most 1 MiB, but zeros compress a thousand times.
pub const MAX_RELEASE: u64 = 64 << 20;
/// The size of all releases that are read together, in bytes.
pub const MAX_RELEASES: u64 = 4 * MAX_RELEASE;
/// How the names of Secrets and ConfigMaps with releases begin.
const NAME: &str = "sh.helm.release.v1.";

/// A revision of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmRelease {
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The number of the revision.
    pub revision: u64,
    /// `deployed`, `superseded`, `failed` …
    pub status: String,
    /// Whether its objects were applied on the server. Helm 3 has no such revisions.
    pub server_side: bool,
    /// The rendered objects, as YAML.
    pub manifest: String,
}

/// Why a release cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The object has no `data.release`.
    #[error("found no data.release; Helm stores a release there")]
    Missing,
    /// It is not base64.
    #[error("data.release is not base64 of base64, as Helm writes it")]
    Base64,
    /// It is damaged.
    #[error("data.release cannot be decompressed: {0}")]
    Gzip(String),
    /// It is too large.
    #[error(
        "the release is larger than {MAX_RELEASE} bytes after decompression, or all are larger than {MAX_RELEASES}"
    )]
    TooLarge,
    /// It is not the JSON of a release.
    #[error("the release is not the JSON of a release: {0}")]
    Json(String),
}

impl HelmRelease {
    /// Returns whether an object stores a release of Helm: a Secret of the type `helm.sh/release.v1`, or a ConfigMap
    /// with the label `owner: helm`.
    pub fn is_stored_in(object: &Object) -> bool {
        let text = |pointer: &str| object.value().pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        match object.kind() {
            "Secret" => text("/type") == SECRET_TYPE,
            "ConfigMap" => text("/metadata/labels/owner") == OWNER && object.value().pointer("/data/release").is_some(),
            _ => false,
        }
    }

    /// Returns the name of the release that an object stores, from the name of the object (upstream: `makeKey` of
    /// Helm's `pkg/storage`). `None` if Helm did not choose the name of the object.
    pub fn name_of(object: &Object) -> Option<&str> {
        Some(object.name().strip_prefix(NAME)?.rsplit_once(".v")?.0)
    }

    /// Reads the release that an object stores: JSON, compressed with gzip, as base64. A Secret has it as base64 once
    /// more (upstream: `decodeRelease` of Helm's `pkg/storage/driver`). `left` is the number of bytes that may still be
    /// read, [`MAX_RELEASES`] at first.
    ///
    /// # Errors
    /// See [`ReleaseError`].
    pub fn read(object: &Object, left: &mut u64) -> Result<HelmRelease, ReleaseError> {
        let data = object.value().pointer("/data/release").and_then(Json::as_str).ok_or(ReleaseError::Missing)?;
        let decode = |text: &[u8]| STANDARD.decode(text).map_err(|_| ReleaseError::Base64);
        let mut bytes = decode(data.trim().as_bytes())?;
        if object.kind() == "Secret" {
            bytes = decode(&bytes)?;
        }
        // Releases of the first versions are not compressed.
        if bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
            bytes = decompress(&bytes, (*left).min(MAX_RELEASE))?;
        }
        *left = left.checked_sub(bytes.len() as u64).ok_or(ReleaseError::TooLarge)?;
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| ReleaseError::Json(error.to_string()))?;
        Ok(HelmRelease {
            name: stored.name.ok_or_else(|| ReleaseError::Json("it has no name".to_owned()))?,
            namespace: stored.namespace.unwrap_or_default(),
            revision: stored.version.unwrap_or_default(),
            status: stored.info.and_then(|info| info.status).unwrap_or_default(),
            server_side: stored.apply_method.as_deref() == Some("ssa"),
            manifest: stored.manifest.unwrap_or_default(),
        })
    }

    /// Returns the revision from which an upgrade starts: the last one that was deployed, or else the last one
    /// (upstream: `Upgrade.prepareUpgrade`).
    pub fn current(revisions: impl IntoIterator<Item = HelmRelease>) -> Option<HelmRelease> {
        revisions.into_iter().max_by_key(|release| (release.status == "deployed", release.revision))
    }
}

/// The members of a stored release that are read. The chart and its values, which are larger, are skipped.
#[derive(Deserialize)]
struct Stored {
    name: Option<String>,
    namespace: Option<String>,
    version: Option<u64>,
    info: Option<Info>,
    apply_method: Option<String>,
    manifest: Option<String>,
}

#[derive(Deserialize)]
struct Info {
    status: Option<String>,
}

/// The annotation with the name of a release.
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// The annotation with its namespace.
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Returns a rendered object as Helm applies it for a release in a namespace: with its label and its annotations.
///
/// # Example
/// ```
/// use kubeshape_ownership::helm::as_applied;
/// use kubeshape_registry::Object;
/// use serde_json::json;
///
/// let config = Object::from(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}));
/// let applied = as_applied(&config, "web", "shop");
/// assert_eq!(applied.value()["metadata"]["annotations"]["meta.helm.sh/release-name"], "web");
/// assert_eq!(applied.value()["metadata"]["labels"]["app.kubernetes.io/managed-by"], "Helm");
/// ```
pub fn as_applied(config: &Object, release: &str, namespace: &str) -> Object {
    let arena = Bump::new();
    Object::of(of_release(config.to_value(&arena), Some((release, namespace)), None, &arena))
}

/// Returns a rendered object as Helm applies it: with the label and the annotations of its release (upstream:
/// `setMetadataVisitor`). `release` is the name and the namespace of the release. Without it, a configuration that
/// names its release stays as it is, and others get the release of the live object, if it has one.
pub(crate) fn of_release<'a>(
    config: Value<'a>,
    release: Option<(&'a str, &'a str)>,
    live: Option<Value<'a>>,
    arena: &'a Bump,
) -> Value<'a> {
    let names_one =
        || config.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(RELEASE_NAME)).is_some();
    if release.is_none() && names_one() {
        return config;
    }
    let known = || {
        let annotations = live?.get("metadata")?.get("annotations")?;
        Some((annotations.get(RELEASE_NAME)?.as_str()?, annotations.get(RELEASE_NAMESPACE)?.as_str()?))
    };
    let Some((name, namespace)) = release.or_else(known) else { return config };
    let of = |key: &str| {
        let map = config.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Value::as_map);
        map.unwrap_or_default()
    };
    let labels = of("labels").with("app.kubernetes.io/managed-by", Some(Value::String("Helm")), arena);
    let annotations = of("annotations").with(RELEASE_NAME, Some(Value::String(name)), arena);
    let annotations = annotations.with(RELEASE_NAMESPACE, Some(Value::String(namespace)), arena);
    let config = with_metadata(config, "labels", Some(Value::Map(labels)), arena);
    with_metadata(config, "annotations", Some(Value::Map(annotations)), arena)
}

fn decompress(bytes: &[u8], most: u64) -> Result<Vec<u8>, ReleaseError> {
    let mut out = Vec::new();
    let mut reader = flate2::read::GzDecoder::new(bytes).take(most + 1);
    reader.read_to_end(&mut out).map_err(|error| ReleaseError::Gzip(error.to_string()))?;
    if out.len() as u64 > most {
        return Err(ReleaseError::TooLarge);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write;

    fn packed(bytes: &[u8]) -> String {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let written = writer.write_all(bytes).and_then(|()| writer.finish());
        STANDARD.encode(STANDARD.encode(written.unwrap_or_default()))
    }

    fn read(object: &Object) -> Result<HelmRelease, ReleaseError> {
        HelmRelease::read(object, &mut { MAX_RELEASES })
    }

    fn secret(release: &str) -> Object {
        Object::from(json!({"kind": "Secret", "type": SECRET_TYPE, "data": {"release": release}}))
    }

    #[test]
    fn a_release_is_read_as_helm_writes_it() {
        let release = json!({"name": "shop", "namespace": "prod", "version": 3, "manifest": "kind: A\n",
            "info": {"status": "deployed"}, "apply_method": "ssa"});
        let secret = secret(&packed(release.to_string().as_bytes()));
        assert!(HelmRelease::is_stored_in(&secret));
        let read = read(&secret);
        assert_eq!(
            read,
            Ok(HelmRelease {
                name: "shop".to_owned(),
                namespace: "prod".to_owned(),
                revision: 3,
                status: "deployed".to_owned(),
                server_side: true,
                manifest: "kind: A\n".to_owned(),
            })
        );
    }

    #[test]
    fn damaged_releases_are_refused() {
        assert_eq!(read(&Object::from(json!({"kind": "Secret"}))), Err(ReleaseError::Missing));
        assert_eq!(read(&secret("?")), Err(ReleaseError::Base64));
        let cut = STANDARD.encode(STANDARD.encode([0x1f, 0x8b, 0x08, 0, 0]));
        assert!(matches!(read(&secret(&cut)), Err(ReleaseError::Gzip(_))));
        assert!(matches!(read(&secret(&packed(b"[1"))), Err(ReleaseError::Json(_))));
        assert!(matches!(read(&secret(&packed(b"{}"))), Err(ReleaseError::Json(_))));
    }

    #[test]
    fn a_small_release_does_not_become_a_large_one() {
        let zeros = vec![b' '; usize::try_from(MAX_RELEASE).unwrap_or_default() + 1];
        assert_eq!(read(&secret(&packed(&zeros))), Err(ReleaseError::TooLarge));
    }

    #[test]
    fn many_releases_do_not_become_a_large_one() {
        let secret = secret(&packed(br#"{"name": "shop", "chart": [0, 0, 0]}"#));
        let mut left = 100;
        let results: Vec<bool> = (0..4).map(|_| HelmRelease::read(&secret, &mut left).is_ok()).collect();
        assert_eq!(results, [true, true, false, false]);
        assert_eq!(left, 28);
    }

    #[test]
    fn the_name_of_an_object_has_that_of_the_release() {
        let named = |name: &str| Object::from(json!({"kind": "Secret", "metadata": {"name": name}}));
        assert_eq!(HelmRelease::name_of(&named("sh.helm.release.v1.a.v1.v12")), Some("a.v1"));
        assert_eq!(HelmRelease::name_of(&named("shop")), None);
    }

    #[test]
    fn the_last_deployed_revision_is_the_current_one() {
        let release = |revision, status: &str| HelmRelease {
            name: String::new(),
            namespace: String::new(),
            revision,
            status: status.to_owned(),
            server_side: false,
            manifest: String::new(),
        };
        let all = vec![release(1, "superseded"), release(2, "deployed"), release(3, "failed")];
        assert_eq!(HelmRelease::current(all).map(|release| release.revision), Some(2));
        assert_eq!(HelmRelease::current(vec![release(1, "failed"), release(2, "failed")]).map(|r| r.revision), Some(2));
    }
}
