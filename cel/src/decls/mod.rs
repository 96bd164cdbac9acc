//! The functions that exist, and since which release.

use crate::release::AskedRelease;
use crate::types::Type;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// One signature of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    /// The minor release in which it appeared; 0 for those that always existed.
    pub(crate) since: u8,
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// The type parameters, in the order in which they occur.
    pub(crate) parameters: Vec<Arc<str>>,
}

/// A function and its signatures.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) overloads: Vec<Overload>,
}

impl Function {
    /// The minor release in which the first signature appeared.
    fn since(&self) -> u8 {
        self.overloads.iter().map(|overload| overload.since).min().unwrap_or(0)
    }
}

/// Functions that exist in every release, at first without those that need a newer one.
pub(crate) struct Functions {
    by_name: HashMap<&'static str, Function>,
}

/// All functions of all releases: one signature a line, as upstream declares them.
static TABLE: &str = include_str!("overloads.txt");

impl Functions {
    /// The functions of all releases.
    pub(crate) fn all() -> &'static Functions {
        static ALL: OnceLock<Functions> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut by_name: HashMap<&'static str, Function> = HashMap::new();
            for (name, overload) in TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(read) {
                by_name
                    .entry(name)
                    .or_insert_with(|| Function { name, overloads: Vec::new() })
                    .overloads
                    .push(overload);
            }
            Functions { by_name }
        })
    }

    /// A function, if any of its signatures exists in the release.
    pub(crate) fn find(&'static self, name: &str, release: &AskedRelease) -> Option<&'static Function> {
        self.by_name.get(name).filter(|function| release.knows(function.since()))
    }
}

fn read(line: &'static str) -> Option<(&'static str, Overload)> {
    let (head, result) = line.rsplit_once("-> ")?;
    let mut words = head.splitn(5, ' ');
    let (name, id, since, style) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let args: Vec<Type> =
        words.next()?.split(';').filter(|text| !text.trim().is_empty()).map(Type::parse).collect::<Option<_>>()?;
    let result = Type::parse(result)?;
    let mut parameters = Vec::new();
    for ty in args.iter().chain([&result]) {
        collect(ty, &mut parameters);
    }
    Some((name, Overload { id, since: since.parse().ok()?, member: style == "member", args, result, parameters }))
}

fn collect(ty: &Type, out: &mut Vec<Arc<str>>) {
    if let Type::Param(name) = ty
        && !out.contains(name)
    {
        out.push(name.clone());
    }
    for parameter in ty.parameters() {
        collect(parameter, out);
    }
}

/// The types that have names, such as `int` and `list`.
pub(crate) fn named_type(name: &str, release: &AskedRelease) -> Option<Type> {
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
        "optional_type" if release.knows(28) => Type::optional(parameter("V")),
        "net.IP" | "net.CIDR" if release.knows(30) => Type::Opaque(name.into(), Arc::from([])),
        _ if WELL_KNOWN.contains(&name) => Type::object(name),
        _ => return None,
    })
}

/// The messages of protobuf that always exist.
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

/// The type of a field of a well-known message.
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
