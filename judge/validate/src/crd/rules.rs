//! CEL rules in the schemas of a definition: `CELSchemaContext`, and its use in
//! `ValidateCustomResourceDefinitionOpenAPISchema`.

use super::go_json;
use super::kept::Expression;
use super::model::Definition;
use super::options::Options;
use crate::metadata::place;
use crate::release::{AskedRelease, Change};
use kubeshape_cel::{CheckedRule, DeclType, Language, RuleEnv, escape};
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_schema::{Flags, Rule, Schema, Type};
use kubeshape_structural::written::Validation;
use kubeshape_yaml::Document;
use std::cell::OnceCell;
use std::sync::Arc;

/// The cost limit of one expression in all places of an object: `StaticEstimatedCostLimit`.
pub const RULE_COST_LIMIT: u64 = 10_000_000;
/// The cost limit of all expressions of a schema together: `StaticEstimatedCRDCostLimit`.
pub const SCHEMA_COST_LIMIT: u64 = 100_000_000;
/// The number of expressions named when the limit of a schema is exceeded.
const MOST_EXPENSIVE: usize = 4;
/// The name of the root type in messages. A server has a random number instead of the `N`.
pub(super) const SELF_TYPE: &str = "selfTypeN";

/// The step from a schema to a subschema.
#[derive(Clone, Copy)]
pub(super) enum Step<'s> {
    Root,
    Property(&'s str),
    /// Items of a list or values of a map.
    Element,
}

/// A schema with facts from the schemas above: `CELSchemaContext`.
pub(super) struct Scope<'s> {
    parent: Option<&'s Scope<'s>>,
    step: Step<'s>,
    pub(super) schema: &'s Schema<'s>,
    /// Whether this schema or one above it has rules.
    ruled: bool,
    /// How often the value can occur in an object; `None` if it is unbounded.
    cardinality: Option<u64>,
    declared: OnceCell<Declared>,
}

/// The type that a schema declares for rules.
pub(super) enum Declared {
    As(Arc<DeclType>),
    /// The schema has no type.
    Nothing,
    /// The schema is inside a value whose parts rules do not see.
    Hidden,
}

impl<'s> Scope<'s> {
    pub(super) fn root(schema: &'s Schema<'s>) -> Scope<'s> {
        let ruled = !schema.extra().validations.is_empty();
        let step = Step::Root;
        Scope { parent: None, step, schema, ruled, cardinality: Some(1), declared: OnceCell::new() }
    }

    pub(super) fn child(&'s self, step: Step<'s>, schema: &'s Schema<'s>) -> Scope<'s> {
        let ruled = self.ruled || !schema.extra().validations.is_empty();
        let cardinality = self.cardinality.zip(most_elements(self.schema)).map(|(all, each)| all.saturating_mul(each));
        Scope { parent: Some(self), step, schema, ruled, cardinality, declared: OnceCell::new() }
    }

    /// Returns whether values have type and object metadata.
    pub(super) fn is_resource(&self) -> bool {
        self.parent.is_none() || self.schema.flags.any(Flags::EMBEDDED_RESOURCE)
    }

    /// `TypeInfo`
    pub(super) fn declared(&self) -> &Declared {
        self.declared.get_or_init(|| {
            let of_element = |element: Option<&Arc<DeclType>>| match element {
                Some(element) => Declared::As(element.clone()),
                None => Declared::Hidden,
            };
            if let Some(parent) = self.parent.filter(|parent| parent.ruled) {
                match (parent.declared(), self.step) {
                    (Declared::Nothing, _) => return Declared::Nothing,
                    (Declared::As(above), Step::Property(name)) => {
                        if let Some(ty) = escape::escape(name).and_then(|name| above.field(&name)) {
                            return Declared::As(ty.clone());
                        }
                    }
                    (Declared::As(above), Step::Element) => return of_element(above.element()),
                    (Declared::Hidden, Step::Element) => return Declared::Hidden,
                    (Declared::Hidden, Step::Property(_)) | (_, Step::Root) => {}
                }
            }
            match DeclType::of(self.schema, self.is_resource()) {
                Some(ty) => Declared::As(Arc::new(ty)),
                None => Declared::Nothing,
            }
        })
    }
}

/// Returns the maximum number of children of a value: `extractMaxElements`.
fn most_elements(schema: &Schema<'_>) -> Option<u64> {
    let bound = |most: Option<i64>| most.map(|most| u64::try_from(most).unwrap_or(0));
    match schema.ty {
        Type::Object if schema.additional.is_some() => bound(schema.extra().max_properties),
        Type::Array => bound(schema.extra().max_items),
        _ => Some(1),
    }
}

/// The estimated cost of an expression of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionCost {
    /// The path of the expression: that of a `rule` or of a `messageExpression`.
    pub path: String,
    /// The location: the entry in the tape of `x-kubernetes-validations`.
    pub at: u32,
    /// The cost of one evaluation. 0 if the expression does not compile.
    pub each: u64,
    /// The number of evaluations: the number of places in an object where the value can be.
    pub times: u64,
    /// Whether `times` follows only from the bounds of lists and maps. Otherwise it follows from the size of a request.
    pub bounded: bool,
}

impl ExpressionCost {
    /// Returns the cost of all evaluations together, at most `u64::MAX`. Upstream compares it with [`RULE_COST_LIMIT`].
    pub fn total(&self) -> u64 {
        self.each.saturating_mul(self.times)
    }
}

/// The costs and the errors of the rules of a schema.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) errors: Errors,
    pub(super) costs: Option<Vec<ExpressionCost>>,
    total: u64,
    most_expensive: Vec<(u64, Error)>,
}

impl Rules {
    /// Compiles the rules of a schema that has no other errors. `uncorrelatable` is the path of the first schema above
    /// whose values cannot be found again in the old object.
    pub(super) fn compile(
        &mut self,
        scope: &Scope<'_>,
        uncorrelatable: Option<&Path<'_>>,
        path: &Path<'_>,
        options: &Options<'_>,
        document: Document<'_>,
    ) {
        let schema = scope.schema;
        let at = place(document.node(schema.at), "x-kubernetes-validations");
        let path = path.child("x-kubernetes-validations");
        let declared = match scope.declared() {
            Declared::As(declared) => declared,
            Declared::Hidden => {
                let detail = "failed to convert to declType for CEL validation rules";
                return self.errors.push(Error::internal(&path, detail, at));
            }
            Declared::Nothing => {
                let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                              unable to convert structural schema to CEL declarations";
                return self.errors.push(Error::internal(&path, detail, at));
            }
        };
        let under = Under { declared, options };
        for (i, rule) in schema.extra().validations.iter().enumerate().take_while(|_| !options.stop.is_set()) {
            self.rule(rule, scope, under, uncorrelatable, &path.index(i), at);
        }
    }

    fn rule(
        &mut self,
        rule: &Rule<'_>,
        scope: &Scope<'_>,
        under: Under<'_, '_>,
        uncorrelatable: Option<&Path<'_>>,
        path: &Path<'_>,
        at: u32,
    ) {
        let Under { declared, options } = under;
        let optional_old_self = rule.optional_old_self.filter(|_| options.release.has(Change::OptionalOldSelf));
        let optional = optional_old_self == Some(true);
        let bad_value = || go_json::rule(rule, &options.release);
        let rule_path = path.child("rule");
        let stored = options.old_expressions.rules.contains(rule.rule);
        let expression = Expression { path: rule_path.to_string(), stored, optional };
        let compiled = options.kept.expression(expression, &options.release, |release| {
            under.env(release, stored).checked_rule(rule.rule, optional)
        });
        let compiled = &*compiled;
        let cardinality = scope.cardinality.unwrap_or_else(|| declared.max_cardinality());
        let each = compiled.as_ref().map_or(0, |rule| under.cost(rule));
        let bounded = scope.cardinality.is_some();
        self.keep(&rule_path, each, cardinality, bounded, at);
        self.cost("estimated rule cost", &rule_path, each.saturating_mul(cardinality), options, at);
        let uses_old_self = match compiled {
            Ok(rule) => rule.uses_old_self,
            Err(error) => {
                self.errors.push(Error::invalid(&rule_path, bad_value(), error.detail.as_str(), at));
                error.uses_old_self
            }
        };
        if compiled.is_ok() && !rule.message_expression.is_empty() {
            let path = path.child("messageExpression");
            let stored = options.old_expressions.messages.contains(rule.message_expression);
            let expression = Expression { path: path.to_string(), stored, optional };
            let message = options.kept.expression(expression, &options.release, |release| {
                under.env(release, stored).checked_message(rule.message_expression, optional)
            });
            match &*message {
                Ok(message) => {
                    // Upstream counts a message once.
                    let cost = under.cost(message);
                    self.keep(&path, cost, 1, true, at);
                    self.cost("estimated messageExpression cost", &path, cost, options, at);
                }
                Err(error) => self.errors.push(Error::invalid(&path, bad_value(), error.detail.as_str(), at)),
            }
        }
        if uses_old_self {
            if let Some(above) = uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {above}");
                self.errors.push(Error::invalid(&rule_path, rule.rule, detail, at));
            }
        } else if let Some(optional) = optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors.push(Error::invalid(&path.child("optionalOldSelf"), optional, detail, at));
        }
    }

    fn keep(&mut self, path: &Path<'_>, each: u64, times: u64, bounded: bool, at: u32) {
        if let Some(costs) = &mut self.costs {
            costs.push(ExpressionCost { path: path.to_string(), at, each, times, bounded });
        }
    }

    /// Adds the cost of an expression: `ObserveExpressionCost`.
    fn cost(&mut self, what: &str, path: &Path<'_>, cost: u64, options: &Options<'_>, at: u32) {
        if cost > RULE_COST_LIMIT && !options.suppress_rule_cost {
            self.errors.push(Error::forbidden(path, over_budget(what, cost, RULE_COST_LIMIT), at));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_COST_LIMIT / 100 {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            let rank = self.most_expensive.partition_point(|(other, _)| *other >= cost);
            if rank < MOST_EXPENSIVE {
                self.most_expensive.insert(rank, (cost, Error::forbidden(path, detail, at)));
                self.most_expensive.truncate(MOST_EXPENSIVE);
            }
        }
    }

    /// Compiles the rules of a schema and its subschemas, even if they have other errors.
    fn schema(&mut self, scope: &Scope<'_>, path: &Path<'_>, options: &Options<'_>, document: Document<'_>) {
        let schema = scope.schema;
        if !schema.extra().validations.is_empty() {
            self.compile(scope, None, path, options, document);
        }
        let properties = path.child("properties");
        for property in schema.properties {
            if property.schema.subtree.any(Flags::VALIDATIONS) {
                let below = scope.child(Step::Property(property.name), &property.schema);
                self.schema(&below, &properties.key(property.name), options, document);
            }
        }
        for (name, below) in [("items", schema.item()), ("additionalProperties", schema.additional_schema())] {
            if let Some(below) = below.filter(|below| below.subtree.any(Flags::VALIDATIONS)) {
                self.schema(&scope.child(Step::Element, below), &path.child(name), options, document);
            }
        }
    }

    /// Adds the errors about the cost of all expressions together.
    pub(super) fn total(self, path: &Path<'_>, at: u32, errors: &mut Errors) {
        if self.total > SCHEMA_COST_LIMIT {
            errors.extend(self.most_expensive.into_iter().map(|(_, error)| error));
            let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
            errors.push(Error::forbidden(path, over_budget(what, self.total, SCHEMA_COST_LIMIT), at));
        }
    }
}

/// Returns the costs of the rules of a definition and their messages, in the order of schemas. They are compiled
/// whether or not the definition has errors. A rule whose values have no type is left out.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::read::manifests;
/// use kubeshape_validate::Release;
/// use kubeshape_validate::crd::{self, Defaults, Definition};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///   "metadata": {"name": "things.example.com"},
///   "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
///     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
///       "properties": {"names": {"type": "array", "maxItems": 5, "items": {"type": "string",
///         "x-kubernetes-validations": [{"rule": "self != ''"}]}}}}}}]}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let (found, _) = manifests(tape.document(source).root().unwrap());
/// let definition = Definition::read(found[0], Defaults::Set, &arena).value.unwrap();
/// let costs = crd::expression_costs(&definition, Release::DEFAULT);
/// assert_eq!((costs[0].each, costs[0].times), (1, 5));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn expression_costs(definition: &Definition<'_>, release: impl Into<AskedRelease>) -> Vec<ExpressionCost> {
    let options = Options::create(release);
    let spec = &definition.spec;
    let mut rules = Rules { costs: Some(Vec::new()), ..Rules::default() };
    let path = Path::Root.child("spec");
    let mut of = |validation: Option<Validation<'_>>, path: &Path<'_>, document: Document<'_>| {
        if let Some(schema) = validation.and_then(|validation| validation.schema)
            && schema.subtree.any(Flags::VALIDATIONS)
        {
            rules.schema(&Scope::root(schema), &path.child("openAPIV3Schema"), &options, document);
        }
    };
    of(spec.validation, &path.child("validation"), spec.node.document());
    let versions = path.child("versions");
    for (i, version) in spec.versions.iter().enumerate() {
        of(version.schema, &versions.index(i).child("schema"), version.node.document());
    }
    rules.costs.unwrap_or_default()
}

/// The context of the rules of one schema.
#[derive(Clone, Copy)]
struct Under<'e, 'o> {
    declared: &'e Arc<DeclType>,
    options: &'e Options<'o>,
}

impl Under<'_, '_> {
    fn env(self, release: &AskedRelease, stored: bool) -> RuleEnv {
        let language = if stored { Language::stored(release) } else { Language::new_expressions(release) };
        RuleEnv::of_type(self.declared, language, SELF_TYPE)
    }

    /// Returns the cost of one evaluation. It does not depend on the functions that exist.
    fn cost(self, rule: &CheckedRule) -> u64 {
        rule.max_cost(self.declared, Language::stored(&self.options.release))
    }
}

/// `getCostErrorMessage`
#[allow(clippy::cast_precision_loss)]
fn over_budget(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
