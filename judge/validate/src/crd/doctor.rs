//! Diagnosis of rules that cost too much: which bound is missing, and which bounds bring a schema under the limits.

use super::model::Definition;
use super::options::Options;
use super::rules::{Declared, ExpressionCost, RULE_COST_LIMIT, SCHEMA_COST_LIMIT, SELF_TYPE, Scope, Step};
use crate::metadata::place;
use crate::release::AskedRelease;
use kubeshape_cel::{Ast, DeclType, Language, RuleEnv, Sizes, declares_metadata, escape};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Flags, Schema, Type};
use kubeshape_structural::written::Validation;
use kubeshape_yaml::Document;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A keyword that bounds the size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keyword {
    /// `maxItems`
    MaxItems,
    /// `maxProperties`
    MaxProperties,
    /// `maxLength`
    MaxLength,
}

impl Keyword {
    /// Returns the value of the keyword in a schema.
    fn of(self, schema: &Schema<'_>) -> Option<i64> {
        let extra = schema.extra();
        match self {
            Keyword::MaxItems => extra.max_items,
            Keyword::MaxProperties => extra.max_properties,
            Keyword::MaxLength => extra.max_length,
        }
    }

    /// Returns the name of the keyword.
    pub fn name(self) -> &'static str {
        match self {
            Keyword::MaxItems => "maxItems",
            Keyword::MaxProperties => "maxProperties",
            Keyword::MaxLength => "maxLength",
        }
    }
}

/// A possible bound of a schema. It refuses stored objects with a larger value when they are written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The path of the schema.
    pub path: String,
    /// The location: the entry in the tape of the schema.
    pub at: u32,
    /// The keyword to write.
    pub keyword: Keyword,
    /// Its value.
    pub value: i64,
    /// The current, larger value in the schema.
    pub replaces: Option<i64>,
    /// The bound of the same value in `allOf`, `anyOf` or `oneOf`, which is not used for costs.
    pub uncounted: Option<Uncounted>,
}

/// An unused bound: the server takes the sizes of values from the structural part of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// `allOf`, `anyOf` or `oneOf`.
    pub junctor: &'static str,
    /// The bound.
    pub value: i64,
}

/// Why bounds do not help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No bound brings the expression under its limit, because the estimate has no size for the result of this call. It
    /// is a range of bytes of the expression.
    Endless(Range<usize>),
    /// The expression reads a name in the metadata of a resource whose schema does not declare all fields that the
    /// server requires before it uses their bounds: `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`
    /// (upstream: `WithTypeAndObjectMeta`). Releases before 1.37 have no other bound for it.
    Names,
}

/// An expression that costs more than [`RULE_COST_LIMIT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expensive {
    /// The expression and its cost.
    pub cost: ExpressionCost,
    /// The bound that, alone, lowers the cost most. `None` if no bound does, or if there is too much to try.
    pub driver: Option<Bound>,
    /// Why bounds do not help, or why some written bounds do not.
    pub obstacles: Vec<Obstacle>,
}

/// The excessive costs of a schema, and bounds that bring them under the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The path of the schema: `spec.versions[0].schema.openAPIV3Schema`.
    pub path: String,
    /// The cost of all expressions together, at most `u64::MAX`.
    pub total: u64,
    /// The expressions over their limit, the most expensive first.
    pub expensive: Vec<Expensive>,
    /// A minimal set of bounds with which every expression and the schema keep the limits. `None` if no bounds suffice,
    /// or if there is too much to try.
    pub bounds: Option<Vec<Bound>>,
}

/// Finds the schemas of a definition whose rules cost too much in a release, and bounds for them.
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
///       "properties": {"names": {"type": "array", "items": {"type": "string",
///         "x-kubernetes-validations": [{"rule": "self.contains('x')"}]}}}}}}]}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let (found, _) = manifests(tape.document(source).root().unwrap());
/// let definition = Definition::read(found[0], Defaults::Set, &arena).value.unwrap();
/// let diagnosis = &crd::diagnose_costs(&definition, Release::DEFAULT)[0];
/// let bounds = diagnosis.bounds.as_ref().unwrap();
/// assert!(!bounds.is_empty());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn diagnose_costs(definition: &Definition<'_>, release: impl Into<AskedRelease>) -> Vec<Diagnosis> {
    let options = Options::create(release);
    let spec = &definition.spec;
    let mut out = Vec::new();
    let mut work = MOST_WORK;
    let mut of = |validation: Option<Validation<'_>>, path: &Path<'_>, document: Document<'_>| {
        if let Some(schema) = validation.and_then(|validation| validation.schema)
            && schema.subtree.any(Flags::VALIDATIONS)
        {
            let path = path.child("openAPIV3Schema").to_string();
            out.extend(diagnose(schema, &path, &options, document, &mut work));
        }
    };
    let path = Path::Root.child("spec");
    of(spec.validation, &path.child("validation"), spec.node.document());
    let versions = path.child("versions");
    for (i, version) in spec.versions.iter().enumerate() {
        of(version.schema, &versions.index(i).child("schema"), version.node.document());
    }
    out
}

/// Bounds to try, the most generous first: for elements and for characters.
const TIERS: [(i64, i64); 4] = [(64, 256), (16, 64), (4, 16), (1, 1)];
/// The maximum work for a definition, in bytes of expressions whose cost is estimated again. Every bound that an
/// expression depends on is tried, and their number grows with its length.
const MOST_WORK: u64 = 10_000_000;
/// The largest proposed bound.
const LARGEST: i64 = 1 << 20;

fn diagnose(
    schema: &Schema<'_>,
    path: &str,
    options: &Options<'_>,
    document: Document<'_>,
    work: &mut u64,
) -> Option<Diagnosis> {
    let mut anamnesis = Anamnesis { options, document, places: Vec::new(), index: BTreeMap::new(), found: Vec::new() };
    anamnesis.schema(&Scope::root(schema), path, &mut Vec::new(), &junctors(schema));
    let Anamnesis { places, found, .. } = anamnesis;
    let mut state = State::new(&places, &found, *work);
    if state.keeps_limits() {
        return None;
    }
    let total = u64::try_from(state.sum).unwrap_or(u64::MAX);
    let mut expensive = Vec::new();
    for expression in 0..found.len() {
        if state.totals[expression] > RULE_COST_LIMIT {
            let cost = state.cost(expression);
            let driver = state.driver(expression);
            expensive.push(Expensive { cost, driver, obstacles: state.obstacles(expression) });
        }
    }
    expensive.sort_by_key(|expensive: &Expensive| std::cmp::Reverse(expensive.cost.total()));
    let bounds = TIERS.into_iter().find_map(|tier| state.treat(tier));
    *work = state.work;
    Some(Diagnosis { path: path.to_owned(), total, expensive, bounds })
}

/// A schema that can have a bound.
struct Bounded {
    path: String,
    at: u32,
    keyword: Keyword,
    current: Option<i64>,
    uncounted: Option<Uncounted>,
    /// The number of elements per unit of the bound: characters take up to four bytes.
    unit: i64,
    /// The expressions whose cost depends on the bound.
    dependents: BTreeSet<usize>,
}

/// An expression and everything that its cost depends on.
struct Expression {
    path: String,
    at: u32,
    ast: Ast,
    source: String,
    decl: Arc<DeclType>,
    /// The values whose size the estimate reads: by their path from the schema, the numbers of bounded schemas.
    sizes: BTreeMap<String, usize>,
    /// Names in the metadata of resources whose bounds are not used.
    names: BTreeSet<String>,
    /// The lists and maps above. `None` for a message, which is counted once.
    above: Option<Vec<usize>>,
    /// How often the value can occur if some list or map above has no bound.
    unbounded: u64,
}

/// Collects the expressions of a schema.
struct Anamnesis<'o> {
    options: &'o Options<'o>,
    document: Document<'o>,
    places: Vec<Bounded>,
    /// The numbers of the bounded schemas, by path.
    index: BTreeMap<String, usize>,
    found: Vec<Expression>,
}

impl Anamnesis<'_> {
    /// Visits a schema below `above`, the lists and maps around it. The reader bounds the nesting of schemas.
    fn schema(&mut self, scope: &Scope<'_>, path: &str, above: &mut Vec<usize>, others: &[Junctor<'_>]) {
        let schema = scope.schema;
        if !schema.extra().validations.is_empty()
            && let Declared::As(decl) = scope.declared()
        {
            self.rules(scope, decl, path, above, others);
        }
        // A map is also used for its properties, if it declares any in addition to its values.
        let own = self.bounded(schema, path, others).filter(|_| schema.additional.is_some() || schema.item().is_some());
        above.extend(own);
        let ruled = |below: &Schema<'_>| below.subtree.any(Flags::VALIDATIONS);
        for property in schema.properties.iter().filter(|property| ruled(&property.schema)) {
            let below = scope.child(Step::Property(property.name), &property.schema);
            let path = format!("{path}.properties[{}]", property.name);
            self.schema(&below, &path, above, &below_junctors(others, Step::Property(property.name), &property.schema));
        }
        for (name, below) in [("items", schema.item()), ("additionalProperties", schema.additional_schema())] {
            if let Some(below) = below.filter(|below| ruled(below)) {
                let others = below_junctors(others, Step::Element, below);
                self.schema(&scope.child(Step::Element, below), &format!("{path}.{name}"), above, &others);
            }
        }
        if own.is_some() {
            above.pop();
        }
    }

    fn rules(&mut self, scope: &Scope<'_>, decl: &Arc<DeclType>, path: &str, above: &[usize], others: &[Junctor<'_>]) {
        let schema = scope.schema;
        let env = RuleEnv::of_type(decl, Language::new_expressions(&self.options.release), SELF_TYPE);
        let at = place(self.document.node(schema.at), "x-kubernetes-validations");
        for (i, rule) in schema.extra().validations.iter().enumerate() {
            let path = format!("{path}.x-kubernetes-validations[{i}]");
            let optional = rule.optional_old_self == Some(true);
            if env.rule(rule.rule, optional).is_err() {
                continue;
            }
            let unbounded = env.max_cardinality();
            let message = Some(rule.message_expression).filter(|text| env.message(text, optional).is_ok());
            for (name, source) in [("rule", Some(rule.rule)), ("messageExpression", message)] {
                let Some(source) = source else { continue };
                let Ok(ast) = env.ast(source, optional) else { continue };
                let above = (name == "rule").then(|| above.to_vec());
                let path = format!("{path}.{name}");
                let (source, decl) = (source.to_owned(), decl.clone());
                let (sizes, names) = (BTreeMap::new(), BTreeSet::new());
                self.found.push(Expression { path, at, ast, source, decl, sizes, names, above, unbounded });
                self.dependencies(scope, others);
            }
        }
    }

    /// Determines what the cost of the last expression depends on.
    fn dependencies(&mut self, scope: &Scope<'_>, others: &[Junctor<'_>]) {
        let number = self.found.len() - 1;
        let Some(expression) = self.found.last() else { return };
        let seen = Dependencies { decl: &expression.decl, paths: RefCell::default() };
        expression.ast.estimate(&seen);
        let base = expression.path.rfind(".x-kubernetes-validations[").map_or("", |end| &expression.path[..end]);
        let base = base.to_owned();
        let above = expression.above.clone();
        let (mut sizes, mut names) = (BTreeMap::new(), BTreeSet::new());
        for steps in seen.paths.into_inner() {
            match resolve(scope.schema, scope.is_resource(), &base, &steps, others) {
                Some(Read::Schema(schema, path, others)) => {
                    sizes.extend(self.bounded(schema, &path, &others).map(|bounded| (key(&steps), bounded)));
                }
                Some(Read::Name) => {
                    names.insert(key(&steps));
                }
                None => {}
            }
        }
        for bounded in sizes.values().copied().chain(above.into_iter().flatten()) {
            self.places[bounded].dependents.insert(number);
        }
        if let Some(expression) = self.found.last_mut() {
            expression.sizes = sizes;
            expression.names = names;
        }
    }

    /// Returns the number of a schema, if a bound of it can lower costs.
    fn bounded(&mut self, schema: &Schema<'_>, path: &str, others: &[Junctor<'_>]) -> Option<usize> {
        if let Some(number) = self.index.get(path) {
            return Some(*number);
        }
        let extra = schema.extra();
        let text = schema.flags.any(Flags::INT_OR_STRING)
            || (schema.ty == Type::String && !matches!(schema.format, "date" | "date-time" | "duration"));
        let (keyword, current) = match schema.ty {
            _ if text => (Keyword::MaxLength, extra.max_length),
            Type::Array => (Keyword::MaxItems, extra.max_items),
            Type::Object if schema.additional.is_some() => (Keyword::MaxProperties, extra.max_properties),
            _ => return None,
        };
        let unit = if keyword == Keyword::MaxLength && schema.format != "byte" { 4 } else { 1 };
        let (path, at) = (path.to_owned(), schema.at);
        let bound = |(junctor, other): &Junctor<'_>| Some(Uncounted { junctor, value: keyword.of(other)? });
        let uncounted = others.iter().filter_map(bound).min_by_key(|bound| bound.value);
        self.index.insert(path.clone(), self.places.len());
        self.places.push(Bounded { path, at, keyword, current, uncounted, unit, dependents: BTreeSet::new() });
        Some(self.places.len() - 1)
    }
}

/// A schema that restricts the same values as a structural one, and the keyword that it is in.
type Junctor<'s> = (&'static str, &'s Schema<'s>);

/// Returns the schemas in `allOf`, `anyOf` and `oneOf` of a schema.
fn junctors<'s>(schema: &'s Schema<'s>) -> Vec<Junctor<'s>> {
    let extra = schema.extra();
    let mut out = Vec::new();
    for (name, schemas) in [("allOf", extra.all_of), ("anyOf", extra.any_of), ("oneOf", extra.one_of)] {
        for schema in schemas {
            out.push((name, schema));
            out.extend(junctors(schema));
        }
    }
    out
}

/// Returns the schemas that restrict a value one step further: those below `others`, and those of its own schema.
fn below_junctors<'s>(others: &[Junctor<'s>], step: Step<'_>, schema: &'s Schema<'s>) -> Vec<Junctor<'s>> {
    let below = |(name, other): &Junctor<'s>| {
        let below = match step {
            Step::Property(name) => other.property(name),
            Step::Element => other.item().or_else(|| other.additional_schema()),
            Step::Root => None,
        };
        Some((*name, below?))
    };
    let mut out = junctors(schema);
    for other in others.iter().filter_map(below) {
        out.push(other);
        out.extend(junctors(other.1));
    }
    out
}

/// The target of a path in an expression.
enum Read<'s> {
    /// A schema, its path, and others that restrict the value.
    Schema(&'s Schema<'s>, String, Vec<Junctor<'s>>),
    /// A name in the metadata of a resource that does not declare its metadata.
    Name,
}

/// Follows the path of an expression.
fn resolve<'s>(
    mut schema: &'s Schema<'s>,
    mut resource: bool,
    base: &str,
    steps: &[String],
    others: &[Junctor<'s>],
) -> Option<Read<'s>> {
    let mut path = base.to_owned();
    let mut others = others.to_vec();
    for (at, step) in steps.iter().enumerate() {
        let (below, step) = match step.as_str() {
            "@items" => {
                path.push_str(".items");
                (schema.item()?, None)
            }
            "@values" => {
                path.push_str(".additionalProperties");
                (schema.additional_schema()?, None)
            }
            name => {
                let name = escape::unescape(name)?;
                // The server has its own schema for these, unless all of them are declared.
                if resource && matches!(&*name, "apiVersion" | "kind" | "metadata") && !declares_metadata(schema) {
                    return (name == "metadata" && at + 2 == steps.len()).then_some(Read::Name);
                }
                path.extend([".properties[", &*name, "]"]);
                (schema.property(&name)?, Some(name))
            }
        };
        others = below_junctors(&others, step.as_deref().map_or(Step::Element, Step::Property), below);
        schema = below;
        resource = schema.flags.any(Flags::EMBEDDED_RESOURCE);
    }
    Some(Read::Schema(schema, path, others))
}

fn key(steps: &[impl AsRef<str>]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push_str(step.as_ref());
        out.push('.');
    }
    out
}

/// Records which values an estimate reads.
struct Dependencies<'d> {
    decl: &'d DeclType,
    paths: RefCell<BTreeSet<Vec<String>>>,
}

impl Sizes for Dependencies<'_> {
    fn size(&self, path: &[&str], language: &Language) -> Option<kubeshape_cel::Range> {
        let steps = path.get(1..)?.iter().map(|step| (*step).to_owned()).collect();
        let size = self.decl.size(path, language);
        if size.is_some() {
            self.paths.borrow_mut().insert(steps);
        }
        size
    }
}

/// The costs under some bounds.
struct State<'s> {
    places: &'s [Bounded],
    found: &'s [Expression],
    bounds: Vec<Option<i64>>,
    totals: Vec<u64>,
    sum: u128,
    over: usize,
    /// The rest of [`MOST_WORK`].
    work: u64,
}

/// The sizes that an expression sees under the bounds of a state.
struct Seen<'s> {
    state: &'s State<'s>,
    expression: &'s Expression,
    /// The maximum bytes of names whose bounds are not used, instead of those bounds.
    names: Option<u64>,
}

impl Sizes for Seen<'_> {
    fn size(&self, path: &[&str], language: &Language) -> Option<kubeshape_cel::Range> {
        let Seen { state, expression, names } = self;
        let size = expression.decl.size(path, language)?;
        let key = path.get(1..).map(key)?;
        let bound = expression.sizes.get(&key).and_then(|number| {
            let bound = state.bounds[*number]?;
            u64::try_from(bound.saturating_mul(state.places[*number].unit)).ok()
        });
        let bound = bound.or_else(|| names.filter(|_| expression.names.contains(&key)));
        Some(kubeshape_cel::Range { max: bound.map_or(size.max, |bound| bound.min(size.max)), ..size })
    }
}

impl<'s> State<'s> {
    fn new(places: &'s [Bounded], found: &'s [Expression], work: u64) -> State<'s> {
        let bounds = vec![None; places.len()];
        let mut state = State { places, found, bounds, totals: vec![0; found.len()], sum: 0, over: 0, work };
        for expression in 0..found.len() {
            state.update(expression);
        }
        state
    }

    fn keeps_limits(&self) -> bool {
        self.over == 0 && self.sum <= u128::from(SCHEMA_COST_LIMIT)
    }

    fn is_spent(&self) -> bool {
        self.work == 0
    }

    fn cost(&mut self, expression: usize) -> ExpressionCost {
        let found = &self.found[expression];
        self.work = self.work.saturating_sub(found.source.len() as u64);
        let each = found.ast.estimate(&Seen { state: self, expression: found, names: None }).max;
        let times = match &found.above {
            None => Some(1),
            Some(above) => above.iter().try_fold(1u64, |times, number| {
                let bound = match (self.places[*number].current, self.bounds[*number]) {
                    (Some(current), Some(bound)) => current.min(bound),
                    (current, bound) => current.or(bound)?,
                };
                Some(times.saturating_mul(u64::try_from(bound).unwrap_or(0)))
            }),
        };
        let (path, at) = (found.path.clone(), found.at);
        ExpressionCost { path, at, each, times: times.unwrap_or(found.unbounded), bounded: times.is_some() }
    }

    fn update(&mut self, expression: usize) {
        let new = self.cost(expression).total();
        let old = std::mem::replace(&mut self.totals[expression], new);
        self.sum = self.sum - u128::from(old) + u128::from(new);
        self.over = self.over - usize::from(old > RULE_COST_LIMIT) + usize::from(new > RULE_COST_LIMIT);
    }

    /// Sets a bound. Returns the previous one.
    fn set(&mut self, number: usize, bound: Option<i64>) -> Option<i64> {
        let before = std::mem::replace(&mut self.bounds[number], bound);
        let places = self.places;
        for expression in &places[number].dependents {
            self.update(*expression);
        }
        before
    }

    /// Sets a bound if the limits are kept with it.
    fn try_set(&mut self, number: usize, bound: Option<i64>) -> bool {
        let before = self.set(number, bound);
        let kept = self.keeps_limits();
        if !kept {
            self.set(number, before);
        }
        kept
    }

    fn of_tier(&self, number: usize, (elements, characters): (i64, i64)) -> Option<i64> {
        let place = &self.places[number];
        let value = if place.keyword == Keyword::MaxLength { characters } else { elements };
        place.current.is_none_or(|current| value < current).then_some(value)
    }

    fn proposal(&self, number: usize, value: i64) -> Bound {
        let place = &self.places[number];
        Bound {
            path: place.path.clone(),
            at: place.at,
            keyword: place.keyword,
            value,
            replaces: place.current,
            uncounted: place.uncounted,
        }
    }

    /// Returns the bound that, alone, lowers the cost of an expression most.
    fn driver(&mut self, expression: usize) -> Option<Bound> {
        let found = &self.found[expression];
        let numbers: BTreeSet<usize> = found.sizes.values().chain(found.above.iter().flatten()).copied().collect();
        let mut best: Option<(u64, Bound)> = None;
        for number in numbers {
            if self.is_spent() {
                return None;
            }
            let Some(value) = self.of_tier(number, TIERS[0]) else { continue };
            self.bounds[number] = Some(value);
            let cost = self.cost(expression).total();
            self.bounds[number] = None;
            if cost < best.as_ref().map_or(self.totals[expression], |(best, _)| *best) {
                best = Some((cost, self.proposal(number, value)));
            }
        }
        best.map(|(_, bound)| bound)
    }

    /// Returns why bounds do not bring an expression under its limit.
    fn obstacles(&mut self, expression: usize) -> Vec<Obstacle> {
        /// The size of a name with the usual bound, in bytes.
        const NAME: u64 = 63 * 4;
        let found = &self.found[expression];
        let numbers: BTreeSet<usize> = found.sizes.values().chain(found.above.iter().flatten()).copied().collect();
        let mut out = Vec::new();
        if self.is_spent() {
            return out;
        }
        for number in &numbers {
            self.bounds[*number] = self.of_tier(*number, TIERS[TIERS.len() - 1]);
        }
        let least = self.cost(expression);
        let seen = |names| Seen { state: self, expression: found, names };
        if least.total() > RULE_COST_LIMIT {
            out.extend(found.ast.endless_part(&found.source, &seen(Some(NAME))).map(Obstacle::Endless));
        }
        if found.ast.estimate(&seen(Some(NAME))).max < least.each {
            out.push(Obstacle::Names);
        }
        for number in numbers {
            self.bounds[number] = None;
        }
        out
    }

    /// Returns bounds that suffice, starting from a tier: as few and then as large as possible.
    fn treat(&mut self, tier: (i64, i64)) -> Option<Vec<Bound>> {
        if self.is_spent() {
            return None;
        }
        // The order in which bounds are given up: those that help little alone, then those that come last.
        let mut alone: Vec<(u128, usize)> = Vec::new();
        for number in 0..self.places.len() {
            if let Some(value) = self.of_tier(number, tier) {
                self.set(number, Some(value));
                alone.push((self.sum, number));
                self.set(number, None);
                if self.is_spent() {
                    return None;
                }
            }
        }
        let by_place: Vec<usize> = alone.iter().rev().map(|(_, number)| *number).collect();
        alone.sort_by_key(|(sum, number)| (std::cmp::Reverse(*sum), *number));
        let by_help: Vec<usize> = alone.iter().map(|(_, number)| *number).collect();
        let mut fewest: Option<Vec<usize>> = None;
        for order in [&by_help, &by_place] {
            for number in order {
                self.set(*number, self.of_tier(*number, tier));
                if self.is_spent() {
                    return None;
                }
            }
            if self.keeps_limits() {
                let mut kept = Vec::new();
                for number in order {
                    if !self.try_set(*number, None) {
                        kept.push(*number);
                    }
                    if self.is_spent() {
                        return None;
                    }
                }
                if fewest.as_ref().is_none_or(|fewest| kept.len() < fewest.len()) {
                    fewest = Some(kept);
                }
            }
            for number in order {
                self.set(*number, None);
            }
        }
        let mut chosen = fewest?;
        chosen.sort_unstable();
        for number in &chosen {
            self.set(*number, self.of_tier(*number, tier));
        }
        self.loosen(&chosen);
        let bounds = chosen.iter().filter_map(|number| Some(self.proposal(*number, self.bounds[*number]?))).collect();
        Some(bounds)
    }

    /// Doubles the bounds in turn as long as the limits are kept.
    fn loosen(&mut self, chosen: &[usize]) {
        let mut left = chosen.to_vec();
        while !left.is_empty() && !self.is_spent() {
            left.retain(|number| {
                let Some(doubled) = self.bounds[*number].map(|bound| bound.saturating_mul(2)) else { return false };
                let current = self.places[*number].current.unwrap_or(i64::MAX);
                doubled <= LARGEST && doubled < current && self.try_set(*number, Some(doubled))
            });
        }
    }
}
