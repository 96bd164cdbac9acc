//! Whatever policies are, evaluating a request ends within its budgets. A policy whose rules do not match changes
//! nothing. The order of the documents does not change the decision of a single policy, nor whether validating policies
//! refuse a request. The same input gives the same decision.

use kubeshape_policy::{Gvk, Operation, Release};
use kubeshape_registry::policy::{Admission, Checked, Client, Layer, Others, Parts, ServedKinds, is_policy, request_of};
use kubeshape_registry::{Location, Registry};
use kubeshape_schema::Bump;
use kubeshape_smd::Value;
use kubeshape_yaml::{Kind, Limits, Stream, Tape};
use std::sync::{Arc, OnceLock};

/// The kinds of policies and ConfigMaps.
pub(crate) fn kinds() -> &'static [Layer; 2] {
    static KINDS: OnceLock<[Layer; 2]> = OnceLock::new();
    KINDS.get_or_init(|| {
        let api = kubeshape_builtin::BuiltInDocuments::newest().api();
        ["api/v1", "apis/admissionregistration.k8s.io/v1"].map(|path| {
            let document = api.openapi_v3(path).unwrap_or_default();
            let mut registry = Registry::default();
            registry.set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
            Layer::new(&registry)
        })
    })
}

/// The compared parts of a decision.
type Decided = (Option<String>, Option<String>, Vec<String>);

/// Checks the property. The documents are policies, bindings, parameters, and an object: the first ConfigMap.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 5_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let mut tapes = Vec::new();
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            Some(Ok(())) if tapes.len() < 20 => tapes.push(tape),
            _ => break,
        }
    }
    let arena = Bump::new();
    let roots = tapes.iter().filter_map(|tape| tape.document(stream.source()).root());
    let roots: Vec<_> = roots.filter(|root| root.kind() == Kind::Map).collect();
    let values: Vec<Value<'_>> = roots.iter().map(|root| Value::from_node(*root, &arena)).collect();
    let kind = |value: &Value<'_>| value.get("kind").and_then(Value::as_str) == Some("ConfigMap");
    let Some(object) = values.iter().copied().find(kind) else { return };
    let [core, policies] = kinds();
    let layers = [core, policies];
    let kinds = ServedKinds::new(&layers);
    let first = decide(&values, object, &kinds, &arena);
    assert_eq!(first, decide(&values, object, &kinds, &arena), "the same input decides differently");
    let without: Vec<Value<'_>> =
        roots.iter().zip(&values).filter(|(root, _)| !is_policy(**root)).map(|(_, value)| *value).collect();
    assert_eq!(decide(&without, object, &kinds, &arena), Some((None, None, Vec::new())), "something is decided without policies");
    let of_policies = roots.iter().zip(&values).filter(|(root, _)| is_policy(**root)).map(|(_, value)| *value);
    let mut reversed: Vec<Value<'_>> = of_policies.rev().collect();
    let count = reversed.len();
    reversed.extend(without);
    if count <= 2 {
        assert_eq!(first, decide(&reversed, object, &kinds, &arena), "the order of a policy and its binding matters");
    } else if are_named_once(&reversed) && !reversed.iter().any(is_mutating) {
        let refuses = |decided: Option<Decided>| decided.map(|(refusal, _, _)| refusal.is_some());
        let other = decide(&reversed, object, &kinds, &arena);
        assert_eq!(refuses(first), refuses(other), "the order of validating policies matters");
    }
    let input = kubeshape_input::read("policies", data, kubeshape_input::Limits::default());
    let mut locations = Vec::new();
    for document in input.documents.into_iter().map(Arc::new).take(20) {
        locations.extend(document.objects().into_iter().map(|node| Location::new(Arc::clone(&document), node.index())));
    }
    let checked = Checked::of(&locations, &Others::default(), &kinds, Release::DEFAULT);
    assert!(checked.refused <= checked.objects);
}

fn is_mutating(value: &Value<'_>) -> bool {
    value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("Mutating"))
}

/// Returns whether no two objects have the same kind and name. Of those, the first is used.
fn are_named_once(values: &[Value<'_>]) -> bool {
    let text = |value: Option<Value<'_>>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let named = |value: &Value<'_>| {
        (text(value.get("kind")), text(value.get("metadata").and_then(|metadata| metadata.get("name"))))
    };
    values.iter().map(named).collect::<std::collections::BTreeSet<_>>().len() == values.len()
}

fn decide<'a>(
    values: &[Value<'a>],
    object: Value<'a>,
    kinds: &ServedKinds<'_>,
    arena: &'a Bump,
) -> Option<Decided> {
    let admission = Admission::read(values.iter().copied(), kinds, Release::DEFAULT, arena);
    let client = Client::default();
    let gvk = Gvk::of("v1", "ConfigMap");
    let parts = Parts {
        gvk: &gvk,
        operation: Operation::Create,
        subresource: "",
        namespace: None,
        name: None,
        object: Some(object),
        old_object: None,
    };
    let mut request = request_of(parts, &client, kinds, arena)?;
    let mutated = admission.mutate(&mut request, &client, kinds, arena);
    let validated = admission.validate(&request, &client, kinds, arena);
    let refusal = mutated.status.or(validated.status).map(|status| status.message);
    Some((refusal, mutated.object.map(|object| object.to_string()), validated.warnings))
}
