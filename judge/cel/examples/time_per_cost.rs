//! Prints the running time of functions in relation to their cost:
//! `cargo run --release -p kubeshape-cel --example time_per_cost`.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use kubeshape_cel::{Data, Env, Release, Type, Value};
use std::time::{Duration, Instant};

/// Expressions over a long string `s`, a long string of digits `d`, and a long list of strings `l`.
const CALLS: &[&str] = &[
    "size(s)",
    "s == s + ''",
    "s != d",
    "s < s + 'a'",
    "s + s",
    "s.contains('zz')",
    "s.startsWith(s)",
    "s.endsWith(s)",
    "s.matches('^(a|b)*$')",
    "s.matches('[^z]*z')",
    "s.find('z')",
    "s.findAll('ab')",
    "s.split('b')",
    "s.split('')",
    "s.replace('a', 'bb')",
    "s.substring(3)",
    "s.charAt(7)",
    "s.indexOf('z')",
    "s.lastIndexOf('z')",
    "s.lowerAscii()",
    "s.upperAscii()",
    "s.trim()",
    "s.reverse()",
    "strings.quote(s)",
    "'%s'.format([s])",
    "'%s'.format([l])",
    "bytes(s)",
    "string(bytes(s))",
    "base64.encode(bytes(s))",
    "base64.decode(base64.encode(bytes(s)))",
    "isURL(s)",
    "url('http://h/?' + s).getQuery()",
    "url('http://h/' + s).getEscapedPath()",
    "isIP(s)",
    "isCIDR(s)",
    "isQuantity(d)",
    "isSemver('1.2.3-' + s)",
    "format.dns1123Label().validate(s)",
    "format.uri().validate(s)",
    "format.dns1123Subdomain().validate(s)",
    "format.date().validate(s)",
    "format.byte().validate(s)",
    "format.labelValue().validate(s)",
    "format.uuid().validate(s)",
    "format.datetime().validate(s)",
    "format.qualifiedName().validate(s)",
    "l == l",
    "l + l",
    "l.isSorted()",
    "l.min()",
    "l.max()",
    "l.indexOf('zz')",
    "l.lastIndexOf('zz')",
    "'zz' in l",
    "l.join(',')",
    "l.all(x, x != 'zz')",
    "l.map(x, x)",
    "l.filter(x, x == 'a')",
    "l.exists_one(x, x == 'zz')",
    "sets.contains(l.slice(0, 100), l.slice(0, 100))",
    "sets.equivalent(l.slice(0, 90), l)",
    "sets.intersects(l.slice(0, 100), ['zz'])",
    "l.slice(1, 9)",
    "[l, l].flatten()",
    "l.slice(0, 300).distinct()",
    "l.slice(0, 300).sort()",
    "l.reverse()",
    "lists.range(10000)",
    "l.first()",
    "l.last()",
    "s.format([])",
    "l.sortBy(x, x)",
    "type(l)",
    "dyn(l) == dyn(l)",
    "string(s)",
    "l.transformList(i, v, v)",
];

/// An expression, its cost, its steps, and how long it runs.
fn measure(source: &str, size: usize) -> Option<(u64, u64, Duration)> {
    let list = Type::list(Type::String);
    let env = Env::new(Release::NEWEST).with_variable("s", Type::String).with_variable("d", Type::String);
    let program = env.with_variable("l", list).compile(source).ok()?.program().ok()?;
    let (s, d) = ("ab".repeat(size / 2), "7".repeat(size.min(900)));
    let items: Vec<Data<'_>> = (0..size / 64).map(|n| Data::string(format!("{n:08}"))).collect();
    let l = Data::List(items);
    let variables = || [("s", Value::text(s.as_str())), ("d", Value::text(d.as_str())), ("l", Value::from(&l))];
    let _ = program.evaluate(variables(), u64::MAX);
    let began = Instant::now();
    let outcome = program.evaluate(variables(), u64::MAX);
    Some((outcome.cost, outcome.steps, began.elapsed()))
}

fn main() {
    let mut rows = Vec::new();
    for source in CALLS {
        let Some((cost, steps, time)) = measure(source, 1 << 20) else {
            println!("not compiled: {source}");
            continue;
        };
        rows.push((
            time.as_secs_f64() * 1e9 / (cost as f64),
            time.as_secs_f64() * 1e9 / (steps.max(1) as f64),
            cost,
            steps,
            time,
            source,
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (per_cost, per_step, cost, steps, time, source) in rows {
        println!("{per_cost:>12.1} ns/cost {per_step:>10.1} ns/step {cost:>9} {steps:>9} {time:>12?} {source}");
    }
}
