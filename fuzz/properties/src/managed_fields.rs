//! Whatever an object's managed fields are, reading and writing them changes nothing after the first time. Applies and
//! updates end with an object or an error.

use kubeshape_smd::managed::{ChangeApiVersion, FieldManager, Gvk, Kinds, Ownership, Time, entries, extract, upgrade};
use kubeshape_smd::typed::Types;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::sync::LazyLock;

const SCHEMA: &str = "
types:
- name: thing
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {map: {elementType: {namedType: any}}}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: list, type: {list: {elementType: {namedType: item}, elementRelationship: associative, keys: [a, b]}}}
    - {name: atom, type: {map: {elementType: {namedType: any}, elementRelationship: atomic}}}
    - {name: any, type: {namedType: any}}
- name: item
  map:
    fields:
    - {name: a, type: {scalar: untyped}}
    - {name: b, type: {scalar: untyped}, default: 1}
    - {name: c, type: {namedType: any}}
- name: any
  scalar: untyped
  list: {elementType: {namedType: any}, elementRelationship: atomic}
  map: {elementType: {namedType: any}}
";

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let mut tape = Tape::new();
    let mut stream = Stream::new(SCHEMA.as_bytes(), Limits::default()).expect("YAML");
    stream.next(&mut tape).expect("a document").expect("YAML");
    Types::new(schema::read(tape.document(SCHEMA).root().expect("a root")).expect("a schema"))
});

/// Checks the property.
pub fn holds(data: &[u8]) {
    // Two documents: the live object and the written object.
    let Ok(mut stream) = Stream::new(data, Limits::default()) else { return };
    let source = stream.source();
    let (mut live, mut new) = (Tape::new(), Tape::new());
    let (Some(Ok(())), Some(Ok(()))) = (stream.next(&mut live), stream.next(&mut new)) else { return };
    let (Some(live), Some(new)) = (live.document(source).root(), new.document(source).root()) else { return };

    let ty = TYPES.named("thing").expect("the type");
    let kinds = Kinds(vec![(Gvk::new("v1", "T"), ty), (Gvk::new("v2", "T"), ty)]);
    let versions = ChangeApiVersion(vec!["v1", "v2"]);
    let manager = FieldManager::new(Gvk::new("v1", "T"), &kinds, &versions).max_update_managers(Some(2));
    let arena = Bump::new();
    let (live, new) = (live.to_value(&arena), new.to_value(&arena));
    for object in [live, new] {
        stable(object.get("metadata").and_then(|meta| meta.get("managedFields")), &arena);
        if let Ok(ownership) = Ownership::of(object, &arena) {
            ownership.for_each(&mut |path, owners| assert!(!path.is_empty() && !owners.is_empty()));
        }
        let _ = extract(object, ty, "kubectl", "", Compat::default(), &arena);
        let _ = upgrade::upgrade_patch(object, &["u"], "kubectl", "", Compat::default(), &arena);
    }
    for (name, force) in [("kubectl", false), ("a", false), ("a", true)] {
        if let Ok(after) = manager.apply(Some(live), new, name, force, Time(1), &arena) {
            written(after, &arena);
        }
    }
    if let Ok(after) = manager.update(Some(live), new, "u", Time(1), &arena) {
        written(after, &arena);
        // The second time, nothing changes. An object that is not tracked is not checked.
        if after.get("metadata").and_then(|meta| meta.get("managedFields")).is_none() {
            return;
        }
        let again = manager.update(Some(after), after, "u", Time(2), &arena).expect("it was fine before");
        assert_eq!(again, after);
    }
}

/// Checks that a written object can be read, and is written the same again.
fn written<'a>(object: Value<'a>, arena: &'a Bump) {
    let list = object.get("metadata").and_then(|meta| meta.get("managedFields"));
    if list.is_some() {
        entries::decode(list, arena).expect("what was written can be read");
        stable(list, arena);
    }
}

fn stable<'a>(list: Option<Value<'a>>, arena: &'a Bump) {
    let Ok(managed) = entries::decode(list, arena) else { return };
    let once = entries::encode(&managed, arena).expect("numbers that were read are finite");
    let managed = entries::decode(once, arena).expect("what was written can be read");
    assert_eq!(entries::encode(&managed, arena), Ok(once));
}
