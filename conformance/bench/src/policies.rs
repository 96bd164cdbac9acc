//! Policies for objects: whole requests on two threads. The floor is only the same expressions with the same variables.

use kubeshape_cel::Value as CelValue;
use kubeshape_cel::admission::{Compiled, Options, Returns, environment};
use kubeshape_policy::{Gvk, Operation, Release};
use kubeshape_registry::policy::{Admission, Client, Layer, Parts, ServedKinds, request_of};
use kubeshape_registry::{Object, Registry};
use kubeshape_smd::{Bump, ToValue};
use serde_json::{Value, json};
use std::process::ExitCode;
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

/// `policies [POLICIES] [OBJECTS]`
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let number = |at: usize, default: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (policies, objects) = (number(0, 100), number(1, 10_000));
    let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    let [core, admission] = ["api/v1", "apis/admissionregistration.k8s.io/v1"].map(|path| {
        let document = api.openapi_v3(path).unwrap_or_default();
        let mut registry = Registry::default();
        registry
            .set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
        Layer::new(&registry)
    });
    let layers = [&core, &admission];
    let inputs: Vec<Object> = (0..policies).flat_map(policy).map(Object::from).collect();
    let arena = Bump::new();
    let values: Vec<_> = inputs.iter().map(|object| object.to_value(&arena)).collect();
    let admission = Admission::read(values, &ServedKinds::new(&layers), Release::DEFAULT, &arena);
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"},
        "data": {"a": "1", "b": "2", "c": "3"}});
    let object = Object::from(object);
    let env = environment(&Options::new(Release::nearest(36)));
    let texts: Vec<String> = (0..policies).step_by(3).map(expression).collect();
    let programs: Vec<_> =
        texts.iter().filter_map(|text| Compiled::new(text, &env, Returns::Bool).program.ok()).collect();
    let (mut requests, mut floor) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        requests = requests.min(on_threads(objects, |arena| {
            let (client, kinds, gvk) = (Client::default(), ServedKinds::new(&layers), Gvk::of("v1", "ConfigMap"));
            let object = Some(object.to_value(arena));
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
            let object = object.to_value(arena);
            programs.iter().all(|program| {
                let outcome = program.evaluate([("object", CelValue::from(object))], MAX_COST);
                matches!(outcome.result, Ok(CelValue::Bool(true)))
            })
        }));
    }
    let rate = |time: Duration| (policies * objects) as f64 / time.as_secs_f64() / 1e6;
    println!("{policies} policies, {objects} objects, {THREADS} threads");
    println!(
        "requests: {:.0} ms, {:.2} million policies and objects a second",
        requests.as_secs_f64() * 1e3,
        rate(requests)
    );
    println!(
        "expressions alone: {:.0} ms ({:.2} times)",
        floor.as_secs_f64() * 1e3,
        requests.as_secs_f64() / floor.as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// Returns the time in which threads process all objects. `work` must return `true`.
fn on_threads(objects: usize, work: impl Fn(&Bump) -> bool + Sync) -> Duration {
    let start = Instant::now();
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
    start.elapsed()
}
