//! Rules that hold for every expression, and properties that are tested on generated ones.
#![allow(clippy::unwrap_used)]

mod bounds;
mod keys;
mod messages;
mod syntax_errors;
mod typed;
mod words;

use kubeshape_cel::{Data, Env, Release, RuleEnv, Type, Value};
use kubeshape_schema::{Property, Schema, Type as SchemaType};
use proptest::prelude::*;

fn evaluate(source: &str) -> Result<String, String> {
    let ast = Env::new(Release::NEWEST).compile(source).map_err(|issues| issues.to_string())?;
    let program = ast.program()?;
    program.evaluate([], 1_000_000).result.map(|value| format!("{value:?}"))
}

#[test]
fn an_error_is_shown_at_its_location() {
    let error = Env::new(Release::NEWEST).compile("1 + 'a'").unwrap_err();
    let text =
        "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^";
    assert_eq!(error.to_string(), text);
}

/// cel-go 0.29 has no overload `int64_to_duration`.
#[test]
fn integers_are_durations_before_1_37() {
    let outcome = |minor, source: &str| {
        let ast = Env::new(Release::nearest(minor)).compile(source).map_err(|issues| {
            let text = issues.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        })?;
        ast.program()?.evaluate([], 1_000_000).result.map(|value| format!("{value:?}"))
    };
    let error = "ERROR: <input>:1:9: found no matching overload for 'duration' applied to '(int)'";
    let no_value = "type conversion error from 'int' to 'google.protobuf.Duration'";
    assert_eq!(outcome(36, "duration(1 + 1) < duration('1s')").unwrap_err(), no_value);
    assert_eq!(outcome(37, "duration(1 + 1) < duration('1s')").unwrap_err(), error);
    assert_eq!(outcome(37, "[dyn(1)].map(x, duration(x)).size()").unwrap_err(), "no such overload: duration(int)");
    assert_eq!(outcome(36, "[dyn(1)].map(x, duration(x)).size()").unwrap_err(), no_value);
    assert_eq!(outcome(37, "duration(dyn('1s')) == duration('1s')"), Ok("Bool(true)".to_owned()));
}

/// cel-go 0.16 to 0.20, 0.22 and 0.26.
#[test]
fn an_offset_after_the_end_is_an_error_before_1_32() {
    let outcome = |minor, source: &str| {
        let ast = Env::new(Release::nearest(minor)).compile(source).map_err(|issues| issues.to_string())?;
        ast.program()?.evaluate([], 1_000_000).result.map(|value| format!("{value:?}"))
    };
    let none = Ok("Int(-1)".to_owned());
    let error = |at: i32| Err(format!("index out of range: {at}"));
    for (source, at) in [("'abc'.indexOf('c', 3)", 3), ("'abc'.lastIndexOf('c', 7)", 7), ("''.indexOf('a')", 0)] {
        assert_eq!((outcome(31, source), outcome(32, source)), (error(at), none.clone()), "{source}");
    }
    let last = "''.lastIndexOf('a')";
    assert_eq!((outcome(33, last), outcome(34, last)), (error(-1), none));
    assert_eq!(outcome(28, "'abc'.indexOf('', 9)"), Ok("Int(9)".to_owned()));
}

/// cel-go 0.17 has another name for the type of optionals.
#[test]
fn errors_of_format_name_optionals_as_their_release_does() {
    let outcome = |minor, source: &str| {
        let ast = Env::new(Release::nearest(minor)).compile(source).map_err(|issues| issues.to_string())?;
        ast.program()?.evaluate([], 1_000_000).result.map(|value| format!("{value:?}"))
    };
    for (source, words) in [
        ("'%d'.format([dyn(optional.of(1))])", "decimal clause can only be used on integers, was given "),
        ("'%s'.format([[dyn(optional.none())]])", "no formatting function for "),
    ] {
        for (minor, name) in [(30, "optional"), (31, "optional_type")] {
            assert_eq!(outcome(minor, source), Err(format!("error during formatting: {words}{name}")), "{source}");
        }
    }
}

/// cel-go 0.16 to 0.20 have other names and places.
#[test]
fn messages_about_optionals_and_about_nothing_depend_on_the_release() {
    let first = |minor, source: &str| {
        let issues = Env::new(Release::nearest(minor)).compile(source).expect_err(source);
        issues.to_string().lines().next().unwrap_or_default().to_owned()
    };
    assert!(first(30, "optional.of(1) + 1").ends_with("'_+_' applied to '(optional(int), int)'"));
    assert!(first(31, "optional.of(1) + 1").ends_with("'_+_' applied to '(optional_type(int), int)'"));
    assert!(first(31, "").starts_with("ERROR: <input>:1:1: "));
    assert!(first(32, "").starts_with("ERROR: <input>:1:0: "));
}

#[test]
fn a_literal_that_a_function_refuses_does_not_compile() {
    let issues = |source: &str| Env::new(Release::nearest(36)).compile(source).map_err(|issues| issues.to_string());
    for (source, function) in [
        ("timestamp(null)", "timestamp"),
        ("timestamp('soon')", "timestamp"),
        ("duration(null)", "duration"),
        ("duration('x')", "duration"),
        ("'a'.matches('(')", "matches"),
    ] {
        let error = issues(source).expect_err(source);
        assert!(error.contains(&format!("invalid {function} argument")), "{source}: {error}");
    }
    for source in ["timestamp(dyn(null))", "timestamp('2026-01-02T03:04:05Z')", "timestamp(1)", "duration('1s')"] {
        assert!(issues(source).is_ok(), "{source}");
    }
}

#[test]
fn a_long_range_is_refused() {
    assert!(evaluate("lists.range(1000000000).size()").unwrap_err().contains("at most 10000000 elements"));
}

#[test]
fn an_evaluation_ends_within_its_budget() {
    let source = "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))";
    assert_eq!(evaluate(source).unwrap_err(), "operation cancelled: actual cost limit exceeded");
}

#[test]
fn deep_nesting_is_refused() {
    let source = format!("{}1{}", "(".repeat(300), ")".repeat(300));
    assert!(evaluate(&source).unwrap_err().contains("expression recursion limit exceeded: 250"));
}

#[test]
fn functions_appear_with_their_release() {
    assert!(Env::new(Release::nearest(32)).compile("semver('1.2.3')").is_err());
    assert!(Env::new(Release::nearest(33)).compile("semver('1.2.3')").is_ok());
}

#[test]
fn a_rule_sees_properties_under_escaped_names() {
    let properties = [Property { name: "my-field", at: 0, schema: Schema::of_type(SchemaType::Integer) }];
    let schema = Schema { properties: &properties, ..Schema::of_type(SchemaType::Object) };
    let env = RuleEnv::new(&schema, false, Release::NEWEST, "selfType1").unwrap();
    let rule = env.rule("self.my__dash__field > 3", false).unwrap();
    let object = Data::map([("my-field", Data::Int(4))]);
    let outcome = rule.program.evaluate([("self", Value::of(&object, &schema))], 1000);
    assert!(matches!(outcome.result, Ok(Value::Bool(true))));
}

proptest! {
    #[test]
    fn no_source_panics(source in "[-a-z0-9 .,:?!(){}\\[\\]'\"<>=&|+*/%]{0,40}") {
        if let Ok(ast) = Env::new(Release::NEWEST).with_variable("x", Type::Dyn).compile(&source)
            && let Ok(program) = ast.program()
        {
            let outcome = program.evaluate([("x", Value::Int(1))], 1000);
            prop_assert!(outcome.cost <= 1000 || outcome.result.is_err());
        }
    }
}
