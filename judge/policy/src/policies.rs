//! Compiled policies.

use crate::environment::{Bindings, CONDITION_BUDGET, Group, OUT_OF_BUDGET};
use crate::objects::{BindingSpec, Condition, FailurePolicy, Form, PatchType, PolicySpec, Webhook};
use kubeshape_cel::admission::{Compiled, Options, Returns, Variables, environment, with_variables};
use kubeshape_validate::Release;

/// A policy with its bindings.
#[derive(Debug)]
pub(crate) struct Policy<'a> {
    pub(crate) spec: PolicySpec<'a>,
    pub(crate) bindings: Vec<BindingSpec<'a>>,
    pub(crate) variables: Variables<'a>,
    pub(crate) conditions: Conditions<'a>,
    pub(crate) validations: Vec<Compiled<'a>>,
    /// The message expression of each validation, if it has one.
    pub(crate) messages: Vec<Option<Compiled<'a>>>,
    pub(crate) audit_annotations: Vec<Compiled<'a>>,
    pub(crate) mutations: Vec<Compiled<'a>>,
}

impl<'a> Policy<'a> {
    pub(crate) fn new(spec: PolicySpec<'a>, release: Release) -> Policy<'a> {
        let has_params = spec.param_kind.is_some();
        let options = Options { has_params, has_authorizer: true, ..Options::new(release) };
        let base = environment(&options);
        let variables = Variables::new(&spec.variables, &base);
        let all = with_variables(base, &variables.types);
        let without_authorizer = || {
            let base = environment(&Options { has_authorizer: false, ..options });
            with_variables(base, &variables.types)
        };
        let messages = if spec.validations.iter().any(|validation| !validation.message_expression.is_empty()) {
            let env = without_authorizer();
            spec.validations
                .iter()
                .map(|validation| validation.message_expression)
                .map(|text| (!text.is_empty()).then(|| Compiled::new(text, &env, Returns::Text)))
                .collect()
        } else {
            Vec::new()
        };
        let mutations = if spec.mutations.is_empty() {
            Vec::new()
        } else {
            let env = all.clone().with_patches();
            let returns = |patch_type| match patch_type {
                PatchType::JsonPatch => Returns::Patches,
                PatchType::ApplyConfiguration | PatchType::Unknown => Returns::Object,
            };
            spec.mutations
                .iter()
                .map(|mutation| Compiled::new(mutation.expression, &env, returns(mutation.patch_type)))
                .collect()
        };
        Policy {
            conditions: Conditions::new(&spec.conditions, &all, spec.failure_policy),
            validations: spec
                .validations
                .iter()
                .map(|validation| Compiled::new(validation.expression, &all, Returns::Bool))
                .collect(),
            audit_annotations: spec
                .audit_annotations
                .iter()
                .map(|(_, expression)| Compiled::new(expression, &all, Returns::TextOrNull))
                .collect(),
            messages,
            mutations,
            variables,
            bindings: Vec::new(),
            spec,
        }
    }

    pub(crate) fn is(&self, form: Form) -> bool {
        self.spec.form == form
    }
}

/// A webhook with its conditions.
#[derive(Debug)]
pub(crate) struct CompiledWebhook<'a> {
    pub(crate) webhook: Webhook<'a>,
    pub(crate) conditions: Conditions<'a>,
}

impl<'a> CompiledWebhook<'a> {
    pub(crate) fn new(webhook: Webhook<'a>, release: Release) -> CompiledWebhook<'a> {
        let env = environment(&Options { has_authorizer: true, ..Options::new(release) });
        let conditions = Conditions::new(&webhook.conditions, &env, webhook.failure_policy);
        CompiledWebhook { webhook, conditions }
    }
}

/// Match conditions.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    names: Vec<&'a str>,
    compiled: Vec<Compiled<'a>>,
    failure_policy: FailurePolicy,
}

/// The result of match conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditional {
    /// Whether the request matches.
    pub matches: bool,
    /// The name of the first condition that is false.
    pub failed: Option<String>,
    /// The error.
    pub error: Option<String>,
    /// The cost; `None` if they cost too much.
    pub cost: Option<i64>,
}

impl<'a> Conditions<'a> {
    fn new(conditions: &[Condition<'a>], env: &kubeshape_cel::Env, failure_policy: FailurePolicy) -> Conditions<'a> {
        Conditions {
            names: conditions.iter().map(|condition| condition.name).collect(),
            compiled: conditions
                .iter()
                .map(|condition| Compiled::new(condition.expression, env, Returns::Bool))
                .collect(),
            failure_policy,
        }
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// Evaluates the conditions; `None` if there are none (`matcher.Match`).
    pub(crate) fn evaluate(
        &'a self,
        bindings: &Bindings<'a>,
        variables: Option<&'a Variables<'a>>,
    ) -> Option<Conditional> {
        if self.compiled.is_empty() {
            return None;
        }
        let mut group = Group::new(bindings, variables, CONDITION_BUDGET);
        let mut errors: Vec<String> = Vec::new();
        let mut failed = None;
        let mut cost = None;
        let outcomes: Result<Vec<_>, _> = self.compiled.iter().map(|compiled| group.evaluate(compiled)).collect();
        match outcomes {
            Err(_) => errors.push(OUT_OF_BUDGET.to_owned()),
            Ok(outcomes) => {
                cost = Some(CONDITION_BUDGET - group.budget);
                for (name, outcome) in self.names.iter().zip(outcomes) {
                    match outcome {
                        Err(error) if !errors.contains(&error) => errors.push(error),
                        Ok(kubeshape_cel::Value::Bool(false)) if failed.is_none() => failed = Some((*name).to_owned()),
                        _ => {}
                    }
                }
            }
        }
        if failed.is_some() {
            return Some(Conditional { matches: false, failed, error: None, cost });
        }
        let error = match errors.as_slice() {
            [] => return Some(Conditional { matches: true, failed, error: None, cost }),
            [one] => one.clone(),
            more => format!("[{}]", more.join(", ")),
        };
        let error = (self.failure_policy == FailurePolicy::Fail).then_some(error);
        Some(Conditional { matches: false, failed, error, cost })
    }
}
