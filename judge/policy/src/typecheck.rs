//! Checks expressions with the types of the kinds that a policy matches: `validating.TypeChecker`.

use crate::kinds::{Gvk, Gvr, Kinds};
use crate::objects::{Form, PolicySpec, text};
use kubeshape_cel::admission::{Options, kept_type, with_types, with_variables, with_variables_of};
use kubeshape_cel::{DeclType, Env, Type};
use kubeshape_validate::Release;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of checked kinds of one rule.
const MAX_KINDS: usize = 10;

/// The maximum number of compilations. Later expressions are not checked. Upstream has no such bound.
const MAX_COMPILED: usize = 10_000;

/// An entry of `status.typeChecking.expressionWarnings`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeWarning {
    /// `spec.validations[0].expression`
    pub field: String,
    /// The errors of each kind.
    pub text: String,
}

/// Returns the warnings of a ValidatingAdmissionPolicy's expressions. Other objects have none. In the messages, the
/// name of a type is that of its kind; upstream appends a random number.
pub fn type_warnings(object: Value<'_>, kinds: &dyn Kinds, release: Release) -> Vec<TypeWarning> {
    if text(object.get("kind")) != Form::Validating.kind() {
        return Vec::new();
    }
    let spec = PolicySpec::read(object, Form::Validating);
    let environments = environments(&spec, kinds, release);
    let mut warnings = Vec::new();
    let mut left = MAX_COMPILED;
    for (index, validation) in spec.validations.iter().enumerate() {
        let members = [("expression", validation.expression), ("messageExpression", validation.message_expression)];
        for (member, expression) in members {
            if member == "messageExpression" && expression.is_empty() {
                continue;
            }
            if left < environments.len() {
                return warnings;
            }
            left -= environments.len();
            let errors: Vec<String> = environments
                .iter()
                .filter_map(|typed| Some(format!("{}: {}\n", typed.kind, typed.env.compile(expression).err()?)))
                .collect();
            if !errors.is_empty() {
                warnings.push(TypeWarning {
                    field: format!("spec.validations[{index}].{member}"),
                    text: errors.join("\n"),
                });
            }
        }
    }
    warnings
}

/// A kind that a policy matches.
pub(crate) struct Typed {
    pub(crate) kind: Gvk,
    pub(crate) declared: Arc<DeclType>,
    /// The type of the parameters, if it is known.
    pub(crate) params: Option<Arc<DeclType>>,
    /// The environment of expressions about objects of the kind.
    pub(crate) env: Env,
}

/// Returns the known kinds that a policy matches, each with an environment.
pub(crate) fn environments(spec: &PolicySpec<'_>, kinds: &dyn Kinds, release: Release) -> Vec<Typed> {
    let params = spec.param_kind.filter(|(api_version, kind)| {
        api_version.matches('/').count() < 2 && !(api_version.is_empty() && kind.is_empty())
    });
    let params = params.map(|(api_version, kind)| {
        let gvk = Gvk::of(api_version, kind);
        (kinds.declared(&gvk), gvk.kind)
    });
    let known = kinds_of(spec, kinds).into_iter().filter_map(|gvk| Some((kinds.declared(&gvk)?, gvk)));
    known
        .map(|(declared, kind)| {
            let env = environment(spec, &declared, &kind.kind, params.as_ref(), release);
            let params = params.as_ref().and_then(|(declared, _)| declared.clone());
            Typed { kind, declared, params, env }
        })
        .collect()
}

fn environment(
    spec: &PolicySpec<'_>,
    declared: &Arc<DeclType>,
    kind: &str,
    params: Option<&(Option<Arc<DeclType>>, String)>,
    release: Release,
) -> Env {
    let options = Options { has_params: params.is_some(), ..Options::new(release) };
    let name: Arc<str> = kind.into();
    let ty = declared.cel_type(&name);
    let mut env = with_types(Env::new(release), &options)
        .with_objects(&name, declared)
        .with_variable("authorizer", Type::object("kubernetes.authorization.Authorizer"))
        .with_variable("object", ty.clone())
        .with_variable("oldObject", ty);
    if let Some((Some(declared), kind)) = params {
        let name: Arc<str> = kind.as_str().into();
        env = env.with_objects(&name, declared).with_variable("params", declared.cel_type(&name));
    }
    let mut types = BTreeMap::new();
    for (variable, expression) in &spec.variables {
        let own = with_variables_of(env.clone(), &types, expression);
        let ty = own.compile(expression).map_or(Type::Dyn, |ast| kept_type(ast.output_type()));
        types.insert((*variable).to_owned(), ty);
    }
    with_variables(env, &types)
}

/// Returns the kinds that a policy matches (`typesToCheck`), sorted.
fn kinds_of(spec: &PolicySpec<'_>, kinds: &dyn Kinds) -> BTreeSet<Gvk> {
    let mut found = BTreeSet::new();
    for rule in spec.constraints.iter().flat_map(|constraints| &constraints.rules) {
        let is_wild = |items: &[&str]| items.iter().any(|item| item.contains('*'));
        if is_wild(&rule.groups) || is_wild(&rule.versions) {
            continue;
        }
        let sorted = |items: &[&str]| {
            let mut items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
            items.sort();
            items
        };
        let resources: Vec<&str> =
            rule.resources.iter().copied().filter(|resource| !resource.contains(['*', '/'])).collect();
        let (versions, resources) = (sorted(&rule.versions), sorted(&resources));
        let mut count = 0;
        for group in sorted(&rule.groups) {
            for version in &versions {
                for resource in &resources {
                    // For the mapper, an empty group is any group.
                    let of_resource = if group.is_empty() {
                        kinds.of_any_group(version, resource)
                    } else {
                        kinds.of_resource(&Gvr::new(&group, version, resource)).into_iter().collect()
                    };
                    for kind in of_resource {
                        found.insert(kind);
                        count += 1;
                        if count == MAX_KINDS {
                            return found;
                        }
                    }
                }
            }
        }
    }
    found
}
