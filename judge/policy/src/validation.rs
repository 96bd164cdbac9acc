//! Errors of policies, bindings and webhook configurations on creation: `pkg/apis/admissionregistration/validation` of
//! `k8s.io/kubernetes`.

use crate::environment::new_expressions;
use crate::objects::{Form, items, name, present, text, texts};
use kubeshape_cel::Env;
use kubeshape_cel::admission::{Compiled, Options, Returns, Variables, environment, with_variables};
use kubeshape_schema::field::{BadValue, Error, ErrorType};
use kubeshape_schema::names;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::BuiltInKind;
use kubeshape_value::{Map, Value};

/// The maximum number of match conditions.
const MAX_CONDITIONS: usize = 64;
/// The maximum number of audit annotations.
const MAX_ANNOTATIONS: usize = 20;
/// The longest expression of an audit annotation, in bytes.
const MAX_ANNOTATION: usize = 5 * 1024;

/// Returns the errors with which a server refuses to create a policy, a binding or a webhook configuration. The object
/// must be decoded, with defaults. Other objects have no errors.
pub fn errors(object: Value<'_>, release: Release) -> Vec<Error> {
    let kind = text(object.get("kind"));
    let mut found = Found::new(release);
    if let Some(known) = BuiltInKind::new("admissionregistration.k8s.io", kind, release) {
        found.all = known.errors(object, false);
    }
    found.object(object);
    found.all
}

/// Returns only the [errors](errors) about expressions that do not compile or have a wrong type. `old` is the replaced
/// object: its match conditions are not checked again (`ignoreMatchConditions`).
pub fn expression_errors(object: Value<'_>, old: Option<Value<'_>>, release: Release) -> Vec<Error> {
    if !text(object.get("apiVersion")).starts_with("admissionregistration.k8s.io/") {
        return Vec::new();
    }
    let mut found = Found::new(release);
    found.object(object);
    if old.is_some_and(|old| has_same_conditions(object, old)) {
        found.of_expressions.retain(|error| !error.path.contains("matchConditions["));
    }
    found.of_expressions
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

struct Found {
    all: Vec<Error>,
    /// The errors in `all` about the compilation of an expression.
    of_expressions: Vec<Error>,
    /// The CEL release for new expressions.
    release: kubeshape_cel::Release,
}

impl Found {
    fn new(release: Release) -> Found {
        Found { all: Vec::new(), of_expressions: Vec::new(), release: new_expressions(release) }
    }

    fn object(&mut self, object: Value<'_>) {
        let spec = object.get("spec").unwrap_or(Value::Null);
        match text(object.get("kind")) {
            "ValidatingAdmissionPolicy" => self.policy(object, spec, Form::Validating),
            "MutatingAdmissionPolicy" => self.policy(object, spec, Form::Mutating),
            "ValidatingAdmissionPolicyBinding" => self.binding(spec, Form::Validating),
            "MutatingAdmissionPolicyBinding" => self.binding(spec, Form::Mutating),
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => self.webhooks(object),
            _ => {}
        }
    }

    fn add(&mut self, error_type: ErrorType, path: String, value: BadValue, detail: impl Into<String>) {
        self.all.push(Error { error_type, path, value, detail: detail.into(), at: 0 });
    }

    fn required(&mut self, path: String, detail: &str) {
        self.add(ErrorType::Required, path, BadValue::Omitted, detail);
    }

    fn invalid(&mut self, path: String, value: &str, detail: impl Into<String>) {
        self.add(ErrorType::Invalid, path, BadValue::Text(value.to_owned()), detail);
    }

    fn invalid_value(&mut self, path: String, value: Option<Value<'_>>, detail: impl Into<String>) {
        let json = value.map(|value| value.to_string()).unwrap_or_default();
        self.add(ErrorType::Invalid, path, BadValue::Json(json), detail);
    }

    fn duplicate(&mut self, path: String, value: &str) {
        self.add(ErrorType::Duplicate, path, BadValue::Text(value.to_owned()), "");
    }

    fn messages(&mut self, path: &str, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid(path.to_owned(), value, message);
        }
    }

    fn one_of(&mut self, path: String, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
            let detail = format!("supported values: {}", supported.join(", "));
            self.add(ErrorType::NotSupported, path, BadValue::Text(value.to_owned()), detail);
        }
    }

    fn compiled(&mut self, path: String, value: &str, expression: &str, env: &Env, returns: Returns) {
        if let Err(error) = Compiled::new(expression, env, returns).program {
            if error.is_internal {
                self.add(ErrorType::Internal, path, BadValue::Omitted, error.detail);
            } else {
                self.invalid(path, value, error.detail);
            }
            self.of_expressions.extend(self.all.last().cloned());
        }
    }

    fn policy(&mut self, object: Value<'_>, spec: Value<'_>, form: Form) {
        if let Some(given) = spec.get("failurePolicy").and_then(Value::as_str) {
            self.one_of("spec.failurePolicy".to_owned(), given, &["Fail", "Ignore"]);
        }
        let param_kind = present(spec, "paramKind");
        if let Some(kind) = param_kind {
            self.param_kind(kind);
        }
        match present(spec, "matchConstraints") {
            None => self.required("spec.matchConstraints".to_owned(), ""),
            Some(constraints) => {
                self.matches(constraints, "spec.matchConstraints");
                if items(constraints.get("resourceRules")).is_empty() {
                    self.required("spec.matchConstraints.resourceRules".to_owned(), "");
                }
                if form == Form::Mutating {
                    self.mutating_operations(constraints, "spec.matchConstraints");
                }
            }
        }
        let options = Options { has_params: param_kind.is_some(), has_authorizer: true, ..Options::new(self.release) };
        let base = environment(options);
        self.conditions(spec.get("matchConditions"), "spec.matchConditions", &base);
        let declared = items(spec.get("variables"));
        let mut variables = Variables::default();
        for (index, variable) in declared.iter().enumerate() {
            let path = format!("spec.variables[{index}]");
            let (name, expression) = (text(variable.get("name")), text(variable.get("expression")));
            if name.trim().is_empty() {
                self.required(format!("{path}.name"), "name is not specified");
            } else if !kubeshape_cel::escape::is_identifier(name) {
                self.invalid(format!("{path}.name"), name, "must be a valid CEL identifier");
            }
            if expression.trim().is_empty() {
                self.required(format!("{path}.expression"), "expression is not specified");
                continue;
            }
            variables.add(name, expression, &base);
            let compiled = variables.compiled.get(name).map(|compiled| &compiled.program);
            if let Some(Err(error)) = compiled {
                let error = error.clone();
                self.invalid(format!("{path}.expression"), expression, error.detail);
                self.of_expressions.extend(self.all.last().cloned());
            }
        }
        let compose = |env: Env| {
            let is_composed = !declared.is_empty() || form == Form::Mutating;
            if is_composed { with_variables(env, &variables.types) } else { env }
        };
        let all = compose(base);
        match form {
            Form::Validating => {
                let without = compose(environment(Options { has_authorizer: false, ..options }));
                self.validations(object, spec, &all, &without);
            }
            Form::Mutating => self.mutations(spec, &all.with_patches()),
        }
    }

    fn validations(&mut self, object: Value<'_>, spec: Value<'_>, env: &Env, for_messages: &Env) {
        let (validations, annotations) = (items(spec.get("validations")), items(spec.get("auditAnnotations")));
        if validations.is_empty() && annotations.is_empty() {
            let detail = "validations or auditAnnotations must contain at least one item";
            self.required("spec.validations".to_owned(), detail);
            self.required("spec.auditAnnotations".to_owned(), detail);
        }
        for (index, validation) in validations.iter().enumerate() {
            let path = format!("spec.validations[{index}]");
            let member = |key: &str| text(validation.get(key));
            let expression = member("expression");
            if expression.trim().is_empty() {
                self.required(format!("{path}.expression"), "expression is not specified");
            } else {
                self.compiled(format!("{path}.expression"), expression, expression, env, Returns::Bool);
            }
            let message = member("messageExpression");
            if !message.is_empty() && message.trim().is_empty() {
                self.invalid(format!("{path}.messageExpression"), message, "must be non-empty if specified");
            } else if !message.is_empty() {
                self.compiled(format!("{path}.messageExpression"), message, message, for_messages, Returns::Text);
            }
            let message = member("message");
            if !message.is_empty() && message.trim().is_empty() {
                self.invalid(format!("{path}.message"), message, "must be non-empty if specified");
            } else if message.trim().contains(['\n', '\r']) {
                self.invalid(format!("{path}.message"), message, "must not contain line breaks");
            }
            if let Some(reason) = validation.get("reason").and_then(Value::as_str) {
                let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
                self.one_of(format!("{path}.reason"), reason, &reasons);
            }
        }
        if annotations.len() > MAX_ANNOTATIONS {
            let detail = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
            self.invalid_value("spec.auditAnnotations".to_owned(), spec.get("auditAnnotations"), detail);
        }
        let policy = name(object);
        let mut keys: Vec<&str> = Vec::new();
        for (index, annotation) in annotations.iter().enumerate() {
            let path = format!("spec.auditAnnotations[{index}]");
            let (key, given) = (text(annotation.get("key")), text(annotation.get("valueExpression")));
            if policy.is_empty() {
                self.invalid(format!("{path}.key"), key, "requires metadata.name be non-empty");
            } else {
                let full = format!("{policy}/{key}");
                self.messages(&format!("{path}.key"), &full, names::qualified_name(&full).into_iter().collect());
            }
            let (at, expression) = (format!("{path}.valueExpression"), given.trim());
            if expression.is_empty() {
                self.required(at, "valueExpression is not specified");
            } else if expression.len() > MAX_ANNOTATION {
                self.required(at, &format!("must not exceed {MAX_ANNOTATION} bytes in length"));
            } else {
                self.compiled(at, given, expression, env, Returns::TextOrNull);
            }
            if keys.contains(&key) {
                self.duplicate(format!("{path}.key"), key);
            }
            keys.push(key);
        }
    }

    fn mutations(&mut self, spec: Value<'_>, env: &Env) {
        let mutations = items(spec.get("mutations"));
        if mutations.is_empty() {
            self.required("spec.mutations".to_owned(), "mutations must contain at least one item");
        }
        for (index, mutation) in mutations.iter().enumerate() {
            let path = format!("spec.mutations[{index}]");
            let (own, other, returns) = match text(mutation.get("patchType")) {
                "" => {
                    self.required(format!("{path}.patchType"), "");
                    continue;
                }
                "JSONPatch" => ("jsonPatch", "applyConfiguration", Returns::Patches),
                "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", Returns::Object),
                unknown => {
                    self.one_of(format!("{path}.patchType"), unknown, &["ApplyConfiguration", "JSONPatch"]);
                    continue;
                }
            };
            let patch_type = text(mutation.get("patchType"));
            match present(*mutation, own) {
                None => {
                    self.required(
                        format!("{path}.{own}"),
                        &format!("must be specified when patchType is {patch_type}"),
                    );
                }
                Some(patch) => {
                    let expression = text(patch.get("expression")).trim();
                    let at = format!("{path}.{own}.expression");
                    if expression.is_empty() {
                        self.required(at, "");
                    } else {
                        self.compiled(at, expression, expression, env, returns);
                    }
                }
            }
            if present(*mutation, other).is_some() {
                let detail = format!("must not be specified when patchType is {patch_type}");
                self.invalid(format!("{path}.{other}"), &format!("{{{other}}}"), detail);
            }
        }
        match text(spec.get("reinvocationPolicy")) {
            "" => self.required("spec.reinvocationPolicy".to_owned(), ""),
            given => self.one_of("spec.reinvocationPolicy".to_owned(), given, &["IfNeeded", "Never"]),
        }
    }

    fn binding(&mut self, spec: Value<'_>, form: Form) {
        match text(spec.get("policyName")) {
            "" => self.required("spec.policyName".to_owned(), ""),
            name => {
                self.messages("spec.policyName", name, names::dns1123_subdomain(name).into_iter().collect());
            }
        }
        if let Some(param_ref) = present(spec, "paramRef") {
            self.param_ref(param_ref);
        }
        if let Some(matches) = present(spec, "matchResources") {
            self.matches(matches, "spec.matchResources");
            if form == Form::Mutating {
                self.mutating_operations(matches, "spec.matchResources");
            }
        }
        if form == Form::Validating {
            self.actions(spec);
        }
    }

    fn actions(&mut self, spec: Value<'_>) {
        let path = "spec.validationActions";
        let actions = texts(spec.get("validationActions"));
        for (index, action) in actions.iter().enumerate() {
            self.one_of(format!("{path}[{index}]"), action, &["Audit", "Deny", "Warn"]);
            if actions.get(..index).is_some_and(|before| before.contains(action)) {
                self.duplicate(format!("{path}[{index}]"), action);
            }
        }
        if actions.contains(&"Deny") && actions.contains(&"Warn") {
            let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the \
                          API response and headers serves no purpose)";
            self.invalid_value(path.to_owned(), spec.get("validationActions"), detail);
        }
        if actions.is_empty() {
            self.required(path.to_owned(), "at least one validation action is required");
        }
    }

    fn param_ref(&mut self, param_ref: Value<'_>) {
        let path = "spec.paramRef";
        let (name, selector) = (text(param_ref.get("name")), present(param_ref, "selector"));
        let both = !name.is_empty() && selector.is_some();
        if !name.is_empty() {
            self.messages(&format!("{path}.name"), name, names::path_segment(name, false).into_iter().collect());
        }
        if let Some(selector) = selector {
            self.selector(selector, &format!("{path}.selector"));
        }
        for member in ["name", "selector"] {
            if both {
                let at = format!("{path}.{member}");
                self.add(ErrorType::Forbidden, at, BadValue::Omitted, "name and selector are mutually exclusive");
            }
        }
        if name.is_empty() && selector.is_none() {
            self.required(path.to_owned(), "one of name or selector must be specified");
        }
        match text(param_ref.get("parameterNotFoundAction")) {
            "" => self.required(format!("{path}.parameterNotFoundAction"), ""),
            action => self.one_of(format!("{path}.parameterNotFoundAction"), action, &["Deny", "Allow"]),
        }
    }

    fn param_kind(&mut self, kind: Value<'_>) {
        let path = "spec.paramKind.apiVersion".to_owned();
        let api_version = text(kind.get("apiVersion"));
        let parts: Vec<&str> = api_version.split('/').collect();
        match parts.as_slice() {
            [""] => self.required(path, ""),
            [version] => self.version(path, version, api_version),
            [group, version] => {
                let messages: Vec<String> = names::dns1123_subdomain(group).into_iter().collect();
                if !group.is_empty() && !messages.is_empty() {
                    self.invalid(path.clone(), group, messages.join(","));
                }
                self.version(path, version, api_version);
            }
            _ => self.invalid(path, api_version, format!("unexpected GroupVersion string: {api_version}")),
        }
        let path = "spec.paramKind.kind".to_owned();
        match text(kind.get("kind")) {
            "" => self.required(path, ""),
            kind => {
                let messages: Vec<String> = names::dns1035_label(&kind.to_lowercase()).into_iter().collect();
                if !messages.is_empty() {
                    let detail = format!("may have mixed case, but should otherwise match: {}", messages.join(","));
                    self.invalid(path, kind, detail);
                }
            }
        }
    }

    fn version(&mut self, path: String, version: &str, api_version: &str) {
        let messages: Vec<String> = names::dns1035_label(version).into_iter().collect();
        if version.is_empty() {
            self.invalid(path, api_version, "version must be specified");
        } else if !messages.is_empty() {
            self.invalid(path, version, messages.join(","));
        }
    }

    fn mutating_operations(&mut self, matches: Value<'_>, path: &str) {
        for rule in items(matches.get("resourceRules")) {
            for operation in texts(rule.get("operations")) {
                let supported = ["*", "CONNECT", "CREATE", "UPDATE"];
                self.one_of(format!("{path}.resourceRules.operations"), operation, &supported);
            }
        }
    }

    fn matches(&mut self, matches: Value<'_>, path: &str) {
        if let Some(policy) = matches.get("matchPolicy").and_then(Value::as_str) {
            self.one_of(format!("{path}.matchPolicy"), policy, &["Equivalent", "Exact"]);
        }
        for key in ["namespaceSelector", "objectSelector"] {
            if let Some(selector) = present(matches, key) {
                self.selector(selector, &format!("{path}.{key}"));
            }
        }
        for key in ["resourceRules", "excludeResourceRules"] {
            for (index, rule) in items(matches.get(key)).iter().enumerate() {
                let path = format!("{path}.{key}[{index}]");
                let resource_names = texts(rule.get("resourceNames"));
                for (index, name) in resource_names.iter().enumerate() {
                    let at = format!("{path}.resourceNames[{index}]");
                    self.messages(&at, name, names::path_segment(name, false).into_iter().collect());
                    if resource_names.get(..index).is_some_and(|before| before.contains(name)) {
                        self.duplicate(at, name);
                    }
                }
                self.rule(*rule, &path);
            }
        }
    }

    /// Upstream: `validateRuleWithOperations`.
    fn rule(&mut self, rule: Value<'_>, path: &str) {
        const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        for (key, others) in
            [("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")]
        {
            let at = format!("{path}.{key}");
            let given = texts(rule.get(key));
            if given.is_empty() {
                self.required(at.clone(), "");
            }
            if given.len() > 1 && given.contains(&"*") {
                let detail = format!("if '*' is present, must not specify other {others}");
                self.invalid_value(at.clone(), rule.get(key), detail);
            }
            for (index, item) in given.iter().enumerate() {
                match key {
                    "operations" => self.one_of(format!("{at}[{index}]"), item, &OPERATIONS),
                    "apiVersions" if item.is_empty() => self.required(format!("{at}[{index}]"), ""),
                    _ => {}
                }
            }
        }
        self.resources(rule.get("resources"), &format!("{path}.resources"));
        if let Some(scope) = rule.get("scope").and_then(Value::as_str) {
            self.one_of(format!("{path}.scope"), scope, &["*", "Cluster", "Namespaced"]);
        }
    }

    fn resources(&mut self, given: Option<Value<'_>>, path: &str) {
        let resources = texts(given);
        if resources.is_empty() {
            self.required(path.to_owned(), "");
        }
        let (mut all_of, mut all_with): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut has_plain = false;
        for (index, resource) in resources.iter().enumerate() {
            let at = format!("{path}[{index}]");
            if resource.is_empty() {
                self.required(at, "");
                continue;
            }
            let Some((name, sub)) = resource.split_once('/') else {
                // The last one decides.
                has_plain = *resource != "*";
                continue;
            };
            if all_of.contains(&name) {
                self.invalid(at.clone(), resource, format!("if '{name}/*' is present, must not specify {resource}"));
            }
            if all_with.contains(&sub) {
                self.invalid(at, resource, format!("if '*/{sub}' is present, must not specify {resource}"));
            }
            if sub == "*" {
                all_of.push(name);
            }
            if name == "*" {
                all_with.push(sub);
            }
        }
        if resources.len() > 1 && resources.contains(&"*/*") {
            self.invalid_value(path.to_owned(), given, "if '*/*' is present, must not specify other resources");
        }
        if resources.contains(&"*") && has_plain {
            let detail = "if '*' is present, must not specify other resources without subresources";
            self.invalid_value(path.to_owned(), given, detail);
        }
    }

    /// Upstream: `ValidateLabelSelector`.
    fn selector(&mut self, selector: Value<'_>, path: &str) {
        for (key, value) in selector.get("matchLabels").and_then(Value::as_map).unwrap_or(Map::EMPTY).entries() {
            let at = format!("{path}.matchLabels");
            self.messages(&at, key, names::qualified_name(key).into_iter().collect());
            let value = value.as_str().unwrap_or_default();
            self.messages(&at, value, names::label_value(value).into_iter().collect());
        }
        for (index, item) in items(selector.get("matchExpressions")).iter().enumerate() {
            let at = format!("{path}.matchExpressions[{index}]");
            let (operator, values) = (text(item.get("operator")), texts(item.get("values")));
            match operator {
                "In" | "NotIn" if values.is_empty() => {
                    self.required(format!("{at}.values"), "must be specified when `operator` is 'In' or 'NotIn'");
                }
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    self.add(ErrorType::Forbidden, format!("{at}.values"), BadValue::Omitted, detail);
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                other => self.invalid(format!("{at}.operator"), other, "not a valid selector operator"),
            }
            let key = text(item.get("key"));
            self.messages(&format!("{at}.key"), key, names::qualified_name(key).into_iter().collect());
            for (index, value) in values.iter().enumerate() {
                let messages = names::label_value(value).into_iter().collect();
                self.messages(&format!("{at}.values[{index}]"), value, messages);
            }
        }
    }

    fn conditions(&mut self, given: Option<Value<'_>>, path: &str, env: &Env) {
        let conditions = items(given);
        if conditions.len() > MAX_CONDITIONS {
            let detail = format!("must have at most {MAX_CONDITIONS} items");
            self.add(ErrorType::TooMany, path.to_owned(), BadValue::Json(conditions.len().to_string()), detail);
        }
        let mut known: Vec<&str> = Vec::new();
        for (index, condition) in conditions.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let (name, expression) = (text(condition.get("name")), text(condition.get("expression")).trim());
            if expression.is_empty() {
                self.required(format!("{path}.expression"), "");
            } else {
                self.compiled(format!("{path}.expression"), expression, expression, env, Returns::Bool);
            }
            if name.is_empty() {
                self.required(format!("{path}.name"), "");
                continue;
            }
            self.messages(&format!("{path}.name"), name, names::qualified_name(name).into_iter().collect());
            if known.contains(&name) {
                self.duplicate(format!("{path}.name"), name);
            }
            known.push(name);
        }
    }

    /// Checks the rules, names and conditions of webhooks.
    fn webhooks(&mut self, object: Value<'_>) {
        let env = environment(Options { has_authorizer: true, ..Options::new(self.release) });
        let mut known: Vec<&str> = Vec::new();
        for (index, webhook) in items(object.get("webhooks")).iter().enumerate() {
            let path = format!("webhooks[{index}]");
            let name = text(webhook.get("name"));
            if name.is_empty() {
                self.required(format!("{path}.name"), "");
            } else if name.split('.').count() < 3 {
                let detail = "should be a domain with at least three segments separated by dots";
                self.invalid(format!("{path}.name"), name, detail);
            } else {
                let messages = names::dns1123_subdomain(name).into_iter().collect();
                self.messages(&format!("{path}.name"), name, messages);
            }
            if !name.is_empty() && known.contains(&name) {
                self.duplicate(format!("{path}.name"), name);
            }
            known.push(name);
            for (index, rule) in items(webhook.get("rules")).iter().enumerate() {
                self.rule(*rule, &format!("{path}.rules[{index}]"));
            }
            for (key, supported) in [("failurePolicy", ["Fail", "Ignore"]), ("matchPolicy", ["Equivalent", "Exact"])] {
                if let Some(given) = webhook.get(key).and_then(Value::as_str) {
                    self.one_of(format!("{path}.{key}"), given, &supported);
                }
            }
            match text(webhook.get("sideEffects")) {
                "" => self.required(format!("{path}.sideEffects"), "must specify one of None, NoneOnDryRun"),
                given => self.one_of(format!("{path}.sideEffects"), given, &["None", "NoneOnDryRun"]),
            }
            for key in ["namespaceSelector", "objectSelector"] {
                if let Some(selector) = present(*webhook, key) {
                    self.selector(selector, &format!("{path}.{key}"));
                }
            }
            let client = webhook.get("clientConfig").unwrap_or(Value::Null);
            if present(client, "url").is_some() == present(client, "service").is_some() {
                self.required(format!("{path}.clientConfig"), "exactly one of url or service is required");
            }
            self.conditions(webhook.get("matchConditions"), &format!("{path}.matchConditions"), &env);
            if items(webhook.get("admissionReviewVersions")).is_empty() {
                self.required(format!("{path}.admissionReviewVersions"), "must specify one of v1, v1beta1");
            }
        }
    }
}
