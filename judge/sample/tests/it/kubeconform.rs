//! kubeconform and the server have the same verdict on objects, or the conversion reports a loss that explains the
//! difference.

use crate::json_schema::{each_case, files_below, objects, unexplained};
use crate::mutate::mutated;
use kubeshape_corpus::generate::Draw;
use kubeshape_sample::sample;
use kubeshape_schema::Note;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where kubeconform finds the schemas below its folder.
const LOCATION: &str = "schemas/{{ .Group }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json";

/// Returns the program, named by `KUBESHAPE_KUBECONFORM` or on the path.
fn kubeconform() -> Option<PathBuf> {
    let named = std::env::var_os("KUBESHAPE_KUBECONFORM").map(PathBuf::from);
    let found = || {
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join("kubeconform")).find(|path| path.is_file())
    };
    named.or_else(found)
}

/// An object, and the verdict of the server and the losses of the conversion.
struct Asked {
    text: String,
    errors: Vec<String>,
    notes: Vec<Note<'static>>,
}

/// A folder with schemas and objects.
struct Folder {
    /// Whether the schemas are of draft 7, as an index.
    draft: usize,
    path: PathBuf,
    seen: BTreeSet<String>,
    asked: Vec<Asked>,
}

impl Folder {
    fn new(draft: usize) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kubeconform-{draft}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("objects")).unwrap();
        Folder { draft, path, seen: BTreeSet::new(), asked: Vec::new() }
    }

    /// Writes the schema of each new version, and `each` objects of it.
    fn add(&mut self, id: &str, source: &[u8], each: u64) {
        each_case(id, source, |case, arena| {
            let resource = &case.resource;
            let (group, version) = resource.api_version.split_once('/').unwrap();
            let name = format!("{group}/{}_{version}.json", resource.kind.to_lowercase());
            // kubeconform looks into objects of any kind `List`.
            if resource.kind == "List" || !self.seen.insert(name.clone()) {
                return;
            }
            let schema = self.path.join("schemas").join(name);
            std::fs::create_dir_all(schema.parent().unwrap()).unwrap();
            std::fs::write(schema, &case.go_texts[self.draft]).unwrap();
            let good = [true, false].map(|maximal| sample(resource, maximal, arena).value.to_serde());
            for n in 0..each {
                let object = mutated(&good[usize::from(n % 3 == 0)], &mut Draw::new(n + 1));
                let text = object.to_string();
                std::fs::write(self.path.join(format!("objects/{}.json", self.asked.len())), &text).unwrap();
                let notes =
                    case.notes(self.draft).iter().map(|note| Note::new(note.code, note.at, note.detail.to_string()));
                self.asked.push(Asked { text, errors: case.server(&object).0, notes: notes.collect() });
            }
        });
    }

    /// Returns the differences that no loss explains.
    fn silent(&self, kubeconform: &Path) -> Vec<String> {
        let mut command = Command::new(kubeconform);
        command.args(["-output", "json", "-verbose", "-schema-location", LOCATION, "objects"]);
        let output = command.current_dir(&self.path).output().unwrap();
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        let resources = report["resources"].as_array().unwrap();
        assert_eq!(resources.len(), self.asked.len());
        let mut out = Vec::new();
        for resource in resources {
            let file = Path::new(resource["filename"].as_str().unwrap()).file_stem().unwrap().to_str().unwrap();
            let Asked { text, errors, notes } = &self.asked[file.parse::<usize>().unwrap()];
            let refused = match resource["status"].as_str().unwrap() {
                "statusValid" => Vec::new(),
                "statusInvalid" => vec![resource["msg"].to_string()],
                other => panic!("{other} {}: {text}", resource["msg"]),
            };
            let silent = unexplained(notes, refused, errors);
            if !silent.is_empty() {
                out.push(format!("{text}\n  server {errors:?}\n  {silent:?}"));
            }
        }
        out
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that does not run says so")]
fn every_difference_of_kubeconform_is_reported() {
    let Some(kubeconform) = kubeconform() else {
        eprintln!("not run: kubeconform is neither on the PATH nor named by KUBESHAPE_KUBECONFORM");
        return;
    };
    for draft in [0, 1] {
        compare(&kubeconform, Folder::new(draft));
    }
}

fn compare(kubeconform: &Path, mut folder: Folder) {
    let files = kubeshape_corpus::files().unwrap();
    let mut versions = 0_u64;
    for file in &files {
        each_case(&file.id, &file.bytes, |_, _| versions += 1);
    }
    for file in &files {
        folder.add(&file.id, &file.bytes, objects().div_ceil(versions.max(1)));
    }
    if let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") {
        for path in files_below(&corpus.join("crds")).iter().step_by(kubeshape_corpus::one_in(40)) {
            let bytes = std::fs::read(path).unwrap();
            if bytes.len() < 200_000 {
                folder.add(&path.display().to_string(), &bytes, 12);
            }
        }
    }
    let accepted = folder.asked.iter().filter(|asked| asked.errors.is_empty()).count();
    assert!(accepted > 100 && accepted < folder.asked.len(), "{accepted} of {}", folder.asked.len());
    let silent = folder.silent(kubeconform);
    let shown: Vec<&str> = silent.iter().take(20).map(String::as_str).collect();
    assert!(silent.is_empty(), "{} of {}:\n{}", silent.len(), folder.asked.len(), shown.join("\n"));
}
