//! Values that can change a decision: the fields that expressions read, and the values that they compare with.

use kubeshape_smd::Value;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of fields, and of values of each type.
const MAX_PATHS: usize = 60;
const MAX_VALUES: usize = 16;
/// The macros whose first argument is a variable for the items of a list.
const MACROS: [&str; 6] = ["all", "exists", "existsOne", "exists_one", "filter", "map"];

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A member.
    Key(String),
    /// The first item of a list.
    Item,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edit {
    pub(super) path: Vec<Step>,
    /// The new value; `None` removes it.
    value: Option<Json>,
}

/// The fields and values in the expressions of policies.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    paths: BTreeSet<Vec<Step>>,
    strings: BTreeSet<String>,
    numbers: BTreeSet<i64>,
    /// The paths of variables.
    names: BTreeMap<String, Vec<Step>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Number(i64),
    Sign(char),
}

impl Candidates {
    /// Reads policies, and the values of other objects, which may be parameters.
    pub(super) fn of(objects: &[Value<'_>]) -> Candidates {
        let mut out = Candidates::default();
        // The second pass knows all variables.
        for _ in 0..2 {
            for object in objects {
                match object.get("spec") {
                    Some(spec) if spec.get("matchConstraints").is_some() => out.policy(spec),
                    _ => out.values(*object),
                }
            }
        }
        out
    }

    fn policy(&mut self, spec: Value<'_>) {
        let items = |key: &str| spec.get(key).and_then(Value::as_list).unwrap_or_default();
        for variable in items("variables") {
            let text = |key: &str| variable.get(key).and_then(Value::as_str).unwrap_or_default();
            if let Some(path) = self.expression(text("expression")) {
                self.names.insert(format!("variables.{}", text("name")), path);
            }
        }
        for key in ["matchConditions", "validations", "mutations"] {
            for item in items(key) {
                let inner = ["jsonPatch", "applyConfiguration"].iter().filter_map(|key| item.get(key));
                for holder in std::iter::once(*item).chain(inner) {
                    self.expression(holder.get("expression").and_then(Value::as_str).unwrap_or_default());
                }
            }
        }
    }

    /// Adds the scalars of an object.
    fn values(&mut self, value: Value<'_>) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => match text.parse() {
                    Ok(number) => self.number(number),
                    Err(_) => self.text(text),
                },
                Value::Int(number) => self.number(number),
                Value::List(items) => open.extend(items),
                Value::Map(map) => open.extend(map.entries().iter().map(|(_, value)| *value)),
                _ => {}
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.strings.len() < MAX_VALUES && text.len() < 200 {
            self.strings.insert(text.to_owned());
        }
    }

    fn number(&mut self, number: i64) {
        for near in [number.saturating_sub(1), number, number.saturating_add(1)] {
            if self.numbers.len() < MAX_VALUES {
                self.numbers.insert(near);
            }
        }
    }

    /// Adds the fields and values of an expression. Returns the first field.
    fn expression(&mut self, source: &str) -> Option<Vec<Step>> {
        let tokens = tokens(source);
        let mut first = None;
        let mut last: Vec<Step> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Text(text) => self.text(text),
                Token::Number(number) => self.number(*number),
                Token::Sign(_) => {}
                Token::Name(name) => {
                    let is_member = at > 0 && tokens.get(at - 1) == Some(&Token::Sign('.'));
                    // A variable of a macro on a list that is not a field.
                    if is_member && MACROS.contains(&name.as_str()) {
                        self.variable(&tokens, at, &last);
                    }
                    if is_member {
                        continue;
                    }
                    let Some(path) = self.chain(&tokens, at, name) else { continue };
                    if let (Some(Token::Text(key)), Some(Token::Name(word))) = (
                        at.checked_sub(2).and_then(|at| tokens.get(at)),
                        at.checked_sub(1).and_then(|at| tokens.get(at)),
                    ) && word == "in"
                    {
                        let mut member = path.clone();
                        member.push(Step::Key(key.clone()));
                        self.path(&member);
                    }
                    self.path(&path);
                    last.clone_from(&path);
                    first.get_or_insert(path);
                }
            }
        }
        first
    }

    fn path(&mut self, path: &[Step]) {
        if !path.is_empty() && path.len() < 16 && self.paths.len() < MAX_PATHS {
            self.paths.insert(path.to_vec());
        }
    }

    /// Reads `object.spec.a['b'][0]` from a name on.
    fn chain(&mut self, tokens: &[Token], at: usize, name: &str) -> Option<Vec<Step>> {
        let mut at = at + 1;
        let mut path = match name {
            "object" | "oldObject" => Vec::new(),
            "variables" => {
                let Some(Token::Name(variable)) = tokens.get(at + 1) else { return None };
                at += 2;
                self.names.get(&format!("variables.{variable}"))?.clone()
            }
            name => self.names.get(name)?.clone(),
        };
        loop {
            let optional = |at: usize| usize::from(tokens.get(at) == Some(&Token::Sign('?')));
            match tokens.get(at) {
                Some(Token::Sign('.')) => {
                    let place = at + 1 + optional(at + 1);
                    let Some(Token::Name(member)) = tokens.get(place) else { break };
                    if tokens.get(place + 1) == Some(&Token::Sign('(')) {
                        if MACROS.contains(&member.as_str()) {
                            self.variable(tokens, place, &path);
                        }
                        break;
                    }
                    path.push(Step::Key(member.clone()));
                    at = place + 1;
                }
                Some(Token::Sign('[')) => {
                    let place = at + 1 + optional(at + 1);
                    match tokens.get(place) {
                        Some(Token::Text(key)) => path.push(Step::Key(key.clone())),
                        Some(Token::Number(_)) => path.push(Step::Item),
                        _ => break,
                    }
                    at = place + 2;
                }
                _ => break,
            }
        }
        Some(path)
    }

    /// Gives the variable of a macro its path.
    fn variable(&mut self, tokens: &[Token], at: usize, list: &[Step]) {
        if let (Some(Token::Sign('(')), Some(Token::Name(name)), Some(Token::Sign(','))) =
            (tokens.get(at + 1), tokens.get(at + 2), tokens.get(at + 3))
        {
            let mut path = list.to_vec();
            path.push(Step::Item);
            self.names.insert(name.clone(), path);
        }
    }

    /// Returns the changes of an object that may matter.
    pub(super) fn edits(&self, object: &Json) -> Vec<Edit> {
        let mut out = Vec::new();
        for path in &self.paths {
            let now = at(object, path);
            let mut values: Vec<Option<Json>> = Vec::new();
            if matches!(now, None | Some(Json::Number(_))) {
                values.extend(self.numbers.iter().map(|number| Some(json!(number))));
            }
            if matches!(now, None | Some(Json::String(_))) {
                let longer = self.strings.iter().map(|text| Some(json!(format!("{text}x"))));
                values.extend(self.strings.iter().map(|text| Some(json!(text))).chain(longer));
            }
            if matches!(now, None | Some(Json::Bool(_))) {
                values.extend([Some(json!(true)), Some(json!(false))]);
            }
            if now.is_some() {
                values.push(None);
            }
            values.retain(|value| value.as_ref() != now);
            out.extend(values.into_iter().map(|value| Edit { path: path.clone(), value }));
        }
        out
    }
}

impl Edit {
    /// Returns the changed object.
    pub(super) fn applied_to(&self, object: &Json) -> Json {
        let mut out = object.clone();
        match &self.value {
            Some(value) => set(&mut out, &self.path, value),
            None => return without(object, &self.path).unwrap_or(out),
        }
        out
    }
}

fn at<'j>(object: &'j Json, path: &[Step]) -> Option<&'j Json> {
    path.iter().try_fold(object, |at, step| match step {
        Step::Key(key) => at.get(key),
        Step::Item => at.get(0),
    })
}

fn set(object: &mut Json, path: &[Step], value: &Json) {
    let mut at = object;
    for step in path {
        match step {
            Step::Key(key) => {
                if !at.is_object() {
                    *at = Json::Object(Map::new());
                }
                let Some(members) = at.as_object_mut() else { return };
                at = members.entry(key.clone()).or_insert(Json::Null);
            }
            Step::Item => {
                if at.as_array().is_none_or(Vec::is_empty) {
                    *at = Json::Array(vec![Json::Null]);
                }
                let Some(item) = at.as_array_mut().and_then(|items| items.first_mut()) else { return };
                at = item;
            }
        }
    }
    *at = value.clone();
}

/// Returns an object without the value at a path. `None` if there is none.
pub(super) fn without(object: &Json, path: &[Step]) -> Option<Json> {
    at(object, path)?;
    let (last, above) = path.split_last()?;
    let mut out = object.clone();
    let mut holder = &mut out;
    for step in above {
        holder = match step {
            Step::Key(key) => holder.get_mut(key)?,
            Step::Item => holder.get_mut(0)?,
        };
    }
    match last {
        Step::Key(key) => holder.as_object_mut()?.remove(key).map(drop)?,
        Step::Item => {
            let items = holder.as_array_mut()?;
            items.remove(0);
        }
    }
    Some(out)
}

/// Returns the paths of all members except those that every object has, the outer ones first.
pub(super) fn removable(object: &Json) -> Vec<Vec<Step>> {
    let mut out = Vec::new();
    let mut open: Vec<(Vec<Step>, &Json)> = vec![(Vec::new(), object)];
    while let Some((path, value)) = open.pop() {
        let members = value.as_object().into_iter().flatten();
        let mut inner: Vec<(Vec<Step>, &Json)> = Vec::new();
        for (key, value) in members {
            let mut path = path.clone();
            path.push(Step::Key(key.clone()));
            inner.push((path, value));
        }
        if let Some(first) = value.as_array().and_then(|items| items.first()) {
            let mut path = path.clone();
            path.push(Step::Item);
            inner.push((path, first));
        }
        for (path, value) in inner {
            let names: Vec<&str> = path
                .iter()
                .filter_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None })
                .collect();
            if !matches!(names.as_slice(), ["apiVersion" | "kind" | "metadata"] | ["metadata", "name"]) {
                out.push(path.clone());
            }
            open.push((path, value));
        }
    }
    out.sort_by_key(Vec::len);
    out
}

/// Splits an expression. Comments and operators do not matter here.
fn tokens(source: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' => {
                let mut text = String::new();
                while let Some(inner) = rest.next() {
                    match inner {
                        '\\' => text.extend(rest.next()),
                        inner if inner == c => break,
                        inner => text.push(inner),
                    }
                }
                out.push(Token::Text(text));
            }
            c if c.is_ascii_digit() => {
                let mut text = c.to_string();
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    text.push(digit);
                }
                out.extend(text.parse().ok().map(Token::Number));
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = c.to_string();
                while let Some(more) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(more);
                }
                // `r'…'` is a string.
                let is_prefix =
                    matches!(name.as_str(), "r" | "R" | "b" | "B") && matches!(rest.peek(), Some('\'' | '"'));
                if !is_prefix {
                    out.push(Token::Name(name));
                }
            }
            c if c.is_whitespace() => {}
            c => out.push(Token::Sign(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(expression: &str) -> Vec<String> {
        let mut candidates = Candidates::default();
        candidates.expression(expression);
        candidates.expression(expression);
        let step = |step: &Step| match step {
            Step::Key(key) => format!(".{key}"),
            Step::Item => "[]".to_owned(),
        };
        candidates.paths.iter().map(|path| path.iter().map(step).collect()).collect()
    }

    #[test]
    fn expressions_have_fields() {
        for (expression, expected) in [
            ("object.spec.replicas <= 5", &[".spec.replicas"][..]),
            ("object.spec.?a.?b.orValue(1) > 0", &[".spec.a.b"]),
            ("'team' in object.metadata.labels", &[".metadata.labels", ".metadata.labels.team"]),
            ("object.metadata.labels['a/b'] == r'x'", &[".metadata.labels.a/b"]),
            (
                "object.spec.containers.all(c, c.image.startsWith('a'))",
                &[".spec.containers", ".spec.containers[]", ".spec.containers[].image"],
            ),
            ("request.userInfo.username == 'a'", &[]),
            ("object.a[", &[".a"]),
            ("'unclosed", &[]),
        ] {
            assert_eq!(paths(expression), expected, "{expression}");
        }
    }

    #[test]
    fn an_edit_creates_and_removes() {
        let path = |keys: &[&str]| keys.iter().map(|key| Step::Key((*key).to_owned())).collect::<Vec<_>>();
        let set = Edit { path: path(&["a", "b"]), value: Some(json!(1)) };
        assert_eq!(set.applied_to(&json!({})), json!({"a": {"b": 1}}));
        let removed = Edit { path: path(&["a", "b"]), value: None };
        assert_eq!(removed.applied_to(&json!({"a": {"b": 1}})), json!({"a": {}}));
        let item = Edit { path: vec![Step::Key("l".to_owned()), Step::Item], value: Some(json!("x")) };
        assert_eq!(item.applied_to(&json!({"l": []})), json!({"l": ["x"]}));
    }
}
