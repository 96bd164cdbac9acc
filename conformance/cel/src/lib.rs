//! Compares answers about expressions: messages, types, costs and values.

#![allow(clippy::print_stdout)]

mod difference;

pub use difference::first_difference;
use kubeshape_cel::{
    Data, DeclType, Env, Kube, Language, Range, Release, RuleEnv, Sizes, Timestamp, Type, UnknownSizes, Value, escape,
};
use kubeshape_schema::{Bump, Flags, Schema, read};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value as Json, json};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The files of expressions.
const EXPRESSIONS: [&str; 3] = ["kube-conformance", "kube-literals", "kube-random"];
/// The cost limit of the recorded evaluations.
const LIMIT: u64 = 1_000_000;

/// Returns the release whose answers are recorded.
pub fn recorded_release() -> Release {
    Release::nearest(36)
}

/// The result of comparing one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same.
    Equal,
    /// The answers differ, first at this path.
    Differing(String),
    /// We have no answer, for this reason.
    Missing(String),
}

/// One comparison: the kind of answer, the record, and the result.
pub type Comparison = (String, String, Verdict);

/// Compares every record of a folder of recorded answers.
pub fn compare(folder: &Path) -> Vec<Comparison> {
    let mut out = Vec::new();
    for file in EXPRESSIONS {
        for record in records(&folder.join(format!("{file}.ndjson.gz"))) {
            expression(&mut out, file, &record, recorded_release());
        }
    }
    for record in records(&folder.join("schemas.ndjson.gz")) {
        rules(&mut out, "schemas", &record, recorded_release());
    }
    out
}

/// Returns the records of a compressed file, a JSON object per line, or none if it cannot be read.
pub fn records(path: &Path) -> Vec<Json> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let mut text = Vec::new();
    if flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Assumes ten elements for every value with a path.
struct Ten;

impl Sizes for Ten {
    fn size(&self, path: &[&str], _language: &Language) -> Option<Range> {
        (!path.is_empty()).then_some(Range { min: 0, max: 10 })
    }
}

fn text<'r>(record: &'r Json, key: &str) -> &'r str {
    record.get(key).and_then(Json::as_str).unwrap_or("")
}

/// Returns the strings with their type variables numbered by first appearance. Upstream numbers the type parameters of
/// an overload in the order of a Go map (`OverloadDecl.TypeParams`), so the numbers in its messages differ from run to
/// run.
fn renumbered(value: &Json) -> Json {
    const NAME: &str = "_var";
    match value {
        Json::Array(items) => items.iter().map(renumbered).collect(),
        Json::Object(members) => members.iter().map(|(key, value)| (key.clone(), renumbered(value))).collect(),
        Json::String(text) => {
            let mut seen: Vec<&str> = Vec::new();
            let mut parts = text.split(NAME);
            let mut out = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let (number, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
                let at = seen.iter().position(|one| *one == number).unwrap_or_else(|| {
                    seen.push(number);
                    seen.len() - 1
                });
                out.extend([NAME, &at.to_string(), rest]);
            }
            Json::String(out)
        }
        other => other.clone(),
    }
}

fn verdict(ours: &Json, theirs: &Json) -> Verdict {
    first_difference(ours, theirs).map_or(Verdict::Equal, Verdict::Differing)
}

/// Compares the answers about an expression. `file` begins the names of the rows.
pub fn expression(out: &mut Vec<Comparison>, file: &str, record: &Json, release: Release) {
    let id = text(record, "id");
    let source = text(record, "expr");
    if record.get("panic").is_some() {
        return;
    }
    let shown: String = source.chars().take(150).collect();
    let mut add = |row: &str, verdict: Verdict| {
        let verdict = match verdict {
            Verdict::Differing(place) => Verdict::Differing(format!("{place}  in `{shown}`")),
            other => other,
        };
        out.push((format!("{file} {row}"), id.to_owned(), verdict));
    };
    let mut env = Env::new(release).with_container(text(record, "container"));
    for (name, ty) in record.get("vars").and_then(Json::as_object).into_iter().flatten() {
        match ty.as_str().and_then(Type::parse) {
            Some(ty) => env = env.with_variable(name, ty),
            None => return add("vars", Verdict::Missing(format!("type {ty}"))),
        }
    }
    let ast = match env.compile(source) {
        Ok(ast) => ast,
        Err(issues) => {
            let errors: Vec<Json> = issues
                .issues()
                .iter()
                .map(|issue| json!({"line": issue.line, "column": issue.column, "message": issue.message}))
                .collect();
            let theirs = record.get("errors").cloned().unwrap_or(Json::Null);
            let syntax = record.get("issues").and_then(Json::as_str).is_some_and(|text| text.contains("Syntax error"));
            let row = if syntax { "errors of syntax" } else { "errors" };
            let found = verdict(&renumbered(&Json::from(errors)), &renumbered(&theirs));
            if found == Verdict::Equal {
                let theirs = renumbered(record.get("issues").unwrap_or(&Json::Null));
                return add(row, verdict(&renumbered(&json!(issues.to_string())), &theirs));
            }
            return add(row, found);
        }
    };
    if let Some(theirs) = record.get("issues") {
        return add("errors", Verdict::Differing(format!("compiles, theirs {theirs}")));
    }
    if let Some(ty) = record.get("type") {
        // Older versions of cel-go print another name.
        let ty = ty.as_str().map(|ty| ty.replace("optional(", "optional_type("));
        add("type", verdict(&json!(ast.output_type().to_string()), &json!(ty)));
    }
    let range = |range: Range| json!([range.min, range.max]);
    if let Some(estimate) = record.get("estimate") {
        add("estimate", verdict(&range(ast.estimate(&UnknownSizes)), estimate));
    }
    if let Some(estimate) = record.get("estimate10") {
        add("estimate10", verdict(&range(ast.estimate(&Ten)), estimate));
    }
    let program = match ast.program() {
        Ok(program) => program,
        Err(error) => {
            let theirs = record.get("programError").cloned().unwrap_or(Json::Null);
            return add("programError", verdict(&json!(error), &theirs));
        }
    };
    if let Some(theirs) = record.get("programError") {
        return add("programError", Verdict::Differing(format!("no error, theirs {theirs}")));
    }
    let mut bindings: Vec<(&str, Value<'_>)> = Vec::new();
    for (name, value) in record.get("bindings").and_then(Json::as_object).into_iter().flatten() {
        match read(value) {
            Some(value) => bindings.push((name, value)),
            None => return add("bindings", Verdict::Missing(format!("value {value}"))),
        }
    }
    let outcome = program.evaluate(bindings, LIMIT);
    let unordered = record.get("unordered").is_some();
    match (&outcome.result, record.get("value"), record.get("evalError")) {
        (Ok(value), Some(theirs), _) => {
            let mut ours = write(value);
            if let (true, Json::Array(items)) = (unordered, &mut ours) {
                items.sort_by_key(Json::to_string);
            }
            let mut theirs = theirs.clone();
            if let (true, Json::Array(items)) = (unordered, &mut theirs) {
                items.sort_by_key(Json::to_string);
            }
            add("value", verdict(&ours, &theirs));
        }
        (Ok(value), None, Some(theirs)) => {
            add("evalError", Verdict::Differing(format!("{}, theirs error {theirs}", write(value))));
        }
        (Err(error), Some(theirs), _) => {
            add("value", Verdict::Differing(format!("error {error}, theirs {theirs}")));
        }
        (Err(error), None, Some(theirs)) => add("evalError", verdict(&json!(error), theirs)),
        (_, None, None) => {}
    }
    if let Some(cost) = record.get("cost") {
        add("cost", verdict(&json!(outcome.cost), cost));
    }
}

/// Returns a recorded value, or `None` for an unknown form.
pub fn read(value: &Json) -> Option<Value<'static>> {
    Some(match value {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => Value::Int(number.as_i64()?),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(read).collect::<Option<_>>()?),
        Json::Object(fields) => {
            let (kind, inner) = fields.iter().next()?;
            match kind.as_str() {
                "uint" => Value::Uint(inner.as_u64()?),
                "double" => Value::Double(match inner {
                    Json::String(text) => text.parse().ok()?,
                    other => other.as_f64()?,
                }),
                "bytes" => Value::Bytes(decode(inner.as_str()?)?.into()),
                "duration" => evaluated(&format!("duration('{}')", inner.as_str()?))?,
                "timestamp" => evaluated(&format!("timestamp('{}')", inner.as_str()?))?,
                "type" => Value::Type(Type::parse(inner.as_str()?)?),
                "map" => {
                    let mut entries = Vec::new();
                    for pair in inner.as_array()? {
                        entries.push((read(pair.get(0)?)?, read(pair.get(1)?)?));
                    }
                    Value::map(entries)
                }
                "optional" => Value::Optional(match inner.get(0) {
                    Some(value) => Some(Arc::new(read(value)?)),
                    None => None,
                }),
                _ => return None,
            }
        }
    })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let digit =
        |b: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|own| *own == b);
    let mut out = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let digits: Vec<usize> = group.iter().filter(|b| **b != b'=').map(|b| digit(*b)).collect::<Option<_>>()?;
        let word = digits.iter().chain([0, 0, 0].iter()).take(4).fold(0usize, |word, digit| word << 6 | digit);
        let bytes = [(word >> 16) as u8, (word >> 8) as u8, word as u8];
        out.extend_from_slice(&bytes[..digits.len() * 3 / 4]);
    }
    Some(out)
}

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let word = group.iter().chain([0, 0].iter()).take(3).fold(0usize, |word, byte| word << 8 | usize::from(*byte));
        for i in 0..4 {
            let digit = char::from(DIGITS[word >> (18 - 6 * i) & 63]);
            out.push(if i <= group.len() { digit } else { '=' });
        }
    }
    out
}

fn evaluated(source: &str) -> Option<Value<'static>> {
    let program = Env::new(recorded_release()).compile(source).ok()?.program().ok()?;
    match program.evaluate([], LIMIT).result {
        Ok(Value::Duration(nanos)) => Some(Value::Duration(nanos)),
        Ok(Value::Timestamp(at)) => Some(Value::Timestamp(at)),
        _ => None,
    }
}

/// Returns a value in its recorded form.
pub fn write(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Uint(u) => json!({"uint": u}),
        Value::Double(d) if d.is_nan() => json!({"double": "NaN"}),
        Value::Double(d) if d.is_infinite() => {
            json!({"double": if *d > 0.0 { "Infinity" } else { "-Infinity" }})
        }
        Value::Double(d) if *d == 0.0 && d.is_sign_negative() => json!({"double": "-0"}),
        Value::Double(d) => json!({"double": d}),
        Value::String(text) => json!(&**text),
        Value::Bytes(bytes) => json!({"bytes": encode(bytes)}),
        Value::Duration(nanos) => json!({"duration": seconds(*nanos)}),
        Value::Timestamp(at) => json!({"timestamp": Timestamp::to_utc(*at)}),
        Value::Type(ty) => json!({"type": ty.name()}),
        Value::List(list) => list.iter().map(|item| write(&item)).collect(),
        Value::Map(map) => {
            let mut pairs: Vec<Json> = map.iter().map(|(key, value)| json!([write(&key), write(&value)])).collect();
            pairs.sort_by_key(Json::to_string);
            json!({"map": pairs})
        }
        Value::Optional(inner) => json!({"optional": inner.iter().map(|inner| write(inner)).collect::<Vec<_>>()}),
        // Upstream's recorder did not know these pointer types.
        Value::Kube(Kube::Quantity(_, true)) => json!({"celType": "kubernetes.Quantity", "go": "*cel.Quantity"}),
        Value::Kube(kube) => {
            let kind = match kube {
                Kube::Quantity(..) => "quantity",
                Kube::Ip(_) => "ip",
                Kube::Cidr(_) => "cidr",
                Kube::Url(_) => "url",
                Kube::Semver(_) => "semver",
                Kube::Format(_) => "format",
                Kube::Authorization(_) => "authorization",
            };
            json!({kind: kube.to_string()})
        }
        Value::Object(object) => json!({"object": object.name()}),
        Value::Error(error) => json!({"error": &**error}),
    }
}

fn seconds(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let magnitude = nanos.unsigned_abs();
    let fraction = format!("{:09}", magnitude % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}s", magnitude / 1_000_000_000)
}

/// Returns a JSON value as an object for rules.
pub fn data(value: &Json) -> Data<'_> {
    match value {
        Json::Null => Data::Null,
        Json::Bool(b) => Data::Bool(*b),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Data::Int(int),
            None => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Data::string(text.as_str()),
        Json::Array(items) => Data::List(items.iter().map(data).collect()),
        Json::Object(fields) => Data::map(fields.iter().map(|(key, value)| (key.as_str(), data(value)))),
    }
}

/// Compares the compiled rules of a schema. `file` begins the names of the rows.
pub fn rules(out: &mut Vec<Comparison>, file: &str, record: &Json, release: Release) {
    let id = text(record, "id");
    let root = record.get("isResourceRoot").and_then(Json::as_bool) == Some(true);
    for node in record.get("compile").and_then(Json::as_array).into_iter().flatten() {
        let path = text(node, "path");
        let Some((props, declared)) = at_path(record.get("schema"), root, path) else { continue };
        let record = format!("{id} {path}");
        let mut add = |row: &str, verdict| out.push((format!("{file} {row}"), record.clone(), verdict));
        let env = declared.map(|declared| RuleEnv::of_type(&declared, release, "selfTypeN"));
        let Some(env) = env else {
            let theirs = node.get("error").cloned().unwrap_or(Json::Null);
            add("no type", verdict(&json!("failed to convert to declType for CEL validation rules"), &theirs));
            continue;
        };
        if let Some(size) = node.get("minSerializedSize") {
            add("minSerializedSize", verdict(&json!(env.min_serialized_size()), size));
        }
        let sources = props.get("x-kubernetes-validations").and_then(Json::as_array).into_iter().flatten();
        for (source, theirs) in sources.zip(node.get("rules").and_then(Json::as_array).into_iter().flatten()) {
            let optional = source.get("optionalOldSelf").and_then(Json::as_bool) == Some(true);
            match env.rule(text(source, "rule"), optional) {
                Ok(rule) => {
                    let ours = json!([rule.max_cost, rule.uses_old_self, env.max_cardinality()]);
                    let uses = theirs.get("usesOldSelf").and_then(Json::as_bool) == Some(true);
                    let expected = json!([theirs.get("maxCost"), uses, theirs.get("maxCardinality")]);
                    add("rule", verdict(&ours, &expected));
                }
                Err(error) => {
                    let detail = theirs.pointer("/error/detail").cloned().unwrap_or(Json::Null);
                    let syntax = detail.as_str().is_some_and(|text| text.contains("Syntax error"));
                    add(
                        if syntax { "rule error of syntax" } else { "rule error" },
                        verdict(&json!(error.detail), &detail),
                    );
                    continue;
                }
            }
            let message = text(source, "messageExpression");
            if message.is_empty() {
                continue;
            }
            match env.message(message, optional) {
                Ok(rule) => {
                    let expected = theirs.get("messageExpressionMaxCost").cloned().unwrap_or(Json::Null);
                    add("message", verdict(&json!(rule.max_cost), &expected));
                }
                Err(error) => {
                    let detail = theirs.pointer("/messageExpressionError/detail").cloned().unwrap_or(Json::Null);
                    add("message error", verdict(&json!(error.detail), &detail));
                }
            }
        }
    }
}

/// Returns the schema at a path, and the type of its values in rules: that of a field or of the elements of its parent,
/// which may differ from the type that the schema alone declares (`additionalProperties` of an array).
fn at_path<'r>(schema: Option<&'r Json>, root: bool, path: &str) -> Option<(&'r Json, Option<Arc<DeclType>>)> {
    let of_schema = |props: &Json, is_root: bool| {
        let of = |schema: &Schema<'_>| DeclType::of(schema, is_root || schema.flags.any(Flags::EMBEDDED_RESOURCE));
        with_schema(props, of).flatten().map(Arc::new)
    };
    let mut schema = schema?;
    let mut declared = of_schema(schema, root);
    let mut rest = path;
    while !rest.is_empty() {
        let element = [("[]", "items"), ("{}", "additionalProperties")]
            .into_iter()
            .find_map(|(step, keyword)| Some((rest.strip_prefix(step)?, keyword)));
        if let Some((after, keyword)) = element {
            schema = schema.get(keyword)?;
            declared = declared.and_then(|above| above.element().cloned());
            rest = after;
        } else {
            let mut names = serde_json::Deserializer::from_str(rest).into_iter::<Vec<String>>();
            let name = names.next()?.ok()?.pop()?;
            rest = &rest[names.byte_offset()..];
            schema = schema.get("properties")?.get(&name)?;
            declared = match escape::escape(&name) {
                Some(name) => declared.and_then(|above| above.field(&name).cloned()),
                None => of_schema(schema, false),
            };
        }
    }
    Some((schema, declared))
}

/// Calls `with` with JSONSchemaProps, as rules read them.
fn with_schema<T>(props: &Json, with: impl FnOnce(&Schema<'_>) -> T) -> Option<T> {
    let source = props.to_string();
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    Some(with(&read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(&source).root()?)))
}
