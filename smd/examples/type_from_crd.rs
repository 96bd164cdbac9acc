//! Builds a type from a CustomResourceDefinition, applies to it as two managers, asks why they conflict, who owns what,
//! and what one of them applied.
//!
//! `cargo run -p kubeshape-smd --example type_from_crd`
#![allow(clippy::print_stdout)]

use kubeshape_publish::{Base, Options, Publisher};
use kubeshape_smd::managed::{FieldManager, Gvk, Ownership, SameObject, Time, extract};
use kubeshape_smd::typed::Types;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::error::Error;

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
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
              replicas: {type: integer}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [number]
                items:
                  type: object
                  required: [number]
                  properties:
                    number: {type: integer}
                    name: {type: string}
";

const ALICE: &str = "
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec:
  replicas: 3
  ports: [{number: 80, name: http}]
";

const BOB: &str = "
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec:
  replicas: 5
  ports: [{number: 443}]
";

/// Reads one document.
fn read(source: &str) -> Result<Tape, Box<dyn Error>> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    Ok(tape)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arena = Bump::new();
    let (crd, alice, bob) = (read(CRD)?, read(ALICE)?, read(BOB)?);

    // The types of all versions, as a server makes them.
    let publisher = Publisher::new(Base::builtin(), Options::default());
    let node = crd.document(CRD).root().ok_or("an empty document")?;
    let definition = kubeshape_structural::read::read(node, &arena).value.ok_or("no CustomResourceDefinition")?;
    let resource = publisher.resource(&definition, &arena);
    let schema = resource.smd().map_err(|errors| errors.into_iter().map(|error| error.text).collect::<String>())?;
    let types = Types::new(schema);
    let widget = types.named(&resource.versions()[0].definition_names().0).ok_or("no such type")?;

    // Apply: the live object comes back with its owners.
    let widgets = FieldManager::new(Gvk::new("example.com/v1", "Widget"), &widget, &SameObject);
    let alice = Value::from_node(alice.document(ALICE).root().ok_or("an empty document")?, &arena);
    let bob = Value::from_node(bob.document(BOB).root().ok_or("an empty document")?, &arena);
    let now = Time::parse("2000-01-01T00:00:00Z").ok_or("no time")?;
    let live = widgets.apply(None, alice, "alice", false, now, &arena).map_err(|error| error.to_string())?;

    // Why does it conflict?
    match widgets.apply(Some(live), bob, "bob", false, now, &arena) {
        Ok(_) => return Err("bob takes what alice has".into()),
        Err(conflict) => println!("{conflict}"),
    }
    let live = widgets.apply(Some(live), bob, "bob", true, now, &arena).map_err(|error| error.to_string())?;

    // Who owns this field?
    Ownership::of(live, &arena)?.for_each(&mut |path, owners| {
        let names: Vec<_> = owners.iter().map(|owner| owner.manager).collect();
        println!("{} {}", kubeshape_smd::fieldpath::DisplayPath(path), names.join(", "));
    });

    // What did alice apply, and still has?
    let mine = extract(live, widget, "alice", "", &arena).map_err(|error| error.to_string())?;
    println!("{:?}", mine.map(|mine| mine.to_serde().to_string()));
    Ok(())
}
