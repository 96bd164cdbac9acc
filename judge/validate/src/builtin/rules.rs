//! Checks of metadata other than names.

use crate::names::{self, Messages};
use crate::object::metadata_of;
use crate::{AskedRelease, Change};
use kubeshape_schema::field::{Error, ErrorType, Errors, Path};
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;

/// The finalizers without a domain: `IsStandardFinalizerName`.
const FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
/// The suffix of names of manifests on the disk of a server: `StaticConfigSuffix`.
const STATIC: &str = ".static.k8s.io";
/// The maximum characters of the name of a CronJob: its Jobs append eleven to it.
const MAX_CRON_JOB: usize = 52;
/// The system priority classes: names and values.
const PRIORITY_CLASSES: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// A rule about metadata that depends on other fields of the object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// Only the name is checked, not `generateName`: `ValidateObjectMetaWithOpts`.
    AnyPrefix,
    /// The name is the version and the group of its spec: `ValidateAPIService`.
    ApiService,
    /// A prefix of the name belongs to the signer: `ValidateClusterTrustBundleName`.
    ClusterTrustBundle,
    /// The name is short: `ValidateCronJobCreate`.
    CronJob,
    /// The server generates a missing name: `PrepareForCreate`.
    LimitRange,
    /// The strategy does not check metadata; `BeforeCreate` does, if there are no other errors: `ValidateEventCreate`.
    Last,
    /// Names with a prefix are reserved: `ValidatePriorityClass`.
    PriorityClass,
    /// Names with a suffix are those of manifests on the disk of a server: `ValidateStaticSuffix`.
    StaticName,
}

impl Rule {
    /// Returns the errors of a name; `None` leaves the check to the naming of the kind.
    pub(super) fn check(self, name: &str, is_prefix: bool, object: Value<'_>) -> Option<Messages> {
        let spec = object.get("spec").unwrap_or(Value::Null);
        match self {
            Rule::AnyPrefix => is_prefix.then(Vec::new),
            Rule::CronJob | Rule::Last | Rule::LimitRange | Rule::PriorityClass | Rule::StaticName => None,
            Rule::ApiService => {
                let messages = names::path_segment(name, false);
                let required = format!("{}.{}", text(spec, "version"), text(spec, "group"));
                let is_other = messages.is_empty() && name != required;
                let other = || vec![format!("must be `spec.version+\".\"+spec.group`: {}", GoQuoted(&required))];
                Some(if is_other { other() } else { messages })
            }
            Rule::ClusterTrustBundle => match text(spec, "signerName") {
                "" => name
                    .contains(':')
                    .then(|| vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]),
                signer => {
                    let prefix = format!("{}:", signer.replace('/', ":"));
                    let Some(rest) = name.strip_prefix(&prefix) else {
                        let message =
                            format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}");
                        return Some(vec![message]);
                    };
                    let rest = if is_prefix { names::mask_trailing_dash(rest) } else { rest.into() };
                    Some(names::dns1123_subdomain(&rest))
                }
            },
        }
    }

    /// Replaces the errors of metadata by those of the kind.
    pub(super) fn errors(self, object: Value<'_>, release: &AskedRelease, errors: &mut Errors) {
        let metadata = Path::Base("metadata");
        let (path, name) = (metadata.child("name"), text(metadata_of(object), "name"));
        match self {
            Rule::CronJob if name.len() > MAX_CRON_JOB => {
                errors.push(Error::invalid(&path, name, format!("must be no more than {MAX_CRON_JOB} characters"), 0));
            }
            Rule::LimitRange if name.is_empty() => {
                errors
                    .retain(|error| (error.error_type, error.path.as_str()) != (ErrorType::Required, "metadata.name"));
            }
            Rule::StaticName if name.ends_with(STATIC) && release.has(Change::StaticNames) => {
                let detail = format!(
                    "names ending with {} are reserved for static manifest-based configurations and cannot be managed via the \
                     API",
                    GoQuoted(STATIC)
                );
                errors.push(Error::invalid(&path, name, detail, 0));
            }
            Rule::PriorityClass if name.starts_with("system-") => {
                if let Some(why) = reserved(name, object) {
                    let detail = "priority class names with 'system-' prefix are reserved for system use only. error: ";
                    errors.push(Error::forbidden(&path, format!("{detail}{why}"), 0));
                }
            }
            _ => {}
        }
    }
}

/// Returns why a name of a priority class is reserved: `IsKnownSystemPriorityClass`.
fn reserved(name: &str, object: Value<'_>) -> Option<String> {
    let Some((_, expected)) = PRIORITY_CLASSES.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    let value = if let Some(Value::Int(value)) = object.get("value") { value } else { 0 };
    if value != *expected {
        return Some(format!("value of {name} PriorityClass must be {expected}"));
    }
    let is_default = matches!(object.get("globalDefault"), Some(Value::Bool(true)));
    is_default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}

/// Adds errors about unknown finalizers without a domain: `validateKubeFinalizerName`.
pub(super) fn finalizers(object: Value<'_>, metadata: &Path<'_>, errors: &mut Errors) {
    let path = metadata.child("finalizers");
    let finalizers = metadata_of(object).get("finalizers").and_then(Value::as_list).unwrap_or_default();
    for (at, name) in finalizers.iter().enumerate().filter_map(|(at, name)| Some((at, name.as_str()?))) {
        if !name.contains('/') && !FINALIZERS.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(Error::invalid(&path.index(at), name, detail, 0));
        }
    }
}

/// Returns whether Kubernetes has the finalizer: `IsStandardFinalizerName`.
pub(super) fn is_standard_finalizer(name: &str) -> bool {
    FINALIZERS.contains(&name)
}

/// Returns the errors of the name of a storage version.
pub(super) fn group_resource(name: &str) -> Messages {
    let Some((group, resource)) = name.rsplit_once('.') else {
        return vec!["name must be in the form of <group>.<resource>".to_owned()];
    };
    let group = names::dns1123_subdomain(group).into_iter().map(|message| format!("the group segment {message}"));
    let resource = names::dns1035_label(resource).into_iter().map(|message| format!("the resource segment {message}"));
    group.chain(resource).collect()
}

fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
