//! Which fields select objects of a resource.
//!
//! A built-in kind has a list of its own (upstream: `AddFieldLabelConversionFunc` in `pkg/apis`, and the fields of its
//! registry's `GetAttrs`), and its own words for other fields. Most kinds have their name and namespace only.

use crate::select::UnsupportedField;
use crate::value;
use kubeshape_smd::Value;
use kubeshape_validate::Release;
use kubeshape_yaml::go::escape::GoQuoted;
use std::sync::Arc;

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// The selectable fields of a resource.
#[derive(Clone, Debug)]
pub(super) enum Selectable {
    /// The name, the namespace, and these JSON paths of a custom resource.
    Custom(Vec<Arc<str>>),
    /// The name and the namespace.
    Metadata,
    /// Those of a built-in kind, in a release.
    BuiltIn(&'static Kind, Release),
}

/// What the table says of a kind.
#[derive(Debug)]
pub(super) struct Kind {
    group: &'static str,
    name: &'static str,
    /// Whether the namespace is selectable.
    namespace: bool,
    fields: &'static [Field],
    words: Words,
}

/// A field, and where its value is.
#[derive(Debug)]
struct Field {
    name: &'static str,
    /// The paths of the value: the first one that is not empty is used.
    paths: &'static [&'static str],
    /// What it is if the object does not have it.
    absent: &'static str,
    /// The first minor release that has the field.
    since: u8,
}

/// How other fields are refused.
#[derive(Clone, Copy, Debug)]
enum Words {
    /// `field label not supported: a`
    Label,
    /// `field label "a" not supported for Job`
    OfJob,
    /// `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: a`
    OfKind,
}

/// A field with the path that it is called by.
const fn text(name: &'static str, paths: &'static [&'static str]) -> Field {
    Field { name, paths, absent: "", since: 0 }
}

const fn flag(name: &'static str, paths: &'static [&'static str]) -> Field {
    Field { name, paths, absent: "false", since: 0 }
}

const fn count(name: &'static str, paths: &'static [&'static str]) -> Field {
    Field { name, paths, absent: "0", since: 0 }
}

const fn kind(group: &'static str, name: &'static str, namespace: bool, fields: &'static [Field]) -> Kind {
    Kind { group, name, namespace, fields, words: Words::Label }
}

const KINDS: [Kind; 13] = [
    kind(
        "",
        "Pod",
        true,
        &[
            text("spec.nodeName", &["spec.nodeName"]),
            text("spec.host", &["spec.nodeName"]),
            text("spec.restartPolicy", &["spec.restartPolicy"]),
            text("spec.schedulerName", &["spec.schedulerName"]),
            text("spec.serviceAccountName", &["spec.serviceAccountName"]),
            flag("spec.hostNetwork", &["spec.hostNetwork"]),
            text("status.phase", &["status.phase"]),
            text("status.podIP", &["status.podIP"]),
            // The field exists, but no Pod has a value in it.
            text("status.podIPs", &[]),
            text("status.nominatedNodeName", &["status.nominatedNodeName"]),
        ],
    ),
    kind("", "Node", false, &[flag("spec.unschedulable", &["spec.unschedulable"])]),
    kind("", "ReplicationController", true, &[count("status.replicas", &["status.replicas"])]),
    kind(
        "",
        "Event",
        true,
        &[
            text("involvedObject.kind", &["involvedObject.kind"]),
            text("involvedObject.namespace", &["involvedObject.namespace"]),
            text("involvedObject.name", &["involvedObject.name"]),
            text("involvedObject.uid", &["involvedObject.uid"]),
            text("involvedObject.apiVersion", &["involvedObject.apiVersion"]),
            text("involvedObject.resourceVersion", &["involvedObject.resourceVersion"]),
            text("involvedObject.fieldPath", &["involvedObject.fieldPath"]),
            text("reason", &["reason"]),
            text("reportingComponent", &["reportingComponent"]),
            text("source", &["source.component", "reportingComponent"]),
            text("type", &["type"]),
        ],
    ),
    kind(
        "events.k8s.io",
        "Event",
        true,
        &[
            text("reason", &["reason"]),
            text("regarding.kind", &["regarding.kind"]),
            text("regarding.namespace", &["regarding.namespace"]),
            text("regarding.name", &["regarding.name"]),
            text("regarding.uid", &["regarding.uid"]),
            text("regarding.apiVersion", &["regarding.apiVersion"]),
            text("regarding.resourceVersion", &["regarding.resourceVersion"]),
            text("regarding.fieldPath", &["regarding.fieldPath"]),
            text("reportingController", &["reportingController"]),
            text("type", &["type"]),
        ],
    ),
    kind("", "Namespace", false, &[text("status.phase", &["status.phase"])]),
    kind("", "Secret", true, &[text("type", &["type"])]),
    kind("", "Service", true, &[text("spec.clusterIP", &["spec.clusterIP"]), text("spec.type", &["spec.type"])]),
    Kind { words: Words::OfJob, ..kind("batch", "Job", true, &[count("status.successful", &["status.succeeded"])]) },
    kind("certificates.k8s.io", "CertificateSigningRequest", false, &[text("spec.signerName", &["spec.signerName"])]),
    kind("certificates.k8s.io", "ClusterTrustBundle", false, &[text("spec.signerName", &["spec.signerName"])]),
    kind(
        "certificates.k8s.io",
        "PodCertificateRequest",
        false,
        &[
            text("spec.signerName", &["spec.signerName"]),
            text("spec.podName", &["spec.podName"]),
            text("spec.nodeName", &["spec.nodeName"]),
        ],
    ),
    Kind {
        words: Words::OfKind,
        ..kind(
            "resource.k8s.io",
            "ResourceSlice",
            false,
            &[
                text("spec.nodeName", &["spec.nodeName"]),
                text("spec.driver", &["spec.driver"]),
                Field { since: 37, ..text("spec.pool.name", &["spec.pool.name"]) },
            ],
        )
    },
];

impl Selectable {
    /// The fields of a built-in kind.
    pub(super) fn of_built_in(group: &str, name: &str, release: Release) -> Selectable {
        let found = KINDS.iter().find(|kind| (kind.group, kind.name) == (group, name));
        found.map_or(Selectable::Metadata, |kind| Selectable::BuiltIn(kind, release))
    }

    /// Whether a field is selectable.
    ///
    /// # Errors
    /// Why not, in the server's words. `gvk` is the kind as messages show it.
    pub(super) fn check(&self, field: &str, gvk: impl FnOnce() -> String) -> Result<(), String> {
        let unsupported = || UnsupportedField(field.to_owned()).to_string();
        match self {
            Selectable::Custom(paths) => {
                let is_path = |path: &Arc<str>| path.strip_prefix('.').unwrap_or(path) == field;
                if [NAME, NAMESPACE].contains(&field) || paths.iter().any(is_path) {
                    Ok(())
                } else {
                    Err(unsupported())
                }
            }
            Selectable::Metadata if [NAME, NAMESPACE].contains(&field) => Ok(()),
            Selectable::Metadata => {
                let quoted = GoQuoted(field);
                Err(format!("{quoted} is not a known field selector: only \"{NAME}\", \"{NAMESPACE}\""))
            }
            Selectable::BuiltIn(kind, release) => {
                let is_known = field == NAME
                    || (kind.namespace && field == NAMESPACE)
                    || kind.fields.iter().any(|known| known.name == field && release.since(known.since));
                match kind.words {
                    _ if is_known => Ok(()),
                    Words::Label => Err(unsupported()),
                    Words::OfJob => Err(format!("field label {} not supported for Job", GoQuoted(field))),
                    Words::OfKind => Err(format!("field label not supported for {}: {field}", gvk())),
                }
            }
        }
    }

    /// The value of a field that is not the name or the namespace.
    pub(super) fn value(&self, object: Value<'_>, field: &str) -> String {
        match self {
            Selectable::Custom(_) => shown(value::at_path(object, field)),
            Selectable::Metadata => String::new(),
            Selectable::BuiltIn(kind, _) => {
                let Some(field) = kind.fields.iter().find(|known| known.name == field) else { return String::new() };
                let mut values = field.paths.iter().map(|path| shown(value::at_path(object, path)));
                values.find(|text| !text.is_empty()).unwrap_or_else(|| field.absent.to_owned())
            }
        }
    }
}

fn shown(value: Option<Value<'_>>) -> String {
    match value {
        Some(Value::String(text)) => text.to_owned(),
        Some(Value::Int(n)) => n.to_string(),
        Some(Value::Bool(yes)) => yes.to_string(),
        _ => String::new(),
    }
}
