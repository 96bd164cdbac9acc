//! `kubeshape lifecycle docs`.

use super::{Session, sources};
use crate::args::LifecycleDocsArgs;
use crate::error::Fatal;
use crate::input::check_once;
use crate::output::prune::{self, Keep};
use crate::output::record::{self, Record};
use crate::output::{Stage, names};
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::Options;
use kubeshape_lifecycle::docs::{self, Page};
use std::collections::BTreeMap;

/// The index page.
const INDEX: &str = "index.md";

/// Runs `kubeshape lifecycle docs`.
///
/// # Errors
/// The command line is invalid, or a page cannot be written.
pub(super) fn run(args: &LifecycleDocsArgs, mut session: Session) -> Result<bool, Fatal> {
    if args.sources.types.is_empty() {
        return Err(Fatal::Usage("give the Go types: --types PATH".to_owned()));
    }
    if args.output.as_os_str() == "-" {
        return Err(Fatal::Usage("the pages need a folder: give -o FOLDER".to_owned()));
    }
    check_once(args.sources.types.iter().chain(&args.sources.features))?;
    let before = match Record::read(&args.output) {
        Ok(record) => record.unwrap_or_default(),
        Err(finding) => {
            session.tell(&finding);
            return session.end();
        }
    };
    let (types, features) = sources::read(&args.sources.types, &args.sources.features, &mut session);
    if session.errors > 0 {
        session.ui.say("nothing was written, because there were errors");
        return session.end();
    }
    let options = Options { release: args.sources.release };
    let stage = Stage::default().within(Some(&args.output)).until_interrupted();
    let mut record = before.clone();
    let (mut pages, mut staged) = (BTreeMap::new(), Vec::new());
    let mut write = |name: &str, text: &str| {
        let written = stage.write(args.output.join(name), text.as_bytes()).inspect_err(|_| stage.abandon())?;
        staged.push((name.to_owned(), written));
        Ok::<(), Fatal>(())
    };
    for page in docs::pages(&types, &features, &options) {
        let name = names::page(&page.api_version, &page.kind, "md");
        // Names must differ by more than case, because of some file systems.
        let key = name.to_lowercase();
        if let Some((_, first)) = pages.get(&key) {
            session.ui.say(&repeated(first, &page));
            continue;
        }
        if page.is_cut {
            session.ui.say(&format!("{} {} has too many fields; its page is cut", page.api_version, page.kind));
        }
        write(&name, &page.text)?;
        // The pages are written, and not kept.
        pages.insert(key, (name, Page { text: String::new(), ..page }));
    }
    if pages.is_empty() {
        stage.abandon();
        let detail = "no kind was found in the types: a kind embeds TypeMeta, and its package is named like a version";
        session.tell(&Finding::new(Code::Nothing, detail));
        return session.end();
    }
    write(INDEX, &docs::index(pages.values().map(|(name, page)| (page, name.replace('%', "%25")))))?;
    let count = pages.len();
    let mut keep = Keep::default();
    let placing = stage.placing()?;
    for (name, written) in staged {
        keep.add(&name);
        record.add(&name, written.digest);
        placing.finish(written).inspect_err(|_| stage.abandon())?;
    }
    let mut deleted = 0;
    if args.prune {
        // Other commands may have results in the same folder.
        for name in record.names().filter(|name| !record::is_page(name)) {
            keep.add(name);
        }
        let old = prune::old(&args.output, &mut record, &keep);
        for (name, path) in old.unchanged {
            prune::delete(&args.output, &path)?;
            record.remove(&name);
            deleted += 1;
        }
        for name in old.changed {
            session.ui.say(&format!("kept {name}, which changed since kubeshape wrote it"));
        }
    }
    if record != before {
        placing.write(&args.output.join(record::NAME), &record.print())?;
    }
    stage.settle()?;
    let s = if count == 1 { "" } else { "s" };
    let gone = if deleted == 0 { String::new() } else { format!(", {deleted} deleted") };
    session.ui.say(&format!("{count} kind{s}{gone}"));
    session.end()
}

fn repeated(first: &Page, second: &Page) -> String {
    let Page { api_version, kind, place, .. } = second;
    format!("{api_version} {kind} in {place} has no page: {} defines a kind of this name, too", first.place)
}
