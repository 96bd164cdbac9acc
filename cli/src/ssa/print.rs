//! Values as YAML and JSON, and where they go.

use crate::args::{Format, ResultArgs};
use crate::error::Fatal;
use crate::output::Stage;
use crate::output::format::indented;
use crate::ui;
use kubeshape_smd::Value;
use kubeshape_yaml::emit::Emitter;
use std::path::PathBuf;

/// Where results go, and how they are written.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) format: Format,
    file: Option<PathBuf>,
}

impl Output {
    /// What the command line says.
    ///
    /// # Errors
    /// The name is neither a format nor that of a file.
    pub(crate) fn new(args: &ResultArgs) -> Result<Output, Fatal> {
        let Some(path) = &args.output else { return Ok(Output { format: Format::Yaml, file: None }) };
        let text = path.to_string_lossy();
        let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
        let (format, file) = match (text.as_ref(), suffix.as_deref()) {
            ("json", _) => (Format::Json, None),
            ("yaml" | "-", _) => (Format::Yaml, None),
            (_, Some("json")) => (Format::Json, Some(path.clone())),
            (_, Some("yaml" | "yml")) => (Format::Yaml, Some(path.clone())),
            _ => {
                return Err(Fatal::Usage(format!(
                    "-o takes `json`, `yaml`, `-`, or a file whose name ends in .json, .yaml or .yml; found {text}"
                )));
            }
        };
        if file.as_ref().is_some_and(|path| path.is_dir()) {
            return Err(Fatal::Usage(format!("{text} is a folder, but has the name of a file")));
        }
        Ok(Output { format, file })
    }

    /// Whether JSON is asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Writes objects: a stream of YAML documents, or one JSON value after the other. Without objects there is no file.
    ///
    /// # Errors
    /// The file or standard output cannot be written.
    pub(crate) fn objects(&self, values: &[Value<'_>]) -> Result<(), Fatal> {
        if values.is_empty() {
            return Ok(());
        }
        let mut out = Vec::new();
        if self.is_json() {
            for value in values {
                json(*value, &mut out);
            }
        } else {
            let mut emitter = Emitter::new(&mut out);
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    emitter.document();
                }
                yaml(*value, &mut emitter);
            }
        }
        self.bytes(&out)
    }

    /// Writes a text.
    ///
    /// # Errors
    /// As [`Output::objects`].
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Fatal> {
        match &self.file {
            None if bytes.is_empty() => Ok(()),
            None => ui::print(bytes),
            Some(path) => {
                let stage = Stage::default();
                let staged = stage.write(path.clone(), bytes)?;
                stage.finish(staged)
            }
        }
    }
}

/// Appends a value as YAML.
pub(crate) fn yaml(value: Value<'_>, emitter: &mut Emitter<'_>) {
    match value {
        Value::Null => emitter.null(),
        Value::Bool(yes) => emitter.bool(yes),
        Value::Int(n) => emitter.int(n),
        Value::Float(n) => emitter.float(n),
        Value::String(text) => emitter.str(text),
        Value::List(items) => {
            emitter.begin_seq();
            for item in items {
                emitter.item();
                yaml(*item, emitter);
            }
            emitter.end_seq();
        }
        Value::Map(map) => {
            emitter.begin_map();
            for (key, value) in map.entries() {
                emitter.key(key);
                yaml(*value, emitter);
            }
            emitter.end_map();
        }
    }
}

/// Appends a value as indented JSON and a line break.
pub(crate) fn json(value: Value<'_>, out: &mut Vec<u8>) {
    let mut compact = Vec::new();
    // What is not finite was read from YAML, which kubectl could not send either; it is left out.
    if value.write_json(&mut compact).is_ok() {
        indented(&compact, out);
        out.push(b'\n');
    }
}
