//! `kubeshape trim`.

use crate::args::{TrimArgs, When};
use crate::error::Fatal;
use crate::input::{self, Filter, Gathered, Input, Source, check_once, gather};
use crate::output::{Stage, Staged, in_place, targets};
use crate::report::{Setup, Ui, print};
use kubeshape_check::fix::{self, diff, is_expected};
use kubeshape_check::trim::{self, Descriptions, Fit, Options, Plan, Saved, Saving, Trimmed};
use kubeshape_check::{Check, Problem, Releases};
use kubeshape_input::{Code, Finding, Limits, Reader};
use kubeshape_schema::{Bump, thousands};
use kubeshape_yaml::edit::{Edit, apply};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command. Returns whether every definition has the wanted size.
///
/// # Errors
/// The command line is invalid, or something cannot be read or written.
pub(crate) fn run(args: &TrimArgs, setup: &Setup) -> Result<bool, Fatal> {
    let mut paths = args.filenames.and(&args.inputs);
    if paths.is_empty() {
        paths.push(PathBuf::from("-"));
    }
    check_once(&paths.iter().cloned().collect::<BTreeSet<_>>())?;
    if args.in_place && paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Fatal::Usage("standard input cannot be edited: leave --in-place out".to_owned()));
    }
    let levels = setup.levels(&args.findings.levels);
    let ui = Ui::new(setup.color, When::Auto, args.quiet, true).with_levels(levels).with_notes();
    let mut ui = ui.reporting(args.findings.report.formats(args.findings.output_format));
    let filter = Filter::new(&args.walk)?;
    let gathered = gather(&paths, args.output.as_deref(), &filter);
    let mut run = Run { args, options: options(args), ui: &mut ui, errors: 0, edits: 0, counts: Counts::default() };
    gathered.tell_all("found no definition in the folder", |finding| run.finding(finding));
    let is_edited = args.in_place || args.diff;
    let targets = if is_edited { BTreeMap::new() } else { targets(args.output.as_deref(), &gathered, "trim")? };
    let stage = Stage::default().until_interrupted();
    let staged = run.all(&gathered, &targets, &stage).inspect_err(|_| stage.abandon())?;
    for staged in staged {
        stage.finish(staged).inspect_err(|_| stage.abandon())?;
    }
    run.summary();
    let Run { errors, edits, .. } = run;
    let is_denied = ui.end(None, "", "");
    ui.written()?;
    if !gathered.unreadable.is_empty() {
        return Err(Fatal::Unread);
    }
    Ok(errors == 0 && !is_denied && !(args.diff && edits > 0))
}

/// Returns the options of the library. If nothing is wanted, definitions must fit into an annotation.
fn options(args: &TrimArgs) -> Options {
    let is_wanted = args.descriptions.is_some() || args.longest.is_some() || !args.remove.is_empty();
    Options {
        fit: args.fit.or((!is_wanted).then_some(Fit::Annotation)),
        descriptions: args.descriptions.unwrap_or(Descriptions::All),
        longest: args.longest.map(|longest| longest as usize),
        removed: args.remove.iter().map(|removed| removed.what()).collect(),
        inside: args.inside.clone(),
        only_if_needed: args.only_if_needed,
    }
}

#[derive(Default)]
struct Counts {
    definitions: usize,
    trimmed: usize,
    /// The bytes of JSON of all definitions, before and afterwards.
    before: usize,
    after: usize,
}

struct Run<'r> {
    args: &'r TrimArgs,
    options: Options,
    ui: &'r mut Ui,
    errors: usize,
    edits: usize,
    counts: Counts,
}

/// A file that was read.
struct Read {
    /// Its source, uncompressed.
    old: Vec<u8>,
    /// Whether these are the bytes of the file.
    is_plain: bool,
    plans: Vec<Plan>,
    problems: Vec<Problem>,
}

impl Run<'_> {
    fn finding(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// Trims the inputs one after the other. Returns the files that do not have their names yet.
    fn all(
        &mut self,
        gathered: &Gathered,
        targets: &BTreeMap<&Path, PathBuf>,
        stage: &Stage,
    ) -> Result<Vec<Staged>, Fatal> {
        let mut staged = Vec::new();
        let mut bytes = input::Reader::default();
        for input in &gathered.inputs {
            let name: Arc<str> = input.name().into();
            let bytes = match bytes.read(input, &Limits::default()) {
                Ok(bytes) => bytes,
                Err(finding) => {
                    self.finding(&finding);
                    continue;
                }
            };
            let Some(read) = self.read(&name, bytes, input) else { continue };
            let target = targets.get(input.path());
            let is_file = target.is_some() || self.args.in_place;
            if !read.is_plain && is_file && read.plans.iter().any(|plan| !plan.edits.is_empty()) {
                self.not_trimmed(&name, "it is compressed, and its result would not be; uncompress it first");
                continue;
            }
            let Some(new) = self.edited(&name, &read) else { continue };
            if self.args.diff {
                Self::show(&name, &read)?;
            } else if self.args.in_place {
                self.edit(input, gathered, &read.old, &new, stage);
            } else if let Some(target) = target {
                // A file without edits stays compressed.
                let new = if new == read.old { bytes } else { &new };
                staged.push(stage.write_named(target, new)?);
            } else {
                print(&new)?;
            }
            for definition in read.plans.iter().flat_map(|plan| &plan.definitions) {
                self.tell(&name, definition);
            }
        }
        Ok(staged)
    }

    /// Reads a file and finds its edits; `None` if it has errors.
    fn read(&mut self, name: &Arc<str>, bytes: &[u8], input: &Input) -> Option<Read> {
        let mut reader = Reader::new();
        let mut documents = reader.documents(Arc::clone(name), bytes, Limits::default());
        if documents.is_protobuf() {
            self.not_trimmed(name, "it is protobuf; convert it first");
            return None;
        }
        let mut out = Read {
            old: documents.bytes().to_vec(),
            is_plain: documents.bytes() == bytes,
            plans: Vec::new(),
            problems: Vec::new(),
        };
        let mut is_whole = true;
        while let Some(document) = documents.next() {
            match document {
                Ok(document) => {
                    out.plans.push(trim::plan(document.root(), &self.options));
                    out.problems.extend(problems(&document.manifests().0));
                }
                Err(finding) => {
                    is_whole = false;
                    self.finding(&finding);
                }
            }
        }
        let found = out.plans.iter().any(|plan| !plan.definitions.is_empty());
        if is_whole && !found && input.named {
            let detail = "no CustomResourceDefinition with a schema found";
            self.finding(&Finding::new(Code::Nothing, detail).in_input(Arc::clone(name)));
        }
        is_whole.then_some(out)
    }

    /// Returns the bytes after the edits, if they read as expected and have the same problems.
    fn edited(&mut self, name: &Arc<str>, read: &Read) -> Option<Vec<u8>> {
        let edits: Vec<Edit> = read.plans.iter().flat_map(|plan| plan.edits.iter().cloned()).collect();
        if edits.is_empty() {
            return Some(read.old.clone());
        }
        // A source with edits is UTF-8, because it was read.
        let new = apply(std::str::from_utf8(&read.old).ok()?, &edits).into_bytes();
        let (mut old_reader, mut new_reader) = (Reader::new(), Reader::new());
        let mut before = old_reader.documents(Arc::clone(name), &read.old, Limits::default());
        let mut after = new_reader.documents(Arc::clone(name), &new, Limits::default());
        let mut remaining = Vec::new();
        let mut is_sound = read.plans.iter().all(|plan| match (before.next(), after.next()) {
            (Some(Ok(old)), Some(Ok(new))) => {
                remaining.extend(problems(&new.manifests().0));
                trim::is_made(old.root(), new.root(), plan)
            }
            _ => false,
        });
        is_sound &= after.next().is_none() && read.problems.len() == remaining.len();
        is_sound &= is_expected(&read.problems, &remaining, &fix::Plan::default());
        if !is_sound {
            self.not_trimmed(name, "the text or the findings would not be the expected ones after the edits");
            return None;
        }
        self.edits += edits.len();
        Some(new)
    }

    /// Prints the edits as a diff.
    fn show(name: &str, read: &Read) -> Result<(), Fatal> {
        let edits: Vec<Edit> = read.plans.iter().flat_map(|plan| plan.edits.iter().cloned()).collect();
        let (Ok(old), false) = (std::str::from_utf8(&read.old), edits.is_empty()) else { return Ok(()) };
        // Git's names for files, so that `patch -p1` finds them.
        let path = name.trim_start_matches("./").trim_start_matches('/').replace(char::is_control, "\u{FFFD}");
        print(diff(&format!("a/{path}"), &format!("b/{path}"), old, &edits).as_bytes())
    }

    fn edit(&mut self, input: &Input, gathered: &Gathered, old: &[u8], new: &[u8], stage: &Stage) {
        if old == new {
            return;
        }
        let outside = in_place::is_outside(input, gathered);
        let why = match (outside, &input.source) {
            (Some(why), _) => Some(why.to_owned()),
            (None, Source::File(_)) => in_place::edit(stage, input, old, new).err(),
            (None, _) => Some("it is not a file".to_owned()),
        };
        if let Some(why) = why {
            self.not_trimmed(&input.name(), &why);
        }
    }

    fn not_trimmed(&mut self, name: &str, why: &str) {
        self.finding(&Finding::new(Code::NotTrimmed, why).in_input(name));
    }

    /// Reports what was done to a definition.
    fn tell(&mut self, input: &str, definition: &Trimmed) {
        let Trimmed { name, before, after, limit, saved, stuck, .. } = definition;
        self.counts.definitions += 1;
        self.counts.before += before;
        self.counts.after += after;
        let part = |(what, Saved { texts, bytes }): (&Saving, &Saved)| {
            let (texts, bytes) = (thousands(*texts as u64), thousands(*bytes as u64));
            format!("{texts} {} (-{bytes})", what.words())
        };
        if !saved.is_empty() {
            self.counts.trimmed += 1;
            let parts: Vec<String> = saved.iter().map(part).collect();
            let (before, after) = (thousands(*before as u64), thousands(*after as u64));
            self.ui.say(&format!("{name}: {before} bytes -> {after} bytes: {}", parts.join(", ")));
        }
        let kinds = saved.iter().map(
            |(what, saved)| serde_json::json!({ "what": what.words(), "texts": saved.texts, "bytes": saved.bytes }),
        );
        let kinds: Vec<_> = kinds.collect();
        self.ui.json(&serde_json::json!({
            "resource": name, "input": input, "before": before, "after": after, "limit": limit, "saved": kinds,
            "fits": definition.fits(),
        }));
        if let Some(limit) = limit.filter(|_| !definition.fits()) {
            let stuck = match stuck {
                0 => String::new(),
                n => format!("; {n} texts stay, because an alias or the layout does not allow an edit"),
            };
            let (after, limit) = (thousands(*after as u64), thousands(limit as u64));
            let detail = format!("{name} has {after} bytes, and {limit} are allowed{stuck}");
            self.finding(&Finding::new(Code::TooLarge, detail).in_input(input));
        }
    }

    /// Prints one line about all definitions.
    fn summary(&mut self) {
        let Counts { definitions, trimmed, before, after } = self.counts;
        if definitions == 0 {
            return;
        }
        let s = if definitions == 1 { "" } else { "s" };
        let saved = thousands(before.saturating_sub(after) as u64);
        let end = if self.args.diff { " Nothing is written." } else { "" };
        let text = match trimmed {
            0 => format!("{definitions} definition{s}: nothing to trim.{end}"),
            _ => format!("{definitions} definition{s}, {trimmed} trimmed: {saved} bytes saved.{end}"),
        };
        self.ui.verdict(&text);
    }
}

/// Returns what `kubeshape check` finds in definitions.
fn problems(definitions: &[kubeshape_structural::read::Manifest<'_>]) -> Vec<Problem> {
    let check = Check::new(Releases::default());
    let mut arena = Bump::new();
    let mut out = Vec::new();
    for manifest in definitions {
        out.extend(check.definition(*manifest, &arena).problems);
        arena.reset();
    }
    out
}
