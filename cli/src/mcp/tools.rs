//! What the tools do.

use super::{answer, paths};
use crate::args::{LiveArgs, OperationArg};
use crate::input::Filter;
use crate::lsp::Known;
use crate::rows::{Answer, Row, Task};
use crate::validate::live::Base;
use crate::validate::texts;
use kubeshape::{Api, Crd, Document, Object, WriteOptions};
use kubeshape_check::Releases;
use kubeshape_input::Finding;
use kubeshape_language::{Fields, Knowledge};
use serde_json::{Value, json};
use std::fmt::Write;
use std::rc::Rc;
use std::time::SystemTime;

/// The number of kinds that are listed by default, and the number of resources that are listed.
const KINDS: usize = 50;
const RESOURCES: usize = 100;
/// The default size of an explanation, and the maximum, in bytes.
const BYTES: usize = 4_000;
const MOST_BYTES: usize = 100_000;
/// The beginning of the URI of a schema.
const SCHEMA: &str = "kubeshape://schema/";

/// The tools, and what they know.
pub(super) struct Tools<'c, 'a> {
    args: &'c LiveArgs,
    filter: &'c Filter,
    known: Known<'c, 'a>,
}

impl<'c, 'a> Tools<'c, 'a> {
    pub(super) fn new(args: &'c LiveArgs, filter: &'c Filter, known: Known<'c, 'a>) -> Tools<'c, 'a> {
        Tools { args, filter, known }
    }

    /// Calls a tool, whose arguments have the right types.
    ///
    /// # Errors
    /// Says what is wrong with the arguments.
    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> Result<String, String> {
        match name {
            "kinds" => Ok(self.kinds(arguments)),
            "explain" => self.explain(arguments),
            "sample" => {
                let (api_version, kind) = self.kind(arguments)?;
                let sample = self.known.sample(&api_version, &kind);
                sample.ok_or_else(|| format!("there is no sample of {api_version} {kind}"))
            }
            "validate" => {
                let (name, text) = text(arguments, "text", "path")?;
                let answered = self.known.validate(Row::new(&name, &text));
                Ok(answer::findings(answered.verdict, &answered.findings))
            }
            "check" => self.check(arguments),
            "diff" => {
                let (_, old) = text(arguments, "old", "oldPath")?;
                let (name, new) = text(arguments, "new", "newPath")?;
                let task = Task::diff();
                let Answer { verdict, findings, .. } = task.worker().answer(Row { name: &name, text: &new, old: &old });
                Ok(answer::findings(verdict, &findings))
            }
            "apply_plan" => self.apply(arguments),
            _ => self.policies(arguments),
        }
    }

    fn kinds(&mut self, arguments: &Value) -> String {
        let filter = arguments["filter"].as_str().unwrap_or_default().to_lowercase();
        let limit = arguments["limit"].as_u64().map_or(KINDS, |limit| limit as usize);
        let kinds = self.known.kinds();
        let lines: Vec<String> = kinds.iter().map(|(version, kind)| format!("{kind} {version}\n")).collect();
        let found: Vec<&String> = lines.iter().filter(|line| line.to_lowercase().contains(&filter)).collect();
        let mut out: String = found.iter().take(limit).map(|line| line.as_str()).collect();
        if found.len() > limit {
            let _ = writeln!(out, "{} more", found.len() - limit);
        }
        if found.is_empty() { "no kind\n".to_owned() } else { out }
    }

    /// Returns the API version and kind that the arguments name.
    fn kind(&mut self, arguments: &Value) -> Result<(String, String), String> {
        let kind = arguments["kind"].as_str().unwrap_or_default();
        let version = arguments["apiVersion"].as_str();
        let kinds = self.known.kinds();
        let of = |wanted: &str| -> Vec<&(String, String)> {
            let fits =
                |(own, other): &&(String, String)| other == wanted && version.is_none_or(|version| version == own);
            kinds.iter().filter(fits).collect()
        };
        match of(kind).as_slice() {
            [(version, kind)] => Ok((version.clone(), kind.clone())),
            [] => {
                let near = kubeshape_schema::nearest(kind, kinds.iter().map(|(_, kind)| kind.as_str()));
                let version = version.map(|version| format!(" {version}")).unwrap_or_default();
                let rest = if near.is_empty() { String::new() } else { format!("; similar: {}", near.join(", ")) };
                Err(format!("there is no kind {kind}{version}{rest}"))
            }
            several => {
                let versions: Vec<&str> = several.iter().map(|(version, _)| version.as_str()).collect();
                Err(format!("several API versions have the kind {kind}; give apiVersion: {}", versions.join(", ")))
            }
        }
    }

    fn explain(&mut self, arguments: &Value) -> Result<String, String> {
        let (api_version, kind) = self.kind(arguments)?;
        let fields = self.known.fields(&api_version, &kind).ok_or_else(|| format!("{kind} has no fields"))?;
        let path = arguments["path"].as_str().unwrap_or_default();
        let pointer = pointer(&fields, path)?;
        let bytes = arguments["bytes"].as_u64().map_or(BYTES, |bytes| bytes as usize).min(MOST_BYTES);
        let dot = if path.is_empty() { "" } else { " ." };
        let path = path.trim_start_matches('.');
        Ok(answer::fields(&format!("{kind} {api_version}{dot}{path}\n"), &fields, &pointer, bytes))
    }

    fn check(&mut self, arguments: &Value) -> Result<String, String> {
        let (name, text) = text(arguments, "text", "path")?;
        let releases = match arguments["kubernetes"].as_str() {
            Some(releases) => releases.parse::<Releases>().map_err(|error| error.to_string())?,
            None => self.args.kubernetes.unwrap_or_default(),
        };
        let task = Task::check(releases, arguments["advice"] == true);
        let Answer { verdict, findings, .. } = task.worker().answer(Row::new(&name, &text));
        Ok(answer::findings(&format!("{verdict} by Kubernetes {releases}"), &findings))
    }

    fn apply(&mut self, arguments: &Value) -> Result<String, String> {
        let read = |name: &str| {
            let text = arguments[name].as_str().filter(|text| !text.trim().is_empty());
            text.map(|text| Object::read(name, text)).transpose().map_err(|finding| finding.to_string())
        };
        let config = read("config")?.ok_or_else(|| "config has no object".to_owned())?;
        let live = read("live")?;
        let (api_version, kind) = (config.api_version().to_owned(), config.kind().to_owned());
        let source = self.known.source(&api_version, &kind);
        let source = source.ok_or_else(|| format!("the kind {kind} of {api_version} is not known"))?;
        let mut api = Api::default();
        api.set(source.name(), source.text());
        let manager = arguments["manager"].as_str().unwrap_or("kubectl");
        let options = WriteOptions::new(manager, SystemTime::UNIX_EPOCH).force(arguments["force"] == true);
        match api.apply(live.as_ref(), &config, &options) {
            Ok(after) => {
                let verb = if live.is_none() { "created" } else { "applied" };
                Ok(format!("{verb}\n{}", without_records(&after)))
            }
            Err(error) => {
                let mut out = format!("{error}\n");
                for conflict in error.conflicts() {
                    let _ =
                        writeln!(out, "conflict with {}: {}: {}", conflict.manager, conflict.path, conflict.message);
                }
                Ok(out)
            }
        }
    }

    fn policies(&mut self, arguments: &Value) -> Result<String, String> {
        let mut args = self.args.clone();
        args.admission.operation = match arguments["operation"].as_str() {
            None => None,
            Some("create") => Some(OperationArg::Create),
            Some("update") => Some(OperationArg::Update),
            Some("delete") => Some(OperationArg::Delete),
            Some(other) => return Err(format!("operation must be create, update or delete, found {other:?}")),
        };
        let mut base = Base::read(&args, self.filter, true).map_err(|error| error.to_string())?;
        let mut findings = base.add_policies("policies", arguments["policies"].as_str().unwrap_or_default().as_bytes());
        let objects = arguments["objects"].as_str().unwrap_or_default();
        let verdict = base.with(&args, &[], |mut validator, wrong| {
            findings.extend(wrong);
            let answered = texts::answer(&mut validator, Row::new("objects", objects.as_bytes()));
            findings.extend(answered.findings);
            if findings.iter().any(Finding::is_error) { "refused" } else { answered.verdict }
        });
        Ok(answer::findings(verdict, &findings))
    }

    /// Returns the schemas of kinds that are not built in.
    pub(super) fn resources(&mut self) -> Vec<Value> {
        let kinds = self.known.kinds();
        let mut out = Vec::new();
        // Custom kinds come first.
        for (version, kind) in kinds.iter().take(RESOURCES) {
            if self.known.source(version, kind).is_some_and(|source| source.has_lines())
                && self.known.fields(version, kind).is_some_and(|fields| fields.definition.is_some())
            {
                out.push(json!({
                    "uri": format!("{SCHEMA}{version}/{kind}"),
                    "name": format!("{kind} {version}"),
                    "mimeType": "application/schema+json",
                }));
            } else {
                break;
            }
        }
        out
    }

    /// Returns a schema by its URI.
    pub(super) fn resource(&mut self, uri: &str) -> Option<String> {
        let (version, kind) = uri.strip_prefix(SCHEMA)?.rsplit_once('/')?;
        let source = self.known.source(version, kind)?;
        let (crds, _) = Crd::read_all(source.name(), source.text());
        let name = version.rsplit('/').next().unwrap_or_default();
        for crd in crds {
            if let Ok(made) = crd.json_schema(name)
                && made.text().contains(kind)
            {
                return Some(made.text().to_owned());
            }
        }
        let document = Document::read(&**source.name(), source.text()).ok()?;
        let schemas = document.json_schemas().ok()?;
        let found =
            schemas.into_iter().find(|(own, other, _)| other == kind && (own == version || version.ends_with(own)));
        found.map(|(_, _, made)| made.text().to_owned())
    }
}

/// Returns a text and its name. A request gives the text itself or the path of a file.
fn text(arguments: &Value, text: &str, path: &str) -> Result<(String, Vec<u8>), String> {
    match (arguments[text].as_str(), arguments[path].as_str()) {
        (Some(content), None) => Ok((text.to_owned(), content.as_bytes().to_vec())),
        (None, Some(path)) => Ok((path.to_owned(), paths::read(path)?)),
        _ => Err(format!("give either {text} or {path}")),
    }
}

/// Returns the pointer of a path such as `spec.template`, through items and values.
fn pointer(fields: &Rc<Fields>, path: &str) -> Result<String, String> {
    let mut pointer = String::new();
    for name in path.split('.').map(|name| name.trim_end_matches("[]").trim_end_matches("{}")) {
        if name.is_empty() {
            continue;
        }
        let escaped = name.replace('~', "~0").replace('/', "~1");
        let below = ["", "/0", "/*", "/0/0", "/*/*", "/0/*", "/*/0"];
        let mut found = below.into_iter().map(|step| format!("{pointer}{step}/{escaped}"));
        let found = found.find(|pointer| fields.number(pointer).is_some());
        pointer = found.ok_or_else(|| {
            let all: Vec<String> = below
                .iter()
                .flat_map(|step| fields.below(&format!("{pointer}{step}")))
                .filter_map(|field| field.pointer.rsplit('/').next().map(str::to_owned))
                .collect();
            let near = kubeshape_schema::nearest(name, all.iter().map(String::as_str));
            let rest = if near.is_empty() { String::new() } else { format!("; similar: {}", near.join(", ")) };
            format!("there is no field {name}{rest}")
        })?;
    }
    Ok(pointer)
}

/// Returns an object as YAML, without the records of field managers.
fn without_records(object: &Object) -> String {
    let mut value = object.value().clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let arena = kubeshape_schema::Bump::new();
    kubeshape_registry::print::yaml(kubeshape_smd::ToValue::to_value(&value, &arena))
}
