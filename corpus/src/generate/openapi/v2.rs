//! Documents of Swagger 2.0.

use super::choices::{Choices, Object, single, texts};
use super::names::{self, GroupVersion};
use super::schema::{Schemas, external_docs};
use super::values::{any, extension, number, text};
use crate::generate::tree::Tree;

/// Shared parameters, with names as servers create them.
const SHARED: &[&str] = &["limit-1NfBmoa8", "body-2Q1dVQHF", "pretty-tJGM1-ng", "X-Trace"];
const RESPONSES: &[&str] = &["Problem", "Gone"];
const MEDIA_TYPES: &[&str] =
    &["application/json", "application/yaml", "*/*", "application/json;stream=watch", "text/plain", "application/json"];
const SCHEMES: &[&str] = &["basic", "key", "implicit", "password", "application", "code"];

struct Document {
    schemas: Schemas,
    odd: bool,
}

/// A document with the resources of the group versions and, if it is the first of several, other paths.
pub(super) fn document(choices: &mut Choices<'_>, odd: bool, group_versions: &[GroupVersion], first: bool) -> Tree {
    let names = names::definitions(choices, group_versions);
    let doc = Document { schemas: Schemas { v3: false, names, odd }, odd };
    let mut root = Object::new();
    root.put("swagger", Tree::text("2.0"));
    root.put("info", names::info(choices, odd));
    root.maybe(choices, 15, "host", |_| Tree::text("example.com"));
    root.maybe(choices, 15, "basePath", |_| Tree::text("/base"));
    root.maybe(choices, 15, "schemes", |_| texts(&["https"]));
    root.maybe(choices, 15, "consumes", media_types);
    root.maybe(choices, 15, "produces", media_types);
    root.put("paths", doc.paths(choices, group_versions, first));
    root.put("definitions", doc.definitions(choices, group_versions));
    let mut shared = Object::new();
    for name in SHARED {
        let parameter = doc.shared_parameter(choices, name);
        shared.put(*name, parameter);
    }
    root.put("parameters", shared.tree());
    let mut responses = Object::new();
    for name in RESPONSES {
        let response = doc.response(choices);
        responses.put(*name, response);
    }
    root.put("responses", responses.tree());
    root.maybe(choices, 50, "securityDefinitions", |choices| doc.security_schemes(choices));
    root.maybe(choices, 30, "security", names::security);
    root.maybe(choices, 20, "tags", |choices| names::tags(choices, odd));
    root.maybe(choices, 15, "externalDocs", |choices| external_docs(choices, odd));
    if choices.chance(15) {
        extension(choices, &mut root, odd);
    }
    root.done(choices)
}

fn media_types(choices: &mut Choices<'_>) -> Tree {
    let mut types = choices.some(MEDIA_TYPES, 25);
    if types.is_empty() {
        types.push("application/json");
    }
    texts(&types)
}

impl Document {
    fn definitions(&self, choices: &mut Choices<'_>, group_versions: &[GroupVersion]) -> Tree {
        let mut definitions = Object::new();
        for name in self.schemas.names.clone() {
            let schema = match names::kinds_of(&name, group_versions) {
                Some(kinds) => self.schemas.resource(choices, kinds),
                None => names::well_known(&name, false).unwrap_or_else(|| self.schemas.schema(choices, 3)),
            };
            definitions.put(name, schema);
        }
        definitions.done(choices)
    }

    fn paths(&self, choices: &mut Choices<'_>, group_versions: &[GroupVersion], first: bool) -> Tree {
        let mut paths = Object::new();
        for gv in group_versions {
            for (path, methods) in names::resource_paths(choices, gv) {
                let item = self.path_item(choices, gv, &path, &methods);
                paths.put(path, item);
            }
        }
        for path in if first { choices.some(names::OTHER_PATHS, 25) } else { Vec::new() } {
            let item = self.other_item(choices, path);
            paths.put(path, item);
        }
        if choices.chance(5) {
            extension(choices, &mut paths, self.odd);
        }
        paths.done(choices)
    }

    fn path_item(&self, choices: &mut Choices<'_>, gv: &GroupVersion, path: &str, methods: &[&str]) -> Tree {
        let mut item = Object::new();
        for method in methods {
            let mut operation = Object::new();
            operation.put("tags", texts(&[&gv.tag()]));
            operation.put("description", text(choices, self.odd));
            operation.put("operationId", Tree::text(names::operation_id(method, path)));
            operation.put("consumes", media_types(choices));
            operation.put("produces", media_types(choices));
            operation.put("schemes", texts(&["https"]));
            let mut parameters = Vec::new();
            if matches!(*method, "post" | "put" | "patch") {
                parameters.push(self.body(choices));
            }
            parameters.extend(choices.some(SHARED, 20).iter().map(|name| shared(name)));
            if !parameters.is_empty() {
                operation.put("parameters", Tree::Seq(parameters));
            }
            operation.put("responses", self.responses(choices));
            operation.put("x-kubernetes-action", Tree::text(names::action(method, path)));
            operation.put("x-kubernetes-group-version-kind", gv.kind());
            let operation = operation.done(choices);
            item.put(*method, operation);
        }
        let parameters: Vec<Tree> = names::placeholders(path)
            .map(|name| {
                Tree::members([
                    ("uniqueItems", Tree::boolean(true)),
                    ("type", Tree::text("string")),
                    ("name", Tree::text(name)),
                    ("in", Tree::text("path")),
                    ("required", Tree::boolean(true)),
                ])
            })
            .collect();
        if !parameters.is_empty() {
            item.put("parameters", Tree::Seq(parameters));
        }
        item.done(choices)
    }

    /// Operations of APIs other than Kubernetes.
    fn other_item(&self, choices: &mut Choices<'_>, path: &str) -> Tree {
        let odd = self.odd;
        let mut item = Object::new();
        for method in choices.some(&["get", "put", "post", "delete", "options", "head", "patch"], 30) {
            let mut operation = Object::new();
            operation.maybe(choices, 40, "tags", |choices| choices.list(2, |choices| choices.text(&["a", "b"])));
            operation.maybe(choices, 40, "summary", |choices| text(choices, odd));
            operation.maybe(choices, 40, "description", |choices| text(choices, odd));
            operation.maybe(choices, 10, "externalDocs", |choices| external_docs(choices, odd));
            operation.maybe(choices, 50, "operationId", |_| Tree::text(names::operation_id(method, path)));
            operation.maybe(choices, 30, "consumes", media_types);
            operation.maybe(choices, 30, "produces", media_types);
            operation
                .maybe(choices, 10, "schemes", |choices| choices.list(2, |choices| choices.text(&["http", "wss"])));
            operation.maybe(choices, 70, "parameters", |choices| self.parameters(choices));
            if !odd || !choices.chance(2) {
                operation.put("responses", self.responses(choices));
            }
            operation.maybe(choices, 10, "deprecated", Choices::boolean);
            operation.maybe(choices, 20, "security", names::security);
            if choices.chance(10) {
                extension(choices, &mut operation, odd);
            }
            let operation = operation.done(choices);
            item.put(method, operation);
        }
        item.maybe(choices, 20, "parameters", |choices| self.parameters(choices));
        if choices.chance(10) {
            extension(choices, &mut item, odd);
        }
        item.done(choices)
    }

    fn parameters(&self, choices: &mut Choices<'_>) -> Tree {
        match choices.below(4) {
            0 => choices.list(3, |choices| self.parameter(choices)),
            1 => {
                let mut list = choices.some(SHARED, 40).iter().map(|name| shared(name)).collect::<Vec<_>>();
                list.push(self.body(choices));
                Tree::Seq(list)
            }
            2 => choices.list(3, |choices| self.typed(choices, "formData")),
            _ => Tree::Seq(vec![self.parameter(choices), self.body(choices), self.typed(choices, "path")]),
        }
    }

    fn body(&self, choices: &mut Choices<'_>) -> Tree {
        let mut body = Object::new();
        let name = if choices.chance(20) { "payload" } else { "body" };
        body.put("name", Tree::text(name)).put("in", Tree::text("body"));
        body.maybe(choices, 70, "required", Choices::boolean);
        body.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        let schema = if choices.chance(30) { self.schemas.schema(choices, 2) } else { self.schemas.referring(choices) };
        body.put("schema", schema);
        if choices.chance(5) {
            extension(choices, &mut body, self.odd);
        }
        body.done(choices)
    }

    fn parameter(&self, choices: &mut Choices<'_>) -> Tree {
        let place = choices.pick(&["query", "header", "query", "path"]);
        self.typed(choices, place)
    }

    fn shared_parameter(&self, choices: &mut Choices<'_>, name: &str) -> Tree {
        if name.starts_with("body") { self.body(choices) } else { self.parameter(choices) }
    }

    /// A parameter with a type of its own.
    fn typed(&self, choices: &mut Choices<'_>, place: &str) -> Tree {
        let mut object = Object::new();
        object.put("name", choices.text(&["a", "limit", "body", "X-B", "id"])).put("in", Tree::text(place));
        if place == "path" {
            object.put("required", Tree::boolean(true));
        } else {
            object.maybe(choices, 20, "required", Choices::boolean);
        }
        object.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        if matches!(place, "query" | "formData") {
            object.maybe(choices, 10, "allowEmptyValue", Choices::boolean);
        }
        if place == "formData" && choices.chance(30) {
            object.put("type", Tree::text("file"));
        } else {
            self.simple(choices, &mut object, 1, matches!(place, "query" | "formData"));
        }
        if choices.chance(5) {
            extension(choices, &mut object, self.odd);
        }
        object.done(choices)
    }

    /// Type, format and restrictions of parameters, items and headers.
    fn simple(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize, multi: bool) {
        let odd = self.odd;
        let ty = choices.pick(&["string", "integer", "boolean", "number", "array"]);
        match ty {
            "array" if depth > 0 => {
                object.put("type", Tree::text("array"));
                let mut items = Object::new();
                self.simple(choices, &mut items, depth - 1, false);
                let items = items.done(choices);
                object.put("items", items);
                let formats: &[&str] = if multi { &["csv", "multi", "ssv", "tsv", "pipes"] } else { &["csv", "pipes"] };
                object.maybe(choices, 50, "collectionFormat", |choices| choices.text(formats));
                object.maybe(choices, 20, "minItems", |choices| choices.plain(&["1", "0"]));
                object.maybe(choices, 20, "uniqueItems", Choices::boolean);
            }
            "array" | "string" => {
                object.put("type", Tree::text("string"));
                object.maybe(choices, 15, "format", |choices| choices.text(&["uuid", "date", "byte"]));
                object.maybe(choices, 15, "enum", |choices| choices.list(3, |choices| text(choices, odd)));
                object.maybe(choices, 15, "pattern", |choices| choices.text(&["^a", "[a-z]+"]));
                object.maybe(choices, 15, "default", |choices| text(choices, odd));
                object.maybe(choices, 10, "maxLength", |choices| choices.plain(&["1", "0", "20"]));
            }
            "boolean" => {
                object.put("type", Tree::text("boolean"));
                object.maybe(choices, 20, "default", Choices::boolean);
            }
            _ => {
                object.put("type", Tree::text(ty));
                object.maybe(choices, 20, "minimum", |choices| number(choices, odd));
                object.maybe(choices, 10, "exclusiveMaximum", Choices::boolean);
                object.maybe(choices, 20, "default", |choices| number(choices, odd));
                object.maybe(choices, 10, "uniqueItems", Choices::boolean);
            }
        }
        if odd {
            object.maybe(choices, 3, "example", |choices| any(choices, true, 1));
            object.maybe(choices, 2, "nullable", Choices::boolean);
        }
    }

    fn responses(&self, choices: &mut Choices<'_>) -> Tree {
        let mut responses = Object::new();
        let mut codes = choices.some(&["200", "201", "404", "401", "500", "default"], 35);
        if codes.is_empty() {
            codes.push("200");
        }
        for code in codes {
            let response = if choices.chance(15) {
                single("$ref", Tree::text(format!("#/responses/{}", choices.pick(RESPONSES))))
            } else {
                self.response(choices)
            };
            responses.put(code, response);
        }
        if choices.chance(4) {
            extension(choices, &mut responses, self.odd);
        }
        if self.odd && choices.chance(3) {
            let code = choices.pick(&["0201", "1000", "99"]);
            responses.put(code, Tree::members([("description", Tree::text("odd"))]));
        }
        responses.done(choices)
    }

    fn response(&self, choices: &mut Choices<'_>) -> Tree {
        let odd = self.odd;
        let mut response = Object::new();
        if !odd || !choices.chance(1) {
            response.put("description", choices.text(&["OK", "Unauthorized", "<gone> & lost"]));
        }
        if choices.chance(60) {
            let schema = match choices.below(8) {
                0 => single("type", Tree::text("file")),
                1 | 2 => self.schemas.schema(choices, 1),
                _ => self.schemas.referring(choices),
            };
            response.put("schema", schema);
        }
        response.maybe(choices, 10, "headers", |choices| {
            let mut headers = Object::new();
            for name in choices.some(&["X-B", "X-A", "Location"], 60) {
                let mut header = Object::new();
                self.simple(choices, &mut header, 1, false);
                header.maybe(choices, 40, "description", |choices| text(choices, odd));
                let header = header.done(choices);
                headers.put(name, header);
            }
            headers.tree()
        });
        response.maybe(choices, 8, "examples", |choices| {
            let mut examples = Object::new();
            for name in choices.some(&["application/json", "text/plain"], 60) {
                let value = any(choices, odd, 2);
                examples.put(name, value);
            }
            examples.tree()
        });
        if choices.chance(4) {
            extension(choices, &mut response, odd);
        }
        response.done(choices)
    }

    fn security_schemes(&self, choices: &mut Choices<'_>) -> Tree {
        let url = || Tree::text("https://example.com/oauth?a=b&c");
        let mut schemes = Object::new();
        for name in choices.some(SCHEMES, 40) {
            let mut scheme = Object::new();
            match name {
                "basic" => _ = scheme.put("type", Tree::text("basic")),
                "key" => {
                    scheme.put("type", Tree::text("apiKey"));
                    scheme.put("name", Tree::text("X-Key")).put("in", choices.text(&["header", "query"]));
                }
                flow => {
                    let flow = if flow == "code" { "accessCode" } else { flow };
                    scheme.put("type", Tree::text("oauth2")).put("flow", Tree::text(flow));
                    if matches!(flow, "implicit" | "accessCode") {
                        scheme.put("authorizationUrl", url());
                    }
                    if flow != "implicit" {
                        scheme.put("tokenUrl", url());
                    }
                    scheme.put("scopes", choices.plain(&[r#"{"write":"change","read":"look"}"#, "{}", r#"{"a":""}"#]));
                }
            }
            scheme.maybe(choices, 20, "description", |choices| text(choices, self.odd));
            if choices.chance(10) {
                extension(choices, &mut scheme, self.odd);
            }
            let scheme = scheme.done(choices);
            schemes.put(name, scheme);
        }
        schemes.tree()
    }
}

fn shared(name: &str) -> Tree {
    single("$ref", Tree::text(format!("#/parameters/{name}")))
}
