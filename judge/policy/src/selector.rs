//! Label selectors: `metav1.LabelSelectorAsSelector`.

use crate::objects::{items, text, texts};
use kubeshape_schema::names;
use kubeshape_value::{Map, Value};

/// A label selector. One without requirements selects everything.
#[derive(Clone, Debug)]
pub(crate) struct Selector<'a> {
    requirements: Vec<Requirement<'a>>,
}

#[derive(Clone, Debug)]
struct Requirement<'a> {
    key: &'a str,
    operator: Operator,
    values: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl<'a> Selector<'a> {
    /// Reads a selector.
    ///
    /// # Errors
    /// Returns upstream's message about the first invalid requirement.
    pub(crate) fn read(selector: Value<'a>) -> Result<Selector<'a>, String> {
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Value::as_map).unwrap_or(Map::EMPTY).entries() {
            let values = vec![value.as_str().unwrap_or_default()];
            requirements.push(Requirement { key, operator: Operator::In, values }.checked()?);
        }
        for item in items(selector.get("matchExpressions")) {
            let operator = match text(item.get("operator")) {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{other:?} is not a valid label selector operator")),
            };
            let values = texts(item.get("values"));
            requirements.push(Requirement { key: text(item.get("key")), operator, values }.checked()?);
        }
        Ok(Selector { requirements })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    pub(crate) fn matches(&self, labels: Map<'_>) -> bool {
        self.requirements.iter().all(|requirement| {
            let own = labels.get(requirement.key).map(|value| value.as_str().unwrap_or_default());
            let is_listed = own.is_some_and(|own| requirement.values.contains(&own));
            match requirement.operator {
                Operator::In => is_listed,
                Operator::NotIn => !is_listed,
                Operator::Exists => own.is_some(),
                Operator::DoesNotExist => own.is_none(),
            }
        })
    }
}

impl Requirement<'_> {
    /// Upstream: `labels.NewRequirement`.
    fn checked(self) -> Result<Self, String> {
        let mut errors = Vec::new();
        let messages = names::qualified_name(self.key);
        if !messages.is_empty() {
            errors.push(format!("key: Invalid value: {:?}: {}", self.key, messages.join("; ")));
        }
        match self.operator {
            Operator::In | Operator::NotIn if self.values.is_empty() => {
                errors.push(
                    "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty".to_owned(),
                );
            }
            Operator::Exists | Operator::DoesNotExist if !self.values.is_empty() => errors.push(format!(
                "values: Invalid value: [{}]: values set must be empty for exists and does not exist",
                self.values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")
            )),
            _ => {}
        }
        for (index, value) in self.values.iter().enumerate() {
            let messages = names::label_value(value);
            if !messages.is_empty() {
                let key = self.key;
                errors.push(format!("values[{index}][{key}]: Invalid value: {value:?}: {}", messages.join("; ")));
            }
        }
        match errors.as_slice() {
            [] => Ok(self),
            [one] => Err(one.clone()),
            more => Err(format!("[{}]", more.join(", "))),
        }
    }
}
