//! Documents of every shape, for property tests.

use serde_json::{Map, Value, json};

/// A small random number generator: the same seed gives the same document.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u32) -> u32 {
        // Knuth's multiplier and increment for 64 bits.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % sides
    }

    pub(crate) fn one_in(&mut self, sides: u32) -> bool {
        self.roll(sides) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.roll(all.len() as u32) as usize]
    }

    fn text(&mut self) -> String {
        (*self.pick(&["a", "b", "text", "x-a", "a/b~c", "50%", "é<", "Pet", ""])).to_owned()
    }
}

/// Names of shared objects, including unusual ones.
const NAMES: [&str; 5] = ["A", "B", "C.d-e_1", "Pet", "x-p"];

fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns a random selection of the members.
fn some(dice: &mut Dice, sides: u32, members: Vec<(&'static str, Value)>) -> Map<String, Value> {
    members.into_iter().filter(|_| dice.one_in(sides)).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A value of any kind.
pub(crate) fn value(dice: &mut Dice, depth: u32) -> Value {
    match dice.roll(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(dice.one_in(2)),
        2 => json!(i64::from(dice.roll(7)) - 2),
        3 => json!(1.5),
        4 | 5 => json!(dice.text()),
        6 => json!(""),
        7 => (0..dice.roll(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let names: Vec<&str> = ["a", "b", "kind"].into_iter().filter(|_| dice.one_in(2)).collect();
            names.into_iter().map(|name| (name.to_owned(), value(dice, depth - 1))).collect::<Map<_, _>>().into()
        }
    }
}

/// A schema that may contain references to shared ones.
pub(crate) fn schema(dice: &mut Dice, depth: u32) -> Value {
    if dice.one_in(5) {
        let reference = json!({"$ref": format!("#/components/schemas/{}", dice.pick(&NAMES[..4]))});
        return match dice.roll(4) {
            0 => json!({"description": "d", "default": {}, "allOf": [reference]}),
            1 => json!({"nullable": true, "allOf": [reference]}),
            _ => reference,
        };
    }
    if dice.one_in(20) {
        return json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]});
    }
    let ty = *dice.pick(&["string", "integer", "number", "boolean", "array", "object", "object", ""]);
    let mut out = some(
        dice,
        8,
        vec![
            ("nullable", json!(true)),
            ("description", json!("d")),
            ("title", json!("t")),
            ("readOnly", json!(true)),
            ("writeOnly", json!(true)),
            ("deprecated", json!(true)),
            ("xml", json!({"name": "n"})),
            ("x-nullable", json!(false)),
            ("x-note", json!({"a": [1, null]})),
            ("x-kubeshape-loss", json!({"was": {"/type": "string"}})),
            ("externalDocs", json!({"url": "https://example.com"})),
        ],
    );
    if !ty.is_empty() {
        out.insert("type".into(), json!(ty));
    }
    for (name, value) in [("default", 2), ("example", 2)] {
        if dice.one_in(8) {
            out.insert(name.into(), self::value(dice, value));
        }
    }
    if dice.one_in(8) {
        out.insert("enum".into(), (0..=dice.roll(3)).map(|_| value(dice, 1)).collect());
    }
    let small = dice.roll(3);
    match ty {
        "string" => {
            let more = [
                ("maxLength", json!(small + 1)),
                ("minLength", json!(small)),
                ("pattern", json!("^[a-z]")),
                ("format", json!("binary")),
            ];
            out.extend(some(dice, 4, more.into()));
        }
        "integer" | "number" => {
            let more = vec![
                ("maximum", json!(small)),
                ("minimum", json!(i64::from(small) - 3)),
                ("exclusiveMaximum", json!(true)),
                ("exclusiveMinimum", json!(true)),
                ("multipleOf", json!(0.5)),
                ("format", json!("int64")),
            ];
            out.extend(some(dice, 4, more));
        }
        "array" => {
            if depth > 0 && !dice.one_in(8) {
                out.insert("items".into(), schema(dice, depth - 1));
            }
            let more = vec![("maxItems", json!(small + 1)), ("minItems", json!(small)), ("uniqueItems", json!(true))];
            out.extend(some(dice, 4, more));
        }
        "object" if depth > 0 => {
            let names: Vec<&str> = ["a", "b", "kind", "x-a", "a/b"].into_iter().filter(|_| dice.one_in(2)).collect();
            let properties: Map<String, Value> =
                names.iter().map(|name| ((*name).to_owned(), schema(dice, depth - 1))).collect();
            out.insert("properties".into(), properties.into());
            let required: Vec<&str> = ["a", "kind"].into_iter().filter(|_| dice.one_in(3)).collect();
            if !required.is_empty() {
                out.insert("required".into(), json!(required));
            }
            match dice.roll(6) {
                0 => drop(out.insert("additionalProperties".into(), json!(dice.one_in(2)))),
                1 => drop(out.insert("additionalProperties".into(), schema(dice, depth - 1))),
                2 => drop(out.insert("discriminator".into(), json!({"propertyName": "kind", "mapping": {"a": "A"}}))),
                3 => drop(out.insert("discriminator".into(), json!({"propertyName": "kind"}))),
                _ => {}
            }
            out.extend(some(dice, 8, vec![("maxProperties", json!(3)), ("minProperties", json!(1))]));
        }
        _ => {}
    }
    if depth > 0 {
        for junctor in ["allOf", "oneOf", "anyOf"] {
            if dice.one_in(10) {
                out.insert(junctor.into(), (0..=dice.roll(2)).map(|_| schema(dice, depth - 1)).collect());
            }
        }
        if dice.one_in(12) {
            out.insert("not".into(), schema(dice, depth - 1));
        }
    }
    out.into()
}

fn reference(dice: &mut Dice, section: &str) -> Value {
    match dice.roll(12) {
        0 => json!({"$ref": format!("other.yaml#/components/{section}/A")}),
        1 => json!({"$ref": "#/paths/~1a/get"}),
        2 => json!({"$ref": format!("#/components/{section}/Missing")}),
        _ => json!({"$ref": format!("#/components/{section}/{}", dice.pick(&NAMES))}),
    }
}

fn examples(dice: &mut Dice) -> Value {
    match dice.roll(3) {
        0 => json!({"one": {"$ref": "#/components/examples/A"}, "two": {"summary": "s", "value": 1}}),
        1 => json!({"one": {"externalValue": "https://example.com/a"}}),
        _ => json!({"one": {"value": {"a": 1}, "x-a": 1}}),
    }
}

fn media(dice: &mut Dice) -> Value {
    let mut out = Map::new();
    if !dice.one_in(6) {
        out.insert("schema".into(), schema(dice, 2));
    }
    match dice.roll(8) {
        0 => drop(out.insert("example".into(), value(dice, 2))),
        1 => drop(out.insert("examples".into(), examples(dice))),
        2 => drop(
            out.insert("encoding".into(), json!({"a": {"contentType": "text/plain", "headers": {"H": header(dice)}}})),
        ),
        3 => drop(out.insert("x-media".into(), json!(true))),
        _ => {}
    }
    out.into()
}

fn content(dice: &mut Dice) -> Value {
    const TYPES: [&str; 5] = [
        "application/json",
        "application/xml",
        "text/plain; charset=utf-8",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
    ];
    let shared = media(dice);
    let from = dice.roll(5) as usize;
    let names = TYPES.iter().cycle().skip(from).take(dice.roll(3) as usize);
    let same = dice.one_in(2);
    names
        .map(|name| ((*name).to_owned(), if same { shared.clone() } else { media(dice) }))
        .collect::<Map<_, _>>()
        .into()
}

fn described(dice: &mut Dice) -> Map<String, Value> {
    let mut out = some(
        dice,
        5,
        vec![
            ("description", json!("d")),
            ("required", json!(true)),
            ("deprecated", json!(true)),
            ("allowReserved", json!(true)),
            ("explode", json!(false)),
            ("explode", json!(true)),
            ("style", json!("form")),
            ("style", json!("simple")),
            ("style", json!("spaceDelimited")),
            ("style", json!("deepObject")),
            ("example", json!([1])),
            ("examples", json!({"e": {"value": 1}})),
            ("x-note", json!("n")),
            ("x-nullable", json!(true)),
            ("x-kubeshape-loss", json!(1)),
        ],
    );
    match dice.roll(8) {
        0 => drop(out.insert("content".into(), content(dice))),
        1 => {}
        _ => drop(out.insert("schema".into(), schema(dice, 2))),
    }
    out
}

fn header(dice: &mut Dice) -> Value {
    if dice.one_in(4) { reference(dice, "headers") } else { described(dice).into() }
}

fn parameter(dice: &mut Dice) -> Value {
    if dice.one_in(4) {
        return reference(dice, "parameters");
    }
    let mut out = described(dice);
    out.insert("name".into(), json!(dice.text()));
    out.insert("in".into(), json!(dice.pick(&["query", "query", "path", "header", "cookie"])));
    out.into()
}

fn body(dice: &mut Dice) -> Value {
    if dice.one_in(4) {
        return reference(dice, "requestBodies");
    }
    let mut out = some(dice, 3, vec![("description", json!("d")), ("required", json!(true)), ("x-note", json!("n"))]);
    out.insert("content".into(), content(dice));
    out.into()
}

fn response(dice: &mut Dice) -> Value {
    if dice.one_in(5) {
        return reference(dice, "responses");
    }
    let mut out = some(dice, 4, vec![("links", json!({"l": {"operationId": "o"}})), ("x-note", json!("n"))]);
    out.insert("description".into(), json!(dice.text()));
    if dice.one_in(2) {
        out.insert("content".into(), content(dice));
    }
    if dice.one_in(3) {
        out.insert("headers".into(), object(vec![("H", header(dice)), ("x-i", header(dice))]));
    }
    out.into()
}

fn operation(dice: &mut Dice) -> Value {
    let mut out = some(
        dice,
        4,
        vec![
            ("summary", json!("s")),
            ("tags", json!(["t"])),
            ("operationId", json!("o")),
            ("deprecated", json!(true)),
            ("callbacks", json!({"c": {"{$url}": {"post": {"responses": {}}}}})),
            ("servers", json!([{"url": "/op"}])),
            ("security", json!([{"A": []}, {"B": ["s"], "Pet": []}])),
            ("security", json!([])),
            ("externalDocs", json!({"url": "u", "x-a": 1})),
            ("x-kubeshape-loss", json!({"was": {"/tags": ["z"]}})),
        ],
    );
    if dice.one_in(2) {
        out.insert("parameters".into(), (0..dice.roll(4)).map(|_| parameter(dice)).collect());
    }
    if dice.one_in(2) {
        out.insert("requestBody".into(), body(dice));
    }
    let mut responses = Map::new();
    for code in ["200", "404", "4XX", "5XX", "default"] {
        if dice.one_in(3) {
            responses.insert(code.into(), response(dice));
        }
    }
    if !dice.one_in(5) {
        out.insert("responses".into(), responses.into());
    }
    out.into()
}

fn path_item(dice: &mut Dice) -> Value {
    let mut out = some(
        dice,
        6,
        vec![
            ("summary", json!("s")),
            ("description", json!("d")),
            ("servers", json!([{"url": "https://path.example.com"}])),
            ("$ref", json!("#/paths/~1b")),
            ("x-note", json!("n")),
        ],
    );
    for name in ["get", "put", "trace"] {
        if dice.one_in(2) {
            out.insert(name.into(), operation(dice));
        }
    }
    if dice.one_in(3) {
        out.insert("parameters".into(), (0..dice.roll(3)).map(|_| parameter(dice)).collect());
    }
    out.into()
}

fn security_scheme(dice: &mut Dice) -> Value {
    let flow = json!({"authorizationUrl": "a", "tokenUrl": "t", "refreshUrl": "r", "scopes": {"s": "d"}, "x-f": 1});
    match dice.roll(9) {
        0 => json!({"type": "http", "scheme": "basic"}),
        1 => json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}),
        2 => json!({"type": "apiKey", "in": "cookie", "name": "n"}),
        3 => json!({"type": "apiKey", "in": "header", "name": "n", "x-note": 1}),
        4 => json!({"type": "openIdConnect", "openIdConnectUrl": "u"}),
        5 => json!({"type": "oauth2", "flows": {"implicit": flow, "password": flow}}),
        6 => json!({"type": "oauth2", "flows": {}}),
        7 => json!({"type": "mutualTLS"}),
        _ => reference(dice, "securitySchemes"),
    }
}

fn shared(dice: &mut Dice, names: &[&str], f: Make) -> Value {
    let chosen: Vec<&str> = names.iter().copied().filter(|_| !dice.one_in(3)).collect();
    chosen.into_iter().map(|name| (name.to_owned(), f(dice))).collect::<Map<_, _>>().into()
}

/// Generates one of the objects that a document shares.
type Make = fn(&mut Dice) -> Value;

/// A document.
pub(crate) fn document(dice: &mut Dice) -> Value {
    let variables = json!({"v": {"default": "d", "enum": ["d", "e"]}});
    let mut out = some(
        dice,
        3,
        vec![
            ("servers", json!([{"url": "https://{v}.example.com/{missing}/", "variables": variables}])),
            ("servers", json!([{"url": "https://a/b"}, {"url": "http://a/b"}, {"url": "https://c"}])),
            ("servers", json!([{"url": "/"}])),
            ("servers", json!([{"url": "relative", "description": "d", "x-a": 1}])),
            ("tags", json!([{"name": "t", "externalDocs": {"url": "u"}}])),
            ("security", json!([{"A": []}])),
            ("externalDocs", json!({"url": "u", "description": "d"})),
            ("x-root", json!([null])),
            ("x-kubeshape-loss", json!({"new": ["/info"]})),
        ],
    );
    out.insert("openapi".into(), json!(dice.pick(&["3.0.0", "3.0.3"])));
    out.insert(
        "info".into(),
        json!({"title": "t", "version": "1", "contact": {"name": "n"}, "license": {"name": "l"}}),
    );
    if !dice.one_in(8) {
        let mut paths = json!({"/a": path_item(dice), "/b/{c}": path_item(dice)});
        if dice.one_in(4) {
            paths["x-paths"] = json!(1);
        }
        out.insert("paths".into(), paths);
    }
    let mut components = Map::new();
    components.insert(
        "schemas".into(),
        NAMES[..4].iter().map(|name| ((*name).to_owned(), schema(dice, 3))).collect::<Map<_, _>>().into(),
    );
    let sections: [(&str, Make); 6] = [
        ("parameters", parameter),
        ("requestBodies", body),
        ("responses", response),
        ("headers", header),
        ("securitySchemes", security_scheme),
        ("examples", |dice| json!({"value": dice.roll(3), "summary": "s"})),
    ];
    for (name, f) in sections {
        if !dice.one_in(4) {
            components.insert(name.into(), shared(dice, &NAMES, f));
        }
    }
    components.extend(some(
        dice,
        3,
        vec![("links", json!({"L": {"operationId": "o"}})), ("callbacks", json!({"K": {}})), ("x-note", json!(1))],
    ));
    if !dice.one_in(8) {
        out.insert("components".into(), components.into());
    }
    out.into()
}

/// A document of one part.
pub(crate) fn small(dice: &mut Dice) -> Value {
    let get = |operation: Value| json!({"paths": {"/a": {"get": operation}}});
    let mut out = match dice.roll(9) {
        0 => get(json!({"parameters": [parameter(dice)]})),
        1 => get(json!({"requestBody": body(dice)})),
        2 => get(json!({"responses": {"200": response(dice)}})),
        3 => get(operation(dice)),
        4 => json!({"paths": {"/a": path_item(dice)}}),
        5 => json!({"components": {"securitySchemes": {"A": security_scheme(dice)}}}),
        6 => get(json!({"responses": {"200": {"description": "", "headers": {"H": header(dice)}}}})),
        7 => json!({"components": {"requestBodies": {"A": body(dice)}, "responses": {"B": response(dice)}}}),
        _ => json!({"components": {"schemas": {"A": schema(dice, 1)}}}),
    };
    out["openapi"] = json!("3.0.0");
    out["info"] = json!({});
    out
}
