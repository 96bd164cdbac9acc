//! CEL rules of schemas (`x-kubernetes-validations`), prepared for objects: `pkg/apiserver/schema/cel` of
//! `k8s.io/apiextensions-apiserver`.

pub(super) mod walk;

use crate::crd::field_path;
use crate::release::{AskedRelease, Change};
use kubeshape_cel::{DeclType, Language, Program, RuleEnv, escape::escape};
use kubeshape_schema::field::{Error, Path};
use kubeshape_schema::{Flags, Rule, Schema};
use kubeshape_value::{Stop, Value};
use std::sync::{Arc, OnceLock};

/// The prefix of the names of declared types in messages. A server has a random number instead of the `N`.
const TYPE_NAME: &str = "selfTypeN";

/// The CEL rules of a schema and its subschemas, evaluated like by a server.
///
/// The rules of a node are compiled when the first object has a value there. They are shared by any number of threads.
///
/// # Example: a rule on a field
/// ```
/// use kubeshape_schema::{Bump, field::Path, read};
/// use kubeshape_value::{ToValue, Value};
/// use kubeshape_validate::{Release, object::Rules};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"type": "object", "properties": {"size": {"type": "integer", "x-kubernetes-validations": [
///     {"rule": "self >= oldSelf", "messageExpression": "'it was ' + string(oldSelf)"}
/// ]}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let rules = Rules::new(&schema, Release::DEFAULT).unwrap();
///
/// let (old, new) = (serde_json::json!({"size": 3}), serde_json::json!({"size": 2}));
/// let (old, new) = (old.to_value(&arena), new.to_value(&arena));
/// assert!(rules.check(new, &Path::Root, Rules::BUDGET).errors.is_empty());
/// let outcome = rules.check_update(new, old, true, &Path::Root, Rules::BUDGET);
/// assert_eq!(outcome.errors[0].to_string(), "size: Invalid value: 2: it was 3");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules<'a> {
    schema: &'a Schema<'a>,
    root: Arc<Node<'a>>,
    /// The release for which rules are compiled.
    compiled_for: AskedRelease,
    /// The release of the requests.
    release: AskedRelease,
    call_limit: u64,
}

/// The results of the rules for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The errors.
    pub errors: Vec<Error>,
    /// Errors about values that did not change. A server sends these as warnings.
    pub ratcheted: Vec<Error>,
    /// The remaining budget. Negative if it did not suffice; then not all rules ran.
    pub remaining_budget: i64,
}

/// The rules of one schema and its subschemas. Schemas without rules have no node.
#[derive(Debug)]
struct Node<'a> {
    sources: Vec<Source<'a>>,
    /// The type of the values; `None` if rules cannot see them.
    decl: Option<Arc<DeclType>>,
    is_resource_root: bool,
    compiled: OnceLock<Compiled>,
    /// Sorted by name.
    properties: Vec<(&'a str, Node<'a>)>,
    items: Option<Box<Node<'a>>>,
    additional: Option<Box<Node<'a>>>,
    all_of: Vec<Node<'a>>,
}

/// A rule as written.
#[derive(Debug)]
struct Source<'a> {
    rule: &'a Rule<'a>,
    /// The field at which errors are reported, relative to the node; empty for the node itself.
    field_path: String,
}

/// The compiled rules of a node.
#[derive(Debug)]
struct Compiled {
    rules: Vec<CompiledRule>,
    uses_old_self: bool,
}

#[derive(Debug)]
enum CompiledRule {
    /// The rule is blank.
    Empty,
    Wrong(String),
    Ready(Box<ReadyRule>),
}

#[derive(Debug)]
struct ReadyRule {
    program: Program,
    uses_old_self: bool,
    message: Option<Program>,
    /// Whether errors are reported at the field path.
    has_field_path: bool,
}

impl<'a> Rules<'a> {
    /// The cost limit of all rules on one object: `RuntimeCELCostBudget`.
    pub const BUDGET: i64 = 10_000_000;
    /// The cost limit of one evaluation: `PerCallLimit`.
    pub const CALL_LIMIT: u64 = 1_000_000;
    /// The maximum length of an evaluated message, in bytes: `MaxEvaluatedMessageExpressionSizeBytes`.
    pub const MAX_MESSAGE: usize = 5 * 1024;

    /// Prepares the rules of the schema of a whole resource: `NewValidator`. `None` if it has none outside of branches
    /// (`allOf`): a server looks into branches only if there is a rule elsewhere.
    pub fn new(schema: &'a Schema<'a>, release: impl Into<AskedRelease>) -> Option<Rules<'a>> {
        Rules::of_default(schema, true, release)
    }

    /// Like [`Rules::new`], for the schema of any value.
    pub(crate) fn of_default(
        schema: &'a Schema<'a>,
        is_resource_root: bool,
        release: impl Into<AskedRelease>,
    ) -> Option<Rules<'a>> {
        if has_rules(schema) { Rules::of(schema, is_resource_root, release) } else { None }
    }

    /// Prepares the rules of the schema of any value, including those in branches. `None` if it has none.
    pub fn of(schema: &'a Schema<'a>, is_resource_root: bool, release: impl Into<AskedRelease>) -> Option<Rules<'a>> {
        if !schema.subtree.any(Flags::VALIDATIONS) {
            return None;
        }
        let decl = DeclType::of(schema, is_resource_root).map(Arc::new);
        let root = Node::of(schema, schema, is_resource_root, decl.as_ref())?;
        let release = release.into();
        Some(Rules {
            schema,
            root: Arc::new(root),
            compiled_for: release.clone(),
            release,
            call_limit: Rules::CALL_LIMIT,
        })
    }

    /// Returns the same rules with another limit for one evaluation.
    #[must_use]
    pub fn with_call_limit(mut self, limit: u64) -> Rules<'a> {
        self.call_limit = limit;
        self
    }

    /// Returns the same rules with their own record of questions. They share what is compiled.
    pub(super) fn asking(&self, release: &AskedRelease) -> Rules<'a> {
        Rules { release: release.clone(), ..self.clone() }
    }

    /// Evaluates the rules on a new object. `path` is the path of the object, `budget` the cost limit of all
    /// evaluations.
    pub fn check(&self, object: Value<'_>, path: &Path<'_>, budget: i64) -> RuleOutcome {
        self.check_until(object, path, budget, Stop::NEVER)
    }

    /// Like [`check`](Self::check), until the flag is set.
    pub(super) fn check_until(&self, object: Value<'_>, path: &Path<'_>, budget: i64, stop: Stop<'_>) -> RuleOutcome {
        walk::run(self, object, None, false, path, walk::Bounds { budget, stop })
    }

    /// Evaluates the rules on an object that replaces another one. With `ratcheting`, errors about unchanged values are
    /// not errors.
    pub fn check_update<'v>(
        &self,
        object: Value<'v>,
        old: Value<'v>,
        ratcheting: bool,
        path: &Path<'_>,
        budget: i64,
    ) -> RuleOutcome {
        self.check_update_until(object, old, ratcheting, path, walk::Bounds { budget, stop: Stop::NEVER })
    }

    /// Like [`check_update`](Self::check_update), within bounds.
    pub(super) fn check_update_until<'v>(
        &self,
        object: Value<'v>,
        old: Value<'v>,
        ratcheting: bool,
        path: &Path<'_>,
        bounds: walk::Bounds<'_>,
    ) -> RuleOutcome {
        walk::run(self, object, Some(old), ratcheting, path, bounds)
    }
}

/// Returns whether there are rules outside of branches: upstream checks only these.
fn has_rules(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::VALIDATIONS)
        && (!schema.extra().validations.is_empty()
            || schema.item().is_some_and(has_rules)
            || schema.additional_schema().is_some_and(has_rules)
            || schema.properties.iter().any(|property| has_rules(&property.schema)))
}

impl<'a> Node<'a> {
    /// Returns the rules of `rules`, which is `schema` or a branch of its `allOf`, on values of `schema`. The reader
    /// bounds the nesting of schemas.
    fn of(
        rules: &'a Schema<'a>,
        schema: &'a Schema<'a>,
        is_resource_root: bool,
        decl: Option<&Arc<DeclType>>,
    ) -> Option<Node<'a>> {
        if !rules.subtree.any(Flags::VALIDATIONS) {
            return None;
        }
        let extra = rules.extra();
        let element = decl.and_then(|decl| decl.element());
        let below = |rules: Option<&'a Schema<'a>>, schema: Option<&'a Schema<'a>>| {
            let (rules, schema) = (rules?, schema?);
            Node::of(rules, schema, schema.flags.any(Flags::EMBEDDED_RESOURCE), element).map(Box::new)
        };
        let mut properties = Vec::new();
        for property in rules.properties {
            let Some(inner) = schema.property(property.name) else { continue };
            let embedded = inner.flags.any(Flags::EMBEDDED_RESOURCE);
            let own;
            // A name that rules cannot use is not in the type of its object.
            let ty = if let Some(name) = escape(property.name) {
                decl.and_then(|decl| decl.field(&name))
            } else {
                own = DeclType::of(inner, embedded).map(Arc::new);
                own.as_ref()
            };
            let Some(ty) = ty else { continue };
            if let Some(node) = Node::of(&property.schema, inner, embedded, Some(ty)) {
                properties.push((property.name, node));
            }
        }
        properties.sort_unstable_by_key(|property: &(&str, Node<'_>)| property.0);
        let node = Node {
            sources: extra.validations.iter().map(|rule| Source::of(rule, schema)).collect(),
            decl: decl.cloned(),
            is_resource_root,
            compiled: OnceLock::new(),
            properties,
            items: below(rules.item(), schema.item()),
            additional: below(rules.additional_schema(), schema.additional_schema()),
            all_of: extra.all_of.iter().filter_map(|branch| Node::of(branch, schema, is_resource_root, decl)).collect(),
        };
        let is_empty = node.sources.is_empty()
            && node.properties.is_empty()
            && node.items.is_none()
            && node.additional.is_none()
            && node.all_of.is_empty();
        (!is_empty).then_some(node)
    }

    /// Returns the rules, compiled at first use. `None` if rules cannot see the values.
    fn compiled(&self, release: &AskedRelease) -> Option<&Compiled> {
        let decl = self.decl.as_ref()?;
        Some(self.compiled.get_or_init(|| {
            let env = RuleEnv::of_type(decl, Language::stored(release), TYPE_NAME);
            let rules: Vec<_> = self.sources.iter().map(|source| source.compile(&env, release)).collect();
            let uses = |rule: &CompiledRule| matches!(rule, CompiledRule::Ready(rule) if rule.uses_old_self);
            Compiled { uses_old_self: rules.iter().any(uses), rules }
        }))
    }
}

impl<'a> Source<'a> {
    fn of(rule: &'a Rule<'a>, schema: &Schema<'_>) -> Source<'a> {
        let found = match rule.field_path {
            "" => None,
            path => field_path::find(path, schema, true).ok(),
        };
        Source { rule, field_path: found.map(|found| found.path).unwrap_or_default() }
    }

    /// Returns whether `oldSelf` is optional. Older releases drop the field of the rule.
    fn optional_old_self(&self, release: &AskedRelease) -> bool {
        self.rule.optional_old_self == Some(true) && release.has(Change::OptionalOldSelf)
    }

    fn compile(&self, env: &RuleEnv, release: &AskedRelease) -> CompiledRule {
        if self.rule.rule.trim().is_empty() {
            return CompiledRule::Empty;
        }
        match env.rule(self.rule.rule, self.optional_old_self(release)) {
            Err(error) => CompiledRule::Wrong(error.detail),
            Ok(rule) => {
                let expression = self.rule.message_expression;
                let message =
                    (!expression.is_empty()).then(|| env.message(expression, self.optional_old_self(release)));
                CompiledRule::Ready(Box::new(ReadyRule {
                    program: rule.program,
                    uses_old_self: rule.uses_old_self,
                    // Upstream stops if the message does not compile.
                    has_field_path: !self.field_path.is_empty() && !matches!(message, Some(Err(_))),
                    message: message.and_then(Result::ok).map(|message| message.program),
                }))
            }
        }
    }

    /// Returns the name of the rule in errors: `ruleErrorString`.
    fn name(&self) -> &str {
        if self.rule.message.is_empty() { self.rule.rule.trim() } else { self.rule.message.trim() }
    }

    /// Returns the message of a failed rule, without its message expression.
    fn message(&self) -> String {
        if self.rule.message.is_empty() { format!("failed rule: {}", self.name()) } else { self.name().to_owned() }
    }
}
