//! Objects of built-in kinds: requests to which a real server responded, and generated objects compared with Go's
//! strict decoder.

use crate::oracle::Oracle;
use crate::plan::Plan;
use crate::structural::records;
use crate::table::{Table, Verdict};
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_corpus::generate::Seeded;
use kubeshape_input::Limits;
use kubeshape_registry::{Kind, Object, Registry, Settings, duplicate_fields};
use kubeshape_schema::Bump;
use kubeshape_smd::{ToValue, Value as Decodable};
use kubeshape_validate::Release;
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_validate::typed::{GO_NAMES, Typed};
use kubeshape_yaml::Node;
use proptest::prelude::any;
use proptest::strategy::{BoxedStrategy, Strategy};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How many out of ten members of a mapping a generated object keeps.
const KEPT: u32 = 4;

/// Returns the built-in kinds of the release.
pub(crate) fn built_in() -> Result<Registry, String> {
    built_in_of(crate::RECORDED)
}

/// Returns the built-in kinds of a release.
pub(crate) fn built_in_of(release: Release) -> Result<Registry, String> {
    let api = BuiltInDocuments::try_from(release).map_err(|error| error.to_string())?.api();
    let mut registry = Registry::new(Settings::of(release));
    for (path, document) in api.openapi_v3_of(|_| true) {
        let read = kubeshape_input::read(path, document.as_bytes(), Limits::default());
        registry.set_built_in(path, read.without_lines());
    }
    Ok(registry)
}

/// Returns a server's message about an object of a built-in kind that it decodes with strict field validation, or `""`
/// if it accepts it. `object` is the source of the object, in which fields may appear twice.
fn decoded(typed: &Typed, value: Decodable<'_>, object: Node<'_>) -> String {
    let decoded = typed.decode(value);
    if let Some(error) = decoded.errors.first() {
        return error.message.clone();
    }
    let twice = duplicate_fields(object).into_iter().map(|duplicate| (duplicate.path, ())).collect();
    let twice = decoded.told_twice(twice).into_iter().map(|(path, ())| duplicate_field(&path));
    let unknown = decoded.unknown.iter().map(|path| unknown_field(path, Fields::Decoded));
    let all: Vec<String> = twice.chain(unknown).collect();
    if all.is_empty() { String::new() } else { format!("strict decoding error: {}", all.join(", ")) }
}

/// Compares requests of kubectl and other clients to which a real server responded. Those with objects of built-in
/// kinds were all accepted.
pub(crate) fn recorded(golden: &Path, corpus: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    struct Exchange {
        note: Option<String>,
        request: Sent,
        status: u16,
    }
    #[derive(Deserialize)]
    struct Sent {
        method: String,
        path: String,
        body: Option<String>,
    }
    #[derive(Deserialize)]
    struct Call {
        args: Vec<String>,
        stdin: Option<String>,
        exit: i32,
        stderr: String,
    }
    let folder = golden.join("apiserver");
    let (exchanges, calls) =
        (folder.join("negotiated/negotiated.ndjson.zst"), folder.join("kubectl/objects.ndjson.zst"));
    if !exchanges.is_file() || !calls.is_file() {
        return;
    }
    let mut registry = match built_in() {
        Ok(registry) => registry,
        Err(error) => return table.add("requests", "built-in kinds", Verdict::Missing(error)),
    };
    for file in crate::golden::files(&corpus.join("crds/cert-manager")) {
        let Ok(bytes) = crate::golden::read(&file) else { continue };
        let name = file.display().to_string();
        registry.set_input(name.as_str(), kubeshape_input::read(name.as_str(), &bytes, Limits::default()));
    }
    for (at, exchange) in records::<Exchange>(&exchanges, table).into_iter().enumerate() {
        let Sent { method, path, body: Some(body) } = exchange.request else { continue };
        if method != "POST" || path.contains("dryRun") {
            continue;
        }
        let Ok(object) = Object::read("request", &body) else { continue };
        let Some(typed) = registry.kind(object.gvk()).and_then(Kind::typed) else { continue };
        let Some(location) = object.location() else { continue };
        let ours = decoded(&typed, object.value().to_value(&Bump::new()), location.node());
        let verdict = match (ours.is_empty(), exchange.status < 400) {
            (ours, theirs) if ours == theirs => Verdict::Equal,
            _ => Verdict::Differing(format!("{ours:?}, theirs {}", exchange.status)),
        };
        table.add("requests", &format!("{at} {path} {}", exchange.note.unwrap_or_default()), verdict);
    }
    for (at, call) in records::<Call>(&calls, table).into_iter().enumerate() {
        let mode = call.args.iter().find_map(|arg| arg.strip_prefix("--validate="));
        let (Some("create"), Some(mode)) = (call.args.first().map(String::as_str), mode) else { continue };
        let Some(object) = call.stdin.as_deref().and_then(|text| Object::read("stdin", text).ok()) else { continue };
        let Some(ours) = created(&registry, &object, mode) else { continue };
        let label = format!("{at} {}", call.args.join(" "));
        let verdict = match &ours {
            Answer { refused, texts }
                if *refused == (call.exit != 0)
                    && texts.iter().all(|text| call.stderr.contains(text.as_str()))
                    && texts.is_empty() == call.stderr.is_empty() =>
            {
                Verdict::Equal
            }
            ours => Verdict::Differing(format!("{ours:?}, theirs {} {:?}", call.exit, call.stderr)),
        };
        table.add("kubectl create", &label, verdict);
    }
}

/// The result of a request.
#[derive(Debug)]
struct Answer {
    refused: bool,
    /// The output.
    texts: Vec<String>,
}

/// Returns kubectl's output for the request that creates a custom resource with a mode of field validation, or `None`
/// if the kind is unknown.
fn created(registry: &Registry, object: &Object, mode: &str) -> Option<Answer> {
    let judged = match registry.judge(kubeshape_registry::Request::Create(object)) {
        Ok(judged) => judged,
        Err(kubeshape_registry::Error::Refused { message, .. }) => {
            return Some(Answer { refused: true, texts: vec![message] });
        }
        Err(_) => return None,
    };
    let unknown: Vec<String> = judged.unknown.iter().map(|path| unknown_field(path, Fields::Pruned)).collect();
    let errors = judged.errors.iter().map(ToString::to_string).chain(judged.refusal.map(str::to_owned));
    let errors: Vec<String> = errors.collect();
    Some(match mode {
        "strict" | "true" if !unknown.is_empty() => {
            Answer { refused: true, texts: vec![format!("strict decoding error: {}", unknown.join(", "))] }
        }
        "warn" => {
            let warnings = unknown.into_iter().map(|text| format!("Warning: {text}"));
            Answer { refused: !errors.is_empty(), texts: warnings.chain(errors).collect() }
        }
        _ => Answer { refused: !errors.is_empty(), texts: errors },
    })
}

/// Compares generated objects of all built-in kinds with Go's strict decoder, and the names of Go types.
pub(crate) fn generated(plan: &Plan, program: &Path, table: &mut Table) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Theirs {
        #[serde(default)]
        error: String,
    }
    let names = Command::new(program).arg("go-names").output().map_err(|error| format!("the Go program: {error}"))?;
    table.add("names of Go types", "go_names.txt", crate::verdict::bytes(GO_NAMES.as_bytes(), &names.stdout));

    let registry = built_in()?;
    let kinds: Vec<(&Kind, Typed, Value)> = registry
        .kinds()
        .filter(|kind| kind.resource().is_some())
        .filter_map(|kind| Some((kind, kind.typed()?, kind.sample(true, Release::NEWEST)?.object)))
        .collect();
    let mut oracle = Oracle::start(program, &["typed"])?;
    for n in 0..plan.count {
        let seed = plan.seed.wrapping_add(n);
        let mut draw = Draw::new(seed);
        let Some((kind, typed, whole)) = kinds.get(draw.below(kinds.len())) else { continue };
        let text = draw.object(whole);
        let id = format!("seed {seed} {}", kind.gvk());
        let Theirs { error: theirs } = oracle.ask(&id, &text)?;
        // client-go does not have these kinds.
        if theirs.starts_with("no kind ") {
            continue;
        }
        let object = match Object::read("object", &text) {
            Ok(object) => object,
            Err(error) => {
                table.add("typed verdict", &id, Verdict::Missing(error.detail.clone()));
                continue;
            }
        };
        let Some(location) = object.location() else { continue };
        let arena = Bump::new();
        let ours = decoded(typed, Decodable::from_node(location.node(), &arena), location.node());
        let verdict = if ours.is_empty() == theirs.is_empty() {
            Verdict::Equal
        } else {
            Verdict::Differing(format!("{ours:?}, theirs {theirs:?}\n{text}"))
        };
        table.add("typed verdict", &id, verdict);
        if !theirs.is_empty() && !ours.is_empty() {
            table.add("typed text", &id, crate::verdict::equal(&in_order(&ours), &in_order(&theirs)));
        }
    }
    Ok(())
}

/// Returns a message with its fields sorted. A server lists unknown and duplicate fields in document order.
fn in_order(message: &str) -> String {
    let Some(fields) = message.strip_prefix("strict decoding error: ") else { return message.to_owned() };
    let mut fields: Vec<&str> = fields.split(", ").collect();
    fields.sort_unstable();
    fields.join(", ")
}

/// Random choices from a seed.
struct Draw {
    seeded: Seeded,
    numbers: BoxedStrategy<u32>,
}

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw { seeded: Seeded::new(seed), numbers: any::<u32>().boxed() }
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(1);
        (self.seeded.next(&self.numbers) % end) as usize
    }

    /// Returns the JSON of an object: some members of the whole one, with up to three of its values replaced, and
    /// perhaps an unknown or duplicate field.
    fn object(&mut self, whole: &Value) -> String {
        let mut object = self.part(whole, 0);
        for _ in 0..self.below(4) {
            let paths = paths(&object);
            let Some(path) = paths.get(self.below(paths.len())) else { break };
            let Some(place) = object.pointer_mut(path) else { break };
            match (self.below(5), place) {
                (0, Value::Object(members)) => {
                    let name = ["colour", "Spec", "apiversion", "name ", "\u{e9}"][self.below(5)];
                    members.insert(name.to_owned(), self.value());
                }
                (_, place) => *place = self.value(),
            }
        }
        let twice = (self.below(6) == 0).then(|| paths(&object)).and_then(|paths| {
            let at = self.below(paths.len());
            paths.into_iter().nth(at)
        });
        let mut out = String::new();
        print(&object, "", twice.as_deref(), &mut out);
        out
    }

    fn part(&mut self, value: &Value, depth: usize) -> Value {
        match value {
            Value::Object(members) => {
                let mut out = Map::new();
                for (name, member) in members {
                    let always = depth == 0;
                    if always || self.below(10) < KEPT as usize {
                        out.insert(name.clone(), self.part(member, depth + 1));
                    }
                }
                Value::Object(out)
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.part(item, depth + 1)).collect()),
            other => other.clone(),
        }
    }

    /// Returns a value that may or may not be valid.
    fn value(&mut self) -> Value {
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(i32::MAX),
            json!(1_i64 << 31),
            json!(1_i64 << 33),
            json!(u64::MAX),
            json!(1.5),
            json!(3.0),
            json!(1e300),
            json!(""),
            json!("a"),
            json!("1"),
            json!("5Gi"),
            json!("1.5.x"),
            json!("="),
            json!("YQ"),
            json!("YQ=="),
            json!("2024-01-01"),
            json!("2024-01-01T00:00:00Z"),
            json!("2024-02-30T00:00:00Z"),
            json!("2024-01-01T00:00:00.123456Z"),
            json!("12e"),
            json!("e3"),
            json!(".5"),
            json!("1 Gi"),
            json!("-0.1m"),
            json!("99999999999999999999999Ei"),
            json!("50%"),
            json!([]),
            json!([1]),
            json!(["a"]),
            json!([{}]),
            json!([null, 1.5, "x"]),
            json!({}),
            json!({"a": 1}),
            json!({"a": "b"}),
            json!({"a": {"b": "c"}}),
            json!({"a": null, "key": ["x"]}),
        ];
        let at = self.below(values.len());
        values.into_iter().nth(at).unwrap_or_default()
    }
}

/// Returns the JSON pointers of the values in an object, without `apiVersion` and `kind`: a server reads these two
/// first.
fn paths(object: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut open = vec![(String::new(), object)];
    while let Some((path, value)) = open.pop() {
        let mut push = |name: &str, below| {
            let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
            if path != "/apiVersion" && path != "/kind" {
                out.push(path.clone());
                open.push((path, below));
            }
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(name, below)| push(name, below)),
            Value::Array(items) => items.iter().enumerate().for_each(|(at, below)| push(&at.to_string(), below)),
            _ => {}
        }
    }
    out
}

/// Prints JSON, with the member at `twice` printed two times.
fn print(value: &Value, path: &str, twice: Option<&str>, out: &mut String) {
    let comma = |at: usize| if at == 0 { "" } else { "," };
    match value {
        Value::Object(members) => {
            out.push('{');
            let mut count = 0;
            for (name, below) in members {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                for _ in 0..=usize::from(twice == Some(path.as_str())) {
                    let _ = write!(out, "{}{}:", comma(count), Value::from(name.as_str()));
                    print(below, &path, twice, out);
                    count += 1;
                }
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, below) in items.iter().enumerate() {
                out.push_str(comma(at));
                print(below, &format!("{path}/{at}"), twice, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}
