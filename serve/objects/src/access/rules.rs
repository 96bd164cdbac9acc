//! Rules of roles, and what they match (upstream: `pkg/apis/rbac/v1/evaluation_helpers.go`).

use kubeshape_policy::Access;
use serde_json::Value;

/// A rule of a Role or ClusterRole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// `get`, `*`
    pub verbs: Vec<String>,
    /// The groups of resources; empty for the core group.
    pub api_groups: Vec<String>,
    /// `pods`, `pods/log`, `*/scale`, `*`
    pub resources: Vec<String>,
    /// If not empty, only these objects.
    pub resource_names: Vec<String>,
    /// Paths outside resources: `/healthz`, `/openapi/*`.
    pub non_resource_urls: Vec<String>,
}

/// Returns the strings of a list.
fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

impl Rule {
    /// Reads the rules of a role.
    pub(crate) fn all_of(role: &Value) -> Vec<Rule> {
        let rules = role["rules"].as_array().into_iter().flatten();
        let read = |rule: &Value| Rule {
            verbs: strings(&rule["verbs"]),
            api_groups: strings(&rule["apiGroups"]),
            resources: strings(&rule["resources"]),
            resource_names: strings(&rule["resourceNames"]),
            non_resource_urls: strings(&rule["nonResourceURLs"]),
        };
        rules.map(read).collect()
    }

    /// Returns the rules that permit everything.
    pub(crate) fn everything() -> [Rule; 2] {
        let all = || vec!["*".to_owned()];
        [
            Rule { verbs: all(), api_groups: all(), resources: all(), ..Rule::default() },
            Rule { verbs: all(), non_resource_urls: all(), ..Rule::default() },
        ]
    }

    /// Returns whether the rule allows an access (upstream: `rbac.RuleAllows`).
    pub fn allows(&self, access: &Access) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        if !has(&self.verbs, &access.verb) {
            return false;
        }
        if let Some(path) = &access.path {
            let matches = |url: &String| match url.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => url == path,
            };
            return self.non_resource_urls.iter().any(matches);
        }
        has(&self.api_groups, &access.group)
            && self.resources.iter().any(|resource| is_resource(resource, &access.resource, &access.subresource))
            && (self.resource_names.is_empty() || self.resource_names.contains(&access.name))
    }

    /// Returns the rule as JSON, as `SelfSubjectRulesReview` lists it.
    pub(crate) fn json(&self) -> Value {
        let mut out = serde_json::Map::new();
        for (key, list) in [
            ("verbs", &self.verbs),
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
        ] {
            if !list.is_empty() {
                out.insert(key.to_owned(), list.clone().into());
            }
        }
        Value::Object(out)
    }
}

/// Returns whether a resource of a rule is this one (upstream: `ResourceMatches`).
fn is_resource(given: &str, resource: &str, subresource: &str) -> bool {
    if given == "*" {
        return true;
    }
    // A review may name both in `resource`, as `pods/log`.
    if subresource.is_empty() {
        return given == resource;
    }
    given.split_once('/').is_some_and(|(of, given)| given == subresource && (of == "*" || of == resource))
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use kubeshape_policy::Access;
    use serde_json::json;

    #[test]
    fn rules_match_as_upstream() {
        let rules = json!({"rules": [
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/scale"], "resourceNames": ["a"]},
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/status"]},
            {"verbs": ["*"], "nonResourceURLs": ["/healthz", "/openapi/*"]},
        ]});
        let rules = Rule::all_of(&rules);
        let allows = |access: &Access| rules.iter().any(|rule| rule.allows(access));
        let pods = |verb: &str, subresource: &str, name: &str| Access {
            verb: verb.to_owned(),
            resource: "pods".to_owned(),
            subresource: subresource.to_owned(),
            name: name.to_owned(),
            ..Access::default()
        };
        for (access, expected) in [
            (pods("get", "", "a"), true),
            (pods("get", "", "b"), false),
            (pods("get", "", ""), false),
            (pods("list", "", "a"), false),
            (pods("get", "scale", "a"), true),
            (pods("get", "log", "a"), false),
            (Access { resource: "pods/status".to_owned(), ..pods("get", "", "a") }, true),
            (Access { resource: "pods/scale".to_owned(), ..pods("get", "", "a") }, false),
            (Access { group: "apps".to_owned(), ..pods("get", "", "a") }, false),
        ] {
            assert_eq!(allows(&access), expected, "{access:?}");
        }
        for (path, expected) in [("/healthz", true), ("/healthz/x", false), ("/openapi/v3", true), ("/", false)] {
            let access = Access { verb: "get".to_owned(), path: Some(path.to_owned()), ..Access::default() };
            assert_eq!(allows(&access), expected, "{path}");
        }
    }
}
