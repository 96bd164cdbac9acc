//! The checked command line: what to convert, and where to write it.

use crate::args::{ConvertArgs, Format, Per, Shape};
use crate::error::Fatal;
use crate::input::{Filter, Gathered, check_once, gather};
use crate::output::place;
use crate::output::record::{Record, There};
use crate::output::{Named, named, names, what};
use kubeshape_input::Finding;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::IsTerminal;
use std::path::{Component, Path, PathBuf, is_separator};

/// One kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The shape.
    pub(crate) shape: Shape,
    /// What a result of CustomResourceDefinitions covers.
    pub(crate) per: Per,
    /// What a result covers if there are documents among the inputs.
    pub(crate) documents: Per,
    /// Whether CustomResourceDefinitions are converted through the documents that are published for them.
    pub(crate) published: bool,
    /// The format.
    pub(crate) format: Format,
}

impl Target {
    /// Returns whether CustomResourceDefinitions have parts of documents instead of results of their own.
    pub(crate) fn has_parts(self) -> bool {
        self.published || (matches!(self.shape, Shape::V3 | Shape::V31 | Shape::V2) && self.per != Per::Resource)
    }
}

/// The destination of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output, for one result.
    Stdout,
    /// A file, for one result.
    File(PathBuf),
    /// A folder.
    Folder(PathBuf),
}

/// The checked command line.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The kinds of results, each once, in the order of [`Shape::ALL`].
    pub(crate) targets: Vec<Target>,
    /// The destination.
    pub(crate) destination: Destination,
    /// The inputs.
    pub(crate) gathered: Gathered,
    /// Names of inputs in the output folder, relative to it.
    pub(crate) keep: BTreeSet<String>,
    /// Whether JSON Schemas are named by `--layout`.
    pub(crate) has_layout: bool,
    /// The folder whose record names the results: the output folder, or the folder of an output file if that folder is
    /// searched for inputs.
    pub(crate) record: Option<PathBuf>,
    /// The file of the report.
    pub(crate) report: Option<PathBuf>,
    /// Messages about results of kubeshape among the inputs, which are not read.
    pub(crate) passed_over: Vec<String>,
    /// Errors of records among the inputs.
    pub(crate) findings: Vec<Finding>,
}

/// Results of kubeshape among the inputs.
#[derive(Debug, Default)]
struct Own {
    passed_over: Vec<String>,
    findings: Vec<Finding>,
}

impl Plan {
    /// Returns the destination of results.
    pub(crate) fn target(&self) -> place::Target<'_> {
        place::Target {
            record: self.record.as_deref(),
            keep: &self.keep,
            is_folder: matches!(self.destination, Destination::Folder(_)),
            report: self.report.as_deref(),
        }
    }

    /// Checks the command line and finds the inputs. Writes nothing.
    ///
    /// # Errors
    /// The command line is invalid.
    pub(crate) fn new(args: &ConvertArgs) -> Result<Plan, Fatal> {
        let destination = destination(args)?;
        let targets = targets(args, &destination)?;
        if args.onto.is_some() && !targets.iter().any(|t| t.shape == Shape::V2 && t.per == Per::Single) {
            return Err(usage("--onto takes the merged OpenAPI v2 document: add `--to v2`, without `--per resource`"));
        }
        for (given, shape, option) in [
            (args.keep_losses, Shape::V2, "--keep-losses"),
            (args.preserve_unknown, Shape::Smd, "--preserve-unknown"),
            (args.strict, Shape::JsonSchema, "--strict"),
            (!args.layout.is_own(), Shape::JsonSchema, "--layout"),
            (args.id_base.is_some(), Shape::JsonSchema, "--id-base"),
            (args.nulls.is_some(), Shape::JsonSchema, "--nulls"),
            (args.inline, Shape::V3, "--inline"),
        ] {
            let fits = |own: Shape| own == shape || (shape == Shape::V3 && own.is_v3());
            if given && !targets.iter().any(|target| fits(target.shape)) {
                return Err(usage(format!("{option} says something about {0} only: add `--to {0}`", shape.name())));
            }
        }
        if !args.kind.is_empty()
            && let Some(per) = args.per.filter(|per| *per != Per::Resource)
        {
            return Err(usage(format!("--kind gives a result per kind: leave out `--per {}`", per.name())));
        }
        if args.inline && targets.iter().any(|target| target.shape == Shape::V2) {
            return Err(usage("references are inlined in OpenAPI v3: convert the result of `--to v3 --inline` to v2"));
        }
        let is_other = |target: &Target| target.shape == Shape::JsonSchema && target.format != Format::Json;
        if !args.layout.is_own() && targets.iter().any(is_other) {
            return Err(usage("--layout names JSON files: leave out `--format`"));
        }
        if args.id_base.as_deref().is_some_and(|base| !is_address(base)) {
            return Err(usage("--id-base takes an absolute address such as https://example.com/schemas/"));
        }
        match &destination {
            Destination::Folder(_) => {}
            _ if !args.layout.is_own() => {
                return Err(usage("--layout names files in a folder: give one with `-o`"));
            }
            _ if args.prune => return Err(usage("--prune needs a folder: give one with `-o`")),
            Destination::Stdout if args.dry_run => {
                return Err(usage("--dry-run lists files: give a file or a folder with `-o`"));
            }
            Destination::Stdout if args.adopt => {
                return Err(usage("--adopt needs a folder: give one with `-o`"));
            }
            _ if targets.len() > 1 => {
                return Err(usage("several shapes need a folder: give one with `-o`, or one `--to` only"));
            }
            Destination::Stdout
                if args.findings.report.report.as_deref().is_some_and(|path| path.as_os_str() == "-") =>
            {
                return Err(usage(
                    "`--report -` and the result cannot both go to standard output: give a file or a folder with `-o`",
                ));
            }
            _ => {}
        }

        let stdin = [PathBuf::from("-")];
        let inputs = args.filenames.and(&args.inputs);
        let arguments = if inputs.is_empty() && args.reads_kubernetes() {
            &[]
        } else if inputs.is_empty() {
            if std::io::stdin().is_terminal() {
                return Err(usage(
                    "no input: name files or folders, or pipe CustomResourceDefinitions or a document in",
                ));
            }
            stdin.as_slice()
        } else {
            inputs.as_slice()
        };
        let once: BTreeSet<&PathBuf> = arguments.iter().collect();
        check_once(once.into_iter().chain(&args.base).chain(&args.onto))?;
        let folder = match &destination {
            Destination::Folder(path) => resolved(path),
            _ => None,
        };
        let mut gathered = gather(arguments, folder.as_deref(), &Filter::new(&args.walk)?);
        let mut own = Own::default();
        own.pass_over_results(&mut gathered);
        if let Destination::File(path) = &destination {
            own.pass_over_output(path, args, &mut gathered)?;
        }
        let keep = collisions(args, &destination, folder.as_deref(), &gathered, &targets)?;
        let record = match &destination {
            Destination::Stdout => None,
            Destination::Folder(path) => Some(path.clone()),
            Destination::File(path) => {
                let folder = resolved(path).and_then(|path| path.parent().map(Path::to_owned));
                folder.filter(|folder| gathered.roots.iter().any(|root| folder.starts_with(&root.canonical)))
            }
        };
        let report = args.findings.report.report.clone().filter(|path| path.as_os_str() != "-");
        let Own { passed_over, findings } = own;
        let has_layout = !args.layout.is_own();
        Ok(Plan { targets, destination, gathered, keep, has_layout, record, report, passed_over, findings })
    }
}

impl Own {
    /// Removes results that kubeshape wrote into a folder below one of the command line, by the record there. A folder
    /// of the command line itself is meant to be read.
    fn pass_over_results(&mut self, gathered: &mut Gathered) {
        let mut records: BTreeMap<PathBuf, Option<Record>> = BTreeMap::new();
        // By the folder with the record: its name in messages, and the number of files.
        let mut found: BTreeMap<PathBuf, (PathBuf, usize)> = BTreeMap::new();
        let (roots, findings) = (&gathered.roots, &mut self.findings);
        gathered.inputs.retain(|input| {
            if input.named {
                return true;
            }
            for (depth, folder) in input.canonical.ancestors().enumerate().skip(1) {
                let is_searched = roots.iter().any(|root| folder.starts_with(&root.canonical));
                if !is_searched || roots.iter().any(|root| root.canonical == folder) {
                    return true;
                }
                let shown = || {
                    let shown = input.path().ancestors().nth(depth).unwrap_or(folder);
                    if shown.canonicalize().is_ok_and(|shown| shown == folder) { shown } else { folder }
                };
                let record = records.entry(folder.to_owned()).or_insert_with(|| match Record::read(shown()) {
                    Ok(record) => record,
                    Err(finding) => {
                        findings.push(*finding);
                        None
                    }
                });
                let name = input.canonical.strip_prefix(folder).ok().map(slashed);
                if let (Some(record), Some(name)) = (record, name)
                    && matches!(record.there(folder, &name), There::Result(_))
                {
                    found.entry(folder.to_owned()).or_insert_with(|| (shown().to_owned(), 0)).1 += 1;
                    return false;
                }
            }
            true
        });
        for (folder, files) in found.into_values() {
            let s = if files == 1 { "" } else { "s" };
            let place = folder.display();
            self.passed_over.push(format!("note: skipped {files} file{s} in {place}, which kubeshape wrote"));
        }
    }

    /// Removes the output file of an earlier run from the inputs, if it was found in a folder.
    ///
    /// # Errors
    /// It may be something else.
    fn pass_over_output(&mut self, path: &Path, args: &ConvertArgs, gathered: &mut Gathered) -> Result<(), Fatal> {
        let Some(target) = resolved(path) else { return Ok(()) };
        let is_output = |input: &&crate::input::Input| input.canonical == target;
        if gathered.inputs.iter().find(is_output).is_none_or(|input| input.named) {
            return Ok(());
        }
        let record = match target.parent().map(Record::read) {
            None => None,
            Some(Ok(record)) => record,
            Some(Err(finding)) => {
                self.findings.push(*finding);
                None
            }
        };
        let is_own = record.zip(target.parent()).is_some_and(|(record, folder)| {
            let name = target.file_name().unwrap_or_default().to_string_lossy();
            matches!(record.there(folder, &name), There::Result(_))
        });
        if !is_own && !args.adopt {
            return Err(usage(format!(
                "the output {} is one of the inputs: \
                 kubeshape did not write what it holds; give another name with `-o`, or add \
                 `--adopt` to replace it",
                path.display()
            )));
        }
        gathered.inputs.retain(|input| input.canonical != target);
        self.passed_over.push(format!("note: skipped {}, which is the output", path.display()));
        Ok(())
    }
}

/// A relative path with `/` as the separator.
fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn usage(message: impl Into<String>) -> Fatal {
    Fatal::Usage(message.into())
}

fn destination(args: &ConvertArgs) -> Result<Destination, Fatal> {
    let Some(path) = &args.output else { return Ok(Destination::Stdout) };
    if path.as_os_str() == "-" {
        return Ok(Destination::Stdout);
    }
    let shown = path.display();
    let is_folder = path.to_string_lossy().ends_with(is_separator);
    let is_file = !is_folder && matches!(suffix(path).as_deref(), Some("json" | "yaml" | "yml" | "pb"));
    let there = fs::metadata(path);
    match &there {
        Ok(metadata) if metadata.is_dir() && is_file => {
            return Err(usage(format!("{shown} is a folder, but has the name of a file")));
        }
        // The target of a descriptor may be a file.
        Ok(metadata) if metadata.is_file() && !is_file && matches!(named(path), Ok(Named::Other)) => {
            return Ok(Destination::File(path.clone()));
        }
        Ok(metadata) if metadata.is_file() && !is_file => {
            return Err(usage(format!(
                "{shown} is a file that exists, and not one for results: \
                 their names end in .json, .yaml, .yml or .pb; a folder needs another name"
            )));
        }
        // A device or a pipe is written to.
        Ok(metadata) if !metadata.is_dir() && !metadata.is_file() => return Ok(Destination::File(path.clone())),
        _ => {}
    }
    for above in path.ancestors().skip(1) {
        match fs::metadata(above) {
            Ok(metadata) if !metadata.is_dir() => {
                let what = what(&metadata);
                return Err(usage(format!("{shown} cannot be written, because {} is {what}", above.display())));
            }
            Ok(_) => break,
            Err(_) => {}
        }
    }
    if is_file {
        return Ok(Destination::File(path.clone()));
    }
    if there.is_err() && !is_folder && suffix(path).is_some_and(|suffix| is_ending(&suffix)) {
        return Err(usage(format!(
            "{shown} has the name of a file, and results have names that end in \
             .json, .yaml, .yml or .pb; for a folder of that name, write {shown}/"
        )));
    }
    Ok(Destination::Folder(path.clone()))
}

/// Returns whether this looks like the extension of a file, and not like a version or a group.
fn is_ending(suffix: &str) -> bool {
    (2..=6).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn suffix(path: &Path) -> Option<String> {
    path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase())
}

fn targets(args: &ConvertArgs, destination: &Destination) -> Result<Vec<Target>, Fatal> {
    // The name of a file also determines the format.
    let named = match destination {
        Destination::File(path) => match suffix(path).as_deref() {
            Some("json") => Some(Format::Json),
            Some("pb") => Some(Format::Pb),
            Some("yaml" | "yml") => Some(Format::Yaml),
            _ => None,
        },
        _ => None,
    };
    if let (Some(named), Some(format), Destination::File(path)) = (named, args.format, destination)
        && named != format
    {
        return Err(usage(format!("--format and the name {} do not agree", path.display())));
    }
    let wanted = |shape: &Shape| args.to.contains(shape);
    if !wanted(&Shape::Crd) {
        let given = if args.rules_from.is_empty() { args.definitions.given() } else { Some("--rules-from") };
        if let Some(option) = given {
            return Err(usage(format!("{option} says something about crd only: add `--to crd`")));
        }
    }
    // Options for documents also apply to the documents that are published for CustomResourceDefinitions.
    let changed = args.inline || args.rename.is_some();
    Shape::ALL
        .into_iter()
        .filter(wanted)
        .map(|shape| {
            use Per::{GroupVersion, Resource, Single};
            let (units, default, documents, format): (&[Per], _, _, _) = match shape {
                Shape::V3 | Shape::V31 => (&[GroupVersion, Resource, Single], GroupVersion, Single, Format::Json),
                Shape::V2 => (&[Single, Resource], Single, Single, Format::Json),
                Shape::Smd => (&[Resource, Single], Resource, Single, Format::Yaml),
                Shape::JsonSchema => (&[Resource, Single], Resource, Resource, Format::Json),
                Shape::Structural | Shape::Policy | Shape::Crd => (&[Resource], Resource, Resource, Format::Yaml),
                Shape::Kustomize => (&[Single], Single, Single, Format::Json),
            };
            let kinds = (!args.kind.is_empty() && shape != Shape::Kustomize).then_some(Resource);
            let per = args.per.or(kinds);
            if let Some(per) = per.filter(|per| !units.contains(per)) {
                let units: Vec<_> = units.iter().map(|per| format!("`--per {}`", per.name())).collect();
                return Err(usage(format!(
                    "there is no {} result per {}: use {}",
                    shape.name(),
                    per.name(),
                    units.join(" or ")
                )));
            }
            let format = args.format.or(named).unwrap_or(format);
            if format == Format::Pb && !matches!(shape, Shape::V3 | Shape::V2) {
                return Err(usage(format!("there is no protobuf form of {}: use json or yaml", shape.name())));
            }
            let published = match shape {
                Shape::V3 | Shape::V31 => changed || per == Some(Single),
                Shape::V2 => args.rename.is_some(),
                Shape::Smd | Shape::JsonSchema => per == Some(Single),
                Shape::Structural | Shape::Policy | Shape::Crd => false,
                Shape::Kustomize => true,
            };
            let (per, documents) = (per.unwrap_or(default), per.unwrap_or(documents));
            Ok(Target { shape, per, documents, published, format })
        })
        .collect()
}

/// Refuses to overwrite inputs. Returns the names of inputs in the output folder.
fn collisions(
    args: &ConvertArgs,
    destination: &Destination,
    folder: Option<&Path>,
    gathered: &Gathered,
    targets: &[Target],
) -> Result<BTreeSet<String>, Fatal> {
    let others = args.base.iter().chain(&args.onto).filter_map(|path| path.canonicalize().ok());
    let read: Vec<PathBuf> = gathered.inputs.iter().map(|input| input.canonical.clone()).chain(others).collect();
    let mut keep = BTreeSet::new();
    let report = args.findings.report.report.as_deref().filter(|path| path.as_os_str() != "-");
    for (what, path) in [
        ("the output", if let Destination::File(path) = destination { Some(path.as_path()) } else { None }),
        ("the report", report),
    ] {
        let Some(path) = path else { continue };
        if resolved(path).is_some_and(|path| read.contains(&path)) {
            return Err(usage(format!("{what} {} is one of the inputs", path.display())));
        }
    }
    if let (Some(report), Destination::File(path)) = (report, destination)
        && resolved(report) == resolved(path)
        && !matches!(named(path), Ok(Named::Other))
    {
        return Err(usage("the report and the output are one file"));
    }
    let Some(folder) = folder else { return Ok(keep) };
    if let Some(root) = gathered.roots.iter().find(|root| root.canonical == folder) {
        return Err(usage(format!("the output folder {} is one of the inputs", root.path.display())));
    }
    for path in read.iter().chain(&report.and_then(resolved)) {
        let Ok(relative) = path.strip_prefix(folder) else { continue };
        let names: Vec<_> = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let is_result = names::is_result(&names) && targets.iter().any(|target| may_write(*target, &names));
        if is_result || args.layout.may_write(&names) {
            return Err(usage(format!(
                "{} is read, and has the name of a result in the output folder",
                path.display()
            )));
        }
        keep.insert(names.join("/"));
    }
    Ok(keep)
}

/// Returns whether this is an address such as `https://example.com/schemas/`: a scheme and a rest, without a fragment.
fn is_address(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let is_plain =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_graphic() && !b"#\"<>\\^`{|}".contains(&b));
    text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && is_plain(rest))
}

/// Returns whether a result of this kind may have that name, for which [`names::is_result`] is true.
fn may_write(target: Target, names: &[&str]) -> bool {
    let name = names.last().copied().unwrap_or_default();
    let stem = name.strip_suffix(names::suffix(target.format)).and_then(|name| name.strip_suffix('.'));
    let Some(stem) = stem else { return false };
    let own = names::single(target.shape, target.format);
    let ending = names::ending(target.shape);
    [target.per, target.documents].into_iter().any(|per| match (per, target.shape) {
        (Per::Single, _) => names.len() == 1 && own == name,
        (Per::GroupVersion, _) => names.len() == 1 && name.ends_with(&names::root("", target.format, target.shape)),
        (Per::Resource, _) => stem.strip_suffix(ending).is_some_and(|name| name.ends_with('.')),
    })
}

/// Returns the path without symbolic links. The part that does not exist yet is unchanged.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut exists = path;
    loop {
        let start = if exists.as_os_str().is_empty() { Path::new(".") } else { exists };
        if let Ok(mut found) = start.canonicalize() {
            found.extend(missing.iter().rev());
            return Some(found);
        }
        match exists.components().next_back()? {
            Component::Normal(name) => missing.push(name.to_owned()),
            // `missing/..`
            _ => return None,
        }
        exists = exists.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn plan(arguments: &[&str]) -> Result<Plan, String> {
        let line = ["kubeshape", "convert"].iter().chain(arguments);
        let Command::Convert(args) = Cli::try_parse_from(line).map_err(|e| e.to_string())?.command else {
            return Err("not convert".to_owned());
        };
        Plan::new(&args).map_err(|e| e.to_string())
    }

    #[test]
    fn every_shape_has_its_unit_and_format() -> Result<(), String> {
        let plan = plan(&["-", "--to", "smd,v2", "--to", "v3", "--to", "v3", "-o", "nowhere"])?;
        let target = |shape, per, format| Target { shape, per, documents: Per::Single, published: false, format };
        let expected = [
            target(Shape::V3, Per::GroupVersion, Format::Json),
            target(Shape::V2, Per::Single, Format::Json),
            target(Shape::Smd, Per::Resource, Format::Yaml),
        ];
        assert_eq!(plan.targets, expected);
        assert_eq!(plan.destination, Destination::Folder("nowhere".into()));
        Ok(())
    }

    #[test]
    fn options_of_documents_apply_to_published_ones() -> Result<(), String> {
        for (line, per, documents, published) in [
            ("--to v3 --per single", Per::Single, Per::Single, true),
            ("--to v3 --inline", Per::GroupVersion, Per::Single, true),
            ("--to v3 --kind Pod", Per::Resource, Per::Resource, false),
            ("--to v3 --kind Pod --inline", Per::Resource, Per::Resource, true),
            ("--to v2 --rename short", Per::Single, Per::Single, true),
            ("--to smd --per single", Per::Single, Per::Single, true),
            ("--to jsonschema --rename short", Per::Resource, Per::Resource, false),
        ] {
            let line: Vec<&str> = ["-", "-o", "nowhere"].into_iter().chain(line.split(' ')).collect();
            let target = plan(&line)?.targets[0];
            assert_eq!((target.per, target.documents, target.published), (per, documents, published), "{line:?}");
        }
        Ok(())
    }

    #[test]
    fn the_name_of_a_file_determines_its_format() -> Result<(), String> {
        assert_eq!(plan(&["-", "--to", "v2", "-o", "x.yml"])?.targets[0].format, Format::Yaml);
        assert_eq!(plan(&["-", "--to", "smd", "-o", "x.json"])?.targets[0].format, Format::Json);
        assert_eq!(plan(&["-", "--to", "v3", "-o", "x.pb"])?.targets[0].format, Format::Pb);
        Ok(())
    }

    #[test]
    fn impossible_combinations_are_refused() {
        for (arguments, message) in [
            (&["--to", "v3", "--to", "v2"][..], "several shapes need a folder"),
            (
                &["--to", "jsonschema", "--per", "group-version", "-o", "nowhere"],
                "there is no jsonschema result per group-version",
            ),
            (&["--to", "v2", "--per", "group-version", "-o", "nowhere"], "there is no v2 result per group-version"),
            (
                &["--to", "structural", "--per", "single"],
                "there is no structural result per single: use `--per resource`",
            ),
            (&["--to", "smd", "--per", "group-version"], "there is no smd result per group-version"),
            (&["--to", "v3", "--kind", "Pod", "--per", "single"], "--kind gives a result per kind"),
            (&["--to", "v2", "--inline"], "--inline says something about v3 only"),
            (&["--to", "v2,v3", "--inline", "-o", "nowhere"], "references are inlined in OpenAPI v3"),
            (&["--to", "v3", "--strict"], "--strict says something about jsonschema only"),
            (&["--to", "v3", "--layout", "flat"], "--layout says something about jsonschema only"),
            (&["--to", "jsonschema", "--layout", "flat"], "--layout names files in a folder"),
            (&["--to", "jsonschema", "--layout", "flat", "--format", "yaml", "-o", "x"], "--layout names JSON files"),
            (&["--to", "jsonschema", "--layout", "x", "-o", "x"], "expected kubeshape, datree"),
            (&["--to", "jsonschema", "--id-base", "schemas/", "-o", "x"], "--id-base takes an absolute address"),
            (&["--to", "v3", "--keep-losses"], "--keep-losses says something about v2 only"),
            (&["--to", "v2", "--preserve-unknown"], "--preserve-unknown says something about smd only"),
            (&["--to", "v3", "--onto", "x"], "--onto takes the merged OpenAPI v2 document"),
            (&["--to", "v3", "--prune"], "--prune needs a folder"),
            (&["--to", "v3", "--report", "-"], "`--report -` and the result cannot both"),
            (&["--to", "smd", "-o", "x.pb"], "there is no protobuf form of smd"),
            (&["--to", "jsonschema", "--format", "pb"], "there is no protobuf form of jsonschema"),
            (&["--to", "v3", "-o", "x.json", "--format", "yaml"], "do not agree"),
            (&["--to", "v3", "-o", "Cargo.toml"], "is a file that exists, and not one for results"),
            (&["--to", "v3", "-o", "x.txt"], "x.txt has the name of a file"),
            (&["--to", "v3", "-o", "Cargo.toml/x"], "Cargo.toml/x cannot be written, because Cargo.toml is a file"),
            (&["--to", "v3", "--dry-run"], "--dry-run lists files"),
            (&["--to", "v3", "--adopt"], "--adopt needs a folder"),
        ] {
            let line: Vec<&str> = ["-"].iter().chain(arguments).copied().collect();
            let error = plan(&line).err().unwrap_or_default();
            assert!(error.contains(message), "{line:?}: {error}");
        }
    }

    #[test]
    fn names_with_a_version_or_a_slash_are_folders() -> Result<(), String> {
        for name in ["v1.31", "out.d", "schemas", ".cache", "x.txt/", "x.json/", "k8s.v1", "a.example-domain"] {
            let destination = plan(&["-", "--to", "v3", "-o", name])?.destination;
            assert_eq!(destination, Destination::Folder(name.into()));
        }
        Ok(())
    }

    #[test]
    fn the_existing_part_of_a_path_is_resolved() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().canonicalize()?;
        assert_eq!(resolved(&dir.path().join("a/b")), Some(root.join("a/b")));
        assert_eq!(resolved(&dir.path().join("a/../b")), None);
        assert_eq!(resolved(Path::new("nowhere")), std::env::current_dir().ok().map(|dir| dir.join("nowhere")));
        Ok(())
    }
}
