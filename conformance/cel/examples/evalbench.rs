use kubeshape_cel::{Env, Type, Value};
use kubeshape_conformance_cel as records;
use serde_json::Value as Json;
use std::hint::black_box;
use std::time::Instant;
fn best(times: u32, rounds: u32, mut what: impl FnMut()) -> f64 {
    let mut b = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        (0..times).for_each(|_| what());
        b = b.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(times));
    }
    b
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rounds: u32 = args.get(2).map_or(7, |a| a.parse().unwrap());
    let times: u32 = args.get(3).map_or(50, |a| a.parse().unwrap());
    let every: usize = args.get(4).map_or(1, |a| a.parse().unwrap());
    let compiles = args.get(5).is_some();
    let all: Vec<Json> = records::records(std::path::Path::new(&args[1]));
    let (mut sum, mut n, mut csum) = (0.0, 0, 0.0);
    for record in all.iter().filter(|r| r.get("value").is_some()).step_by(every) {
        let mut f = || -> Option<()> {
            let source = record["expr"].as_str()?;
            let mut env = Env::new(records::recorded_release());
            for (name, ty) in record.get("vars").and_then(Json::as_object).into_iter().flatten() {
                env = env.with_variable(name, Type::parse(ty.as_str()?)?);
            }
            let program = env.compile(source).ok()?.program().ok()?;
            let bindings: Vec<(&str, Value<'_>)> = record
                .get("bindings")
                .and_then(Json::as_object)
                .into_iter()
                .flatten()
                .map(|(name, value)| Some((name.as_str(), records::read(value)?)))
                .collect::<Option<_>>()?;
            program.evaluate(bindings.iter().cloned(), 1_000_000).result.ok()?;
            let t = best(times, rounds, || drop(black_box(program.evaluate(bindings.iter().cloned(), 1_000_000))));
            let c = if compiles {
                best(5, rounds, || drop(black_box(env.compile(source).unwrap().program().ok())))
            } else {
                0.0
            };
            sum += t;
            csum += c;
            n += 1;
            println!("{:.3}\t{:.3}\t{}", t, c, source.replace('\n', " "));
            Some(())
        };
        let _ = f();
    }
    eprintln!("{n} expressions, {:.3} µs evaluate, {:.3} compile", sum / f64::from(n), csum / f64::from(n));
}
