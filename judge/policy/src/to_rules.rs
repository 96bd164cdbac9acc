//! Rules of a definition from admission policies: the way back of [`from_rules`](crate::from_rules).
//!
//! A policy sees `object` and `oldObject` without a schema, and the request. A rule at the root of a schema sees `self`
//! and `oldSelf` with the types of the schema, and nothing else.

use crate::evaluate::Policies;
use crate::from_rules::{MAX_EXPRESSION, MAX_POLICY, first_line, has_object, has_unordered_list, on_lines_of_its_own};
use crate::objects::{FailurePolicy, Form, Match, Rule, Validation};
use crate::policies::Policy;
use kubeshape_cel::admission::{Options, environment, with_variables};
use kubeshape_cel::{Ast, DeclType, Env, NeedsSchema, RuleEnv, Type as CelType};
use kubeshape_schema::{Code, Flags, Note};
use kubeshape_structural::{ApiVersion, Crd, Scope, Structural, Version, usable};
use kubeshape_validate::Release;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::{Escape, string};
use kubeshape_yaml::{Kind, Node, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// The type of the root of an object in messages of the CEL compiler.
const ROOT: &str = "selfType";

/// An entry of `x-kubernetes-validations` for the root of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRule {
    /// `rule`
    pub rule: String,
    /// `message`
    pub message: String,
    /// `messageExpression`; may be empty.
    pub message_expression: String,
    /// `reason`, if it is not the default.
    pub reason: Option<&'static str>,
    /// `optionalOldSelf`
    pub has_optional_old: bool,
}

/// The rules that policies give to the versions of a definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToRules<'a> {
    /// By version, in the order of the policies and of their validations.
    pub rules: BTreeMap<&'a str, Vec<NewRule>>,
    /// What rules say differently, or not at all. The locations are those of versions.
    pub notes: Vec<Note<'a>>,
}

/// Makes rules (`x-kubernetes-validations` of the root) of the ValidatingAdmissionPolicies that are about the versions
/// of a definition. A policy without a binding is used as if it were bound to all objects. All rules of a definition
/// have a budget of 3 MiB; what exceeds it is left out, with a note. Manifests of `v1beta1` get no rules.
///
/// Variables are replaced by their expressions. `oldObject`, which is null on creation, becomes `oldSelf`, which is
/// then missing (`optionalOldSelf`); in a policy about updates only, rules that use it are transition rules.
///
/// There are these differences, and each is a note:
/// - Validations that read the request, parameters, the namespace, permissions, or metadata other than names are left
///   out, and those that have other types with the schema.
/// - Policies that select objects or namespaces, or that deny nothing, are left out.
/// - Rules are also evaluated when the status subresource is written, and not for objects that do not change.
///
/// # Example
/// ```
/// # use kubeshape_policy::{Policies, Release, to_rules};
/// # use kubeshape_schema::Bump;
/// # use kubeshape_structural::read;
/// # use kubeshape_yaml::{Limits, Stream, Tape};
/// # let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
/// #   "metadata": {"name": "tabs.example.com"},
/// #   "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
/// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
/// #       "properties": {"size": {"type": "integer"}}}}}]}}"#;
/// # let mut tape = Tape::new();
/// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// # let arena = Bump::new();
/// # let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let made = to_rules(&Policies::default(), &crd, Release::NEWEST);
/// assert!(made.rules.is_empty());
/// assert_eq!(made.notes[0].detail, "no policy gives a rule to tabs.example.com");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn to_rules<'a>(policies: &Policies<'_>, crd: &Crd<'a>, release: Release) -> ToRules<'a> {
    let mut made = ToRules::default();
    let mut budget = Budget(MAX_POLICY);
    for version in crd.versions {
        // `print_with_rules` writes into the versions of `v1` manifests, which have schemas of their own.
        let schema = version.schema.filter(|_| crd.api_version == ApiVersion::V1);
        let Some(schema) = usable(schema, version.at).value else { continue };
        if add_version(policies, crd, version, schema, release, &mut budget, &mut made).is_err() {
            made.notes.push(Note::new(Code::PolicyExpression, version.at, "the definition would be too large"));
            break;
        }
    }
    if made.rules.is_empty() {
        let detail = format!("no policy gives a rule to {}.{}", crd.names.plural, crd.group);
        made.notes.push(Note::new(Code::PolicyUnused, crd.at, detail));
    }
    made
}

/// The bytes that are left for the rules of a definition, and for the work that finds them.
struct Budget(usize);

/// The budget is used up.
struct Spent;

impl Budget {
    /// What a policy or a validation costs in addition to its text.
    const EACH: usize = 64;

    fn take(&mut self, bytes: usize) -> Result<(), Spent> {
        self.0 = self.0.checked_sub(bytes + Self::EACH).ok_or(Spent)?;
        Ok(())
    }
}

/// Adds the rules of a version.
fn add_version<'a>(
    policies: &Policies<'_>,
    crd: &Crd<'a>,
    version: &Version<'a>,
    schema: Structural<'a>,
    release: Release,
    budget: &mut Budget,
    made: &mut ToRules<'a>,
) -> Result<(), Spent> {
    let Some(decl) = DeclType::of(schema.schema(), true) else { return Ok(()) };
    let env = RuleEnv::of_type(&Arc::new(decl), release, ROOT);
    let mut rules = Vec::new();
    for policy in policies.all() {
        budget.take(0)?;
        let Some(constraints) = &policy.spec.constraints else { continue };
        let mut notes = Vec::new();
        let requests = match requests(constraints, crd, version, &mut notes).and_then(|requests| match requests {
            Some(requests) => is_enforced(policy).map(|()| Some(requests)),
            None => Ok(None),
        }) {
            Ok(None) => continue,
            Ok(Some(requests)) => requests,
            Err(why) => {
                made.notes.push(note(Code::PolicySelects, version, policy, why));
                continue;
            }
        };
        made.notes.extend(notes.into_iter().map(|(code, what)| note(code, version, policy, what)));
        let mut maker = Maker::new(policy, schema.schema(), &env, requests, release);
        for (index, validation) in policy.spec.validations.iter().enumerate() {
            budget.take(validation.expression.len())?;
            let of = |detail: &str| format!("validations[{index}]: {detail}: {}", first_line(validation.expression));
            match maker.rule(validation, budget)? {
                Ok((rule, has_message)) => {
                    if !has_message {
                        let detail = of("the messageExpression cannot be a rule's");
                        made.notes.push(note(Code::PolicyAnswer, version, policy, &detail));
                    }
                    if matches!(validation.reason, Some(reason) if rule.reason.is_none() && reason != "Invalid") {
                        let detail = of("a rule does not have the reason");
                        made.notes.push(note(Code::PolicyAnswer, version, policy, &detail));
                    }
                    rules.push(rule);
                }
                Err(why) => made.notes.push(note(Code::PolicyExpression, version, policy, &of(&why))),
            }
        }
        if policy.spec.failure_policy == FailurePolicy::Ignore {
            let detail = "errors of its expressions are ignored (failurePolicy), and errors of rules are not";
            made.notes.push(note(Code::PolicyAnswer, version, policy, detail));
        }
        if !policy.spec.audit_annotations.is_empty() {
            made.notes.push(note(Code::PolicyAnswer, version, policy, "its audit annotations are left out"));
        }
    }
    if !rules.is_empty() {
        let status = if version.status { ", and when only the status is written" } else { "" };
        let detail = format!("rules are evaluated for objects that change{status}; a refusal has the code 422");
        made.notes.push(Note::new(Code::PolicyAnswer, version.at, detail));
        made.rules.insert(version.name, rules);
    }
    Ok(())
}

fn note<'a>(code: Code, version: &Version<'a>, policy: &Policy<'_>, what: &str) -> Note<'a> {
    Note::new(code, version.at, format!("{} {:?}: {what}", policy.spec.form.kind(), policy.spec.name))
}

/// The operations of a policy that a rule sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requests {
    Create,
    Update,
    Both,
}

/// Returns which requests of a version a policy is about; `None` if it is about other resources.
///
/// # Errors
/// The policy is about a part of the objects only, or about requests that rules do not see.
fn requests(
    constraints: &Match<'_>,
    crd: &Crd<'_>,
    version: &Version<'_>,
    notes: &mut Vec<(Code, &'static str)>,
) -> Result<Option<Requests>, &'static str> {
    let is_about = |rule: &&Rule<'_>| is_about(rule, crd);
    let rules: Vec<_> = constraints.rules.iter().filter(is_about).collect();
    let own: Vec<_> = rules.iter().filter(|rule| has(&rule.versions, version.name)).collect();
    if own.is_empty() {
        if !rules.is_empty() && !constraints.is_exact {
            return Err("it is about another version, to which a server converts objects of this one");
        }
        return Ok(None);
    }
    if own.iter().any(|rule| !rule.names.is_empty()) {
        return Err("it is about objects with certain names");
    }
    if is_selective(constraints.namespace_selector) || is_selective(constraints.object_selector) {
        return Err("it selects objects or namespaces by labels");
    }
    if constraints.excludes.iter().any(|rule| is_about(&rule) && has(&rule.versions, version.name)) {
        return Err("it excludes a part of the objects");
    }
    let sees = |operation| own.iter().any(|rule| has(&rule.operations, operation));
    if sees("DELETE") {
        notes.push((Code::PolicyExpression, "rules do not see that an object is deleted"));
    }
    match (sees("CREATE"), sees("UPDATE")) {
        (true, true) => Ok(Some(Requests::Both)),
        (true, false) => Ok(Some(Requests::Create)),
        (false, true) => Ok(Some(Requests::Update)),
        (false, false) => Err("it is about requests that rules do not see"),
    }
}

/// Returns whether a rule of `resourceRules` is about objects of the definition, in any version.
fn is_about(rule: &Rule<'_>, crd: &Crd<'_>) -> bool {
    let is_resource = ["*", "*/*", crd.names.plural].iter().any(|name| rule.resources.contains(name));
    let is_scope = match crd.scope {
        Scope::Namespaced => rule.scope != "Cluster",
        Scope::Cluster | Scope::Other => rule.scope != "Namespaced",
    };
    has(&rule.groups, crd.group) && is_resource && is_scope
}

/// Returns whether a list has a name, or `*` for all names.
fn has(list: &[&str], name: &str) -> bool {
    list.iter().any(|item| *item == "*" || *item == name)
}

/// Returns whether a label selector does not select everything.
fn is_selective(selector: Option<Value<'_>>) -> bool {
    let is_empty = |value: Value<'_>| value.as_map().is_none_or(kubeshape_value::Map::is_empty);
    selector.is_some_and(|selector| !is_empty(selector))
}

/// Returns whether the policy denies requests for all objects.
fn is_enforced(policy: &Policy<'_>) -> Result<(), &'static str> {
    if policy.spec.form == Form::Mutating {
        return Err("it changes objects");
    }
    let mut denying = policy.bindings.iter().filter(|binding| binding.actions.contains(&"Deny")).peekable();
    if policy.bindings.is_empty() {
        return Ok(());
    }
    if denying.peek().is_none() {
        return Err("none of its bindings denies requests");
    }
    let is_for_all = |matches: &Match<'_>| {
        let selects = is_selective(matches.namespace_selector) || is_selective(matches.object_selector);
        !selects && matches.rules.is_empty() && matches.excludes.is_empty()
    };
    if denying.any(|binding| binding.matches.as_ref().is_none_or(is_for_all)) {
        Ok(())
    } else {
        Err("its bindings are about a part of the objects")
    }
}

struct Maker<'m, 'p> {
    policy: &'m Policy<'p>,
    schema: &'m kubeshape_schema::Schema<'m>,
    env: &'m RuleEnv,
    /// The environment in which a server compiles the policy.
    policy_env: Env,
    requests: Requests,
    /// The variables that read the object before the change.
    old_variables: BTreeSet<&'p str>,
    /// The expressions of variables, as parts of rules, by whether the rule is a transition rule.
    variables: BTreeMap<(&'p str, bool), Result<String, String>>,
    /// What comes before and after an expression because of match conditions, by whether the rule is a transition rule.
    conditions: BTreeMap<bool, Result<(String, String), String>>,
}

impl<'m, 'p> Maker<'m, 'p> {
    fn new(
        policy: &'m Policy<'p>,
        schema: &'m kubeshape_schema::Schema<'m>,
        env: &'m RuleEnv,
        requests: Requests,
        release: Release,
    ) -> Maker<'m, 'p> {
        let has_params = policy.spec.param_kind.is_some();
        let options = Options { has_params, has_authorizer: true, ..Options::new(release) };
        let policy_env = with_variables(environment(&options), &policy.variables.types);
        let (old_variables, variables, conditions) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut maker = Maker { policy, schema, env, policy_env, requests, old_variables, variables, conditions };
        // Variables use only those above them.
        for (name, expression) in &policy.spec.variables {
            if maker.uses_old(expression) {
                maker.old_variables.insert(name);
            }
        }
        maker
    }

    /// Returns the rule of a validation, and whether it has the validation's message.
    fn rule(
        &mut self,
        validation: &Validation<'p>,
        budget: &mut Budget,
    ) -> Result<Result<(NewRule, bool), String>, Spent> {
        let uses_old = self.uses_old(validation.expression);
        let is_transition = self.requests == Requests::Update && uses_old;
        let rule = match self.whole(validation, is_transition) {
            Ok(rule) => rule,
            Err(why) => return Ok(Err(why)),
        };
        budget.take(rule.len() + validation.message.len() + validation.message_expression.len())?;
        let is_optional = !is_transition
            && (self.requests != Requests::Both
                || uses_old
                || self.policy.spec.conditions.iter().any(|condition| self.uses_old(condition.expression)));
        Ok(self.finished(validation, rule, is_transition, is_optional))
    }

    /// Returns the expression of a rule: match conditions, operations, and the validation.
    fn whole(&mut self, validation: &Validation<'p>, is_transition: bool) -> Result<String, String> {
        let rule = self.expression(validation.expression, is_transition)?;
        if !self.conditions.contains_key(&is_transition) {
            let around = self.around(is_transition);
            self.conditions.insert(is_transition, around);
        }
        let rule = match self.conditions.get(&is_transition) {
            Some(Ok((before, after))) if !before.is_empty() => {
                format!("{before}{}{after}", on_lines_of_its_own(&rule))
            }
            Some(Err(why)) => return Err(why.clone()),
            _ => rule,
        };
        let rule = match self.requests {
            Requests::Create => format!("oldSelf.hasValue() || ({})", on_lines_of_its_own(&rule)),
            Requests::Update if !is_transition => {
                format!("!oldSelf.hasValue() || ({})", on_lines_of_its_own(&rule))
            }
            Requests::Update | Requests::Both => rule,
        };
        within(&rule)?;
        Ok(rule)
    }

    /// Returns what comes before and after an expression because of match conditions.
    fn around(&mut self, is_transition: bool) -> Result<(String, String), String> {
        let (mut before, mut after) = (String::new(), String::new());
        let policy = self.policy;
        for condition in &policy.spec.conditions {
            let condition = self.expression(condition.expression, is_transition)?;
            let _ = write!(before, "({}) ? (", on_lines_of_its_own(&condition));
            after.push_str(") : true");
            within(&before)?;
        }
        Ok((before, after))
    }

    /// Checks the rule and adds its message.
    fn finished(
        &mut self,
        validation: &Validation<'p>,
        rule: String,
        is_transition: bool,
        has_optional_old: bool,
    ) -> Result<(NewRule, bool), String> {
        let checked = self.env.checked_rule(&rule, has_optional_old);
        let checked = checked.map_err(|error| format!("the rule does not compile: {}", reason(&error)))?;
        if is_transition && !checked.uses_old_self {
            return Err("the rule does not use the object before the change".to_owned());
        }
        self.is_same(checked.ast())?;
        let message = match validation.message {
            "" => format!("failed expression: {}", first_line(validation.expression)),
            message => message.trim().to_owned(),
        };
        let has_old = is_transition || has_optional_old;
        let message_expression = self.message(validation, is_transition, has_optional_old, has_old);
        let has_message = validation.message_expression.is_empty() || message_expression.is_some();
        let reason = match validation.reason {
            Some("Forbidden") => Some("FieldValueForbidden"),
            _ => None,
        };
        let message_expression = message_expression.unwrap_or_default();
        Ok((NewRule { rule, message, message_expression, reason, has_optional_old }, has_message))
    }

    /// Returns the message expression, if it has one that a rule can have.
    fn message(
        &mut self,
        validation: &Validation<'p>,
        is_transition: bool,
        has_optional_old: bool,
        has_old: bool,
    ) -> Option<String> {
        if validation.message_expression.is_empty() {
            return None;
        }
        let text = self.expression(validation.message_expression, is_transition).ok()?;
        let checked = self.env.checked_message(&text, has_optional_old).ok()?;
        (has_old || !checked.uses_old_self).then_some(())?;
        self.is_same(checked.ast()).ok()?;
        Some(text)
    }

    /// Returns whether an expression reads the object before the change, itself or by a variable.
    fn uses_old(&self, source: &str) -> bool {
        self.policy_env.compile(source).is_ok_and(|ast| {
            ast.uses("oldObject")
                || variables_of(source, &ast).iter().any(|(_, name)| self.old_variables.contains(name))
        })
    }

    fn declared(&self, name: &str) -> Option<(&'p str, &'p str)> {
        self.policy.spec.variables.iter().find(|(own, _)| *own == name).copied()
    }

    /// Returns an expression of the policy as a part of a rule.
    fn expression(&mut self, source: &str, is_transition: bool) -> Result<String, String> {
        let ast = self.policy_env.compile(source).map_err(|_| "the expression does not compile".to_owned())?;
        for name in ["request", "params", "namespaceObject", "authorizer"] {
            if ast.uses(name) {
                return Err(format!("the expression reads {name}"));
            }
        }
        if ["self", "oldSelf"].iter().any(|name| ast.binds(name)) {
            return Err("a macro of the expression declares a variable with the name of a rule's".to_owned());
        }
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (range, is_null) in ast.null_tests(source, "oldObject") {
            edits.push((
                range,
                match (is_transition, is_null) {
                    (true, is_null) => (!is_null).to_string(),
                    (false, true) => "!oldSelf.hasValue()".to_owned(),
                    (false, false) => "oldSelf.hasValue()".to_owned(),
                },
            ));
        }
        for range in ast.occurrences(source, "oldObject") {
            if edits.iter().any(|(edit, _)| edit.start <= range.start && range.end <= edit.end) {
                continue;
            }
            let is_opened = source[range.end..].trim_start().starts_with(['.', '[']);
            let value = match (is_transition, is_opened) {
                (true, _) => "oldSelf",
                (false, true) => "oldSelf.value()",
                (false, false) => "oldSelf.orValue(null)",
            };
            edits.push((range, value.to_owned()));
        }
        edits.extend(ast.occurrences(source, "object").into_iter().map(|range| (range, "self".to_owned())));
        for (range, name) in variables_of(source, &ast) {
            edits.push((range, self.variable(name, is_transition)?));
        }
        edits.sort_by_key(|(range, _)| range.start);
        let (mut out, mut from) = (String::new(), 0);
        for (range, value) in edits {
            out.push_str(source.get(from..range.start).unwrap_or_default());
            out.push_str(&value);
            within(&out)?;
            from = range.end;
        }
        out.push_str(source.get(from..).unwrap_or_default());
        within(&out)?;
        Ok(out.trim().to_owned())
    }

    /// Returns the expression of a variable in parentheses. Variables use only those above them, so this ends.
    fn variable(&mut self, name: &str, is_transition: bool) -> Result<String, String> {
        let Some((name, expression)) = self.declared(name) else {
            return Err(format!("the variable {name} is unknown"));
        };
        if let Some(known) = self.variables.get(&(name, is_transition)) {
            return known.clone();
        }
        // A variable that a server does not accept may use itself.
        self.variables.insert((name, is_transition), Err(format!("the variable {name} uses itself")));
        let made = self
            .expression(expression, is_transition)
            .map(|text| format!("({})", on_lines_of_its_own(&text)))
            .map_err(|why| format!("the variable {name}: {why}"));
        self.variables.insert((name, is_transition), made.clone());
        made
    }

    /// Returns whether the expression has the same value with the types of the schema.
    fn is_same(&self, ast: &Ast) -> Result<(), String> {
        match ast.needs_schema() {
            Some(NeedsSchema::EscapedName) => return Err("the rule reads a field whose name must be escaped".into()),
            Some(NeedsSchema::Type) => {
                return Err("the rule reads a value that has another type with the schema".into());
            }
            None => {}
        }
        let compared = ast.compared_containers();
        let is_partial = self.schema.subtree.any(Flags::PRESERVE_UNKNOWN.with(Flags::EMBEDDED_RESOURCE));
        let is_root = |ty: &&CelType| matches!(ty, CelType::Struct(name) if **name == *ROOT);
        if compared.iter().any(|ty| is_root(ty) || is_partial && has_object(ty)) {
            return Err("the rule compares objects of which a schema shows a part only".into());
        }
        if !compared.is_empty() && has_unordered_list(self.schema) {
            return Err("the rule compares lists whose order means nothing".into());
        }
        Ok(())
    }
}

/// The first line of an error, without its location.
fn reason(error: &kubeshape_cel::RuleError) -> String {
    match error.issues.as_ref().and_then(|issues| issues.issues().first()) {
        Some(issue) => issue.message.clone(),
        None => first_line(&error.detail).to_owned(),
    }
}

fn within(text: &str) -> Result<(), String> {
    if text.len() > MAX_EXPRESSION { Err("the rule would be too long".to_owned()) } else { Ok(()) }
}

/// Where an expression uses variables of the policy (`variables.NAME`), and which.
fn variables_of<'s>(source: &'s str, ast: &Ast) -> Vec<(Range<usize>, &'s str)> {
    let name_after = |range: Range<usize>| {
        let rest = source[range.end..].trim_start().strip_prefix('.')?.trim_start();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let start = source.len() - rest.len();
        Some((range.start..start + length, &rest[..length]))
    };
    ast.occurrences(source, "variables").into_iter().filter_map(name_after).collect()
}

impl NewRule {
    /// Writes the rule as JSON.
    pub fn print(&self, out: &mut Vec<u8>) {
        let mut member = |name: &str, value: &str| {
            out.extend_from_slice(name.as_bytes());
            string(out, value, Escape::Plain);
        };
        member(r#"{"rule":"#, &self.rule);
        member(r#","message":"#, &self.message);
        if !self.message_expression.is_empty() {
            member(r#","messageExpression":"#, &self.message_expression);
        }
        if let Some(reason) = self.reason {
            member(r#","reason":"#, reason);
        }
        out.extend_from_slice(if self.has_optional_old { br#","optionalOldSelf":true}"# } else { b"}" });
    }
}

/// Writes a definition as JSON, with rules added to the roots of the schemas of its versions. Members keep their order.
///
/// `definition` is the manifest (`apiextensions.k8s.io/v1`). Versions without a schema stay as they are.
pub fn print_with_rules(definition: Node<'_>, rules: &BTreeMap<&str, Vec<NewRule>>, out: &mut Vec<u8>) {
    object(definition, out, |spec| spec == "spec", &mut |spec, out| {
        object(spec, out, |key| key == "versions", &mut |versions, out| {
            list(versions, out, &mut |version, out| {
                let name = version.get("name").and_then(Node::as_str).unwrap_or_default();
                match rules.get(name).filter(|rules| !rules.is_empty()) {
                    Some(rules) => object(version, out, |key| key == "schema", &mut |schema, out| {
                        object(schema, out, |key| key == "openAPIV3Schema", &mut |root, out| {
                            with_rules(root, rules, out);
                        });
                    }),
                    None => json::write(version, out, AS_WRITTEN),
                }
            });
        });
    });
}

/// Members stay in their order.
const AS_WRITTEN: json::Options = json::Options { sorted: false, escape_html: false };

/// Writes an object; `inner` writes the values of the members that `is_inner` names.
fn object(
    node: Node<'_>,
    out: &mut Vec<u8>,
    is_inner: fn(&str) -> bool,
    inner: &mut dyn FnMut(Node<'_>, &mut Vec<u8>),
) {
    if node.kind() != Kind::Map {
        return json::write(node, out, AS_WRITTEN);
    }
    out.push(b'{');
    for (number, (key, value)) in node.pairs().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        json::write_str(key.text(), out, false);
        out.push(b':');
        if is_inner(key.text()) {
            inner(value, out);
        } else {
            json::write(value, out, AS_WRITTEN);
        }
    }
    out.push(b'}');
}

/// Writes a list; `item` writes its items.
fn list(node: Node<'_>, out: &mut Vec<u8>, item: &mut dyn FnMut(Node<'_>, &mut Vec<u8>)) {
    if node.kind() != Kind::Seq {
        return json::write(node, out, AS_WRITTEN);
    }
    out.push(b'[');
    for (number, node) in node.items().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        item(node, out);
    }
    out.push(b']');
}

/// Writes a schema with further rules at its root.
fn with_rules(root: Node<'_>, rules: &[NewRule], out: &mut Vec<u8>) {
    const RULES: &str = "x-kubernetes-validations";
    let add = |is_first: bool, out: &mut Vec<u8>| {
        for (number, rule) in rules.iter().enumerate() {
            if number > 0 || !is_first {
                out.push(b',');
            }
            rule.print(out);
        }
    };
    let mut has_rules = false;
    object(root, out, |key| key == RULES, &mut |own, out| {
        has_rules = true;
        out.push(b'[');
        // null is no rule. A definition with another value is not read.
        let mut is_first = true;
        for rule in own.items() {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            json::write(rule, out, AS_WRITTEN);
        }
        add(is_first, out);
        out.push(b']');
    });
    if !has_rules && out.pop_if(|byte| *byte == b'}').is_some() {
        if !root.is_empty() {
            out.push(b',');
        }
        json::write_str(RULES, out, false);
        out.extend_from_slice(b":[");
        add(true, out);
        out.extend_from_slice(b"]}");
    }
}
