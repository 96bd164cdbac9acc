//! Advice about CEL rules that pass or fail unexpectedly.

use kubeshape_cel::{Language, RuleEnv};
use kubeshape_schema::{Additional, Code, Flags, Items, Note, Property, Schema};
use kubeshape_validate::Release;
use kubeshape_yaml::Document;
use std::collections::HashSet;

/// Functions that fail for numbers.
const OF_STRINGS: [&str; 12] = [
    "quantity",
    "isQuantity",
    "url",
    "isURL",
    "ip",
    "isIP",
    "cidr",
    "isCIDR",
    "semver",
    "isSemver",
    "duration",
    "timestamp",
];

/// Checks the rules of a schema and its subschemas. The reader bounds the nesting.
pub(super) fn about(root: &Schema<'_>, document: Document<'_>, notes: &mut Vec<Note<'static>>) {
    Walk { document, notes }.schema(root, true, false);
}

struct Walk<'w, 'd> {
    document: Document<'d>,
    notes: &'w mut Vec<Note<'static>>,
}

impl Walk<'_, '_> {
    /// Checks a schema. `is_optional` says that its value may be removed and set again.
    fn schema(&mut self, schema: &Schema<'_>, is_root: bool, is_optional: bool) {
        if !schema.subtree.any(Flags::VALIDATIONS) {
            return;
        }
        if is_optional {
            self.transitions(schema);
        }
        self.numbers(schema, is_root);
        for property in schema.properties {
            let is_part = is_root && matches!(property.name, "spec" | "status");
            let may_be_unset = is_optional || !is_part && is_unset_at_will(schema, property);
            self.schema(&property.schema, false, may_be_unset && !is_guarded(schema, property.name));
        }
        // Items and entries can always be removed and added.
        match schema.items {
            Some(Items::One(item)) => self.schema(item, false, false),
            Some(Items::Many(items)) => items.iter().for_each(|item| self.schema(item, false, false)),
            None => {}
        }
        if let Some(Additional::Schema(inner)) = schema.additional {
            self.schema(inner, false, false);
        }
    }

    /// Reports transition rules of an optional value.
    fn transitions(&mut self, schema: &Schema<'_>) {
        for (at, rule) in schema.extra().validations.iter().enumerate() {
            if rule.optional_old_self != Some(true) && words(rule.rule).any(|word| word == "oldSelf") {
                let detail = "it does not run when the field is removed, or added again with another value";
                self.note(schema, at, Code::AdviceTransition, detail.to_owned());
            }
        }
    }

    /// Reports string functions in rules whose value is an integer or a string.
    fn numbers(&mut self, schema: &Schema<'_>, is_root: bool) {
        let mut env = None;
        for (at, rule) in schema.extra().validations.iter().enumerate() {
            if !words(rule.rule).any(|word| OF_STRINGS.contains(&word)) {
                continue;
            }
            let is_resource = is_root || schema.flags.any(Flags::EMBEDDED_RESOURCE);
            let env = env.get_or_insert_with(|| RuleEnv::new(schema, is_resource, newest(), "self"));
            let Some(env) = env else { return };
            let Ok(ast) = env.ast(rule.rule, rule.optional_old_self == Some(true)) else { continue };
            let calls = ast.calls();
            let guarded: HashSet<&str> =
                calls.iter().filter(|call| call.function == "type").map(|call| call.argument.as_str()).collect();
            let mut seen = HashSet::new();
            for call in &calls {
                let fails = OF_STRINGS.contains(&call.function) && call.is_dynamic;
                if fails && !guarded.contains(call.argument.as_str()) && seen.insert(call.argument.as_str()) {
                    let (function, argument) = (call.function, &call.argument);
                    let detail = format!("`{function}({argument})` fails where `{argument}` is a number");
                    self.note(schema, at, Code::AdviceNumber, detail);
                }
            }
        }
    }

    fn note(&mut self, schema: &Schema<'_>, rule: usize, code: Code, detail: String) {
        let node = self.document.node(schema.at);
        let rule = node.get("x-kubernetes-validations").and_then(|rules| rules.items().nth(rule));
        let at = rule.map_or(node, |rule| rule.get("rule").unwrap_or(rule)).index();
        self.notes.push(Note::new(code, at, detail));
    }
}

/// Returns the language of new expressions in the newest release.
fn newest() -> Language {
    Language::new_expressions(Release::NEWEST)
}

/// Returns whether a client can remove a property: it is not required and has no default.
fn is_unset_at_will(schema: &Schema<'_>, property: &Property<'_>) -> bool {
    !schema.required.contains(&property.name) && property.schema.default.is_none()
}

/// Returns whether a transition rule of an object mentions one of its properties.
fn is_guarded(schema: &Schema<'_>, property: &str) -> bool {
    let speaks = |rule: &str| words(rule).any(|word| word == "oldSelf") && words(rule).any(|word| word == property);
    schema.extra().validations.iter().any(|rule| speaks(rule.rule))
}

/// Returns the names in an expression.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}
