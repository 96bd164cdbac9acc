//! The plugin `PodSecurity`: the labels of a namespace say which Pods it takes (upstream:
//! `k8s.io/pod-security-admission` and `plugin/pkg/admission/security/podsecurity`).

mod checks;
mod levels;
mod pod;

use super::{Call, spec_list};
use crate::status::Status;
use crate::value::{meta_text, metadata};
use kubeshape_schema::Release;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use levels::{Level, LevelVersion, Policy};
use pod::Pod;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The maximum number of Pods of a namespace that are checked when it gets a stricter level.
const MAX_PODS: usize = 3_000;
/// How many bytes of JSON these Pods may have. A server checks them for at most a second.
const MAX_POD_BYTES: usize = 16 << 20;

/// Returns what a Pod does that a level of a version forbids, as clients get it:
/// `hostPort (container "a" uses hostPort 80)`. `None` if the Pod is allowed.
///
/// `pod` may be any object with `metadata` and `spec`. The result has at most some times the bytes of the Pod.
/// Upstream: `EvaluatePod`, `ForbiddenDetail`.
///
/// # Errors
/// The level or the version is invalid.
///
/// # Example: a Pod with a port of its node
/// ```
/// use kubeshape_objects::pod_security;
/// use kubeshape_schema::Release;
/// use kubeshape_smd::{Bump, Value};
/// use kubeshape_smd::value::Compat;
///
/// let arena = Bump::new();
/// let pod = r#"{"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 80}]}]}}"#;
/// let pod = Value::read_json(pod, &arena, Compat::default()).unwrap();
/// let why = pod_security(pod, "baseline", "latest", Release::NEWEST).unwrap();
/// assert_eq!(why.as_deref(), Some(r#"hostPort (container "a" uses hostPort 80)"#));
/// assert_eq!(pod_security(pod, "privileged", "v1.30", Release::NEWEST), Ok(None));
/// ```
pub fn pod_security(
    pod: Value<'_>,
    level: &str,
    version: &str,
    release: Release,
) -> Result<Option<String>, &'static str> {
    let at = LevelVersion { level: Level::parse(level)?, version: levels::Version::parse(version)? };
    let spec = pod.get("spec").unwrap_or(Value::Null);
    Ok(violations(at, &Pod::new(metadata(pod), spec), release).map(|found| found.details()))
}

/// What a Pod violates: a reason per check, and its details.
struct Violations(Vec<(String, String)>);

impl Violations {
    /// The reasons alone (upstream: `ForbiddenReason`).
    fn reasons(&self) -> String {
        self.0.iter().map(|(reason, _)| reason.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The reasons with their details (upstream: `ForbiddenDetail`).
    fn details(&self) -> String {
        let mut text = String::new();
        for (i, (reason, detail)) in self.0.iter().enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            text.push_str(reason);
            if !detail.is_empty() {
                let _ = write!(text, " ({detail})");
            }
        }
        text
    }
}

/// Runs the checks of a level.
fn violations(at: LevelVersion, pod: &Pod<'_>, release: Release) -> Option<Violations> {
    let found: Vec<(String, String)> = checks::of(at, release).filter_map(|check| check(pod)).collect();
    (!found.is_empty()).then_some(Violations(found))
}

impl Call<'_> {
    /// Checks a namespace, a Pod or an object with a template of Pods.
    ///
    /// # Errors
    /// The labels of the namespace are invalid, or its level forbids the Pod.
    pub(super) fn is_secure(&self, object: Value<'_>, old: Option<Value<'_>>, arena: &Bump) -> Result<(), Status> {
        match (&*self.served.group, &*self.served.kind) {
            ("", "Namespace") => self.has_secure_labels(object, old, arena),
            ("", "Pod") => {
                if old.is_some_and(|old| !is_significant(object, old)) {
                    return Ok(());
                }
                let pod = Pod::new(metadata(object), object.get("spec").unwrap_or(Value::Null));
                let policy = self.policy_of_namespace(arena);
                let release = self.release();
                if let Some(found) = violations(policy.enforce, &pod, release) {
                    let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, found.details());
                    return Err(Status::forbidden(self.group_resource(), meta_text(object, "name"), &why));
                }
                self.warn_of(policy.warn, &pod);
                Ok(())
            }
            (group, kind) => {
                if let Some(template) = template_of(group, kind, object) {
                    let pod = Pod::new(metadata(template), template.get("spec").unwrap_or(Value::Null));
                    self.warn_of(self.policy_of_namespace(arena).warn, &pod);
                }
                Ok(())
            }
        }
    }

    fn warn_of(&self, at: LevelVersion, pod: &Pod<'_>) {
        let found = violations(at, pod, self.release());
        self.warn(found.map(|found| format!("would violate PodSecurity \"{at}\": {}", found.details())));
    }

    /// Returns the policy of the namespace of the request. A namespace that is not stored has no labels.
    fn policy_of_namespace(&self, arena: &Bump) -> Policy {
        let namespace = self.object_of("v1", "Namespace", self.path.namespace, arena);
        Policy::of(labels_of(namespace.unwrap_or(Value::Null))).0
    }

    /// Checks the labels of a namespace. Its Pods are checked if it gets another level (upstream:
    /// `ValidateNamespace`).
    fn has_secure_labels(&self, object: Value<'_>, old: Option<Value<'_>>, arena: &Bump) -> Result<(), Status> {
        let (policy, errors) = Policy::of(labels_of(object));
        let before = old.map(|old| Policy::of(labels_of(old)));
        if !errors.is_empty() && before.as_ref().is_none_or(|(_, known)| *known != errors) {
            return Err(Status::invalid("", "Namespace", meta_text(object, "name"), &errors));
        }
        let Some((before, _)) = before else { return Ok(()) };
        let (enforce, before) = (policy.enforce, before.enforce);
        let is_relaxed = enforce.version == before.version && enforce.level <= before.level;
        if enforce == before || enforce.level == Level::Privileged || is_relaxed {
            return Ok(());
        }
        let warnings = self.pods_that_violate(meta_text(object, "name"), enforce, arena)?;
        self.warn(warnings);
        Ok(())
    }

    /// Returns warnings about the Pods of a namespace that gets a level (upstream: `EvaluatePodsInNamespace`).
    fn pods_that_violate(&self, namespace: &str, at: LevelVersion, arena: &Bump) -> Result<Vec<String>, Status> {
        let (pods, total) = self.pods_to_check(namespace, arena)?;
        let mut found: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        for pod in &pods {
            self.goes_on()?;
            let name = meta_text(*pod, "name");
            let spec = pod.get("spec").unwrap_or(Value::Null);
            if let Some(violated) = violations(at, &Pod::new(metadata(*pod), spec), self.release()) {
                let (first, count) = found.entry(violated.reasons()).or_insert((name, 0));
                *first = name.min(*first);
                *count += 1;
            }
        }
        let mut warnings = Vec::new();
        if pods.len() < total {
            let checked = pods.len();
            warnings.push(format!(
                "new PodSecurity enforce level only checked against the first {checked} of {total} existing pods"
            ));
        }
        if !found.is_empty() {
            let namespace = GoQuoted(namespace);
            warnings.push(format!(
                "existing pods in namespace {namespace} violate the new PodSecurity enforce level \"{at}\""
            ));
        }
        let said = |(reasons, (name, count)): (String, (&str, usize))| match count {
            1 => format!("{name}: {reasons}"),
            2 => format!("{name} (and 1 other pod): {reasons}"),
            _ => format!("{name} (and {} other pods): {reasons}", count - 1),
        };
        let mut of_pods: Vec<String> = found.into_iter().map(said).collect();
        of_pods.sort();
        warnings.extend(of_pods);
        Ok(warnings)
    }

    /// Returns the Pods to check, and how many there are: of the Pods of a controller, one before the others (upstream:
    /// `prioritizePods`).
    fn pods_to_check<'v>(&'v self, namespace: &str, arena: &'v Bump) -> Result<(Vec<Value<'v>>, usize), Status> {
        let Some(served) = self.api.of_kind("v1", "Pod") else { return Ok((Vec::new(), 0)) };
        let prefix = format!("{namespace}/");
        let (mut first, mut others, mut controllers) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut bytes, mut total) = (0_usize, 0_usize);
        for (_, stored) in self.store.list(&served.id, &prefix, "") {
            self.goes_on()?;
            total += 1;
            bytes = bytes.saturating_add(stored.as_json().len());
            if bytes > MAX_POD_BYTES || total > MAX_PODS {
                continue;
            }
            let Some(pod) = super::value_of(served, stored, arena) else { continue };
            match controller_of(pod) {
                Some(uid) if !controllers.insert(uid) => others.push(pod),
                _ => first.push(pod),
            }
        }
        first.append(&mut others);
        Ok((first, total))
    }
}

/// Returns the uid of the controller of an object.
fn controller_of(object: Value<'_>) -> Option<&str> {
    let owners = metadata(object).get("ownerReferences")?.as_list()?;
    let controller = owners.iter().find(|owner| owner.get("controller") == Some(Value::Bool(true)))?;
    controller.get("uid")?.as_str()
}

fn labels_of(object: Value<'_>) -> Map<'_> {
    metadata(object).get("labels").and_then(Value::as_map).unwrap_or(Map::EMPTY)
}

/// Returns the template of the Pods that a controller creates (upstream: `DefaultPodSpecExtractor`).
fn template_of<'v>(group: &str, kind: &str, object: Value<'v>) -> Option<Value<'v>> {
    let path: &[&str] = match (group, kind) {
        ("", "PodTemplate") => &["template"],
        ("", "ReplicationController")
        | ("apps", "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job") => &["spec", "template"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template"],
        _ => return None,
    };
    path.iter().try_fold(object, |of, key| of.get(key)).filter(|template| !template.is_null())
}

/// Returns whether an update of a Pod changes what is checked: containers and their images (upstream:
/// `isSignificantPodUpdate`).
fn is_significant(pod: Value<'_>, old: Value<'_>) -> bool {
    let images = |of: Value<'_>, list: &str| {
        let text =
            |container: &Value<'_>| container.get("image").and_then(Value::as_str).unwrap_or_default().to_owned();
        spec_list(of, list).iter().map(text).collect::<Vec<_>>()
    };
    if ["containers", "initContainers"].iter().any(|list| images(pod, list) != images(old, list)) {
        return true;
    }
    let named = |of: Value<'_>| {
        let text = |container: &Value<'_>, key: &str| {
            container.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let all = spec_list(of, "ephemeralContainers").iter();
        all.map(|container| (text(container, "name"), text(container, "image"))).collect::<BTreeMap<_, _>>()
    };
    let before = named(old);
    named(pod).iter().any(|(name, image)| before.get(name) != Some(image))
}
