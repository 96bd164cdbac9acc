//! Managed fields, and complete requests through the field manager.
//!
//! Go stores the fields of an entry as JSON and parses it when it decodes. Here they are values like the rest of the
//! object, so `Decode` starts with values, and `FromJSON` measures parsing on both sides.

use super::inputs::{self, Inputs, OBJECTS};
use super::measure::Bench;
use kubeshape_smd::managed::{FieldManager, Gvk, SameObject, Time, entries};
use kubeshape_smd::{Bump, Value, value::Map};
use kubeshape_yaml::{Limits, Path, Stream, Tape};
use std::hint::black_box;

/// Runs these benchmarks.
pub(super) fn all(inputs: &Inputs, bench: &mut Bench) {
    if let Some(text) = inputs.read("managed-fields.json") {
        lists(&text, bench);
    }
    for name in ["Pod", "Node", "Endpoints"] {
        let wanted = bench.wants(&format!("Server/{name}/")) || bench.wants("Server");
        if wanted && requests(name, inputs, bench).is_none() {
            eprintln!("Server/{name}: an input is missing");
        }
    }
}

fn lists(text: &str, bench: &mut Bench) {
    let (values, mut arena, mut tape) = (Bump::new(), Bump::new(), Tape::new());
    let Some(list) = inputs::value(text, &values) else { return };
    bench.run("ManagedFields/Decode", |_| {
        arena.reset();
        let _ = black_box(entries::decode(Some(list), &arena));
    });
    bench.run("ManagedFields/DecodeEncode", |_| {
        arena.reset();
        if let Ok(managed) = entries::decode(Some(list), &arena) {
            let _ = black_box(entries::encode(&managed, &arena));
        }
    });
    bench.run("ManagedFields/FromJSON", |_| {
        arena.reset();
        let Ok(mut stream) = Stream::with_path(text.as_bytes(), Limits::default(), Path::Json) else { return };
        if let Some(Ok(())) = stream.next(&mut tape)
            && let Some(root) = tape.document(text).root()
        {
            let _ = black_box(entries::decode(Some(Value::from_node(root, &arena)), &arena));
        }
    });
}

fn requests(name: &str, inputs: &Inputs, bench: &mut Bench) -> Option<()> {
    let object = OBJECTS.iter().find(|object| object.name == name)?;
    let types = inputs.types("k8s-schema-managed-fields")?;
    let ty = types.named(object.ty)?;
    let manager = FieldManager::new(Gvk::new("v1", name), &ty, &SameObject);
    let now = Time::parse("2000-01-01T00:00:00Z")?;

    let values = Bump::new();
    let with = |value: Value<'_>, key: &'static str, text: &'static str| match value {
        Value::Map(map) => Value::Map(map.with(key, Some(Value::String(text)), &values)).copy_into(&values),
        _ => Value::Null,
    };
    let kind = values.alloc_str(name);
    let sent = inputs::value(&inputs.read(object.file)?, &values)?.as_map()?;
    let sent = sent.with("apiVersion", Some(Value::String("v1")), &values);
    let sent = Value::Map(sent.with("kind", Some(Value::String(kind)), &values));
    let empty = Map::EMPTY.with("apiVersion", Some(Value::String("v1")), &values);
    let empty = Value::Map(empty.with("kind", Some(Value::String(kind)), &values));
    let labelled = |object: Value<'_>| {
        let metadata = object.get("metadata").unwrap_or(Value::Map(Map::EMPTY)).copy_into(&values);
        let labels = metadata.get("labels").unwrap_or(Value::Map(Map::EMPTY));
        let labels = with(labels, "round", "1");
        let metadata = Value::Map(metadata.as_map().unwrap_or_default().with("labels", Some(labels), &values));
        let object = object.copy_into(&values).as_map().unwrap_or_default();
        Value::Map(object.with("metadata", Some(metadata), &values))
    };
    let live = manager.update(Some(empty), sent, "creator", now, &values).ok()?;
    let live = manager.apply(Some(live), sent, "applier", false, now, &values).ok()?;
    let (live, sent_again) = (live.copy_into(&values), sent.copy_into(&values));
    let (changed, live_changed, live_again) = (labelled(sent), labelled(live), live.copy_into(&values));

    let mut arena = Bump::new();
    let mut apply = |what: &str, live: Value<'_>, sent: Value<'_>| {
        bench.run(&format!("Server/{name}/{what}"), |_| {
            arena.reset();
            let _ = black_box(manager.apply(Some(live), sent, "applier", false, now, &arena));
        });
    };
    apply("ApplyCreate", empty, sent);
    apply("ApplyNoop", live, sent_again);
    apply("ApplyChange", live, changed);
    let mut update = |what: &str, by: &str, live: Value<'_>, sent: Value<'_>| {
        bench.run(&format!("Server/{name}/{what}"), |_| {
            arena.reset();
            let _ = black_box(manager.update(Some(live), sent, by, now, &arena));
        });
    };
    update("Create", "creator", empty, sent);
    update("Update", "other", live, live_changed);
    update("UpdateNoop", "other", live, live_again);
    Some(())
}
