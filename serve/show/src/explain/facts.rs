//! The facts in a schema about a value, other than its type and description.

use super::document::{is_true, items, member, text};
use kubeshape_value::Value;

/// The name of the fact that is a rule.
pub const RULE: &str = "rule";

/// The name of the fact that says a rule in words. It follows its rule.
pub const RULE_IN_WORDS: &str = "rule in words";

/// Returns whether this is the name of a fact about a rule, which [`rules`] returns, too.
pub fn is_about_rule(name: &str) -> bool {
    name == RULE || name == RULE_IN_WORDS
}

/// Keywords whose value is shown unchanged, in the order in which they are shown.
const KEYWORDS: [(&str, &str); 28] = [
    ("title", "title"),
    ("format", "format"),
    ("default", "default"),
    ("example", "example"),
    ("nullable", "nullable"),
    ("enum", "enum"),
    ("minimum", "minimum"),
    ("exclusiveMinimum", "exclusive minimum"),
    ("maximum", "maximum"),
    ("exclusiveMaximum", "exclusive maximum"),
    ("multipleOf", "multiple of"),
    ("minLength", "least length"),
    ("maxLength", "greatest length"),
    ("pattern", "pattern"),
    ("minItems", "fewest items"),
    ("maxItems", "most items"),
    ("uniqueItems", "unique items"),
    ("minProperties", "fewest properties"),
    ("maxProperties", "most properties"),
    ("allOf", "all of"),
    ("anyOf", "any of"),
    ("oneOf", "one of"),
    ("not", "not"),
    ("x-kubernetes-int-or-string", "integer or string"),
    ("x-kubernetes-list-type", "list type"),
    ("x-kubernetes-list-map-keys", "list map keys"),
    ("x-kubernetes-map-type", "map type"),
    ("x-kubernetes-embedded-resource", "embedded resource"),
];

/// A rule in CEL (`x-kubernetes-validations`). Members that the schema leaves out are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The expression that must be true.
    pub rule: String,
    /// What a server says if it is false.
    pub message: String,
    /// The expression that makes this message.
    pub message_expression: String,
    /// The reason in the error: `FieldValueInvalid`, `FieldValueForbidden` and others.
    pub reason: String,
    /// What the expression demands, in plain English ([`kubeshape_cel::words`]); empty if it has no sure words.
    pub words: String,
}

/// Returns the rules of a schema, in its order.
///
/// # Example
/// ```
/// use kubeshape_show::explain::rules;
/// use kubeshape_value::{Bump, ToValue};
/// let schema = serde_json::json!({"x-kubernetes-validations": [{"rule": "self > 0", "message": "must be positive"}]});
/// let arena = Bump::new();
/// let found = rules(schema.to_value(&arena));
/// assert_eq!((&*found[0].rule, &*found[0].message), ("self > 0", "must be positive"));
/// ```
pub fn rules(schema: Value<'_>) -> Vec<Rule> {
    let read = |rule: &Value<'_>| {
        let own = |name| text(*rule, name).to_owned();
        Rule {
            rule: own("rule"),
            message: own("message"),
            message_expression: own("messageExpression"),
            reason: own("reason"),
            words: kubeshape_cel::words(text(*rule, "rule")).unwrap_or_default(),
        }
    };
    items(schema, "x-kubernetes-validations").iter().map(read).collect()
}

/// Returns the facts in a schema about a value, each with a name in plain words.
///
/// # Example
/// ```
/// use kubeshape_show::explain::facts;
/// use kubeshape_value::{Bump, ToValue};
/// let schema = serde_json::json!({"type": "integer", "minimum": 1, "default": 3});
/// let arena = Bump::new();
/// let found = facts(schema.to_value(&arena));
/// assert_eq!(found, [("default".to_owned(), "3".to_owned()), ("minimum".to_owned(), "1".to_owned())]);
/// ```
pub fn facts(schema: Value<'_>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (keyword, name) in KEYWORDS {
        let Some(value) = schema.get(keyword) else { continue };
        // A default of `false` matters; `nullable: false` and `title: ""` do not.
        if !is_true(value) && matches!(value, Value::Bool(_)) && !is_value(keyword) {
            continue;
        }
        if keyword == "title" && value.as_str().is_none_or(str::is_empty) {
            continue;
        }
        // A single reference in allOf is the type.
        if keyword == "allOf" && matches!(value, Value::List([only]) if only.get("$ref").is_some()) {
            continue;
        }
        let text = match (keyword, value) {
            (
                "title" | "format" | "pattern" | "x-kubernetes-list-type" | "x-kubernetes-map-type",
                Value::String(text),
            ) => text.to_owned(),
            ("enum", Value::List(values)) => values.iter().map(|value| json(*value)).collect::<Vec<_>>().join(", "),
            (_, Value::Bool(true)) if !is_value(keyword) => "yes".to_owned(),
            (_, value) => json(value),
        };
        out.push((name.to_owned(), text));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields").is_some_and(is_true) {
        out.push(("unknown fields".to_owned(), "are kept".to_owned()));
    }
    for Rule { rule, message, message_expression, words, .. } in rules(schema) {
        let message = match (message.as_str(), message_expression.as_str()) {
            ("", "") => String::new(),
            ("", expression) => format!(" (message: {expression})"),
            (message, _) => format!(" ({message})"),
        };
        out.push((RULE.to_owned(), format!("{rule}{message}")));
        if !words.is_empty() {
            out.push((RULE_IN_WORDS.to_owned(), words));
        }
    }
    if let Some(Value::List(required)) = member(schema, "required") {
        let names: Vec<&str> = required.iter().filter_map(|name| name.as_str()).collect();
        out.push(("required fields".to_owned(), names.join(", ")));
    }
    out
}

/// Returns whether the value of a keyword is a possible value of the field.
fn is_value(keyword: &str) -> bool {
    matches!(keyword, "default" | "example")
}

/// Returns a value as compact JSON.
fn json(value: Value<'_>) -> String {
    let mut out = Vec::new();
    value.write_go_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
