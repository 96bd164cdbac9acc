//! What servers say of definitions: which releases install them, and what their rules cost.

use crate::Session;
use crate::session::finding;
use kubeshape::input::{Document, Finding, Limits};
use kubeshape::schema::Bump;
use kubeshape::validate::Release;
use kubeshape::validate::crd::ExpressionCost;
use kubeshape_check::{Check, Releases, Report};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What upstream lets a rule cost (`StaticEstimatedCostLimit`).
pub(crate) use kubeshape::validate::crd::RULE_COST_LIMIT;

/// Some releases, and the costs of expressions in them with their pointers.
pub(crate) type CostsOf = (Vec<Release>, Vec<(String, ExpressionCost)>);

/// What the releases say of one definition.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) report: Report,
    pub(crate) findings: Vec<Finding>,
    pub(crate) verdict: String,
    /// The costs by the releases in which they are the same, each with the pointer of `x-kubernetes-validations`.
    pub(crate) costs: Vec<CostsOf>,
    index: Index,
}

/// Where the findings of a definition are, and the costs of its rules in the newest release: by the pointers in the
/// definition. Kinds of thousands of versions share it.
#[derive(Debug, Default)]
struct Index {
    findings: BTreeMap<String, Vec<usize>>,
    /// By the pointer of the schema that has the rules, and the number of the rule.
    costs: BTreeMap<String, BTreeMap<usize, usize>>,
}

impl Index {
    fn of(findings: &[Finding], costs: &[CostsOf]) -> Index {
        let mut out = Index::default();
        for (number, finding) in findings.iter().enumerate() {
            if let Some(at) = &finding.pointer {
                out.findings.entry(at.clone()).or_default().push(number);
            }
        }
        for (number, (at, cost)) in costs.last().into_iter().flat_map(|(_, costs)| costs).enumerate() {
            let schema = at.strip_suffix(RULES).unwrap_or(at);
            let rule = cost.path.strip_suffix("].rule").and_then(|path| path.rsplit_once('[')?.1.parse().ok());
            if let Some(rule) = rule {
                out.costs.entry(schema.to_owned()).or_default().entry(rule).or_insert(number);
            }
        }
        out
    }
}

/// The keyword of rules, in a pointer.
const RULES: &str = "/x-kubernetes-validations";

impl Checked {
    /// Returns the findings about the schema at a pointer or about a keyword of it, in their order. Adds the findings
    /// that were looked at to `steps`.
    pub(crate) fn about(&self, schema: &str, steps: &mut usize) -> Vec<&Finding> {
        // `0` follows `/`, so this is what has the pointer and a slash in front.
        let below = self.index.findings.range(format!("{schema}/")..format!("{schema}0"));
        let own = self.index.findings.get_key_value(schema);
        let mut numbers = Vec::new();
        for (at, found) in own.into_iter().chain(below) {
            *steps += 1;
            if is_about(at, schema) {
                numbers.extend(found);
            }
        }
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number: usize| self.findings.get(number)).collect()
    }

    /// Returns what a rule costs in the newest release, by the pointer of its schema and its number.
    pub(crate) fn cost(&self, schema: &str, rule: usize) -> Option<Value> {
        let number = self.index.costs.get(schema)?.get(&rule)?;
        let (_, costs) = self.costs.last()?;
        costs.get(*number).map(|(at, cost)| of_cost(at, cost))
    }
}

/// Returns whether a place is the schema at a pointer or a keyword of it, as opposed to something below.
pub(crate) fn is_about(at: &str, schema: &str) -> bool {
    let Some(rest) = at.strip_prefix(schema) else { return false };
    let below = ["/properties/", "/items", "/additionalProperties"];
    rest.is_empty() || rest.starts_with('/') && !below.iter().any(|part| rest.contains(part))
}

/// The definitions of a text, checked.
pub(crate) fn check(name: &str, text: &[u8], releases: Releases) -> (Vec<Checked>, Vec<Finding>) {
    let input = kubeshape::input::read(name, text, Limits::default());
    let out = input.documents.iter().flat_map(|document| check_document(document, releases)).collect();
    (out, input.findings)
}

fn check_document(document: &Document, releases: Releases) -> Vec<Checked> {
    let check = Check::new(releases).with_advice(true).with_costs(true);
    let one = |manifest: kubeshape::structural::read::Manifest<'_>| {
        let report = check.definition(manifest, &Bump::new());
        let mut resolver = document.resolver().within(manifest.node);
        let findings = report.problems.iter().map(|problem| {
            let mut finding = resolver.finding(&problem.note);
            if problem.advice.is_some() {
                finding.advice.clone_from(&problem.advice);
            }
            if let Some(part) = &problem.part {
                resolver.mark(&mut finding, part.source.clone());
                if let Some(message) = &part.message {
                    finding.detail.clone_from(message);
                }
            }
            if let Some(releases) = problem.where_from(report.asked) {
                finding.releases = problem.releases.iter().map(ToString::to_string).collect();
                finding.notes.push(format!("on Kubernetes {releases}"));
            }
            finding
        });
        let findings: Vec<Finding> = findings.collect();
        let verdict =
            report.verdict(|at| resolver.place(at).map_or_else(String::new, |place| format!("line {}", place.line)));
        let costs = report.costs.iter().map(|costs| {
            let each = costs.expressions.iter().map(|cost| (document.pointer(cost.at), cost.clone()));
            (costs.releases.clone(), each.collect())
        });
        let costs: Vec<CostsOf> = costs.collect();
        let index = Index::of(&findings, &costs);
        Checked { name: report.name.clone(), findings, verdict, costs, report, index }
    };
    document.manifests().0.into_iter().map(one).collect()
}

impl Session {
    /// Returns which releases install the definitions of an input, with findings and costs of rules.
    pub fn check(&self, name: &str, releases: &str) -> Value {
        let Some(text) = self.texts.get(name) else { return json!({ "error": format!("there is no input {name}") }) };
        let releases = match releases.parse::<Releases>() {
            Ok(releases) => releases,
            Err(error) => return json!({ "error": error.to_string() }),
        };
        let (checked, found) = check(name, text, releases);
        let definitions: Value = checked.iter().map(of_definition).collect();
        json!({ "definitions": definitions, "findings": crate::session::findings(&found) })
    }
}

fn of_definition(checked: &Checked) -> Value {
    let answers = checked.report.answers.iter().map(|answer| {
        json!({
            "release": answer.release.to_string(),
            "accepted": answer.accepts(),
            "errors": answer.errors,
            "warnings": answer.warnings,
        })
    });
    json!({
        "name": checked.name,
        "verdict": checked.verdict,
        "accepted": checked.report.is_accepted(),
        "releases": answers.collect::<Value>(),
        "findings": checked.findings.iter().map(finding).collect::<Value>(),
        "costs": checked.costs.iter().map(|(releases, costs)| json!({
            "releases": releases.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "expressions": costs.iter().map(|(pointer, cost)| of_cost(pointer, cost)).collect::<Value>(),
        })).collect::<Value>(),
    })
}

/// What a rule costs, with its part of what a rule may cost.
pub(crate) fn of_cost(pointer: &str, cost: &ExpressionCost) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a length on the screen")]
    let share = cost.total() as f64 / RULE_COST_LIMIT as f64;
    json!({
        "pointer": pointer,
        "path": cost.path,
        "each": cost.each,
        "times": cost.times,
        "total": cost.total(),
        "bounded": cost.bounded,
        "limit": RULE_COST_LIMIT,
        "share": share,
    })
}
