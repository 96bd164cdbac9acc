//! `kubeshape explore` and `kubeshape graph`.

mod local;

use crate::args::{ExploreArgs, GraphArgs, GraphFormat};
use crate::error::Fatal;
use crate::input::check_once;
use crate::output::Stage;
use crate::report;
use crate::session::text::{Missing, nowhere, read_all};
use crate::session::{Command, Common, Session};
use kubeshape_explorer::FILES;
use kubeshape_input::Code;
use kubeshape_js::Session as Pages;
use kubeshape_schema::{did_you_mean, nearest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of a site without `-o`.
const FOLDER: &str = "site";

/// Reads inputs. Reports those that cannot be used.
fn read(inputs: &[PathBuf], session: &mut Session<'_>) -> Result<Pages, Fatal> {
    check_once(inputs)?;
    let mut pages = Pages::default();
    for text in read_all(inputs, Missing::Error, session) {
        pages.set(text.name, text.source().as_bytes());
    }
    if !inputs.is_empty() && pages.is_empty() && session.errors() == 0 {
        let detail = "found neither a CustomResourceDefinition nor an OpenAPI document";
        session.report(&nowhere(Code::Nothing, "", detail));
    }
    Ok(pages)
}

impl Command for ExploreArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.walk, quiet: self.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        let mut pages = read(&self.inputs, session)?;
        if !self.inputs.is_empty() && pages.is_empty() {
            return Ok(false);
        }
        let folder = self.output.clone().or_else(|| (!self.open).then(|| PathBuf::from(FOLDER)));
        if let Some(folder) = folder {
            write(&folder, &mut pages)?;
            session.remark(&format!("wrote {}; serve the folder and open it in a browser", folder.display()));
        }
        if self.open {
            let mut files: BTreeMap<String, local::File> = FILES
                .iter()
                .map(|file| {
                    (file.path.to_owned(), local::File { content_type: file.content_type, bytes: file.bytes.into() })
                })
                .collect();
            for (name, bytes) in pages.site_files() {
                let is_json = std::path::Path::new(&name).extension().is_some_and(|end| end == "json");
                let content_type = if is_json { "application/json" } else { "application/octet-stream" };
                files.insert(format!("data/{name}"), local::File { content_type, bytes: bytes.into() });
            }
            local::serve(&files, |address| session.remark(&format!("serving {address} until Ctrl-C")))?;
        }
        Ok(session.errors() == 0)
    }
}

/// Writes a site. Its files appear together.
fn write(folder: &Path, pages: &mut Pages) -> Result<(), Fatal> {
    let stage = Stage::default().within(Some(folder)).until_interrupted();
    let mut staged = Vec::new();
    let mut put = |path: PathBuf, bytes: &[u8]| {
        staged.push(stage.write(path, bytes).inspect_err(|_| stage.abandon())?);
        Ok::<(), Fatal>(())
    };
    for file in FILES {
        put(folder.join(file.path), file.bytes)?;
    }
    let data = folder.join("data");
    pages.site(|name, bytes| put(data.join(name), bytes))?;
    let placing = stage.placing()?;
    for file in staged {
        placing.finish(file).inspect_err(|_| stage.abandon())?;
    }
    stage.settle()
}

impl Command for GraphArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.walk, quiet: self.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        let mut drawing = read(&self.inputs, session)?.drawing("");
        if let Some(around) = &self.around {
            if !drawing.nodes().contains(around) {
                let near = did_you_mean(&nearest(around, drawing.nodes().iter().map(String::as_str)));
                return Err(Fatal::Usage(format!("--around: there is no node {around}{near}")));
            }
            drawing = drawing.around(around);
        }
        if drawing.nodes().is_empty() {
            return Ok(false);
        }
        let out = match self.to {
            GraphFormat::Dot => drawing.dot(),
            GraphFormat::Mermaid => drawing.mermaid(),
            GraphFormat::Svg => {
                let advice = "give --around NAME, or --to dot";
                drawing.svg().map_err(|error| Fatal::Usage(format!("{error}; {advice}")))?
            }
        };
        report::print(out.as_bytes()).map(|()| true)
    }
}
