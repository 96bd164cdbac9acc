//! Bounds of templates.

use kubeshape_show::jsonpath::{Error, Options, Template};
use kubeshape_smd::{Bump, ToValue};
use serde_json::json;

fn run(template: &str, object: &serde_json::Value) -> Result<String, Error> {
    let arena = Bump::new();
    let mut out = Vec::new();
    Template::parse(template).unwrap().execute(object.to_value(&arena), Options::default(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn ranges_that_multiply_their_work_end() {
    let object = (0..40).fold(json!([1]), |inner, _| json!([inner]));
    let template = format!("{}{}", "{range [0,0]}".repeat(30), "{end}".repeat(30));
    assert_eq!(run(&template, &object), Err(Error::TooMuch));
    let template = format!("{}{}", "{range @}".repeat(100_000), "{end}".repeat(100_000));
    assert_eq!(run(&template, &object), Err(Error::TooMuch));
}

#[test]
fn repeated_recursion_ends() {
    let object = (0..200).fold(json!(1), |inner, _| json!([inner, inner.is_array()]));
    assert_eq!(run("{..[*]..[*]..[*]..[*]}", &object), Err(Error::TooMuch));
}

#[test]
fn a_long_template_is_parsed_in_one_pass() {
    let template = "{.a}".repeat(100_000);
    assert_eq!(Template::parse(&template).unwrap().nodes().len(), 100_000);
    let union = format!("{{[{}0]}}", "0,".repeat(100_000));
    assert_eq!(run(&union, &json!(["x"])).unwrap().len(), 200_001);
}

#[test]
fn maps_are_visited_in_the_order_of_their_keys() {
    assert_eq!(run("{.*}", &json!({"b": 1, "a": [2], "c": null})).unwrap(), "[2] 1 null");
}
