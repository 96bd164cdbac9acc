//! Shell commands. Names come from untrusted files, so every argument is quoted.

use super::objects::ObjectReport;
use super::side::Side;
use serde_json::{Value, json};

/// Most bytes of all annotations of an object (upstream: `TotalAnnotationSizeLimitB`). `kubectl apply` keeps the object
/// in an annotation.
const ANNOTATIONS: usize = 256 << 10;
/// Most objects that get a command each.
const EDITED: usize = 20;

/// Returns the file of a step.
pub(super) fn file(name: &str, number: usize, what: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let mut out: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if out.starts_with(['.', '-']) || out.is_empty() {
        out.insert(0, '_');
    }
    let dash = if what.is_empty() { "" } else { "-" };
    format!("{out}-{number}{dash}{what}.yaml")
}

/// Returns the command that applies a definition. If it is too large for an annotation, the server applies it.
pub(super) fn apply(manifest: &Value, path: &str) -> String {
    let is_large = manifest.to_string().len() > ANNOTATIONS * 3 / 4;
    let by_server = if is_large { " --server-side" } else { "" };
    format!("kubectl apply{by_server} -f {}", argument(path))
}

/// Returns the path of a file of the plan.
pub(super) fn path(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{}/{file}", folder.trim_end_matches('/')) }
}

/// Returns the command that reads every object in a version and writes it back.
pub(super) fn migrate(side: &Side, version: &str) -> Vec<String> {
    let everywhere = if side.text("scope") == "Namespaced" { " --all-namespaces" } else { "" };
    let resource = format!("{}.{version}.{}", side.text("plural"), side.text("group"));
    vec![format!("kubectl get {}{everywhere} -o json | kubectl replace -f -", quoted(&resource))]
}

/// Returns a StorageVersionMigration, which does the same on the cluster.
pub(super) fn migration(side: &Side, version: &str) -> Value {
    json!({
        "apiVersion": "storagemigration.k8s.io/v1beta1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": format!("{}-{version}", side.name())},
        "spec": {"resource": {"group": side.text("group"), "resource": side.text("plural")}},
    })
}

/// Returns the command that sets `status.storedVersions`.
pub(super) fn prune(name: &str, stored: &[String]) -> Vec<String> {
    let patch = json!({"status": {"storedVersions": stored}}).to_string();
    vec![format!("kubectl patch crd {} --subresource=status --type=merge -p {}", argument(name), quoted(&patch))]
}

/// Returns the commands with which people edit objects.
pub(super) fn edit(side: &Side, objects: &[&ObjectReport]) -> Vec<String> {
    let served = side.versions().filter(|version| version.is_served());
    let version = served.max_by_key(|version| version.is_storage()).map_or("", super::side::Version::name);
    let resource = format!("{}.{version}.{}", side.text("plural"), side.text("group"));
    let edit = |object: &&ObjectReport| {
        let (namespace, name) = match object.name.split_once('/') {
            Some((namespace, name)) => (format!(" --namespace={}", quoted(namespace)), name),
            None => (String::new(), object.name.as_str()),
        };
        format!("kubectl edit {}{namespace}", quoted(&format!("{resource}/{name}")))
    };
    objects.iter().take(EDITED).map(edit).collect()
}

/// Quotes an argument so that it is not an option.
fn argument(text: &str) -> String {
    if text.starts_with('-') { quoted(&format!("./{text}")) } else { quoted(text) }
}

/// Quotes a string as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':' | '=' | ',' | '@');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{file, quoted};

    #[test]
    fn names_stay_one_word_and_one_file() {
        assert_eq!(quoted("tabs.example.com"), "tabs.example.com");
        assert_eq!(quoted("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(file("../a b", 2, ""), "_.._a_b-2.yaml");
        assert_eq!(file("tabs.example.com", 2, "migration"), "tabs.example.com-2-migration.yaml");
    }
}
