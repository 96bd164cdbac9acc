//! The files of a workspace on disk.

use crate::args::LiveArgs;
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use crate::validate::live::Base;
use kubeshape_input::Limits;
use kubeshape_language::Workspace;
use kubeshape_yaml::percent;
use std::path::{Path, PathBuf};

/// Larger files are not searched for definitions and names.
const LARGEST: usize = 16 << 20;
/// The maximum number of files, and of their bytes, that are searched.
const MOST_FILES: usize = 50_000;
const MOST_BYTES: usize = 1 << 30;

/// What makes a file one with definitions.
pub(super) const DEFINITION: &[u8] = b"CustomResourceDefinition";
/// What makes a file a manifest.
const MANIFEST: &[u8] = b"apiVersion";

/// Reads what the options name, and the definitions and names in the folder of the workspace.
///
/// # Errors
/// Threads cannot be started, or an option is wrong.
pub(super) fn read(args: &LiveArgs, root: Option<&Path>, workspace: &mut Workspace) -> Result<Base, Fatal> {
    let filter = Filter::new(&args.walk)?;
    let mut base = Base::read(args, &filter, false)?;
    workspace.forget_closed();
    let Some(root) = root.filter(|root| is_project(root)) else { return Ok(base) };
    // Names in findings are relative to the folder.
    let is_here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok()).as_deref() == Some(root);
    let folder = if is_here { PathBuf::from(".") } else { root.to_owned() };
    let gathered = gather(&[folder], None, &filter);
    let limits = Limits { bytes: LARGEST, ..Limits::default() };
    let mut reader = Reader::default();
    let mut left = MOST_BYTES;
    for input in gathered.inputs.into_iter().take(MOST_FILES) {
        let Ok(bytes) = reader.read(&input, &limits) else { continue };
        let Some(rest) = left.checked_sub(bytes.len()) else { break };
        left = rest;
        add(&mut base, workspace, input, bytes);
    }
    Ok(base)
}

/// Returns whether a folder may be searched. A whole disk, or everything of a user, is no project.
fn is_project(root: &Path) -> bool {
    root.parent().is_some() && std::env::home_dir().is_none_or(|home| home != root)
}

fn add(base: &mut Base, workspace: &mut Workspace, input: Input, bytes: &[u8]) {
    let has = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    if !has(MANIFEST) {
        return;
    }
    if has(DEFINITION) {
        base.add(input, bytes);
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        workspace.scan(&uri(&input.canonical), text);
    }
}

/// Returns the path of a URI of a file.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host is followed by a path, too.
    let path = rest.get(rest.find('/')?..)?;
    let path = percent::decode(path).into_owned();
    // `/C:/folder`
    let drive = path.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':') && cfg!(windows));
    Some(PathBuf::from(drive.unwrap_or(&path)))
}

/// Returns the URI of a path.
pub(super) fn uri(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", percent::encode(&text, percent::PATH))
}

#[cfg(test)]
mod tests {
    use super::{path, uri};
    use std::path::Path;

    #[test]
    fn a_path_is_a_uri_and_back() {
        let own = Path::new("/a b/é%.yaml");
        assert_eq!(uri(own), "file:///a%20b/%C3%A9%25.yaml");
        assert_eq!(path(&uri(own)).as_deref(), Some(own));
        assert_eq!(path("untitled:a"), None);
        assert_eq!(path("file://host"), None);
    }
}
