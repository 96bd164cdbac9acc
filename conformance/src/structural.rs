//! Areas `structural` and `versions`: the errors and warnings for requests with CustomResourceDefinitions, in the
//! newest and in ten releases.

use crate::definition::with_definition;
use crate::golden;
use crate::known::Known;
use crate::table::{Table, Verdict};
use kubeshape_schema::field::{BadValue, Error, ErrorType, Errors, Path as FieldPath};
use kubeshape_schema::{Bump, read::Reader, read::Rules};
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults, ExpressionCost, Options, Validation};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expected {
    #[serde(rename = "type")]
    pub(crate) error_type: String,
    #[serde(default)]
    pub(crate) field: String,
    #[serde(default)]
    pub(crate) detail: String,
    bad_value: Option<Value>,
    bad_value_bytes: Option<usize>,
    /// The message, if the libraries were asked now.
    text: Option<String>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct CrdName {
    pub(crate) file: String,
    #[serde(default)]
    pub(crate) index: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    crd: CrdName,
    #[serde(default)]
    mutations: Vec<String>,
    #[serde(default)]
    patch: Vec<Operation>,
    #[serde(default)]
    errors: Vec<Expected>,
    #[serde(default)]
    warnings: Vec<String>,
    decode_error: Option<String>,
    update_errors: Option<Vec<Expected>>,
    same_errors: Option<Vec<Expected>>,
    #[serde(default)]
    established: bool,
    #[serde(default)]
    unstable: Value,
    panic: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Operation {
    op: String,
    path: String,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
pub(crate) struct Call {
    pub(crate) test: String,
    pub(crate) inputs: Value,
    pub(crate) output: Value,
}

/// Area `structural`.
pub fn compare(golden: &Path, corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("structural", known);
    let folder = golden.join("structural");
    let mut files = Files { corpus, read: BTreeMap::new() };
    for name in ["crd-corpus", "crd-mutations"] {
        for line in records::<Record>(&folder.join(format!("{name}.ndjson.gz")), &mut table) {
            record(name, &line, &mut files, &mut table);
        }
    }
    upstream(&folder.join("upstream-tests"), &mut table);
    of_area_crds(golden, corpus, &mut table);
    table
}

/// Area `versions`.
pub fn compare_versions(golden: &Path, corpus: &Path, known: Known) -> Table {
    #[derive(Deserialize)]
    struct Line {
        file: String,
        index: usize,
        #[serde(default)]
        errors: Vec<Expected>,
        #[serde(default)]
        warnings: Vec<String>,
        #[serde(rename = "decodeError")]
        decode_error: Option<String>,
        #[serde(default)]
        unstable: Value,
        #[serde(default)]
        rules: Vec<RuleCost>,
    }
    let mut table = Table::new("versions", known);
    let mut files = Files { corpus, read: BTreeMap::new() };
    for release in Release::all() {
        let file = golden.join("versions").join(format!("{release}.ndjson.gz"));
        for line in records::<Line>(&file, &mut table) {
            let label = format!("{} {}", line.file, line.index);
            let Some(source) = files.crd(&line.file, line.index) else {
                table.add("reading", &label, Verdict::Missing("no such definition".to_owned()));
                continue;
            };
            let ours = with_definition(&source, Defaults::Set, |definition, arena| {
                let definition = definition.prepare_for_create(release, arena);
                let warnings = crd::warnings(&definition, release);
                let warnings = warnings.into_iter().map(|warning| warning.text).collect();
                (crd::validate(&definition, release), warnings, crd::expression_costs(&definition, release))
            });
            let mut ours = ours.unwrap_or_default();
            if !line.unstable.is_null() {
                // Upstream chooses at random among expressions with the same cost.
                ours.0.retain(|error| !error.detail.starts_with("contributed to "));
            }
            add_errors(&release.to_string(), &label, &ours.0, &line.errors, &mut table);
            add_warnings(&format!("{release} warnings"), &label, ours.1, line.warnings, &mut table);
            if !line.errors.is_empty()
                && let Ok(document) = serde_json::from_str(&source)
            {
                crate::doctor::add(&format!("{release} cost doctor"), &label, &document, release, &mut table);
            }
            if !line.rules.is_empty() {
                table.add(&format!("{release} costs"), &label, compare_costs(&ours.2, &line.rules));
            }
            if line.decode_error.is_some() {
                table.add("reading", &label, Verdict::Missing("recorded as not readable".to_owned()));
            }
        }
    }
    table
}

/// The cost of a rule and its message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleCost {
    path: String,
    #[serde(default)]
    max_cost: u64,
    cost: Option<u64>,
    #[serde(default)]
    message_expression_max_cost: u64,
    message_expression_error: Option<Value>,
}

fn compare_costs(ours: &[ExpressionCost], theirs: &[RuleCost]) -> Verdict {
    let shown = |cost: &ExpressionCost| (cost.path.clone(), cost.each, cost.total());
    let mut ours: Vec<_> = ours.iter().map(shown).filter(|(_, each, _)| *each > 0).collect();
    let mut expected = Vec::new();
    for rule in theirs {
        if rule.max_cost > 0 {
            expected.push((format!("{}.rule", rule.path), rule.max_cost, rule.cost.unwrap_or_default()));
        }
        let message = rule.message_expression_max_cost;
        if message > 0 && rule.message_expression_error.is_none() {
            expected.push((format!("{}.messageExpression", rule.path), message, message));
        }
    }
    ours.sort();
    expected.sort();
    match ours.iter().zip(&expected).find(|(ours, theirs)| ours != theirs) {
        Some((ours, theirs)) => Verdict::Differing(format!("ours {ours:?}, theirs {theirs:?}")),
        None => crate::verdict::equal(&ours.len(), &expected.len()),
    }
}

/// Returns the records of a file.
pub(crate) fn records<T: for<'de> Deserialize<'de>>(file: &Path, table: &mut Table) -> Vec<T> {
    // A folder of recorded answers may lack some files.
    if !file.is_file() {
        return Vec::new();
    }
    let text = match golden::read(file) {
        Ok(text) => text,
        Err(error) => {
            table.add("reading", &file.display().to_string(), Verdict::Missing(error.to_string()));
            return Vec::new();
        }
    };
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines
        .filter_map(|line| match serde_json::from_slice(line) {
            Ok(record) => Some(record),
            Err(error) => {
                table.add("reading", &file.display().to_string(), Verdict::Missing(error.to_string()));
                None
            }
        })
        .collect()
}

/// The definitions of the corpus as JSON.
pub(crate) struct Files<'c> {
    pub(crate) corpus: &'c Path,
    pub(crate) read: BTreeMap<String, Vec<String>>,
}

impl Files<'_> {
    pub(crate) fn crd(&mut self, file: &str, index: usize) -> Option<String> {
        let corpus = self.corpus;
        let crds = self
            .read
            .entry(file.to_owned())
            .or_insert_with(|| golden::read(&corpus.join(file)).map(|bytes| crds_of(&bytes)).unwrap_or_default());
        crds.get(index).cloned()
    }
}

pub(crate) fn crds_of(bytes: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let Ok(mut stream) = Stream::new(bytes, Limits::default()) else { return out };
    let source = stream.source();
    let mut tape = Tape::new();
    while let Some(read) = stream.next(&mut tape) {
        let Some(root) = read.ok().and_then(|()| tape.document(source).root()) else { continue };
        for manifest in manifests(root).0 {
            let mut json = Vec::new();
            kubeshape_yaml::json::write(manifest.node, &mut json, kubeshape_yaml::json::Options::default());
            out.push(String::from_utf8_lossy(&json).into_owned());
        }
    }
    out
}

fn record(area: &str, record: &Record, files: &mut Files<'_>, table: &mut Table) {
    let label = format!("{} {} {}", record.crd.file, record.crd.index, record.mutations.join("+"));
    let Some(source) = files.crd(&record.crd.file, record.crd.index) else {
        return table.add("reading", &label, Verdict::Missing("no such definition".to_owned()));
    };
    let mut changed: Value = match serde_json::from_str(&source) {
        Ok(value) => value,
        Err(error) => return table.add("reading", &label, Verdict::Missing(error.to_string())),
    };
    for operation in &record.patch {
        if apply(&mut changed, operation).is_none() {
            return table.add("reading", &label, Verdict::Missing(format!("cannot apply {}", operation.path)));
        }
    }
    let document = changed;
    let changed = document.to_string();
    let ours = with_definition(&changed, Defaults::Set, |definition, arena| {
        let definition = definition.prepare_for_create(crate::RECORDED, arena);
        let warnings = crd::warnings(&definition, crate::RECORDED);
        let errors = crd::validate(&definition, crate::RECORDED);
        (errors, warnings.into_iter().map(|warning| warning.text).collect::<Vec<_>>())
    });
    let (errors, warnings) = match (ours, &record.decode_error) {
        (Some(ours), None) => ours,
        (None, Some(_)) => return table.add(&format!("{area} not decoded"), &label, Verdict::Equal),
        (ours, theirs) => {
            let text = format!("ours {}, theirs {theirs:?}", if ours.is_some() { "decoded" } else { "not decoded" });
            return table.add(&format!("{area} not decoded"), &label, Verdict::Differing(text));
        }
    };
    if record.panic.is_some() {
        // Upstream crashed, so there is no answer. This only checks that ours does not crash.
        return;
    }
    if record.unstable.is_null() {
        add_errors(area, &label, &errors, &record.errors, table);
    }
    if !record.errors.is_empty() {
        crate::doctor::add(&format!("{area} cost doctor"), &label, &document, crate::RECORDED, table);
    }
    if record.patch.is_empty() {
        add_warnings(&format!("{area} warnings"), &label, warnings, record.warnings.clone(), table);
    }
    for (row, old, expected) in [("update", &source, &record.update_errors), ("same", &changed, &record.same_errors)] {
        let Some(expected) = expected else { continue };
        let errors = with_definition(old, Defaults::Set, |old, arena| {
            let mut old = old.prepare_for_create(crate::RECORDED, arena);
            old.metadata.resource_version = "1";
            old.status.established = Some(record.established);
            with_definition(&changed, Defaults::Set, |new, new_arena| {
                // Both live as long as the shorter arena.
                let mut new = new.prepare_for_update(&old, crate::RECORDED, new_arena);
                new.metadata.resource_version = "1";
                crd::validate_update(&new, &old, crate::RECORDED)
            })
        });
        add_errors(&format!("{area} {row}"), &label, &errors.flatten().unwrap_or_default(), expected, table);
    }
}

/// Returns definitions of the folder of inputs with recorded changes, if a server accepts the result.
pub(crate) fn changed_definitions(
    golden: &Path,
    corpus: &Path,
    most: usize,
    table: &mut Table,
) -> Vec<(String, Value, Value)> {
    let mut files = Files { corpus, read: BTreeMap::new() };
    let mut out = Vec::new();
    let mut found: Vec<Record> = records(&golden.join("structural/crd-mutations.ndjson.gz"), table);
    found.retain(|record| record.errors.is_empty() && record.decode_error.is_none() && record.panic.is_none());
    // They are selected evenly from all definitions.
    let step = found.len().div_ceil(most.max(1)).max(1);
    for record in found.iter().step_by(step) {
        let label = format!("{} {} {}", record.crd.file, record.crd.index, record.mutations.join("+"));
        let Some(old) = files.crd(&record.crd.file, record.crd.index) else { continue };
        let Ok(old) = serde_json::from_str::<Value>(&old) else { continue };
        let mut new = old.clone();
        if record.patch.iter().all(|operation| apply(&mut new, operation).is_some()) {
            out.push((label, old, new));
        }
    }
    out
}

/// Applies one operation of a JSON Patch.
pub(crate) fn apply(document: &mut Value, operation: &Operation) -> Option<()> {
    let (parent, last) = operation.path.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let value = operation.value.clone();
    match (document.pointer_mut(parent)?, operation.op.as_str()) {
        (Value::Object(members), "remove") => drop(members.remove(&last)),
        (Value::Object(members), _) => drop(members.insert(last, value)),
        (Value::Array(items), "remove") => drop(items.remove(last.parse().ok()?)),
        (Value::Array(items), "replace") => *items.get_mut(last.parse::<usize>().ok()?)? = value,
        (Value::Array(items), _) if last == "-" => items.push(value),
        (Value::Array(items), _) => items.insert(last.parse().ok()?, value),
        _ => return None,
    }
    Some(())
}

fn add_warnings(row: &str, label: &str, mut ours: Vec<String>, mut theirs: Vec<String>, table: &mut Table) {
    ours.sort();
    theirs.sort();
    if !ours.is_empty() || !theirs.is_empty() {
        table.add(row, label, crate::verdict::equal(&ours, &theirs));
    }
}

pub(crate) fn add_errors(row: &str, label: &str, ours: &[Error], theirs: &[Expected], table: &mut Table) {
    table.add(row, label, compare_errors(ours, theirs.iter().collect()));
}

/// Compares errors in any order.
pub(crate) fn compare_errors(ours: &[Error], theirs: Vec<&Expected>) -> Verdict {
    let mut left = theirs;
    let mut more = Vec::new();
    for error in ours {
        if let Some(at) = left.iter().position(|expected| matches_expected(error, expected)) {
            left.remove(at);
            continue;
        }
        let length = match &error.value {
            BadValue::Json(json) => json.len(),
            BadValue::Text(_) | BadValue::Printed(_) | BadValue::Omitted => 0,
        };
        let text: String = error.to_string().chars().take(400).collect();
        more.push(format!("{} ({length} bytes) {text}", error.error_type.name()));
    }
    if left.is_empty() && more.is_empty() {
        return Verdict::Equal;
    }
    let left: Vec<String> = left.iter().map(|error| format!("{error:?}").chars().take(600).collect()).collect();
    Verdict::Differing(format!("ours only {more:?}, theirs only {left:?}"))
}

fn matches_expected(ours: &Error, theirs: &Expected) -> bool {
    let path = if ours.path.is_empty() { "<nil>" } else { &ours.path };
    if ours.error_type.name() != theirs.error_type
        || (path != theirs.field && ours.path != theirs.field)
        || ours.detail != theirs.detail
    {
        return false;
    }
    // Older libraries print values as Go does, and messages of some types show none.
    let shows_none = matches!(ours.error_type, ErrorType::Internal | ErrorType::TooLong);
    let is_printed = matches!(ours.value, BadValue::Printed(_)) || ours.path.is_empty();
    if let Some(text) = theirs.text.as_ref().filter(|_| shows_none || is_printed) {
        return ours.to_string() == *text;
    }
    match (&ours.value, &theirs.bad_value, theirs.bad_value_bytes) {
        (BadValue::Json(json), None, Some(bytes)) => length(json) == bytes,
        (BadValue::Text(text), None, Some(bytes)) => serde_json::json!(text).to_string().len() == bytes,
        (BadValue::Json(json), None, None) => json == "null",
        (BadValue::Omitted, None, None) => true,
        (BadValue::Omitted, Some(Value::String(text)), None) => text.is_empty() || text == "<value omitted>",
        (BadValue::Text(text), Some(Value::String(theirs)), None) => text == theirs,
        (BadValue::Json(json), Some(theirs), None) => {
            serde_json::from_str(json).is_ok_and(|ours: Value| golden::first_difference(&ours, theirs).is_none())
        }
        _ => false,
    }
}

/// Returns the length of a value without escapes of `<`, `>` and `&`, like the recorded lengths.
fn length(json: &str) -> usize {
    let escapes = ["\\u003c", "\\u003e", "\\u0026"].map(|escape| json.matches(escape).count());
    json.len() - escapes.iter().sum::<usize>() * 5
}

/// Compares the calls of upstream's own tests.
fn upstream(folder: &Path, table: &mut Table) {
    let calls = |name: &str, table: &mut Table| records::<Call>(&folder.join(format!("{name}.ndjson.gz")), table);
    let create = "validation.ValidateCustomResourceDefinition";
    for call in calls(create, table) {
        let source = call.inputs["crd"].to_string();
        let ours = with_definition(&source, Defaults::Omitted, |crd, _| crd::validate(&crd, crate::RECORDED));
        add_call(create, &call, ours, table);
    }
    for name in
        ["validation.ValidateCustomResourceDefinitionUpdate", "validation.validateCustomResourceDefinitionUpdate"]
    {
        for call in calls(name, table) {
            let (new, old) = (call.inputs["crd"].to_string(), call.inputs["old"].to_string());
            let ours = with_definition(&old, Defaults::Omitted, |old, _| {
                with_definition(&new, Defaults::Omitted, |new, _| crd::validate_update(&new, &old, crate::RECORDED))
            });
            add_call(name, &call, ours.flatten(), table);
        }
    }
    let name = "validation.validateCustomResourceDefinitionValidation";
    for call in calls(name, table) {
        add_call(name, &call, validation_of(&call), table);
    }
    let name = "validation.ValidateCustomResourceDefinitionStoredVersions";
    for call in calls(name, table) {
        let texts = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
        let stored = texts(&call.inputs["storedVersions"]);
        let stored: Vec<&str> = stored.iter().map(String::as_str).collect();
        let versions: Vec<(&str, bool)> = call.inputs["versions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|version| (version["name"].as_str().unwrap_or_default(), version["storage"] == true))
            .collect();
        let mut errors = Errors::default();
        let path = call.inputs["path"].as_str().unwrap_or_default();
        let stored = (!call.inputs["storedVersions"].is_null()).then_some(stored.as_slice());
        crd::stored_versions(stored, &versions, &FieldPath::Base(path), &crate::RECORDED.into(), 0, &mut errors);
        add_call(name, &call, Some(errors.into_vec()), table);
    }
    let name = "validation.validateDeprecationWarning";
    for call in calls(name, table) {
        let warning = call.inputs["deprecationWarning"].as_str();
        let ours = crd::deprecation_warning(call.inputs["deprecated"] == true, warning);
        let theirs: Vec<String> = serde_json::from_value(call.output["messages"].clone()).unwrap_or_default();
        table.add(name, &call.test, crate::verdict::equal(&ours, &theirs));
    }
}

fn add_call(row: &str, call: &Call, ours: Option<Vec<Error>>, table: &mut Table) {
    let Some(ours) = ours else {
        return table.add(row, &call.test, Verdict::Missing("not decoded".to_owned()));
    };
    match serde_json::from_value::<Vec<Expected>>(call.output["errors"].clone()) {
        Ok(theirs) => add_errors(row, &call.test, &ours, &theirs, table),
        Err(error) => table.add(row, &call.test, Verdict::Missing(error.to_string())),
    }
}

/// Calls `validateCustomResourceDefinitionValidation` with the options that a test sets.
fn validation_of(call: &Call) -> Option<Vec<Error>> {
    let on = |name: &str| call.inputs["options"][name] == true;
    let options = Options {
        allow_defaults: on("allowDefaults"),
        require_valid_type: on("requireValidPropertyType"),
        require_structural: on("requireStructuralSchema"),
        require_pruned_defaults: on("requirePrunedDefaults"),
        require_atomic_set_type: on("requireAtomicSetType"),
        require_map_list_keys: on("requireMapListKeysMapSetValidation"),
        ..Options::create(crate::RECORDED)
    };
    let source = call.inputs["schema"].to_string();
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let node = tape.document(&source).root()?;
    let arena = Bump::new();
    let mut reader = Reader::new(&arena, Rules::Crd);
    let inner = node.get("openAPIV3Schema").unwrap_or(node);
    let schema = reader.schema(inner);
    let validation = (!node.is_null()).then_some(Validation { schema: (!inner.is_null()).then_some(&schema) });
    let path = FieldPath::Base(call.inputs["path"].as_str().unwrap_or_default());
    let mut errors = Errors::default();
    let status = call.inputs["statusEnabled"] == true;
    crd::validate_validation(validation, status, &options, &path, node.document(), &mut errors);
    Some(errors.into_vec())
}

/// Compares the records of area `crds` with the server's answers to the whole manifest.
fn of_area_crds(golden: &Path, corpus: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    struct Line {
        record: String,
        #[serde(default)]
        file: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        api_version: String,
        #[serde(default)]
        validation_errors: Vec<Expected>,
        #[serde(default)]
        warnings: Vec<String>,
    }
    for file in golden::files(&golden.join("crds")) {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(project) = name.strip_suffix(".ndjson.gz").filter(|name| !name.ends_with(".merged")) else { continue };
        let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in records::<Line>(&file, table) {
            if line.record != "crd" {
                continue;
            }
            let crds = sources.entry(line.file.clone()).or_insert_with(|| {
                let path = corpus.join("crds").join(project).join(&line.file);
                golden::read(&path).map(|bytes| crds_of(&bytes)).unwrap_or_default()
            });
            let label = format!("{project} {} {}", line.file, line.name);
            let version = format!("\"apiextensions.k8s.io/{}\"", line.api_version);
            let quoted = format!("\"name\":\"{}\"", line.name);
            let Some(source) = crds.iter().find(|source| source.contains(&version) && source.contains(&quoted)) else {
                table.add("crds", &label, Verdict::Missing("no such definition".to_owned()));
                continue;
            };
            let ours = with_definition(source, Defaults::Set, |definition, arena| {
                let definition = definition.prepare_for_create(crate::RECORDED, arena);
                let warnings = crd::warnings(&definition, crate::RECORDED);
                (crd::validate(&definition, crate::RECORDED), warnings)
            });
            let Some((errors, warnings)) = ours else {
                table.add("crds", &label, Verdict::Missing("not decoded".to_owned()));
                continue;
            };
            let theirs: Vec<Expected> = line.validation_errors;
            add_short_errors("crds", &label, &errors, &theirs, table);
            let warnings = warnings.into_iter().map(|warning| warning.text).collect();
            add_warnings("crds warnings", &label, warnings, line.warnings, table);
        }
    }
}

/// Compares type, field and detail: these records have no values.
fn add_short_errors(row: &str, label: &str, ours: &[Error], theirs: &[Expected], table: &mut Table) {
    let mut ours: Vec<_> =
        ours.iter().map(|error| (error.error_type.name(), error.path.as_str(), error.detail.as_str())).collect();
    let mut theirs: Vec<_> =
        theirs.iter().map(|error| (error.error_type.as_str(), error.field.as_str(), error.detail.as_str())).collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    table.add(row, label, crate::verdict::equal(&ours, &theirs));
}
