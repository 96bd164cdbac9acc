//! The files of a workspace on disk.

use crate::args::LspArgs;
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use crate::validate::live::Base;
use kubeshape_input::{Limits, may_define};
use kubeshape_language::Workspace;
use kubeshape_yaml::percent;
use std::path::{Path, PathBuf};

/// Larger files are not searched for definitions and names.
const LARGEST: usize = 16 << 20;
/// The maximum number of files, and of their bytes, that are searched.
const MOST_FILES: usize = 50_000;
const MOST_BYTES: usize = 1 << 30;

/// What makes a file a manifest.
const MANIFEST: &[u8] = b"apiVersion";

/// The maximum number of files with policies, and of their bytes.
const MOST_POLICIES: usize = 1_000;
const MOST_POLICY_BYTES: usize = 16 << 20;

/// Reads what the options name, and the definitions, policies and names in the folder of the workspace.
///
/// # Errors
/// Threads cannot be started, or an option is wrong.
pub(super) fn read(args: &LspArgs, root: Option<&Path>, workspace: &mut Workspace) -> Result<Base, Fatal> {
    let LspArgs { live, ignore_workspace_policies, .. } = args;
    let filter = Filter::new(&live.walk)?;
    let mut base = Base::read(live, &filter, false)?;
    workspace.forget_closed();
    let Some(root) = root.filter(|root| is_project(root)) else { return Ok(base) };
    let is_wanted = !ignore_workspace_policies && live.admission.policies.is_empty();
    let policies = scan(root, &filter, &mut base, workspace);
    if !is_wanted || policies.is_empty() {
        return Ok(base);
    }
    // Policies are about resources, so that all definitions are read immediately.
    let mut base = Base::read(live, &filter, true)?;
    for (name, bytes) in scan(root, &filter, &mut base, workspace) {
        let findings = base.add_policies(&name, &bytes);
        base.findings.extend(findings);
    }
    Ok(base)
}

/// Adds the definitions and names in a folder. Returns the files with policies: their names and bytes.
fn scan(root: &Path, filter: &Filter, base: &mut Base, workspace: &mut Workspace) -> Vec<(String, Vec<u8>)> {
    // Names in findings are relative to the folder.
    let is_here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok()).as_deref() == Some(root);
    let folder = if is_here { PathBuf::from(".") } else { root.to_owned() };
    let gathered = gather(&[folder], None, filter);
    let limits = Limits { bytes: LARGEST, ..Limits::default() };
    let mut reader = Reader::default();
    let (mut left, mut left_of_policies) = (MOST_BYTES, MOST_POLICY_BYTES);
    let mut policies = Vec::new();
    for input in gathered.inputs.into_iter().take(MOST_FILES) {
        let Ok(bytes) = reader.read(&input, &limits) else { continue };
        let Some(rest) = left.checked_sub(bytes.len()) else { break };
        left = rest;
        if has_policy(bytes)
            && policies.len() < MOST_POLICIES
            && let Some(rest) = left_of_policies.checked_sub(bytes.len())
        {
            left_of_policies = rest;
            let name = input.name();
            policies.push((name.strip_prefix("./").unwrap_or(&name).to_owned(), bytes.to_vec()));
        }
        add(base, workspace, input, bytes);
    }
    policies
}

/// Returns whether a text seems to have an admission policy or a binding: descriptions of definitions name them, too.
pub(super) fn has_policy(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"AdmissionPolicy").any(|at| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.strip_suffix(b"Validating").or_else(|| before.strip_suffix(b"Mutating"));
        let quotes = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'');
        let end = before.and_then(|before| Some((before, before.iter().rposition(|byte| !quotes(byte))?)));
        let member = end.and_then(|(before, end)| before.get(..end)?.strip_suffix(b"\"").or(before.get(..end)));
        let is_colon = end.is_some_and(|(before, end)| before.get(end) == Some(&b':'));
        is_colon && member.is_some_and(|member| member.ends_with(b"kind"))
    })
}

/// Returns whether a folder may be searched. A whole disk, or everything of a user, is no project.
fn is_project(root: &Path) -> bool {
    root.parent().is_some() && std::env::home_dir().is_none_or(|home| home != root)
}

fn add(base: &mut Base, workspace: &mut Workspace, input: Input, bytes: &[u8]) {
    if memchr::memmem::find(bytes, MANIFEST).is_none() {
        return;
    }
    if may_define(bytes) {
        base.add(input, bytes);
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        workspace.scan(&uri(&input.canonical), text);
    }
}

/// Returns the text of a file of the workspace by its URI.
pub(super) fn text(uri: &str) -> Option<String> {
    let limits = Limits { bytes: LARGEST, ..Limits::default() };
    let mut reader = Reader::default();
    let bytes = reader.read_file(&path(uri)?, &limits).ok()??;
    String::from_utf8(bytes.to_vec()).ok()
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
    use super::{has_policy, path, uri};
    use std::path::Path;

    #[test]
    fn a_policy_is_found_by_its_kind() {
        assert!(has_policy(b"kind: ValidatingAdmissionPolicy\n"));
        assert!(has_policy(b"{\"kind\":\"MutatingAdmissionPolicyBinding\"}"));
        assert!(has_policy(b"kind:  'ValidatingAdmissionPolicyBinding'"));
        assert!(!has_policy(b"description: a ValidatingAdmissionPolicy"));
        assert!(!has_policy(b"kind: AdmissionPolicy"));
        assert!(!has_policy(b"ValidatingAdmissionPolicy"));
    }

    #[test]
    fn a_path_is_a_uri_and_back() {
        let own = Path::new("/a b/é%.yaml");
        assert_eq!(uri(own), "file:///a%20b/%C3%A9%25.yaml");
        assert_eq!(path(&uri(own)).as_deref(), Some(own));
        assert_eq!(path("untitled:a"), None);
        assert_eq!(path("file://host"), None);
    }
}
