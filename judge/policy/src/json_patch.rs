//! JSON Patch (RFC 6902) as version 4 of evanphx/json-patch applies it, with its messages.

use kubeshape_value::{Bump, Map, Value};

/// The maximum number of operations in a patch (upstream: `maxJSONPatchOperations`).
const MAX_OPERATIONS: usize = 10_000;
/// The maximum number of bytes of JSON that `copy` may add (upstream: `JSONPatchMaxCopyBytes`).
pub const MAX_COPIED: usize = 3 << 20;
/// The maximum number of nodes that operations may move: inserting at the front of a list moves all items.
const MAX_WORK: usize = 50_000_000;

/// The reason why a patch cannot be applied, and the status code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The status code of the response.
    pub code: u16,
    /// The message.
    pub message: String,
    /// Whether a `test` failed.
    pub is_failed_test: bool,
}

fn refused(message: impl Into<String>) -> PatchError {
    PatchError { code: 422, message: message.into(), is_failed_test: false }
}

/// A value that operations change in place.
enum Node<'a> {
    Leaf(Value<'a>),
    List(Vec<Node<'a>>),
    Map(std::collections::BTreeMap<&'a str, Node<'a>>),
}

impl<'a> Node<'a> {
    /// Converts a value. Nested values are converted only when an operation enters them.
    fn open(&mut self) {
        match *self {
            Node::Leaf(Value::List(items)) => *self = Node::List(items.iter().map(|item| Node::Leaf(*item)).collect()),
            Node::Leaf(Value::Map(map)) => {
                *self = Node::Map(map.entries().iter().map(|(key, value)| (*key, Node::Leaf(*value))).collect());
            }
            _ => {}
        }
    }

    fn close(self, arena: &'a Bump) -> Value<'a> {
        match self {
            Node::Leaf(value) => value,
            Node::List(items) => {
                let items: Vec<Value<'a>> = items.into_iter().map(|item| item.close(arena)).collect();
                Value::List(arena.alloc_slice_fill_iter(items))
            }
            Node::Map(members) => {
                let members = members.into_iter().map(|(key, value)| (key, value.close(arena))).collect();
                Value::Map(Map::from_entries(members, arena))
            }
        }
    }

    /// Returns the length of its JSON in bytes.
    fn json_len(&self) -> usize {
        let of = |value: Value<'_>| {
            let mut json = Vec::new();
            value.write_go_json(&mut json);
            json.len()
        };
        let brackets = |items: usize| 2 + items.saturating_sub(1);
        match self {
            Node::Leaf(value) => of(*value),
            Node::List(items) => brackets(items.len()) + items.iter().map(Node::json_len).sum::<usize>(),
            Node::Map(members) => {
                let member = |(key, value): (&&str, &Node<'_>)| of(Value::String(key)) + 1 + value.json_len();
                brackets(members.len()) + members.iter().map(member).sum::<usize>()
            }
        }
    }

    /// Returns whether it equals a value as JSON. Takes at most linear time in the size of the value.
    fn equals(&self, other: Value<'_>) -> bool {
        match (self, other) {
            (Node::Leaf(value), other) => same(*value, other),
            (Node::List(items), Value::List(others)) => {
                items.len() == others.len() && items.iter().zip(others).all(|(item, other)| item.equals(*other))
            }
            (Node::Map(members), Value::Map(others)) => {
                let others = others.entries();
                members.len() == others.len()
                    && members
                        .iter()
                        .zip(others)
                        .all(|((key, value), (name, other))| key == name && value.equals(*other))
            }
            _ => false,
        }
    }

    fn copy(&self) -> Node<'a> {
        match self {
            Node::Leaf(value) => Node::Leaf(*value),
            Node::List(items) => Node::List(items.iter().map(Node::copy).collect()),
            Node::Map(members) => Node::Map(members.iter().map(|(key, value)| (*key, value.copy())).collect()),
        }
    }
}

/// Applies a JSON patch.
///
/// # Errors
/// The patch is invalid (400), or an operation does not apply (422). The messages are the server's.
pub fn json_patch<'a>(value: Value<'a>, patch: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, PatchError> {
    let Value::List(operations) = patch else {
        let message = "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch";
        return Err(PatchError { code: 400, message: message.to_owned(), is_failed_test: false });
    };
    if operations.len() > MAX_OPERATIONS {
        let message =
            format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}", operations.len());
        return Err(PatchError { code: 413, message, is_failed_test: false });
    }
    let mut root = Node::Leaf(value);
    let (mut copied, mut work) = (0_usize, 0_usize);
    for operation in operations {
        let text = |name: &str| operation.get(name).and_then(Value::as_str);
        let kind = text("op").unwrap_or("unknown");
        let undecoded = |member: &str| refused(format!("{kind} operation failed to decode {member}: missing value"));
        let path = text("path").ok_or_else(|| undecoded("path"))?;
        let from = || text("from").ok_or_else(|| undecoded("from"));
        let missing =
            |what: &str| refused(format!("{kind} operation does not apply: doc is missing {what}: missing value"));
        let value = || operation.get("value").unwrap_or(Value::Null);
        let wrong = |path: &str| {
            let path = path.to_owned();
            move |why: String| refused(format!("error in {kind} for path: '{path}': {why}"))
        };
        match kind {
            "add" => {
                let (node, key) =
                    parent(&mut root, path, arena).ok_or_else(|| missing(&format!("path: \"{path}\"")))?;
                insert(node, key, Node::Leaf(value()), &mut work).map_err(wrong(path))?;
            }
            "remove" => {
                let (node, key) =
                    parent(&mut root, path, arena).ok_or_else(|| missing(&format!("path: \"{path}\"")))?;
                remove(node, key, &mut work).map_err(wrong(path))?;
            }
            "replace" => {
                let (node, key) = parent(&mut root, path, arena).ok_or_else(|| missing(&format!("path: {path}")))?;
                // A member of an object need not exist.
                match node {
                    Node::Map(members) => {
                        members.insert(key, Node::Leaf(value()));
                    }
                    list => {
                        let slot = child(list, key).ok_or_else(|| missing(&format!("key: {path}")))?;
                        *slot = Node::Leaf(value());
                    }
                }
            }
            "move" => {
                let from = from()?;
                let found = parent(&mut root, from, arena);
                let (node, key) = found.ok_or_else(|| missing(&format!("from path: {from}")))?;
                let moved = remove(node, key, &mut work).map_err(wrong(key))?;
                let found = parent(&mut root, path, arena);
                let (node, key) = found.ok_or_else(|| missing(&format!("destination path: {path}")))?;
                insert(node, key, moved, &mut work).map_err(wrong(path))?;
            }
            "copy" => {
                let from = from()?;
                let found = parent(&mut root, from, arena);
                let (node, key) = found.ok_or_else(|| missing(&format!("from path: {from}")))?;
                let source = child(node, key);
                let source =
                    source.ok_or_else(|| refused(format!("error in copy for from: '{from}': missing value")))?;
                copied += source.json_len();
                if copied > MAX_COPIED {
                    return Err(refused(format!(
                        "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the \
                         limit {MAX_COPIED}"
                    )));
                }
                let copy = source.copy();
                let found = parent(&mut root, path, arena);
                let (node, key) = found.ok_or_else(|| missing(&format!("destination path: {path}")))?;
                insert(node, key, copy, &mut work)
                    .map_err(|why| refused(format!("error while adding value during copy: {why}")))?;
            }
            "test" => {
                let expected = value();
                let holds = match parent(&mut root, path, arena).and_then(|(node, key)| child(node, key)) {
                    Some(found) => found.equals(expected),
                    None => expected.is_null(),
                };
                if !holds {
                    let message = format!("testing value {path} failed: test failed");
                    return Err(PatchError { code: 422, message, is_failed_test: true });
                }
            }
            other => return Err(refused(format!("Unexpected kind: {other}"))),
        }
        if work > MAX_WORK {
            return Err(refused("the operations of the patch move too many items"));
        }
    }
    Ok(root.close(arena))
}

/// Returns whether two values are equal as JSON.
fn same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b)),
        (Value::Map(a), Value::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (name, b))| key == name && same(*a, *b))
        }
        (Value::String(_) | Value::List(_) | Value::Map(_), _)
        | (_, Value::String(_) | Value::List(_) | Value::Map(_)) => false,
        (a, b) => {
            let json = |value: Value<'_>| {
                let mut out = Vec::new();
                value.write_go_json(&mut out);
                out
            };
            json(a) == json(b)
        }
    }
}

/// Splits a JSON pointer into steps.
fn steps<'a>(pointer: &'a str, arena: &'a Bump) -> Vec<&'a str> {
    let unescaped = |step: &'a str| -> &'a str {
        if step.contains('~') { arena.alloc_str(&step.replace("~1", "/").replace("~0", "~")) } else { step }
    };
    pointer.split('/').skip(1).map(unescaped).collect()
}

fn index(step: &str, length: usize) -> Option<usize> {
    match step.parse::<i64>() {
        Ok(at) if at < 0 => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
        Ok(at) => usize::try_from(at).ok(),
        Err(_) => None,
    }
}

/// Returns the child of a list or map.
fn child<'n, 'a>(node: &'n mut Node<'a>, step: &str) -> Option<&'n mut Node<'a>> {
    node.open();
    match node {
        Node::List(items) => index(step, items.len()).and_then(|at| items.get_mut(at)),
        Node::Map(members) => members.get_mut(step),
        Node::Leaf(_) => None,
    }
}

/// Converts the list or map that contains a pointer's target, and returns it with the last step (`findObject`).
fn parent<'n, 'a>(root: &'n mut Node<'a>, pointer: &'a str, arena: &'a Bump) -> Option<(&'n mut Node<'a>, &'a str)> {
    let mut steps = steps(pointer, arena);
    let last = steps.pop()?;
    let mut node = root;
    for step in steps {
        node = child(node, step)?;
    }
    node.open();
    if matches!(node, Node::Leaf(_)) { None } else { Some((node, last)) }
}

fn insert<'a>(node: &mut Node<'a>, step: &'a str, value: Node<'a>, work: &mut usize) -> Result<(), String> {
    match node {
        Node::Map(members) => {
            members.insert(step, value);
        }
        Node::List(items) if step == "-" => items.push(value),
        Node::List(items) => {
            let at = index(step, items.len()).filter(|at| *at <= items.len());
            let at = at.ok_or_else(|| format!("Unable to access invalid index: {step}: invalid index referenced"))?;
            *work = work.saturating_add(items.len() - at);
            items.insert(at, value);
        }
        Node::Leaf(_) => return Err("missing value".to_owned()),
    }
    Ok(())
}

fn remove<'a>(node: &mut Node<'a>, step: &str, work: &mut usize) -> Result<Node<'a>, String> {
    let gone = match node {
        Node::Map(members) => members.remove(step),
        Node::List(items) => match index(step, items.len()).filter(|at| *at < items.len()) {
            Some(at) => {
                *work = work.saturating_add(items.len() - at);
                Some(items.remove(at))
            }
            None => return Err(format!("Unable to access invalid index: {step}: invalid index referenced")),
        },
        Node::Leaf(_) => None,
    };
    gone.ok_or_else(|| format!("Unable to remove nonexistent key: {step}: missing value"))
}

#[cfg(test)]
mod tests {
    use super::json_patch;
    use kubeshape_value::{Bump, ToValue};
    use serde_json::{Value, json};

    fn patched(value: &Value, patch: &Value) -> Result<Value, String> {
        let arena = Bump::new();
        let value = json_patch(value.to_value(&arena), patch.to_value(&arena), &arena);
        value.map(kubeshape_value::Value::to_serde).map_err(|error| error.message)
    }

    #[test]
    fn operations_are_applied_in_their_order() {
        let old = json!({"a": [1, 2], "b": {"c~/": 1}});
        let patch = json!([
            {"op": "add", "path": "/a/-", "value": 3},
            {"op": "test", "path": "/a/2", "value": 3},
            {"op": "remove", "path": "/a/0"},
            {"op": "copy", "from": "/a", "path": "/d"},
            {"op": "move", "from": "/b/c~0~1", "path": "/e"},
            {"op": "replace", "path": "/a/-1", "value": {"x": null}},
        ]);
        assert_eq!(
            patched(&old, &patch).expect("it applies"),
            json!({"a": [2, {"x": null}], "b": {}, "d": [2, 3], "e": 1})
        );
    }

    #[test]
    fn invalid_operations_are_refused() {
        let old = json!({"a": [1]});
        for (patch, why) in [
            (json!([{"op": "replace", "path": "/a/-", "value": 1}]), "doc is missing key: /a/-: missing value"),
            (json!([{"op": "test", "path": "/a/0", "value": 2}]), "testing value /a/0 failed"),
            (
                json!([{"op": "remove", "path": "/a/1"}]),
                "error in remove for path: '/a/1': Unable to access invalid index: 1",
            ),
            (json!([{"op": "add", "path": "/a/7", "value": 1}]), "invalid index"),
            (json!([{"op": "nope", "path": "/a"}]), "Unexpected kind: nope"),
            (json!({}), "error decoding patch"),
        ] {
            let error = patched(&old, &patch).expect_err("it is refused");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn work_is_bounded() {
        let old = json!({"a": vec![0; 100_000]});
        let patch: Vec<Value> = (0..1000).map(|_| json!({"op": "add", "path": "/a/0", "value": 1})).collect();
        assert!(patched(&old, &Value::Array(patch)).expect_err("it is refused").contains("too many"));
    }

    #[test]
    fn comparing_costs_no_more_than_the_expected_value() {
        let old = json!({"a": {"b": [1, "x", null]}, "long": "y".repeat(1 << 20)});
        let is_equal = |value: &Value| json!({"op": "test", "path": "/a", "value": value});
        let opened = json!({"op": "test", "path": "/a/b/0", "value": 1.0});
        assert!(patched(&old, &json!([opened, is_equal(&old["a"])])).is_ok());
        for other in
            [json!({"b": [1, "x"]}), json!({"b": [1, "x", 0]}), json!({"c": [1, "x", null]}), json!({}), json!(1)]
        {
            assert!(patched(&old, &json!([opened, is_equal(&other)])).is_err(), "{other}");
            assert!(patched(&old, &json!([is_equal(&other)])).is_err(), "{other}");
        }
        let tests: Vec<Value> = (0..10_000).map(|_| json!({"op": "test", "path": "/long", "value": "y"})).collect();
        assert!(patched(&old, &Value::Array(tests)).is_err());
    }

    #[test]
    fn copies_are_counted_in_bytes() {
        let old = json!({"a": "x".repeat(1 << 20)});
        let copies = |n: usize| -> Vec<Value> {
            (0..n).map(|at| json!({"op": "copy", "from": "/a", "path": format!("/b{at}")})).collect()
        };
        assert!(patched(&old, &Value::Array(copies(2))).is_ok());
        let error = patched(&old, &Value::Array(copies(10_000))).expect_err("it is refused");
        let words = "Unable to complete the copy, the accumulated size increase of copy is 3145734, exceeding the limit 3145728";
        assert!(error.ends_with(words), "{error}");
    }

    #[test]
    fn copies_of_copies_do_not_fill_the_memory() {
        let double: Vec<Value> = (0..64).map(|_| json!({"op": "copy", "from": "/a", "path": "/a/-"})).collect();
        let error = patched(&json!({"a": [1]}), &Value::Array(double)).expect_err("it is refused");
        assert!(error.contains("exceeding the limit"), "{error}");
    }
}
