//! Parameters of bindings: `generic.CollectParams`.

use crate::kinds::Gvk;
use crate::objects::{ParamRef, name, namespace_of};
use crate::request::{Request, World, labels_of};
use kubeshape_validate::selector::LabelSelector;
use kubeshape_value::{Map, Value};

/// The kind of a policy's parameters.
#[derive(Clone, Debug)]
pub(crate) struct ParamKind {
    pub(crate) gvk: Gvk,
    pub(crate) is_namespaced: bool,
    pub(crate) is_built_in: bool,
}

impl ParamKind {
    /// Returns the kind that a policy names.
    ///
    /// # Errors
    /// `None`: the policy is skipped, because its apiVersion does not parse. Otherwise its configuration error.
    pub(crate) fn of((api_version, kind): (&str, &str), world: World<'_, '_>) -> Result<ParamKind, Option<String>> {
        if api_version.matches('/').count() > 1 {
            return Err(None);
        }
        let gvk = Gvk::of(api_version, kind);
        let known = world
            .kinds
            .kind(&gvk)
            .filter(|_| !kind.is_empty())
            .ok_or_else(|| Some(format!("failed to find resource referenced by paramKind: '{gvk}'")))?;
        Ok(ParamKind { gvk, is_namespaced: known.is_namespaced, is_built_in: known.is_built_in })
    }
}

/// Returns the name of a parameter in traces: `namespace/name`.
pub(crate) fn shown(param: Value<'_>) -> String {
    match namespace_of(param) {
        "" => name(param).to_owned(),
        namespace => format!("{namespace}/{}", name(param)),
    }
}

/// Returns the parameters with which a policy is evaluated for a binding; `None` is an evaluation without one.
///
/// # Errors
/// The binding cannot be used for this request.
pub(crate) fn collect<'a>(
    kind: Option<&ParamKind>,
    param_ref: Option<ParamRef<'a>>,
    request: &Request<'_>,
    world: World<'_, 'a>,
) -> Result<Vec<Option<Value<'a>>>, String> {
    let (Some(kind), Some(param_ref)) = (kind, param_ref) else { return Ok(vec![None]) };
    let mut namespace = "";
    if kind.is_namespaced {
        namespace = if param_ref.namespace.is_empty() { &request.namespace } else { param_ref.namespace };
        if namespace.is_empty() {
            return Err(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".to_owned()
            );
        }
    } else if !param_ref.namespace.is_empty() {
        return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
    }
    let found: Vec<Value<'a>> = match (param_ref.name, param_ref.selector) {
        ("", Some(selector)) => {
            let selector = LabelSelector::read(selector)?;
            let mut all = world.objects.params(&kind.gvk, namespace, "");
            all.retain(|param| selector.matches_map(labels_of(*param).unwrap_or(Map::EMPTY)));
            all
        }
        ("", None) => return Err("one of name or selector must be provided".to_owned()),
        (_, Some(_)) => return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned()),
        (wanted, None) => world.objects.params(&kind.gvk, namespace, wanted).into_iter().take(1).collect(),
    };
    if found.is_empty() && param_ref.not_found == Some("Deny") {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
    }
    Ok(found.into_iter().map(Some).collect())
}
