//! `kubeshape pull`.

use super::asked::{Asked, folder};
use super::stat::size;
use super::wait::Waiting;
use crate::args::{Format, PullArgs, Shape, When};
use crate::error::Fatal;
use crate::output::format::Formatter;
use crate::output::place::{self, Failed, Options, Ready};
use crate::output::record::{Record, There};
use crate::output::{Stage, names};
use crate::report::{self, Setup, Ui};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kubeshape_client::{ClusterOptions, Fetched, Progress, Pulled, Wanted, aggregate};
use kubeshape_discovery::openapi;
use kubeshape_input::{Code, Finding};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

/// A progress bar is shown after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest time between two requests of `--watch` to a failing server.
const LONGEST: Duration = Duration::from_mins(5);
/// The maximum number of files that are named when they are written next to others.
const NAMED: usize = 6;

/// Runs the command. Returns whether everything was fetched.
///
/// # Errors
/// The command line is invalid, the server cannot be reached, or a file cannot be written.
pub(crate) fn pull(args: &PullArgs, setup: &Setup) -> Result<bool, Fatal> {
    let ui = Ui::new(setup.color, When::Never, args.quiet, false).with_levels(setup.levels(&args.levels));
    let mut ui = ui.reporting(args.report.formats(args.output_format));
    let cluster = &args.cluster;
    if cluster.no_cache && args.output.is_none() {
        return Err(Fatal::Usage("without a cache, give -o DIR for the documents".to_owned()));
    }
    let options = ClusterOptions {
        kubeconfig: cluster.kubeconfig.clone(),
        context: cluster.context.clone(),
        server: cluster.server.clone(),
        timeout: cluster.request_timeout,
        offline: cluster.offline,
    };
    let cache = match (cluster.no_cache, folder(cluster.folder.cache.as_deref())) {
        (true, _) => None,
        (false, Ok(folder)) => Some(folder),
        (false, Err(error)) if args.output.is_none() || cluster.offline => return Err(error),
        (false, Err(error)) => {
            unkept(&mut ui, &error.to_string());
            None
        }
    };
    let mut asked = Asked::new(&options, cache.as_deref(), |why| unkept(&mut ui, &why))?;
    let wanted = Wanted {
        paths: args.group_version.iter().map(|name| path_of(name)).collect::<Result<_, _>>()?,
        definitions: args.crds,
        v2: args.openapi_v2,
        offline: cluster.offline,
        unread: args.output.is_none(),
    };
    let stage = if args.dry_run { Stage::dry() } else { Stage::default() };
    let stage = stage.within(args.output.as_deref()).until_interrupted();
    let mut pause = args.refresh;
    let mut waiting = Waiting::new(args.refresh);
    let mut is_first = true;
    let mut seen = None;
    loop {
        if args.watch {
            waiting.begin(&asked);
        }
        match once(args, &asked, &wanted, &stage, &mut seen, &mut ui) {
            Ok(is_whole) if !args.watch => {
                let is_denied = ui.end(None, "", "");
                ui.written()?;
                return Ok(is_whole && !is_denied);
            }
            Ok(_) => {
                pause = args.refresh;
                waiting.wait(&asked);
            }
            // A server that responded once will come back.
            Err(Failure::Server(error)) if args.watch && !is_first => {
                ui.say(&format!("{error}; trying again in {} s", pause.as_secs()));
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST.max(args.refresh));
                // The token in a file may have changed.
                if let Ok(again) = Asked::new(&options, cache.as_deref(), |_| {}) {
                    asked = again;
                }
                waiting = Waiting::new(args.refresh);
            }
            Err(Failure::Server(error)) => return Err(Fatal::Cluster(error)),
            Err(Failure::Local(error)) => return Err(error),
        }
        is_first = false;
    }
}

enum Failure {
    Server(String),
    Local(Fatal),
}

impl From<Fatal> for Failure {
    fn from(error: Fatal) -> Failure {
        Failure::Local(error)
    }
}

/// Fetches and writes once. Returns whether everything was fetched.
fn once(
    args: &PullArgs,
    asked: &Asked,
    wanted: &Wanted,
    stage: &Stage,
    seen: &mut Option<[u8; 32]>,
    ui: &mut Ui,
) -> Result<bool, Failure> {
    let server = asked.cluster.server();
    let bar = bar(args);
    let shown = bar.clone();
    let pulled = asked.pull(wanted, move |progress: Progress| {
        if let Some(bar) = shown.as_ref().filter(|bar| bar.elapsed() > PATIENCE) {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.documents as u64);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let pulled = pulled.map_err(|error| Failure::Server(format!("{server}: {error}")))?;
    let digest = digest_of(&pulled);
    if seen.replace(digest) == Some(digest) {
        return Ok(pulled.failures.is_empty());
    }
    let mut failed = Failed::default();
    for error in &pulled.failures {
        let detail = error.fault.to_string();
        let finding = Finding::new(Code::NotFetched, detail).in_input(format!("{server}{}", error.path));
        failed.add(&finding);
        ui.finding(&finding);
    }
    if let Some(why) = &pulled.unkept {
        unkept(ui, why);
    }
    if pulled.is_converted {
        let detail = "the server publishes only OpenAPI v2; the documents are converted from it";
        ui.finding(&Finding::new(Code::ConvertedFromV2, detail).in_input(server.to_owned()));
    }
    let said = summary(wanted, &pulled);
    let Some(folder) = &args.output else {
        ui.say(&said);
        return Ok(failed.is_empty());
    };
    let Results { ready, unchanged } = results(args, &pulled, folder, stage, &mut failed, ui)?;
    let names: Vec<String> = ready.iter().map(|ready| ready.name.clone()).collect();
    let same = unchanged.len();
    let mut keep = kept(wanted, &pulled, folder);
    keep.extend(unchanged);
    let target = place::Target { record: Some(folder), keep: &keep, is_folder: true, report: None };
    // A failed request replaces nothing: it has no result.
    let options = Options { keep_going: true, prune: args.prune, adopt: false, dry_run: args.dry_run };
    let placed = place::place(ready, target, stage, options, !failed.is_empty()).inspect_err(|_| stage.abandon())?;
    if let Some(finding) = &placed.damaged {
        failed.add(finding);
        ui.finding(finding);
    }
    placed.tell(&failed, ui);
    if args.dry_run {
        report::print(placed.plan.as_bytes())?;
    }
    let done = if args.dry_run { "would write" } else { "wrote" };
    let written = match placed.written {
        0 if same > 0 => "nothing".to_owned(),
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    let mut text = format!("{said}; {done} {written} to {}", folder.display());
    if same > 0 && !names.is_empty() && names.len() <= NAMED {
        let _ = write!(text, " ({})", names.join(", "));
    }
    if same > 0 {
        let _ = write!(text, "; {same} {} as they were", if same == 1 { "stays" } else { "stay" });
    }
    ui.say(&text);
    Ok(failed.is_empty())
}

/// Returns the results of earlier runs to keep: those that the cluster still has, those that this run does not request,
/// and those of other commands.
fn kept(wanted: &Wanted, pulled: &Pulled, folder: &Path) -> BTreeSet<String> {
    let mut keep: BTreeSet<String> = pulled.documents.iter().map(|fetched| name_of(&fetched.document.path)).collect();
    // A damaged record is reported where it is used.
    let record = Record::read(folder).ok().flatten().unwrap_or_default();
    let v2 = names::single(Shape::V2, Format::Json);
    let is_asked_for = |name: &&str| match name.split_once('/') {
        // A document may exist although the cache does not have it.
        None if **name == v2 => wanted.v2 && !wanted.offline,
        None => name.ends_with("_openapi.json"),
        Some((folder, _)) => folder == "discovery" || (folder == "crds" && wanted.definitions),
    };
    keep.extend(record.names().filter(|name| !is_asked_for(name)).map(str::to_owned));
    keep
}

/// Returns the file name of a document. A file whose name begins with a dot would be skipped in a folder.
fn name_of(path: &str) -> String {
    let name = names::root(path, Format::Json, Shape::V3);
    name.strip_prefix('.').map_or(name.clone(), |rest| format!("%2E{rest}"))
}

/// The results in a folder.
#[derive(Default)]
struct Results {
    /// Those that are written.
    ready: Vec<Ready>,
    /// The names of those that already exist unchanged.
    unchanged: Vec<String>,
}

fn results(
    args: &PullArgs,
    pulled: &Pulled,
    folder: &Path,
    stage: &Stage,
    failed: &mut Failed,
    ui: &mut Ui,
) -> Result<Results, Fatal> {
    let mut out = Results::default();
    // Without a readable record, everything is written.
    let record = Record::read(folder).ok().flatten().unwrap_or_default();
    let mut add = |name: String, bytes: &[u8]| -> Result<(), Fatal> {
        let digest = Sha256::digest(bytes).into();
        if record.has_as(&name, &digest) && matches!(record.there(folder, &name), There::Result(_)) {
            out.unchanged.push(name);
            return Ok(());
        }
        let staged = stage.write(folder.join(&name), bytes).inspect_err(|_| stage.abandon())?;
        out.ready.push(Ready { staged, name, is_partial: false });
        Ok(())
    };
    if args.single {
        let name = names::single(Shape::V3, Format::Json);
        // A document that lacks a part does not replace a whole one.
        match if failed.is_empty() { whole(pulled, failed, ui) } else { None } {
            Some(document) => add(name, &document)?,
            None => ui.error(&format!("{name} was not written, because it would not be whole")),
        }
    } else {
        for Fetched { document, .. } in &pulled.documents {
            add(name_of(&document.path), &document.bytes)?;
        }
    }
    if let Some(v2) = &pulled.v2 {
        add(names::single(Shape::V2, Format::Json), &v2.bytes)?;
    }
    for (path, bytes) in &pulled.discovery {
        add(names::discovery_of_cluster(path), bytes)?;
    }
    for definition in &pulled.definitions {
        add(names::definition_of_cluster(&definition.version.name), &yaml(&definition.bytes))?;
    }
    Ok(out)
}

/// Merges all documents (KEP-2896); `None` if one of them cannot be read.
fn whole(pulled: &Pulled, failed: &mut Failed, ui: &mut Ui) -> Option<Vec<u8>> {
    let (bytes, faults) = match aggregate(pulled.documents.iter().map(|fetched| &fetched.document)) {
        Ok(aggregated) => (Some(aggregated.bytes), aggregated.conflicts),
        Err(error) => (None, vec![error]),
    };
    for error in faults {
        let finding = Finding::new(Code::NotFetched, error.fault.to_string()).in_input(error.path);
        failed.add(&finding);
        ui.finding(&finding);
    }
    bytes
}

/// Prints a definition like `kubectl get -o yaml`: members sorted by name, without managed fields.
fn yaml(json: &[u8]) -> Vec<u8> {
    let Ok(mut object) = serde_json::from_slice::<Value>(json) else { return json.to_vec() };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let text = object.to_string().into_bytes();
    let printed = Formatter::default().format(&text, Format::Yaml, false, &mut Vec::new()).map(<[u8]>::to_vec);
    printed.unwrap_or(text)
}

fn summary(wanted: &Wanted, pulled: &Pulled) -> String {
    let downloaded: Vec<&Fetched> = pulled.documents.iter().filter(|fetched| !fetched.is_cached).collect();
    let bytes: usize = downloaded.iter().map(|fetched| fetched.document.bytes.len()).sum();
    let mut text = format!(
        "{} document{}: {} downloaded ({}), {} from the cache",
        pulled.documents.len(),
        if pulled.documents.len() == 1 { "" } else { "s" },
        downloaded.len(),
        size(bytes as u64),
        pulled.documents.len() - downloaded.len()
    );
    if let Some(v2) = &pulled.v2 {
        let how = if v2.is_cached { "from the cache".to_owned() } else { size(v2.bytes.len() as u64) };
        let _ = write!(text, "; OpenAPI v2, {how}");
    } else if wanted.v2 && !pulled.failures.iter().any(|error| error.path == "/openapi/v2") {
        let place = if wanted.offline { "in the cache" } else { "on the server" };
        let _ = write!(text, "; there is no OpenAPI v2 {place}");
    }
    if !pulled.definitions.is_empty() {
        let new = pulled.definitions.iter().filter(|definition| !definition.is_known).count();
        let count = pulled.definitions.len();
        let _ = write!(text, "; {count} CustomResourceDefinitions, {new} of them downloaded");
    }
    text
}

/// Returns the digest of a pull, to detect changes.
fn digest_of(pulled: &Pulled) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for Fetched { document, .. } in &pulled.documents {
        add(document.path.as_bytes());
        add(document.hash.as_deref().unwrap_or_default().as_bytes());
        // Documents without hashes are compared by content.
        add(if document.hash.is_some() { &[] } else { &document.bytes });
    }
    if let Some(v2) = &pulled.v2 {
        add(b"v2");
        add(&v2.bytes);
    }
    for (path, bytes) in &pulled.discovery {
        add(path.as_bytes());
        add(bytes);
    }
    for definition in &pulled.definitions {
        add(definition.version.name.as_bytes());
        add(definition.version.uid.as_bytes());
        add(definition.version.resource_version.as_bytes());
    }
    for error in &pulled.failures {
        add(error.to_string().as_bytes());
    }
    hash.finalize().into()
}

fn unkept(ui: &mut Ui, why: &str) {
    ui.finding(&Finding::new(Code::NotCached, why));
}

fn bar(args: &PullArgs) -> Option<ProgressBar> {
    if args.quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} documents").ok()?);
    Some(bar)
}

/// Returns the path of the document of a group version.
fn path_of(name: &str) -> Result<String, Fatal> {
    let wrong = || Fatal::Usage(format!("--group-version takes apps/v1, or v1 for the core group, found {name:?}"));
    openapi::path_of(name).ok_or_else(wrong)
}
