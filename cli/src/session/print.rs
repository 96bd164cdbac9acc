//! Writes values as YAML and JSON.

use crate::args::{Format, ResultArgs};
use crate::error::Fatal;
use crate::output::{Named, Stage, named, names};
use crate::report;
use kubeshape_registry::print;
use kubeshape_smd::Value;
use kubeshape_smd::managed::ObjectName;
use kubeshape_yaml::emit::Emitter;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where results go, and how they are written.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) format: Format,
    file: Option<(PathBuf, Arc<Stage>)>,
    /// Whether the path is a folder, in which every object gets its own file.
    is_folder: bool,
}

impl Output {
    /// Returns the output that the command line asks for, for commands that write objects, possibly into a folder.
    ///
    /// # Errors
    /// Like [`Output::new`].
    pub(crate) fn of_objects(args: &ResultArgs) -> Result<Output, Fatal> {
        match &args.output {
            Some(path) if path.as_os_str() != "-" && (ends_in_slash(path) || path.is_dir()) => {
                Ok(Output { format: Format::Yaml, file: Some(staged(path, args, Some(path))), is_folder: true })
            }
            _ => Output::new(args),
        }
    }

    /// Returns the output that the command line asks for.
    ///
    /// # Errors
    /// The name is neither a format nor that of a file.
    pub(crate) fn new(args: &ResultArgs) -> Result<Output, Fatal> {
        let Some(path) = &args.output else {
            return Ok(Output { format: Format::Yaml, file: None, is_folder: false });
        };
        let text = path.to_string_lossy();
        if text != "-" && (ends_in_slash(path) || path.is_dir()) {
            return Err(Fatal::Usage(format!("{text} is a folder; this command writes one result, into a file")));
        }
        let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
        let (format, file) = match (text.as_ref(), suffix.as_deref()) {
            ("json", _) => (Format::Json, None),
            ("yaml" | "-", _) => (Format::Yaml, None),
            (_, Some("json")) => (Format::Json, Some(staged(path, args, None))),
            (_, Some("yaml" | "yml")) => (Format::Yaml, Some(staged(path, args, None))),
            _ if matches!(named(path), Ok(Named::Other)) => (Format::Yaml, Some(staged(path, args, None))),
            _ => {
                return Err(Fatal::Usage(format!(
                    "-o takes `json`, `yaml`, `-`, or a file whose name ends in .json, .yaml or .yml (for objects also a \
                     folder: a name that ends in /, or a folder that exists); found {text}"
                )));
            }
        };
        Ok(Output { format, file, is_folder: false })
    }

    /// Returns whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Writes objects: a stream of YAML documents, one JSON value after the other, or a file for each. Without objects
    /// there is no file.
    ///
    /// # Errors
    /// A file or standard output cannot be written, or two objects would get one file.
    pub(crate) fn objects(&self, values: &[Value<'_>]) -> Result<(), Fatal> {
        if values.is_empty() {
            return Ok(());
        }
        if let Some((folder, stage)) = self.file.as_ref().filter(|_| self.is_folder) {
            return self.files(folder, stage, values).inspect_err(|_| stage.abandon());
        }
        let mut out = Vec::new();
        if self.is_json() {
            for value in values {
                // A number that is not finite came from YAML. kubectl could not send it, so it is left out.
                let _ = print::write_json(*value, &mut out);
            }
        } else {
            let mut emitter = Emitter::new(&mut out);
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    emitter.document();
                }
                print::write_yaml(*value, &mut emitter);
            }
        }
        self.bytes(&out)
    }

    /// Writes a file for each object. No file gets its name before all of them are complete.
    fn files(&self, folder: &Path, stage: &Stage, values: &[Value<'_>]) -> Result<(), Fatal> {
        // By the name without regard to case, because some file systems do not distinguish it.
        let mut files: BTreeMap<String, (PathBuf, Value<'_>)> = BTreeMap::new();
        for value in values {
            let of = ObjectName::of(*value);
            let name = names::object(of.gvk.kind(), of.namespace, of.name, self.format);
            let path = folder.join(&name);
            if let Some((_, first)) = files.insert(name.to_ascii_lowercase(), (path, *value)) {
                return Err(Fatal::Usage(format!(
                    "two objects would get the file {name}: {} and {}; write them into one file, or apart from each other",
                    ObjectName::of(first).gvk,
                    of.gvk
                )));
            }
        }
        let mut written = Vec::new();
        for (path, value) in files.into_values() {
            let mut out = Vec::new();
            print::write_yaml(value, &mut Emitter::new(&mut out));
            written.push(stage.write(path, &out)?);
        }
        let placing = stage.placing()?;
        written.into_iter().try_for_each(|staged| placing.finish(staged))?;
        stage.settle()
    }

    /// Writes a text.
    ///
    /// # Errors
    /// Like [`Output::objects`].
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Fatal> {
        match &self.file {
            None if bytes.is_empty() => Ok(()),
            None => report::print(bytes),
            Some((path, stage)) => {
                let written = stage.write_named(path, bytes).and_then(|staged| stage.finish(staged));
                written.inspect_err(|_| stage.abandon())
            }
        }
    }
}

/// Returns the path, and the stage that writes to it.
fn staged(path: &Path, args: &ResultArgs, folder: Option<&Path>) -> (PathBuf, Arc<Stage>) {
    (path.to_owned(), Stage::default().within(folder).synced(args.fsync).until_interrupted())
}

/// Returns whether a path is written like a folder, with a slash at the end.
fn ends_in_slash(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}
