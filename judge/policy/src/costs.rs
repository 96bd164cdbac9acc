//! What the expressions of policies can cost.
//!
//! A server does not estimate costs of policies: it creates them, and ends an evaluation that costs too much with an
//! error. The estimates are those of rules of definitions, with the types of the matched kinds.

use crate::environment::{BUDGET, CONDITION_BUDGET, MAX_CALL};
use crate::kinds::{Gvk, Kinds};
use crate::objects::{Form, PatchType, PolicySpec, text, webhooks};
use crate::typecheck::{Typed, environments};
use kubeshape_cel::admission::{Options, environment, with_variables};
use kubeshape_cel::{Ast, DeclType, Env, Language, Range, Sizes, Type};
use kubeshape_validate::Release;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum size of a value: a request has at most 3 MiB.
const MAX_SIZE: u64 = 3 * 1024 * 1024;
/// The bytes of expressions that are estimated for one object. Later expressions have no costs.
const MAX_WORK: usize = 4 << 20;
/// The number of estimates that find the largest size.
const ESTIMATES: usize = 24;

/// The cost of an expression of a policy, or of expressions with a common budget, for the matched kind with the highest
/// cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCost {
    /// `spec.validations[0].expression`, or `spec.validations` for all expressions that share a budget.
    pub path: String,
    /// Whether it is the cost of expressions that share a budget: theirs, and that of the variables that they use.
    pub is_shared: bool,
    /// The kind; `None` if the schemas of the matched kinds are not known.
    pub kind: Option<Gvk>,
    /// The lowest cost.
    pub least: u64,
    /// The highest cost for an object as large as a request can be; `None` if it is not less than `u64::MAX`.
    pub most: Option<u64>,
    /// The limit of the server.
    pub limit: u64,
    /// The cost is within the limit if strings, lists and maps have at most this many characters or entries. `None` if
    /// it is within the limit for every object.
    pub size: Option<u64>,
}

/// Returns the estimated costs of the expressions of a policy, and of the match conditions of webhooks. Expressions
/// that do not compile are left out. Estimates have a budget; the expressions after it are left out, too.
pub fn policy_costs(object: Value<'_>, kinds: &dyn Kinds, release: Release) -> Vec<PolicyCost> {
    let kind = text(object.get("kind"));
    let form = [Form::Validating, Form::Mutating].into_iter().find(|form| form.kind() == kind);
    let mut estimates = Estimates { views: Vec::new(), variables: Vec::new(), left: MAX_WORK, costs: Vec::new() };
    let Some(form) = form else {
        if kind.ends_with("WebhookConfiguration") {
            estimates.views = vec![View::untyped(&Options { has_authorizer: true, ..Options::new(release) })];
            for (index, webhook) in webhooks(object).iter().enumerate() {
                let of = webhook.conditions.iter().enumerate();
                let path = format!("webhooks[{index}].matchConditions");
                let conditions =
                    of.map(|(number, condition)| (format!("{path}[{number}].expression"), condition.expression));
                let conditions = conditions.collect();
                estimates.group(Group { path, limit: CONDITION_BUDGET, expressions: conditions });
            }
        }
        return estimates.costs;
    };
    let spec = PolicySpec::read(object, form);
    estimates.views = views(&spec, kinds, release);
    estimates.variables.clone_from(&spec.variables);
    for (index, (_, expression)) in spec.variables.iter().enumerate() {
        estimates.single(format!("spec.variables[{index}].expression"), expression);
    }
    for group in groups(&spec) {
        estimates.group(group);
    }
    estimates.costs
}

/// Expressions with a common budget.
struct Group<'a> {
    path: String,
    limit: i64,
    /// The expressions with their paths.
    expressions: Vec<(String, &'a str)>,
}

/// Returns the groups of a policy, in the order of evaluation.
fn groups<'a>(spec: &PolicySpec<'a>) -> Vec<Group<'a>> {
    let numbered = |path: &str, member: &str, expressions: Vec<&'a str>| {
        let of = expressions.into_iter().enumerate();
        of.map(|(index, expression)| (format!("{path}[{index}].{member}"), expression)).collect::<Vec<_>>()
    };
    let path = "spec.matchConditions";
    let conditions = spec.conditions.iter().map(|condition| condition.expression).collect();
    let conditions = numbered(path, "expression", conditions);
    let mut groups = vec![Group { path: path.to_owned(), limit: CONDITION_BUDGET, expressions: conditions }];
    let path = "spec.validations";
    let of = |get: fn(&crate::objects::Validation<'a>) -> &'a str| spec.validations.iter().map(get).collect();
    let mut validations = numbered(path, "expression", of(|validation| validation.expression));
    let messages = numbered(path, "messageExpression", of(|validation| validation.message_expression));
    validations.extend(messages.into_iter().filter(|(_, expression)| !expression.is_empty()));
    groups.push(Group { path: path.to_owned(), limit: BUDGET, expressions: validations });
    let path = "spec.auditAnnotations";
    let annotations = spec.audit_annotations.iter().map(|(_, expression)| *expression).collect();
    let annotations = numbered(path, "valueExpression", annotations);
    groups.push(Group { path: path.to_owned(), limit: BUDGET, expressions: annotations });
    for (index, mutation) in spec.mutations.iter().enumerate() {
        let path = format!("spec.mutations[{index}]");
        let member = match mutation.patch_type {
            PatchType::ApplyConfiguration => "applyConfiguration",
            PatchType::JsonPatch => "jsonPatch",
            PatchType::Unknown => continue,
        };
        let expressions = vec![(format!("{path}.{member}.expression"), mutation.expression)];
        groups.push(Group { path, limit: BUDGET, expressions });
    }
    groups
}

/// How expressions see objects of a kind.
struct View {
    kind: Option<Gvk>,
    env: Env,
    /// The environment for expressions that do not match the types of the kind. A server evaluates them, too.
    untyped: Env,
    sizes: KnownSizes,
}

impl View {
    fn untyped(options: &Options) -> View {
        let env = environment(options);
        View { kind: None, env: env.clone(), untyped: env, sizes: KnownSizes::default() }
    }

    fn compile(&self, expression: &str) -> Option<Ast> {
        self.env.compile(expression).or_else(|_| self.untyped.compile(expression)).ok()
    }
}

/// Returns a view for each known kind that the policy matches, or one without types.
fn views(spec: &PolicySpec<'_>, kinds: &dyn Kinds, release: Release) -> Vec<View> {
    let options = Options {
        has_params: spec.param_kind.is_some(),
        has_authorizer: true,
        ..Options::new(Language::from(release))
    };
    let with_patches = |env: Env| if spec.mutations.is_empty() { env } else { env.with_patches() };
    let types = spec.variables.iter().map(|(name, _)| ((*name).to_owned(), Type::Dyn)).collect();
    let untyped = with_patches(with_variables(environment(&options), &types));
    let mut views: Vec<View> = environments(spec, kinds, release)
        .into_iter()
        .map(|Typed { kind, declared, params, env }| View {
            kind: Some(kind),
            env: with_patches(env),
            untyped: untyped.clone(),
            sizes: KnownSizes { object: Some(declared), params },
        })
        .collect();
    if views.is_empty() {
        views.push(View { kind: None, env: untyped.clone(), untyped, sizes: KnownSizes::default() });
    }
    views
}

/// The sizes of values of the variables `object`, `oldObject` and `params`.
#[derive(Default)]
struct KnownSizes {
    object: Option<Arc<DeclType>>,
    params: Option<Arc<DeclType>>,
}

impl Sizes for KnownSizes {
    fn size(&self, path: &[&str], language: &Language) -> Option<Range> {
        let declared = match *path.first()? {
            "object" | "oldObject" => self.object.as_ref(),
            "params" => self.params.as_ref(),
            _ => None,
        };
        declared?.size(path, language)
    }
}

struct Estimates<'a> {
    views: Vec<View>,
    /// Names and expressions.
    variables: Vec<(&'a str, &'a str)>,
    /// The bytes of expressions that can still be estimated.
    left: usize,
    costs: Vec<PolicyCost>,
}

impl<'a> Estimates<'a> {
    /// Adds the costs of expressions, and their sum.
    fn group(&mut self, group: Group<'a>) {
        let mut expressions = self.used(&group.expressions);
        let is_shared = group.expressions.len() + expressions.len() > 1;
        for (path, expression) in group.expressions {
            self.single(path, expression);
            expressions.push(expression);
        }
        if is_shared {
            self.add(group.path, true, &expressions, u64::try_from(group.limit).unwrap_or(0));
        }
    }

    fn single(&mut self, path: String, expression: &str) {
        self.add(path, false, &[expression], MAX_CALL);
    }

    /// Returns the expressions of the variables that expressions use, directly or through other variables.
    fn used(&self, expressions: &[(String, &'a str)]) -> Vec<&'a str> {
        let known: BTreeMap<&str, &'a str> = self.variables.iter().copied().collect();
        let mut used = BTreeSet::new();
        let mut todo: Vec<&str> = expressions.iter().map(|(_, expression)| *expression).collect();
        while let Some(expression) = todo.pop() {
            for word in expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
                if let Some((name, expression)) = known.get_key_value(word)
                    && used.insert(*name)
                {
                    todo.push(expression);
                }
            }
        }
        used.into_iter().filter_map(|name| known.get(name).copied()).collect()
    }

    fn add(&mut self, path: String, is_shared: bool, expressions: &[&str], limit: u64) {
        let bytes: usize = expressions.iter().map(|expression| expression.len()).sum();
        let work = bytes.saturating_mul(self.views.len()).saturating_mul(ESTIMATES);
        let Some(left) = self.left.checked_sub(work) else { return };
        self.left = left;
        let compiled = self.views.iter().map(|view| {
            let asts: Option<Vec<Ast>> = expressions.iter().map(|expression| view.compile(expression)).collect();
            Some((view, asts?))
        });
        let Some(compiled) = compiled.collect::<Option<Vec<(&View, Vec<Ast>)>>>() else { return };
        let highest = |most: u64| {
            let cost = |(view, asts): &(&View, Vec<Ast>)| {
                let costs = asts.iter().map(|ast| ast.estimate_within(&view.sizes, most));
                costs.fold(Range::fixed(0), |sum, cost| Range {
                    min: sum.min.saturating_add(cost.min),
                    max: sum.max.saturating_add(cost.max),
                })
            };
            let of_views = compiled.iter().map(|known| (cost(known), known.0));
            of_views.reduce(|best, other| if other.0.max > best.0.max { other } else { best })
        };
        let size = largest(|size| highest(size).is_none_or(|(cost, _)| cost.max <= limit));
        let beyond = highest(size.map_or(MAX_SIZE, |size| size + 1));
        let (Some((all, _)), Some((_, view))) = (highest(MAX_SIZE), beyond) else { return };
        let most = (all.max < u64::MAX).then_some(all.max);
        self.costs.push(PolicyCost { path, is_shared, kind: view.kind.clone(), least: all.min, most, limit, size });
    }
}

/// Returns the largest size for which something is true that is not true for larger ones, or `None` if it is true for
/// every size.
fn largest(is_within: impl Fn(u64) -> bool) -> Option<u64> {
    if is_within(MAX_SIZE) {
        return None;
    }
    let (mut within, mut beyond) = (0, MAX_SIZE);
    while beyond - within > 1 {
        let middle = within + (beyond - within) / 2;
        if is_within(middle) {
            within = middle;
        } else {
            beyond = middle;
        }
    }
    Some(within)
}
