//! Documents of OpenAPI 3.0.

use super::choices::{Choices, Object, single, texts};
use super::names::{self, GroupVersion};
use super::schema::{Schemas, external_docs};
use super::values::{any, extension, text};
use crate::generate::tree::Tree;

const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/yaml",
    "*/*",
    "application/json;stream=watch",
    "text/plain",
    "multipart/form-data",
    "application/merge-patch+json",
];
const PARAMETERS: &[&str] = &["limit", "session"];
const RESPONSES: &[&str] = &["Problem", "Gone"];
const SCHEMES: &[&str] = &["basic", "bearer", "key", "code", "oidc"];

struct Document {
    schemas: Schemas,
    odd: bool,
}

/// A document with the resources of the group versions and other paths.
pub(super) fn document(choices: &mut Choices<'_>, odd: bool, group_versions: &[GroupVersion]) -> Tree {
    let names = names::definitions(choices, group_versions);
    let doc = Document { schemas: Schemas { v3: true, names, odd }, odd };
    let mut root = Object::new();
    root.put("openapi", choices.text(&["3.0.0", "3.0.3"]));
    root.put("info", names::info(choices, odd));
    root.maybe(choices, 20, "servers", |choices| doc.servers(choices));
    root.put("paths", doc.paths(choices, group_versions));
    root.put("components", doc.components(choices, group_versions));
    root.maybe(choices, 25, "security", names::security);
    root.maybe(choices, 10, "tags", |choices| names::tags(choices, odd));
    root.maybe(choices, 15, "externalDocs", |choices| external_docs(choices, odd));
    if choices.chance(8) {
        extension(choices, &mut root, odd);
    }
    root.done(choices)
}

/// An object with some of the names.
fn named<'a>(
    choices: &mut Choices<'a>,
    names: &[&str],
    percent: usize,
    mut value: impl FnMut(&mut Choices<'a>, &str) -> Tree,
) -> Tree {
    let mut object = Object::new();
    for name in choices.some(names, percent) {
        let value = value(choices, name);
        object.put(name, value);
    }
    object.done(choices)
}

impl Document {
    fn components(&self, choices: &mut Choices<'_>, group_versions: &[GroupVersion]) -> Tree {
        let mut schemas = Object::new();
        for name in self.schemas.names.clone() {
            let schema = match names::kinds_of(&name, group_versions) {
                Some(kinds) => self.schemas.resource(choices, kinds),
                None => names::well_known(&name, true).unwrap_or_else(|| self.schemas.schema(choices, 3)),
            };
            schemas.put(name, schema);
        }
        let mut components = Object::new();
        components.put("schemas", schemas.done(choices));
        components.put("parameters", named(choices, PARAMETERS, 100, |choices, name| self.parameter(choices, name)));
        components.put("responses", named(choices, RESPONSES, 100, |choices, _| self.response(choices)));
        components.put("requestBodies", named(choices, &["body"], 100, |choices, _| self.body(choices)));
        components.maybe(choices, 40, "securitySchemes", |choices| {
            named(choices, SCHEMES, 40, |choices, name| self.security_scheme(choices, name))
        });
        components.maybe(choices, 15, "examples", |choices| {
            named(choices, &["b", "a"], 60, |choices, _| self.example(choices))
        });
        components.maybe(choices, 15, "headers", |choices| {
            named(choices, &["X-B", "X-A"], 60, |choices, _| self.header(choices))
        });
        components
            .maybe(choices, 15, "links", |choices| named(choices, &["next"], 80, |choices, _| self.link(choices)));
        components.done(choices)
    }

    fn paths(&self, choices: &mut Choices<'_>, group_versions: &[GroupVersion]) -> Tree {
        let mut paths = Object::new();
        for gv in group_versions {
            for (path, methods) in names::resource_paths(choices, gv) {
                let item = self.resource_item(choices, gv, &path, &methods);
                paths.put(path, item);
            }
        }
        for path in choices.some(names::OTHER_PATHS, 20) {
            let item = self.other_item(choices, path);
            paths.put(path, item);
        }
        paths.done(choices)
    }

    fn resource_item(&self, choices: &mut Choices<'_>, gv: &GroupVersion, path: &str, methods: &[&str]) -> Tree {
        let mut item = Object::new();
        for method in methods {
            let mut operation = Object::new();
            operation.put("tags", texts(&[&gv.tag()]));
            operation.put("description", text(choices, self.odd));
            operation.put("operationId", Tree::text(names::operation_id(method, path)));
            if matches!(*method, "post" | "put" | "patch") {
                operation.put("requestBody", self.body(choices));
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
                    ("name", Tree::text(name)),
                    ("in", Tree::text("path")),
                    ("required", Tree::boolean(true)),
                    ("schema", Tree::members([("type", Tree::text("string")), ("uniqueItems", Tree::boolean(true))])),
                ])
            })
            .collect();
        if !parameters.is_empty() {
            item.put("parameters", Tree::Seq(parameters));
        }
        item.done(choices)
    }

    fn other_item(&self, choices: &mut Choices<'_>, path: &str) -> Tree {
        let odd = self.odd;
        let mut item = Object::new();
        item.maybe(choices, 10, "summary", |choices| text(choices, odd));
        item.maybe(choices, 10, "description", |choices| text(choices, odd));
        for method in choices.some(&["get", "put", "post", "delete", "options", "head", "patch", "trace"], 30) {
            let operation = self.operation(choices, path, method);
            item.put(method, operation);
        }
        item.maybe(choices, 10, "servers", |choices| self.servers(choices));
        item.maybe(choices, 20, "parameters", |choices| self.parameters(choices));
        if choices.chance(5) {
            extension(choices, &mut item, odd);
        }
        item.done(choices)
    }

    fn operation(&self, choices: &mut Choices<'_>, path: &str, method: &str) -> Tree {
        let odd = self.odd;
        let mut operation = Object::new();
        operation.maybe(choices, 40, "tags", |choices| choices.list(2, |choices| choices.text(&["a", "b"])));
        operation.maybe(choices, 40, "summary", |choices| text(choices, odd));
        operation.maybe(choices, 10, "externalDocs", |choices| external_docs(choices, odd));
        operation.maybe(choices, 50, "operationId", |_| Tree::text(names::operation_id(method, path)));
        operation.maybe(choices, 60, "parameters", |choices| self.parameters(choices));
        operation.maybe(choices, 40, "requestBody", |choices| {
            if choices.chance(30) { reference("requestBodies", "body") } else { self.body(choices) }
        });
        operation.put("responses", self.responses(choices));
        operation.maybe(choices, 10, "deprecated", Choices::boolean);
        operation.maybe(choices, 15, "security", names::security);
        operation.maybe(choices, 8, "servers", |choices| self.servers(choices));
        operation.maybe(choices, 8, "callbacks", |choices| {
            let body = self.body(choices);
            let post = Tree::members([("requestBody", body), ("responses", self.responses(choices))]);
            single("done", single("{$request.body#/url}", single("post", post)))
        });
        if choices.chance(8) {
            extension(choices, &mut operation, odd);
        }
        operation.done(choices)
    }

    fn parameters(&self, choices: &mut Choices<'_>) -> Tree {
        choices.list(4, |choices| {
            if choices.chance(25) {
                reference("parameters", choices.pick(PARAMETERS))
            } else {
                let name = choices.pick(&["a", "b", "body", "X-C"]);
                self.parameter(choices, name)
            }
        })
    }

    fn parameter(&self, choices: &mut Choices<'_>, name: &str) -> Tree {
        let mut parameter = Object::new();
        let place = choices.pick(&["query", "path", "header", "cookie"]);
        parameter.put("name", Tree::text(name)).put("in", Tree::text(place));
        if place == "path" {
            parameter.put("required", Tree::boolean(true));
        }
        parameter.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        parameter.maybe(choices, 5, "allowEmptyValue", Choices::boolean);
        let styles: &[&str] = match place {
            "query" => &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            "path" => &["simple", "label", "matrix"],
            "header" => &["simple"],
            _ => &["form"],
        };
        self.typed(choices, &mut parameter, styles);
        parameter.done(choices)
    }

    fn header(&self, choices: &mut Choices<'_>) -> Tree {
        let mut header = Object::new();
        header.maybe(choices, 40, "description", |choices| text(choices, self.odd));
        self.typed(choices, &mut header, &["simple"]);
        header.done(choices)
    }

    /// What parameters and headers have in common.
    fn typed(&self, choices: &mut Choices<'_>, object: &mut Object, styles: &[&str]) {
        let odd = self.odd;
        object.maybe(choices, 5, "deprecated", Choices::boolean);
        object.maybe(choices, 25, "style", |choices| choices.text(styles));
        object.maybe(choices, 20, "explode", Choices::boolean);
        object.maybe(choices, 5, "allowReserved", Choices::boolean);
        if choices.chance(15) {
            let media_type = self.media_type(choices, "application/json");
            object.put("content", single("application/json", media_type));
        } else {
            object.put("schema", self.schemas.schema(choices, 1));
        }
        object.maybe(choices, 8, "example", |choices| any(choices, odd, 1));
        object.maybe(choices, 8, "examples", |choices| self.examples(choices));
        if choices.chance(5) {
            extension(choices, object, odd);
        }
    }

    fn examples(&self, choices: &mut Choices<'_>) -> Tree {
        named(choices, &["b", "a"], 60, |choices, name| {
            if choices.chance(20) { reference("examples", name) } else { self.example(choices) }
        })
    }

    fn example(&self, choices: &mut Choices<'_>) -> Tree {
        let mut example = Object::new();
        example.maybe(choices, 40, "summary", |choices| text(choices, self.odd));
        example.maybe(choices, 80, "value", |choices| any(choices, self.odd, 2));
        example.maybe(choices, 10, "externalValue", |_| Tree::text("https://example.com/e"));
        example.done(choices)
    }

    fn media_type(&self, choices: &mut Choices<'_>, name: &str) -> Tree {
        let mut media_type = Object::new();
        if choices.chance(90) {
            let schema =
                if choices.chance(30) { self.schemas.schema(choices, 2) } else { self.schemas.referring(choices) };
            media_type.put("schema", schema);
        }
        media_type.maybe(choices, 8, "example", |choices| any(choices, self.odd, 2));
        media_type.maybe(choices, 8, "examples", |choices| self.examples(choices));
        if name.starts_with("multipart/") {
            media_type.maybe(choices, 50, "encoding", |choices| {
                named(choices, &["b", "a"], 60, |choices, _| {
                    let mut encoding = Object::new();
                    encoding.maybe(choices, 50, "contentType", |_| Tree::text("image/png, image/*"));
                    encoding.maybe(choices, 30, "headers", |choices| single("X-A", self.header(choices)));
                    encoding.maybe(choices, 30, "style", |choices| choices.text(&["form", "deepObject"]));
                    encoding.maybe(choices, 30, "explode", Choices::boolean);
                    encoding.done(choices)
                })
            });
        }
        media_type.done(choices)
    }

    fn content(&self, choices: &mut Choices<'_>) -> Tree {
        named(choices, MEDIA_TYPES, 25, |choices, name| self.media_type(choices, name))
    }

    fn body(&self, choices: &mut Choices<'_>) -> Tree {
        let mut body = Object::new();
        body.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        let content = match self.content(choices) {
            // Without content a body has no protobuf form.
            Tree::Map(content) if content.is_empty() => single("*/*", self.media_type(choices, "*/*")),
            content => content,
        };
        body.put("content", content);
        body.maybe(choices, 50, "required", Choices::boolean);
        body.done(choices)
    }

    fn responses(&self, choices: &mut Choices<'_>) -> Tree {
        let mut responses = Object::new();
        let mut codes = choices.some(&["200", "201", "404", "401", "500", "default"], 35);
        if codes.is_empty() {
            codes.push("200");
        }
        for code in codes {
            let response = if choices.chance(15) {
                reference("responses", choices.pick(RESPONSES))
            } else {
                self.response(choices)
            };
            responses.put(code, response);
        }
        responses.done(choices)
    }

    fn response(&self, choices: &mut Choices<'_>) -> Tree {
        let mut response = Object::new();
        response.put("description", choices.text(&["OK", "Unauthorized", "<gone> & lost"]));
        response.maybe(choices, 70, "content", |choices| self.content(choices));
        response.maybe(choices, 10, "headers", |choices| {
            named(choices, &["X-B", "X-A"], 60, |choices, name| {
                if choices.chance(20) { reference("headers", name) } else { self.header(choices) }
            })
        });
        response.maybe(choices, 6, "links", |choices| {
            named(choices, &["b", "next"], 60, |choices, _| {
                if choices.chance(20) { reference("links", "next") } else { self.link(choices) }
            })
        });
        if choices.chance(4) {
            extension(choices, &mut response, self.odd);
        }
        response.done(choices)
    }

    fn link(&self, choices: &mut Choices<'_>) -> Tree {
        let mut link = Object::new();
        link.put("operationId", Tree::text("getVersion"));
        link.maybe(choices, 50, "parameters", |choices| {
            named(choices, &["b", "a"], 60, |choices, _| choices.text(&["$response.body#/id", "1"]))
        });
        link.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        link.maybe(choices, 20, "server", |_| single("url", Tree::text("/")));
        link.done(choices)
    }

    fn servers(&self, choices: &mut Choices<'_>) -> Tree {
        choices.list(2, |choices| {
            let mut server = Object::new();
            server.put("url", choices.text(&["https://example.com", "/v3", "https://{a}.example.com/{b}?c&d"]));
            server.maybe(choices, 30, "description", |choices| text(choices, self.odd));
            server.maybe(choices, 40, "variables", |choices| {
                named(choices, &["b", "a"], 60, |choices, _| {
                    let mut variable = Object::new();
                    variable.put("default", Tree::text("main"));
                    variable.maybe(choices, 40, "enum", |_| texts(&["main", "east"]));
                    variable.done(choices)
                })
            });
            server.done(choices)
        })
    }

    fn security_scheme(&self, choices: &mut Choices<'_>, name: &str) -> Tree {
        let url = || Tree::text("https://example.com/oauth?a=b&c");
        let mut scheme = Object::new();
        match name {
            "basic" => _ = scheme.put("type", Tree::text("http")).put("scheme", Tree::text("basic")),
            "bearer" => {
                scheme.put("type", Tree::text("http")).put("scheme", Tree::text("bearer"));
                scheme.put("bearerFormat", Tree::text("JWT"));
            }
            "key" => {
                scheme.put("type", Tree::text("apiKey")).put("name", Tree::text("k"));
                scheme.put("in", choices.text(&["header", "query", "cookie"]));
            }
            "code" => {
                scheme.put("type", Tree::text("oauth2"));
                let flows = named(
                    choices,
                    &["implicit", "password", "clientCredentials", "authorizationCode"],
                    50,
                    |choices, _| {
                        let mut flow = Object::new();
                        flow.put("authorizationUrl", url()).put("tokenUrl", url());
                        flow.put("scopes", choices.plain(&[r#"{"write":"change","read":"look"}"#, "{}"]));
                        flow.done(choices)
                    },
                );
                scheme.put("flows", flows);
            }
            _ => _ = scheme.put("type", Tree::text("openIdConnect")).put("openIdConnectUrl", url()),
        }
        scheme.maybe(choices, 20, "description", |choices| text(choices, self.odd));
        scheme.done(choices)
    }
}

fn reference(folder: &str, name: &str) -> Tree {
    single("$ref", Tree::text(format!("#/components/{folder}/{name}")))
}
