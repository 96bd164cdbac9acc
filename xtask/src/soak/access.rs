//! Clients with permissions and without, while roles and bindings change. No answer may show what its user must not see.

use super::client::{HONEST, Request};
use super::{Result, Shared, lock};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

/// What only some users may see, and the namespace that has it.
const HIDDEN: &str = "what-nobody-else-may-see";
const CLOSED: &str = "closed";
const OPEN: &str = "open";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/// How long a client waits between its requests.
const PAUSE: Duration = Duration::from_millis(20);
/// Forms of answers.
const FORMS: [&str; 4] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
];

/// Returns the file of tokens: each is the name of its user.
pub(super) fn tokens(bombs: usize) -> String {
    let mut file = "admin,admin,1,system:masters\n".to_owned();
    for name in ["reader", "writer", "keeper", "deputy"] {
        let _ = writeln!(file, "{name},{name},{name}");
    }
    for n in 0..bombs {
        let _ = writeln!(file, "bomb-{n},bomb-{n},bomb-{n},bombs");
    }
    file
}

fn maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

fn rules(verbs: &[&str], groups: &[&str], resources: &[&str]) -> Value {
    json!([{"verbs": verbs, "apiGroups": groups, "resources": resources}])
}

/// A role, or one of the whole cluster, and the path of its kind.
fn role(namespace: &str, name: &str, rules: &Value) -> (String, Value) {
    let (path, kind) = match namespace {
        "" => (format!("{RBAC}/clusterroles"), "ClusterRole"),
        _ => (format!("{RBAC}/namespaces/{namespace}/roles"), "Role"),
    };
    let metadata = json!({"name": name});
    let api = "rbac.authorization.k8s.io/v1";
    (path, json!({"apiVersion": api, "kind": kind, "metadata": metadata, "rules": rules}))
}

/// Its binding to a user or a group.
fn binding(namespace: &str, name: &str, kind: &str, subject: &str) -> (String, Value) {
    let (path, of, role) = match namespace {
        "" => (format!("{RBAC}/clusterrolebindings"), "ClusterRoleBinding", "ClusterRole"),
        _ => (format!("{RBAC}/namespaces/{namespace}/rolebindings"), "RoleBinding", "Role"),
    };
    let api = "rbac.authorization.k8s.io";
    let subjects = json!([{"apiGroup": api, "kind": kind, "name": subject}]);
    let reference = json!({"apiGroup": api, "kind": role, "name": name});
    let metadata = json!({"name": name});
    let binding = json!({"apiVersion": format!("{api}/v1"), "kind": of, "metadata": metadata, "subjects": subjects,
        "roleRef": reference});
    (path, binding)
}

/// Creates namespaces, what is hidden, and the permissions of all users.
///
/// # Errors
/// The server refuses something.
pub(super) fn prepare(shared: &Shared) -> Result {
    let create = |(path, object): (String, Value)| -> Result {
        let body = object.to_string();
        match (Request { method: "POST", path: &path, body: &body, ..Request::default() })
            .ask(HONEST, shared.address)?
        {
            201 => Ok(()),
            code => Err(format!("{path}: {code}").into()),
        }
    };
    for namespace in [OPEN, CLOSED] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        create(("/api/v1/namespaces".to_owned(), object))?;
    }
    let map = |name: &str, text: &str| {
        let metadata = json!({"name": name, "labels": {"text": text}});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}})
    };
    create((maps(CLOSED), map(HIDDEN, HIDDEN)))?;
    create((maps(OPEN), map("shown", "shown")))?;
    let all = &["*"][..];
    let of_maps = rules(&["create", "delete", "get", "list", "patch", "watch"], &[""], &["configmaps"]);
    let of_bombs = rules(
        all,
        &["", "apiextensions.k8s.io", "bombs.example.com"],
        &["configmaps", "customresourcedefinitions", "bombs"],
    );
    let of_deputy = json!([{"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"],
        "resourceNames": ["reader"]}]);
    let of_roles = rules(&["create", "delete"], &["rbac.authorization.k8s.io"], &["roles"]);
    for (namespace, name, kind, subject, rules) in [
        ("", "bombs", "Group", "bombs", &of_bombs),
        ("", "deputy", "User", "deputy", &of_deputy),
        ("default", "writer", "User", "writer", &of_maps),
        (OPEN, "reader", "User", "reader", &rules(&["get", "list", "watch"], &[""], &["configmaps"])),
        (OPEN, "writer", "User", "writer", &of_roles),
        (CLOSED, "keeper", "User", "keeper", &of_maps),
    ] {
        create(role(namespace, name, rules))?;
        create(binding(namespace, name, kind, subject))?;
    }
    Ok(())
}

/// Asks until the test is over. `number` is in the names of users whose permissions come and go.
pub(super) fn run(shared: &Shared, number: usize) {
    let mut round = number;
    while !shared.is_over() {
        round += 1;
        Client { shared, number, round }.round();
        sleep(PAUSE);
    }
}

struct Client<'s> {
    shared: &'s Shared,
    number: usize,
    round: usize,
}

impl Client<'_> {
    fn round(&self) {
        let form = FORMS[self.round % FORMS.len()];
        let closed = maps(CLOSED);
        let hidden = format!("{closed}/{HIDDEN}");
        let reader = Request { token: "reader", accept: form, ..Request::default() };
        // What the user may not do, in all forms.
        let selector = format!("{closed}?labelSelector=text");
        let watch = format!("{closed}?watch=true&timeoutSeconds=1");
        let everywhere = "/api/v1/configmaps?limit=500";
        for path in [&*hidden, &closed, &selector, &watch, everywhere, "/api/v1/namespaces", "/metrics"] {
            self.asked(&Request { path, ..reader }, 403, false);
        }
        let patch = json!({"data": {"text": "changed"}}).to_string();
        let merge = "application/merge-patch+json";
        self.asked(&Request { method: "PATCH", path: &hidden, body: &patch, media: merge, ..reader }, 403, false);
        self.asked(&Request { method: "DELETE", path: &hidden, ..reader }, 403, false);
        self.asked(&Request { method: "DELETE", path: &closed, ..reader }, 403, false);
        // What it may do.
        self.asked(&Request { path: &maps(OPEN), ..reader }, 200, false);
        self.asked(&Request { path: &hidden, token: "keeper", ..Request::default() }, 200, true);
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
            "resourceAttributes": {"namespace": CLOSED, "verb": "get", "resource": "configmaps"}}});
        let body = review.to_string();
        let review = Request { method: "POST", path: REVIEWS, body: &body, accept: FORMS[0], ..reader };
        self.asked(&review, 201, false);
        // Users that are somebody else.
        let deputy = Request { token: "deputy", ..Request::default() };
        self.asked(&Request { path: &maps(OPEN), other: "reader", ..deputy }, 200, false);
        for (path, other) in [(&hidden, "reader"), (&hidden, "keeper"), (&hidden, "admin"), (&maps(OPEN), "")] {
            self.asked(&Request { path, other, ..deputy }, 403, false);
        }
        self.asked(&Request { path: &hidden, other: "keeper", ..reader }, 403, false);
        // Without a token, a client is `system:anonymous`.
        for (token, code) in [("", 403), ("nobody", 401), ("keeper2", 401)] {
            self.asked(&Request { path: &hidden, token, ..Request::default() }, code, false);
        }
        self.escalate();
        self.toggle(&hidden, form);
    }

    /// Nobody grants what he lacks.
    fn escalate(&self) {
        let (path, role) = role(OPEN, &format!("more-{}", self.number), &rules(&["get"], &[""], &["configmaps"]));
        let body = role.to_string();
        self.asked(
            &Request { method: "POST", path: &path, body: &body, token: "writer", ..Request::default() },
            403,
            false,
        );
    }

    /// Grants a permission and takes it back. Each is in force with the next request.
    ///
    /// Each round has its own user. If a grant or its end is not answered, nobody knows whether it is in force, so the
    /// round ends there.
    fn toggle(&self, hidden: &str, form: &str) {
        let user = format!("toggled-{}-{}", self.number, self.round);
        let (roles, role) = role(CLOSED, &user, &rules(&["get"], &[""], &["configmaps"]));
        let (bindings, binding) = binding(CLOSED, &user, "User", &user);
        let mine = Request { path: hidden, other: &user, accept: form, ..Request::default() };
        let create = |path: &str, object: &Value| {
            let body = object.to_string();
            self.asked(&Request { method: "POST", path, body: &body, ..Request::default() }, 201, true)
        };
        let delete = |path: &str| {
            let path = format!("{path}/{user}");
            self.asked(&Request { method: "DELETE", path: &path, ..Request::default() }, 200, true)
        };
        let (first, second) = if self.round.is_multiple_of(2) { (&roles, &bindings) } else { (&bindings, &roles) };
        self.asked(&mine, 403, false);
        if !create(&roles, &role) {
            return;
        }
        self.asked(&mine, 403, false);
        if !create(&bindings, &binding) {
            return;
        }
        self.asked(&mine, 200, true);
        if !delete(first) {
            return;
        }
        self.asked(&mine, 403, false);
        if delete(second) {
            self.asked(&mine, 403, false);
        }
    }

    /// Sends a request. It must get this code; what is hidden may be in the answer or not. A name that the request has
    /// may be in its refusal. Returns whether it got the code.
    fn asked(&self, request: &Request<'_>, expected: u16, may_see: bool) -> bool {
        self.shared.checked.fetch_add(1, Relaxed);
        let what = || {
            let who = if request.other.is_empty() { request.token } else { request.other };
            format!("{} {} as {who}", request.method, request.path)
        };
        let began = std::time::Instant::now();
        let why = match request.answer(HONEST, self.shared.address) {
            Ok(answer) => {
                let named = usize::from(request.path.contains(HIDDEN)) * NAMED;
                if !may_see && answer.text.matches(HIDDEN).count() > named {
                    lock(&self.shared.leaks).push(what());
                }
                if answer.code == expected {
                    return true;
                }
                format!("{}, expected {expected}", answer.code)
            }
            Err(error) => error.to_string(),
        };
        lock(&self.shared.failures).push((what(), why, began.elapsed()));
        false
    }
}

/// How often a refusal may have the name of its request: in its message and in its details.
const NAMED: usize = 2;
