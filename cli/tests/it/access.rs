//! Who may do what with `kube-apiserver` of `kubeshape envtest`: certificates, tokens, roles, impersonation, over TLS.
#![cfg(unix)]

use crate::common::Folder;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// An authority of client certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate").pem();
        Authority { issuer: Issuer::new(params, key), certificate }
    }

    /// Returns the certificate of a user and its key.
    fn user(&self, name: &str, groups: &[&str], last_year: i32) -> Who {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        // rcgen keeps one value of each type, so a certificate has one group.
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        params.not_after = rcgen::date_time_ymd(last_year, 1, 1);
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate").pem();
        Who { certificate: Some((certificate, key.serialize_pem())), headers: String::new() }
    }
}

/// The credentials of a request, and other headers.
#[derive(Clone, Default)]
struct Who {
    certificate: Option<(String, String)>,
    headers: String,
}

impl Who {
    fn token(token: &str) -> Who {
        Who::default().header("Authorization", &format!("Bearer {token}"))
    }

    fn header(&self, name: &str, value: &str) -> Who {
        let mut who = self.clone();
        let _ = write!(who.headers, "{name}: {value}\r\n");
        who
    }
}

/// A running server, which is killed at the end.
struct Server {
    child: Child,
    port: u16,
    roots: Arc<RootCertStore>,
    authority: Authority,
    _folder: Folder,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server in which roles decide.
    fn start(flags: &[&str]) -> Server {
        Server::start_with(&[&["--authorization-mode=RBAC"], flags].concat())
    }

    fn start_with(flags: &[&str]) -> Server {
        let folder = Folder::new();
        let run = folder.run("envtest -o assets");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let authority = Authority::new("clients");
        folder.write("clients.crt", &authority.certificate);
        folder.write("tokens.csv", "s3cret,tom,1001,\"dev,ops\"\n");
        folder.write("accounts.key", KeyPair::generate().expect("a key").serialize_pem());
        let mut child = Command::new(folder.path("assets/kube-apiserver"))
            .args([
                "--secure-port=0",
                "--cert-dir=certs",
                "--client-ca-file=clients.crt",
                "--token-auth-file=tokens.csv",
            ])
            .args(["--service-account-key-file=accounts.key", "--service-account-signing-key-file=accounts.key"])
            .args(["--service-account-issuer=https://localhost", "--disable-admission-plugins=ServiceAccount"])
            .args(flags)
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("output")).read_line(&mut line).expect("a line");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let mut roots = RootCertStore::empty();
        let own = folder.read("certs/apiserver.crt");
        roots.add(CertificateDer::from_pem_slice(own.as_bytes()).expect("PEM")).expect("a root");
        Server { child, port, roots: Arc::new(roots), authority, _folder: folder }
    }

    fn admin(&self) -> Who {
        self.authority.user("admin", &["system:masters"], 4000)
    }

    fn jane(&self) -> Who {
        self.authority.user("jane", &["dev"], 4000)
    }

    /// Sends a request. Returns the code and the body, if it is JSON.
    fn send(&self, who: &Who, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.send_to(self.port, who, method, path, body)
    }

    /// Returns the same for the port of a world.
    fn send_to(&self, port: u16, who: &Who, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_root_certificates(Arc::clone(&self.roots));
        let config = match &who.certificate {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM");
                config.with_client_auth_cert(chain, key).expect("a certificate")
            }
        };
        let name = ServerName::try_from("localhost").expect("a name");
        let session = ClientConnection::new(Arc::new(config), name).expect("a session");
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let mut stream = StreamOwned::new(session, stream);
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let (headers, length) = (&who.headers, text.len());
        let head = format!("{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {kind}\r\n{headers}");
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{text}").expect("a request");
        let mut answer = Vec::new();
        // The server may end the connection without a last message of TLS.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a code");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        (code, serde_json::from_str(body).unwrap_or_else(|_| body.into()))
    }

    fn get(&self, who: &Who, path: &str) -> (u16, Value) {
        self.send(who, "GET", path, &Value::Null)
    }

    /// Creates an object as the administrator.
    fn create(&self, path: &str, object: &Value) -> Value {
        let (code, created) = self.send(&self.admin(), "POST", path, object);
        assert_eq!(code, 201, "{created}");
        created
    }

    /// Returns who the server says that a user is.
    fn identity(&self, who: &Who) -> Value {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let (code, reviewed) = self.send(who, "POST", REVIEWS, &review);
        assert_eq!(code, 201, "{reviewed}");
        reviewed["status"]["userInfo"].clone()
    }

    /// Checks that a request is refused with 403, and returns the message.
    fn refused(&self, who: &Who, method: &str, path: &str, body: &Value) -> String {
        let (code, status) = self.send(who, method, path, body);
        assert_eq!(code, 403, "{status}");
        assert_eq!((&status["kind"], &status["reason"]), (&json!("Status"), &json!("Forbidden")));
        status["message"].as_str().expect("a message").to_owned()
    }
}

fn rule(verbs: &[&str], group: &str, resources: &[&str]) -> Value {
    json!({"verbs": verbs, "apiGroups": [group], "resources": resources})
}

fn role(kind: &str, name: &str, rules: &[Value]) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "rules": rules})
}

/// Binds a role to the user `jane`.
fn binding(kind: &str, name: &str, role_kind: &str, role: &str) -> Value {
    let group = "rbac.authorization.k8s.io";
    json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": role_kind, "name": role},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "jane"}]})
}

fn unauthorized() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401})
}

#[test]
fn a_client_certificate_names_the_user_and_its_group() {
    let server = Server::start(&[]);
    let jane = server.identity(&server.jane());
    assert_eq!((&jane["username"], &jane["groups"]), (&json!("jane"), &json!(["dev", "system:authenticated"])));
    let id = jane["extra"]["authentication.kubernetes.io/credential-id"][0].as_str().expect("an id");
    assert!(id.starts_with("X509SHA256=") && id.len() == 11 + 64, "{id}");
    assert_eq!(server.get(&server.admin(), MAPS).0, 200);
    for (what, who) in [
        ("an expired certificate", server.authority.user("admin", &["system:masters"], 2001)),
        ("another authority", Authority::new("clients").user("admin", &["system:masters"], 4000)),
    ] {
        assert_eq!(server.get(&who, MAPS), (401, unauthorized()), "{what}");
    }
    let expected = "configmaps is forbidden: User \"system:anonymous\" cannot list resource \"configmaps\" in API group \
                    \"\" in the namespace \"default\"";
    assert_eq!(server.refused(&Who::default(), "GET", MAPS, &Value::Null), expected);
}

#[test]
fn requests_without_credentials_can_be_refused() {
    let server = Server::start(&["--anonymous-auth=false"]);
    assert_eq!(server.get(&Who::default(), MAPS), (401, unauthorized()));
    assert_eq!(server.get(&Who::default(), "/readyz").0, 200);
}

#[test]
fn without_roles_known_users_may_do_everything_and_others_nothing() {
    let server = Server::start_with(&["--anonymous-auth=true"]);
    assert_eq!(server.get(&server.jane(), MAPS).0, 200);
    assert_eq!(server.get(&Who::default(), MAPS), (401, unauthorized()));
    assert_eq!(server.get(&Who::default().header("Authorization", "Basic amFuZTpwYXNz"), MAPS), (401, unauthorized()));
}

#[test]
fn bearer_tokens_are_those_of_the_file_and_of_service_accounts() {
    let server = Server::start(&[]);
    let tom = server.identity(&Who::token("s3cret"));
    let expected = json!({"username": "tom", "uid": "1001", "groups": ["dev", "ops", "system:authenticated"]});
    assert_eq!(tom, expected);
    assert_eq!(server.get(&Who::token("s3cre"), MAPS), (401, unauthorized()));
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    let created = server.create(accounts, &account);
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let answer = server.create(&format!("{accounts}/robot/token"), &request);
    let robot = Who::token(answer["status"]["token"].as_str().expect("a token"));
    let known = server.identity(&robot);
    let groups = json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]);
    assert_eq!(known["username"], json!("system:serviceaccount:default:robot"));
    assert_eq!((&known["groups"], &known["uid"]), (&groups, &created["metadata"]["uid"]));
    // The signature must be right, and the account must exist.
    let forged = Who::token(&format!("{}x", answer["status"]["token"].as_str().expect("a token")));
    assert_eq!(server.get(&forged, MAPS), (401, unauthorized()));
    assert_eq!(server.send(&server.admin(), "DELETE", &format!("{accounts}/robot"), &Value::Null).0, 200);
    assert_eq!(server.get(&robot, MAPS), (401, unauthorized()));
}

#[test]
fn roles_decide_and_refusals_have_the_words_of_the_server() {
    let server = Server::start(&[]);
    let jane = server.jane();
    let list = "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group \"\"";
    for (method, path, message) in [
        ("GET", MAPS, format!("{list} in the namespace \"default\"")),
        ("GET", "/api/v1/configmaps", format!("{list} at the cluster scope")),
        (
            "GET",
            "/api/v1/namespaces/default/configmaps/a",
            "configmaps \"a\" is forbidden: User \"jane\" cannot get \
            resource \"configmaps\" in API group \"\" in the namespace \"default\""
                .to_owned(),
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/default/deployments/a/scale",
            "deployments.apps \"a\" is forbidden: User \
            \"jane\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \
            \"default\""
                .to_owned(),
        ),
        (
            "DELETE",
            "/api/v1/namespaces/default",
            "namespaces \"default\" is forbidden: User \"jane\" cannot delete \
            resource \"namespaces\" in API group \"\" in the namespace \"default\""
                .to_owned(),
        ),
        ("GET", "/metrics", "forbidden: User \"jane\" cannot get path \"/metrics\"".to_owned()),
    ] {
        assert_eq!(server.refused(&jane, method, path, &Value::Null), message);
    }
    server.create(ROLES, &role("Role", "reader", &[rule(&["get", "list"], "", &["configmaps"])]));
    server.create(BINDINGS, &binding("RoleBinding", "reader", "Role", "reader"));
    assert_eq!(server.get(&jane, MAPS).0, 200);
    assert_eq!(server.get(&jane, "/api/v1/namespaces/kube-system/configmaps").0, 403);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let create = "configmaps is forbidden: User \"jane\" cannot create resource \"configmaps\" in API group \"\" in the \
                  namespace \"default\"";
    assert_eq!(server.refused(&jane, "POST", MAPS, &map), create);
    // A rule for names, and one for paths.
    let named = json!({"verbs": ["delete"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"]});
    let path = json!({"verbs": ["get"], "nonResourceURLs": ["/metrics"]});
    server.create(&format!("{RBAC}/clusterroles"), &role("ClusterRole", "some", &[named, path]));
    server
        .create(&format!("{RBAC}/clusterrolebindings"), &binding("ClusterRoleBinding", "some", "ClusterRole", "some"));
    server.create(MAPS, &map);
    assert_eq!(server.send(&jane, "DELETE", &format!("{MAPS}/b"), &Value::Null).0, 403);
    assert_eq!(server.send(&jane, "DELETE", &format!("{MAPS}/a"), &Value::Null).0, 200);
    assert_eq!(server.get(&jane, "/metrics").0, 200);
}

#[test]
fn aggregated_roles_have_the_rules_of_labelled_ones() {
    let server = Server::start(&[]);
    let jane = server.jane();
    server.create(BINDINGS, &binding("RoleBinding", "view", "ClusterRole", "view"));
    let tabs = "/apis/example.com/v1/namespaces/default/tabs";
    assert_eq!(server.get(&jane, tabs).0, 403);
    let mut own = role("ClusterRole", "tabs", &[rule(&["list"], "example.com", &["tabs"])]);
    own["metadata"]["labels"] = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    server.create(&format!("{RBAC}/clusterroles"), &own);
    // The permission is there; the resource is not.
    assert_eq!(server.get(&jane, tabs).0, 404);
    assert_eq!(server.get(&jane, MAPS).0, 200);
    assert_eq!(server.get(&jane, "/api/v1/namespaces/default/secrets").0, 403);
}

#[test]
fn nobody_grants_permissions_that_he_lacks() {
    let server = Server::start(&[]);
    let jane = server.jane();
    let rules =
        [rule(&["create"], "rbac.authorization.k8s.io", &["roles", "rolebindings"]), rule(&["get"], "", &["pods"])];
    server.create(ROLES, &role("Role", "granter", &rules));
    server.create(BINDINGS, &binding("RoleBinding", "granter", "Role", "granter"));
    let secrets = |name: &str| role("Role", name, &[rule(&["get"], "", &["secrets"])]);
    let why = "user \"jane\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not \
               currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";
    let refused = server.refused(&jane, "POST", ROLES, &secrets("a"));
    assert_eq!(refused, format!("roles.rbac.authorization.k8s.io \"a\" is forbidden: {why}"));
    assert_eq!(server.send(&jane, "POST", ROLES, &role("Role", "own", &[rule(&["get"], "", &["pods"])])).0, 201);
    server.create(ROLES, &secrets("secrets"));
    let to_secrets = binding("RoleBinding", "a", "Role", "secrets");
    let refused = server.refused(&jane, "POST", BINDINGS, &to_secrets);
    assert_eq!(refused, format!("rolebindings.rbac.authorization.k8s.io \"a\" is forbidden: {why}"));
    let (code, status) = server.send(&jane, "POST", BINDINGS, &binding("RoleBinding", "a", "Role", "none"));
    let message = json!("roles.rbac.authorization.k8s.io \"none\" not found");
    assert_eq!((code, &status["message"]), (404, &message));
    // The verbs `escalate` and `bind` permit it.
    let mut bind = rule(&["bind"], "rbac.authorization.k8s.io", &["roles"]);
    bind["resourceNames"] = json!(["secrets"]);
    server.create(ROLES, &role("Role", "more", &[rule(&["escalate"], "rbac.authorization.k8s.io", &["roles"]), bind]));
    server.create(BINDINGS, &binding("RoleBinding", "more", "Role", "more"));
    assert_eq!(server.send(&jane, "POST", ROLES, &secrets("a")).0, 201);
    assert_eq!(server.send(&jane, "POST", BINDINGS, &to_secrets).0, 201);
    let other = binding("RoleBinding", "b", "ClusterRole", "cluster-admin");
    assert!(server.refused(&jane, "POST", BINDINGS, &other).contains("is attempting to grant RBAC permissions"));
}

#[test]
fn impersonation_headers_name_another_user() {
    let server = Server::start(&[]);
    let admin = server.admin();
    let other =
        admin.header("Impersonate-User", "tom").header("Impersonate-Group", "ops").header("Impersonate-Group", "dev");
    let other = other.header("Impersonate-Uid", "7").header("Impersonate-Extra-Example.com%2fscopes", "a");
    let expected = json!({"username": "tom", "uid": "7", "groups": ["ops", "dev", "system:authenticated"],
        "extra": {"example.com/scopes": ["a"]}});
    assert_eq!(server.identity(&other), expected);
    for (name, groups) in [
        (
            "system:serviceaccount:default:robot",
            json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]),
        ),
        ("system:node:a", json!(["system:nodes", "system:authenticated"])),
    ] {
        let known = server.identity(&admin.header("Impersonate-User", name));
        assert_eq!((&known["username"], &known["groups"]), (&json!(name), &groups));
    }
    let nobody = server.refused(&admin.header("Impersonate-User", "system:anonymous"), "GET", MAPS, &Value::Null);
    assert!(nobody.starts_with("configmaps is forbidden: User \"system:anonymous\" cannot list"), "{nobody}");
    // What the other user may not do is refused in his name.
    let message = "configmaps is forbidden: User \"tom\" cannot list resource \"configmaps\" in API group \"\" in the \
                   namespace \"default\"";
    assert_eq!(server.refused(&other, "GET", MAPS, &Value::Null), message);
    let (code, status) = server.get(&admin.header("Impersonate-Group", "dev"), MAPS);
    let message = "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"dev\"}, \
                   Extra:map[string][]string(nil)} without impersonating a user name";
    assert_eq!((code, &status["message"], &status["reason"]), (400, &json!(message), &json!("BadRequest")));
}

#[test]
fn impersonation_needs_permissions() {
    let server = Server::start(&[]);
    let jane = server.jane();
    let tom = jane.header("Impersonate-User", "tom");
    let on = "configmaps is forbidden: User \"jane\" cannot impersonate-on:user-info:list resource \"configmaps\" in API \
              group \"\" in the namespace \"default\"";
    assert_eq!(server.refused(&tom, "GET", MAPS, &Value::Null), on);
    let bind = |name: &str, rules: &[Value]| {
        server.create(&format!("{RBAC}/clusterroles"), &role("ClusterRole", name, rules));
        server
            .create(&format!("{RBAC}/clusterrolebindings"), &binding("ClusterRoleBinding", name, "ClusterRole", name));
    };
    bind("on", &[rule(&["impersonate-on:user-info:list"], "", &["configmaps"])]);
    let user = "users.authentication.k8s.io \"tom\" is forbidden: User \"jane\" cannot impersonate:user-info resource \
                \"users\" in API group \"authentication.k8s.io\" at the cluster scope";
    assert_eq!(server.refused(&tom, "GET", MAPS, &Value::Null), user);
    bind("users", &[rule(&["impersonate:user-info"], "authentication.k8s.io", &["users", "groups"])]);
    let of_tom = |what: &str| {
        format!(
            "configmaps is forbidden: User \"{what}\" cannot list resource \"configmaps\" in API \
                                       group \"\" in the namespace \"default\""
        )
    };
    assert_eq!(server.refused(&tom, "GET", MAPS, &Value::Null), of_tom("tom"));
    let masters = tom.header("Impersonate-Group", "system:masters");
    let refused = "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"jane\" cannot \
                   impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope: \
                   impersonating the system:masters group is not allowed";
    assert_eq!(server.refused(&masters, "GET", MAPS, &Value::Null), refused);
    // The older verb permits each request of such a user.
    bind("older", &[rule(&["impersonate"], "", &["users"])]);
    let refused = server.refused(&tom, "DELETE", &format!("{MAPS}/a"), &Value::Null);
    assert!(refused.contains("User \"tom\""), "{refused}");
}

#[test]
fn older_releases_know_one_verb_of_impersonation() {
    let server = Server::start(&["--kubeshape-kubernetes=1.35"]);
    let tom = server.jane().header("Impersonate-User", "tom");
    let refused = "users \"tom\" is forbidden: User \"jane\" cannot impersonate resource \"users\" in API group \"\" at the \
                   cluster scope";
    assert_eq!(server.refused(&tom, "GET", MAPS, &Value::Null), refused);
    let (code, status) = server.get(&server.admin().header("Impersonate-Group", "dev"), MAPS);
    let message = "requested [{Group  dev    }] without impersonating a user";
    assert_eq!((code, &status["message"]), (400, &json!(message)));
}

#[test]
fn kubelets_are_restricted_if_the_flag_names_the_plugin() {
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    let kubelet = |server: &Server| server.authority.user("system:node:mine", &["system:nodes"], 4000);
    let server = Server::start_with(&["--enable-admission-plugins=NodeRestriction,PodSecurity"]);
    assert_eq!(
        server.refused(&kubelet(&server), "POST", "/api/v1/nodes", &node("other")),
        r#"nodes "other" is forbidden: node "mine" is not allowed to modify node "other""#
    );
    assert_eq!(server.send(&kubelet(&server), "POST", "/api/v1/nodes", &node("mine")).0, 201);
    for flags in
        [&[][..], &["--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=NodeRestriction"]]
    {
        let server = Server::start_with(flags);
        assert_eq!(server.send(&kubelet(&server), "POST", "/api/v1/nodes", &node("other")).0, 201);
    }
}

#[test]
fn worlds_have_the_users_of_the_server_and_roles_of_their_own() {
    let server = Server::start(&["--kubeshape-extensions=true"]);
    let (admin, jane, tom) = (server.admin(), server.jane(), Who::token("s3cret"));
    // Who may make one.
    let path = "/kubeshape/worlds";
    let why = "forbidden: User \"jane\" cannot post path \"/kubeshape/worlds\"";
    assert_eq!(server.refused(&jane, "POST", path, &Value::Null), why);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    server.create(accounts, &json!({"metadata": {"name": "robot"}}));
    let tokens = format!("{accounts}/robot/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token_of = |answer: (u16, Value)| {
        assert_eq!(answer.0, 201, "{}", answer.1);
        Who::token(answer.1["status"]["token"].as_str().expect("a token"))
    };
    let robot = token_of(server.send(&admin, "POST", &tokens, &request));
    let (code, kept) = server.send(&admin, "POST", "/kubeshape/snapshot", &Value::Null);
    assert_eq!(code, 200, "{kept}");
    let world = || {
        let (code, made) = server.send(&admin, "POST", path, &kept);
        assert_eq!(code, 200, "{made}");
        let url = made["url"].as_str().and_then(|url| url.strip_prefix("https://127.0.0.1:")).expect("an address");
        url.parse::<u16>().expect("a port")
    };
    let (one, other) = (world(), world());
    let at =
        |port: u16, who: &Who, method: &str, path: &str, body: &Value| server.send_to(port, who, method, path, body);
    for port in [one, other] {
        // Users with a certificate, with a token of the file and of an account, and one with a wrong token.
        for (who, name) in [(&jane, "jane"), (&tom, "tom"), (&robot, "system:serviceaccount:default:robot")] {
            let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
            let (code, reviewed) = at(port, who, "POST", REVIEWS, &review);
            assert_eq!((code, &reviewed["status"]["userInfo"]["username"]), (201, &json!(name)), "{reviewed}");
        }
        assert_eq!(at(port, &Who::token("wrong"), "GET", MAPS, &Value::Null).0, 401);
        assert_eq!(at(port, &jane, "GET", MAPS, &Value::Null).0, 403);
    }
    // Roles are compiled once for each revision: those of another world have the same revisions.
    for (port, resource) in [(one, "configmaps"), (other, "secrets")] {
        let (code, made) = at(port, &admin, "POST", ROLES, &role("Role", "r", &[rule(&["list"], "", &[resource])]));
        assert_eq!(code, 201, "{made}");
        let (code, made) = at(port, &admin, "POST", BINDINGS, &binding("RoleBinding", "r", "Role", "r"));
        assert_eq!(code, 201, "{made}");
    }
    let secrets = "/api/v1/namespaces/default/secrets";
    let codes = |port: u16| [MAPS, secrets].map(|path| at(port, &jane, "GET", path, &Value::Null).0);
    assert_eq!([codes(server.port), codes(one), codes(other)], [[403, 403], [200, 403], [403, 200]]);
    // A token is valid in a world as long as its account exists there.
    assert_eq!(at(one, &admin, "DELETE", &format!("{accounts}/robot"), &Value::Null).0, 200);
    let identity = |port: u16| at(port, &robot, "GET", "/version", &Value::Null).0;
    assert_eq!([identity(server.port), identity(one), identity(other)], [200, 401, 200]);
    token_of(at(other, &admin, "POST", &tokens, &request));
}
