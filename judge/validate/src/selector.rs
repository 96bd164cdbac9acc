//! Label selectors: `pkg/labels` and `metav1.LabelSelectorAsSelector` of `k8s.io/apimachinery`.

mod parse;

use crate::names;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::{Map, Value};
pub use parse::LabelError;
use std::fmt;

/// A label selector, with strings of type `S`. One without requirements selects everything.
///
/// # Example
/// ```
/// use kubeshape_validate::selector::LabelSelector;
///
/// let selector = LabelSelector::parse("app=web, tier in (a,b), !legacy, size>2")?;
/// let web = [("app", "web"), ("tier", "b"), ("size", "3")];
/// let label = |name: &str| web.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
/// assert!(selector.matches(label));
/// assert!(!selector.matches(|_| None));
/// assert_eq!(
///     LabelSelector::parse("app=(").unwrap_err().to_string(),
///     r#"unable to parse requirement: found '(', expected: identifier"#,
/// );
/// # Ok::<(), kubeshape_validate::selector::LabelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSelector<S = String> {
    requirements: Vec<Requirement<S>>,
}

impl<S> Default for LabelSelector<S> {
    fn default() -> Self {
        LabelSelector { requirements: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement<S> {
    key: S,
    operator: Operator,
    values: Vec<S>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

impl<'a> LabelSelector<&'a str> {
    /// Reads a selector with `matchLabels` and `matchExpressions`.
    ///
    /// # Errors
    /// Returns upstream's message about the first invalid requirement.
    pub fn read(selector: Value<'a>) -> Result<Self, String> {
        let text = |value: Option<Value<'a>>| value.and_then(Value::as_str).unwrap_or_default();
        let items = |value: Option<Value<'a>>| value.and_then(Value::as_list).unwrap_or_default();
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Value::as_map).unwrap_or(Map::EMPTY).entries() {
            requirements.push(Requirement::new(*key, Operator::In, vec![text(Some(*value))])?);
        }
        for item in items(selector.get("matchExpressions")) {
            let operator = match text(item.get("operator")) {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{other:?} is not a valid label selector operator")),
            };
            let values = items(item.get("values")).iter().filter_map(|value| value.as_str()).collect();
            requirements.push(Requirement::new(text(item.get("key")), operator, values)?);
        }
        Ok(LabelSelector { requirements })
    }
}

impl<S: AsRef<str>> LabelSelector<S> {
    /// Returns whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches_map(&self, labels: Map<'_>) -> bool {
        self.matches(|key| labels.get(key).map(|value| value.as_str().unwrap_or_default()))
    }

    /// Does the same, with a function that returns the value of a label.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(label(requirement.key.as_ref())))
    }
}

impl<S: AsRef<str>> Requirement<S> {
    /// Creates a requirement: `labels.NewRequirement`. The error is upstream's message.
    fn new(key: S, operator: Operator, values: Vec<S>) -> Result<Self, String> {
        let mut errors = key_error(key.as_ref());
        let path = Path::Base("values");
        let all = || {
            let quoted: Vec<String> = values.iter().map(|value| format!("{:?}", value.as_ref())).collect();
            BadValue::Json(format!("[{}]", quoted.join(",")))
        };
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                errors.push(Error::invalid(&path, all(), "for 'in', 'notin' operators, values set can't be empty", 0));
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                let detail = "values set must be empty for exists and does not exist";
                errors.push(Error::invalid(&path, all(), detail, 0));
            }
            Operator::GreaterThan | Operator::LessThan => {
                for (at, value) in values.iter().enumerate().filter(|(_, value)| number(value.as_ref()).is_none()) {
                    let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                    errors.push(Error::invalid(&path.index(at), value.as_ref(), detail, 0));
                }
            }
            _ => {}
        }
        for (at, value) in values.iter().enumerate() {
            let messages = names::label_value(value.as_ref());
            if !messages.is_empty() {
                let path = path.index(at);
                errors.push(Error::invalid(&path.key(key.as_ref()), value.as_ref(), messages.join("; "), 0));
            }
        }
        match joined(&errors) {
            Some(message) => Err(message),
            None => Ok(Requirement { key, operator, values }),
        }
    }

    /// Returns whether the value of the label, if there is one, is as required.
    fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = || value.is_some_and(|value| self.values.iter().any(|own| own.as_ref() == value));
        let compares = |holds: fn(i64, i64) -> bool| {
            let bound = self.values.first().and_then(|own| number(own.as_ref()));
            value.and_then(number).zip(bound).is_some_and(|(found, bound)| holds(found, bound))
        };
        match self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::In => is_listed(),
            Operator::NotIn => !is_listed(),
            Operator::GreaterThan => compares(|found, bound| found > bound),
            Operator::LessThan => compares(|found, bound| found < bound),
        }
    }
}

/// `ParseInt` with base 10.
fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Returns the error of a key: `validateLabelKey`.
fn key_error(key: &str) -> Vec<Error> {
    let messages = names::qualified_name(key);
    let error = || Error::invalid(&Path::Base("key"), key, messages.join("; "), 0);
    if messages.is_empty() { Vec::new() } else { vec![error()] }
}

/// Returns the message about all errors: `ErrorList.ToAggregate`.
fn joined(errors: &[impl fmt::Display]) -> Option<String> {
    match errors {
        [] => None,
        [one] => Some(one.to_string()),
        several => {
            let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
            Some(format!("[{}]", texts.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LabelSelector;
    use kubeshape_value::{Bump, ToValue};
    use serde_json::{Value, json};

    #[test]
    fn invalid_requirements_have_the_messages_of_upstream() {
        let arena = Bump::new();
        let error = |selector: Value| LabelSelector::read(selector.to_value(&arena)).err().unwrap_or_default();
        let of = |operator: &str, values: Value| {
            error(json!({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]}))
        };
        assert_eq!(of("In", json!(["b"])), "");
        assert_eq!(of("Gt", json!(["1"])), "\"Gt\" is not a valid label selector operator");
        let empty = "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
        assert_eq!(of("NotIn", json!([])), empty);
        let full = "values: Invalid value: [\"b\",\"c\"]: values set must be empty for exists and does not exist";
        assert_eq!(of("Exists", json!(["b", "c"])), full);
        let value = of("In", json!(["ok", "é"]));
        assert!(value.starts_with("values[1][a]: Invalid value: \"é\": a valid label must be"), "{value}");
        let both = error(json!({"matchLabels": {"é": "é"}}));
        assert!(both.starts_with("[key: Invalid value: \"é\": ") && both.contains(", values[0][é]: Invalid"), "{both}");
    }
}
