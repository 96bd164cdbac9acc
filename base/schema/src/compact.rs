//! Copies of schemas that outlive their source and take little memory.

use crate::{Additional, Dependency, Extra, Items, Json, Property, Rule, Schema};
use bumpalo::Bump;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// The contents of a schema as addresses. Two schemas with the same identity are equal apart from their descriptions
/// and locations. Equal schemas copied by one [`Compactor`] have the same identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u64; Identity::WORDS]);

impl Identity {
    const WORDS: usize = 16;
}

impl Schema<'_> {
    /// Returns its identity among the schemas that exist now.
    pub fn identity(&self) -> Identity {
        let [format, formats] = of_list(self.format.as_bytes());
        let [properties, names] = of_list(self.properties);
        let [required, requirements] = of_list(self.required);
        let [enumeration, values] = of_list(self.enumeration);
        let [reference, references] = of_list(self.reference.as_bytes());
        let [items, count] = match self.items {
            None => [0, 0],
            Some(Items::One(schema)) => [address(schema), u64::MAX],
            Some(Items::Many(schemas)) => [address(schemas.as_ptr()), schemas.len() as u64],
        };
        Identity([
            format,
            formats,
            properties,
            names,
            required,
            requirements,
            enumeration,
            values,
            reference,
            references,
            items,
            count,
            of_additional(self.additional),
            self.default.map_or(0, |default| address(default)),
            self.extra.map_or(0, |extra| address(extra)),
            u64::from(self.flags.bits()) | u64::from(self.subtree.bits()) << 28 | (self.ty as u64) << 56,
        ])
    }
}

fn address<T>(at: *const T) -> u64 {
    at.addr() as u64
}

fn of_list<T>(list: &[T]) -> [u64; 2] {
    if list.is_empty() { [0, 0] } else { [address(list.as_ptr()), list.len() as u64] }
}

/// Small numbers are never the address of a schema.
fn of_additional(additional: Option<Additional<'_>>) -> u64 {
    match additional {
        None => 0,
        Some(Additional::Allowed(yes)) => 1 + u64::from(yes),
        Some(Additional::Schema(schema)) => address(schema),
    }
}

/// Copies schemas into an arena, without descriptions, titles and links to documentation. Equal parts are stored once,
/// within a schema and across all copied schemas.
///
/// Definitions repeat themselves: their versions are similar, and every container of a pod has the same fields. The
/// copies of the CustomResourceDefinitions of many projects are much smaller than their source. The locations in the
/// copies are 0.
///
/// # Example: the source may go
/// ```
/// use kubeshape_schema::{Bump, compact::Compactor, read};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let arena = Bump::new();
/// let schema = {
///     let size = r#"{"type": "object", "properties": {"size": {"type": "integer", "description": "How large."}}}"#;
///     let source = format!(r#"{{"properties": {{"inner": {size}, "outer": {size}}}}}"#);
///     let mut tape = Tape::new();
///     Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
///     let read = Bump::new();
///     let schema = read::Reader::new(&read, read::Rules::Crd).schema(tape.document(&source).root().unwrap());
///     Compactor::new(&arena).schema(&schema)
/// };
/// let (inner, outer) = (schema.property("inner").unwrap(), schema.property("outer").unwrap());
/// assert_eq!(inner.properties[0].name, "size");
/// assert_eq!(inner.identity(), outer.identity());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Debug)]
pub struct Compactor<'a> {
    arena: &'a Bump,
    hasher: DefaultHashBuilder,
    texts: Known<'a, str>,
    lists: Known<'a, [&'a str]>,
    schemas: Known<'a, Schema<'a>>,
    branches: Known<'a, [Schema<'a>]>,
    properties: Known<'a, [Property<'a>]>,
    extras: Known<'a, Extra<'a>>,
    rules: Known<'a, [Rule<'a>]>,
    values: Known<'a, [Json<'a>]>,
    dependencies: Known<'a, [(&'a str, Dependency<'a>)]>,
}

/// Stored values with their hashes.
type Known<'a, T> = HashTable<(u64, &'a T)>;

impl<'a> Compactor<'a> {
    /// Creates a compactor that copies into this arena.
    pub fn new(arena: &'a Bump) -> Compactor<'a> {
        Compactor {
            arena,
            hasher: DefaultHashBuilder::default(),
            texts: Known::new(),
            lists: Known::new(),
            schemas: Known::new(),
            branches: Known::new(),
            properties: Known::new(),
            extras: Known::new(),
            rules: Known::new(),
            values: Known::new(),
            dependencies: Known::new(),
        }
    }

    /// Returns the copy of a schema. The depth of schemas is bounded by their reader.
    pub fn schema(&mut self, schema: &Schema<'_>) -> &'a Schema<'a> {
        let (copy, arena) = (self.copy(schema), self.arena);
        find(&mut self.schemas, self.hasher, Schema::identity, copy, |copy| arena.alloc(copy))
    }

    /// Returns the copy of a string.
    pub fn text(&mut self, text: &str) -> &'a str {
        let arena = self.arena;
        if text.is_empty() {
            return "";
        }
        let hash = self.hasher.hash_one(text);
        if let Some((_, known)) = self.texts.find(hash, |(_, known)| *known == text) {
            return known;
        }
        let copy: &'a str = arena.alloc_str(text);
        self.texts.insert_unique(hash, (hash, copy), |(hash, _)| *hash);
        copy
    }

    fn copy(&mut self, schema: &Schema<'_>) -> Schema<'a> {
        Schema {
            description: "",
            format: self.text(schema.format),
            properties: self.properties(schema.properties),
            required: self.list(schema.required),
            enumeration: self.values(schema.enumeration),
            items: match schema.items {
                None => None,
                Some(Items::One(schema)) => Some(Items::One(self.schema(schema))),
                Some(Items::Many(schemas)) => Some(Items::Many(self.branches(schemas))),
            },
            additional: self.additional(schema.additional),
            reference: self.text(schema.reference),
            default: schema.default.and_then(|default| self.value(default)),
            extra: schema.extra.and_then(|extra| self.extra(extra)),
            at: 0,
            flags: schema.flags,
            subtree: schema.subtree,
            ty: schema.ty,
        }
    }

    fn additional(&mut self, additional: Option<Additional<'_>>) -> Option<Additional<'a>> {
        additional.map(|additional| match additional {
            Additional::Allowed(yes) => Additional::Allowed(yes),
            Additional::Schema(schema) => Additional::Schema(self.schema(schema)),
        })
    }

    fn properties(&mut self, properties: &[Property<'_>]) -> &'a [Property<'a>] {
        let copies = properties.iter().map(|property| Property {
            name: self.text(property.name),
            at: 0,
            schema: self.copy(&property.schema),
        });
        let (copies, arena) = (copies.collect::<Vec<Property<'a>>>(), self.arena);
        let key = |list: &[Property<'_>]| {
            let parts = list.iter().map(|property| (of_list(property.name.as_bytes()), property.schema.identity()));
            parts.collect::<Vec<_>>()
        };
        list(&mut self.properties, self.hasher, key, copies, arena)
    }

    fn branches(&mut self, schemas: &[Schema<'_>]) -> &'a [Schema<'a>] {
        let (copies, arena) = (schemas.iter().map(|schema| self.copy(schema)).collect(), self.arena);
        let key = |list: &[Schema<'_>]| list.iter().map(Schema::identity).collect::<Vec<_>>();
        list(&mut self.branches, self.hasher, key, copies, arena)
    }

    fn list(&mut self, texts: &[&str]) -> &'a [&'a str] {
        let (copies, arena) = (texts.iter().map(|text| self.text(text)).collect(), self.arena);
        let key = |list: &[&str]| list.iter().map(|text| of_list(text.as_bytes())).collect::<Vec<_>>();
        list(&mut self.lists, self.hasher, key, copies, arena)
    }

    fn rules(&mut self, rules: &[Rule<'_>]) -> &'a [Rule<'a>] {
        let copies = rules.iter().map(|rule| Rule {
            rule: self.text(rule.rule),
            message: self.text(rule.message),
            message_expression: self.text(rule.message_expression),
            reason: rule.reason.map(|reason| self.text(reason)),
            field_path: self.text(rule.field_path),
            optional_old_self: rule.optional_old_self,
        });
        let (copies, arena) = (copies.collect(), self.arena);
        list(
            &mut self.rules,
            self.hasher,
            |list: &[Rule<'_>]| list.iter().map(of_rule).collect::<Vec<_>>(),
            copies,
            arena,
        )
    }

    fn value(&mut self, value: &Json<'_>) -> Option<&'a Json<'a>> {
        self.values(std::slice::from_ref(value)).first()
    }

    fn values(&mut self, values: &[Json<'_>]) -> &'a [Json<'a>] {
        let (copies, arena) = (values.iter().map(|value| self.json(value)).collect(), self.arena);
        let key = |list: &[Json<'_>]| {
            let mut out = Vec::new();
            for value in list {
                of_value(value, &mut out);
            }
            out
        };
        list(&mut self.values, self.hasher, key, copies, arena)
    }

    /// The depth of values is bounded by their reader.
    fn json(&mut self, value: &Json<'_>) -> Json<'a> {
        match value {
            Json::Null => Json::Null,
            Json::Bool(yes) => Json::Bool(*yes),
            Json::Int(n) => Json::Int(*n),
            Json::Float(n) => Json::Float(*n),
            Json::Str(text) => Json::Str(self.text(text)),
            Json::Array(items) => {
                let items: Vec<Json<'a>> = items.iter().map(|item| self.json(item)).collect();
                Json::Array(self.arena.alloc_slice_copy(&items))
            }
            Json::Object(members) => Json::Object(self.members(members)),
        }
    }

    fn members(&mut self, members: &[(&str, Json<'_>)]) -> &'a [(&'a str, Json<'a>)] {
        let members: Vec<(&'a str, Json<'a>)> =
            members.iter().map(|(key, value)| (self.text(key), self.json(value))).collect();
        self.arena.alloc_slice_copy(&members)
    }

    /// Returns `None` if no member is left.
    fn extra(&mut self, extra: &Extra<'_>) -> Option<&'a Extra<'a>> {
        let copy = Extra {
            title: "",
            maximum: extra.maximum,
            minimum: extra.minimum,
            multiple_of: extra.multiple_of,
            max_length: extra.max_length,
            min_length: extra.min_length,
            max_items: extra.max_items,
            min_items: extra.min_items,
            max_properties: extra.max_properties,
            min_properties: extra.min_properties,
            pattern: self.text(extra.pattern),
            all_of: self.branches(extra.all_of),
            one_of: self.branches(extra.one_of),
            any_of: self.branches(extra.any_of),
            not: extra.not.map(|schema| self.schema(schema)),
            external_docs: None,
            example: extra.example.and_then(|example| self.value(example)),
            list_type: extra.list_type.map(|text| self.text(text)),
            map_type: extra.map_type.map(|text| self.text(text)),
            list_map_keys: self.list(extra.list_map_keys),
            validations: self.rules(extra.validations),
            list_map_keys_written: extra.list_map_keys_written,
            validations_written: extra.validations_written,
            other_type: self.text(extra.other_type),
            id: self.text(extra.id),
            schema_uri: self.text(extra.schema_uri),
            discriminator: self.text(extra.discriminator),
            types: self.list(extra.types),
            pattern_properties: self.properties(extra.pattern_properties),
            definitions: self.properties(extra.definitions),
            dependencies: self.dependencies(extra.dependencies),
            additional_items: self.additional(extra.additional_items),
            extensions: match self.value(&Json::Object(extra.extensions)) {
                Some(Json::Object(members)) if !members.is_empty() => members,
                _ => &[],
            },
        };
        if copy == Extra::default() {
            return None;
        }
        let arena = self.arena;
        Some(find(&mut self.extras, self.hasher, of_extra, copy, |copy| arena.alloc(copy)))
    }

    fn dependencies(&mut self, dependencies: &[(&str, Dependency<'_>)]) -> &'a [(&'a str, Dependency<'a>)] {
        let copies = dependencies.iter().map(|(name, dependency)| {
            let dependency = match dependency {
                Dependency::Names(names) => Dependency::Names(self.list(names)),
                Dependency::Schema(schema) => Dependency::Schema(self.schema(schema)),
            };
            (self.text(name), dependency)
        });
        let (copies, arena) = (copies.collect(), self.arena);
        let of_dependency = |dependency: &Dependency<'_>| match dependency {
            Dependency::Names(names) => of_list(names),
            Dependency::Schema(schema) => [address(*schema), u64::MAX],
        };
        let key = |list: &[(&str, Dependency<'_>)]| {
            let parts = list.iter().map(|(name, dependency)| (of_list(name.as_bytes()), of_dependency(dependency)));
            parts.collect::<Vec<_>>()
        };
        list(&mut self.dependencies, self.hasher, key, copies, arena)
    }
}

fn of_text(text: Option<&str>) -> [u64; 2] {
    text.map_or([0, u64::MAX], |text| of_list(text.as_bytes()))
}

fn of_rule(rule: &Rule<'_>) -> [[u64; 2]; 6] {
    let optional = rule.optional_old_self.map_or(0, |yes| 1 + u64::from(yes));
    [
        of_text(Some(rule.rule)),
        of_text(Some(rule.message)),
        of_text(Some(rule.message_expression)),
        of_text(rule.reason),
        of_text(Some(rule.field_path)),
        [optional, 0],
    ]
}

/// Appends the parts of a value, whose strings are stored once. The depth of values is bounded by their reader.
fn of_value(value: &Json<'_>, out: &mut Vec<[u64; 2]>) {
    let (tag, word) = match value {
        Json::Null => (0, 0),
        Json::Bool(yes) => (1, u64::from(*yes)),
        Json::Int(n) => (2, n.cast_unsigned()),
        Json::Float(n) => (3, n.to_bits()),
        Json::Str(_) => (4, 0),
        Json::Array(items) => (5, items.len() as u64),
        Json::Object(members) => (6, members.len() as u64),
    };
    out.push([tag, word]);
    match value {
        Json::Str(text) => out.push(of_list(text.as_bytes())),
        Json::Array(items) => {
            for item in *items {
                of_value(item, out);
            }
        }
        Json::Object(members) => {
            for (key, value) in *members {
                out.push(of_list(key.as_bytes()));
                of_value(value, out);
            }
        }
        _ => {}
    }
}

/// Returns the parts of a schema's rarer members.
fn of_extra(extra: &Extra<'_>) -> [[u64; 2]; 29] {
    let float = |n: Option<f64>| n.map_or([0, 0], |n| [1, n.to_bits()]);
    let int = |n: Option<i64>| n.map_or([0, 0], |n| [1, n.cast_unsigned()]);
    [
        float(extra.maximum),
        float(extra.minimum),
        float(extra.multiple_of),
        int(extra.max_length),
        int(extra.min_length),
        int(extra.max_items),
        int(extra.min_items),
        int(extra.max_properties),
        int(extra.min_properties),
        of_text(Some(extra.pattern)),
        of_list(extra.all_of),
        of_list(extra.one_of),
        of_list(extra.any_of),
        [extra.not.map_or(0, |schema| address(schema)), extra.example.map_or(0, |example| address(example))],
        of_text(extra.list_type),
        of_text(extra.map_type),
        of_list(extra.list_map_keys),
        of_list(extra.validations),
        [u64::from(extra.list_map_keys_written), u64::from(extra.validations_written)],
        of_text(Some(extra.other_type)),
        of_text(Some(extra.id)),
        of_text(Some(extra.schema_uri)),
        of_text(Some(extra.discriminator)),
        of_list(extra.types),
        of_list(extra.pattern_properties),
        of_list(extra.definitions),
        of_list(extra.dependencies),
        of_list(extra.extensions),
        [of_additional(extra.additional_items), 0],
    ]
}

/// Returns the stored value with the key of a copy, or stores the copy.
fn find<'a, T: ?Sized, O: Borrow<T>, K: Hash + Eq>(
    known: &mut Known<'a, T>,
    hasher: DefaultHashBuilder,
    key: impl Fn(&T) -> K,
    copy: O,
    store: impl FnOnce(O) -> &'a T,
) -> &'a T {
    let own = key(copy.borrow());
    let hash = hasher.hash_one(&own);
    if let Some((_, known)) = known.find(hash, |(other, known)| *other == hash && key(known) == own) {
        return known;
    }
    let stored = store(copy);
    known.insert_unique(hash, (hash, stored), |(hash, _)| *hash);
    stored
}

/// [`find`] for lists. The empty list is not stored.
fn list<'a, T: Copy, K: Hash + Eq>(
    known: &mut Known<'a, [T]>,
    hasher: DefaultHashBuilder,
    key: impl Fn(&[T]) -> K,
    copies: Vec<T>,
    arena: &'a Bump,
) -> &'a [T] {
    if copies.is_empty() {
        return &[];
    }
    find(known, hasher, key, copies, |copies| arena.alloc_slice_copy(&copies))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{print, read};
    use kubeshape_yaml::{Limits, Stream, Tape};

    /// Every member that a definition can have.
    const ALL: &str = r##"{"type": "object", "nullable": true, "required": ["a", "b"], "minProperties": 1, "maxProperties": 9,
        "id": "i", "$schema": "s", "x-kubernetes-map-type": "granular", "x-kubernetes-preserve-unknown-fields": true,
        "example": {"z": [1, 2.5, null, true, "t"]}, "default": {"a": "b"}, "definitions": {"d": {"type": "string"}},
        "patternProperties": {"p": {"type": "string"}}, "dependencies": {"n": ["a"], "s": {"type": "object"}},
        "x-kubernetes-validations": [{"rule": "has(self.a)", "message": "m", "messageExpression": "'e'", "reason":
            "FieldValueInvalid", "fieldPath": ".a", "optionalOldSelf": true}], "additionalProperties": {"type": "number"},
        "properties": {
            "a": {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 2, "format": "date", "enum": ["x", "y"]},
            "b": {"type": "array", "items": [{"type": "string"}], "additionalItems": false, "uniqueItems": true},
            "c": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map", "minItems": 1,
                "x-kubernetes-list-map-keys": ["k"], "maxItems": 3},
            "d": {"type": "number", "minimum": -0.5, "maximum": 7, "multipleOf": 0.5, "exclusiveMinimum": true},
            "e": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "f": {"oneOf": [{"minimum": 1}], "allOf": [{"not": {"maximum": 2}}], "$ref": "#/definitions/d"},
            "g": {"type": "thing", "x-kubernetes-embedded-resource": true, "additionalProperties": false}}}"##;

    /// Returns a schema and its copy as they are printed.
    fn copied(source: &str) -> (String, String) {
        let mut tape = Tape::new();
        let read = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8").next(&mut tape);
        assert!(read.is_some_and(|read| read.is_ok()), "{source}");
        let (from, to) = (Bump::new(), Bump::new());
        let root = tape.document(source).root().expect("a document");
        let schema = read::Reader::new(&from, read::Rules::Crd).schema(root);
        let mut compactor = Compactor::new(&to);
        let copy = compactor.schema(&schema);
        assert_eq!(copy.identity(), compactor.schema(&schema).identity());
        assert_eq!((copy.flags, copy.subtree), (schema.flags, schema.subtree));
        let printed = |schema: &Schema<'_>| {
            let mut out = Vec::new();
            print::schema(&mut out, schema, print::Style::V3);
            String::from_utf8(out).expect("UTF-8")
        };
        (printed(&schema), printed(copy))
    }

    #[test]
    fn a_copy_is_printed_like_its_schema() {
        let (schema, copy) = copied(ALL);
        assert_eq!(schema, copy);
        let described =
            ALL.replace(r#""type":"#, r#""description": "d", "title": "t", "externalDocs": {"url": "u"}, "type":"#);
        let (other, copy) = copied(&described);
        assert_ne!(schema, other);
        assert_eq!(schema, copy);
    }

    #[test]
    fn different_schemas_are_not_shared() {
        let arena = Bump::new();
        let mut compactor = Compactor::new(&arena);
        let plain = Schema::of_type(crate::Type::String);
        let pattern = Extra { pattern: "a", ..Extra::default() };
        let texts = [Json::Str("a"), Json::Float(0.0), Json::Float(-0.0), Json::Int(0)];
        let schemas = [
            plain,
            Schema::of_type(crate::Type::Number),
            Schema { format: "a", ..plain },
            Schema { reference: "a", ..plain },
            Schema { required: &["a"], ..plain },
            Schema { required: &["a", "b"], ..plain },
            Schema { items: Some(Items::One(&plain)), ..plain },
            Schema { items: Some(Items::Many(std::slice::from_ref(&plain))), ..plain },
            Schema { additional: Some(Additional::Schema(&plain)), ..plain },
            Schema { additional: Some(Additional::Allowed(true)), ..plain },
            Schema { additional: Some(Additional::Allowed(false)), ..plain },
            Schema { extra: Some(&pattern), ..plain },
            Schema { default: Some(&texts[0]), ..plain },
            Schema { default: Some(&texts[1]), ..plain },
            Schema { default: Some(&texts[2]), ..plain },
            Schema { default: Some(&texts[3]), ..plain },
            Schema { enumeration: &texts[..1], ..plain },
            Schema { properties: &[Property { name: "a", at: 1, schema: plain }], ..plain },
            Schema { properties: &[Property { name: "b", at: 1, schema: plain }], ..plain },
            Schema { flags: crate::Flags::NULLABLE, ..plain },
            Schema { subtree: crate::Flags::NULLABLE, ..plain },
        ];
        let mut known: Vec<Identity> = schemas.iter().map(|schema| compactor.schema(schema).identity()).collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), schemas.len());
    }
}
