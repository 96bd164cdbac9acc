//! Tests of `kubeshape pull` and `kubeshape cache` with `kubeshape serve`, and with servers that misbehave.

use crate::common::{Folder, Run};
use crate::serve::Server;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  names: {plural: tabs, kind: Tab}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, maximum: 9, default: 3}
";
/// The number of times that a process is killed. `KUBESHAPE_KILLS` sets another number.
const ROUNDS: usize = 12;

fn server(folder: &Folder, more: &str) -> Server {
    folder.write("crds/tabs.yaml", CRD);
    Server::start(folder, &format!("crds {more} --log-level error"))
}

fn pull(folder: &Folder, server: &Server, more: &str) -> Run {
    unwrapped(folder.run(&format!("pull --server http://{} --cache cache {more}", server.address)))
}

/// Returns a run with messages that are not broken into lines.
pub(crate) fn unwrapped(mut run: Run) -> Run {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (run.err, run.out) = (words(&run.err), words(&run.out));
    run
}

/// Path and query of each request, and what `answer` answers it with: a whole response.
fn other(answer: impl Fn(&str, TcpStream) + Send + Sync + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (asked, answer) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(answer));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            std::thread::spawn(move || {
                let (mut head, mut stream) = (Vec::new(), stream);
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                kept.lock().expect("no panic").push(head);
                answer(&path, stream);
            });
        }
    });
    (address, asked)
}

fn respond(mut stream: TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}");
}

fn index_of(path: &str) -> String {
    format!(r#"{{"paths":{{"{path}":{{"serverRelativeURL":"/openapi/v3/{path}?hash=1"}}}}}}"#)
}

#[test]
fn pulled_documents_can_be_served_again() {
    let folder = Folder::new();
    let first = server(&folder, "--kubernetes 1.36 --objects crds");
    let run = pull(&folder, &first, "-o out --crds --openapi-v2");
    assert_eq!((run.code, &run.out[..]), (Some(0), ""), "{}", run.err);
    let second = Server::start(&folder, "--base out --log-level error");
    let run = pull(&folder, &second, "-o again");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains(" 0 downloaded"), "the hashes are the same: {}", run.err);
    let names = |name: &str| {
        let mut names: Vec<String> = std::fs::read_dir(folder.path(name))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("Unicode"))
            .filter(|name| name.ends_with("_openapi.json"))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("out"), names("again"));
    assert!(names("out").contains(&"apis__example.com__v1_openapi.json".to_owned()));
    for name in ["discovery/apis.json", "discovery/api.json", "discovery/version.json"] {
        assert_eq!(folder.read(&format!("out/{name}")), folder.read(&format!("again/{name}")), "{name}");
    }
    for path in ["/openapi/v2", "/openapi/v3"] {
        assert!(first.get(path) == second.get(path), "{path}");
    }
    // The definition is that of the file, with what a server adds.
    let definition = folder.read("out/crds/tabs.example.com.yaml");
    assert!(definition.contains("maximum: 9") && !definition.contains("managedFields"), "{definition}");
    let checked = folder.run("check out/crds");
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
}

#[test]
fn the_release_of_the_server_does_not_change_the_documents() {
    let folder = Folder::new();
    let document = |emulate: &str| {
        let server = server(&folder, emulate);
        let run = folder.run(&format!("pull --server http://{} --no-cache -o {}", server.address, &emulate[10..]));
        assert_eq!(run.code, Some(0), "{emulate}: {}", run.err);
        let warned = run.err.contains("KS1043");
        (warned, folder.read(&format!("{}/apis__example.com__v1_openapi.json", &emulate[10..])))
    };
    // 1.22 has only OpenAPI v2, 1.26 has unaggregated discovery and v2beta1 as an alpha feature, 1.36 has everything.
    let (warned, converted) = document("--emulate 1.22");
    assert!(warned && converted.contains("com.example.v1.Tab") && !converted.contains("\"default\":3"), "{converted}");
    for emulate in ["--emulate 1.26", "--emulate 1.28", "--emulate 1.36"] {
        let (warned, document) = document(emulate);
        assert!(!warned && document.contains(r#""maximum":9"#), "{emulate}");
    }
    let names = |emulate: &str| {
        let mut names: Vec<_> = std::fs::read_dir(folder.path(&format!("{emulate}/discovery")))
            .expect("there")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        names
    };
    assert!(names("1.22").len() > names("1.36").len(), "by group versions: {:?}", names("1.22"));
}

/// Returns a function that runs commands with the server as the cluster of the context `dev`.
fn in_context<'f>(folder: &'f Folder, server: &Server) -> impl Fn(&str) -> Run + use<'f> {
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: dev\ncontexts: [{{name: dev, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: 'http://{}'}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n",
        server.address
    );
    folder.write("kubeconfig", config);
    move |line: &str| {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = folder.command(&arguments);
        command.env("KUBECONFIG", folder.path("kubeconfig")).env("KUBESHAPE_CACHE", folder.path("cache"));
        unwrapped(Run::of(&command.output().expect("a run")))
    }
}

fn tab(size: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: t}}\nspec: {{size: {size}}}\n")
}

#[test]
fn the_release_of_a_cluster_is_the_default() {
    let folder = Folder::new();
    // Before 1.36, the range of int32 is not enforced.
    folder.write("tabs/tabs.yaml", CRD.replace("maximum: 9", "format: int32"));
    folder.write("big.yaml", tab("3000000000"));
    folder.write(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: b}]}\n",
    );
    let server = Server::start(&folder, "tabs --kubernetes 1.34 --objects data --log-level error");
    let run = in_context(&folder, &server);
    let judged = run("validate --schemas cluster:dev big.yaml pod.yaml");
    assert_eq!(judged.code, Some(0), "{}{}", judged.out, judged.err);
    let all = format!("{} {}", judged.out, judged.err);
    assert!(all.contains("2 accepted by Kubernetes 1.34"), "{all}");
    assert!(all.contains("as by Kubernetes 1.34, the release of the cluster in `--schemas`."), "{all}");
    assert_eq!(run("validate --schemas cluster:dev --kubernetes 1.37 big.yaml").code, Some(1));
    assert_eq!(run("validate --schemas tabs big.yaml").code, Some(1));
    let checked = run("check cluster:dev");
    assert!(checked.out.contains("checked for Kubernetes 1.34"), "{}{}", checked.out, checked.err);
    let checked = run("check cluster:dev --kubernetes 1.35");
    assert!(checked.out.contains("checked for Kubernetes 1.35"), "{}{}", checked.out, checked.err);
    // Its saved documents say the same.
    assert_eq!(run("pull --context dev -o saved").code, Some(0));
    assert_eq!(run("validate --schemas saved --schemas tabs big.yaml").code, Some(0));
}

#[test]
fn other_commands_read_from_clusters() {
    let folder = Folder::new();
    let first = server(&folder, "--objects crds");
    folder.write("good.yaml", tab("1")).write("bad.yaml", tab("10"));
    let run = in_context(&folder, &first);
    for context in ["cluster:", "cluster:dev"] {
        assert_eq!(run(&format!("validate --schemas {context} good.yaml")).code, Some(0));
        let refused = run(&format!("validate --schemas {context} bad.yaml"));
        assert!(refused.code == Some(1) && refused.out.contains("less than or equal to 9"), "{}", refused.out);
    }
    let differs = run("diff cluster:dev crds");
    assert_eq!(differs.code, Some(0), "{}{}", differs.out, differs.err);
    drop(first);
    let away = run("validate --schemas cluster:dev good.yaml");
    assert!(away.code == Some(2) && away.out.contains("Connection refused"), "{}", away.out);
    assert_eq!(run("validate --schemas cluster:dev --offline good.yaml").code, Some(0));
    let unknown = run("validate --schemas cluster:prod good.yaml");
    assert!(unknown.code == Some(2) && unknown.out.contains("prod"), "{}", unknown.out);
    let offline = run("pull --context dev --offline -o out");
    assert_eq!(offline.code, Some(0), "{}", offline.err);
    assert!(folder.path("out/apis__example.com__v1_openapi.json").exists());
    let without = run("pull --context dev --offline --openapi-v2 -o out");
    assert!(without.code == Some(0) && without.err.contains("there is no OpenAPI v2 in the cache"), "{}", without.err);
}

#[test]
fn pulled_files_follow_a_changing_cluster() {
    let folder = Folder::new();
    let first = server(&folder, "");
    assert_eq!(pull(&folder, &first, "-o out").code, Some(0));
    folder.write("out/mine_openapi.json", "{}");
    drop(first);
    folder.write("crds/tabs.yaml", CRD.replace("name: v1", "name: v2"));
    let second = Server::start(&folder, "crds --log-level error");
    let dry = pull(&folder, &second, "-o out --prune --dry-run");
    assert!(dry.out.contains("would delete out/apis__example.com__v1_openapi.json"), "{}", dry.out);
    let kept = pull(&folder, &second, "-o out");
    assert!(kept.code == Some(0) && folder.path("out/apis__example.com__v1_openapi.json").exists());
    let pruned = pull(&folder, &second, "-o out --prune");
    assert_eq!(pruned.code, Some(0), "{}", pruned.err);
    assert!(!folder.path("out/apis__example.com__v1_openapi.json").exists());
    assert!(folder.path("out/mine_openapi.json").exists(), "it is somebody else's");
    // A result that a run does not ask for does not count as removed from the cluster.
    for more in ["--single -o both", "-o both --prune", "--single -o both --prune"] {
        assert_eq!(pull(&folder, &second, more).code, Some(0));
    }
    assert!(
        folder.path("both/openapi.json").exists() && folder.path("both/apis__example.com__v2_openapi.json").exists()
    );
    let one = pull(&folder, &second, "--group-version example.com/v1 -o out");
    assert!(one.code == Some(2) && one.err.contains("no document \"apis/example.com/v1\""), "{}", one.err);
    let wrong = pull(&folder, &second, "--group-version ../v1 -o out");
    assert!(wrong.code == Some(2) && wrong.err.contains("--group-version takes apps/v1"), "{}", wrong.err);
    let single = pull(&folder, &second, "--single -o single");
    assert_eq!(single.code, Some(0), "{}", single.err);
    assert!(folder.read("single/openapi.json").contains("com.example.v2.Tab"));
}

#[test]
fn an_incomplete_single_document_replaces_nothing() {
    let folder = Folder::new();
    let (lacking, _) = other(|path, stream| match path {
        "/openapi/v3" => respond(stream, "200 OK", "", &index_of("apis/a.io/v1")),
        "/apis" => respond(stream, "200 OK", "", r#"{"kind":"APIGroupList","groups":[]}"#),
        _ => respond(stream, "404 Not Found", "", ""),
    });
    folder.write("out/openapi.json", "whole");
    let run = unwrapped(folder.run(&format!("pull --server http://{lacking} --no-cache --single -o out")));
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("openapi.json was not written"), "{}", run.err);
    assert_eq!(folder.read("out/openapi.json"), "whole");
}

/// A running `pull --watch`, and its output.
struct Watching {
    child: std::process::Child,
}

impl Watching {
    fn start(folder: &Folder, server: &Server, refresh: &str) -> Watching {
        let line =
            format!("pull --server http://{} --cache cache -o out --openapi-v2 --watch {refresh}", server.address);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        Watching { child: folder.command(&arguments).stderr(Stdio::piped()).spawn().expect("a process") }
    }

    fn until(folder: &Folder, has: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        let path = folder.path("out/apis__example.com__v1_openapi.json");
        while !fs::read_to_string(&path).is_ok_and(|text| text.contains(has)) {
            assert!(Instant::now() < end, "{has} is not there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn end(mut self) -> String {
        // A written file is reported a moment later.
        std::thread::sleep(Duration::from_millis(300));
        self.child.kill().expect("killed");
        let output = self.child.wait_with_output().expect("an end");
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn a_watch_writes_what_changes() {
    let folder = Folder::new();
    let first = server(&folder, "--watch");
    let watching = Watching::start(&folder, &first, "--refresh 50ms");
    Watching::until(&folder, r#""maximum":9"#);
    let modified = |name: &str| fs::metadata(folder.path(name)).and_then(|file| file.modified()).expect("a time");
    let before = modified("out/discovery/api.json");
    folder.write("crds/tabs.yaml", CRD.replace("maximum: 9", "maximum: 8"));
    Watching::until(&folder, r#""maximum":8"#);
    let said = watching.end();
    assert!((2..=4).contains(&said.matches("wrote").count()), "only changes are told: {said}");
    // The two documents change together, or one after the other.
    for name in ["apis__example.com__v1_openapi.json", "swagger.json"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    assert!(!said.contains("discovery/api.json"), "{said}");
    assert_eq!(modified("out/discovery/api.json"), before, "it did not change");
}

#[test]
fn a_watch_sees_a_changed_definition_at_once() {
    let folder = Folder::new();
    let first = server(&folder, "--objects crds");
    let watching = Watching::start(&folder, &first, "--refresh 10m");
    Watching::until(&folder, r#""maximum":9"#);
    // The watch begins when the first documents are written.
    std::thread::sleep(Duration::from_millis(500));
    let schema = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":7}}}}}"#;
    let body = format!(
        r#"{{"spec":{{"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#
    );
    let mut stream = TcpStream::connect(&first.address).expect("a connection");
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tabs.example.com";
    let head = format!(
        "PATCH {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/merge-patch+json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200"), "{answer}");
    Watching::until(&folder, r#""maximum":7"#);
    let said = watching.end();
    // The two documents change together, or one after the other.
    for name in ["apis__example.com__v1_openapi.json", "swagger.json"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    assert!(!said.contains("discovery/api.json"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_on_terminals_only() {
    let folder = Folder::new();
    let (slow, _) = other(|path, stream| match path {
        "/openapi/v3" => {
            let paths: Vec<String> = (0..24).map(|n| format!("\"apis/g{n}.io/v1\":{{}}")).collect();
            respond(stream, "200 OK", "", &format!("{{\"paths\":{{{}}}}}", paths.join(",")));
        }
        "/apis" => respond(stream, "200 OK", "", r#"{"kind":"APIGroupList","groups":[]}"#),
        path if path.starts_with("/openapi/v3/") => {
            std::thread::sleep(Duration::from_millis(700));
            respond(stream, "200 OK", "", r#"{"openapi":"3.0.0"}"#);
        }
        _ => respond(stream, "404 Not Found", "", ""),
    });
    let line = format!("pull --server http://{slow} --no-cache -o out");
    let on_terminal = format!("{} {line}", env!("CARGO_BIN_EXE_kubeshape"));
    // `script` runs the command on its own terminal.
    let mut script = std::process::Command::new("script");
    let output = script.args(["-qec", &on_terminal, "/dev/null"]).current_dir(folder.path("")).output().expect("a run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("/24 documents"), "{said}");
    let plain = folder.run(&line);
    assert!(plain.code == Some(0) && !plain.err.contains("/24"), "{}", plain.err);
}

#[test]
fn servers_that_misbehave() {
    let folder = Folder::new();
    let run = |address: &str, more: &str| {
        unwrapped(folder.run(&format!("pull --server http://{address} --cache c -o out {more}")))
    };
    // A server that never answers.
    let (slow, _) = other(|_, stream| {
        std::thread::sleep(Duration::from_secs(30));
        drop(stream);
    });
    let begun = Instant::now();
    let answer = run(&slow, "--request-timeout 500ms");
    assert!(answer.code == Some(2) && answer.err.contains("no answer within"), "{}", answer.err);
    assert!(begun.elapsed() < Duration::from_secs(20));
    // A server that sends one byte at a time.
    let (dripping, _) = other(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let answer = run(&dripping, "--request-timeout 500ms");
    assert!(answer.code == Some(2) && answer.err.contains("no answer within"), "{}", answer.err);
    // A server that stops in the middle of a document.
    let (broken, _) = other(|path, mut stream| match path {
        "/openapi/v3" => respond(stream, "200 OK", "", &index_of("apis/a.io/v1")),
        path if path.starts_with("/openapi/v3/") => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"openapi\":");
        }
        _ => respond(stream, "404 Not Found", "", ""),
    });
    let answer = run(&broken, "");
    assert!(answer.code == Some(1) && answer.err.contains("KS1041"), "{}", answer.err);
    assert!(!folder.path("out/apis__a.io__v1_openapi.json").exists());
    // A server whose answer has no end.
    let (endless, _) = other(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 1 << 12]).is_ok() {}
    });
    let answer = run(&endless, "");
    assert!(answer.code == Some(2) && answer.err.contains("larger than 16777216 bytes"), "{}", answer.err);
    // A server that asks for the credentials elsewhere, and one that puts escapes into its words.
    let (hostile, asked) = other(|path, stream| match path {
        "/openapi/v3" => respond(stream, "200 OK", "", &index_of("apis/a.io/v1")),
        "/apis" => respond(stream, "403 Forbidden", "", "{\"message\":\"\u{1b}[31mred\u{1b}]0;title\u{7}\"}"),
        path if path.starts_with("/openapi/v3/") => {
            respond(stream, "301 Moved", "Location: http://127.0.0.1:1/openapi/v3/other\r\n", "");
        }
        _ => respond(stream, "404 Not Found", "", ""),
    });
    let answer = run(&hostile, "");
    assert!(answer.code == Some(1) && answer.err.contains("redirects to elsewhere"), "{}", answer.err);
    assert!(!answer.err.contains(['\u{1b}', '\u{7}']), "{:?}", answer.err);
    assert!(asked.lock().expect("no panic").iter().all(|head| !head.to_lowercase().contains("authorization")));
    // No server at all, and an invalid address.
    for (address, says) in [
        ("http://127.0.0.1:1", "Connection refused"),
        ("ftp://a", "neither http nor https"),
        ("http://u:p@a", "credentials"),
    ] {
        let answer = unwrapped(folder.run(&format!("pull --server {address} --cache c")));
        assert!(answer.code == Some(2) && answer.err.contains(says) && !answer.err.contains("u:p"), "{}", answer.err);
    }
}

#[test]
fn names_in_a_hostile_index_stay_in_the_folder() {
    let folder = Folder::new();
    let (hostile, _) = other(|path, stream| match path {
        "/openapi/v3" => {
            let paths =
                ["../../x", "/etc/x", "apis/a/../../v1", "a\\u0000b", "apis/%2e%2e/v1", ".ssh/x", "apis/a.io/v1"];
            let paths: Vec<String> = paths.iter().map(|path| format!("\"{path}\":{{}}")).collect();
            respond(stream, "200 OK", "", &format!("{{\"paths\":{{{}}}}}", paths.join(",")));
        }
        path if path.starts_with("/openapi/v3/") => respond(stream, "200 OK", "", r#"{"openapi":"3.0.0"}"#),
        _ => respond(stream, "404 Not Found", "", ""),
    });
    let run = folder.run(&format!("pull --server http://{hostile} --cache c -o out/in"));
    assert_eq!(run.code, Some(1), "it has no discovery: {}", run.err);
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path("out/in")).expect("there").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["%2Essh__x_openapi.json", ".kubeshape.json", "apis__a.io__v1_openapi.json"]);
    assert_eq!(std::fs::read_dir(folder.path("out")).expect("there").count(), 1);
}

#[test]
fn certificates_and_tokens() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    let key =
        rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("a certificate");
    folder.write("tls.crt", key.cert.pem()).write("tls.key", key.signing_key.serialize_pem());
    folder.write("tokens.csv", "right,me,1\na-secret-that-is-sent,you,2\n").write("token", "right\n");
    let server =
        Server::start(&folder, "crds --tls-cert tls.crt --tls-key tls.key --token-file tokens.csv --log-level error");
    let config = |cluster: &str, user: &str| {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://{}'{cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n",
            server.address
        )
    };
    let run = |cluster: &str, user: &str| {
        folder.write("kubeconfig", config(cluster, user));
        unwrapped(folder.run("pull --kubeconfig kubeconfig --no-cache -o out"))
    };
    let trusted = format!(", certificate-authority: '{}'", folder.path("tls.crt").display());
    let good = run(&trusted, "token: right");
    assert_eq!(good.code, Some(0), "{}", good.err);
    let untrusted = run("", "token: right");
    assert!(untrusted.code == Some(2) && untrusted.err.contains("certificate"), "{}", untrusted.err);
    let wrong = run(&trusted, "token: wrong");
    assert!(wrong.code == Some(2) && wrong.err.contains("401"), "{}", wrong.err);
    let of_file = run(&trusted, &format!("tokenFile: '{}'", folder.path("token").display()));
    assert_eq!(of_file.code, Some(0), "{}", of_file.err);
    // A plugin whose tokens expire at once is asked again for each request.
    let credential = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"right","expirationTimestamp":"2020-01-01T00:00:00Z"}}"#;
    let log = folder.path("plugin.log");
    folder.write("plugin.sh", format!("echo called >> '{}'\necho '{credential}'\n", log.display()));
    let plugin = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ['{}']}}",
        folder.path("plugin.sh").display()
    );
    let plugged = run(&trusted, &plugin);
    assert_eq!(plugged.code, Some(0), "{}", plugged.err);
    assert!(folder.read("plugin.log").lines().count() > 1);
    // Offline, no credential program is run.
    let line = "pull --kubeconfig kubeconfig --cache cache";
    assert_eq!(folder.run(line).code, Some(0));
    let calls = folder.read("plugin.log").lines().count();
    let offline = folder.run(&format!("{line} --offline"));
    assert_eq!((offline.code, folder.read("plugin.log").lines().count()), (Some(0), calls), "{}", offline.err);
    // Neither the cache nor the results contain credentials, and nobody else may read the cache.
    let line = "pull --kubeconfig kubeconfig --cache cache --crds --openapi-v2 -o out";
    let secret = "a-secret-that-is-sent";
    folder.write("kubeconfig", config(&trusted, &format!("token: {secret}")));
    let kept = folder.run(line);
    assert!(
        kept.code == Some(1) && folder.path("out/swagger.json").exists(),
        "it has no list of definitions: {}",
        kept.err
    );
    for place in ["cache", "out"] {
        for (name, bytes) in folder.tree(place) {
            let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(!has(secret), "{place}/{name}");
            #[cfg(unix)]
            if place == "cache" && name != "CACHEDIR.TAG" {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = fs::metadata(folder.path(&format!("cache/{name}"))).expect("there").permissions().mode();
                assert_eq!(mode & 0o177, 0, "{name} {mode:o}");
            }
        }
    }
    let failing =
        run(&trusted, "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: 'false'}");
    assert!(failing.code == Some(2), "{}", failing.err);
    for file in ["kubeconfig", "token"] {
        assert!(!failing.err.contains(folder.read(file).trim()));
    }
}

#[test]
fn a_cache_is_intact_after_its_writer_was_killed() {
    let rounds = std::env::var("KUBESHAPE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let folder = Folder::new();
    let server = server(&folder, "--kubernetes 1.36");
    let whole = pull(&folder, &server, "-o whole");
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let expected = folder.read("whole/api__v1_openapi.json");
    let mut seed: u64 = 0x5DEE_CE66;
    for round in 0..rounds {
        if round % 4 == 0 {
            let _ = std::fs::remove_dir_all(folder.path("cache"));
        }
        let line = format!("pull --server http://{} --cache cache -o out", server.address);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = folder.command(&arguments).stderr(Stdio::null()).spawn().expect("a process");
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(seed >> 32 & 0x3_FFFF));
        let _ = child.kill();
        let _ = child.wait();
        let verified = folder.run("cache verify --cache cache");
        assert_eq!(verified.code, Some(0), "round {round}: {}", verified.out);
        for file in std::fs::read_dir(folder.path("out")).into_iter().flatten().flatten() {
            let name = file.file_name().into_string().expect("Unicode");
            if name.ends_with("_openapi.json") {
                assert_eq!(
                    folder.bytes(&format!("out/{name}")),
                    folder.bytes(&format!("whole/{name}")),
                    "{round} {name}"
                );
            }
        }
    }
    let last = pull(&folder, &server, "-o out");
    assert_eq!(last.code, Some(0), "{}", last.err);
    assert_eq!(folder.read("out/api__v1_openapi.json"), expected);
}

#[test]
fn processes_share_a_cache() {
    let folder = Folder::new();
    let server = server(&folder, "--kubernetes 1.36");
    let line = format!("pull --server http://{} --cache cache", server.address);
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let spawn = |_| folder.command(&arguments).stderr(Stdio::piped()).spawn().expect("a process");
    for processes in [2, 16] {
        let _ = fs::remove_dir_all(folder.path("cache"));
        let children: Vec<_> = (0..processes).map(spawn).collect();
        for child in children {
            let output = child.wait_with_output().expect("an end");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let verified = folder.run("cache verify --cache cache");
        assert_eq!(verified.code, Some(0), "{}", verified.out);
    }
    let again = pull(&folder, &server, "");
    assert!(again.err.contains(" 0 downloaded"), "{}", again.err);
    let stat = folder.run("cache stat --cache cache");
    assert!(stat.out.contains("clusters    1") && !stat.out.contains("unfinished"), "{}", stat.out);
    assert!(folder.run("cache compact --cache cache --max-size 0").out.starts_with("deleted "));
    assert!(folder.run("cache stat --cache cache").out.contains("documents   0"));
    assert!(folder.run("cache clear --cache cache").out.contains("deleted 0 entries"));
    assert!(folder.run("cache stat --cache none").out.contains("none is empty"));
    assert!(!folder.path("none").exists());
}

#[cfg(unix)]
#[test]
fn pull_works_without_a_cache_on_a_full_disk_or_in_a_folder_of_others() {
    let folder = Folder::new();
    let server = server(&folder, "--kubernetes 1.36");
    let program = env!("CARGO_BIN_EXE_kubeshape");
    let line = format!("pull --server http://{} --cache cache", server.address);
    let script = format!("ulimit -f 8; trap '' XFSZ; exec {program} {line}");
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().expect("a run");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("KS1042"), "{text}");
    assert_eq!(folder.run("cache verify --cache cache").code, Some(0));
    let whole = pull(&folder, &server, "-o out");
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    // A folder that everybody can write to.
    std::fs::create_dir(folder.path("shared")).expect("a folder");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path("shared"), mode).expect("set");
    let run = unwrapped(folder.run(&format!("pull --server http://{} --cache shared -o out", server.address)));
    assert!(run.code == Some(0) && run.err.contains("can be written by other users"), "{}", run.err);
    let offline = folder.run(&format!("pull --server http://{} --cache shared --offline -o out", server.address));
    assert_eq!(offline.code, Some(2), "{}", offline.err);
}
