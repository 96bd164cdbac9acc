//! Odd keys, presence tests and strings, as cel-go 0.26 answers in Kubernetes' environment.

use super::evaluate;
use kubeshape_cel::{Env, Release, Value};

#[test]
fn a_key_that_go_cannot_hash_ends_the_evaluation() {
    let keys = [
        ("semver(x)", "1.2.3", "cel.Semver"),
        ("format.named(x).value()", "date", "cel.Format"),
        ("bytes(x)", "a", "types.Bytes"),
    ];
    for (key, text, ty) in keys {
        let env = Env::new(Release::NEWEST).with_variable("x", kubeshape_cel::Type::String);
        let program = env.compile(&format!("{{{key}: 1}}.size() > 0 || true")).unwrap().program().unwrap();
        let error = program.evaluate([("x", Value::text(text))], 1000).result.unwrap_err();
        assert_eq!(error, format!("internal error: runtime error: hash of unhashable type {ty}"));
    }
}

#[test]
fn pointer_keys_and_nan_keys_are_never_equal() {
    for (source, size) in [
        ("{[]: 1, []: 2}", 2),
        ("{optional.of(1): 1, optional.of(1): 2}", 2),
        ("{optional.none(): 1, optional.none(): 2}", 1),
        ("{double('NaN'): 1, double('NaN'): 2}", 2),
        ("{ip('::1'): 1, ip('::1'): 2}", 1),
    ] {
        assert_eq!(evaluate(&format!("{source}.size()")), Ok(format!("Int({size})")), "{source}");
    }
}

#[test]
fn a_format_string_without_end_is_found_before_a_missing_argument() {
    assert!(evaluate("'%'.format([])").unwrap_err().contains("unexpected end of string"));
    assert_eq!(evaluate("dyn('%').format(dyn([]))").unwrap_err(), "index 0 out of range");
}

#[test]
fn doubles_may_have_underscores_between_digits() {
    assert_eq!(evaluate("double('1_000.5')"), Ok("Double(1000.5)".to_owned()));
    assert_eq!(evaluate("double('0x_1p2')"), Ok("Double(4.0)".to_owned()));
    for wrong in ["_1", "1_", "1__0", "1_.5", "1e_5"] {
        assert!(evaluate(&format!("double('{wrong}')")).is_err(), "{wrong}");
    }
}

#[test]
fn units_of_a_duration_are_rounded_as_doubles_are() {
    assert_eq!(evaluate("duration('9223372035.999999999s').getSeconds()"), Ok("Int(9223372036)".to_owned()));
    assert_eq!(evaluate("duration('-1.9s').getSeconds()"), Ok("Int(-1)".to_owned()));
}

#[test]
fn a_presence_test_of_a_condition_costs_one_less() {
    let cost = |source: &str| {
        let env = Env::new(Release::NEWEST).with_variable("i", kubeshape_cel::Type::Int);
        let program = env.compile(source).unwrap().program().unwrap();
        program.evaluate([("i", Value::Int(5))], 1000).cost
    };
    assert_eq!(cost("has({'a': i}.a)"), 32);
    assert_eq!(cost("has((i > 1 ? {'a': i} : {'a': i}).a)"), 33);
}

#[test]
fn an_empty_source_is_not_shown() {
    let text = evaluate("").unwrap_err();
    assert!(text.starts_with("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'") && !text.contains('\n'));
}

#[test]
fn flatten_shows_the_type_of_other_values_than_lists() {
    for (source, shown) in [
        ("dyn({}).flatten()", "map(dyn, dyn).flatten()"),
        ("dyn({'a': 1}).flatten(2)", "map(dyn, dyn).flatten(int)"),
        ("dyn(optional.of(1)).flatten()", "optional_type.flatten()"),
        ("dyn('a').flatten(1)", "string.flatten(int)"),
    ] {
        assert_eq!(evaluate(source).unwrap_err(), format!("no such overload: {shown}"), "{source}");
    }
}

#[test]
fn a_constant_pattern_matches_names_of_types_and_values_in_optionals() {
    for (source, matches) in [
        ("dyn(type(1)).matches('^int$')", true),
        ("dyn(type({})).matches('list')", false),
        ("matches(dyn(optional.of('a')), 'a')", true),
        ("dyn(optional.of(type(1))).matches('int')", true),
    ] {
        assert_eq!(evaluate(source), Ok(format!("Bool({matches})")), "{source}");
    }
    for source in ["dyn(b'a').matches('a')", "dyn(optional.none()).matches('a')", "dyn(optional.of(1)).matches('1')"] {
        assert_eq!(evaluate(source).unwrap_err(), "no such overload", "{source}");
    }
}
