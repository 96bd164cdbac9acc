//! `kubeshape docs`: reference pages.

mod model;
mod names;
mod prose;
mod render;

use crate::args::{DocsArgs, DocsFormat};
use crate::error::Fatal;
use crate::input::check_once;
use crate::output::{Stage, Staged, names as files};
use crate::report;
use crate::session::text::{Missing, Text, nowhere, read_all};
use crate::session::{Command, Common, Session};
use kubeshape::Api;
use kubeshape_discovery::version_order;
use kubeshape_input::Code;
use kubeshape_js::Session as Pages;
use kubeshape_registry::Kind;
use kubeshape_schema::{did_you_mean, nearest};
use model::Fields;
use rayon::prelude::*;
use render::{BUILT_IN, POLICY, Templates};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most versions before a version, and after it, that its page links to. The index has all.
const MOST_VERSIONS: usize = 25;

/// A page that has a temporary file, and what the index says of it.
struct Page<'k> {
    kind: &'k Kind,
    name: String,
    summary: String,
    staged: Staged,
}

/// The pages of an input, and why kinds have none.
type Made<'k> = (Vec<Page<'k>>, Vec<String>);

impl DocsFormat {
    /// Returns the templates and files of a site.
    pub(crate) fn templates(self) -> &'static [&'static str] {
        match self {
            DocsFormat::Markdown => &["page.md", "index.md"],
            DocsFormat::Html => &["page.html", "index.html", "style.css", "search.js"],
            DocsFormat::Mdbook => &["page.md", "index.md", "SUMMARY.md", "book.toml"],
        }
    }

    fn ending(self) -> &'static str {
        if self == DocsFormat::Html { "html" } else { "md" }
    }

    /// The folder of a template's result.
    fn folder(self, name: &str) -> &'static str {
        if self == DocsFormat::Mdbook && name != "book.toml" { "src/" } else { "" }
    }
}

impl Command for DocsArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.walk, quiet: self.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        if let Some(name) = &self.print_template {
            let Some((_, text)) = BUILT_IN.iter().find(|(own, _)| own == name) else {
                let near = did_you_mean(&nearest(name, BUILT_IN.iter().map(|(name, _)| *name)));
                let all: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
                return Err(Fatal::Usage(format!("there is no template {name}{near}; templates: {}", all.join(", "))));
            };
            return report::print(text.as_bytes()).map(|()| true);
        }
        check_once(&self.inputs)?;
        let Some(folder) = self.output.as_deref().filter(|folder| folder.as_os_str() != "-") else {
            return Err(Fatal::Usage("the pages need a folder: give -o FOLDER".to_owned()));
        };
        let templates = Templates::read(self.template.as_deref(), self.to)?;
        for unused in &templates.unused {
            session.remark(unused);
        }
        let texts = read_all(&self.inputs, Missing::Error, session);
        let mut api = Api::default();
        for text in &texts {
            api.set(text.name, text.source());
        }
        write(self, folder, &templates, &texts, &api, session)
    }
}

/// Writes the pages of all kinds. They appear together.
fn write(
    args: &DocsArgs,
    folder: &Path,
    templates: &Templates,
    texts: &[&Text<'_>],
    api: &Api,
    session: &mut Session<'_>,
) -> Result<bool, Fatal> {
    let site = Site { args, folder, templates, stage: &Stage::default().within(Some(folder)).until_interrupted() };
    let mut inputs: BTreeMap<&str, Vec<&Kind>> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for kind in api.kinds().filter(|kind| kind.resource().is_some()) {
        // Names must differ by more than case, because of some file systems.
        if taken.insert(files::page(kind.api_version(), kind.kind(), "").to_lowercase()) {
            inputs.entry(kind.definition().location().input()).or_default().push(kind);
        } else {
            session.remark(&format!("{} has no page: another kind differs only in case", kind.gvk()));
        }
    }
    let sources: BTreeMap<&str, &str> = texts.iter().map(|text| (text.name, text.source())).collect();
    let work: Vec<(&str, Vec<&Kind>)> = inputs.into_iter().collect();
    let made: Vec<Result<Made<'_>, Fatal>> = work
        .into_par_iter()
        .map(|(input, kinds)| site.pages(input, sources.get(input).copied().unwrap_or_default(), kinds))
        .collect();
    let (mut pages, mut failed) = (Vec::new(), None);
    for made in made {
        match made {
            Ok((made, problems)) => {
                pages.extend(made);
                for problem in problems {
                    session.report(&nowhere(Code::UnknownKind, "", problem));
                }
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if let Some(error) = failed {
        site.stage.abandon();
        return Err(error);
    }
    if pages.is_empty() {
        site.stage.abandon();
        if session.errors() == 0 {
            let detail = "found neither a CustomResourceDefinition nor an OpenAPI document with resources";
            session.report(&nowhere(Code::Nothing, "", detail));
        }
        return Ok(false);
    }
    let mut staged = site.indexes(&mut pages).inspect_err(|_| site.stage.abandon())?;
    let count = pages.len();
    staged.extend(pages.into_iter().map(|page| page.staged));
    let placing = site.stage.placing()?;
    for file in staged {
        placing.finish(file).inspect_err(|_| site.stage.abandon())?;
    }
    site.stage.settle()?;
    let s = if count == 1 { "" } else { "s" };
    session.remark(&format!("wrote {count} page{s} to {}", folder.display()));
    Ok(session.errors() == 0)
}

/// Where pages are written, and how.
struct Site<'s> {
    args: &'s DocsArgs,
    folder: &'s Path,
    templates: &'s Templates,
    stage: &'s Stage,
}

impl Site<'_> {
    fn page_name(&self, kind: &Kind) -> String {
        files::page(kind.api_version(), kind.kind(), self.args.to.ending())
    }

    fn put(&self, template: &str, name: &str, text: &str) -> Result<Staged, Fatal> {
        let path = self.folder.join(format!("{}{name}", self.args.to.folder(template)));
        self.stage.write(path, text.as_bytes())
    }

    /// Writes the pages of the kinds that an input defines. Also returns why kinds have no page.
    fn pages<'k>(&self, input: &str, source: &str, kinds: Vec<&'k Kind>) -> Result<Made<'k>, Fatal> {
        let mut known = Pages::default();
        known.set(input, source.as_bytes());
        let (mut out, mut problems) = (Vec::new(), Vec::new());
        let mut versions: BTreeMap<(&str, &str), Vec<Fields<'k>>> = BTreeMap::new();
        for kind in kinds {
            match Fields::of(kind) {
                Ok(Some(fields)) => versions.entry((kind.group(), kind.kind())).or_default().push(fields),
                Ok(None) => {}
                Err(error) => problems.push(format!("{} has no page: {error}", kind.gvk())),
            }
        }
        for mut versions in versions.into_values() {
            versions.sort_by(|a, b| version_order(a.kind.version_name(), b.kind.version_name()));
            for at in 0..versions.len() {
                out.push(self.page(&versions, at, &mut known)?);
            }
        }
        Ok((out, problems))
    }

    /// Writes the page of one version of a kind.
    fn page<'k>(&self, versions: &[Fields<'k>], at: usize, known: &mut Pages) -> Result<Page<'k>, Fatal> {
        let Some(own) = versions.get(at) else {
            return Err(Fatal::Internal { input: "the input".to_owned() });
        };
        let name = self.page_name(own.kind);
        let mut context = own.page(known, self.args.nested);
        // A version is compared with those next to it.
        let beside = [at.checked_add(1), at.checked_sub(1)];
        let beside = beside.into_iter().flatten().filter_map(|at| versions.get(at));
        // With all of them, the pages of many versions would have quadratic size.
        let near = at.saturating_sub(MOST_VERSIONS)..versions.len().min(at + MOST_VERSIONS + 1);
        let list = versions.get(near).unwrap_or_default().iter().map(|other| {
            json!({
                "version": other.kind.version_name(),
                "file": names::link(&name, &self.page_name(other.kind)),
                "current": other.kind.version_name() == own.kind.version_name(),
            })
        });
        if let Some(context) = context.as_object_mut() {
            context.insert("versions".to_owned(), list.collect());
            context.insert("compared".to_owned(), beside.map(|other| own.compared(other)).collect());
            context.insert("index".to_owned(), json!(names::link(&name, &format!("index.{}", self.args.to.ending()))));
            context.insert("root".to_owned(), json!("../".repeat(name.matches('/').count())));
            context.insert("title".to_owned(), json!(self.args.title));
            context.insert("policy".to_owned(), json!(POLICY));
        }
        let template = format!("page.{}", self.args.to.ending());
        let text = self.templates.render(&template, &context)?;
        let staged = self.put(&template, &name, &text)?;
        Ok(Page { kind: own.kind, name, summary: own.summary(), staged })
    }

    /// Writes the files that a site has once.
    fn indexes(&self, pages: &mut [Page<'_>]) -> Result<Vec<Staged>, Fatal> {
        pages.sort_by(|a, b| {
            let key = |page: &Page<'_>| (page.kind.group().to_owned(), page.kind.kind().to_owned());
            key(a).cmp(&key(b)).then_with(|| version_order(a.kind.version_name(), b.kind.version_name()))
        });
        let groups = pages.chunk_by(|a, b| a.kind.group() == b.kind.group()).map(|pages| {
            let kinds = pages.chunk_by(|a, b| a.kind.kind() == b.kind.kind()).map(|pages| {
                let first = pages.first();
                let mut out = first.map_or(Value::Null, |page| model::summary(page.kind));
                out["summary"] = json!(first.map(|page| &page.summary));
                let versions = pages.iter().map(|page| {
                    let mut out = model::summary(page.kind);
                    out["file"] = json!(names::link("index", &page.name));
                    out
                });
                out["versions"] = versions.collect();
                out
            });
            let name = pages.first().map(|page| page.kind.group()).filter(|name| !name.is_empty()).unwrap_or("core");
            json!({ "name": name, "kinds": kinds.collect::<Value>() })
        });
        let context = json!({ "title": self.args.title, "groups": groups.collect::<Value>(), "policy": POLICY });
        let own = self.args.to.templates().iter().filter(|name| !name.starts_with("page."));
        own.map(|name| self.put(name, name, &self.templates.render(name, &context)?)).collect()
    }
}
