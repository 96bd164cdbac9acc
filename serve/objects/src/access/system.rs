//! The roles and bindings that a server creates for itself, as far as clients and tests use them (upstream:
//! `bootstrappolicy.ClusterRoles`, `ClusterRoleBindings`).

use serde_json::{Value, json};

/// The objects as JSON lines in short form: the file says how.
pub const SYSTEM_OBJECTS: &str = include_str!("system.txt");

/// Returns the ClusterRoles and ClusterRoleBindings that a server with RBAC creates at its start.
///
/// # Example
/// ```
/// use kubeshape_objects::access::system_objects;
///
/// assert!(system_objects().iter().any(|object| object["metadata"]["name"] == "cluster-admin"));
/// ```
pub fn system_objects() -> Vec<Value> {
    let mut objects: Vec<Value> = Vec::new();
    for line in SYSTEM_OBJECTS.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let list = |text: &str| -> Vec<String> {
            text.split(',').map(|item| if item == "core" { String::new() } else { item.to_owned() }).collect()
        };
        match words.as_slice() {
            ["role", name, labels @ ..] => objects.push(role(name, labels)),
            ["rule", verbs, groups, resources] => add_rule(
                &mut objects,
                json!({"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)}),
            ),
            ["paths", verbs, paths] => {
                add_rule(&mut objects, json!({"verbs": list(verbs), "nonResourceURLs": list(paths)}));
            }
            ["bind", name, kind, subjects] => objects.push(binding(name, kind, &list(subjects))),
            _ => {}
        }
    }
    objects
}

const API: &str = "rbac.authorization.k8s.io";

fn metadata(name: &str) -> Value {
    json!({
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    })
}

/// A role, with the role that it is a part of: `to=view`. A role that consists of others is `from=view`.
fn role(name: &str, words: &[&str]) -> Value {
    let mut metadata = metadata(name);
    let label = |to: &str| format!("rbac.authorization.k8s.io/aggregate-to-{to}");
    for to in words.iter().filter_map(|word| word.strip_prefix("to=")) {
        metadata["labels"][label(to)] = "true".into();
    }
    let mut role = json!({"apiVersion": format!("{API}/v1"), "kind": "ClusterRole", "metadata": metadata, "rules": []});
    let selectors: Vec<Value> = words
        .iter()
        .filter_map(|word| word.strip_prefix("from="))
        .map(|from| json!({"matchLabels": {label(from): "true"}}))
        .collect();
    if !selectors.is_empty() {
        role["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
    }
    role
}

fn add_rule(objects: &mut [Value], rule: Value) {
    if let Some(rules) = objects.last_mut().and_then(|role| role["rules"].as_array_mut()) {
        rules.push(rule);
    }
}

fn binding(name: &str, kind: &str, subjects: &[String]) -> Value {
    let subject = |name: &String| json!({"apiGroup": API, "kind": kind, "name": name});
    let subjects: Vec<Value> = subjects.iter().map(subject).collect();
    json!({
        "apiVersion": format!("{API}/v1"),
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": API, "kind": "ClusterRole", "name": name},
        "subjects": subjects,
    })
}

#[cfg(test)]
mod tests {
    use super::{SYSTEM_OBJECTS, system_objects};

    #[test]
    fn every_line_of_the_file_is_read() {
        let objects = system_objects();
        let rules: usize = objects.iter().filter_map(|object| Some(object["rules"].as_array()?.len())).sum();
        let lines = SYSTEM_OBJECTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        assert_eq!(objects.len() + rules, lines);
    }
}
