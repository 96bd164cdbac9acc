//! A webhook that only changes the API version of objects loses nothing between versions with the same schema; with any
//! other answers, a proof ends within its limits.

use kubeshape_conversions::{Effort, Webhook, prove};
use kubeshape_schema::{Bump, Code};
use kubeshape_structural::read::manifests;
use kubeshape_structural::{Crd, Version};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

const REVIEWS: usize = 40;

/// Checks the property for the definitions of the first document.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 5000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let mut tape = Tape::new();
    if !matches!(stream.next(&mut tape), Some(Ok(()))) {
        return;
    }
    let Some(root) = tape.document(stream.source()).root() else { return };
    for manifest in manifests(root).0 {
        let arena = Bump::new();
        let Some(crd) = manifest.read(&arena).value else { continue };
        let Some(first) = crd.versions.first() else { continue };
        let of = |name| Version { name, served: true, storage: name == "v1", ..*first };
        let crd = Crd { versions: &[of("v1"), of("v2")], ..crd };
        let effort = Effort { objects: 24, reviews: REVIEWS, batch: 7, shrinking: 8, ..Effort::default() };
        let report = prove(&crd, &[], &mut Renaming, &effort);
        // A schema may restrict the API version.
        let others = report.faults.iter().filter(|fault| fault.what != Code::ConversionRefused);
        assert_eq!(others.count(), 0, "{report:?}");
        let mut any = Answering { answers: data, calls: 0 };
        let report = prove(&crd, &[], &mut any, &effort);
        assert!(any.calls <= REVIEWS && report.reviews == any.calls, "{} reviews", any.calls);
    }
}

/// Changes the API version only.
struct Renaming;

impl Webhook for Renaming {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        Ok(answer(review, &mut |_| {}))
    }
}

/// Changes each object by the next byte.
struct Answering<'d> {
    answers: &'d [u8],
    calls: usize,
}

impl Webhook for Answering<'_> {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        self.calls += 1;
        let (calls, answers) = (self.calls, self.answers);
        let byte = |at: usize| answers.get((calls * 31 + at) % answers.len().max(1)).copied().unwrap_or_default();
        match byte(0) % 8 {
            0 => Err("no answer".to_owned()),
            1 => Ok(answers.to_vec()),
            chosen => Ok(answer(review, &mut |object| {
                let Some(map) = object.as_object_mut() else { return };
                let others = map.keys().filter(|key| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
                let others: Vec<String> = others.cloned().collect();
                for (at, key) in others.iter().enumerate() {
                    match (byte(at) ^ chosen) % 4 {
                        0 => drop(map.remove(key)),
                        1 => drop(map.insert(key.clone(), json!([null, byte(at)]))),
                        2 => drop(map.insert(format!("{key}2"), json!({"a": key}))),
                        _ => {}
                    }
                }
            })),
        }
    }
}

/// Returns the review with its objects, changed.
fn answer(review: &[u8], change: &mut dyn FnMut(&mut Value)) -> Vec<u8> {
    let review: Value = serde_json::from_slice(review).expect("a review is JSON");
    let mut objects = review["request"]["objects"].clone();
    for object in objects.as_array_mut().into_iter().flatten() {
        object["apiVersion"] = review["request"]["desiredAPIVersion"].clone();
        change(object);
    }
    let result = json!({"status": "Success"});
    let response = json!({"uid": review["request"]["uid"], "result": result, "convertedObjects": objects});
    json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response})
        .to_string()
        .into_bytes()
}
