//! Errors of policies, bindings and webhook configurations on creation. `kubeshape-validate` has the rules
//! ([`admission_errors`]); the expressions are compiled here.

use crate::objects::{Form, items, present, text};
use kubeshape_cel::admission::{Compiled, Options, Returns, Variables, environment, with_variables};
use kubeshape_cel::{Env, Language};
use kubeshape_schema::field::{BadValue, Error, ErrorType};
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{BuiltInKind, MAX_ANNOTATION_EXPRESSION, admission_errors};
use kubeshape_value::Value;

const GROUP: &str = "admissionregistration.k8s.io";

/// Returns the errors with which a server refuses to create a policy, a binding or a webhook configuration. The object
/// must be decoded, with defaults. Other objects have no errors.
pub fn errors(object: Value<'_>, release: Release) -> Vec<Error> {
    let kind = BuiltInKind::new(GROUP, text(object.get("kind")), release);
    let mut all = Vec::new();
    if let Some(kind) = kind {
        all.extend(kind.errors(object, false));
        all.extend(admission_errors(object, &kind));
    }
    all.extend(Expressions::of(object, release));
    all
}

/// Returns only the [errors](errors) about expressions that do not compile or have a wrong type. `old` is the replaced
/// object: its match conditions are not checked again (`ignoreMatchConditions`).
pub fn expression_errors(object: Value<'_>, old: Option<Value<'_>>, release: Release) -> Vec<Error> {
    if text(object.get("apiVersion")).split_once('/').is_none_or(|(group, _)| group != GROUP) {
        return Vec::new();
    }
    let mut found = Expressions::of(object, release);
    if old.is_some_and(|old| has_same_conditions(object, old)) {
        found.retain(|error| !error.path.contains("matchConditions["));
    }
    found
}

/// Returns whether everything is unchanged that the match conditions of a policy, or of the webhooks of a
/// configuration, depend on.
fn has_same_conditions(object: Value<'_>, old: Value<'_>) -> bool {
    let conditions = |value: Value<'_>| value.get("matchConditions").map(|conditions| conditions.to_string());
    if let (Some(new), Some(old)) = (object.get("spec"), old.get("spec")) {
        let kind = |spec: Value<'_>| spec.get("paramKind").map(|kind| kind.to_string());
        return conditions(new) == conditions(old) && kind(new) == kind(old);
    }
    let of_webhooks = |object: Value<'_>| items(object.get("webhooks")).iter().map(|one| conditions(*one)).collect();
    let (new, old): (Vec<_>, Vec<_>) = (of_webhooks(object), of_webhooks(old));
    new == old
}

/// Compiles the expressions of an object.
struct Expressions {
    errors: Vec<Error>,
    /// The language of new expressions.
    language: Language,
}

impl Expressions {
    /// Returns the errors of all expressions. Empty ones are errors of other rules.
    fn of(object: Value<'_>, release: Release) -> Vec<Error> {
        let mut found = Expressions { errors: Vec::new(), language: Language::new_expressions(release) };
        let spec = object.get("spec").unwrap_or(Value::Null);
        match text(object.get("kind")) {
            "ValidatingAdmissionPolicy" => found.policy(spec, Form::Validating),
            "MutatingAdmissionPolicy" => found.policy(spec, Form::Mutating),
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => found.webhooks(object),
            _ => {}
        }
        found.errors
    }

    fn add(&mut self, error_type: ErrorType, path: String, value: BadValue, detail: String) {
        self.errors.push(Error { error_type, path, value, detail, at: 0 });
    }

    /// Compiles an expression that is not empty. Errors show `value`.
    fn compiled(&mut self, path: String, value: &str, expression: &str, env: &Env, returns: Returns) {
        if expression.trim().is_empty() {
            return;
        }
        if let Err(error) = Compiled::new(expression, env, returns).program {
            if error.is_internal {
                self.add(ErrorType::Internal, path, BadValue::Omitted, error.detail);
            } else {
                self.add(ErrorType::Invalid, path, BadValue::from(value), error.detail);
            }
        }
    }

    fn policy(&mut self, spec: Value<'_>, form: Form) {
        let has_params = present(spec, "paramKind").is_some();
        let options = Options { has_params, has_authorizer: true, ..Options::new(self.language.clone()) };
        let base = environment(&options);
        self.conditions(spec, "spec", &base);
        let declared = items(spec.get("variables"));
        let mut variables = Variables::default();
        for (index, variable) in declared.iter().enumerate() {
            let (name, expression) = (text(variable.get("name")), text(variable.get("expression")));
            if expression.trim().is_empty() {
                continue;
            }
            variables.add(name, expression, &base);
            if let Some(Err(error)) = variables.compiled.get(name).map(|compiled| &compiled.program) {
                let path = format!("spec.variables[{index}].expression");
                self.add(ErrorType::Invalid, path, BadValue::from(expression), error.detail.clone());
            }
        }
        let compose = |env: Env| {
            let is_composed = !declared.is_empty() || form == Form::Mutating;
            if is_composed { with_variables(env, &variables.types) } else { env }
        };
        let all = compose(base);
        match form {
            Form::Validating => {
                let without = compose(environment(&Options { has_authorizer: false, ..options }));
                self.validations(spec, &all, &without);
            }
            Form::Mutating => self.mutations(spec, &all.with_patches()),
        }
    }

    fn validations(&mut self, spec: Value<'_>, env: &Env, for_messages: &Env) {
        for (index, validation) in items(spec.get("validations")).iter().enumerate() {
            let path = format!("spec.validations[{index}]");
            for (member, env, returns) in
                [("expression", env, Returns::Bool), ("messageExpression", for_messages, Returns::Text)]
            {
                let expression = text(validation.get(member));
                self.compiled(format!("{path}.{member}"), expression, expression, env, returns);
            }
        }
        for (index, annotation) in items(spec.get("auditAnnotations")).iter().enumerate() {
            let given = text(annotation.get("valueExpression"));
            let expression = given.trim();
            if expression.len() <= MAX_ANNOTATION_EXPRESSION {
                let path = format!("spec.auditAnnotations[{index}].valueExpression");
                self.compiled(path, given, expression, env, Returns::TextOrNull);
            }
        }
    }

    fn mutations(&mut self, spec: Value<'_>, env: &Env) {
        for (index, mutation) in items(spec.get("mutations")).iter().enumerate() {
            let (member, returns) = match text(mutation.get("patchType")) {
                "JSONPatch" => ("jsonPatch", Returns::Patches),
                "ApplyConfiguration" => ("applyConfiguration", Returns::Object),
                _ => continue,
            };
            let expression = text(mutation.get(member).and_then(|patch| patch.get("expression"))).trim();
            self.compiled(format!("spec.mutations[{index}].{member}.expression"), expression, expression, env, returns);
        }
    }

    /// Compiles `matchConditions`.
    fn conditions(&mut self, owner: Value<'_>, path: &str, env: &Env) {
        for (index, condition) in items(owner.get("matchConditions")).iter().enumerate() {
            let expression = text(condition.get("expression")).trim();
            let path = format!("{path}.matchConditions[{index}].expression");
            self.compiled(path, expression, expression, env, Returns::Bool);
        }
    }

    fn webhooks(&mut self, object: Value<'_>) {
        let env = environment(&Options { has_authorizer: true, ..Options::new(self.language.clone()) });
        for (index, webhook) in items(object.get("webhooks")).iter().enumerate() {
            self.conditions(*webhook, &format!("webhooks[{index}]"), &env);
        }
    }
}
