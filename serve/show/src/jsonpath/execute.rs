//! Templates applied to objects (upstream: `jsonpath.go`).

use super::error::{Error, MAX_OUTPUT, MAX_STEPS};
use super::{Item, Node, Param, Template, compare};
use kubeshape_value::Value;

/// The maximum nesting of ranges.
const MAX_RANGES: usize = 64;

/// How a template is applied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether missing fields are not errors.
    pub allow_missing_keys: bool,
    /// Whether results are printed as an indented JSON list.
    pub json: bool,
}

/// An error, and whether upstream returns values with it. A filter without operator uses these values.
struct Failure {
    error: Error,
    has_values: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, has_values: false }
    }
}

fn with(input: &[Item<'_>], error: Error) -> Failure {
    Failure { error, has_values: !input.is_empty() }
}

type Items<'a> = Vec<Item<'a>>;

impl Template {
    /// Returns the results of each text and action of the template, in order (upstream: `FindResults`).
    ///
    /// # Errors
    /// A step fails.
    pub fn find<'a>(&'a self, data: Value<'a>, options: Options) -> Result<Vec<Vec<Item<'a>>>, Error> {
        let mut run =
            Run { root: &self.root, options, steps: 0, begin: 0, inside: 0, end: 0, last_end: None, depth: 0 };
        // A null document is nothing, unlike a null inside it.
        let item = if data.is_null() { Item::Nothing } else { Item::Value(data) };
        run.find(0, item)
    }

    /// Appends the output of the template for a value (upstream: `Execute`).
    ///
    /// # Errors
    /// A step fails. The output until then is kept.
    pub fn execute(&self, data: Value<'_>, options: Options, out: &mut Vec<u8>) -> Result<(), Error> {
        let most = out.len().saturating_add(MAX_OUTPUT);
        self.find(data, options)?.iter().try_for_each(|items| print_within(items, options, most, out))
    }
}

/// Appends the results of an action (upstream: `PrintResults`).
pub(crate) fn print(items: &[Item<'_>], options: Options, out: &mut Vec<u8>) -> Result<(), Error> {
    print_within(items, options, out.len().saturating_add(MAX_OUTPUT), out)
}

fn print_within(items: &[Item<'_>], options: Options, most: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    if options.json {
        if items.iter().any(|item| matches!(item, Item::Nothing)) {
            return Err(Error::NoValue);
        }
        return indented(items, most, out);
    }
    for (at, item) in items.iter().enumerate() {
        if out.len() > most {
            return Err(Error::TooMuch);
        }
        if at > 0 {
            out.push(b' ');
        }
        match item {
            Item::Value(Value::List(_) | Value::Map(_)) => item.write_json(out),
            Item::Value(Value::Null) => out.extend_from_slice(b"null"),
            Item::Nothing => out.extend_from_slice(b"<no value>"),
            other => out.extend_from_slice(other.to_string().as_bytes()),
        }
    }
    Ok(())
}

/// Prints a list like Go's `json.MarshalIndent` with four spaces, and a line break.
fn indented(items: &[Item<'_>], most: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut compact = vec![b'['];
    for (at, item) in items.iter().enumerate() {
        if compact.len() > most {
            return Err(Error::TooMuch);
        }
        if at > 0 {
            compact.push(b',');
        }
        item.write_json(&mut compact);
    }
    compact.push(b']');
    indent(&compact, most, out)?;
    out.push(b'\n');
    Ok(())
}

/// Adds line breaks and indentation to compact JSON.
fn indent(compact: &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    let line = |depth: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.resize(out.len() + 4 * depth, b' ');
    };
    for (at, byte) in compact.iter().enumerate() {
        if out.len() > most {
            return Err(Error::TooMuch);
        }
        if in_text {
            (in_text, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
            out.push(*byte);
            continue;
        }
        match byte {
            b'[' | b'{' => {
                out.push(*byte);
                depth += 1;
                if !matches!(compact.get(at + 1), Some(b']' | b'}')) {
                    line(depth, out);
                }
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if !matches!(at.checked_sub(1).and_then(|at| compact.get(at)), Some(b'[' | b'{')) {
                    line(depth, out);
                }
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line(depth, out);
            }
            b':' => out.extend_from_slice(b": "),
            byte => {
                in_text = *byte == b'"';
                out.push(*byte);
            }
        }
    }
    Ok(())
}

struct Run<'a> {
    root: &'a [Node],
    options: Options,
    steps: usize,
    /// Ranges that begin after the current action.
    begin: usize,
    /// Ranges around the current action.
    inside: usize,
    /// Ranges that end.
    end: usize,
    /// The last `{end}`.
    last_end: Option<usize>,
    depth: usize,
}

impl<'a> Run<'a> {
    fn step(&mut self, count: usize) -> Result<(), Error> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > MAX_STEPS { Err(Error::TooMuch) } else { Ok(()) }
    }

    /// Returns the results of the nodes from `start` on.
    fn find(&mut self, start: usize, item: Item<'a>) -> Result<Vec<Items<'a>>, Error> {
        if self.depth > MAX_RANGES {
            return Err(Error::TooMuch);
        }
        let mut all = Vec::new();
        let root = self.root;
        let mut at = start;
        while let Some(node) = root.get(at) {
            let results = self.walk(vec![item], node).map_err(|failure| failure.error)?;
            if self.end > 0 && self.end <= self.inside {
                self.end -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.begin > 0 {
                self.begin -= 1;
                self.inside += 1;
                self.depth += 1;
                for item in &results {
                    let item = match item {
                        Item::Nothing => return Err(Error::NoValue),
                        Item::Value(Value::Null) => Item::Nothing,
                        other => *other,
                    };
                    all.extend(self.find(at + 1, item)?);
                }
                if results.is_empty() {
                    // To find the end.
                    self.find(at + 1, Item::Nothing)?;
                }
                self.depth -= 1;
                self.inside -= 1;
                if let Some(end) = self.last_end.filter(|end| *end > at) {
                    at = end;
                }
            } else {
                all.push(results);
            }
            at += 1;
        }
        Ok(all)
    }

    fn walk(&mut self, input: Items<'a>, node: &'a Node) -> Result<Items<'a>, Failure> {
        self.step(input.len() + 1)?;
        let each = |item: Item<'a>| vec![item; input.len()];
        match node {
            Node::List(nodes) => self.list(input, nodes),
            Node::Text(text) => Ok(vec![Item::Text(text)]),
            Node::Int(n) => Ok(each(Item::Int(*n))),
            Node::Float(n) => Ok(each(Item::Float(*n))),
            Node::Bool(yes) => Ok(each(Item::Bool(*yes))),
            Node::Field(name) => self.field(&input, name),
            Node::Array(params) => self.array(&input, *params),
            Node::Filter { left, operator, right } => self.filter(&input, left, operator, right),
            Node::Wildcard => {
                let mut results = Vec::new();
                for item in &input {
                    results.extend(below(*item));
                }
                self.step(results.len())?;
                Ok(results)
            }
            Node::Recursive => {
                let mut results = Vec::new();
                for item in &input {
                    self.recursive(*item, &mut results)?;
                }
                Ok(results)
            }
            Node::Union(members) => {
                let mut results = Vec::new();
                for member in members {
                    let found = self.list(input.clone(), member).map_err(|failure| with(&input, failure.error))?;
                    results.extend(found);
                }
                Ok(results)
            }
            Node::Identifier(name) => match name.as_str() {
                "range" => {
                    self.begin += 1;
                    Ok(input)
                }
                "end" if self.inside > 0 => {
                    self.end += 1;
                    Ok(Vec::new())
                }
                "end" => Err(Error::NothingToEnd.into()),
                other => Err(with(&input, Error::Identifier(other.to_owned()))),
            },
        }
    }

    fn list(&mut self, mut items: Items<'a>, nodes: &'a [Node]) -> Result<Items<'a>, Failure> {
        for node in nodes {
            items = self.walk(items, node)?;
        }
        Ok(items)
    }

    fn field(&mut self, input: &[Item<'a>], name: &str) -> Result<Items<'a>, Failure> {
        let get = |item: &Item<'a>| item.value()?.get(name).map(Item::Value);
        let results: Items<'a> = input.iter().filter_map(get).collect();
        if results.is_empty() && !input.is_empty() && !self.options.allow_missing_keys {
            return Err(Error::NotFound(name.to_owned()).into());
        }
        Ok(results)
    }

    fn array(&mut self, input: &[Item<'a>], [start, end, step]: [Param; 3]) -> Result<Items<'a>, Failure> {
        let mut results = Vec::new();
        for item in input {
            if item.is_null() {
                continue;
            }
            let Some(list) = item.as_list() else {
                let error = if matches!(item, Item::Nothing) { Error::NoValue } else { Error::NotList(item.go_type()) };
                return Err(with(input, error));
            };
            let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
            let mut from = if start.known { start.value } else { 0 };
            if from < 0 {
                from += length;
            }
            let mut to = if end.known { end.value } else { length };
            if to < 0 || to == 0 && end.derived {
                to += length;
            }
            if from == to {
                // Upstream does not visit the items after this one.
                return Ok(results);
            }
            let outside = |index| with(input, Error::OutOfBounds { index, length: list.len() });
            if from >= length || from < 0 {
                return Err(outside(from));
            }
            if to > length || to < 0 {
                return Err(outside(to - 1));
            }
            if from > to {
                return Err(with(input, Error::Start { start: from, end: to }));
            }
            let by = match step {
                Param { known: true, value, .. } if value <= 0 => return Err(with(input, Error::Step)),
                Param { known: true, value, .. } => usize::try_from(value).unwrap_or(usize::MAX),
                _ => 1,
            };
            let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
            let found = list[from..to].iter().step_by(by);
            self.step(found.len())?;
            results.extend(found.map(|value| Item::Value(*value)));
        }
        Ok(results)
    }

    /// Collects the value and all values below it, parents first; scalars only if they are non-empty strings.
    fn recursive(&mut self, item: Item<'a>, results: &mut Items<'a>) -> Result<(), Error> {
        let found = below(item);
        if found.is_empty() {
            return Ok(());
        }
        results.push(item);
        self.step(found.len())?;
        for item in found {
            self.recursive(item, results)?;
        }
        Ok(())
    }

    fn filter(
        &mut self,
        input: &[Item<'a>],
        left: &'a [Node],
        operator: &str,
        right: &'a [Node],
    ) -> Result<Items<'a>, Failure> {
        let mut results = Vec::new();
        for item in input {
            let Some(list) = item.as_list() else {
                return Err(with(input, Error::NotFiltered(item.to_string())));
            };
            for value in list {
                let item = Item::Value(*value);
                let lefts = self.list(vec![item], left);
                if operator == "exists" {
                    let holds = match lefts {
                        Ok(found) => !found.is_empty(),
                        Err(Failure { error: Error::TooMuch, .. }) => return Err(Error::TooMuch.into()),
                        Err(failure) => failure.has_values,
                    };
                    results.extend(holds.then_some(item));
                    continue;
                }
                let Some(left) = one(&lefts.map_err(|failure| with(input, failure.error))?, input)? else { continue };
                let rights = self.list(vec![item], right).map_err(|failure| with(input, failure.error))?;
                let Some(right) = one(&rights, input)? else { continue };
                if compare::holds(left, operator, right).map_err(|error| with(&results, error))? {
                    results.push(item);
                }
            }
        }
        Ok(results)
    }
}

/// Returns the only value of a side of a comparison, if there is one.
fn one<'a>(found: &[Item<'a>], input: &[Item<'a>]) -> Result<Option<Item<'a>>, Failure> {
    match found {
        [] => Ok(None),
        [Item::Nothing] => Err(with(input, Error::NoValue)),
        [one] => Ok(Some(*one)),
        _ => Err(with(input, Error::Several)),
    }
}

/// Returns the values of a map or a list, or the bytes of a string.
fn below(item: Item<'_>) -> Vec<Item<'_>> {
    match item.value() {
        Some(Value::Map(map)) => map.entries().iter().map(|(_, value)| Item::Value(*value)).collect(),
        Some(Value::List(items)) => items.iter().map(|value| Item::Value(*value)).collect(),
        Some(Value::String(text)) => text.bytes().map(Item::Byte).collect(),
        _ => Vec::new(),
    }
}
