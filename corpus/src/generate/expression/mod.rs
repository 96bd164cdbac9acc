//! Expressions of the Common Expression Language: typed ones that use every function of the server's environment, and
//! ill-typed and damaged ones.

mod request;
mod texts;

pub use request::request;

use super::draw::Draw;
use std::fmt;
use std::sync::OnceLock;
use texts::{DEBRIS, HINTS, MACROS, SIMPLE, TEXTS, literals};

/// The functions of the environment, one signature per line.
const SIGNATURES: &str = include_str!("../../../../judge/cel/src/decls/overloads.txt");

/// A type as CEL prints it, or an object with the fields of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// `int`, `list`, `A` for a parameter.
    pub name: String,
    /// The types within.
    pub inner: Vec<Type>,
    /// The fields of an object, as an expression names them.
    pub fields: Vec<(String, Type)>,
}

impl Type {
    /// Creates a type without inner types.
    pub fn simple(name: &str) -> Type {
        Type { name: name.to_owned(), inner: Vec::new(), fields: Vec::new() }
    }

    /// A list.
    pub fn list(element: Type) -> Type {
        Type { inner: vec![element], ..Type::simple("list") }
    }

    /// A map with strings as keys.
    pub fn map(value: Type) -> Type {
        Type { inner: vec![Type::simple("string"), value], ..Type::simple("map") }
    }

    /// An object.
    pub fn object(fields: Vec<(String, Type)>) -> Type {
        Type { fields, ..Type::simple("object") }
    }

    /// Reads a type as CEL prints it.
    pub fn parse(text: &str) -> Type {
        let text = match text.trim() {
            "duration" => "google.protobuf.Duration",
            "timestamp" => "google.protobuf.Timestamp",
            text => text,
        };
        let Some((name, inner)) = text.split_once('(') else { return Type::simple(text) };
        let inner = inner.strip_suffix(')').unwrap_or(inner);
        let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
        for (at, character) in inner.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(Type::parse(&inner[start..at]));
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(Type::parse(&inner[start..]));
        Type { inner: parts, ..Type::simple(name) }
    }

    fn is_parameter(&self) -> bool {
        self.name.len() == 1
    }

    /// Finds the types of the parameters of a pattern, so that it is `wanted`.
    fn unify(&self, wanted: &Type, bound: &mut Vec<(String, Type)>) -> bool {
        if self.is_parameter() {
            if let Some((_, known)) = bound.iter().find(|(name, _)| *name == self.name) {
                return known == wanted;
            }
            bound.push((self.name.clone(), wanted.clone()));
            return true;
        }
        self.name == wanted.name
            && self.inner.len() == wanted.inner.len()
            && self.inner.iter().zip(&wanted.inner).all(|(own, wanted)| own.unify(wanted, bound))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, inner) in self.inner.iter().enumerate() {
            write!(f, "{}{inner}", if at == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.inner.is_empty() { "" } else { ")" })
    }
}

/// A function of the environment.
#[derive(Debug)]
struct Signature {
    name: &'static str,
    member: bool,
    arguments: Vec<Type>,
    result: Type,
}

fn signatures() -> &'static [Signature] {
    static ALL: OnceLock<Vec<Signature>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |line: &'static str| {
            let (head, result) = line.rsplit_once("-> ")?;
            let words: Vec<&str> = head.splitn(5, ' ').collect();
            let [name, _, _, style, arguments] = words[..] else { return None };
            // An authorizer has no value here. Other functions with `@` are the expansions of macros.
            let hidden = line.contains("authorization") || name.contains('@') && name != "@in";
            let arguments =
                arguments.split(';').map(str::trim).filter(|text| !text.is_empty()).map(Type::parse).collect();
            (!hidden).then(|| Signature { name, member: style == "member", arguments, result: Type::parse(result) })
        };
        SIGNATURES.lines().filter(|line| !line.starts_with('#')).filter_map(read).collect()
    })
}

/// Types of keys by which a map can be indexed.
const KEYS: &[&str] = &["bool", "int", "uint", "string", "string"];

/// Generates expressions over the variables of a scope.
#[derive(Debug)]
pub struct Expressions<'d> {
    draw: &'d mut Draw,
    /// What an expression can name: variables, and fields that are reached from them.
    scope: Vec<(String, Type)>,
    /// The percentage of places that get a value of another type.
    wrong: usize,
}

/// The depth up to which fields of objects are named.
const REACH: usize = 4;

impl<'d> Expressions<'d> {
    /// Creates a generator with variables and their types. `wrong` is the percentage of values of another type.
    pub fn new(draw: &'d mut Draw, variables: &[(String, Type)], wrong: usize) -> Expressions<'d> {
        let mut expressions = Expressions { draw, scope: Vec::new(), wrong };
        for (name, ty) in variables {
            expressions.declare(name, ty, REACH);
        }
        expressions
    }

    fn declare(&mut self, name: &str, ty: &Type, reach: usize) {
        self.scope.push((name.to_owned(), ty.clone()));
        if reach > 0 {
            for (field, ty) in &ty.fields {
                self.declare(&format!("{name}.{field}"), ty, reach - 1);
            }
        }
    }

    /// Returns a type whose values can be generated.
    pub fn any_type(&mut self, depth: usize) -> Type {
        match self.draw.below(if depth == 0 { 6 } else { 10 }) {
            6 | 7 => Type::list(self.any_type(depth - 1)),
            8 => Type::map(self.any_type(depth - 1)),
            9 => Type { inner: vec![self.any_type(depth - 1)], ..Type::simple("optional_type") },
            // The types of the scope are frequent.
            0 | 1 if !self.scope.is_empty() => self.draw.pick(&self.scope).1.clone(),
            _ => Type::simple(self.draw.text(SIMPLE)),
        }
    }

    /// Returns an expression of a type, with at most this many levels.
    pub fn expression(&mut self, wanted: &Type, depth: usize) -> String {
        let other;
        let wanted = if self.draw.percent(self.wrong) {
            other = self.any_type(1);
            &other
        } else {
            wanted
        };
        let known: Vec<usize> =
            (0..self.scope.len()).filter(|at| self.scope[*at].1 == *wanted || wanted.name == "dyn").collect();
        if !known.is_empty() && self.draw.percent(if depth == 0 { 70 } else { 30 }) {
            return self.scope[*self.draw.pick(&known)].0.clone();
        }
        if depth > 0 && wanted.name == "bool" && self.draw.percent(15) {
            let fields: Vec<&str> =
                self.scope.iter().map(|(name, _)| name.as_str()).filter(|name| name.contains('.')).collect();
            if !fields.is_empty() {
                return format!("has({})", self.draw.pick(&fields));
            }
        }
        if depth > 0 && self.draw.percent(25) {
            let fitting: Vec<_> =
                MACROS.iter().filter(|(result, _)| Type::parse(result).unify(wanted, &mut Vec::new())).collect();
            if !fitting.is_empty() {
                let (result, text) = self.draw.pick(&fitting);
                let mut bound = Vec::new();
                Type::parse(result).unify(wanted, &mut bound);
                return self.filled(text, bound, depth - 1);
            }
        }
        if depth > 0 && self.draw.percent(75) {
            let fitting: Vec<&Signature> = signatures()
                .iter()
                .filter(|signature| {
                    // Conditional expressions and optional selections are macros here.
                    !matches!(signature.name, "_?_:_" | "_?._")
                        && signature.result.unify(wanted, &mut Vec::new())
                        && (!signature.result.is_parameter() || self.draw.percent(50))
                })
                .collect();
            if !fitting.is_empty() {
                let signature = *self.draw.pick(&fitting);
                return self.call(signature, wanted, depth - 1);
            }
        }
        self.literal(wanted, depth)
    }

    /// Replaces the parameters of a type.
    fn resolved(&mut self, ty: &Type, bound: &mut Vec<(String, Type)>) -> Type {
        if ty.is_parameter() {
            if let Some((_, known)) = bound.iter().find(|(name, _)| *name == ty.name) {
                return known.clone();
            }
            // How lists and optionals are found in a map depends on how upstream stores them.
            let drawn = if ty.name == "K" { Type::simple(self.draw.text(KEYS)) } else { self.any_type(1) };
            bound.push((ty.name.clone(), drawn.clone()));
            return drawn;
        }
        let mut inner: Vec<Type> = ty.inner.iter().map(|inner| self.resolved(inner, bound)).collect();
        if ty.name == "map" && !inner[0].fields.is_empty() | !inner[0].inner.is_empty() {
            inner[0] = Type::simple("string");
        }
        Type { inner, ..ty.clone() }
    }

    fn call(&mut self, signature: &Signature, wanted: &Type, depth: usize) -> String {
        let mut bound = Vec::new();
        signature.result.unify(wanted, &mut bound);
        let hints = HINTS.iter().find(|(names, _)| names.split(' ').any(|name| name == signature.name));
        let mut arguments = Vec::new();
        for (at, ty) in signature.arguments.iter().enumerate() {
            let mut ty = self.resolved(ty, &mut bound);
            if signature.name.starts_with("_[") && ty.name == "map" && !KEYS.contains(&ty.inner[0].name.as_str()) {
                // The error about such an index names a Go type, which depends on the origin of the value.
                ty.inner[0] = Type::simple("string");
                bound.retain(|(name, _)| name != "K" && name != "A");
                bound.extend(["K", "A"].map(|name| (name.to_owned(), Type::simple("string"))));
            }
            let hinted = ty.name == "string" && (at > 0 || !signature.member || signature.name == "format");
            let text = match hints {
                Some((_, texts)) if hinted && self.draw.percent(80) => format!("'{}'", self.draw.pick(texts)),
                // Upstream builds a list of any length, whatever memory it takes.
                _ if signature.name == "lists.range" => self.draw.below(12).to_string(),
                _ => self.expression(&ty, depth),
            };
            arguments.push(text);
        }
        let name = signature.name;
        if name == "@in" {
            return format!("({} in {})", arguments[0], arguments[1]);
        }
        if name.contains('_') && !name.contains(char::is_alphabetic) {
            let mut out = String::new();
            for (at, part) in name.split('_').enumerate() {
                let between = at > 0 && at < arguments.len() && !part.contains('[');
                let space = if between { " " } else { "" };
                out.extend([space, part, space]);
                if let Some(argument) = arguments.get(at) {
                    let inside = part.starts_with('[');
                    out.push_str(&if inside { argument.clone() } else { bracketed(argument) });
                }
            }
            return out;
        }
        if signature.member && !arguments.is_empty() {
            let target = bracketed(&arguments[0]);
            return format!("{target}.{name}({})", arguments[1..].join(", "));
        }
        format!("{name}({})", arguments.join(", "))
    }

    /// Fills in the types of a macro.
    fn filled(&mut self, text: &str, mut bound: Vec<(String, Type)>, depth: usize) -> String {
        let variable = self.draw.text(&["x", "y", "e", "it", "self", "i"]).to_owned();
        let mut out = String::new();
        for (at, part) in text.split('$').enumerate() {
            if at % 2 == 0 {
                out.push_str(part);
            } else if part == "!x" {
                out.push_str(&variable);
            } else if let Some((declared, ty)) = part.strip_prefix("x:").and_then(|part| part.split_once('|')) {
                let declared = self.resolved(&Type::parse(declared), &mut bound);
                let ty = self.resolved(&Type::parse(ty), &mut bound);
                let outer = self.scope.clone();
                self.hide(&variable);
                self.declare(&variable, &declared, 2);
                let inner = self.expression(&ty, depth);
                self.scope = outer;
                out.push_str(&inner);
            } else {
                let ty = self.resolved(&Type::parse(part), &mut bound);
                let inner = self.expression(&ty, depth);
                out.push_str(&bracketed(&inner));
            }
        }
        out
    }

    /// Removes names that a new variable hides from the scope.
    fn hide(&mut self, variable: &str) {
        let hides =
            |name: &str| name.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.scope.retain(|(name, _)| !hides(name));
    }

    /// A literal.
    fn literal(&mut self, ty: &Type, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        match (ty.name.as_str(), &ty.inner[..]) {
            ("list", [element]) => {
                let items: Vec<String> = (0..self.draw.below(4)).map(|_| self.expression(element, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            ("map", [key, value]) => {
                let entries: Vec<String> = (0..self.draw.below(3))
                    .map(|_| format!("{}: {}", self.expression(key, 0), self.expression(value, depth)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            ("optional_type", [inner]) => {
                if self.draw.percent(25) {
                    "optional.none()".to_owned()
                } else {
                    format!("optional.of({})", self.expression(inner, depth))
                }
            }
            ("string", _) => self.draw.text(TEXTS).to_owned(),
            (name, _) => self.draw.text(literals(name)).to_owned(),
        }
    }
}

/// Returns an operand that is safe next to operators.
fn bracketed(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || "._'\"".contains(c)) && !text.starts_with(char::is_numeric);
    let closed = text.starts_with('[') && text.ends_with(']') && text.matches('[').count() == 1;
    if plain || closed { text.to_owned() } else { format!("({text})") }
}

/// Splits a string into words, quoted strings and single characters.
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
        } else if "'\"`".contains(first) {
            rest[1..].find(first).map(|at| at + 2)
        } else {
            Some(first.len_utf8())
        };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(word);
        rest = after;
    }
    words
}

/// Returns an expression with damaged syntax.
pub fn damaged(draw: &mut Draw, text: &str) -> String {
    let mut words: Vec<&str> = words(text);
    for _ in 0..*draw.pick(&[1, 1, 1, 2, 2, 3, 5]) {
        let at = draw.below(words.len());
        match draw.below(20) {
            0..6 if !words.is_empty() => drop(words.remove(at)),
            6..13 => words.insert(at, draw.text(DEBRIS)),
            13..16 if !words.is_empty() => words[at] = draw.text(DEBRIS),
            16 | 17 if !words.is_empty() => {
                let other = draw.below(words.len());
                words.swap(at, other);
            }
            18 => words.truncate(at),
            _ => drop(words.drain(..at)),
        }
    }
    words.concat()
}
