//! Whether rules permit all that others permit (upstream: `Covers` of `k8s.io/component-helpers/auth/rbac/validation`).

use super::Rule;
use kubeshape_smd::value::Stop;
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of permissions that are compared: a verb on a resource of a group, or on one object, or on a path.
const MAX_PERMISSIONS: usize = 100_000;

/// A permission of a rule.
#[derive(Clone, Copy)]
enum Permission<'r> {
    Resource { group: &'r str, resource: &'r str, name: Option<&'r str>, verb: &'r str },
    Path { path: &'r str, verb: &'r str },
}

impl Permission<'_> {
    /// Returns whether a rule permits it (upstream: `ruleCovers`).
    fn is_in(self, rule: &Rule) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == wanted);
        let all_or = |list: &[String], wanted: &str| has(list, "*") || has(list, wanted);
        match self {
            Permission::Resource { group, resource, name, verb } => {
                let is_named = name.is_some_and(|name| has(&rule.resource_names, name));
                let of_any =
                    || resource.split_once('/').is_some_and(|(_, sub)| has(&rule.resources, &format!("*/{sub}")));
                all_or(&rule.verbs, verb)
                    && all_or(&rule.api_groups, group)
                    && (all_or(&rule.resources, resource) || of_any())
                    && (rule.resource_names.is_empty() || is_named)
            }
            Permission::Path { path, verb } => {
                let covers = |own: &String| {
                    own == path || own.strip_suffix('*').is_some_and(|_| path.starts_with(own.trim_end_matches('*')))
                };
                all_or(&rule.verbs, verb) && rule.resource_names.is_empty() && rule.non_resource_urls.iter().any(covers)
            }
        }
    }
}

/// The permissions of a rule (upstream: `BreakdownRule`).
fn each<'r>(rule: &'r Rule, visit: &mut dyn FnMut(Permission<'r>) -> bool) {
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let names = rule.resource_names.iter().map(|name| Some(name.as_str()));
                let any = rule.resource_names.is_empty().then_some(None);
                for name in names.chain(any) {
                    if !visit(Permission::Resource { group, resource, name, verb }) {
                        return;
                    }
                }
            }
        }
    }
    for path in &rule.non_resource_urls {
        for verb in &rule.verbs {
            if !visit(Permission::Path { path, verb }) {
                return;
            }
        }
    }
}

/// Returns what `rules` permit and `own` do not, as a server prints it. Verbs on one resource are one line.
///
/// # Errors
/// There are too many permissions to compare.
pub(crate) fn covers(own: &[&Rule], rules: &[Rule], stop: Stop<'_>) -> Result<Vec<String>, String> {
    let mut left = MAX_PERMISSIONS;
    let mut resources: BTreeMap<(&str, &str, Option<&str>), Vec<&str>> = BTreeMap::new();
    let mut lines = BTreeSet::new();
    let quoted = |text: &str| GoQuoted(text).to_string();
    for rule in rules {
        each(rule, &mut |permission| {
            let Some(rest) = left.checked_sub(1) else { return false };
            left = rest;
            if own.iter().any(|own| permission.is_in(own)) {
                return true;
            }
            match permission {
                Permission::Resource { group, resource, name, verb } => {
                    resources.entry((group, resource, name)).or_default().push(verb);
                }
                Permission::Path { path, verb } => {
                    lines.insert(format!("{{NonResourceURLs:[{}], Verbs:[{}]}}", quoted(path), quoted(verb)));
                }
            }
            !stop.is_set()
        });
        if left == 0 {
            return Err(format!("the rules have more than {MAX_PERMISSIONS} permissions"));
        }
    }
    for ((group, resource, name), verbs) in resources {
        let verbs: Vec<String> = verbs.into_iter().map(quoted).collect();
        let name = name.map(|name| format!("ResourceNames:[{}], ", quoted(name))).unwrap_or_default();
        let (group, resource, verbs) = (quoted(group), quoted(resource), verbs.join(" "));
        lines.insert(format!("{{APIGroups:[{group}], Resources:[{resource}], {name}Verbs:[{verbs}]}}"));
    }
    Ok(lines.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::{Rule, covers};
    use kubeshape_smd::value::Stop;
    use serde_json::{Value, json};

    fn rules(rules: &Value) -> Vec<Rule> {
        Rule::all_of(&json!({ "rules": rules }))
    }

    #[test]
    fn permissions_that_are_missing_are_listed() {
        let own = rules(&json!([
            {"apiGroups": [""], "resources": ["pods", "*/scale"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["*"], "resourceNames": ["a"], "verbs": ["*"]},
            {"nonResourceURLs": ["/healthz/*"], "verbs": ["get"]},
        ]));
        let own: Vec<&Rule> = own.iter().collect();
        let lacking = |wanted: Value| covers(&own, &rules(&wanted), Stop::NEVER);
        let covered = json!([
            {"apiGroups": [""], "resources": ["pods", "any/scale"], "verbs": ["list"]},
            {"apiGroups": ["apps"], "resources": ["x"], "resourceNames": ["a"], "verbs": ["y"]},
            {"nonResourceURLs": ["/healthz/x"], "verbs": ["get"]},
        ]);
        assert_eq!(lacking(covered), Ok(Vec::new()));
        let more = json!([
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["watch", "get", "delete"]},
            {"apiGroups": ["apps"], "resources": ["x"], "verbs": ["get"]},
            {"nonResourceURLs": ["*"], "verbs": ["get"]},
        ]);
        let expected = [
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}"#,
            r#"{APIGroups:["apps"], Resources:["x"], Verbs:["get"]}"#,
            r#"{NonResourceURLs:["*"], Verbs:["get"]}"#,
        ];
        assert_eq!(lacking(more), Ok(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn the_number_of_permissions_is_bounded() {
        let many: Vec<String> = (0..400).map(|n| format!("r{n}")).collect();
        let wanted = rules(&json!([{"apiGroups": many, "resources": many, "verbs": ["get"]}]));
        let error = "the rules have more than 100000 permissions";
        assert_eq!(covers(&[], &wanted, Stop::NEVER), Err(error.to_owned()));
    }
}
