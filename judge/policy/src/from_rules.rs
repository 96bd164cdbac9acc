//! Policies from the rules of a definition: for CustomResourceDefinitions that others own.
//!
//! A rule sees the value of its schema as `self`. A policy sees the whole object without its schema, so the expression
//! of a policy goes from `object` to each such value. Rules that read what only a schema knows have no expression.

use kubeshape_cel::escape::is_identifier;
use kubeshape_cel::{Ast, DeclType, NeedsSchema, RuleEnv, Type as CelType};
use kubeshape_schema::{Additional, Code, Flags, Items, Note, Rule, Schema, Type};
use kubeshape_structural::{Crd, Structural, Version};
use kubeshape_validate::Release;
use kubeshape_yaml::go::escape::{Escape, string};
use std::fmt::Write as _;
use std::sync::Arc;

/// The characters of an expression that the parser of a server accepts (upstream: `ExpressionSizeCodePointLimit`), here
/// in bytes.
pub(crate) const MAX_EXPRESSION: usize = 100_000;
/// The bytes of all expressions and messages. A deep schema repeats its path in each of them, and no server stores
/// more.
pub(crate) const MAX_POLICY: usize = 3 << 20;

/// The rules of one version of a definition as a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FromRules<'a> {
    /// JSON: a `List` of a ValidatingAdmissionPolicy and of a binding for the whole cluster; `None` if no rule has an
    /// expression.
    pub list: Option<Vec<u8>>,
    /// What a policy says differently, or not at all, with the places of the rules.
    pub notes: Vec<Note<'a>>,
}

/// Makes a policy of the rules (`x-kubernetes-validations`) of a version.
///
/// The policy denies the creates and updates that the rules refuse, in this version only. There are these differences,
/// and each is a note:
/// - A server does not evaluate rules about values that do not change (ratcheting, KEP-4008). It always evaluates
///   policies.
/// - The answer of a policy does not name the field, so its messages begin with the path of the schema.
/// - Rules that read escaped names, timestamps, durations, bytes or doubles, or that compare sets, maps or unknown
///   fields, are left out.
///
/// # Example
/// ```
/// use kubeshape_policy::Release;
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::{read, usable};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///   "metadata": {"name": "tabs.example.com"},
///   "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
///     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
///       "properties": {"size": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 9"}]}}}}}]}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let version = &crd.versions[0];
/// let schema = usable(version.schema, version.at).value.unwrap();
/// let policy = kubeshape_policy::from_rules(&crd, version, schema, Release::NEWEST);
/// let list = String::from_utf8(policy.list.unwrap()).unwrap();
/// assert!(list.contains(r#""expression":"!has(object.size) || (object.size < 9)""#), "{list}");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn from_rules<'a>(crd: &Crd<'a>, version: &Version<'a>, schema: Structural<'a>, release: Release) -> FromRules<'a> {
    let mut maker =
        Maker { release, path: Vec::new(), validations: Vec::new(), notes: Vec::new(), at: version.at, bytes: 0 };
    maker.node(schema.schema(), None);
    let Maker { validations, mut notes, .. } = maker;
    if validations.is_empty() {
        let detail = format!("version {} has no rule that a policy can have", version.name);
        notes.push(Note::new(Code::PolicyNoRules, version.at, detail));
        return FromRules { list: None, notes };
    }
    let detail = "a server does not evaluate rules about values that do not change";
    notes.push(Note::new(Code::PolicyUnchanged, version.at, detail));
    FromRules { list: Some(list(crd, version, &validations)), notes }
}

/// An expression that must be true.
struct Validation {
    expression: String,
    message: String,
    message_expression: String,
}

/// A step from a value to one inside.
#[derive(Clone, Copy)]
enum Step<'a> {
    Property {
        name: &'a str,
        is_required: bool,
    },
    /// Items of a list; with the keys that tell them apart.
    Items {
        keys: &'a [&'a str],
    },
    /// Values of a map.
    Values,
}

/// A step, and whether the value there can be null.
#[derive(Clone, Copy)]
struct Level<'a> {
    step: Step<'a>,
    is_nullable: bool,
}

struct Maker<'a> {
    release: Release,
    path: Vec<Level<'a>>,
    validations: Vec<Validation>,
    notes: Vec<Note<'a>>,
    at: u32,
    /// The bytes of all expressions and messages so far, of those that were given up, too.
    bytes: usize,
}

impl<'a> Maker<'a> {
    /// The rules of a schema and of those inside. `decl` is its type, if the schema above has one.
    fn node(&mut self, schema: &'a Schema<'a>, decl: Option<Arc<DeclType>>) {
        if !schema.subtree.any(Flags::VALIDATIONS) {
            return;
        }
        let is_resource = self.path.is_empty() || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        let decl = decl.or_else(|| DeclType::of(schema, is_resource).map(Arc::new));
        if !schema.extra().validations.is_empty()
            && let Some(decl) = &decl
        {
            let env = RuleEnv::of_type(decl, self.release, "selfType");
            for rule in schema.extra().validations {
                self.rule(schema, rule, &env);
            }
        }
        for property in schema.properties {
            let step = Step::Property { name: property.name, is_required: schema.required.contains(&property.name) };
            self.below(step, &property.schema);
        }
        if let Some(Items::One(items)) = schema.items {
            let is_map = schema.extra().list_type == Some("map");
            let keys = if is_map { schema.extra().list_map_keys } else { &[] };
            self.below(Step::Items { keys }, items);
        }
        if let Some(Additional::Schema(values)) = schema.additional {
            self.below(Step::Values, values);
        }
    }

    fn below(&mut self, step: Step<'a>, schema: &'a Schema<'a>) {
        self.path.push(Level { step, is_nullable: schema.flags.any(Flags::NULLABLE) });
        self.node(schema, None);
        self.path.pop();
    }

    fn rule(&mut self, schema: &'a Schema<'a>, rule: &'a Rule<'a>, env: &RuleEnv) {
        match self.validation(schema, rule, env) {
            Ok(validation) => self.validations.push(validation),
            Err(why) => {
                let detail = format!("{why}: {}", first_line(rule.rule));
                self.notes.push(Note::new(Code::PolicyRule, if schema.at == 0 { self.at } else { schema.at }, detail));
            }
        }
    }

    /// The rule as an expression of a policy, or why there is none.
    fn validation(
        &mut self,
        schema: &'a Schema<'a>,
        rule: &'a Rule<'a>,
        env: &RuleEnv,
    ) -> Result<Validation, &'static str> {
        if self.bytes > MAX_POLICY {
            return Err("the policy would be too large");
        }
        let has_optional_old = rule.optional_old_self == Some(true);
        let ast = env.ast(rule.rule, has_optional_old).map_err(|_| "the rule does not compile")?;
        let uses_old = ast.uses("oldSelf");
        if has_optional_old && uses_old {
            return Err("oldSelf is optional");
        }
        self.check(schema, &ast)?;
        let access = self.access(uses_old)?;
        let text = access.substituted(rule.rule, &ast)?;
        self.bytes += text.len();
        let expression = match &*access.before {
            "" => text,
            before => format!("{before}({}){}", on_lines_of_its_own(&text), ")".repeat(access.open)),
        };
        if expression.len() > MAX_EXPRESSION {
            return Err("the expression would be too long");
        }
        let path = self.field_path();
        self.bytes += path.len();
        let prefix = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = match rule.message {
            "" => format!("{prefix}failed rule: {}", first_line(rule.rule)),
            message => format!("{prefix}{message}"),
        };
        let mut message_expression = String::new();
        if !rule.message_expression.is_empty() {
            // What the expression of the policy has tested is there.
            let is_tested = |ast: &Ast| access.open == 0 && (uses_old || !ast.uses("oldSelf"));
            let own = env.ast(rule.message_expression, false).ok();
            let own = own.filter(|ast| is_tested(ast) && self.check(schema, ast).is_ok());
            match own.and_then(|ast| access.substituted(rule.message_expression, &ast).ok()) {
                Some(text) if prefix.is_empty() => message_expression = text,
                Some(text) => {
                    message_expression = format!("{} + ({})", quoted(&prefix), on_lines_of_its_own(&text));
                }
                None => {
                    let detail = format!("messageExpression: {}", first_line(rule.message_expression));
                    self.notes.push(Note::new(Code::PolicyMessage, schema.at, detail));
                }
            }
        }
        Ok(Validation { expression, message: first_line(&message).to_owned(), message_expression })
    }

    /// Whether the expression has the same value without the schema.
    fn check(&self, schema: &Schema<'_>, ast: &Ast) -> Result<(), &'static str> {
        match ast.needs_schema() {
            Some(NeedsSchema::EscapedName) => return Err("the rule reads a field whose name must be escaped"),
            Some(NeedsSchema::Type) => return Err("the rule reads a value that has another type without the schema"),
            None => {}
        }
        let compared = ast.compared_containers();
        let is_resource = self.path.is_empty() || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        if (is_resource || schema.subtree.any(Flags::PRESERVE_UNKNOWN)) && compared.iter().any(|ty| has_object(ty)) {
            return Err("the rule compares objects of which a schema shows a part only");
        }
        if !compared.is_empty() && has_unordered_list(schema) {
            return Err("the rule compares lists whose order means nothing");
        }
        Ok(())
    }

    /// How an expression gets from `object` and `oldObject` to the values of the rule.
    fn access(&mut self, uses_old: bool) -> Result<Access, &'static str> {
        let mut access = Access { new: "object".into(), old: "oldObject".into(), ..Access::default() };
        if uses_old {
            access.before.push_str("oldObject == null || ");
        }
        for (depth, Level { step, is_nullable }) in self.path.iter().enumerate() {
            let Access { new, old, before, open, variables } = &mut access;
            let length = match step {
                Step::Property { name, .. } => name.len(),
                Step::Items { .. } | Step::Values => 0,
            };
            if before.len() + new.len() + length > MAX_EXPRESSION {
                self.bytes += before.len();
                return Err("the expression would be too long");
            }
            match *step {
                Step::Property { name, is_required } => {
                    if !is_required {
                        before.push_str(&missing(new, name));
                    }
                    field(new, name);
                    if uses_old {
                        before.push_str(&missing(old, name));
                        field(old, name);
                    }
                }
                Step::Items { keys } => {
                    let item = format!("item{depth}");
                    let _ = write!(before, "{new}.all({item}, ");
                    *open += 1;
                    if uses_old {
                        if keys.is_empty() {
                            return Err("oldSelf is an item of a list without keys");
                        }
                        let before_item = format!("old{depth}");
                        let same: Vec<String> = keys
                            .iter()
                            .map(|key| {
                                let (mut new, mut old) = (item.clone(), before_item.clone());
                                field(&mut new, key);
                                field(&mut old, key);
                                format!("{old} == {new}")
                            })
                            .collect();
                        let same = same.join(" && ");
                        let _ = write!(before, "{old}.filter({before_item}, {same}).all({before_item}, ");
                        *open += 1;
                        old.clone_from(&before_item);
                        variables.push(before_item);
                    }
                    new.clone_from(&item);
                    variables.push(item);
                }
                Step::Values => {
                    let key = format!("key{depth}");
                    let _ = write!(before, "{new}.all({key}, ");
                    *open += 1;
                    let _ = write!(new, "[{key}]");
                    if uses_old {
                        let _ = write!(before, "!({key} in {old}) || ");
                        let _ = write!(old, "[{key}]");
                    }
                    variables.push(key);
                }
            }
            if *is_nullable {
                let _ = write!(before, "{new} == null || ");
                if uses_old {
                    let _ = write!(before, "{old} == null || ");
                }
            }
        }
        self.bytes += access.before.len();
        Ok(access)
    }

    /// The path of the schema, as messages show it.
    fn field_path(&self) -> String {
        let mut out = String::new();
        for level in &self.path {
            match level.step {
                Step::Property { name, .. } if is_identifier(name) => {
                    out.push_str(if out.is_empty() { "" } else { "." });
                    out.push_str(name);
                }
                Step::Property { name, .. } => {
                    let _ = write!(out, "[{name}]");
                }
                Step::Items { .. } | Step::Values => out.push_str("[*]"),
            }
        }
        out
    }
}

/// How an expression gets to the values of a rule.
#[derive(Default)]
struct Access {
    /// The value, and that before the change.
    new: String,
    old: String,
    /// What comes before the rule, and how many parentheses it leaves open.
    before: String,
    open: usize,
    /// Variables of its macros.
    variables: Vec<String>,
}

impl Access {
    /// The text of an expression of the rule with these values.
    fn substituted(&self, source: &str, ast: &Ast) -> Result<String, &'static str> {
        let hides = |name: &str| ast.binds(name);
        if ["object", "oldObject"].into_iter().chain(self.variables.iter().map(String::as_str)).any(hides) {
            return Err("the rule declares a variable with the name of one of the policy");
        }
        let mut places: Vec<_> = ast.occurrences(source, "self").into_iter().map(|range| (range, &self.new)).collect();
        places.extend(ast.occurrences(source, "oldSelf").into_iter().map(|range| (range, &self.old)));
        places.sort_by_key(|(range, _)| range.start);
        let (mut out, mut from) = (String::new(), 0);
        for (range, value) in places {
            out.push_str(source.get(from..range.start).unwrap_or_default());
            out.push_str(value);
            from = range.end;
        }
        out.push_str(source.get(from..).unwrap_or_default());
        Ok(out)
    }
}

/// `true` and an operator if a field is missing.
fn missing(value: &str, name: &str) -> String {
    if is_identifier(name) {
        format!("!has({value}.{name}) || ")
    } else {
        format!("!({} in {value}) || ", quoted(name))
    }
}

/// Goes to a field.
fn field(value: &mut String, name: &str) {
    let _ = if is_identifier(name) { write!(value, ".{name}") } else { write!(value, "[{}]", quoted(name)) };
}

/// A string literal of CEL. JSON's escapes are among CEL's.
fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    string(&mut out, text, Escape::Plain);
    String::from_utf8_lossy(&out).into_owned()
}

/// The text between parentheses: a comment must not hide the closing one.
pub(crate) fn on_lines_of_its_own(text: &str) -> String {
    let text = text.trim();
    if text.contains("//") { format!("{text}\n") } else { text.to_owned() }
}

pub(crate) fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

/// Whether a type is or contains an object type.
pub(crate) fn has_object(ty: &CelType) -> bool {
    match ty {
        CelType::List(element) => has_object(element),
        CelType::Map(entry) => has_object(&entry.1),
        ty => matches!(ty, CelType::Struct(_)),
    }
}

/// Whether a schema has a list whose order means nothing: sets and maps.
pub(crate) fn has_unordered_list(schema: &Schema<'_>) -> bool {
    if !schema.subtree.any(Flags::LIST_TYPE) {
        return false;
    }
    let is_list = schema.ty == Type::Array && matches!(schema.extra().list_type, Some("set" | "map"));
    is_list
        || schema.properties.iter().any(|property| has_unordered_list(&property.schema))
        || matches!(schema.items, Some(Items::One(items)) if has_unordered_list(items))
        || matches!(schema.additional, Some(Additional::Schema(values)) if has_unordered_list(values))
}

/// Prints the policy and its binding.
fn list(crd: &Crd<'_>, version: &Version<'_>, validations: &[Validation]) -> Vec<u8> {
    let name = format!("{}.{}-{}", crd.names.plural, crd.group, version.name);
    let mut out = Printer(Vec::new());
    out.raw(r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"admissionregistration.k8s.io/v1","#);
    out.raw(r#""kind":"ValidatingAdmissionPolicy","metadata":{"name":"#);
    out.text(&name);
    out.raw(
        r#"},"spec":{"failurePolicy":"Fail","matchConstraints":{"matchPolicy":"Exact","resourceRules":[{"apiGroups":["#,
    );
    out.text(crd.group);
    out.raw(r#"],"apiVersions":["#);
    out.text(version.name);
    out.raw(r#"],"operations":["CREATE","UPDATE"],"resources":["#);
    out.text(crd.names.plural);
    if version.status {
        out.raw(",");
        out.text(&format!("{}/status", crd.names.plural));
    }
    out.raw(r#"]}]},"validations":["#);
    for (n, validation) in validations.iter().enumerate() {
        out.raw(if n == 0 { r#"{"expression":"# } else { r#",{"expression":"# });
        out.text(&validation.expression);
        out.raw(r#","message":"#);
        out.text(&validation.message);
        if !validation.message_expression.is_empty() {
            out.raw(r#","messageExpression":"#);
            out.text(&validation.message_expression);
        }
        out.raw(r#","reason":"Invalid"}"#);
    }
    out.raw(r#"]}},{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"#);
    out.text(&name);
    out.raw(r#"},"spec":{"policyName":"#);
    out.text(&name);
    out.raw(r#","validationActions":["Deny"]}}]}"#);
    out.0
}

struct Printer(Vec<u8>);

impl Printer {
    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        string(&mut self.0, text, Escape::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_schema::Bump;
    use kubeshape_structural::{read, usable};
    use kubeshape_yaml::{Limits, Stream, Tape};

    #[test]
    fn deep_schemas_with_many_rules_make_no_large_policy() {
        let rules = vec![r#"{"rule": "self != 'x'"}"#; 500].join(",");
        let mut schema = format!(r#"{{"type": "string", "x-kubernetes-validations": [{rules}]}}"#);
        for level in 0..100 {
            let name = format!("{}{level}", "n".repeat(50));
            schema = format!(r#"{{"type": "object", "properties": {{"{name}": {schema}}}}}"#);
        }
        let source = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"plural": "tabs", "kind": "Tab"}},
            "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema": {schema}}}}}]}}}}"#
        );
        let mut tape = Tape::new();
        Stream::new(source.as_bytes(), Limits::default()).expect("a text").next(&mut tape).transpose().expect("JSON");
        let arena = Bump::new();
        let crd = read::read(tape.document(&source).root().expect("an object"), &arena).value.expect("a definition");
        let version = &crd.versions[0];
        let schema = usable(version.schema, version.at).value.expect("a structural schema");
        let made = from_rules(&crd, version, schema, Release::NEWEST);
        assert!(made.list.map_or(0, |list| list.len()) < 2 * MAX_POLICY);
        assert!(made.notes.iter().any(|note| note.detail.starts_with("the ")), "{:?}", made.notes.first());
    }
}
