//! Webhooks that do not answer, or not as they should; limits.

use crate::webhook::{Changing, proved};
use kubeshape_conversions::{Effort, Webhook};
use kubeshape_schema::Code;
use serde_json::{Value, json};

/// Answers with the result of a function.
struct Answering<F>(F);

impl<F: FnMut(Value) -> Result<Vec<u8>, String>> Webhook for Answering<F> {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        (self.0)(serde_json::from_slice(review).unwrap())
    }
}

/// Returns the messages of a proof with this webhook, in their order, without duplicates.
fn messages(answer: impl FnMut(Value) -> Result<Vec<u8>, String>) -> Vec<String> {
    let report = proved(&mut Answering(answer), &Effort { objects: 5, ..Effort::default() });
    let mut out: Vec<String> = report.faults.into_iter().map(|fault| fault.detail).collect();
    out.dedup();
    out
}

/// Returns a response that converts nothing.
fn response(review: &Value, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let response = json!({"uid": review["request"]["uid"], "result": {"status": "Success"}, "convertedObjects": []});
    let mut out = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response});
    change(&mut out);
    out.to_string().into_bytes()
}

#[test]
fn responses_are_checked_as_a_server_does() {
    let says = |answer: &dyn Fn(&Value) -> Result<Vec<u8>, String>| messages(|review| answer(&review)).remove(0);
    let text = says(&|_| Err("connection refused".to_owned()));
    assert_eq!(text, "conversion webhook failed: connection refused");
    let text = says(&|_| Ok(b"<html>".to_vec()));
    assert!(text.starts_with("conversion webhook failed: couldn't get version/kind; json parse error: "), "{text}");
    let text = says(&|_| Ok(vec![b'['; 100_000]));
    assert!(text.contains("recursion limit"), "{text}");
    let text = says(&|review| Ok(response(review, |_| {})));
    assert_eq!(text, "conversion webhook returned 0 objects, expected 1");
    let text = says(&|review| Ok(response(review, |out| out["response"]["uid"] = json!("other"))));
    assert!(text.contains("expected response.uid="), "{text}");
    let text = says(&|review| Ok(response(review, |out| out["apiVersion"] = json!("v1"))));
    assert!(text.contains("expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview"), "{text}");
    let text = says(&|review| {
        Ok(response(review, |out| out["response"]["result"] = json!({"status": "Failure", "message": "no such kind"})))
    });
    assert_eq!(text, "conversion webhook failed: no such kind");
    let text = says(&|review| Ok(response(review, |out| out["response"] = Value::Null)));
    assert_eq!(text, "conversion webhook failed: no response provided");
    let text = says(&|review| {
        let mut object = review["request"]["objects"][0].clone();
        object["apiVersion"] = review["request"]["desiredAPIVersion"].clone();
        object["spec"] = json!({"note": "a".repeat(100_000)});
        Ok(response(review, |out| out["response"]["convertedObjects"] = json!([object])))
    });
    assert!(text.contains("an object with more than "), "{text}");
}

#[test]
fn a_webhook_that_never_answers_is_given_up() {
    let mut calls = 0;
    let mut webhook = Answering(|_| {
        calls += 1;
        Err("connection refused".to_owned())
    });
    let report = proved(&mut webhook, &Effort::default());
    assert_eq!(report.stopped.as_deref(), Some("64 reviews failed one after the other"));
    assert!(calls <= 64, "{calls}");
}

#[test]
fn a_webhook_that_answers_only_for_the_first_object_is_found() {
    let mut webhook = Changing { change: &|_, _| {} };
    let answer = |mut review: Value| {
        if let Some(objects) = review["request"]["objects"].as_array_mut() {
            objects.truncate(1);
        }
        webhook.convert(review.to_string().as_bytes())
    };
    let texts = messages(answer);
    let expected = "conversion webhook returned 1 objects, expected 5 (5 objects together; smaller reviews succeed)";
    assert!(
        texts.iter().any(|text| text.contains("objects together; smaller reviews succeed")),
        "{expected}: {texts:?}"
    );
}

/// A webhook for which there is no time.
struct Over;

impl Webhook for Over {
    fn convert(&mut self, _: &[u8]) -> Result<Vec<u8>, String> {
        unreachable!("the time is up")
    }

    fn is_over(&self) -> bool {
        true
    }
}

#[test]
fn the_number_of_reviews_and_the_time_are_limits() {
    let mut webhook = Changing { change: &|_, _| {} };
    let report = proved(&mut webhook, &Effort { reviews: 3, ..Effort::default() });
    assert_eq!(report.reviews, 2);
    assert_eq!(report.stopped.as_deref(), Some("2 reviews are sent"));
    let report = proved(&mut Over, &Effort::default());
    assert_eq!((report.reviews, report.stopped.as_deref()), (0, Some("the time is up")));
    assert!(report.faults.is_empty());
}

#[test]
fn faults_have_a_limit() {
    let change = |object: &mut Value, _: &str| {
        object.as_object_mut().map(|object| object.remove("spec")).unwrap_or_default();
    };
    let effort = Effort { faults: 3, ..Effort::default() };
    let report = proved(&mut Changing { change: &change }, &effort);
    assert_eq!(report.faults.len(), 3);
    assert_eq!(report.stopped.as_deref(), Some("there are more than 3 faults"));
    assert!(report.faults.iter().all(|fault| fault.code != Code::ConversionFails));
}
