//! A kind in every shape in which Kubernetes shows it.

use crate::Session;
use crate::copies::{Step, steps};
use crate::session::{findings, unknown};
use kubeshape::convert::{kustomize, v3};
use kubeshape::input::Finding;
use kubeshape::registry::Form;
use kubeshape::schema::Bump;
use kubeshape::yaml::{Limits, Node, Stream, Tape};
use kubeshape::{Converted, Crd, Document, Findings, Gvk, Kind, Profile};
use serde_json::{Value, json};

/// A text with more bytes is not shown.
const LARGEST: usize = 32 << 20;
/// How many references one path may follow.
const MOST_STEPS: usize = 1_000;

impl Session {
    /// Returns a kind in one of the shapes `source`, `v3`, `v2`, `smd`, `json-schema`, `kustomize` and `structural`, with
    /// what it loses.
    pub fn shape(&self, api_version: &str, kind: &str, shape: &str) -> Value {
        let Some(kind) = self.api.kind(api_version, kind) else {
            return json!({ "error": unknown(api_version, kind) });
        };
        match self.converted(kind, shape) {
            Ok((text, losses)) if text.len() <= LARGEST => json!({ "text": text, "findings": findings(&losses) }),
            Ok((text, _)) => {
                json!({ "error": format!("the text has {} bytes; at most {LARGEST} are shown", text.len()) })
            }
            Err(Findings(found)) => json!({ "error": "there is no such shape of it", "findings": findings(&found) }),
        }
    }

    /// Returns where the text of a shape has a field: the beginning and the end, in units of UTF-16, or null.
    pub fn locate(&self, api_version: &str, kind: &str, shape: &str, text: &str, path: &str) -> Value {
        let Some(kind) = self.api.kind(api_version, kind) else { return Value::Null };
        let found = find(kind, shape, text, path);
        let units = |end: usize| text.get(..end).map_or(0, |before| before.encode_utf16().count());
        found.map_or(Value::Null, |(start, end)| json!([units(start), units(end)]))
    }

    fn converted(&self, kind: &Kind, shape: &str) -> Result<(String, Vec<Finding>), Findings> {
        let location = kind.definition().location();
        let input = &**location.input();
        let text = self.texts.get(input).map(|text| &**text).unwrap_or_default();
        if shape == "source" {
            let node = location.node();
            let source = location.document().source().text();
            return Ok((source.get(node.span().start..node.span().end).unwrap_or(source).to_owned(), Vec::new()));
        }
        let made = if kind.definition().is_custom_resource() {
            let of = |crd: &Crd| crd.group() == kind.group() && crd.kind() == kind.kind();
            let crd = Crd::read_all(input, text).0.into_iter().find(of).ok_or_else(|| Findings(Vec::new()))?;
            let version = kind.version_name();
            match shape {
                "v3" | "kustomize" => crd.v3(version),
                "v2" => crd.v2(version),
                "smd" => crd.smd(),
                "structural" => crd.structural(version),
                _ => crd.json_schema(version),
            }
        } else {
            let first = || Document::read_all(input, text).0.into_iter().next();
            let document = (kind.definition().form() != Form::Smd).then(first).flatten();
            let document = document.ok_or_else(|| Findings(Vec::new()))?;
            match shape {
                "v3" | "kustomize" => document.v3(),
                "v2" => document.v2(),
                "smd" => document.smd(),
                "json-schema" => {
                    let is_it = |(api_version, name, _): &(String, String, Converted)| {
                        api_version == kind.api_version() && name == kind.kind()
                    };
                    let found = document.json_schemas()?.into_iter().find(is_it);
                    found.map(|(_, _, made)| made).ok_or_else(|| Findings(Vec::new()))
                }
                _ => Err(Findings(Vec::new())),
            }
        }?;
        if shape == "kustomize" {
            let text = merge_keys(made.text(), kind).ok_or_else(|| Findings(Vec::new()))?;
            return Ok((indented(&text), Vec::new()));
        }
        let losses = made.losses().cloned().collect();
        Ok((if shape == "smd" { made.text().to_owned() } else { indented(made.text()) }, losses))
    }
}

/// Returns the document with which kustomize merges lists of a kind. `v3` is an OpenAPI v3 document.
fn merge_keys(v3: &str, kind: &Kind) -> Option<String> {
    let mut tape = Tape::new();
    Stream::new(v3.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    let document = v3::read(tape.document(v3).root()?, &arena, Profile::Faithful).value?;
    let is_it = |own: &Gvk<'_>| own.kind() == kind.kind() && own.api_version() == kind.api_version();
    String::from_utf8(kustomize::document(&document, &[], &arena, is_it)).ok()
}

/// JSON with an element on each line. The text is valid JSON.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(40)));
    };
    let mut chars = json.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if chars.peek().is_some_and(|next| matches!(next, '}' | ']')) {
                    out.extend(chars.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out.push('\n');
    out
}

/// The bytes of a field in the text of a shape.
fn find(kind: &Kind, shape: &str, text: &str, path: &str) -> Option<(usize, usize)> {
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let root = tape.document(text).root()?;
    let (mut at, is_smd) = match shape {
        "source" if kind.definition().is_custom_resource() => {
            let spec = root.get("spec")?;
            let versions = spec.get("versions").into_iter().flat_map(Node::items);
            let is_it = |version: &Node<'_>| version.get("name").and_then(Node::as_str) == Some(kind.version_name());
            let version = versions.into_iter().find(is_it).unwrap_or(spec);
            let schema = version.get("schema").or_else(|| spec.get("validation"))?;
            (schema.get("openAPIV3Schema")?, false)
        }
        "smd" => {
            let is_it = |definition: &Node<'_>| definition.get("name").and_then(Node::as_str) == Some(kind.type_name());
            (root.get("types")?.items().find(is_it)?, true)
        }
        "json-schema" | "structural" => (root, false),
        _ => {
            let schemas =
                root.get("components").and_then(|all| all.get("schemas")).or_else(|| root.get("definitions"))?;
            let is_it = |schema: &Node<'_>| {
                let named = schema.get("x-kubernetes-group-version-kind").into_iter().flat_map(Node::items);
                named.into_iter().any(|gvk| {
                    let text = |key| gvk.get(key).and_then(Node::as_str).unwrap_or_default();
                    (text("group"), text("version"), text("kind")) == (kind.group(), kind.version_name(), kind.kind())
                })
            };
            (schemas.pairs().map(|(_, schema)| schema).find(is_it)?, false)
        }
    };
    let mut span = at.span();
    let mut left = MOST_STEPS;
    for step in steps(path) {
        at = if is_smd { type_of(root, at)? } else { resolved(root, at, &mut left)? };
        let (key, value) = if is_smd { smd_step(at, step)? } else { step_of(at, step)? };
        at = value;
        span = key.unwrap_or(value).span().start..value.span().end;
    }
    Some((span.start, span.end))
}

/// What a schema refers to, alone or as the only part of `allOf`.
fn resolved<'a>(root: Node<'a>, schema: Node<'a>, left: &mut usize) -> Option<Node<'a>> {
    let mut at = schema;
    loop {
        *left = left.checked_sub(1)?;
        let reference = at.get("$ref").and_then(Node::as_str);
        let Some(reference) = reference.and_then(|reference| reference.strip_prefix("#/")) else {
            match at.get("allOf").map(|all| all.items().collect::<Vec<_>>()).as_deref() {
                Some([only]) if at.get("properties").is_none() => {
                    at = *only;
                    continue;
                }
                _ => return Some(at),
            }
        };
        at = reference.split('/').try_fold(root, |node, step| node.get(&step.replace("~1", "/").replace("~0", "~")))?;
    }
}

fn member<'a>(node: Node<'a>, name: &str) -> Option<(Option<Node<'a>>, Node<'a>)> {
    node.pairs().find(|(key, _)| key.as_str() == Some(name)).map(|(key, value)| (Some(key), value))
}

fn step_of<'a>(schema: Node<'a>, step: Step<'_>) -> Option<(Option<Node<'a>>, Node<'a>)> {
    match step {
        Step::Name(name) => member(schema.get("properties")?, name),
        Step::Items => member(schema, "items"),
        Step::Values => member(schema, "additionalProperties"),
    }
}

/// The type that a type of structured merge diff names, or itself.
fn type_of<'a>(root: Node<'a>, at: Node<'a>) -> Option<Node<'a>> {
    let Some(name) = at.get("namedType").and_then(Node::as_str) else { return Some(at) };
    root.get("types")?.items().find(|definition| definition.get("name").and_then(Node::as_str) == Some(name))
}

fn smd_step<'a>(at: Node<'a>, step: Step<'_>) -> Option<(Option<Node<'a>>, Node<'a>)> {
    match step {
        Step::Name(name) => {
            let mut fields = at.get("map")?.get("fields")?.items();
            let field = fields.find(|field| field.get("name").and_then(Node::as_str) == Some(name))?;
            Some((field.get("name"), field.get("type")?))
        }
        Step::Items => member(at.get("list")?, "elementType"),
        Step::Values => member(at.get("map")?, "elementType"),
    }
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn json_is_indented() {
        let text = indented(r#"{"a":[1,"x,{\"y"],"b":{},"c":[]}"#);
        assert_eq!(text, "{\n  \"a\": [\n    1,\n    \"x,{\\\"y\"\n  ],\n  \"b\": {},\n  \"c\": []\n}\n");
    }
}
