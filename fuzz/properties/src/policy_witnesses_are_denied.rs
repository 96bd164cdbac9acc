//! Each object that shows a change of admission policies shows it: the old policies allow the request and the new ones
//! refuse it, or the other way round. Policies that are compared with themselves do not differ.

use crate::policies_end_and_without_matches_change_nothing::kinds;
use kubeshape_policy::{Operation, Release};
use kubeshape_registry::policy::{Admission, Client, Comparison, Difference, Effect, Parts, ServedKinds};
use kubeshape_registry::Object;
use kubeshape_schema::Bump;
use kubeshape_smd::{ToValue, Value};

/// The maximum size of an input: a comparison evaluates up to 1,200 requests.
const MOST: usize = 1 << 13;

/// Checks the property. Objects with the annotation `set: new` are those of the new policies.
pub fn holds(data: &[u8]) {
    if data.len() > MOST {
        return;
    }
    let (objects, _) = Object::read_all("input", data);
    let is_new = |object: &&Object| object.value().pointer("/metadata/annotations/set").is_some_and(|set| set == "new");
    let arena = Bump::new();
    let (new, old): (Vec<&Object>, Vec<&Object>) = objects.iter().take(20).partition(is_new);
    let [old, new] = [old, new].map(|set| set.into_iter().map(|object| object.to_value(&arena)).collect::<Vec<_>>());
    let [core, policies] = kinds();
    let layers = [core, policies];
    let kinds = ServedKinds::new(&layers);
    let itself = Comparison::of(&old, &old, kinds, Release::DEFAULT);
    assert!(itself.differences.is_empty(), "policies differ from themselves");
    for difference in Comparison::of(&old, &new, kinds, Release::DEFAULT).differences {
        let (before, after) = (refuses(&old, &difference, &kinds), refuses(&new, &difference, &kinds));
        let expected = match difference.effect {
            Effect::Denied => (false, true),
            Effect::Allowed => (true, false),
            Effect::Warned | Effect::Mutated => (false, false),
        };
        assert_eq!((before, after), expected, "{difference:?}");
    }
}

/// Returns whether policies refuse the request of a difference.
fn refuses(set: &[Value<'_>], difference: &Difference, kinds: &ServedKinds<'_>) -> bool {
    let arena = Bump::new();
    let set: Vec<Value<'_>> = set.iter().map(|value| value.copy_into(&arena)).collect();
    let admission = Admission::read(set, kinds, Release::DEFAULT, &arena);
    let value = difference.object.to_value(&arena);
    let (object, old_object) = match difference.operation {
        Operation::Delete => (None, Some(value)),
        _ => (Some(value), difference.old_object.as_ref().map(|old| old.to_value(&arena))),
    };
    let parts = Parts {
        gvk: &difference.gvk,
        operation: difference.operation,
        subresource: "",
        namespace: None,
        name: None,
        object,
        old_object,
    };
    admission.admit(parts, &Client::default(), kinds, &arena).refusal.is_some()
}
