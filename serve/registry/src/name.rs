//! Names of kinds on the command line, as kubectl resolves them.

/// The known names of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindNames<'n> {
    /// The group, empty for the core group.
    pub group: &'n str,
    /// The version.
    pub version: &'n str,
    /// `Widget`
    pub kind: &'n str,
    /// `widgets`; if empty, it is guessed as Kubernetes does.
    pub plural: &'n str,
    /// `widget`; if empty, the kind in lower case.
    pub singular: &'n str,
    /// `wd`; if empty, those of built-in kinds are used.
    pub short_names: &'n [&'n str],
}

/// A name for kinds: the kind, or the plural, singular or short name of its resource, in any case. `deployments.apps`,
/// `deployments.v1.apps`, `v1/Deployment` and `apps/v1/Deployment` also contain the group and the version.
///
/// # Example: what kubectl takes
/// ```
/// use kubeshape_registry::{KindNames, KindQuery};
///
/// let deployment = KindNames { group: "apps", version: "v1", kind: "Deployment", ..KindNames::default() };
/// for name in ["Deployment", "deployments", "deploy", "deployment.apps", "deployments.v1.apps", "apps/v1/deployment"] {
///     assert!(KindQuery::new(name).fits(&deployment), "{name}");
/// }
/// for name in ["Deploymen", "deployment.extensions", "v2/Deployment", "deployments.v2.apps"] {
///     assert!(!KindQuery::new(name).fits(&deployment), "{name}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindQuery {
    /// The most likely first.
    readings: Vec<Reading>,
}

/// A possible meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The kind or the name of the resource, in lower case.
    pub(crate) word: String,
    pub(crate) group: Option<String>,
    pub(crate) version: Option<String>,
}

impl KindQuery {
    /// Parses a name.
    pub fn new(name: &str) -> KindQuery {
        let lower = name.to_lowercase();
        let reading = |word: &str, group: Option<&str>, version: Option<&str>| Reading {
            word: word.to_owned(),
            group: group.map(str::to_owned),
            version: version.map(str::to_owned),
        };
        let mut segments = lower.rsplitn(3, '/');
        let word = segments.next().unwrap_or_default();
        let (version, group) = (segments.next(), segments.next());
        if version.is_some() {
            return KindQuery { readings: vec![reading(word, group, version)] };
        }
        let Some((word, rest)) = word.split_once('.') else {
            return KindQuery { readings: vec![reading(word, None, None)] };
        };
        // `deployments.apps` is tried before `deployments.v1.apps`; `pods.v1` is in the core group.
        let of_version = match rest.split_once('.') {
            Some((version, group)) => reading(word, Some(group), Some(version)),
            None => reading(word, Some(""), Some(rest)),
        };
        KindQuery { readings: vec![reading(word, Some(rest), None), of_version] }
    }

    /// Returns the possible meanings, the most likely first.
    pub(crate) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Returns whether a kind matches.
    pub fn fits(&self, kind: &KindNames<'_>) -> bool {
        self.readings.iter().any(|reading| {
            reading.group.as_ref().is_none_or(|group| group.eq_ignore_ascii_case(kind.group))
                && reading.version.as_ref().is_none_or(|version| version.eq_ignore_ascii_case(kind.version))
                && kind.is_called(&reading.word)
        })
    }
}

impl KindNames<'_> {
    /// Returns whether it has this name, which is in lower case.
    fn is_called(&self, word: &str) -> bool {
        let kind = self.kind.to_lowercase();
        let is_guessed = || self.plural.is_empty() && guessed_plural(&kind) == word;
        !word.is_empty()
            && (kind == word
                || self.plural == word
                || self.singular == word
                || is_guessed()
                || self.short_names.contains(&word)
                || (self.short_names.is_empty() && built_in(self.group, &kind).contains(&word)))
    }
}

/// Guesses the plural of a kind in lower case, as `meta.UnsafeGuessKindToResource` does.
pub fn guessed_plural(kind: &str) -> String {
    match kind.chars().last() {
        _ if kind.ends_with("endpoints") => kind.to_owned(),
        Some('s') => format!("{kind}es"),
        Some('y') => format!("{}ies", kind.strip_suffix('y').unwrap_or(kind)),
        _ => format!("{kind}s"),
    }
}

/// Returns the short names of built-in kinds, which OpenAPI documents do not have.
fn built_in(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "componentstatus") => &["cs"],
        ("", "configmap") => &["cm"],
        ("", "endpoints") => &["ep"],
        ("" | "events.k8s.io", "event") => &["ev"],
        ("", "limitrange") => &["limits"],
        ("", "namespace") => &["ns"],
        ("", "node") => &["no"],
        ("", "persistentvolumeclaim") => &["pvc"],
        ("", "persistentvolume") => &["pv"],
        ("", "pod") => &["po"],
        ("", "replicationcontroller") => &["rc"],
        ("", "resourcequota") => &["quota"],
        ("", "serviceaccount") => &["sa"],
        ("", "service") => &["svc"],
        ("apiextensions.k8s.io", "customresourcedefinition") => &["crd", "crds"],
        ("apps", "daemonset") => &["ds"],
        ("apps", "deployment") => &["deploy"],
        ("apps", "replicaset") => &["rs"],
        ("apps", "statefulset") => &["sts"],
        ("autoscaling", "horizontalpodautoscaler") => &["hpa"],
        ("batch", "cronjob") => &["cj"],
        ("certificates.k8s.io", "certificatesigningrequest") => &["csr"],
        ("networking.k8s.io", "ingress") => &["ing"],
        ("networking.k8s.io", "ipaddress") => &["ip"],
        ("networking.k8s.io", "networkpolicy") => &["netpol"],
        ("policy", "poddisruptionbudget") => &["pdb"],
        ("scheduling.k8s.io", "priorityclass") => &["pc"],
        ("storage.k8s.io", "storageclass") => &["sc"],
        ("storage.k8s.io", "volumeattributesclass") => &["vac"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_discovery::Records;
    use kubeshape_discovery::read::read_node;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn short_names_are_those_of_all_releases() {
        let mut short: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for release in kubeshape_builtin::BuiltInDocuments::all() {
            let mut records = Records::default();
            for (name, document) in release.api().discovery() {
                let input = kubeshape_input::read(name, document.as_bytes(), kubeshape_input::Limits::default());
                for document in &input.documents {
                    records.add(read_node(document.root()).expect("a discovery document"));
                }
            }
            for group in records.groups() {
                for resource in group.versions.iter().flat_map(|version| &version.resources) {
                    let kind = (group.name.to_string(), resource.response_kind.kind.to_lowercase());
                    let names = resource.short_names.iter().map(ToString::to_string);
                    short.entry(kind).or_default().extend(names);
                }
            }
        }
        assert!(short.values().flatten().count() > 20);
        for ((group, kind), names) in short {
            let known: BTreeSet<String> = built_in(&group, &kind).iter().map(ToString::to_string).collect();
            assert_eq!(known, names, "{group}/{kind}");
        }
    }

    #[test]
    fn plurals_are_guessed_as_kubernetes_does() {
        for (kind, plural) in [
            ("pod", "pods"),
            ("ingress", "ingresses"),
            ("networkpolicy", "networkpolicies"),
            ("endpoints", "endpoints"),
            ("", "s"),
        ] {
            assert_eq!(guessed_plural(kind), plural);
        }
    }

    #[test]
    fn names_of_a_resource_have_precedence_over_guesses() {
        let mouse = KindNames {
            group: "example.com",
            version: "v1",
            kind: "Mouse",
            plural: "mice",
            singular: "mouse",
            short_names: &["ms"],
        };
        for name in ["mice", "MICE", "mouse", "ms", "Mouse", "mice.example.com", "example.com/v1/Mouse", "V1/mice"] {
            assert!(KindQuery::new(name).fits(&mouse), "{name}");
        }
        for name in ["mouses", "", ".", "/", "m", "mice.com", "v1", "example.com"] {
            assert!(!KindQuery::new(name).fits(&mouse), "{name}");
        }
    }

    #[test]
    fn a_core_kind_has_an_empty_group() {
        let pod = KindNames { version: "v1", kind: "Pod", ..KindNames::default() };
        for name in ["po", "pods", "pods.v1", "v1/Pod", "/v1/Pod"] {
            assert!(KindQuery::new(name).fits(&pod), "{name}");
        }
        assert!(!KindQuery::new("apps/v1/Pod").fits(&pod));
    }
}
