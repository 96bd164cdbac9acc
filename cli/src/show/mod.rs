//! Commands that show what kubectl shows: `table`, `explain`, `sample`.

mod complete;
mod explain;
mod sample;
mod table;

pub(crate) use explain::Lifecycles;
pub(crate) use sample::first_sentence;

use crate::session::{Session, text};
use kubeshape_input::Code;
use kubeshape_registry::{Kind, Registry};
use kubeshape_schema::did_you_mean;
use std::path::Path;

/// Returns the kinds with a name, in one version if it is given. Reports if there is none.
fn named<'a>(
    name: &str,
    api_version: Option<&str>,
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Vec<&'a Kind> {
    let all = registry.by_name(name);
    let known: Vec<&str> = all.iter().map(|kind| kind.api_version()).collect();
    let found: Vec<&Kind> =
        all.iter().copied().filter(|kind| api_version.is_none_or(|version| kind.api_version() == version)).collect();
    if found.is_empty() {
        let detail = if let (Some(version), [_, ..]) = (api_version, known.as_slice()) {
            format!("{name} is not served in {version}, but in {}", known.join(", "))
        } else {
            let near = if Path::new(name).is_file() {
                format!("; it is a file: name a kind, and give the file with --schemas {name}")
            } else {
                did_you_mean(&registry.names_near(name))
            };
            format!("the server doesn't have a resource type {name:?}{near}")
        };
        session.report(&text::nowhere(Code::UnknownKind, "", detail));
    }
    found
}
