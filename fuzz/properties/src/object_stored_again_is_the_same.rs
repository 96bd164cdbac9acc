//! An object that is stored can be stored again: it has no unknown fields, it does not change, and it gives the same
//! errors. Pruning and defaulting are idempotent, and rules end within their budget.

use kubeshape_schema::Bump;
use kubeshape_schema::field::Path;
use kubeshape_smd::Value;
use kubeshape_structural::Structural;
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::crd::{Defaults, Definition, validate};
use kubeshape_validate::object::{Resource, Root, default, prune};
use kubeshape_yaml::{Limits, Stream, Tape};

/// The cost limit of rules here, so that a run stays short.
const BUDGET: i64 = 100_000;

/// Checks the property. The first document of the stream defines the resource, and every document is used as an object.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 10_000, depth: 64, ..Limits::default() };
    let mut definition = Tape::new();
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    if !matches!(stream.next(&mut definition), Some(Ok(()))) {
        return;
    }
    let arena = Bump::new();
    let Some(root) = definition.document(source).root() else { return };
    let Some(manifest) = manifests(root).0.into_iter().next() else { return };
    let Some(crd) = manifest.read(&arena).value else { return };
    // The server may reject a default that it would not store, such as a null.
    let definition = Definition::read(manifest, Defaults::Set, &arena).value;
    let errors = definition.map(|definition| validate(&definition, Release::DEFAULT)).unwrap_or_default();
    if errors.iter().any(|error| error.path.split('.').any(|field| field == "default")) {
        return;
    }
    for version in crd.versions {
        if version.schema.and_then(Structural::new).is_none() {
            continue;
        }
        let resource = Resource::new(&crd, version, Release::DEFAULT, &arena);
        store(&resource, Value::from_node(root, &arena));
        let Ok(mut stream) = Stream::new(data, limits) else { return };
        let mut tape = Tape::new();
        while let Some(document) = stream.next(&mut tape) {
            let root = document.ok().and_then(|()| tape.document(stream.source()).root());
            let arena = Bump::new();
            if let Some(object) = root.map(|root| Value::from_node(root, &arena)) {
                store(&resource, object);
            }
        }
    }
}

fn store(resource: &Resource<'_>, object: Value<'_>) {
    let arena = Bump::new();
    steps(resource, object, &arena);
}

fn steps<'a>(resource: &Resource<'a>, object: Value<'a>, arena: &'a Bump) {
    let pruned = prune(object, resource.schema, Root::Resource, arena);
    let again = prune(pruned.value, resource.schema, Root::Resource, arena);
    assert_eq!((again.value, again.unknown.len()), (pruned.value, 0));
    let Ok(defaulted) = default(pruned.value, resource.schema, arena) else { return };
    assert_eq!(default(defaulted, resource.schema, arena), Ok(defaulted));
    if let Some(rules) = &resource.rules {
        let outcome = rules.check(defaulted, &Path::Root, BUDGET);
        assert!(outcome.remaining_budget <= BUDGET);
        assert!(outcome.remaining_budget >= 0 || !outcome.errors.is_empty());
    }
    let Ok(stored) = resource.decode(object, arena) else { return };
    let Ok(again) = resource.decode(stored.value, arena) else { panic!("what is stored does not decode") };
    assert_eq!((again.value, again.unknown), (stored.value, Vec::new()));
}
