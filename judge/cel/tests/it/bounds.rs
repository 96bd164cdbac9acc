//! Cheap expressions that would run for hours or fill all memory. Upstream's costs do not stop them.

use super::evaluate;
use kubeshape_cel::{Env, Outcome, Release};

/// Returns an expression for a list that contains another one twice, and so on.
fn doubled(times: usize) -> String {
    format!("['']{}", ".map(x, [x, x])".repeat(times))
}

fn is_refused(source: &str, reason: &str) {
    let error = evaluate(source).expect_err(source);
    assert!(error.contains(reason), "{source}: {error}");
}

#[test]
fn shared_values_are_not_walked_through() {
    let list = doubled(40);
    is_refused(&format!("{list} == {list}"), "looks at more than");
    is_refused(&format!("[{list}].indexOf({list}) == 0"), "looks at more than");
    is_refused(&format!("sets.contains([{list}], [{list}])"), "looks at more than");
    is_refused(&format!("'%s'.format([{list}]) == ''"), "looks at more than");
    // One side is short, so this takes little work.
    assert_eq!(evaluate(&format!("dyn({list}) == ['']")), Ok("Bool(false)".to_owned()));
}

#[test]
fn a_message_shows_the_beginning_of_a_value() {
    let list = doubled(40);
    let error = evaluate(&format!("[dyn(''), dyn({list})].map(x, x).join('')")).unwrap_err();
    assert!(error.len() < 2 << 20 && error.starts_with("join: invalid input: [["), "{error:.300}");
}

/// `optMap` copies its target.
#[test]
fn chains_of_macros_that_copy_have_a_bound() {
    let chain = |links: usize| format!("optional.of(1){}.hasValue()", ".optMap(x, x)".repeat(links));
    assert_eq!(evaluate(&chain(7)), Ok("Bool(true)".to_owned()));
    for links in [20, 240] {
        is_refused(&chain(links), "macros copy their targets");
    }
}

#[test]
fn memory_has_a_limit() {
    is_refused(&format!("[['']]{}.size() > 0", ".map(x, x + x)".repeat(40)), "makes more than");
    let long = "x".repeat(1000);
    is_refused(
        &format!("'{long}'.replace('x', '{long}').replace('x', '{long}').size() > 0"),
        "replace: a text has at most",
    );
    let parts = format!("lists.range(90000).map(x, '{long}').join('')");
    is_refused(&format!("{parts}.size() > 0"), "join: a text has at most");
}

#[test]
fn a_call_that_costs_too_much_does_not_run() {
    is_refused("lists.range(90000).distinct().size() > 0", "cost limit exceeded");
    is_refused("sets.intersects(lists.range(90000), lists.range(90000).map(x, -x - 1))", "cost limit exceeded");
}

#[test]
fn distant_quantities_are_compared_without_writing_all_digits() {
    let cases = [
        "quantity('1e999999999').isGreaterThan(quantity('999e999999'))",
        "quantity('-1e999999999').isLessThan(quantity('1'))",
        "quantity('-1e999999999').isLessThan(quantity('-1'))",
        "quantity('0e999999999').compareTo(quantity('0')) == 0",
        "quantity('1e999999999').compareTo(quantity('1000e999999996')) == 0",
        "quantity('10e999999997').isLessThan(quantity('1000e999999996'))",
        "!quantity('1e999999999').isInteger()",
        "quantity('1e-999999999').compareTo(quantity('1n')) == 0",
        "quantity('-1e-999999999').compareTo(quantity('-1n')) == 0",
    ];
    for source in cases {
        assert_eq!(evaluate(source), Ok("Bool(true)".to_owned()), "{source}");
    }
    is_refused("quantity('1e999999999').add(quantity('1')).isInteger()", "too far apart");
    is_refused("quantity('12345678901234567890e999999').isInteger()", "too far apart");
}

/// `int64Amount.Sub` negates a number in 64 bits, and a sum that does not fit 64 bits is no longer an integer.
#[test]
fn quantities_are_added_in_64_bits_as_in_go() {
    let smallest = "-9223372036854775808";
    let cases = [
        format!("quantity('1').sub({smallest}).asApproximateFloat() == -9223372036854775807.0"),
        format!("quantity('1').sub({smallest}).isInteger()"),
        format!("quantity('0').sub({smallest}).isLessThan(quantity('0'))"),
        format!("quantity('-1').sub({smallest}).isGreaterThan(quantity('0'))"),
        format!("!quantity('-1').sub({smallest}).isInteger()"),
        format!("quantity('1.5').sub({smallest}).isGreaterThan(quantity('0'))"),
        format!("!quantity('1e19').add({smallest}).isInteger()"),
    ];
    for source in cases {
        assert_eq!(evaluate(&source), Ok("Bool(true)".to_owned()), "{source}");
    }
}

/// Go names the sum of two lists `concatList`. Until 1.36, its items become plain Go values in an optional.
#[test]
fn lists_that_were_added_show_it() {
    let evaluate = |source: &str| {
        let program = Env::new(Release::nearest(36)).compile(source).unwrap().program().unwrap();
        program.evaluate([], u64::MAX).result.map(|value| format!("{value:?}"))
    };
    let error = "({})[[1] + [2]] == 1";
    assert!(evaluate(error).is_err_and(|text| text.contains("invalid qualifier type: *types.concatList")));
    let error = "optional.of(1).optMap(x, [ip('::1')] + [ip('::1')]).value()[0] == ip('::1')";
    assert!(evaluate(error).is_err_and(|text| text.contains("unsupported conversion to ref.Val: (netip.Addr)::1")));
    let cases = [
        "optional.of(1).optMap(x, [1] + [2]).value() == [1, 2]",
        "optional.of(1).optMap(x, [[ip('::1')]] + [[ip('::1')]]).value()[0][0] == ip('::1')",
        "dyn(optional.of(1).optMap(x, type(x)).value()) == 'int'",
    ];
    for source in cases {
        assert_eq!(evaluate(source), Ok("Bool(true)".to_owned()), "{source}");
    }
    // Every list appears twice in the next one.
    let twice = ".map(x, [x] + [x])".repeat(40);
    let error = evaluate(&format!("optional.of([[1] + [1]]{twice}[0]).optMap(x, x).hasValue()"));
    assert!(error.as_ref().is_err_and(|text| text.contains("makes more than")), "{error:?}");
}

#[test]
fn an_optional_keeps_what_it_holds_since_1_37() {
    for source in [
        "optional.of(1).optMap(x, [ip('::1')] + [ip('::1')]).value()[0] == ip('::1')",
        "dyn(optional.of(1).optMap(x, type(x)).value()) == int",
        "(true ? optional.of(optional.of(1)) : optional.none()).value().value() == 1",
    ] {
        assert_eq!(evaluate(source), Ok("Bool(true)".to_owned()), "{source}");
    }
    let twice = ".map(x, [x] + [x])".repeat(40);
    let held = format!("optional.of([[1] + [1]]{twice}[0]).optMap(x, x).hasValue()");
    assert_eq!(evaluate(&held), Ok("Bool(true)".to_owned()));
}

#[test]
fn precisions_have_a_limit() {
    is_refused("'%.1000000000f'.format([1.0]) == ''", "there are at most 100000");
    let source = "'%.100000f'.format([0.5]).size() == 100002 && '%.70000e'.format([1.0]).size() == 70000";
    assert_eq!(evaluate(source), Ok("Bool(true)".to_owned()));
}

#[test]
fn work_is_counted() {
    let steps = |source: &str| -> u64 {
        let program = Env::new(Release::NEWEST).compile(source).unwrap().program().unwrap();
        let Outcome { result, steps, .. } = program.evaluate([], u64::MAX);
        assert!(result.is_ok(), "{source}");
        steps
    };
    let one = steps("lists.range(1000).map(x, [x]) == lists.range(1000).map(x, [x])");
    let four = steps("lists.range(4000).map(x, [x]) == lists.range(4000).map(x, [x])");
    assert!(one > 1000 && four <= 4 * one, "{one} {four}");
}
