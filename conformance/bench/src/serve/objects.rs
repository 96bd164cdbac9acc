//! `kubeshape serve --objects`: requests per second of one client, with and without TLS, and memory per object.

use super::client::{Connection, Request, is_ready_over};
use super::process::Server;
use rustls::pki_types::pem::PemObject;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of objects in the list.
const LISTED: usize = 1000;
/// Number of objects for measuring memory, and bytes of each.
const KEPT: (usize, usize) = (20_000, 5_000);
const ALL: &str = "/apis/example.com/v1/namespaces/default/tabs";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Image, type: string, jsonPath: .spec.image}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [image]
            properties:
              size: {type: integer, minimum: 0, default: 1}
              image: {type: string, maxLength: 100}
              note: {type: string}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port]
                items: {type: object, required: [port], properties: {port: {type: integer}, name: {type: string}}}
            x-kubernetes-validations: [{rule: 'self.size < 1000000', message: too large}]
";

/// The recorded rates of a real server of Kubernetes 1.36, over TLS on two shared cores, with one client.
const RECORDED: [(&str, f64); 2] = [("get", 899.0), ("server-side apply", 490.0)];

/// `serve-objects [--program KUBESHAPE] [--time MS]`
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|i| arguments.get(i + 1)).cloned();
    let sibling = std::env::current_exe().ok().map(|own| own.with_file_name("kubeshape"));
    let program = value("--program").map(PathBuf::from).or(sibling).unwrap_or_else(|| PathBuf::from("kubeshape"));
    let time = Duration::from_millis(value("--time").and_then(|ms| ms.parse().ok()).unwrap_or(3000));
    match measure(&program, time) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// How clients of a server connect.
struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    client: Arc<rustls::ClientConfig>,
}

impl Tls {
    fn new(folder: &Path) -> Result<Tls, String> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(|error| error.to_string())?;
        let (certificate, key) = (folder.join("server.crt"), folder.join("server.key"));
        std::fs::write(&certificate, made.cert.pem()).map_err(|error| error.to_string())?;
        std::fs::write(&key, made.signing_key.serialize_pem()).map_err(|error| error.to_string())?;
        let mut roots = rustls::RootCertStore::empty();
        let parsed = rustls::pki_types::CertificateDer::from_pem_slice(made.cert.pem().as_bytes());
        roots.add(parsed.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = client.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
        Ok(Tls { certificate, key, client: Arc::new(client) })
    }
}

fn measure(program: &Path, time: Duration) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let scratch = scratch.path();
    std::fs::write(scratch.join("tabs.yaml"), DEFINITION).map_err(|error| error.to_string())?;
    std::fs::create_dir(scratch.join("objects")).map_err(|error| error.to_string())?;
    let tls = Tls::new(scratch)?;
    println!("| what | TLS | requests per second | processor time of the server | recorded | times |");
    println!("|---|---|---|---|---|---|");
    for tls in [None, Some(&tls)] {
        let server = start(program, scratch, tls)?;
        let connect = || open(server.address, tls).map_err(|error| error.to_string());
        let mut connection = connect()?;
        for n in 0..LISTED {
            expect(&mut connection, &create(n, 500), 201)?;
        }
        let name = if tls.is_some() { "on" } else { "off" };
        let get = Request::get(&format!("{ALL}/tab-7"), &[("Accept", "application/json")]);
        rate("get", name, &server, &mut connection, time, |_| get.clone())?;
        let list = Request::get(&format!("{ALL}?limit=5000"), &[("Accept", TABLE)]);
        rate("list as a table of 1,000", name, &server, &mut connection, time, |_| list.clone())?;
        let list = Request::get(&format!("{ALL}?limit=5000"), &[("Accept", "application/json")]);
        rate("list of 1,000", name, &server, &mut connection, time, |_| list.clone())?;
        rate("server-side apply", name, &server, &mut connection, time, apply)?;
    }
    let server = start(program, scratch, None)?;
    let mut connection = open(server.address, None).map_err(|error| error.to_string())?;
    expect(&mut connection, &create(KEPT.0, KEPT.1), 201)?;
    server.settle()?;
    let before = server.resident();
    let mut bytes = 0;
    for n in 0..KEPT.0 {
        bytes += expect(&mut connection, &create(n, KEPT.1), 201)?;
    }
    server.settle()?;
    #[allow(clippy::cast_precision_loss)]
    let ratio = (server.resident() - before) / bytes as f64;
    println!("\n{} objects of {} bytes of JSON: memory {ratio:.2} times their JSON", KEPT.0, bytes / KEPT.0);
    Ok(())
}

fn start(program: &Path, scratch: &Path, tls: Option<&Tls>) -> Result<Server, String> {
    let arguments = |command: &mut std::process::Command, address: &str| {
        command.args(["serve", "--listen", address, "--log-level", "error", "--objects"]);
        command.arg(scratch.join("objects")).arg(scratch.join("tabs.yaml"));
        if let Some(tls) = tls {
            command.arg("--tls-cert").arg(&tls.certificate).arg("--tls-key").arg(&tls.key);
        }
    };
    match tls {
        None => Server::start(program, arguments),
        Some(_) => Server::start_until(program, arguments, |address| open(address, tls).is_ok_and(is_ready_over)),
    }
}

fn open(address: SocketAddr, tls: Option<&Tls>) -> io::Result<Connection> {
    match tls {
        None => Connection::open(address),
        Some(tls) => Connection::open_tls(address, &tls.client),
    }
}

/// Returns a request with a new object.
fn create(n: usize, bytes: usize) -> Request {
    let note = "x".repeat(bytes.saturating_sub(500));
    let ports: Vec<_> =
        (0..4).map(|port| serde_json::json!({"port": 8000 + port, "name": format!("p{port}")})).collect();
    let object = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": format!("tab-{n}"), "labels": {"n": n.to_string()}},
        "spec": {"image": "registry.example.com/app:1", "size": n, "note": note, "ports": ports},
    });
    Request::with_body("POST", ALL, "application/json", object.to_string().as_bytes())
}

/// Returns an apply that changes an object.
fn apply(n: usize) -> Request {
    let ports: Vec<_> =
        (0..4).map(|port| serde_json::json!({"port": 8000 + port, "name": format!("q{n}-{port}")})).collect();
    let object = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": format!("tab-{}", n % 100)},
        "spec": {"image": "registry.example.com/app:2", "size": n, "ports": ports},
    });
    let path = format!("{ALL}/tab-{}?fieldManager=bench&force=true", n % 100);
    Request::with_body("PATCH", &path, "application/apply-patch+yaml", object.to_string().as_bytes())
}

/// Sends a request that must get this status. Returns the length of the response.
fn expect(connection: &mut Connection, request: &Request, code: u16) -> Result<usize, String> {
    let answer = connection.ask(request).map_err(|error| error.to_string())?;
    if answer.status == code {
        return Ok(answer.body.len());
    }
    Err(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)))
}

/// Measures the requests of one client.
fn rate(
    what: &str,
    tls: &str,
    server: &Server,
    connection: &mut Connection,
    time: Duration,
    request: impl Fn(usize) -> Request,
) -> Result<(), String> {
    for n in 0..20 {
        expect(connection, &request(n), 200)?;
    }
    let (began, before) = (Instant::now(), server.seconds()?);
    let mut count = 0;
    while began.elapsed() < time {
        expect(connection, &request(20 + count), 200)?;
        count += 1;
    }
    let (elapsed, used) = (began.elapsed().as_secs_f64(), server.seconds()? - before);
    #[allow(clippy::cast_precision_loss)]
    let (per_second, each) = (count as f64 / elapsed, used * 1e6 / count as f64);
    let recorded = RECORDED.iter().find(|(name, _)| *name == what).map(|(_, recorded)| *recorded);
    let shown = recorded.map_or(String::new(), |recorded| format!("{recorded}"));
    let times = recorded.map_or(String::new(), |recorded| format!("{:.1}", per_second / recorded));
    println!("| {what} | {tls} | {per_second:.0} | {each:.0} µs | {shown} | {times} |");
    Ok(())
}
