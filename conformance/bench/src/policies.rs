//! Policies for objects: whole requests on two threads, here and by the server's plugin in Go. The floor is only the
//! same expressions with the same variables.

use cpu_time::ProcessTime;
use kubeshape_cel::Value as CelValue;
use kubeshape_cel::admission::{Compiled, Options, Returns, environment};
use kubeshape_policy::{Gvk, Operation, Release};
use kubeshape_registry::policy::{Admission, Client, Layer, Parts, ServedKinds, request_of};
use kubeshape_registry::{Object, Registry};
use kubeshape_smd::{Bump, ToValue};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Number of rounds. The best is reported.
const ROUNDS: usize = 5;
/// Number of threads.
const THREADS: usize = 2;
/// The cost limit of an expression.
const MAX_COST: u64 = 1_000_000;

/// Returns the expression of a policy.
fn expression(number: usize) -> String {
    format!("object.metadata.name != 'n{number}' && object.data.all(k, k != 'k{number}')")
}

/// Returns a policy for ConfigMaps and its binding. Of three policies, two are for other resources.
fn policy(number: usize) -> [Value; 2] {
    let api_version = "admissionregistration.k8s.io/v1";
    let resource = if number.is_multiple_of(3) { "configmaps" } else { "pods" };
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]});
    let spec =
        json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression(number)}]});
    let name = format!("p{number}");
    let binding = json!({"policyName": name, "validationActions": ["Deny"]});
    [("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", binding)]
        .map(|(kind, spec)| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}))
}

/// The object of all requests.
fn object() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"},
        "data": {"a": "1", "b": "2", "c": "3"}})
}

/// What a round takes: the time of all requests, and the processor time of all threads.
#[derive(Clone, Copy)]
struct Taken {
    wall: Duration,
    cpu: Duration,
}

impl Taken {
    const MAX: Taken = Taken { wall: Duration::MAX, cpu: Duration::MAX };

    fn min(self, other: Taken) -> Taken {
        Taken { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

/// `policies [POLICIES] [OBJECTS] [--oracle PROGRAM]`
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let flag = arguments.iter().position(|argument| argument == "--oracle").unwrap_or(arguments.len());
    let (numbers, rest) = arguments.split_at(flag);
    let number = |at: usize, default: usize| numbers.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (policies, objects) = (number(0, 100), number(1, 10_000));
    let oracle = rest.get(1).cloned().or_else(crate::report::build_oracle);
    let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    let [core, admission] = ["api/v1", "apis/admissionregistration.k8s.io/v1"].map(|path| {
        let document = api.openapi_v3(path).unwrap_or_default();
        let mut registry = Registry::default();
        registry
            .set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
        Layer::new(&registry)
    });
    let layers = [&core, &admission];
    let made: Vec<[Value; 2]> = (0..policies).map(policy).collect();
    let inputs: Vec<Object> = made.iter().flatten().cloned().map(Object::from).collect();
    let arena = Bump::new();
    let values: Vec<_> = inputs.iter().map(|object| object.to_value(&arena)).collect();
    let admission = Admission::read(values, &ServedKinds::new(&layers), Release::DEFAULT, &arena);
    let object_of_requests = Object::from(object());
    let env = environment(&Options::new(Release::nearest(36)));
    let texts: Vec<String> = (0..policies).step_by(3).map(expression).collect();
    let programs: Vec<_> =
        texts.iter().filter_map(|text| Compiled::new(text, &env, Returns::Bool).program.ok()).collect();
    let (mut requests, mut floor, mut theirs) = (Taken::MAX, Taken::MAX, Taken::MAX);
    for _ in 0..ROUNDS {
        requests = requests.min(on_threads(objects, |arena| {
            let (client, kinds, gvk) = (Client::default(), ServedKinds::new(&layers), Gvk::of("v1", "ConfigMap"));
            let object = Some(object_of_requests.to_value(arena));
            let parts = Parts {
                gvk: &gvk,
                operation: Operation::Create,
                subresource: "",
                namespace: None,
                name: None,
                object,
                old_object: None,
            };
            let request = request_of(parts, &client, &kinds, arena);
            request.is_some_and(|request| admission.validate(&request, &client, &kinds, arena).is_allowed())
        }));
        floor = floor.min(on_threads(objects, |arena| {
            let object = object_of_requests.to_value(arena);
            programs.iter().all(|program| {
                let outcome = program.evaluate([("object", CelValue::from(object))], MAX_COST);
                matches!(outcome.result, Ok(CelValue::Bool(true)))
            })
        }));
        if let Some(oracle) = &oracle {
            match in_go(oracle, &made, objects) {
                Ok(taken) => theirs = theirs.min(taken),
                Err(error) => {
                    eprintln!("{oracle}: {error}");
                    return ExitCode::from(2);
                }
            }
        }
    }
    println!("{policies} policies, {objects} objects, {THREADS} threads: the best of {ROUNDS} rounds");
    let row = |what: &str, taken: Taken| {
        let [wall, cpu] = [taken.wall, taken.cpu].map(|time| time.as_secs_f64() * 1e3);
        let times = taken.cpu.as_secs_f64() / requests.cpu.as_secs_f64();
        println!("{what:<20} {wall:>7.0} ms, {cpu:>7.0} ms of processors ({times:.2} times)");
    };
    row("requests", requests);
    row("expressions alone", floor);
    match oracle {
        Some(_) => row("the plugin in Go", theirs),
        None => println!("Go is not there: nothing is compared with the plugin."),
    }
    ExitCode::SUCCESS
}

/// Measures a round of the server's plugin.
fn in_go(oracle: &str, policies: &[[Value; 2]], objects: usize) -> Result<Taken, Box<dyn std::error::Error>> {
    let [all, bindings] = [0, 1].map(|at| policies.iter().map(|pair| &pair[at]).collect::<Vec<_>>());
    let input = json!({"policies": all, "bindings": bindings, "object": object()}).to_string();
    let mut child = Command::new(oracle)
        .args(["bench-policies", "-rounds", "2", "-requests", &objects.to_string(), "-j", &THREADS.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    let found: Value = serde_json::from_slice(&output.stdout)?;
    let time = |key: &str| found[key].as_f64().map(|ms| Duration::from_secs_f64(ms / 1e3)).ok_or("no time");
    Ok(Taken { wall: time("wall_ms")?, cpu: time("cpu_ms")? })
}

/// Returns the time in which threads process all objects. `work` must return `true`.
fn on_threads(objects: usize, work: impl Fn(&Bump) -> bool + Sync) -> Taken {
    let (cpu, start) = (ProcessTime::now(), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut arena = Bump::new();
                for _ in 0..objects / THREADS {
                    arena.reset();
                    assert!(work(&arena), "an object is refused");
                }
            });
        }
    });
    Taken { wall: start.elapsed(), cpu: cpu.elapsed() }
}
