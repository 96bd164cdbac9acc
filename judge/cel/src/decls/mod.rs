//! The declared functions, and the releases that have them.

pub(crate) mod name;

use crate::eval::cost::Charge;
use crate::release::{Change, Language, Since};
use crate::types::Type;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

pub(crate) use name::Name;

/// One signature of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    /// When it appeared; 0 if it always existed.
    since: Since,
    /// The change that removed it.
    removed: Option<Change>,
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// The number of type parameters. In `args` and `result` they are the variables from 0 on, in order of occurrence.
    pub(crate) parameters: usize,
    /// The runtime cost of a call.
    pub(crate) charge: Charge,
}

/// A function and its signatures.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) text: &'static str,
    pub(crate) overloads: Vec<Overload>,
    /// When the first signature appeared.
    since: Since,
    /// The runtime cost of a call, if more than one signature can be reached.
    pub(crate) charge: Charge,
}

impl Overload {
    /// Returns whether the signature exists in the release.
    pub(crate) fn exists_in(&self, language: &Language) -> bool {
        language.knows(self.since) && !self.removed.is_some_and(|change| language.has(change))
    }
}

impl Function {
    /// Returns whether any of the signatures exists in the release.
    pub(crate) fn exists_in(&self, language: &Language) -> bool {
        language.knows(self.since)
    }
}

/// Functions that exist in some release.
pub(crate) struct Functions {
    /// Indexed by the number of the name.
    all: Vec<Function>,
    by_text: HashMap<&'static str, Name>,
}

/// All functions of all releases: one signature per line, in upstream's notation.
static TABLE: &str = include_str!("overloads.txt");

impl Functions {
    /// Returns the functions of all releases.
    pub(crate) fn all() -> &'static Functions {
        static ALL: OnceLock<Functions> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut all: Vec<Function> = Vec::with_capacity(Name::ALL.len());
            for (name, text) in Name::ALL {
                all.push(Function {
                    name,
                    text,
                    overloads: Vec::new(),
                    since: Since::NEVER,
                    charge: Charge::of(text, ""),
                });
            }
            let by_text: HashMap<&'static str, Name> = Name::ALL.into_iter().map(|(name, text)| (text, name)).collect();
            for (text, overload) in TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(read) {
                if let Some(function) = by_text.get(text).and_then(|name| all.get_mut(*name as usize)) {
                    function.since = function.since.min(overload.since);
                    function.overloads.push(overload);
                }
            }
            Functions { all, by_text }
        })
    }

    /// A function.
    pub(crate) fn get(&'static self, name: Name) -> &'static Function {
        &self.all[name as usize]
    }

    /// Returns the names of the functions that exist in a release, without operators.
    pub(crate) fn in_release(&'static self, language: &Language) -> impl Iterator<Item = &'static str> {
        let is_name = |function: &&Function| function.text.starts_with(|c: char| c.is_ascii_alphabetic());
        self.all.iter().filter(is_name).filter(|function| function.exists_in(language)).map(|function| function.text)
    }

    /// Returns a function of any release by its name.
    pub(crate) fn named(&'static self, text: &str) -> Option<&'static Function> {
        Some(self.get(*self.by_text.get(text)?))
    }
}

fn read(line: &'static str) -> Option<(&'static str, Overload)> {
    let (head, result) = line.rsplit_once("-> ")?;
    let mut words = head.splitn(5, ' ');
    let (text, id, since, style) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let mut args: Vec<Type> =
        words.next()?.split(';').filter(|text| !text.trim().is_empty()).map(Type::parse).collect::<Option<_>>()?;
    let mut result = Type::parse(result)?;
    let mut parameters = Vec::new();
    for ty in args.iter_mut().chain([&mut result]) {
        *ty = numbered(ty, &mut parameters);
    }
    let (since, member, charge) = (Since::parse(since)?, style == "member", Charge::of(text, id));
    let removed = (id == "int64_to_duration").then_some(Change::NoDurationsOfIntegers);
    Some((text, Overload { id, since, removed, member, args, result, parameters: parameters.len(), charge }))
}

/// Returns the type with its type parameters replaced by numbered variables.
fn numbered(ty: &Type, parameters: &mut Vec<Arc<str>>) -> Type {
    match ty {
        Type::Param(name) => {
            let known = parameters.iter().position(|own| own == name);
            let number = known.unwrap_or_else(|| {
                parameters.push(name.clone());
                parameters.len() - 1
            });
            Type::Var(number as u32)
        }
        Type::List(element) => Type::list(numbered(element, parameters)),
        Type::Map(entry) => Type::map(numbered(&entry.0, parameters), numbered(&entry.1, parameters)),
        Type::Type(Some(inner)) => Type::Type(Some(Arc::new(numbered(inner, parameters)))),
        Type::Opaque(name, inner) => {
            Type::Opaque(name.clone(), inner.iter().map(|inner| numbered(inner, parameters)).collect())
        }
        other => other.clone(),
    }
}

/// Returns the type of a name such as `int` or `list`.
pub(crate) fn named_type(name: &str, language: &Language) -> Option<Type> {
    let parameter = |name: &str| Type::Param(name.into());
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(parameter("A")),
        "map" => Type::map(parameter("A"), parameter("B")),
        "null_type" => Type::Null,
        "string" => Type::String,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::Type(None),
        "uint" => Type::Uint,
        "optional_type" if language.knows(28) => Type::optional(parameter("V")),
        "net.IP" | "net.CIDR" if language.knows(30) => Type::Opaque(name.into(), Arc::from([])),
        _ if WELL_KNOWN.contains(&name) => Type::object(name),
        _ => return None,
    })
}

/// The protobuf messages that always exist.
const WELL_KNOWN: [&str; 16] = [
    "google.protobuf.Any",
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.Duration",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.ListValue",
    "google.protobuf.StringValue",
    "google.protobuf.Struct",
    "google.protobuf.Timestamp",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
    "google.protobuf.Value",
    "google.protobuf.Empty",
];

/// Returns the type of a field of a well-known message.
pub(crate) fn well_known_field(message: &str, field: &str) -> Option<Type> {
    Some(match (message, field) {
        ("google.protobuf.BoolValue", "value") | ("google.protobuf.Value", "bool_value") => Type::Bool,
        ("google.protobuf.BytesValue" | "google.protobuf.Any", "value") => Type::Bytes,
        ("google.protobuf.DoubleValue" | "google.protobuf.FloatValue", "value")
        | ("google.protobuf.Value", "number_value") => Type::Double,
        ("google.protobuf.Int32Value" | "google.protobuf.Int64Value", "value")
        | ("google.protobuf.Duration" | "google.protobuf.Timestamp", "seconds" | "nanos")
        | ("google.protobuf.Value", "null_value") => Type::Int,
        ("google.protobuf.UInt32Value" | "google.protobuf.UInt64Value", "value") => Type::Uint,
        ("google.protobuf.StringValue", "value")
        | ("google.protobuf.Any", "type_url")
        | ("google.protobuf.Value", "string_value") => Type::String,
        ("google.protobuf.ListValue", "values") | ("google.protobuf.Value", "list_value") => Type::list(Type::Dyn),
        ("google.protobuf.Struct", "fields") | ("google.protobuf.Value", "struct_value") => {
            Type::map(Type::String, Type::Dyn)
        }
        _ => return None,
    })
}
