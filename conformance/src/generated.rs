//! Area `generated`: random manifests, documents, objects of built-in kinds and sequences of server-side apply,
//! answered by the Kubernetes libraries in the same run. Before a difference is shown, its input is reduced.

use crate::answers::{compare_file, compare_merged};
use crate::input::{Answer, answers};
use crate::known::Known;
use crate::openapi::compare_record;
use crate::oracle::{self, Oracle, YamlAnswer};
use crate::own;
use crate::plan::Plan;
use crate::smd;
use crate::table::{Table, Verdict};
use crate::typed;
use crate::verdict::bytes;
use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::document::Document;
use kubeshape_convert::v2;
use kubeshape_corpus::generate::{
    Level, Seeded, documents, manifests, openapi_v2_document, openapi_v2_documents, openapi_v3_document, simplify,
    streams,
};
use kubeshape_corpus::{DocumentAnswer, FileAnswer};
use kubeshape_publish::Publisher;
use kubeshape_schema::{Bump, Profile};
use kubeshape_yaml::{Limits, Stream, Tape, json};
use std::collections::BTreeSet;

/// The maximum number of differences that are reduced and shown in full. Further ones are only counted.
const SHOWN: usize = 20;
/// Number of sequences of server-side apply, and of its other calls, for every two streams of manifests.
const SEQUENCES: u64 = 5;
/// How often the program tries to make a difference smaller.
const STEPS: usize = 400;

/// Compares all of a plan.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn compare(plan: &Plan, known: Known) -> Result<Table, String> {
    let program = oracle::build()?;
    let recorded = kubeshape_corpus::answers().map_err(|error| error.to_string())?;
    let publisher = own::recorded_base(&recorded).map_err(|error| error.to_string())?;
    let mut table = Table::new("generated", known);
    generated(plan, &mut Oracle::start(&program, &["yaml"])?, &documents(), compare_yaml, &mut table)?;
    let mut oracle = Oracle::start(&program, &["answer"])?;
    let compare = |id: &str, text: &str, answer: FileAnswer, table: &mut Table| {
        compare_stream(id, text, &answer, &publisher, table);
    };
    generated(plan, &mut oracle, &streams(&manifests()), compare, &mut table)?;
    whole_documents(plan, &mut Oracle::start(&program, &["answer-openapi"])?, &mut table)?;
    aggregates(plan, &mut Oracle::start(&program, &["aggregate"])?, &mut table)?;
    typed::generated(plan, &program, &mut table)?;
    smd::generated(plan.seed, plan.count * SEQUENCES / 2, &oracle::target(), &mut table)?;
    Ok(table)
}

/// OpenAPI documents of both dialects, usual and weird ones, half as many of each kind.
fn whole_documents(plan: &Plan, oracle: &mut Oracle, table: &mut Table) -> Result<(), String> {
    let plan = Plan { count: plan.count / 2, ..*plan };
    let compare = |id: &str, text: &str, answer: DocumentAnswer, table: &mut Table| {
        // Where upstream's lists and maps have pointers, it prints null again; the model has no null there.
        if !(answer.kind == "v3" && answer.json.as_ref().is_some_and(|json| has_null_objects(json.get()))) {
            compare_record(&answer, text.as_bytes(), id, table);
        }
    };
    for level in [Level::Usual, Level::Weird] {
        generated(&plan, oracle, &openapi_v2_document(level), compare, table)?;
        generated(&plan, oracle, &openapi_v3_document(level), compare, table)?;
    }
    Ok(())
}

/// Returns whether one of the v3 parameters, servers or schemas is null.
fn has_null_objects(json: &str) -> bool {
    fn has_null(value: &serde_json::Value, named: bool) -> bool {
        use serde_json::Value;
        match value {
            Value::Object(members) => members.iter().any(|(key, value)| {
                named && value.is_null()
                    || has_null(value, matches!(key.as_str(), "parameters" | "servers" | "schemas"))
            }),
            Value::Array(items) => items.iter().any(|item| named && item.is_null() || has_null(item, false)),
            _ => false,
        }
    }
    serde_json::from_str(json).is_ok_and(|value| has_null(&value, false))
}

/// Compares documents that are merged as a server merges those of aggregated servers.
fn aggregates(plan: &Plan, oracle: &mut Oracle, table: &mut Table) -> Result<(), String> {
    let strategy = openapi_v2_documents();
    for n in 0..plan.count / 4 {
        let seed = plan.seed.wrapping_add(n);
        let id = format!("seed {seed}");
        let texts = Seeded::new(seed).next(&strategy);
        let theirs: Aggregated = oracle.ask(&id, &texts)?;
        let verdict = match (aggregate(&texts), theirs.doc) {
            (Ok(ours), Some(theirs)) => bytes(&ours, theirs.get().as_bytes()),
            (Err(_), None) => Verdict::Equal,
            (Ok(_), None) => {
                Verdict::Differing(format!("we aggregate them, theirs: {}", theirs.error.unwrap_or_default()))
            }
            (Err(error), Some(_)) => Verdict::Missing(error),
        };
        table.add("aggregate", &id, verdict);
    }
    Ok(())
}

/// The answer of `oracle aggregate`.
#[derive(serde::Deserialize)]
struct Aggregated {
    doc: Option<Box<serde_json::value::RawValue>>,
    error: Option<String>,
}

/// Returns the aggregate as a server sends it.
fn aggregate(texts: &[String]) -> Result<Vec<u8>, String> {
    let mut aggregator = Aggregator::new(Profile::Kube);
    for text in texts {
        let (arena, mut tape) = (Bump::new(), Tape::new());
        let mut stream = Stream::new(text.as_bytes(), Limits::default()).map_err(|error| error.to_string())?;
        stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
        let root = tape.document(text).root().ok_or("an empty document")?;
        let document = v2::read(root, &arena, Profile::Kube).value.ok_or("a document with errors")?;
        aggregator.add("", &Document::V2(document), &arena).map_err(|error| error.to_string())?;
    }
    let whole = aggregator.finish().ok_or("paths conflict")?;
    Ok(whole.to_vec())
}

fn generated<T: for<'a> serde::Deserialize<'a>>(
    plan: &Plan,
    oracle: &mut Oracle,
    strategy: &proptest::strategy::BoxedStrategy<String>,
    compare: impl Fn(&str, &str, T, &mut Table),
    table: &mut Table,
) -> Result<(), String> {
    let mut shown = 0;
    for n in 0..plan.count {
        let id = format!("seed {}", plan.seed.wrapping_add(n));
        let mut tree = Seeded::new(plan.seed.wrapping_add(n)).next_tree(strategy);
        let text = tree.current();
        let mut trial = table.like();
        compare(&id, &text, oracle.ask(&id, &text)?, &mut trial);
        if trial.objections() > 0 && shown < SHOWN {
            shown += 1;
            let rows = trial.failing_rows();
            let mut failure = None;
            let text = simplify(&mut *tree, STEPS, |text| {
                let mut again = table.like();
                match oracle.ask(&id, &text) {
                    Ok(answer) => compare(&id, text, answer, &mut again),
                    Err(error) => failure = Some(error),
                }
                again.failing_rows().iter().any(|row| rows.contains(row))
            });
            if let Some(error) = failure {
                return Err(error);
            }
            let mut small = table.like();
            compare(&id, &text, oracle.ask(&id, &text)?, &mut small);
            trial.append_to_differences(&format!("\n  made small: {}\n{text}", small.differences()));
        }
        table.take(trial);
    }
    Ok(())
}

fn compare_stream(id: &str, text: &str, theirs: &FileAnswer, publisher: &Publisher, table: &mut Table) {
    let ours = answers(text.as_bytes(), publisher);
    // There is no answer if a library panics; a wrong value may have put the cause into a manifest.
    if theirs.crds.iter().any(|crd| crd.panic.is_some()) {
        return;
    }
    compare_file(theirs, &ours, table);
    // If two versions have the same name, the Go program merges both, and a server merges the last.
    let twice = theirs.crds.iter().any(|crd| {
        let names: BTreeSet<&str> = crd.versions.iter().map(|version| version.version.as_str()).collect();
        names.len() < crd.versions.len()
    });
    if let (Some(merged), false) = (&theirs.merged, twice) {
        let crds = ours.into_iter().filter_map(Answer::into_crd).collect();
        compare_merged(merged, crds, false, publisher, id, table);
    }
}

#[allow(clippy::needless_pass_by_value)]
fn compare_yaml(id: &str, text: &str, theirs: YamlAnswer, table: &mut Table) {
    let verdict = match (first_document(text), &theirs.json) {
        (Ok(ours), Some(theirs)) if ours == *theirs => Verdict::Equal,
        (Err(_), None) => Verdict::Equal,
        (Ok(ours), Some(theirs)) => Verdict::Differing(format!("{ours}, theirs {theirs}")),
        (Ok(ours), None) => {
            Verdict::Differing(format!("{ours}, theirs: {}", theirs.error.as_deref().unwrap_or("nothing")))
        }
        (Err(ours), Some(theirs)) => Verdict::Differing(format!("not read by us: {ours}, theirs {theirs}")),
    };
    table.add("yaml", id, verdict);
}

/// Returns the first document of a string as Kubernetes' JSON.
fn first_document(text: &str) -> Result<String, String> {
    let mut stream =
        Stream::with_path(text.as_bytes(), Limits::default(), kubeshape_yaml::Path::Yaml).map_err(|e| e.to_string())?;
    let source = stream.source();
    let mut tape = Tape::new();
    let Some(read) = stream.next(&mut tape) else { return Ok("null".to_owned()) };
    read.map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    if let Some(root) = tape.document(source).root() {
        json::write(root, &mut out, json::Options::default());
    }
    String::from_utf8(out).map_err(|error| error.to_string())
}
