//! Any expression, in the environment of any release, is parsed, checked, estimated and evaluated without a panic,
//! within the budget, and with the same result the second time.

use kubeshape_cel::{Data, Env, Language, MAX_ELEMENTS, MAX_TEXT, Release, Type, UnknownSizes, Value};

/// The cost limit of an evaluation.
const BUDGET: u64 = 10_000;

/// Checks the property. The last byte selects the release.
pub fn holds(data: &[u8]) {
    let minor = 28 + data.last().map_or(0, |byte| byte % 10);
    let Ok(source) = std::str::from_utf8(data) else { return };
    let environment = || Env::new(Language::new_expressions(Release::nearest(minor))).with_variable("self", Type::Dyn);
    let ast = match environment().compile(source) {
        Ok(ast) => ast,
        Err(issues) => {
            assert!(!issues.issues().is_empty() && !issues.to_string().is_empty());
            assert_eq!(environment().compile(source).map(|_| ()), Err(issues));
            return;
        }
    };
    let estimate = ast.estimate(&UnknownSizes);
    assert!(estimate.min <= estimate.max, "{estimate:?}");
    let Ok(program) = ast.program() else { return };
    let item = |name: &'static str, size: i64| Data::map([("name", Data::string(name)), ("size", Data::Int(size))]);
    let items = Data::List(vec![item("a", 4), item("b", 1)]);
    let object = Data::map([("spec", Data::map([("name", Data::string("a"))])), ("items", items)]);
    let evaluate = || program.evaluate([("self", Value::from(&object))], BUDGET);
    let (first, second) = (evaluate(), evaluate());
    assert_eq!(first.cost, second.cost);
    assert_eq!(format!("{:?}", first.result), format!("{:?}", second.result));
    if first.cost > BUDGET {
        assert!(first.result.is_err(), "it cost {} and went on", first.cost);
    }
    if let Ok(value) = &first.result {
        within_limits(value);
    }
}

/// Checks that the results of an evaluation are bounded.
fn within_limits(value: &Value<'_>) {
    match value {
        Value::String(text) => assert!(text.len() <= MAX_TEXT),
        Value::List(list) => {
            assert!(list.len() <= MAX_ELEMENTS);
            // A list can contain the same list many times.
            list.iter().take(10).for_each(|item| within_limits(&item));
        }
        _ => {}
    }
}
