//! The types of expressions.

use crate::release::{Change, Language};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The beginning of the type of an optional in messages.
const OPTIONAL: &str = "optional_type(";

/// A type of CEL, as the checker uses and prints it.
///
/// # Example: a type is printed as cel-go prints it
/// ```
/// use kubeshape_cel::Type;
/// assert_eq!(Type::parse("map(string, list(int))").unwrap().to_string(), "map(string, list(int))");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of an expression with a type error.
    Error,
    /// Any value. It is checked at evaluation.
    Dyn,
    /// `google.protobuf.Any`.
    Any,
    /// The type of `null`.
    Null,
    /// `bool`
    Bool,
    /// `int`, 64 bits.
    Int,
    /// `uint`, 64 bits.
    Uint,
    /// `double`
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `google.protobuf.Duration`
    Duration,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// A scalar that can be null, such as `google.protobuf.Int64Value`.
    Wrapper(Arc<Type>),
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<(Type, Type)>),
    /// `type`, or `type(T)`.
    Type(Option<Arc<Type>>),
    /// An object type by its name.
    Struct(Arc<str>),
    /// An abstract type by name and parameters, such as `optional_type(T)`.
    Opaque(Arc<str>, Arc<[Type]>),
    /// A type parameter of a declaration.
    Param(Arc<str>),
    /// A type variable of the checker.
    Var(u32),
}

impl Type {
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// `map(key, value)`
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new((key, value)))
    }

    /// `optional_type(inner)`
    pub fn optional(inner: Type) -> Type {
        static NAME: LazyLock<Arc<str>> = LazyLock::new(|| "optional_type".into());
        Type::Opaque(NAME.clone(), Arc::from([inner]))
    }

    /// Returns an object type. Names of protobuf's well-known types return their CEL types.
    pub fn object(name: &str) -> Type {
        let wrapper = |inner| Type::Wrapper(Arc::new(inner));
        match name {
            "google.protobuf.BoolValue" => wrapper(Type::Bool),
            "google.protobuf.BytesValue" => wrapper(Type::Bytes),
            "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => wrapper(Type::Double),
            "google.protobuf.Int64Value" | "google.protobuf.Int32Value" => wrapper(Type::Int),
            "google.protobuf.UInt64Value" | "google.protobuf.UInt32Value" => wrapper(Type::Uint),
            "google.protobuf.StringValue" => wrapper(Type::String),
            "google.protobuf.Any" => Type::Any,
            "google.protobuf.Duration" => Type::Duration,
            "google.protobuf.Timestamp" => Type::Timestamp,
            "google.protobuf.ListValue" => Type::list(Type::Dyn),
            "google.protobuf.NullValue" => Type::Null,
            "google.protobuf.Struct" => Type::map(Type::String, Type::Dyn),
            "google.protobuf.Value" => Type::Dyn,
            _ => Type::Struct(name.into()),
        }
    }

    /// Parses a type as [`Type`] prints it. A single capital letter is a type parameter.
    pub fn parse(text: &str) -> Option<Type> {
        let (ty, rest) = parse(text.trim())?;
        rest.trim().is_empty().then_some(ty)
    }

    /// Returns the type parameter of an optional.
    pub fn as_optional(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, parameters) if &**name == "optional_type" => parameters.first(),
            _ => None,
        }
    }

    /// Returns whether values of the type are checked only at evaluation.
    pub fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any)
    }

    /// Returns whether values of all types may be of this type, so that they are checked at evaluation.
    pub(crate) fn takes_all(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any | Type::Param(_) | Type::Var(_))
    }

    /// Returns whether the type or one of its parameters is `dyn`.
    pub(crate) fn holds_dyn(&self) -> bool {
        self.is_dyn() || self.parameters().into_iter().any(Type::holds_dyn)
    }

    /// Returns the parameters of the type.
    pub fn parameters(&self) -> Vec<&Type> {
        match self {
            Type::List(element) => vec![element],
            Type::Map(entry) => vec![&entry.0, &entry.1],
            Type::Type(Some(inner)) => vec![inner],
            Type::Opaque(_, parameters) => parameters.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the name of the type without parameters, as values report it.
    pub fn name(&self) -> &str {
        match self {
            Type::Error => "!error!",
            Type::Dyn => "dyn",
            Type::Any => "google.protobuf.Any",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Wrapper(inner) => inner.name(),
            Type::List(_) => "list",
            Type::Map(_) => "map",
            Type::Type(_) => "type",
            Type::Struct(name) | Type::Opaque(name, _) | Type::Param(name) => name,
            Type::Var(_) => "_var",
        }
    }

    /// Returns the type as the checker's messages print it in a release.
    pub(crate) fn in_message(&self, language: &Language) -> String {
        let text = self.in_words();
        if text.contains(OPTIONAL) && !language.has(Change::OptionalTypes) {
            return text.replace(OPTIONAL, "optional(");
        }
        text
    }

    fn in_words(&self) -> String {
        match self {
            Type::Any => "any".to_owned(),
            Type::Duration => "duration".to_owned(),
            Type::Timestamp => "timestamp".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Error => "!error!".to_owned(),
            Type::Var(number) => format!("_var{number}"),
            Type::Param(name) => name.to_string(),
            Type::Wrapper(inner) => format!("wrapper({})", inner.name()),
            other => {
                let parameters = other.parameters();
                if parameters.is_empty() {
                    return other.name().to_owned();
                }
                let inner: Vec<String> = parameters.into_iter().map(Type::in_words).collect();
                format!("{}({})", other.name(), inner.join(", "))
            }
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Wrapper(inner) => return write!(f, "wrapper({})", inner.name()),
            Type::Param(name) => return write!(f, "<{name}>"),
            Type::Var(number) => return write!(f, "<_var{number}>"),
            _ => {}
        }
        f.write_str(self.name())?;
        let parameters = self.parameters();
        for (i, parameter) in parameters.iter().enumerate() {
            write!(f, "{}{parameter}", if i == 0 { "(" } else { ", " })?;
        }
        f.write_str(if parameters.is_empty() { "" } else { ")" })
    }
}

fn parse(text: &str) -> Option<(Type, &str)> {
    let text = text.trim_start();
    let end = text.find(['(', ')', ',']).unwrap_or(text.len());
    let (name, mut rest) = (text[..end].trim(), &text[end..]);
    let mut parameters = Vec::new();
    if let Some(inner) = rest.strip_prefix('(') {
        rest = inner;
        loop {
            let (parameter, after) = parse(rest)?;
            parameters.push(parameter);
            let after = after.trim_start();
            if let Some(after) = after.strip_prefix(',') {
                rest = after;
                continue;
            }
            rest = after.strip_prefix(')')?;
            break;
        }
    }
    let mut parameters = parameters.into_iter();
    let ty = match name {
        "dyn" => Type::Dyn,
        "any" => Type::Any,
        "null" | "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "wrapper" => Type::Wrapper(Arc::new(parameters.next()?)),
        "list" => Type::list(parameters.next().unwrap_or(Type::Dyn)),
        "map" => Type::map(parameters.next().unwrap_or(Type::Dyn), parameters.next().unwrap_or(Type::Dyn)),
        "type" => Type::Type(parameters.next().map(Arc::new)),
        "" => return None,
        name if name.len() == 1 && name.as_bytes()[0].is_ascii_uppercase() => Type::Param(name.into()),
        "optional_type" | "net.IP" | "net.CIDR" => Type::Opaque(name.into(), parameters.collect()),
        name => Type::object(name),
    };
    Some((ty, rest))
}
