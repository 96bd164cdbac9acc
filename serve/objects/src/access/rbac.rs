//! Decisions by the roles and bindings of a store (upstream: `plugin/pkg/auth/authorizer/rbac`,
//! `pkg/registry/rbac/validation`).

use super::rules::Rule;
use super::{Identity, MASTERS};
use crate::select::LabelSelector;
use crate::store::{Key, Store, Stored};
use kubeshape_policy::{Access, Authorizer, User, Verdict};
use kubeshape_yaml::go::escape::GoQuoted;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";
/// The storage keys of roles and bindings, in the order of [`Kind`].
const RESOURCES: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
/// The maximum number of roles that an aggregated role consists of, with the roles of those.
const MAX_AGGREGATED: usize = 10_000;

/// Roles and bindings of a store, ready for decisions.
///
/// # Example
/// ```
/// use kubeshape_objects::access::{Attributes, Identity, Rbac};
/// use kubeshape_policy::Authorizer;
/// use serde_json::json;
///
/// let role = json!({"kind": "Role", "metadata": {"name": "reader", "namespace": "default"},
///     "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]});
/// let binding = json!({"kind": "RoleBinding", "metadata": {"name": "jane", "namespace": "default"},
///     "roleRef": {"kind": "Role", "name": "reader"}, "subjects": [{"kind": "User", "name": "jane"}]});
/// let rbac = Rbac::new([&role, &binding]);
/// let jane = Identity::new("jane", []).user;
/// let may = |path: &str| rbac.decide(&Attributes::of("GET", path, "").by(&jane)).allowed;
/// assert!(may("/api/v1/namespaces/default/pods/a") && !may("/api/v1/namespaces/other/pods/a"));
/// ```
#[derive(Debug, Default)]
pub struct Rbac {
    /// By namespace and name; the namespace of ClusterRoles is empty.
    roles: BTreeMap<(String, String), Arc<Role>>,
    /// By namespace; that of ClusterRoleBindings is empty.
    bindings: BTreeMap<String, Vec<Arc<Binding>>>,
}

#[derive(Debug, Default)]
struct Role {
    namespace: String,
    name: String,
    labels: Vec<(String, String)>,
    rules: Vec<Rule>,
    /// The selectors of the roles that it consists of.
    from: Vec<LabelSelector>,
}

#[derive(Debug)]
struct Binding {
    namespace: String,
    name: String,
    role_kind: String,
    role: String,
    subjects: Vec<Subject>,
}

#[derive(Debug)]
struct Subject {
    kind: String,
    namespace: String,
    name: String,
}

/// One of the objects that decide.
#[derive(Clone, Debug)]
enum Part {
    Role(Arc<Role>),
    Binding(Arc<Binding>),
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Part {
    /// Reads an object. `None` for other kinds.
    fn of(object: &Value) -> Option<Part> {
        let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
        Some(match object["kind"].as_str()? {
            "Role" | "ClusterRole" => {
                let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
                let labels = labels.map(|(key, value)| (key.clone(), text(value))).collect();
                let from = object["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten();
                let from = from.filter_map(selector_of).collect();
                Part::Role(Arc::new(Role { namespace, name, labels, rules: Rule::all_of(object), from }))
            }
            "RoleBinding" | "ClusterRoleBinding" => {
                let subjects = object["subjects"].as_array().into_iter().flatten();
                let subject = |subject: &Value| Subject {
                    kind: text(&subject["kind"]),
                    namespace: text(&subject["namespace"]),
                    name: text(&subject["name"]),
                };
                Part::Binding(Arc::new(Binding {
                    namespace,
                    name,
                    role_kind: text(&object["roleRef"]["kind"]),
                    role: text(&object["roleRef"]["name"]),
                    subjects: subjects.map(subject).collect(),
                }))
            }
            _ => return None,
        })
    }
}

/// Reads a `metav1.LabelSelector`. `None` if a requirement is invalid.
pub(crate) fn selector_of(selector: &Value) -> Option<LabelSelector> {
    let mut requirements: Vec<String> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        requirements.push(format!("{key} in ({})", value.as_str()?));
    }
    for item in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = item["key"].as_str()?;
        let values = item["values"].as_array().into_iter().flatten();
        let values = values.map(Value::as_str).collect::<Option<Vec<&str>>>()?.join(",");
        requirements.push(match item["operator"].as_str()? {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    LabelSelector::parse(&requirements.join(",")).ok()
}

impl Subject {
    /// Returns whether a user is the subject of a binding in a namespace (upstream: `appliesToUser`).
    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let of = if self.namespace.is_empty() { namespace } else { &self.namespace };
                !of.is_empty() && user.name == format!("system:serviceaccount:{of}:{}", self.name)
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = if self.kind == "ServiceAccount" && !self.namespace.is_empty() {
            format!("{}/{}", self.name, self.namespace)
        } else {
            self.name.clone()
        };
        write!(f, "{} {}", self.kind, GoQuoted(&name))
    }
}

impl Rbac {
    /// Creates it from roles and bindings. Objects of other kinds are ignored.
    pub fn new<'v>(objects: impl IntoIterator<Item = &'v Value>) -> Rbac {
        Rbac::of(objects.into_iter().filter_map(Part::of))
    }

    fn of(parts: impl Iterator<Item = Part>) -> Rbac {
        let mut rbac = Rbac::default();
        for part in parts {
            match part {
                Part::Role(role) => {
                    rbac.roles.insert((role.namespace.clone(), role.name.clone()), role);
                }
                Part::Binding(binding) => {
                    rbac.bindings.entry(binding.namespace.clone()).or_default().push(binding);
                }
            }
        }
        rbac
    }

    /// Calls `visit` with each rule of a user in a namespace, until it returns false. `Err` for a binding whose role
    /// does not exist (upstream: `VisitRulesFor`).
    fn visit<'r>(
        &'r self,
        user: &User,
        namespace: &str,
        mut visit: impl FnMut(Result<(&'r Rule, &'r Binding, &'r Subject), String>) -> bool,
    ) {
        let spaces = if namespace.is_empty() { &[""][..] } else { &["", namespace][..] };
        for space in spaces {
            for binding in self.bindings.get(*space).into_iter().flatten() {
                let Some(subject) = binding.subjects.iter().find(|subject| subject.is(user, space)) else { continue };
                let is_cluster_role = binding.role_kind == "ClusterRole";
                let of = if is_cluster_role { "" } else { *space };
                let key = (of.to_owned(), binding.role.clone());
                let Some(role) = self.roles.get(&key) else {
                    let resource = if is_cluster_role { "clusterrole" } else { "role" };
                    if !visit(Err(format!("{resource}.{GROUP} {} not found", GoQuoted(&binding.role)))) {
                        return;
                    }
                    continue;
                };
                for rule in self.rules(role) {
                    if !visit(Ok((rule, binding, subject))) {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the rules of a role, with those of the roles that it consists of. On a cluster, a controller copies them
    /// (`clusterroleaggregation`).
    fn rules<'r>(&'r self, role: &'r Role) -> Vec<&'r Rule> {
        let mut seen: BTreeSet<&str> = BTreeSet::from([role.name.as_str()]);
        let (mut todo, mut rules) = (vec![role], Vec::new());
        while let Some(next) = todo.pop() {
            rules.extend(&next.rules);
            if next.from.is_empty() || seen.len() > MAX_AGGREGATED {
                continue;
            }
            let cluster_roles = self.roles.iter().take_while(|((namespace, _), _)| namespace.is_empty());
            for (_, other) in cluster_roles {
                let is_part = next.from.iter().any(|selector| {
                    selector.matches(|key| {
                        let label = other.labels.iter().find(|(name, _)| name == key);
                        label.map(|(_, value)| value.as_str())
                    })
                });
                if is_part && seen.insert(&other.name) {
                    todo.push(other);
                }
            }
        }
        rules
    }

    /// Returns the rules of a role; of a ClusterRole without a namespace. `None` if it does not exist.
    pub(crate) fn rules_of_role(&self, namespace: &str, name: &str) -> Option<Vec<Rule>> {
        let role = self.roles.get(&(namespace.to_owned(), name.to_owned()))?;
        Some(self.rules(role).into_iter().cloned().collect())
    }

    /// Returns the rules that bindings give a user in a namespace, and what is said of roles that do not exist.
    pub(crate) fn known_rules(&self, identity: &Identity, namespace: &str) -> (Vec<&Rule>, Vec<String>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        self.visit(&identity.user, namespace, |found| {
            match found {
                Ok((rule, ..)) => rules.push(rule),
                Err(message) => missing.push(message),
            }
            true
        });
        (rules, missing)
    }

    /// Returns the rules of a user in a namespace, and whether some roles do not exist.
    pub fn rules_for(&self, identity: &Identity, namespace: &str) -> (Vec<Rule>, bool) {
        let (mut rules, mut is_incomplete) = (Vec::new(), false);
        if identity.is_master() {
            rules.extend(Rule::everything());
        }
        self.visit(&identity.user, namespace, |found| {
            match found {
                Ok((rule, ..)) => rules.push(rule.clone()),
                Err(_) => is_incomplete = true,
            }
            true
        });
        (rules, is_incomplete)
    }
}

impl Authorizer for Rbac {
    fn decide(&self, access: &Access) -> Verdict {
        if access.user.groups.iter().any(|group| group == MASTERS) {
            return Verdict { allowed: true, ..Verdict::default() };
        }
        let mut verdict = Verdict::default();
        let mut missing: Vec<String> = Vec::new();
        self.visit(&access.user, &access.namespace, |found| {
            match found {
                Ok((rule, binding, subject)) if rule.allows(access) => {
                    verdict = Verdict { allowed: true, reason: allowed_by(binding, subject), error: None };
                }
                Ok(_) => {}
                Err(message) => missing.push(message),
            }
            !verdict.allowed
        });
        if !verdict.allowed && !missing.is_empty() {
            let all = if let [one] = missing.as_slice() { one.clone() } else { format!("[{}]", missing.join(", ")) };
            verdict.reason = format!("RBAC: {all}");
        }
        verdict
    }
}

/// The reason of a permission (upstream: `clusterRoleBindingDescriber`, `roleBindingDescriber`).
fn allowed_by(binding: &Binding, subject: &Subject) -> String {
    let role = format!("{} {}", binding.role_kind, GoQuoted(&binding.role));
    if binding.namespace.is_empty() {
        return format!("RBAC: allowed by ClusterRoleBinding {} of {role} to {subject}", GoQuoted(&binding.name));
    }
    let name = GoQuoted(&format!("{}/{}", binding.name, binding.namespace)).to_string();
    format!("RBAC: allowed by RoleBinding {name} of {role} to {subject}")
}

/// The roles and bindings of a store, read once until one of them changes.
#[derive(Debug)]
pub(crate) struct Gate {
    ids: Vec<Arc<str>>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    of: Option<Mark>,
    rbac: Arc<Rbac>,
    parts: BTreeMap<Key, (Arc<Stored>, Option<Part>)>,
}

/// Differs between two states of the roles and bindings of a store: each write of one has a new revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    count: usize,
    newest: u64,
    sum: u64,
}

impl Default for Gate {
    fn default() -> Gate {
        let id = |resource: &str| Arc::from(format!("{GROUP}/v1 {resource}"));
        Gate { ids: RESOURCES.map(id).into(), known: Mutex::default() }
    }
}

impl Gate {
    /// Returns what the roles and bindings of a store permit.
    pub(crate) fn rbac(&self, store: &Store) -> Arc<Rbac> {
        let stored = || self.ids.iter().flat_map(|id| store.list(id, "", ""));
        let mark = stored().fold(Mark { count: 0, newest: 0, sum: 0 }, |mark, (_, object)| Mark {
            count: mark.count + 1,
            newest: mark.newest.max(object.revision),
            sum: mark.sum.wrapping_add(object.revision),
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.of == Some(mark) {
            return Arc::clone(&known.rbac);
        }
        // Unchanged objects are not read again.
        let mut parts = BTreeMap::new();
        for (key, object) in stored() {
            let part = match known.parts.remove(key) {
                Some((same, part)) if Arc::ptr_eq(&same, object) => part,
                _ => read(object),
            };
            parts.insert(key.clone(), (Arc::clone(object), part));
        }
        let rbac = Arc::new(Rbac::of(parts.values().filter_map(|(_, part)| part.clone())));
        *known = Known { of: Some(mark), rbac: Arc::clone(&rbac), parts };
        rbac
    }
}

/// Reads a stored object.
fn read(object: &Stored) -> Option<Part> {
    Part::of(&serde_json::from_slice(object.as_json()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::Rbac;
    use crate::access::{Attributes, Identity, system_objects};
    use kubeshape_policy::Authorizer;
    use serde_json::json;

    #[test]
    fn bindings_decide_and_say_why() {
        let objects = [
            json!({"kind": "ClusterRole", "metadata": {"name": "nodes"},
                "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["nodes"]}]}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "b"},
                "roleRef": {"kind": "ClusterRole", "name": "nodes"}, "subjects": [{"kind": "Group", "name": "ops"}]}),
            json!({"kind": "RoleBinding", "metadata": {"name": "c", "namespace": "n"},
                "roleRef": {"kind": "Role", "name": "gone"},
                "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "n"}]}),
        ];
        let rbac = Rbac::new(&objects);
        let decide = |identity: &Identity, path: &str| rbac.decide(&Attributes::of("GET", path, "").by(&identity.user));
        let ops = Identity::new("jane", ["ops"]);
        let verdict = decide(&ops, "/api/v1/nodes");
        let reason = r#"RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "nodes" to Group "ops""#;
        assert_eq!((verdict.allowed, verdict.reason.as_str()), (true, reason));
        assert!(!decide(&ops, "/api/v1/nodes/a").allowed);
        assert!(decide(&Identity::new("x", ["system:masters"]), "/api/v1/nodes/a").allowed);
        let robot = Identity::new("system:serviceaccount:n:robot", []);
        let verdict = decide(&robot, "/api/v1/namespaces/n/pods");
        let reason = r#"RBAC: role.rbac.authorization.k8s.io "gone" not found"#;
        assert_eq!((verdict.allowed, verdict.reason.as_str()), (false, reason));
    }

    #[test]
    fn roles_of_the_system_aggregate() {
        let mut objects = system_objects();
        objects.push(json!({"kind": "RoleBinding", "metadata": {"name": "v", "namespace": "n"},
            "roleRef": {"kind": "ClusterRole", "name": "edit"}, "subjects": [{"kind": "User", "name": "jane"}]}));
        let rbac = Rbac::new(&objects);
        let jane = Identity::new("jane", []);
        let may = |method: &str, path: &str| rbac.decide(&Attributes::of(method, path, "").by(&jane.user)).allowed;
        // `edit` consists of a role of its own and of `view`.
        assert!(may("POST", "/apis/apps/v1/namespaces/n/deployments"));
        assert!(may("GET", "/api/v1/namespaces/n/pods/a"));
        assert!(!may("GET", "/api/v1/namespaces/other/pods/a"));
        assert!(!may("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles"));
        assert!(may("GET", "/openapi/v3") && !may("GET", "/metrics"));
        let anonymous = Identity::anonymous();
        let may = |path: &str| rbac.decide(&Attributes::of("GET", path, "").by(&anonymous.user)).allowed;
        assert!(may("/healthz") && may("/version") && !may("/api"));
    }
}
