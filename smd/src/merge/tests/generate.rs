//! Random types, objects and field sets, small enough to overlap.

use crate::fieldpath::{PathElement, Set, SetBuilder};
use crate::typed::Types;
use crate::value::{Map, Value};
use crate::{Bump, schema};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Pseudo-random numbers (xorshift).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }
}

/// A generated type.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Scalar(&'static str),
    /// A list of strings without order.
    Set,
    /// A list with these keys, the last of which may have a default.
    Keyed(&'static [&'static str], Option<&'static str>, Box<Shape>),
    AtomicList(Box<Shape>),
    Struct(Vec<(&'static str, Shape)>, Option<Box<Shape>>, bool),
    MapOf(Box<Shape>, bool),
    /// Scalars, lists as a whole, and maps by their keys.
    Deduced,
    /// Scalars, sets, and maps of strings.
    Union,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TEXTS: [&str; 3] = ["x", "y", "z"];

impl Shape {
    pub(super) fn root(random: &mut Random) -> Shape {
        Shape::of_struct(4, &[], random)
    }

    fn any(depth: u32, random: &mut Random) -> Shape {
        if depth == 0 || random.chance(15) {
            return Shape::Scalar(random.pick(&["numeric", "string", "untyped"]));
        }
        let below = |random: &mut Random| Box::new(Shape::any(depth - 1, random));
        match random.below(14) {
            0 => Shape::Set,
            1..=4 => {
                let keys: &[&str] = if random.chance(50) { &["k"] } else { &["k", "l"] };
                let default = random.chance(50).then(|| random.pick(&TEXTS));
                Shape::Keyed(keys, default, Box::new(Shape::of_struct(depth - 1, keys, random)))
            }
            5 => Shape::AtomicList(below(random)),
            6..=9 => {
                let Shape::Struct(fields, others, _) = Shape::of_struct(depth - 1, &[], random) else {
                    return Shape::Set;
                };
                Shape::Struct(fields, others, random.chance(12))
            }
            10 | 11 => Shape::MapOf(below(random), random.chance(12)),
            12 => Shape::Deduced,
            _ => Shape::Union,
        }
    }

    fn of_struct(depth: u32, keys: &[&'static str], random: &mut Random) -> Shape {
        let mut fields: Vec<_> = keys.iter().map(|key| (*key, Shape::Scalar("string"))).collect();
        for name in NAMES {
            if random.chance(70) {
                fields.push((name, Shape::any(depth, random)));
            }
        }
        let others = random.chance(25).then(|| Box::new(Shape::any(depth.saturating_sub(1), random)));
        Shape::Struct(fields, others, false)
    }

    pub(super) fn types(&self) -> Types {
        let text = format!(r#"{{"types":[{{"name":"root",{}}},{}]}}"#, self.text(None), {
            let mut builtin = Vec::new();
            schema::print_json(&schema::deduced(), &mut builtin);
            let text = String::from_utf8(builtin).expect("JSON is text");
            let types = text.find('[').zip(text.rfind(']')).expect("it has types");
            text[types.0 + 1..types.1].to_owned()
        });
        let mut tape = Tape::new();
        let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("it is text");
        stream.next(&mut tape).transpose().expect("it is JSON");
        let root = tape.document(&text).root().expect("it is not empty");
        Types::new(schema::read(root).unwrap_or_else(|errors| panic!("{errors}: {text}")))
    }

    /// Returns the members of the atom in the schema's JSON form. `default` is that of the last key.
    fn text(&self, default: Option<(&str, &str)>) -> String {
        let relationship = |atomic: bool| if atomic { "atomic" } else { "separable" };
        match self {
            Shape::Scalar(kind) => format!(r#""scalar":"{kind}""#),
            Shape::Set => {
                r#""list":{"elementType":{"scalar":"string"},"elementRelationship":"associative"}"#.to_owned()
            }
            Shape::Keyed(keys, default, item) => {
                let default = default.zip(keys.last()).map(|(value, key)| (*key, value));
                let item = item.text(default);
                format!(r#""list":{{"elementType":{{{item}}},"elementRelationship":"associative","keys":{keys:?}}}"#)
            }
            Shape::AtomicList(item) => {
                format!(r#""list":{{"elementType":{{{}}},"elementRelationship":"atomic"}}"#, item.text(None))
            }
            Shape::Struct(fields, others, atomic) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, shape)| {
                        let default = default.filter(|(key, _)| key == name).map(|(_, value)| value);
                        let default = default.map_or(String::new(), |value| format!(r#","default":"{value}""#));
                        format!(r#"{{"name":"{name}","type":{{{}}}{default}}}"#, shape.text(None))
                    })
                    .collect();
                let others =
                    others.as_ref().map_or(String::new(), |shape| format!(r#","elementType":{{{}}}"#, shape.text(None)));
                let (fields, relationship) = (fields.join(","), relationship(*atomic));
                format!(r#""map":{{"fields":[{fields}]{others},"elementRelationship":"{relationship}"}}"#)
            }
            Shape::MapOf(item, atomic) => {
                let (item, relationship) = (item.text(None), relationship(*atomic));
                format!(r#""map":{{"elementType":{{{item}}},"elementRelationship":"{relationship}"}}"#)
            }
            Shape::Deduced => {
                r#""scalar":"untyped","list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"},"map":{"elementType":{"namedType":"__untyped_deduced_"},"elementRelationship":"separable"}"#.to_owned()
            }
            Shape::Union => {
                r#""scalar":"untyped","list":{"elementType":{"scalar":"string"},"elementRelationship":"associative"},"map":{"elementType":{"scalar":"string"}}"#.to_owned()
            }
        }
    }

    /// Returns a value of the type. Lists may have duplicate items.
    pub(super) fn value<'a>(&self, random: &mut Random, arena: &'a Bump) -> Value<'a> {
        let text = |random: &mut Random| Value::String(random.pick(&TEXTS));
        match self {
            Shape::Scalar("numeric") => Value::Int(random.below(3).cast_signed()),
            Shape::Scalar(_) => text(random),
            Shape::Set => {
                let items: Vec<_> = (0..random.below(4)).map(|_| text(random)).collect();
                Value::List(arena.alloc_slice_copy(&items))
            }
            Shape::Keyed(keys, default, item) => {
                let items: Vec<_> = (0..random.below(4))
                    .map(|_| {
                        let mut map = item.value(random, arena).as_map().unwrap_or_default();
                        for key in *keys {
                            map = map.with(key, Some(text(random)), arena);
                        }
                        if (default.is_some() || keys.len() > 1) && random.chance(25) {
                            map = map.with(keys[keys.len() - 1], None, arena);
                        }
                        Value::Map(map)
                    })
                    .collect();
                Value::List(arena.alloc_slice_copy(&items))
            }
            Shape::AtomicList(item) => {
                let items: Vec<_> = (0..random.below(3)).map(|_| item.value(random, arena)).collect();
                Value::List(arena.alloc_slice_copy(&items))
            }
            Shape::Struct(fields, others, _) => {
                let mut entries = Vec::new();
                for (name, shape) in fields {
                    if random.chance(65) {
                        entries.push((*name, shape.or_null(random, arena)));
                    }
                }
                for name in ["m", "n"] {
                    if let Some(others) = others.as_ref().filter(|_| random.chance(40)) {
                        entries.push((name, others.or_null(random, arena)));
                    }
                }
                Value::Map(Map::from_entries(entries, arena))
            }
            Shape::MapOf(item, _) => {
                let count = random.below(4);
                let entries = (0..count).map(|_| (random.pick(&NAMES), item.or_null(random, arena))).collect();
                Value::Map(Map::from_entries(entries, arena))
            }
            Shape::Deduced => free(2, random, arena),
            Shape::Union => match random.below(3) {
                0 => text(random),
                1 => Shape::Set.value(random, arena),
                _ => Shape::MapOf(Box::new(Shape::Scalar("string")), false).value(random, arena),
            },
        }
    }

    fn or_null<'a>(&self, random: &mut Random, arena: &'a Bump) -> Value<'a> {
        if random.chance(5) { Value::Null } else { self.value(random, arena) }
    }
}

/// Returns a value of any type.
fn free<'a>(depth: u32, random: &mut Random, arena: &'a Bump) -> Value<'a> {
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0 => Value::Int(random.below(3).cast_signed()),
        1 => Value::String(random.pick(&TEXTS)),
        2 => Value::Null,
        3 => {
            let items: Vec<_> = (0..random.below(3)).map(|_| free(depth - 1, random, arena)).collect();
            Value::List(arena.alloc_slice_copy(&items))
        }
        _ => {
            let entries = (0..random.below(4)).map(|_| (random.pick(&NAMES), free(depth - 1, random, arena))).collect();
            Value::Map(Map::from_entries(entries, arena))
        }
    }
}

/// Returns some paths of a set, and maybe prefixes of some.
pub(super) fn some_of<'a>(set: Set<'a>, percent: u64, random: &mut Random, arena: &'a Bump) -> Set<'a> {
    let mut some = SetBuilder::new(arena);
    for path in set {
        if random.chance(percent) {
            some.insert(&path);
        }
        if random.chance(percent / 8) {
            let len = usize::try_from(random.below(path.len() as u64 + 1)).unwrap_or(0);
            some.insert(&path[..len]);
        }
        if random.chance(percent / 20) {
            let mut longer = path.clone();
            longer.push(PathElement::FieldName(random.pick(&NAMES)));
            some.insert(&longer);
        }
    }
    some.finish()
}
