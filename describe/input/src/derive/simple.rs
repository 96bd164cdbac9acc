//! kro's SimpleSchema: fields with types and markers, `size: integer | default=1 minimum=1` (`pkg/simpleschema`).

use super::markers::{self, Marker, Name};
use super::{Write, Wrong};
use kubeshape_yaml::{Addition, Kind, Limits, Node, Path, Stream, Tape};
use std::collections::BTreeMap;

/// The deepest nesting of a type such as `[][]string`.
const DEPTH_OF_TYPE: usize = 16;
/// The deepest nesting of a schema, and of the types that are read at the same time.
const DEPTH: usize = 64;
/// The maximum number of schemas, including copies of types. Long texts of copies count, too: see [`Schema::size`].
const MOST: usize = 1 << 16;
const ARRAY: &str = "array";

/// A schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    ty: &'static str,
    properties: BTreeMap<String, Schema>,
    items: Option<Box<Schema>>,
    additional: Option<Box<Schema>>,
    keeps_unknown: bool,
    required: Vec<String>,
    /// The default as JSON.
    default: Option<String>,
    description: String,
    minimum: Option<f64>,
    maximum: Option<f64>,
    /// Each value as JSON.
    values: Vec<String>,
    /// Rules with their messages.
    rules: Vec<(String, &'static str)>,
    pattern: String,
    /// Keywords with integers.
    bounds: BTreeMap<&'static str, i64>,
    list_type: Option<String>,
    map_keys: Vec<String>,
    /// The location of the field in the source: a range.
    span: std::ops::Range<usize>,
}

/// A type that others refer to by name.
#[derive(Clone, Debug)]
struct Custom {
    schema: Schema,
    /// Whether fields of the type are required.
    is_required: bool,
    /// The depth of the schema.
    levels: usize,
    /// See [`Schema::size`].
    size: usize,
}

/// Reads the fields of a schema, and the types that they refer to.
pub(super) fn read(fields: Option<Node<'_>>, types: Option<Node<'_>>, at: Node<'_>) -> Result<Schema, Wrong> {
    let mut reader = Reader { types, known: BTreeMap::new(), open: Vec::new(), count: 0, active: 0 };
    for (name, _) in types.into_iter().flat_map(Node::pairs) {
        reader.custom(name.text(), name)?;
    }
    match fields {
        Some(fields) => reader.fields(fields, 0),
        None => Ok(Schema { ty: "object", span: at.span(), ..Schema::default() }),
    }
}

struct Reader<'n> {
    types: Option<Node<'n>>,
    known: BTreeMap<String, Custom>,
    /// The types that are being read.
    open: Vec<String>,
    count: usize,
    /// The number of fields and types that are being read, each in the one before.
    active: usize,
}

impl<'n> Reader<'n> {
    /// Counts a field or type that is read in another one.
    fn enter(&mut self, at: Node<'_>) -> Result<(), Wrong> {
        self.active += 1;
        if self.active > DEPTH {
            return Err(Wrong::new(at, format!("fields and types are nested more than {DEPTH} deep")));
        }
        Ok(())
    }

    /// Counts schemas.
    fn count(&mut self, schemas: usize, at: Node<'_>) -> Result<(), Wrong> {
        self.count += schemas;
        if self.count > MOST {
            return Err(Wrong::new(
                at,
                format!("the schema has more than {MOST} fields, with those of its types; long texts count as fields"),
            ));
        }
        Ok(())
    }

    /// Reads an object with fields (`buildSchema`).
    fn fields(&mut self, fields: Node<'n>, depth: usize) -> Result<Schema, Wrong> {
        self.count(1, fields)?;
        self.enter(fields)?;
        let mut schema = Schema { ty: "object", span: fields.span(), ..Schema::default() };
        for (key, value) in fields.pairs() {
            let name = key.text();
            let mut field = match value.kind() {
                Kind::Str => self.field(name, value, &mut schema, depth)?,
                Kind::Map => self.fields(value, depth + 1)?,
                _ => return Err(Wrong::new(value, format!("field {name} must be a type or an object with fields"))),
            };
            field.span = value.span();
            schema.properties.insert(name.to_owned(), field);
        }
        if schema.required.is_empty() && schema.properties.values().any(|field| field.default.is_some()) {
            schema.default = Some("{}".to_owned());
        }
        schema.required.sort_unstable();
        self.active -= 1;
        Ok(schema)
    }

    /// Reads `TYPE | MARKERS` (`buildFieldFromString`).
    fn field(&mut self, name: &str, value: Node<'n>, parent: &mut Schema, depth: usize) -> Result<Schema, Wrong> {
        let wrong = |detail: String| Wrong::new(value, format!("field {name}: {detail}"));
        let (ty, rest) = value.text().split_once('|').map_or((value.text(), None), |(ty, rest)| (ty, Some(rest)));
        let ty = ty.trim();
        if ty.is_empty() {
            return Err(wrong("empty type".to_owned()));
        }
        let mut schema = self.ty(ty, value, depth + 1, 0)?;
        if self.known.get(ty).is_some_and(|custom| custom.is_required) && is_custom(ty) {
            parent.required.push(name.to_owned());
        }
        if let Some(rest) = rest {
            for marker in markers::read(rest).map_err(wrong)? {
                apply(&mut schema, &marker, name, parent).map_err(wrong)?;
            }
        }
        match schema.list_type.as_deref() {
            None if !schema.map_keys.is_empty() => {
                Err(wrong("listMapKey set while listType is unset, listType must be set to map".to_owned()))
            }
            Some(ty) if !schema.map_keys.is_empty() && ty != "map" => {
                Err(wrong(format!("listMapKey set while listType is set to {ty}, listType must be set to map")))
            }
            _ => Ok(schema),
        }
    }

    /// Reads a type: `string`, `[]map[string]Person`.
    fn ty(&mut self, text: &str, at: Node<'n>, depth: usize, nested: usize) -> Result<Schema, Wrong> {
        self.count(1, at)?;
        if nested > DEPTH_OF_TYPE {
            return Err(Wrong::new(at, format!("type nesting too deep (max {DEPTH_OF_TYPE})")));
        }
        let text = text.trim();
        let span = at.span();
        if let Some(ty) = atomic(text) {
            return Ok(Schema { ty, span, ..Schema::default() });
        }
        if text == "object" {
            return Ok(Schema { ty: "object", keeps_unknown: true, span, ..Schema::default() });
        }
        if let Some(inner) = text.strip_prefix("[]") {
            if inner.is_empty() {
                return Err(Wrong::new(at, "empty slice element type"));
            }
            let items = Some(Box::new(self.ty(inner, at, depth, nested + 1)?));
            return Ok(Schema { ty: ARRAY, items, span, ..Schema::default() });
        }
        if text.starts_with("map[") {
            let Some(inner) = text.strip_prefix("map[string]") else {
                return Err(Wrong::new(at, "map key must be string"));
            };
            if inner.trim().is_empty() {
                return Err(Wrong::new(at, "map value type is required"));
            }
            let additional = Some(Box::new(self.ty(inner, at, depth, nested + 1)?));
            return Ok(Schema { ty: "object", additional, span, ..Schema::default() });
        }
        self.custom(text, at)?;
        let Some(custom) = self.known.get(text) else { return Err(Wrong::new(at, format!("unknown type: {text}"))) };
        if depth + nested + custom.levels > DEPTH {
            return Err(Wrong::new(at, format!("fields and types are nested more than {DEPTH} deep")));
        }
        // A copy is made only if there is room for it.
        self.count(custom.size, at)?;
        self.known.get(text).map(|custom| custom.schema.clone()).ok_or_else(|| Wrong::new(at, "unknown type"))
    }

    /// Reads a type that the definition defines, unless it is known.
    fn custom(&mut self, name: &str, at: Node<'_>) -> Result<(), Wrong> {
        if self.known.contains_key(name) {
            return Ok(());
        }
        let Some(value) = self.types.and_then(|types| types.get(name)) else {
            return Err(Wrong::new(at, format!("unknown type: {name}")));
        };
        if self.open.iter().any(|open| open == name) {
            return Err(Wrong::new(at, format!("cyclic dependency in type {name}")));
        }
        self.enter(at)?;
        self.open.push(name.to_owned());
        let mut parent = Schema::default();
        let schema = match value.kind() {
            Kind::Str => self.field(name, value, &mut parent, 0)?,
            Kind::Map => self.fields(value, 0)?,
            _ => return Err(Wrong::new(value, format!("type {name} must be a type or an object with fields"))),
        };
        self.open.pop();
        self.active -= 1;
        let (levels, size, is_required) = (schema.levels(), schema.size(), !parent.required.is_empty());
        self.known.insert(name.to_owned(), Custom { schema, is_required, levels, size });
        Ok(())
    }
}

fn atomic(text: &str) -> Option<&'static str> {
    Some(match text {
        "string" => "string",
        "integer" => "integer",
        "boolean" => "boolean",
        "float" => "number",
        _ => return None,
    })
}

fn is_custom(text: &str) -> bool {
    atomic(text).is_none() && text != "object" && !text.starts_with("[]") && !text.starts_with("map[")
}

/// Returns the boolean that Go's `strconv.ParseBool` reads.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Changes a schema, and the one around it, as a marker says (`applyMarker`).
fn apply(schema: &mut Schema, marker: &Marker, field: &str, parent: &mut Schema) -> Result<(), String> {
    let Marker { name, value } = marker;
    let flag = || boolean(value).ok_or_else(|| format!("{} must be true or false, found {value:?}", name.text()));
    let number = || {
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("{} must be a number, found {value:?}", name.text()))
    };
    let only = |ty: &str, what: &str| {
        let detail = format!("{} marker is only valid for {what} types, got type: {}", name.text(), schema.ty);
        if schema.ty == ty { Ok(()) } else { Err(detail) }
    };
    match name {
        Name::Required => {
            if flag()? {
                parent.required.push(field.to_owned());
            }
        }
        Name::Default => schema.default = Some(default(schema.ty, value)?),
        Name::Description => schema.description.clone_from(value),
        Name::Minimum => schema.minimum = Some(number()?),
        Name::Maximum => schema.maximum = Some(number()?),
        Name::Validation if value.trim().is_empty() => return Err("validation failed".to_owned()),
        Name::Validation => schema.rules.push((value.clone(), "validation failed")),
        Name::Immutable => {
            if flag()? {
                schema.rules.push(("self == oldSelf".to_owned(), "field is immutable"));
            }
        }
        Name::Enum => schema.values = values(schema.ty, value)?,
        Name::Pattern if value.is_empty() => return Err("pattern marker value cannot be empty".to_owned()),
        Name::Pattern => {
            only("string", "string")?;
            schema.pattern.clone_from(value);
        }
        Name::MinLength | Name::MaxLength | Name::MinItems | Name::MaxItems => {
            let is_list = matches!(name, Name::MinItems | Name::MaxItems);
            if is_list {
                only(ARRAY, "array")?;
            } else {
                only("string", "string")?;
            }
            let bound = integer(value).ok_or_else(|| format!("failed to parse {} value: {value:?}", name.text()))?;
            schema.bounds.insert(name.text(), bound);
        }
        Name::UniqueItems => {
            let is_unique = flag()?;
            only(ARRAY, "array")?;
            if is_unique {
                list_type(schema, "set", "cannot set unique when listType is set to")?;
            }
        }
        Name::ListType => {
            only(ARRAY, "array")?;
            if !["atomic", "set", "map"].contains(&value.as_str()) {
                return Err(format!("unsupported value for listType {value}, needs to be one of atomic, set, or map"));
            }
            list_type(schema, value, "listType attempting to overwrite set type of")?;
        }
        Name::ListMapKey => {
            only(ARRAY, "array")?;
            if schema.map_keys.contains(value) {
                return Err(format!("duplicate listMapKey marker, value {value}"));
            }
            schema.map_keys.push(value.clone());
        }
    }
    Ok(())
}

fn list_type(schema: &mut Schema, ty: &str, conflict: &str) -> Result<(), String> {
    if let Some(other) = schema.list_type.as_deref().filter(|other| *other != ty) {
        return Err(format!("{conflict} {other}"));
    }
    schema.list_type = Some(ty.to_owned());
    Ok(())
}

/// Returns the integer that Go's `strconv.ParseInt` reads.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Returns a default as JSON.
fn default(ty: &str, value: &str) -> Result<String, String> {
    let (json, is_valid) = match ty {
        "string" => (format!("\"{value}\""), true),
        "integer" => (value.to_owned(), integer(value).is_some()),
        "number" => (value.to_owned(), value.parse::<f64>().is_ok()),
        "boolean" => (value.to_owned(), boolean(value).is_some()),
        _ => (value.to_owned(), true),
    };
    if !is_valid {
        return Err(format!("default value must be a valid {ty}, got: {value}"));
    }
    if with_json(&json, |_| ()).is_none() {
        return Err(format!("the default {json} is not JSON"));
    }
    Ok(json)
}

/// Returns the values of an enum as JSON.
fn values(ty: &str, value: &str) -> Result<Vec<String>, String> {
    let one = |value: &str| {
        let value = value.trim();
        match ty {
            _ if value.is_empty() => Err("empty enum values are not allowed".to_owned()),
            "string" => {
                let mut out = Vec::new();
                kubeshape_yaml::go::escape::string(&mut out, value, kubeshape_yaml::go::escape::Escape::Plain);
                Ok(String::from_utf8(out).unwrap_or_default())
            }
            "integer" if integer(value).is_some() => Ok(value.to_owned()),
            "integer" => Err(format!("failed to parse integer enum value: {value:?}")),
            _ => Err(format!("enum values only supported for string and integer types, got type: {ty}")),
        }
    };
    value.split(',').map(one).collect()
}

/// Calls a function with the value of a JSON text; `None` if the text is not JSON.
fn with_json<R>(json: &str, read: impl FnOnce(Node<'_>) -> R) -> Option<R> {
    let mut tape = Tape::new();
    let mut stream = Stream::with_path(json.as_bytes(), Limits::default(), Path::Json).ok()?;
    stream.next(&mut tape)?.ok()?;
    let rest = stream.next(&mut Tape::new());
    tape.document(json).root().filter(|_| rest.is_none()).map(read)
}

impl Schema {
    /// Returns the number of schemas, and one more for every 64 bytes of their texts.
    fn size(&self) -> usize {
        let lists = [&self.required, &self.values, &self.map_keys].into_iter().flatten().map(String::len);
        let texts = [&self.description, &self.pattern].into_iter().chain(&self.default).map(String::len);
        let keys = self.properties.keys().map(String::len);
        let rules = self.rules.iter().map(|(rule, _)| rule.len());
        let bytes: usize = lists.chain(texts).chain(keys).chain(rules).sum();
        let inner = self.items.iter().chain(&self.additional).map(|inner| inner.size()).sum::<usize>();
        1 + bytes / 64 + inner + self.properties.values().map(Schema::size).sum::<usize>()
    }

    /// Returns the depth.
    fn levels(&self) -> usize {
        let inner = self.items.iter().chain(&self.additional).map(|inner| inner.levels());
        1 + inner.chain(self.properties.values().map(Schema::levels)).max().unwrap_or_default()
    }

    /// Returns an object with these properties, which has no other keyword.
    pub(super) fn object(properties: BTreeMap<String, Schema>, at: Node<'_>) -> Schema {
        Schema { ty: "object", properties, span: at.span(), ..Schema::default() }
    }

    /// Returns a schema of one type.
    pub(super) fn of_type(ty: &'static str, at: Node<'_>) -> Schema {
        Schema { ty, span: at.span(), ..Schema::default() }
    }

    /// Returns a schema of any value.
    pub(super) fn any(at: Node<'_>) -> Schema {
        Schema { keeps_unknown: true, span: at.span(), ..Schema::default() }
    }

    /// Returns a list of such values.
    pub(super) fn list(items: Schema, at: Node<'_>) -> Schema {
        Schema { ty: ARRAY, items: Some(Box::new(items)), span: at.span(), ..Schema::default() }
    }

    /// Returns the schema of a property.
    pub(super) fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name)
    }

    /// Returns only its type and the types in it, as kro infers them from an expression.
    pub(super) fn types(&self) -> Schema {
        let inner = |schema: &Schema| Box::new(schema.types());
        Schema {
            ty: self.ty,
            properties: self.properties.iter().map(|(name, schema)| (name.clone(), schema.types())).collect(),
            items: self.items.as_deref().map(inner),
            additional: self.additional.as_deref().map(inner),
            keeps_unknown: self.keeps_unknown,
            span: self.span.clone(),
            ..Schema::default()
        }
    }

    /// Writes the schema. If the caller has more properties, `properties` and the schema stay open.
    pub(super) fn begin(&self, out: &mut Addition<'_>, has_more: bool) {
        out.at(self.span.clone());
        out.map();
        if !self.ty.is_empty() {
            out.text_member("type", self.ty);
        }
        if self.keeps_unknown {
            out.bool_member("x-kubernetes-preserve-unknown-fields", true);
        }
        if !self.description.is_empty() {
            out.text_member("description", &self.description);
        }
        if !self.pattern.is_empty() {
            out.text_member("pattern", &self.pattern);
        }
        for (key, bound) in &self.bounds {
            out.string(key);
            out.int(*bound);
        }
        for (key, bound) in [("minimum", self.minimum), ("maximum", self.maximum)] {
            if let Some(bound) = bound {
                out.string(key);
                json(&bound.to_string(), out);
            }
        }
        if let Some(default) = &self.default {
            out.string("default");
            json(default, out);
        }
        if let Some(ty) = &self.list_type {
            out.text_member("x-kubernetes-list-type", ty);
        }
        list("required", &self.required, out, |name, out| out.string(name));
        list("x-kubernetes-list-map-keys", &self.map_keys, out, |key, out| out.string(key));
        list("enum", &self.values, out, |value, out| json(value, out));
        list("x-kubernetes-validations", &self.rules, out, |(rule, message), out| {
            out.map();
            out.text_member("rule", rule);
            out.text_member("message", message);
            out.end();
        });
        if let Some(items) = &self.items {
            out.string("items");
            items.write(out);
        }
        if let Some(additional) = &self.additional {
            out.string("additionalProperties");
            additional.write(out);
        }
        if self.properties.is_empty() && !has_more {
            return out.end();
        }
        out.string("properties");
        out.map();
        for (name, schema) in &self.properties {
            out.string(name);
            schema.write(out);
        }
        if !has_more {
            out.end();
            out.end();
        }
    }

    /// Writes the schema.
    pub(super) fn write(&self, out: &mut Addition<'_>) {
        self.begin(out, false);
    }
}

fn list<T>(key: &str, items: &[T], out: &mut Addition<'_>, write: impl Fn(&T, &mut Addition<'_>)) {
    if !items.is_empty() {
        out.string(key);
        out.list();
        for item in items {
            write(item, out);
        }
        out.end();
    }
}

fn json(text: &str, out: &mut Addition<'_>) {
    with_json(text, |node| out.import(node));
}
