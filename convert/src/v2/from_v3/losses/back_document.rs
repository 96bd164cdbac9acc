//! The way back of documents, paths, operations, parameters, bodies and responses.

use super::LOSS;
use super::back::{Back, Members, Pair};
use super::json::{find, items, members};
use kubeshape_schema::Json;

/// The media types of a body whose media types are not known.
const JSON: &[Json<'static>] = &[Json::Str("application/json")];

impl<'j> Back<'j> {
    /// Converts the whole document.
    pub(super) fn document(&mut self, original: Option<&Json<'j>>) -> Pair<'j> {
        let root = self.root;
        let components = find(original, "components");
        let mut back: Members<'j> = vec![("openapi", Json::Str("3.0.0"))];
        let mut shared: Members<'j> = Vec::new();
        let mut changes: Members<'j> = Vec::new();
        for (name, value) in members(&root) {
            match (*name, value) {
                ("swagger" | "host" | "basePath" | "schemes" | "consumes" | "produces" | LOSS, _)
                | ("paths", Json::Null) => {}
                ("paths", _) => {
                    let pair = self.named(value, find(original, "paths"), |back, item, original| match item {
                        Json::Object(_) => back.path_item(item, original),
                        _ => Pair { v2: *item, v3: *item },
                    });
                    changes.push(("paths", pair.v2));
                    back.push(("paths", pair.v3));
                }
                ("definitions", _) => {
                    let pair = self.named(value, find(components, "schemas"), Self::schema);
                    changes.push(("definitions", pair.v2));
                    shared.push(("schemas", pair.v3));
                }
                ("responses", _) => {
                    let pair = self.named(value, find(components, "responses"), |back, response, original| {
                        back.response(response, original, JSON)
                    });
                    changes.push(("responses", pair.v2));
                    shared.push(("responses", pair.v3));
                }
                ("securityDefinitions", _) => {
                    let pair = self.named(value, find(components, "securitySchemes"), Self::security_scheme);
                    changes.push(("securityDefinitions", pair.v2));
                    shared.push(("securitySchemes", pair.v3));
                }
                ("parameters", _) => changes.push(("parameters", self.shared(value, components, &mut shared))),
                _ => back.push((name, *value)),
            }
        }
        if let Some(servers) = self.servers() {
            back.push(("servers", servers));
        }
        if !shared.is_empty() {
            let shared = self.object(shared);
            back.push(("components", shared));
        }
        self.host(&root, &changes, back, original)
    }

    /// Converts shared parameters, which include bodies. Returns their OpenAPI v2 form.
    fn shared(&mut self, source: &Json<'j>, components: Option<&Json<'j>>, shared: &mut Members<'j>) -> Json<'j> {
        let (parameters, bodies) = (find(components, "parameters"), find(components, "requestBodies"));
        let mut v2: Members<'j> = Vec::new();
        let mut back_parameters: Members<'j> = Vec::new();
        let mut back_bodies: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            let pair = if is_body(value) {
                let pair = self.body(value, find(bodies, name), JSON);
                back_bodies.push((*name, pair.v3));
                pair
            } else {
                let pair = self.parameter(value, find(parameters, name));
                back_parameters.push((*name, pair.v3));
                pair
            };
            v2.push((*name, pair.v2));
        }
        if !back_parameters.is_empty() || back_bodies.is_empty() {
            shared.push(("parameters", self.object(back_parameters)));
        }
        if !back_bodies.is_empty() {
            shared.push(("requestBodies", self.object(back_bodies)));
        }
        self.object(v2)
    }

    fn servers(&self) -> Option<Json<'j>> {
        let root = Some(&self.root);
        let text = |name| find(root, name).and_then(Json::as_str).unwrap_or("");
        let (host, path) = (text("host"), text("basePath"));
        if host.is_empty() && path.is_empty() {
            return None;
        }
        let server = |url: String| self.object(vec![("url", Json::Str(self.arena.alloc_str(&url)))]);
        let schemes = find(root, "schemes").map_or(&[][..], items);
        let servers: Vec<Json<'j>> = match (host, schemes) {
            ("", _) => vec![server(path.to_owned())],
            (host, []) => vec![server(format!("//{host}{path}"))],
            (host, schemes) => schemes
                .iter()
                .map(|scheme| server(format!("{}://{host}{path}", scheme.as_str().unwrap_or(""))))
                .collect(),
        };
        Some(self.array(&servers))
    }

    fn path_item(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        let mut changes: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            let before = find(original, name);
            let pair = match (*name, value) {
                ("get" | "put" | "post" | "delete" | "options" | "head" | "patch", Json::Object(_)) => {
                    self.operation(value, before)
                }
                ("parameters", Json::Array(list)) => {
                    let originals = aligned(list, before);
                    self.list(value, &originals, Self::parameter)
                }
                ("$ref", Json::Str(text)) => Pair { v2: *value, v3: Json::Str(self.reference(text)) },
                (LOSS, _) => continue,
                _ => Pair { v2: *value, v3: *value },
            };
            changes.push((name, pair.v2));
            back.push((name, pair.v3));
        }
        self.host(source, &changes, back, original)
    }

    /// Returns the media types of an operation: its own or those of the document.
    fn media_types(&self, operation: &Json<'j>, member: &str) -> &'j [Json<'j>] {
        let own = find(Some(operation), member).or_else(|| find(Some(&self.root), member));
        own.map_or(JSON, items)
    }

    fn operation(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        let mut changes: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            match (*name, value) {
                ("consumes" | "produces" | "schemes" | LOSS, _) => {}
                ("parameters", Json::Array(list)) => {
                    let list = self.operation_parameters(source, list, original, &mut back);
                    changes.push(("parameters", list));
                }
                ("responses", Json::Object(_)) => {
                    let produces = self.media_types(source, "produces");
                    let pair =
                        self.named(value, find(original, "responses"), |back, response, original| match response {
                            Json::Object(_) => back.response(response, original, produces),
                            _ => Pair { v2: *response, v3: *response },
                        });
                    changes.push(("responses", pair.v2));
                    back.push(("responses", pair.v3));
                }
                _ => back.push((name, *value)),
            }
        }
        self.host(source, &changes, back, original)
    }

    /// Converts parameters, including those that are a body or a form. Returns their OpenAPI v2 form.
    fn operation_parameters(
        &mut self,
        operation: &Json<'j>,
        list: &'j [Json<'j>],
        original: Option<&Json<'j>>,
        back: &mut Members<'j>,
    ) -> Json<'j> {
        let consumes = self.media_types(operation, "consumes");
        let body = find(original, "requestBody");
        let originals = aligned(list, find(original, "parameters"));
        let mut v2 = Vec::with_capacity(list.len());
        let mut parameters = Vec::with_capacity(list.len());
        let mut form: Members<'j> = Vec::new();
        let mut required = Vec::new();
        for (i, item) in list.iter().enumerate() {
            if is_body(item) {
                let pair = self.body(item, body, consumes);
                back.push(("requestBody", pair.v3));
                v2.push(pair.v2);
            } else if let Some(name) = self.shared_body(item) {
                let reference = self.arena.alloc_str(&format!("#/components/requestBodies/{name}"));
                let reference = self.object(vec![("$ref", Json::Str(reference))]);
                back.push(("requestBody", reference));
                v2.push(*item);
            } else if find(Some(item), "in").and_then(Json::as_str) == Some("formData") {
                self.form_property(item, &mut form, &mut required);
                v2.push(*item);
            } else {
                let pair = self.parameter(item, originals.get(i).copied().flatten());
                parameters.push(pair.v3);
                v2.push(pair.v2);
            }
        }
        if !form.is_empty() {
            let mut schema = vec![("type", Json::Str("object")), ("properties", self.object(form))];
            if !required.is_empty() {
                schema.push(("required", self.array(&required)));
            }
            let media = self.object(vec![("schema", self.object(schema))]);
            let content = self.content(consumes, media);
            let body = self.object(vec![("content", content)]);
            back.push(("requestBody", body));
        }
        if !parameters.is_empty() {
            back.push(("parameters", self.array(&parameters)));
        }
        self.array(&v2)
    }

    fn content(&self, media_types: &[Json<'j>], media: Json<'j>) -> Json<'j> {
        self.object(media_types.iter().filter_map(|name| Some((name.as_str()?, media))).collect())
    }

    fn form_property(&self, source: &Json<'j>, form: &mut Members<'j>, required: &mut Vec<Json<'j>>) {
        let mut back: Members<'j> = Vec::new();
        self.simple(source, &mut back);
        let get = |name: &str| back.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let Some(name) = get("name").and_then(|name| name.as_str()) else { return };
        if get("required") == Some(Json::Bool(true)) {
            required.push(Json::Str(name));
        }
        let mut property: Members<'j> = get("schema").as_ref().map_or(&[][..], members).to_vec();
        let is_member = |name: &str| !matches!(name, "name" | "in" | "required" | "schema" | "allowEmptyValue");
        property.extend(back.iter().copied().filter(|(name, _)| is_member(name)));
        form.push((name, self.object(property)));
    }

    /// Returns the name in a reference to a shared body.
    fn shared_body(&self, parameter: &Json<'j>) -> Option<&'j str> {
        let name = find(Some(parameter), "$ref")?.as_str()?.strip_prefix("#/parameters/")?;
        let shared = find(find(Some(&self.root), "parameters"), name)?;
        is_body(shared).then_some(name)
    }

    fn parameter(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        if let Some(Json::Str(text)) = find(Some(source), "$ref") {
            back.extend(members(source).iter().copied().filter(|(name, _)| *name != LOSS && *name != "$ref"));
            back.push(("$ref", Json::Str(self.reference(text))));
            return self.host(source, &[], back, original);
        }
        self.simple(source, &mut back);
        let text = |name| find(Some(source), name).and_then(Json::as_str).unwrap_or("");
        if text("type") == "array" && text("in") == "query" {
            match text("collectionFormat") {
                "" | "csv" => back.push(("explode", Json::Bool(false))),
                "ssv" => back.push(("style", Json::Str("spaceDelimited"))),
                "pipes" => back.push(("style", Json::Str("pipeDelimited"))),
                _ => {}
            }
        }
        self.host(source, &[], back, original)
    }

    fn header(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        self.simple(source, &mut back);
        self.host(source, &[], back, original)
    }

    fn body(&mut self, source: &Json<'j>, original: Option<&Json<'j>>, consumes: &[Json<'j>]) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        let mut changes: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            match *name {
                "name" | "in" | LOSS => {}
                "schema" => {
                    let pair = self.schema(value, first_schema(original));
                    changes.push(("schema", pair.v2));
                    let media = self.object(vec![("schema", pair.v3)]);
                    back.push(("content", self.content(consumes, media)));
                }
                name => back.push((name, *value)),
            }
        }
        self.host(source, &changes, back, original)
    }

    fn response(&mut self, source: &Json<'j>, original: Option<&Json<'j>>, produces: &[Json<'j>]) -> Pair<'j> {
        let mut back: Members<'j> = Vec::new();
        let mut changes: Members<'j> = Vec::new();
        let mut schema = None;
        let mut examples = None;
        for (name, value) in members(source) {
            match (*name, value) {
                (LOSS, _) => {}
                ("$ref", Json::Str(text)) => back.push(("$ref", Json::Str(self.reference(text)))),
                ("schema", _) => {
                    let pair = self.schema(value, first_schema(original));
                    changes.push(("schema", pair.v2));
                    schema = Some(pair.v3);
                }
                ("headers", Json::Object(_)) => {
                    let pair = self.named(value, find(original, "headers"), Self::header);
                    changes.push(("headers", pair.v2));
                    back.push(("headers", pair.v3));
                }
                ("examples", _) => examples = Some(value),
                _ => back.push((name, *value)),
            }
        }
        let of_examples = examples.map_or(&[][..], members);
        let mut content: Members<'j> = Vec::new();
        if schema.is_some() {
            content.extend(produces.iter().filter_map(|name| Some((name.as_str()?, Json::Null))));
        }
        content.extend(of_examples.iter().map(|(name, _)| (*name, Json::Null)));
        if !content.is_empty() {
            let names = self.object(content);
            let media = members(&names).iter().map(|(name, _)| {
                let schema = schema.map(|schema| ("schema", schema));
                let example = find(examples, name).map(|example| ("example", *example));
                (*name, self.object(schema.into_iter().chain(example).collect()))
            });
            let media: Members<'j> = media.collect();
            back.push(("content", self.object(media)));
        }
        self.host(source, &changes, back, original)
    }

    fn security_scheme(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let text = |name| find(Some(source), name).and_then(Json::as_str).unwrap_or("");
        let mut back: Members<'j> = Vec::new();
        let mut flow: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            match (*name, value) {
                (LOSS | "flow", _) => {}
                ("type", Json::Str("basic")) => {
                    back.push(("type", Json::Str("http")));
                    back.push(("scheme", Json::Str("basic")));
                }
                ("authorizationUrl" | "tokenUrl" | "scopes", _) => flow.push((name, *value)),
                _ => back.push((name, *value)),
            }
        }
        let name = match text("flow") {
            "accessCode" => "authorizationCode",
            "application" => "clientCredentials",
            other => other,
        };
        if text("type") == "oauth2" {
            if !flow.iter().any(|(name, _)| *name == "scopes") {
                flow.push(("scopes", Json::Object(&[])));
            }
            let flow = self.object(flow);
            let flows = self.object(vec![(self.arena.alloc_str(name) as &'j str, flow)]);
            back.push(("flows", flows));
        }
        self.host(source, &[], back, original)
    }
}

fn is_body(parameter: &Json<'_>) -> bool {
    find(Some(parameter), "in").and_then(Json::as_str) == Some("body")
}

/// Returns the schema of the first media type, which became that of the body.
fn first_schema<'j>(original: Option<&Json<'j>>) -> Option<&'j Json<'j>> {
    let (_, media) = members(find(original, "content")?).first()?;
    find(Some(media), "schema")
}

/// Returns for every parameter the original one: those that are left are in the original order.
fn aligned<'j>(list: &[Json<'j>], originals: Option<&Json<'j>>) -> Vec<Option<&'j Json<'j>>> {
    let originals = originals.map_or(&[][..], items);
    let key = |parameter: &Json<'j>| {
        let text = |name| find(Some(parameter), name).and_then(Json::as_str).unwrap_or("");
        let reference = text("$ref");
        (reference.rsplit('/').next().unwrap_or(reference), text("in"), text("name"))
    };
    let mut at = 0;
    let find_next = |parameter: &Json<'j>| {
        let found = originals.get(at..)?.iter().position(|original| key(original) == key(parameter))?;
        at += found + 1;
        originals.get(at - 1)
    };
    list.iter().map(find_next).collect()
}
