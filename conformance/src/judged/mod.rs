//! Area `judged`: what the Kubernetes libraries answer about generated expressions, definitions and objects, in the same
//! run. Before a difference is shown, its input is made as small as possible.

mod reduce;

use crate::generated::Plan;
use crate::known::Known;
use crate::oracle::{self, Oracle};
use crate::table::Table;
use kubeshape_conformance_cel as cel;
use kubeshape_corpus::generate::{Draw, expression};
use serde_json::Value;

/// How many differences of a kind of input are made small. Further ones are only counted.
const SHOWN: usize = 30;

/// Compares all of a plan.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn compare(plan: &Plan, known: Known) -> Result<Table, String> {
    let program = oracle::build()?;
    let mut table = Table::new("judged", known);
    let oracle = &mut Oracle::start(&program, &["expressions"])?;
    each(plan, plan.count, oracle, expression::request, &compare_expression, &mut table)?;
    Ok(table)
}

/// Generates inputs one by one, asks for the answer, compares, and makes the input of a difference small.
fn each(
    plan: &Plan,
    count: u64,
    oracle: &mut Oracle,
    mut generate: impl FnMut(&mut Draw) -> Value,
    compare: &dyn Fn(&str, &Value, &Value, &mut Table),
    table: &mut Table,
) -> Result<(), String> {
    let mut shown = 0;
    for n in 0..count {
        let seed = plan.seed.wrapping_add(n);
        let id = format!("seed {seed}");
        let input = generate(&mut Draw::new(seed));
        let mut trial = table.like();
        let answer: Value = oracle.ask(&id, &input)?;
        compare(&id, &input, &answer, &mut trial);
        if trial.objections() > 0 && shown < SHOWN {
            shown += 1;
            let rows = trial.failing_rows();
            let mut failure = None;
            let small = reduce::json(&input, &mut |smaller| {
                let mut again = table.like();
                match oracle.ask::<Value>(&id, smaller) {
                    Ok(answer) => compare(&id, smaller, &answer, &mut again),
                    Err(error) => failure = Some(error),
                }
                again.failing_rows().iter().any(|row| rows.contains(row))
            });
            if let Some(error) = failure {
                return Err(error);
            }
            let mut again = table.like();
            let answer: Value = oracle.ask(&id, &small)?;
            compare(&id, &small, &answer, &mut again);
            trial.append_to_differences(&format!("\n  made small: {}  {small}", again.differences()));
        }
        table.take(trial);
    }
    Ok(())
}

fn compare_expression(id: &str, _: &Value, answer: &Value, table: &mut Table) {
    let mut record = answer.clone();
    record["id"] = id.into();
    let mut compared = Vec::new();
    cel::expression(&mut compared, "expressions", &record);
    crate::cel::add(table, compared);
}
