//! Structured-merge-diff schemas of whole documents against recorded answers of the Kubernetes libraries.
//!
//! Runs where `KUBESHAPE_GOLDEN` and `KUBESHAPE_CORPUS` name the folders of the recordings and of the
//! documents; elsewhere it passes without comparing anything.

use kubeshape_convert::proto;
use kubeshape_convert::smd::{Built, Options, Profile, SmdError, from_v2, from_v3};
use kubeshape_schema::{Bump, read};
use kubeshape_smd::schema::{Schema, print_json, print_yaml};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde_json::Value;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Counts {
    equal: usize,
    both_fail: usize,
    same_words: usize,
    panics: usize,
    differences: Vec<String>,
}

fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

#[test]
fn schemas_of_documents_are_those_that_upstream_makes() -> Result<(), Box<dyn Error>> {
    let (Some(golden), Some(corpus)) = (folder("KUBESHAPE_GOLDEN"), folder("KUBESHAPE_CORPUS")) else {
        return Ok(());
    };
    let mut summary = String::new();
    let (mut v2, mut v3) = (Counts::default(), Counts::default());
    let mut files: Vec<_> = std::fs::read_dir(golden.join("openapi"))?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::path);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let Some(project) = name.strip_suffix(".ndjson.gz") else { continue };
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(file.path())?).read_to_string(&mut text)?;
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)?;
            let counts = match record["kind"].as_str() {
                Some("v2") => &mut v2,
                Some("v3") => &mut v3,
                _ => continue,
            };
            let path = corpus.join("openapi").join(project).join(record["file"].as_str().unwrap_or_default());
            compare(&record, &path, counts)?;
        }
    }
    for (name, counts) in [("v2", &v2), ("v3", &v3)] {
        writeln!(
            summary,
            "{name}: {} equal, {} both fail ({} in the same words), {} where upstream panics, {} differing",
            counts.equal,
            counts.both_fail,
            counts.same_words,
            counts.panics,
            counts.differences.len()
        )?;
        for difference in &counts.differences {
            writeln!(summary, "  {difference}")?;
        }
    }
    if v2.differences.len() + v3.differences.len() > 0 {
        return Err(summary.into());
    }
    assert!(v2.equal > 0 && v3.equal > 0, "{summary}");
    show(&summary)
}

/// Tells the counts with `--nocapture`.
fn show(summary: &str) -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;
    Ok(std::io::stdout().write_all(summary.as_bytes())?)
}

fn compare(record: &Value, path: &Path, counts: &mut Counts) -> Result<(), Box<dyn Error>> {
    let source = std::fs::read_to_string(path)?;
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default())?;
    // Separators before the first document make empty ones.
    while stream.next(&mut tape).transpose()?.is_some() && !tape.has_content() {}
    let document = tape.document(stream.source());
    let root = document.root().ok_or("an empty document")?;
    for (preserve_unknown, member) in [(false, "smd"), (true, "smd_preserve")] {
        let theirs = &record[member];
        let error = record[&format!("{member}_error")].as_str();
        if theirs.is_null() && error.is_none() {
            continue;
        }
        let ours = convert(record, root, Options { preserve_unknown, ..Options::default() });
        let label = format!("{} {member}", record["file"]);
        match (ours, error) {
            (Ok(_), Some(error)) if error.starts_with("panic: ") => counts.panics += 1,
            (Ok(_), Some(error)) => counts.differences.push(format!("{label}: only they fail: {error}")),
            (Err(ours), Some(error)) => {
                counts.both_fail += 1;
                let first = ours.first().map(|error| format!("models: {}", error.text));
                let mut lines: Vec<&str> = ours.iter().map(|error| error.text.as_str()).collect();
                lines.sort_unstable();
                if first.as_deref() == Some(error) || lines.join("\n") == error {
                    counts.same_words += 1;
                }
            }
            (Err(errors), None) => {
                let errors: Vec<_> = errors.into_iter().map(|error| error.text).collect();
                counts.differences.push(format!("{label}: only we fail: {}", errors.join("; ")));
            }
            (Ok(schema), None) => {
                let mut out = Vec::new();
                print_json(&schema, &mut out);
                if !reads_again(&schema)? {
                    counts.differences.push(format!("{label}: what is printed reads as another schema"));
                }
                let (mut ours, mut theirs) = (serde_json::from_slice(&out)?, theirs.clone());
                sort(&mut ours);
                sort(&mut theirs);
                match difference(&ours, &theirs, "") {
                    None => counts.equal += 1,
                    Some(at) => counts.differences.push(format!("{label}: {at}")),
                }
            }
        }
    }
    Ok(())
}

/// Whether a schema's YAML, checked by the rules of the schema of schemas, is the same schema.
fn reads_again(schema: &Schema) -> Result<bool, Box<dyn Error>> {
    let mut yaml = Vec::new();
    print_yaml(schema, &mut yaml);
    let limits = Limits { depth: 4096, ..Limits::default() };
    let mut tape = Tape::new();
    let mut stream = Stream::new(&yaml, limits)?;
    stream.next(&mut tape).transpose()?;
    let root = tape.document(stream.source()).root().ok_or("an empty document")?;
    Ok(kubeshape_smd::schema::read(root)? == *schema)
}

fn convert(record: &Value, root: Node<'_>, options: Options) -> Built {
    if record["kind"] == "v2" {
        // Models are made of what gnostic reads.
        proto::v2::check(root).map_err(|refusals| {
            let text = refusals.iter().map(|refusal| refusal.problem.to_string()).collect::<Vec<_>>().join("\n");
            vec![SmdError { text: format!("gnostic: {text}"), at: root.index() }]
        })?;
        return from_v2::convert(root.get("definitions"), options);
    }
    let schemas = root.get("components").and_then(|components| components.get("schemas"));
    let arena = Bump::new();
    let mut reader = read::Reader::new(&arena, read::Rules::Document(Profile::Kube));
    let definitions = schemas.map_or(&[][..], |schemas| reader.properties(schemas));
    from_v3::convert(definitions, options)
}

/// Sorts types and fields by name, because upstream's order of them varies, and takes out unions, which
/// the recordings leave out.
fn sort(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("unions");
            for (key, value) in members.iter_mut() {
                if let Value::Array(items) = value
                    && (key == "types" || key == "fields")
                {
                    items.sort_by_key(|item| item["name"].as_str().unwrap_or_default().to_owned());
                }
                // A default is a value like any other.
                if key != "default" {
                    sort(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// Where two values first differ. Numbers are compared by value.
fn difference(ours: &Value, theirs: &Value, at: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let extra = b.keys().find(|key| !a.contains_key(*key)).map(|key| format!("{at}/{key}: only theirs"));
            extra.or_else(|| {
                a.iter().find_map(|(key, value)| match b.get(key) {
                    None => Some(format!("{at}/{key}: only ours")),
                    Some(other) => difference(value, other, &format!("{at}/{key}")),
                })
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(a, b, &format!("{at}/{i}")))
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) => (a != b).then(|| format!("{at}: {a}, theirs {b}")),
    }
}
